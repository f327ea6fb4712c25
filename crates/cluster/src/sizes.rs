//! Amounts of bytes and of time as people write them.

const UNITS: [(&str, u64); 4] = [("TiB", 1 << 40), ("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)];

/// `1.5 GiB`, `640 B`.
#[must_use]
pub fn bytes_in_words(bytes: u64) -> String {
    for (name, unit) in UNITS {
        if bytes >= unit {
            return format!("{:.1} {name}", bytes as f64 / unit as f64);
        }
    }
    format!("{bytes} B")
}

/// Seconds in the unit that fits: `40 s`, `1.5 h`.
#[must_use]
pub fn time_in_words(seconds: f64) -> String {
    match seconds {
        s if s < 90.0 => format!("{s:.0} s"),
        s if s < 5400.0 => format!("{:.0} min", s / 60.0),
        s if s < 172_800.0 => format!("{:.1} h", s / 3600.0),
        s => format!("{:.0} d", s / 86_400.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts() {
        assert_eq!(bytes_in_words(3 << 29), "1.5 GiB");
        assert_eq!(bytes_in_words(640), "640 B");
    }

    #[test]
    fn times() {
        let shown = [0.2, 89.0, 90.0, 5400.0, 200_000.0].map(time_in_words);
        assert_eq!(shown, ["0 s", "89 s", "2 min", "1.5 h", "2 d"]);
    }
}
