//! Amounts of bytes as people write them.

use crate::ClusterError;

const UNITS: [(&str, u64); 5] = [("TiB", 1 << 40), ("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10), ("B", 1)];

/// `1.5 GiB`, `640 B`.
#[must_use]
pub fn bytes_in_words(bytes: u64) -> String {
    for (name, unit) in UNITS {
        if bytes >= unit && unit > 1 {
            return format!("{:.1} {name}", bytes as f64 / unit as f64);
        }
    }
    format!("{bytes} B")
}

/// Reads `24GiB`, `512M`, `1.5g` or a plain number of bytes; units are powers of 1024.
///
/// # Errors
/// [`ClusterError::Refused`] when the text is no such amount.
pub fn parse_bytes(text: &str) -> Result<u64, ClusterError> {
    let refuse =
        || ClusterError::Refused(format!("{text:?} is no amount of memory: write for example 24GiB, 512M or 1.5G"));
    let text = text.trim();
    let split = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(split);
    let number: f64 = number.parse().map_err(|_| refuse())?;
    let unit = unit.trim();
    let factor = if unit.is_empty() {
        1
    } else {
        let known = UNITS.iter().find(|(name, _)| {
            let short = &name[..1];
            name.eq_ignore_ascii_case(unit)
                || short.eq_ignore_ascii_case(unit)
                || format!("{short}B").eq_ignore_ascii_case(unit)
        });
        known.ok_or_else(refuse)?.1
    };
    let bytes = number * factor as f64;
    if bytes.is_finite() && bytes < u64::MAX as f64 { Ok(bytes as u64) } else { Err(refuse()) }
}

/// Reads the memory that a worker's parts may take, as [`parse_bytes`].
///
/// # Errors
/// [`ClusterError::Refused`] when the text is no such amount, or none at all.
pub fn parse_memory(text: &str) -> Result<u64, ClusterError> {
    match parse_bytes(text)? {
        0 => Err(ClusterError::Refused(format!(
            "nothing can be built with {text:?} of memory: give --memory an amount as 24GiB, or leave it out"
        ))),
        bytes => Ok(bytes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts() {
        for (text, bytes) in [("5", 5), ("24GiB", 24 << 30), ("512M", 512 << 20), ("1.5g", 3 << 29), ("2 kb", 2048)] {
            assert_eq!(parse_bytes(text).unwrap(), bytes, "{text}");
        }
        for text in ["", "x", "5 parsecs", "-3", "1e99", "G"] {
            assert!(parse_bytes(text).is_err(), "{text}");
        }
        assert_eq!(bytes_in_words(3 << 29), "1.5 GiB");
        for text in ["0", "0GiB", "0.2B", "x"] {
            assert!(parse_memory(text).is_err(), "{text}");
        }
        assert_eq!(bytes_in_words(640), "640 B");
    }
}
