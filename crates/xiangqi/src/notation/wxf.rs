use super::phrase::{Phrase, Place, Way, Which, column, course, file_number, tandems};
use crate::{Move, Piece, Position, Role};

pub(super) fn write(position: &Position, piece: Piece, chosen: Move) -> String {
    let (way, number) = course(piece.color, piece.role, chosen);
    let sign = match way {
        Way::Forward => '+',
        Way::Sideways => '.',
        Way::Back => '-',
    };
    format!("{}{sign}{number}", subject(position, piece, chosen))
}

/// The first two characters.
fn subject(position: &Position, piece: Piece, chosen: Move) -> String {
    let Piece { color, role } = piece;
    let letter = letter(role);
    let file = file_number(color, chosen.from);
    let squares = column(position, color, role, file);
    let index = squares.iter().position(|&square| square == chosen.from).unwrap_or_default();
    // Two advisors or elephants on a file never share a way to go, so the file tells enough.
    if squares.len() < 2 || matches!(role, Role::Advisor | Role::Elephant) {
        return format!("{letter}{file}");
    }
    let last = squares.len() - 1;
    let sign = if index * 2 < last { '+' } else { '-' };
    let middle = index * 2 == last;
    if tandems(position, color, role).len() > 1 {
        if middle { format!("{file}{file}") } else { format!("{file}{sign}") }
    } else if middle {
        format!("{letter}{file}")
    } else if last >= 3 && (index == 0 || index == last) {
        format!("{sign}{sign}")
    } else {
        format!("{letter}{sign}")
    }
}

pub(super) fn read(text: &str) -> Option<Phrase> {
    let &[first, second, sign, number] = text.as_bytes() else { return None };
    let soldier = |file, place| Some((Role::Soldier, Which::Tandem(file, place)));
    let (role, which) = match (first, second) {
        (b'+', b'+') => soldier(None, Place::First),
        (b'-', b'-') => soldier(None, Place::Last),
        (letter, sign @ (b'+' | b'-')) | (sign @ (b'+' | b'-'), letter) => {
            let place = if sign == b'+' { Place::Plus } else { Place::Minus };
            match digit(letter) {
                Some(file) => soldier(Some(file), place),
                None => Some((Role::from_char(letter.into())?, Which::Tandem(None, place))),
            }
        }
        (letter, file) => {
            let file = digit(file)?;
            match digit(letter) {
                Some(twice) if twice == file => soldier(Some(file), Place::Middle),
                Some(_) => None,
                None => Some((Role::from_char(letter.into())?, Which::File(file))),
            }
        }
    }?;
    let way = match sign {
        b'+' => Way::Forward,
        b'-' => Way::Back,
        b'.' | b'=' => Way::Sideways,
        _ => return None,
    };
    Some(Phrase { role, which, way, number: digit(number)? })
}

/// WXF calls the elephant E and the horse H.
fn letter(role: Role) -> char {
    match role {
        Role::Elephant => 'E',
        Role::Horse => 'H',
        _ => role.to_char(),
    }
}

fn digit(letter: u8) -> Option<u8> {
    matches!(letter, b'1'..=b'9').then(|| letter - b'0')
}
