//! Ranges of bytes as HTTP writes them.

use std::ops::Range;

use bytes::Bytes;

/// What a `Content-Range` header says: bytes `start..end` of `len`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Given {
    pub(crate) start: u64,
    pub(crate) end: u64,
    pub(crate) len: u64,
}

/// Reads `bytes 2-4/10`; nothing for what is no such range.
pub(crate) fn parse(text: &str) -> Option<Given> {
    let (range, len) = text.trim().strip_prefix("bytes")?.trim().split_once('/')?;
    let (first, last) = range.split_once('-')?;
    let number = |text: &str| text.trim().parse::<u64>().ok();
    let given = Given { start: number(first)?, end: number(last)?.checked_add(1)?, len: number(len)? };
    (given.start < given.end && given.end <= given.len).then_some(given)
}

/// The length in `bytes */10`, as an answer to a range that is not there has it.
pub(crate) fn len_of_none(text: &str) -> Option<u64> {
    text.trim().strip_prefix("bytes")?.trim().strip_prefix("*/")?.trim().parse().ok()
}

/// A range of a whole object; nothing where it has fewer bytes.
pub(crate) fn cut(bytes: &Bytes, range: Range<u64>) -> Option<Bytes> {
    let (start, end) = (usize::try_from(range.start).ok()?, usize::try_from(range.end).ok()?);
    (start <= end && end <= bytes.len()).then(|| bytes.slice(start..end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers() {
        assert_eq!(parse("bytes 2-4/10"), Some(Given { start: 2, end: 5, len: 10 }));
        for bad in ["", "bytes", "bytes */10", "bytes 4-2/10", "bytes 2-10/10", "2-4/10", "bytes 2-4/*", "bytes -4/10"]
        {
            assert_eq!(parse(bad), None, "{bad}");
        }
        assert_eq!(len_of_none("bytes */10"), Some(10));
        assert_eq!(len_of_none("bytes 2-4/10"), None);
    }
}
