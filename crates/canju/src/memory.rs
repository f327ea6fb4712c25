//! What does not fit into memory is refused before it is begun.

use std::fs;

use anyhow::bail;

/// Bytes of memory that are free; `None` where the system does not tell.
fn free() -> Option<u64> {
    let told = fs::read_to_string("/proc/meminfo").ok()?;
    let line = told.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    Some(line.split_whitespace().next()?.parse::<u64>().ok()? * 1024)
}

/// Refuses what takes more bytes than are free, and says what to do instead.
pub(crate) fn check(what: &str, bytes: u64, remedy: &str) -> anyhow::Result<()> {
    compare(what, bytes, free(), remedy)
}

fn compare(what: &str, bytes: u64, free: Option<u64>, remedy: &str) -> anyhow::Result<()> {
    if let Some(free) = free.filter(|&free| free < bytes) {
        let [bytes, free] = [bytes, free].map(|n| n as f64 / 1e9);
        bail!("{what} {bytes:.1} GB of memory, and {free:.1} GB are free: {remedy}");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_is_refused_with_the_numbers() {
        let tell = |free| compare("it takes", 5_400_000_000, free, "take less").err().map(|error| error.to_string());
        assert_eq!(tell(Some(2 << 30)).as_deref(), Some("it takes 5.4 GB of memory, and 2.1 GB are free: take less"));
        assert_eq!((tell(Some(6 << 30)), tell(None)), (None, None));
    }
}
