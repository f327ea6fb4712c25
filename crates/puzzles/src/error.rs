//! What is wrong with a file.

use std::ops::Range;

/// Why a file is no puzzle: the file, the line where there is one, and the reason.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{file}{}: {reason}", .line.map(|line| format!(":{line}")).unwrap_or_default())]
pub struct PuzzleError {
    /// The file, as it was given.
    pub file: String,
    /// The line, counted from 1.
    pub line: Option<usize>,
    /// What is wrong and what to do.
    pub reason: String,
}

/// A text, for errors that name its lines.
#[derive(Clone, Copy)]
pub(crate) struct Text<'a> {
    pub(crate) file: &'a str,
    pub(crate) text: &'a str,
}

impl Text<'_> {
    /// An error at some bytes of the text.
    pub(crate) fn at(self, span: Range<usize>, reason: impl Into<String>) -> PuzzleError {
        let before = self.text.as_bytes().get(..span.start).unwrap_or(self.text.as_bytes());
        let line = 1 + before.iter().filter(|&&byte| byte == b'\n').count();
        self.on(line, reason)
    }

    /// An error on a line.
    pub(crate) fn on(self, line: usize, reason: impl Into<String>) -> PuzzleError {
        PuzzleError { file: self.file.to_owned(), line: Some(line), reason: reason.into() }
    }

    /// An error of the whole.
    pub(crate) fn whole(self, reason: impl Into<String>) -> PuzzleError {
        PuzzleError { file: self.file.to_owned(), line: None, reason: reason.into() }
    }
}
