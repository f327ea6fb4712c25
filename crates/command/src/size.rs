//! Amounts of bytes on the command line: everywhere with a unit.

const UNITS: [(&str, u64); 5] = [("TiB", 1 << 40), ("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10), ("B", 1)];
/// The least that anything can be done with.
const LEAST_MEMORY: u64 = 1 << 20;

/// Reads `24GiB`, `512M` or `1.5g`; units are powers of 1024. Only nothing needs no unit.
///
/// # Errors
/// When the text is no such amount, with what to write instead.
pub fn bytes(text: &str) -> Result<u64, String> {
    let refuse = || "write an amount with its unit, for example 24GiB, 512MiB or 1.5G".to_owned();
    let text = text.trim();
    let split = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(split);
    let amount: f64 = number.parse().map_err(|_| refuse())?;
    let unit = unit.trim();
    if unit.is_empty() && amount > 0.0 {
        return Err(format!("{number} of what? Write the unit, for example {number}MiB or {number}GiB"));
    }
    let known = UNITS.iter().find(|(name, _)| {
        let short = &name[..1];
        unit.is_empty()
            || name.eq_ignore_ascii_case(unit)
            || short.eq_ignore_ascii_case(unit)
            || format!("{short}B").eq_ignore_ascii_case(unit)
    });
    let bytes = amount * known.ok_or_else(refuse)?.1 as f64;
    if bytes.is_finite() && bytes < u64::MAX as f64 { Ok(bytes as u64) } else { Err(refuse()) }
}

/// Reads how much memory something may take, as [`bytes`].
///
/// # Errors
/// When the text is no such amount, or too little for anything.
pub fn memory(text: &str) -> Result<u64, String> {
    match bytes(text)? {
        0..LEAST_MEMORY => {
            Err("nothing can be done with so little memory: give 1MiB or more, or leave it out".to_owned())
        }
        bytes => Ok(bytes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts() {
        for (text, amount) in [("5b", 5), ("24GiB", 24 << 30), ("512M", 512 << 20), ("1.5g", 3 << 29), ("2 kb", 2048)] {
            assert_eq!(bytes(text), Ok(amount), "{text}");
        }
        for text in ["", "x", "5 parsecs", "-3", "1e99", "G", "1e99TiB"] {
            assert!(bytes(text).unwrap_err().contains("24GiB"), "{text}");
        }
        assert_eq!(bytes("0"), Ok(0));
    }

    #[test]
    fn a_number_alone_is_no_amount() {
        assert!(bytes("512").unwrap_err().contains("512MiB or 512GiB"));
        for text in ["0", "0GiB", "0.2B", "1000 B", "1023KiB"] {
            assert!(memory(text).unwrap_err().contains("leave it out"), "{text}");
        }
        assert_eq!(memory("1MiB"), Ok(1 << 20));
        assert!(memory("512").is_err());
    }
}
