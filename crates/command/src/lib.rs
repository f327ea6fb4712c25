//! What the commands have in common at their edge: errors as one line, logs, amounts of bytes, numbers in words, the scratch folder, and,
//! for those that speak to a cluster, addresses, whom they trust and how they ask whether somebody is well.
//!
//! Above it are only the binaries.

#[cfg(feature = "cluster")]
mod address;
pub mod failure;
#[cfg(feature = "cluster")]
mod health;
mod logging;
mod scratch;
pub mod size;
#[cfg(feature = "cluster")]
mod trust;
pub mod words;

#[cfg(feature = "cluster")]
pub use address::address;
#[cfg(feature = "cluster")]
pub use health::{Unwell, ask};
pub use logging::{LogFormat, Logging};
pub use scratch::check_scratch;
#[cfg(feature = "cluster")]
pub use trust::Trust;
