//! The worker command.
fn main() {}
