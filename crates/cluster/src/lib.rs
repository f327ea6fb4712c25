//! The coordinator and the worker of a cluster that builds endgame tables, as libraries.
//!
//! The crate plans what has to be built ([`Plan`]), gives it to workers ([`Conductor`]), lets them solve it
//! ply by ply with a [`Barrier`] between the plies, and makes finished shards a table by its manifest
//! ([`commit`]). [`Coordinator`], [`Worker`] and [`Client`] speak the protocol of `proto/canju/v1` over gRPC.
//!
//! It knows no game: below it are the seam of `canju-retro` ([`canju_retro::Game`], [`canju_retro::Part`]),
//! the bytes of tables (`canju-table`) and the store (`canju-store`, opened through [`Buckets`]).
//! Above it are only the commands.
//!
//! What a user can rely on:
//!
//! * a table exists when its manifest does, and the manifest is written last, with a condition;
//! * shards depend on the table only, never on how many workers made them;
//! * whatever goes wrong with a worker, a coordinator or the store, what was committed stays, and what was at work goes on
//!   from its logs, or ends with an error that says what to do.

mod alone;
mod apart;
mod assign;
mod assignment;
mod barrier;
mod bench;
mod bucket;
mod callback;
mod certificate;
mod checkpoint;
mod chunk;
mod client;
mod commit;
mod conductor;
mod convert;
mod coordinator;
mod dashboard;
mod door;
mod entry;
mod error;
mod estimate;
mod exchange;
mod gauge;
mod hand;
mod health;
mod held;
mod history;
mod http;
mod inbox;
mod intake;
mod job;
mod json;
mod lease;
mod ledger;
mod links;
mod listen;
mod member;
mod metrics;
mod nested;
mod network;
mod office;
mod pace;
mod picture;
mod plan;
mod pool;
mod probe;
mod process;
mod record;
mod recover;
mod reminder;
mod repair;
mod restore;
mod run;
#[doc(hidden)]
pub mod sabotage;
mod saver;
mod schedule;
mod security;
mod seek;
mod services;
mod session;
mod shards;
mod sizes;
mod spoken;
mod sweep;
mod tally;
mod task;
mod token;
mod trace;
mod usage;
mod view;
pub mod wire;
mod work;
mod worker;

pub use assign::share_out;
pub use barrier::{Barrier, BarrierError, PlyReport, Verdict};
pub use bucket::{Bucket, Buckets, Folders, Stores};
pub use chunk::{Letter, MAX_PAYLOAD};
pub use client::{Client, Watch};
pub use commit::{Present, commit, present};
pub use conductor::{Action, Commit, Conductor, Damage, Settings};
pub use coordinator::{Coordinator, CoordinatorSettings};
pub use dashboard::Dashboard;
pub use entry::check_address;
pub use error::{ClusterError, causes};
pub use estimate::Estimate;
pub use exchange::{Inboxes, Post, Posted};
pub use health::{Health, LIVE, any_is_well, is_well};
pub use http::HttpSettings;
pub use inbox::{Accepted, Inbox, Received, Refusal};
pub use json::{job_json, standing_name, state_name, status_json};
pub use lease::LeaseTiming;
pub use listen::{Guest, Incoming, Listener, Visitor};
pub use nested::check_nested;
pub use network::{Connection, Duplex, Listening, Network, Route, Transport};
pub use picture::is_sure;
pub use plan::{Plan, TablePlan, closure, parse_metrics, parse_tables};
pub use pool::Pool;
pub use probe::Probe;
pub use record::{AtWork, JobRecord, RecordState};
pub use security::{Credentials, Security};
pub use sizes::{bytes_in_words, time_in_words};
pub use task::{JobId, MemberId, Task};
pub use token::{Badge, Guard, Guarded, Token};
pub use usage::{available_memory, cpu_seconds, peak_memory};
pub use work::{SolvedMetric, WorkId};
pub use worker::{Worker, WorkerSettings};

/// The version of the software; all members of a cluster have the same.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
