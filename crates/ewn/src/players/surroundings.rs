use crate::{Color, Position, Square};

/// The stones around one: on the squares that a step leads to, which are those to the left, up-left and up of a stone of Blue,
/// and to the right, down-right and down of one of Red. After Zhou and Li (2014), definitions 1, 7 and 8.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Surroundings {
    /// Stones of its own side, 0 to 3.
    pub own: u8,
    /// Stones of the other side, 0 to 3.
    pub enemies: u8,
}

impl Surroundings {
    /// What is around a stone of this side on that square.
    #[must_use]
    pub fn of(position: &Position, color: Color, square: Square) -> Surroundings {
        let mut around = Surroundings { own: 0, enemies: 0 };
        for (whose, _) in square.steps(color).filter_map(|to| position.at(to)) {
            *if whose == color { &mut around.own } else { &mut around.enemies } += 1;
        }
        around
    }

    /// All of them, 0 to 3.
    #[must_use]
    pub const fn stones(self) -> u8 {
        self.own + self.enemies
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn around(text: &str, stone: (Color, u8)) -> [u8; 3] {
        let position: Position = text.parse().unwrap();
        let found = Surroundings::of(&position, stone.0, position.square(stone.0, stone.1).unwrap());
        [found.stones(), found.own, found.enemies]
    }

    #[test]
    fn stones_around_are_those_before_it() {
        // As in the paper: Blue's 6 to the left of its 5, its 4 above; what is behind does not count.
        assert_eq!(around("B5c3 B6b3 B4c4 R1d2 R2d3 b", (Color::Blue, 5)), [2, 2, 0]);
        assert_eq!(around("B5c3 R6b3 B4c4 R1b4 b", (Color::Blue, 5)), [3, 1, 2]);
        assert_eq!(around("B5c3 R6b2 R1d4 B4c2 b", (Color::Blue, 5)), [0, 0, 0]);
        // Red looks the other way.
        assert_eq!(around("R5c3 B6d3 B4d2 R1c2 B1b3 b", (Color::Red, 5)), [3, 1, 2]);
        // At an edge there is less around.
        assert_eq!(around("B5a3 B4a4 R1b4 R2b3 b", (Color::Blue, 5)), [1, 1, 0]);
    }

    #[test]
    fn diagonals_go_from_corner_to_corner() {
        let on = |diagonal: fn(Square) -> bool| {
            Square::all().filter(|&square| diagonal(square)).map(|square| square.to_string()).collect::<Vec<_>>()
        };
        assert_eq!(on(Square::on_main), ["a5", "b4", "c3", "d2", "e1"]);
        assert_eq!(on(Square::on_secondary), ["e5", "d4", "c3", "b2", "a1"]);
    }
}
