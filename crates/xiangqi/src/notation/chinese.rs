use super::phrase::{Phrase, Place, Way, Which, column, course, file_number, tandems};
use crate::{Color, Move, Piece, Position, Role};

const NUMERALS: [char; 9] = ['一', '二', '三', '四', '五', '六', '七', '八', '九'];

pub(super) fn write(position: &Position, piece: Piece, chosen: Move) -> String {
    let (way, number) = course(piece.color, piece.role, chosen);
    let way = match way {
        Way::Forward => '进',
        Way::Sideways => '平',
        Way::Back => '退',
    };
    format!("{}{way}{}", subject(position, piece, chosen), numeral(piece.color, number))
}

/// The first two characters.
fn subject(position: &Position, piece: Piece, chosen: Move) -> String {
    let Piece { color, role } = piece;
    let name = name(piece);
    let file = file_number(color, chosen.from);
    let squares = column(position, color, role, file);
    // Two advisors or elephants on a file never share a way to go, so the file tells enough.
    if squares.len() < 2 || matches!(role, Role::Advisor | Role::Elephant) {
        return format!("{name}{}", numeral(color, file));
    }
    let tandems = tandems(position, color, role);
    let index = squares.iter().position(|&square| square == chosen.from).unwrap_or_default();
    let place = match (tandems.len(), squares.len(), index) {
        (1, 2 | 3, 0) => '前',
        (1, 3, 1) => '中',
        (1, 2 | 3, _) => '后',
        _ => {
            let mut all = tandems.iter().flatten();
            NUMERALS[all.position(|&square| square == chosen.from).unwrap_or_default()]
        }
    };
    format!("{place}{name}")
}

fn name(piece: Piece) -> char {
    match (piece.role, piece.color) {
        (Role::King, Color::Red) => '帅',
        (Role::King, Color::Black) => '将',
        (Role::Advisor, Color::Red) => '仕',
        (Role::Advisor, Color::Black) => '士',
        (Role::Elephant, Color::Red) => '相',
        (Role::Elephant, Color::Black) => '象',
        (Role::Chariot, _) => '车',
        (Role::Horse, _) => '马',
        (Role::Cannon, _) => '炮',
        (Role::Soldier, Color::Red) => '兵',
        (Role::Soldier, Color::Black) => '卒',
    }
}

fn numeral(color: Color, number: u8) -> char {
    match color {
        Color::Red => NUMERALS[usize::from(number) - 1],
        Color::Black => (b'0' + number) as char,
    }
}

/// What one character can mean.
#[derive(Clone, Copy)]
enum Word {
    Piece(Role),
    Number(u8),
    Place(Place),
    Way(Way),
}

pub(super) fn read(text: &str) -> Option<Phrase> {
    let words: Vec<Word> = text.chars().map(word).collect::<Option<_>>()?;
    let &[first, second, Word::Way(way), Word::Number(number)] = &words[..] else { return None };
    let (role, which) = match (first, second) {
        (Word::Piece(role), Word::Number(file)) => (role, Which::File(file)),
        (Word::Place(place), Word::Piece(role)) | (Word::Piece(role), Word::Place(place)) => {
            (role, Which::Tandem(None, place))
        }
        (Word::Number(ordinal), Word::Piece(role)) => (role, Which::Ordinal(ordinal)),
        // Only soldiers come in tandem on two files, so the file can stand for their name.
        (Word::Place(place), Word::Number(file)) => (Role::Soldier, Which::Tandem(Some(file), place)),
        _ => return None,
    };
    Some(Phrase { role, which, way, number })
}

fn word(letter: char) -> Option<Word> {
    Some(match letter {
        '帅' | '帥' | '将' | '將' => Word::Piece(Role::King),
        '仕' | '士' => Word::Piece(Role::Advisor),
        '相' | '象' => Word::Piece(Role::Elephant),
        '车' | '車' | '俥' => Word::Piece(Role::Chariot),
        '马' | '馬' | '傌' => Word::Piece(Role::Horse),
        '炮' | '砲' | '包' => Word::Piece(Role::Cannon),
        '兵' | '卒' => Word::Piece(Role::Soldier),
        '前' => Word::Place(Place::First),
        '中' => Word::Place(Place::Middle),
        '后' | '後' => Word::Place(Place::Last),
        '进' | '進' => Word::Way(Way::Forward),
        '平' => Word::Way(Way::Sideways),
        '退' => Word::Way(Way::Back),
        '1'..='9' => Word::Number(letter as u8 - b'0'),
        '１'..='９' => Word::Number((u32::from(letter) - u32::from('０')) as u8),
        _ => Word::Number(NUMERALS.iter().position(|&numeral| numeral == letter)? as u8 + 1),
    })
}
