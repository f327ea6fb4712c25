//! What C is told when something fails: a number, and a text that stays with the thread.

use std::cell::RefCell;
use std::error::Error;
use std::ffi::{CStr, CString, c_char};

use canju_probe::ProbeError;
use canju_retro::UnknownName;
use canju_table::TableError;
use canju_xiangqi::FenError;

/// The numbers of `canju.h`, which a test compares with it.
pub mod status {
    /// `CANJU_OK`.
    pub const OK: i32 = 0;
    /// `CANJU_INVALID`.
    pub const INVALID: i32 = 1;
    /// `CANJU_POSITION`.
    pub const POSITION: i32 = 2;
    /// `CANJU_UNKNOWN`.
    pub const UNKNOWN: i32 = 3;
    /// `CANJU_MISSING`.
    pub const MISSING: i32 = 4;
    /// `CANJU_DAMAGED`.
    pub const DAMAGED: i32 = 5;
    /// `CANJU_UNREACHABLE`.
    pub const UNREACHABLE: i32 = 6;
    /// `CANJU_OVER`.
    pub const OVER: i32 = 7;
    /// `CANJU_INTERNAL`.
    pub const INTERNAL: i32 = 8;

    /// All of them, with their names.
    pub const ALL: [(&str, i32); 9] = [
        ("OK", OK),
        ("INVALID", INVALID),
        ("POSITION", POSITION),
        ("UNKNOWN", UNKNOWN),
        ("MISSING", MISSING),
        ("DAMAGED", DAMAGED),
        ("UNREACHABLE", UNREACHABLE),
        ("OVER", OVER),
        ("INTERNAL", INTERNAL),
    ];
}

/// A failure as C gets it.
#[derive(Debug)]
pub(crate) struct Failure {
    pub status: i32,
    pub told: String,
}

impl Failure {
    pub fn new(status: i32, told: impl Into<String>) -> Self {
        Self { status, told: told.into() }
    }
}

impl From<FenError> for Failure {
    fn from(error: FenError) -> Self {
        Self::new(status::POSITION, chain(&error))
    }
}

impl From<UnknownName> for Failure {
    fn from(error: UnknownName) -> Self {
        Self::new(status::INVALID, chain(&error))
    }
}

impl From<ProbeError> for Failure {
    fn from(error: ProbeError) -> Self {
        let status = match &error {
            ProbeError::Illegal { .. } | ProbeError::NoKing { .. } | ProbeError::Doubled { .. } => status::POSITION,
            ProbeError::Endgame(_) => status::UNKNOWN,
            ProbeError::Table(TableError::Missing { .. }) => status::MISSING,
            ProbeError::Table(TableError::Io { .. }) => status::UNREACHABLE,
            ProbeError::NoFolder { .. } | ProbeError::NoNetwork { .. } | ProbeError::Open(_) => status::UNREACHABLE,
            // Everything else says that the table is not what it should be.
            _ => status::DAMAGED,
        };
        Self::new(status, chain(&error))
    }
}

/// An error with its causes, as one line.
fn chain(error: &dyn Error) -> String {
    let mut told = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let text = error.to_string();
        if !told.contains(&text) {
            told = format!("{told} ({text})");
        }
        cause = error.source();
    }
    told
}

thread_local! {
    static LAST: RefCell<CString> = RefCell::default();
}

/// Keeps a failure's text for this thread and gives its number.
pub(crate) fn keep(failure: Failure) -> i32 {
    let plain: Vec<u8> = failure.told.bytes().map(|b| if b < b' ' { b' ' } else { b }).collect();
    // There is no 0 left in it.
    let text = CString::new(plain).unwrap_or_default();
    // A thread that is ending has nobody left to tell.
    let _ = LAST.try_with(|last| last.replace(text));
    failure.status
}

/// The text that was kept last. It lives until the next is kept.
pub(crate) fn last() -> *const c_char {
    const NOTHING: &CStr = c"";
    LAST.try_with(|last| last.borrow().as_ptr()).unwrap_or(NOTHING.as_ptr())
}
