//! What repetition makes of a played line.

use std::fmt;

use crate::{Color, Move, Piece, Position};

/// What one side does for as long as a line repeats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Conduct {
    /// It makes a move that neither checks nor chases.
    Free,
    /// Every move checks or chases, but not every one checks, and no piece is chased by every one.
    InTurn,
    /// Every move chases one and the same piece, which is of this kind.
    Chases(Piece),
    /// Every move checks.
    Checks,
}

/// How a repetition ends the game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Nobody has to break it off.
    Draw,
    /// This side has to break it off, or loses.
    Loses(Color),
}

/// Why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// Neither side does what is forbidden.
    Nothing,
    /// One side alone checks for ever. It does not matter whether the other chases.
    PerpetualCheck,
    /// Both sides check for ever.
    BothCheck,
    /// One side alone chases one piece for ever, and the other is free.
    PerpetualChase(Piece),
    /// One side chases for ever, and the other only ever chases or checks as well.
    BothChase,
}

/// A position that came back, and what the sides did in between.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Repetition {
    /// After how many moves the position stood first.
    pub first: usize,
    /// After how many moves it stood again.
    pub again: usize,
    /// What Red does.
    pub red: Conduct,
    /// What Black does.
    pub black: Conduct,
}

/// A line with a move that cannot be played.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("move {number} of the line, {chosen}, is not legal in {position}")]
pub struct LineError {
    /// Which move, counted from 1.
    pub number: usize,
    /// The move.
    pub chosen: Move,
    /// Where it was to be played, as FEN.
    pub position: String,
}

impl Repetition {
    /// The last repetition of a line: of all positions that came back, the one that did so last, and where it stood
    /// the time before. `None` where none came back.
    ///
    /// ```
    /// use canju_xiangqi::{Color, Position, Repetition, Verdict};
    ///
    /// let start = Position::from_fen("3k5/9/9/9/9/9/3r5/9/9/3NK4 w")?;
    /// let line = ["d0c2", "d3c3", "c2d0", "c3d3"].map(|m| m.parse().unwrap());
    /// let repetition = Repetition::last(&start, &line)?.unwrap();
    /// assert_eq!(repetition.by_chase().0, Verdict::Loses(Color::Black));
    /// assert_eq!(repetition.by_chase().1.to_string(), "a perpetual chase of the Red horse");
    /// assert_eq!(repetition.by_check().0, Verdict::Draw);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// If a move is not legal.
    pub fn last(start: &Position, line: &[Move]) -> Result<Option<Repetition>, LineError> {
        let mut stood = vec![*start];
        let mut found = None;
        for (number, &chosen) in line.iter().enumerate() {
            let position = stood[number];
            if !position.is_legal_move(chosen) {
                return Err(LineError { number: number + 1, chosen, position: position.to_fen() });
            }
            let after = position.play(chosen);
            if let Some(first) = stood.iter().rposition(|earlier| *earlier == after) {
                found = Some((first, number + 1));
            }
            stood.push(after);
        }
        let Some((first, again)) = found else { return Ok(None) };
        let [red, black] = Color::ALL.map(|color| conduct(&stood[first], &line[first..again], color));
        Ok(Some(Repetition { first, again, red, black }))
    }

    /// The verdict where only perpetual check is forbidden.
    #[must_use]
    pub fn by_check(&self) -> (Verdict, Rule) {
        match (self.red, self.black) {
            (Conduct::Checks, Conduct::Checks) => (Verdict::Draw, Rule::BothCheck),
            (Conduct::Checks, _) => (Verdict::Loses(Color::Red), Rule::PerpetualCheck),
            (_, Conduct::Checks) => (Verdict::Loses(Color::Black), Rule::PerpetualCheck),
            _ => (Verdict::Draw, Rule::Nothing),
        }
    }

    /// The verdict where perpetual chase is forbidden as well, as in the rules of the Asian Xiangqi Federation.
    #[must_use]
    pub fn by_chase(&self) -> (Verdict, Rule) {
        match (self.red, self.black) {
            (Conduct::Checks, _) | (_, Conduct::Checks) => self.by_check(),
            (Conduct::Chases(piece), Conduct::Free) => (Verdict::Loses(Color::Red), Rule::PerpetualChase(piece)),
            (Conduct::Free, Conduct::Chases(piece)) => (Verdict::Loses(Color::Black), Rule::PerpetualChase(piece)),
            (Conduct::Chases(_), _) | (_, Conduct::Chases(_)) => (Verdict::Draw, Rule::BothChase),
            _ => (Verdict::Draw, Rule::Nothing),
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Verdict::Draw => f.write_str("draw"),
            Verdict::Loses(color) => write!(f, "{color} loses"),
        }
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Rule::Nothing => f.write_str("nothing that is forbidden"),
            Rule::PerpetualCheck => f.write_str("a perpetual check"),
            Rule::BothCheck => f.write_str("both sides check for ever"),
            Rule::PerpetualChase(piece) => write!(f, "a perpetual chase of the {piece}"),
            Rule::BothChase => f.write_str("one side chases for ever, and the other is not free either"),
        }
    }
}

/// What a side does in moves that lead back to where they began.
///
/// Pieces are told apart by their slots: where the way back exchanges like pieces, the moves are gone through again until
/// each is where it was.
fn conduct(start: &Position, moves: &[Move], color: Color) -> Conduct {
    let mut position = *start;
    let (mut checks, mut free, mut chased) = (true, false, u32::MAX);
    loop {
        for &chosen in moves {
            if position.turn() == color {
                let check = position.gives_check(chosen);
                let victims = position.chases(chosen);
                checks &= check;
                free |= !check && victims == 0;
                chased &= crate::squares(victims).fold(0, |set, s| set | 1 << position.board[s.index()]);
            }
            position = position.play(chosen);
        }
        if position.list == start.list {
            break;
        }
    }
    match start.pieces().find(|&(_, square)| chased >> start.board[square.index()] & 1 != 0) {
        _ if checks => Conduct::Checks,
        Some((piece, _)) => Conduct::Chases(piece),
        None if free => Conduct::Free,
        None => Conduct::InTurn,
    }
}
