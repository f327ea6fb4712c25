//! The text of the DhtmlXQ board: `[DhtmlXQ_name]value[/DhtmlXQ_name]`, one tag after another.
//!
//! Places are two digits, column from Red's left and row from Black's home rank; `binit` has the places
//! of 32 pieces, 99 for those that are absent, and moves are pairs of places. `movelist` is branch 0, and
//! `move_P_N_B` is branch B, which stands instead of ply N of branch P; plies are counted from the start. Older files
//! have all branches in `movelist`, each between `[P_N_B]` and `[/P_N_B]`, the main one as `[0_1_0]`.
//! `commentN` is said after ply N of branch 0, `commentB_N` after ply N of branch B.

mod branches;
mod tags;

use canju_xiangqi::{Color, Move, Piece, Position, Role, Square};

use crate::builder::{Builder, infer_turn};
use crate::format::Allowance;
use crate::text::Text;
use crate::{GameResult, NodeId, Place, Reason, Record, RecordError, fields};
use branches::Branches;
use tags::{Game, Tag, games};

pub(crate) use tags::is_one;

/// The pieces in the order of their places, Red's and then Black's.
pub(crate) const ORDER: [Role; 16] = [
    Role::Chariot,
    Role::Horse,
    Role::Elephant,
    Role::Advisor,
    Role::King,
    Role::Advisor,
    Role::Elephant,
    Role::Horse,
    Role::Chariot,
    Role::Cannon,
    Role::Cannon,
    Role::Soldier,
    Role::Soldier,
    Role::Soldier,
    Role::Soldier,
    Role::Soldier,
];

/// A record for each game of the text.
pub(crate) fn read(text: &Text<'_>, allowance: &mut Allowance) -> Result<Vec<Record>, RecordError> {
    games(text.as_str()).iter().map(|found| game(found, allowance)).collect()
}

fn game(found: &Game<'_>, allowance: &mut Allowance) -> Result<Record, RecordError> {
    let tags = &found.tags[..];
    let place = tags.first().map_or(Place::Line(1), |tag| tag.place);
    let find = |name: &str| tags.iter().find(|tag| tag.name == name && !tag.value.trim().is_empty());
    let branches = Branches::of(tags);
    let first = branches.first_move();
    let start = match (find("fen"), find("binit")) {
        (Some(fen), _) => fields::split(fen.value, fen.place)?.start(first.as_deref()),
        (None, binit) => {
            let mut start = match binit {
                Some(binit) => position(binit)?,
                None => Position::initial(),
            };
            infer_turn(&mut start, first.as_deref());
            start
        }
    };
    let mut builder = Builder::new(start, place, allowance)?;
    for warning in &found.cut {
        builder.warn(warning.place, warning.fault.clone());
    }
    for tag in tags {
        let value = said(tag.value);
        let value = value.trim();
        let record = &mut builder.record;
        match tag.name.as_str() {
            "title" => record.title = value.to_owned(),
            "event" => record.event = value.to_owned(),
            "place" => record.site = value.to_owned(),
            "date" => record.date = value.to_owned(),
            "round" => record.round = value.to_owned(),
            "red" => record.red = value.to_owned(),
            "black" => record.black = value.to_owned(),
            "author" => record.annotator = value.to_owned(),
            "remark" => record.tree.add_comment(NodeId::START, value),
            "result" => record.result = GameResult::from_text(value).unwrap_or_default(),
            _ => {}
        }
    }
    branches.play(&mut builder)?;
    Ok(builder.finish())
}

/// The start that 32 places make. Who is to move is not in it: Red, until the moves say otherwise.
fn position(binit: &Tag<'_>) -> Result<Position, RecordError> {
    let digits: Vec<u8> = binit.value.bytes().filter(u8::is_ascii_digit).map(|b| b - b'0').collect();
    if digits.len() != 64 {
        return Err(RecordError::new(binit.place, Reason::Binit(digits.len())));
    }
    let kinds = Color::ALL.into_iter().flat_map(|color| ORDER.map(|role| Piece::new(color, role)));
    let pieces: Vec<(Piece, Square)> =
        (kinds.zip(digits.chunks(2))).filter_map(|(piece, place)| Some((piece, square(place[0], place[1])?))).collect();
    Position::from_pieces(&pieces, Color::Red).map_err(|error| RecordError::new(binit.place, Reason::Pieces(error)))
}

/// The square of a column and a row; there is no column 9.
fn square(column: u8, row: u8) -> Option<Square> {
    (column < 9 && row < 10).then(|| Square::at(column, 9 - row))
}

/// The move of four digits.
fn read_move(four: &[u8]) -> Option<Move> {
    let &[a, b, c, d] = four else { return None };
    let digit = |byte: u8| byte.wrapping_sub(b'0');
    Some(Move::new(square(digit(a), digit(b))?, square(digit(c), digit(d))?))
}

/// A value as its reader sees it: `||` begins a new line.
fn said(value: &str) -> String {
    let lines = value.replace("\r\n", "\n").replace("||", "\n");
    lines.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&nbsp;", " ").replace("&amp;", "&")
}
