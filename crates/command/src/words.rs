//! Numbers in words.

/// So many of something.
#[must_use]
pub fn counted(n: impl Into<u64>, one: &str, many: &str) -> String {
    let n = n.into();
    format!("{n} {}", if n == 1 { one } else { many })
}

/// So many plies.
#[must_use]
pub fn counted_plies(plies: impl Into<u64>) -> String {
    counted(plies, "ply", "plies")
}

/// A distance: the order where there is one, for then its plies lead to no mate.
#[must_use]
pub fn distance(order: impl Into<u64>, plies: impl Into<u64>) -> String {
    match order.into() {
        0 => counted_plies(plies),
        order => format!("order {order} and {}", counted_plies(plies)),
    }
}
