//! What the commands have in common at their edge: errors as one line, logs, and, for those that speak to a
//! cluster, whom they trust and how they ask whether somebody is well.
//!
//! Above it are only the binaries.

pub mod failure;
#[cfg(feature = "cluster")]
mod health;
mod logging;
#[cfg(feature = "cluster")]
mod trust;

#[cfg(feature = "cluster")]
pub use health::{Unwell, ask};
pub use logging::{LogFormat, Logging};
#[cfg(feature = "cluster")]
pub use trust::Trust;
