//! Safeguards that tests of the simulation take away one by one, to see that each is missed. Without the feature
//! `sabotage` all of them stand.

/// What keeps a table right when something goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Safeguard {
    /// Messages of other attempts are refused.
    Epochs,
    /// A coordinator that lost the lease, or finds that somebody else has written, writes nothing more.
    Lease,
    /// Checkpoints are compared with their checksum.
    Checksums,
    /// A part waits for the messages of its neighbours.
    Waiting,
    /// A ply closes when what was sent is what was received.
    Traffic,
    /// A shard that is there already is compared with the new one.
    Comparison,
}

#[cfg(feature = "sabotage")]
thread_local! {
    static GONE: std::cell::Cell<&'static [Safeguard]> = const { std::cell::Cell::new(&[]) };
}

/// Takes these safeguards away from everything on this thread, and puts up all others.
#[cfg(feature = "sabotage")]
pub fn take_away(safeguards: &'static [Safeguard]) {
    GONE.set(safeguards);
}

/// True where a test has taken the safeguard away.
#[cfg(feature = "sabotage")]
pub(crate) fn is_gone(safeguard: Safeguard) -> bool {
    GONE.get().contains(&safeguard)
}

/// Never: this build has all safeguards.
#[cfg(not(feature = "sabotage"))]
pub(crate) const fn is_gone(_: Safeguard) -> bool {
    false
}
