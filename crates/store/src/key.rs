//! The name of an object.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

/// Longest key in bytes: what S3 takes.
const MAX_LEN: usize = 1024;
/// Longest segment in bytes: what common file systems take.
const MAX_SEGMENT: usize = 200;

/// The name of an object: segments of `A-Z a-z 0-9 . _ -` joined by `/`, none empty and none
/// beginning with a dot, so that a key is a safe relative path and hidden names stay free for the store.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key(Arc<str>);

/// A text that is no key.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{given:?} is no key of an object: {reason}; use segments of letters, digits, '.', '_' and '-' joined by '/'")]
pub struct KeyError {
    given: String,
    reason: &'static str,
}

impl Key {
    /// The key of this text.
    ///
    /// # Errors
    /// When the text is not such a name, with the reason.
    pub fn new(text: &str) -> Result<Self, KeyError> {
        match flaw(text) {
            None => Ok(Self(text.into())),
            Some(reason) => Err(KeyError { given: text.chars().take(80).collect(), reason }),
        }
    }

    /// The key as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The key with more segments behind it.
    ///
    /// # Errors
    /// As [`Key::new`].
    pub fn join(&self, more: &str) -> Result<Self, KeyError> {
        Self::new(&format!("{self}/{more}"))
    }
}

fn flaw(text: &str) -> Option<&'static str> {
    if text.is_empty() {
        return Some("it is empty");
    }
    if text.len() > MAX_LEN {
        return Some("it is longer than 1024 bytes");
    }
    text.split('/').find_map(segment_flaw)
}

fn segment_flaw(segment: &str) -> Option<&'static str> {
    if segment.is_empty() {
        Some("a segment is empty")
    } else if segment.starts_with('.') {
        Some("a segment begins with a dot")
    } else if segment.len() > MAX_SEGMENT {
        Some("a segment is longer than 200 bytes")
    } else if !segment.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-')) {
        Some("it has a character that keys do not have")
    } else {
        None
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

impl FromStr for Key {
    type Err = KeyError;

    fn from_str(text: &str) -> Result<Self, KeyError> {
        Self::new(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::path::{Component, Path};

    #[test]
    fn good_and_bad() {
        for good in ["a", "tables/plain/KPK/dtm/0000.shard", "lease/coordinator", "a..b", "a-b_c.d"] {
            assert_eq!(Key::new(good).unwrap().as_str(), good);
        }
        let long = "x".repeat(201);
        for bad in
            ["", "/", "/a", "a/", "a//b", "..", "a/../b", ".", ".hidden", "a/.b", "a b", "ä", "a\\b", "a\0", &long]
        {
            assert!(Key::new(bad).is_err(), "{bad:?}");
        }
    }

    proptest! {
        #[test]
        fn a_key_stays_below_its_folder(text in "[./a-c\\\\]{0,12}") {
            if let Ok(key) = Key::new(&text) {
                prop_assert!(Path::new(key.as_str()).components().all(|c| matches!(c, Component::Normal(_))));
            }
        }
    }
}
