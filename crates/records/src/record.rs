//! One game or study.

use canju_xiangqi::Position;

use crate::{Place, Tree, Warning};

/// How a game ended, as its file has it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum GameResult {
    /// Red won.
    RedWins,
    /// Black won.
    BlackWins,
    /// A draw.
    Draw,
    /// The file does not say.
    #[default]
    Unknown,
}

impl GameResult {
    /// As PGN writes it: `1-0`, `0-1`, `1/2-1/2`, `*`.
    #[must_use]
    pub const fn to_pgn(self) -> &'static str {
        match self {
            GameResult::RedWins => "1-0",
            GameResult::BlackWins => "0-1",
            GameResult::Draw => "1/2-1/2",
            GameResult::Unknown => "*",
        }
    }

    /// Reads a result of PGN, or what Chinese files write for it.
    #[must_use]
    pub fn from_text(text: &str) -> Option<Self> {
        Some(match text.trim() {
            "1-0" | "红胜" | "紅勝" | "红先胜" | "紅先勝" | "先胜" | "先勝" => Self::RedWins,
            "0-1" | "黑胜" | "黑勝" | "黑先胜" | "黑先勝" | "红先负" | "紅先負" | "先负" | "先負" => {
                Self::BlackWins
            }
            "1/2-1/2" | "1/2" | "和" | "和棋" | "和局" | "红先和" | "紅先和" | "先和" => Self::Draw,
            "*" | "未知" => Self::Unknown,
            _ => return None,
        })
    }
}

/// A position, or a game or study that begins with it. Texts are empty where the file says nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// What it is called.
    pub title: String,
    /// The match or the book.
    pub event: String,
    /// Where it was played.
    pub site: String,
    /// When, in the file's own words.
    pub date: String,
    /// Which round.
    pub round: String,
    /// Who plays Red.
    pub red: String,
    /// Who plays Black.
    pub black: String,
    /// Who wrote the comments.
    pub annotator: String,
    /// How it ended.
    pub result: GameResult,
    /// Where in the file it begins.
    pub place: Place,
    /// The first position.
    pub start: Position,
    /// The moves with comments. What is said before all of them is the comment of
    /// [`NodeId::START`](crate::NodeId::START).
    pub tree: Tree,
    /// What was passed over.
    pub warnings: Vec<Warning>,
}

impl Record {
    /// A record without moves or texts.
    #[must_use]
    pub fn new(start: Position, place: Place) -> Self {
        Self {
            title: String::new(),
            event: String::new(),
            site: String::new(),
            date: String::new(),
            round: String::new(),
            red: String::new(),
            black: String::new(),
            annotator: String::new(),
            result: GameResult::Unknown,
            place,
            start,
            tree: Tree::new(),
            warnings: Vec::new(),
        }
    }
}
