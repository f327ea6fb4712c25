//! The coordinator command.
fn main() {}
