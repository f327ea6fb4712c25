//! What is wrong with a position or a file, in parts: for who tells it in other words.

use canju_ewn::{NotationFault, PositionError as StonesError};
use canju_records::{Fault, Place, Reason, RecordError, Warning};
use canju_xiangqi::{Color, FenError, Illegality, Piece, PositionError, Square};
use serde::Serialize;
use utoipa::ToSchema;

use crate::answers::Turn;

/// What is wrong with a position. What does not belong to the reason is left out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, ToSchema)]
pub(crate) struct PositionFault {
    /// Of a FEN `empty`, `long`, `ranks`, `files`, `letter` or `side`; of its pieces `no_king`, `two_kings`, `too_many`,
    /// `misplaced` or `occupied`; of a position that no game leads to `kings_face` or `check`. Of a position of EinStein
    /// würfelt nicht! `long`, `stone`, `side`, `die`, `sides`, `word`, `no_side`, `square`, `rolled`, `number`, `twice`,
    /// `shared`, `empty` or `both_won`.
    pub reason: &'static str,
    /// How many there are: bytes, ranks, files of the rank; of `too_many` how many a side has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub count: Option<usize>,
    /// The rank, 0 for Red's home rank.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rank: Option<u8>,
    /// Where.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub square: Option<String>,
    /// The piece as a letter of a FEN.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub piece: Option<char>,
    /// Whose king it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub side: Option<Turn>,
    /// The words that cannot be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

/// What is wrong with a file of games, or was passed over in one of them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub(crate) struct FileFault {
    /// Of a file `empty`, `unrecognised`, `fen`, `pieces`, `binit`, `no_fen`, `version`, `cut`, `large` or `many`; of what was
    /// passed over `start`, `illegal`, `unread`, `digits`, `off_board`, `cut`, `cut_tag`, `open_tag`, `keys`, `branches`,
    /// `orphan`, `late`, `odd`, `comment`, `open_variation`, `open_comment`, `deep` or `unopened`.
    pub reason: &'static str,
    /// The line of a text, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    /// The byte of a binary file, from 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub byte: Option<usize>,
    /// The words of the file that it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// What is wrong with the position.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub position: Option<PositionFault>,
}

impl PositionFault {
    /// More bytes than are read.
    pub fn long(bytes: usize) -> Self {
        Self { reason: "long", count: Some(bytes), ..Self::default() }
    }

    fn on(reason: &'static str, square: Square) -> Self {
        Self { reason, square: Some(square.to_string()), ..Self::default() }
    }

    fn of_piece(reason: &'static str, piece: Piece, square: Square) -> Self {
        Self { piece: Some(piece.to_char()), ..Self::on(reason, square) }
    }

    fn of_side(reason: &'static str, side: Color) -> Self {
        Self { reason, side: Some(side.into()), ..Self::default() }
    }
}

impl From<&FenError> for PositionFault {
    fn from(error: &FenError) -> Self {
        let of = |reason| Self { reason, ..Self::default() };
        match error {
            FenError::Empty => of("empty"),
            FenError::Ranks(ranks) => Self { count: Some(*ranks), ..of("ranks") },
            FenError::Files { rank, files, text } => {
                Self { rank: Some(*rank), count: Some(*files), text: Some(text.clone()), ..of("files") }
            }
            FenError::Letter { letter, square } => {
                Self { text: Some(letter.to_string()), ..Self::on("letter", *square) }
            }
            FenError::Side(text) => Self { text: Some(text.clone()), ..of("side") },
            FenError::Pieces(error) => error.into(),
            _ => of("other"),
        }
    }
}

impl From<&PositionError> for PositionFault {
    fn from(error: &PositionError) -> Self {
        match *error {
            PositionError::NoKing(side) => Self::of_side("no_king", side),
            PositionError::TwoKings(side, square) => Self { side: Some(side.into()), ..Self::on("two_kings", square) },
            PositionError::TooMany(piece, square) => {
                Self { count: Some(piece.role.limit()), ..Self::of_piece("too_many", piece, square) }
            }
            PositionError::Misplaced(piece, square) => Self::of_piece("misplaced", piece, square),
            PositionError::Occupied(square) => Self::on("occupied", square),
            _ => Self { reason: "other", ..Self::default() },
        }
    }
}

impl From<Illegality> for PositionFault {
    fn from(error: Illegality) -> Self {
        match error {
            Illegality::KingsFace => Self { reason: "kings_face", ..Self::default() },
            Illegality::CheckUnanswered(side) => Self::of_side("check", side),
            _ => Self { reason: "other", ..Self::default() },
        }
    }
}

impl From<&canju_ewn::NotationError> for PositionFault {
    fn from(error: &canju_ewn::NotationError) -> Self {
        let text = match error.fault() {
            NotationFault::Position(StonesError::Twice(color, number)) => format!("{}{number}", color.letter()),
            NotationFault::Position(StonesError::Shared(square)) => square.to_string(),
            _ => error.given().to_owned(),
        };
        Self { reason: error.fault().name(), text: Some(text), ..Self::default() }
    }
}

impl FileFault {
    fn at(place: Place, reason: &'static str) -> Self {
        let (line, byte) = match place {
            Place::Line(line) => (Some(line), None),
            Place::Byte(byte) => (None, Some(byte)),
        };
        Self { reason, line, byte, text: None, position: None }
    }
}

impl From<&RecordError> for FileFault {
    fn from(error: &RecordError) -> Self {
        let position = match &error.reason {
            Reason::Fen(error) => Some(error.into()),
            Reason::Pieces(error) => Some(error.into()),
            _ => None,
        };
        Self { position, ..Self::at(error.place, error.reason.name()) }
    }
}

impl From<&Warning> for FileFault {
    fn from(warning: &Warning) -> Self {
        let position = match &warning.fault {
            Fault::Start(reason) => Some((*reason).into()),
            _ => None,
        };
        Self { text: warning.fault.text(), position, ..Self::at(warning.place, warning.fault.name()) }
    }
}
