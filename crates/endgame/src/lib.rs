//! Xiangqi endgames for the retrograde engine: which cell is which position, and a solver that
//! works on ninety positions at a time.
//!
//! The crate knows the rules (`canju-xiangqi`) and the engine's seam (`canju-retro`). It knows no
//! file, no network and no table format: finished smaller tables come through
//! [`canju_retro::Tables`], and its own cells leave through [`canju_retro::Part::codes`].
//!
//! ```
//! use std::sync::Arc;
//! use canju_endgame::Xiangqi;
//! use canju_retro::{Game, MemoryTables, Metric, Rules, solve};
//!
//! let game = Xiangqi::new();
//! let tables = Arc::new(MemoryTables::new());
//! for name in ["KK", "KRK"] {
//!     let table = game.table(name)?;
//!     let solved = solve(&game, &table, Metric::Dtm, Rules::Plain, tables.clone())?;
//!     tables.insert(&game, &table, Metric::Dtm, &solved)?;
//!     let red = &solved.part.statistics()?.sides[0];
//!     println!("{table}: {} wins, {} draws, longest {:?}", red.wins(), red.draws(), red.longest_win);
//! }
//! # Ok::<(), canju_retro::GameError>(())
//! ```

mod attackers;
mod bounds;
mod budget;
mod captures;
mod census;
mod codes;
mod course;
mod descent;
mod fortress;
mod game;
mod geometry;
mod index;
mod label;
mod labels;
mod legality;
mod message;
mod moves;
mod order;
mod own;
mod pack;
mod paged;
mod part;
mod planes;
mod resident;
mod saved;
mod scratch;
mod sets;
mod shrink;
mod slab;
mod stage;
mod territory;
mod trial;
mod victims;
mod view;
mod word;

pub use game::Xiangqi;
pub use index::{INDEX_VERSION, Index, material_of, normalize};
