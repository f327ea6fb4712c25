//! The canju command.
fn main() {}
