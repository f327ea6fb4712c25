//! Which process this is, in words that others on the same machine can check.

use std::fs;

/// This process: its number, and when it started. Empty where the system does not tell.
pub(crate) fn name() -> String {
    let number = std::process::id();
    start_of(number).map_or_else(String::new, |start| format!("{number}.{start}"))
}

/// Where the number of a process means the same process: the machine's start and its space of processes.
pub(crate) fn place() -> Option<String> {
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    let space = fs::read_link("/proc/self/ns/pid").ok()?;
    Some(format!("{} {}", boot.trim(), space.display()))
}

/// True unless a process of that name, in this place, has certainly ended.
pub(crate) fn lives(name: &str) -> bool {
    let Some((number, start)) = name.split_once('.') else { return true };
    let (Ok(number), Ok(start)) = (number.parse(), start.parse()) else { return true };
    // Where this process itself cannot be seen, nothing can be told of others.
    start_of(std::process::id()).is_none() || start_of(number) == Some(start)
}

/// When a process started, in ticks since the machine did.
fn start_of(number: u32) -> Option<u64> {
    let stat = fs::read_to_string(format!("/proc/{number}/stat")).ok()?;
    // The name of the program, in parentheses, may have anything in it; the start is the 20th word behind it.
    stat.rsplit_once(')')?.1.split_whitespace().nth(19)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_lives_and_others_do_not() {
        assert!(lives(&name()));
        if let Some(start) = start_of(std::process::id()) {
            assert!(!lives(&format!("{}.{}", std::process::id(), start + 1)));
            assert!(!lives("4194304.1"));
        }
        assert!(lives("what is no name"));
    }
}
