//! From bytes to text and its lines.

use std::borrow::Cow;

use encoding_rs::{Encoding, GB18030, UTF_8};

/// A decoded file.
pub(crate) struct Text<'a>(Cow<'a, str>);

impl Text<'_> {
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The lines with their numbers from 1, without white space around them.
    pub fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        (1..).zip(self.0.lines().map(str::trim))
    }
}

/// Decodes UTF-8, with or without a mark, UTF-16 with one, or else GB 18030.
///
/// Bytes that are no character become U+FFFD, which no move or FEN contains.
pub(crate) fn decode(bytes: &[u8]) -> Text<'_> {
    let encoding = match Encoding::for_bom(bytes) {
        Some((encoding, _)) => encoding,
        None if std::str::from_utf8(bytes).is_ok() => UTF_8,
        None => GB18030,
    };
    Text(encoding.decode(bytes).0)
}

/// Decodes a short text of a file that is always GB 18030.
pub(crate) fn decode_chinese(bytes: &[u8]) -> String {
    let text = GB18030.decode_without_bom_handling(bytes).0;
    text.trim_matches(|c: char| c.is_whitespace() || c == '\0').replace("\r\n", "\n").replace('\0', "")
}
