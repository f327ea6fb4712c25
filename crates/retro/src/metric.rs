//! What a table counts, and by which rules.

use std::fmt;
use std::str::FromStr;

/// What a table tells of a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Metric {
    /// Win, draw or loss, without distance.
    Wdl,
    /// Distance to mate, in plies.
    Dtm,
    /// Distance to conversion, in plies: to the winner's first capture, or to mate.
    Dtc,
    /// The chance of winning, where dice decide.
    Odds,
}

impl Metric {
    /// All metrics, in the order in which they are listed.
    pub const ALL: [Self; 4] = [Self::Wdl, Self::Dtm, Self::Dtc, Self::Odds];

    /// True for distances, which tell win, draw and loss as well: that metric is written with the first of them.
    #[must_use]
    pub const fn is_distance(self) -> bool {
        matches!(self, Self::Dtm | Self::Dtc)
    }

    /// What is read of smaller tables when this is solved under some rules.
    #[must_use]
    pub const fn of_smaller(self, rules: Rules) -> Self {
        match (self, rules) {
            (Self::Dtm | Self::Odds, _) => self,
            // A conversion ends the count of plies, so that these ask only who wins there.
            (Self::Wdl, _) | (Self::Dtc, Rules::Plain) => Self::Wdl,
            // Orders go on.
            (Self::Dtc, _) => Self::Dtc,
        }
    }

    /// The name in paths and on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Wdl => "wdl",
            Self::Dtm => "dtm",
            Self::Dtc => "dtc",
            Self::Odds => "odds",
        }
    }
}

impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A word that names no metric or no rules.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown {what} {given:?}: use one of {known}")]
pub struct UnknownName {
    what: &'static str,
    given: String,
    known: &'static str,
}

impl FromStr for Metric {
    type Err = UnknownName;

    fn from_str(s: &str) -> Result<Self, UnknownName> {
        Self::ALL.into_iter().find(|m| m.name().eq_ignore_ascii_case(s)).ok_or_else(|| UnknownName {
            what: "metric",
            given: s.to_owned(),
            known: "wdl, dtm, dtc, odds",
        })
    }
}

/// The rule of repetition that a table holds for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
#[non_exhaustive]
pub enum Rules {
    /// Every infinite play is a draw.
    #[default]
    Plain,
    /// The side that checks for ever loses, unless both do.
    Check,
    /// As [`Rules::Check`], and the side that chases one piece for ever loses, unless the other is not free either: the
    /// rules of the Asian Xiangqi Federation.
    Axf,
}

impl Rules {
    /// All rules, in the order in which they are listed.
    pub const ALL: [Self; 3] = [Self::Plain, Self::Check, Self::Axf];

    /// The name in paths and on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Check => "check",
            Self::Axf => "axf",
        }
    }
}

impl fmt::Display for Rules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Rules {
    type Err = UnknownName;

    fn from_str(s: &str) -> Result<Self, UnknownName> {
        Self::ALL.into_iter().find(|r| r.name().eq_ignore_ascii_case(s)).ok_or_else(|| UnknownName {
            what: "rules",
            given: s.to_owned(),
            known: "plain, check, axf",
        })
    }
}
