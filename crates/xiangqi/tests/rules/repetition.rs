//! Loops with known verdicts. The four plies repeat.

use canju_xiangqi::{Color, Conduct, Move, Piece, Position, Repetition, Role, Rule, Verdict};

/// Black violates.
const BLACK: &[(&str, &str)] = &[
    ("9/3kc4/3a5/3P5/9/4p4/9/4K4/9/3C5 w", "d6e6 e4d4 e6d6 d4e4"),
    ("3k5/9/9/9/9/5p3/9/5p3/5K3/5C3 w", "f1e1 f2e2 e1f1 e2f2"),
    ("3k5/9/9/9/9/9/3r5/9/9/3NK4 w", "d0c2 d3c3 c2d0 c3d3"),
    ("5k3/9/9/9/9/1C7/1r7/9/1C7/4K4 w", "b4c4 b3c3 c4b4 c3b3"),
    ("3k5/4P4/4b4/3C5/4c4/9/9/9/9/5K3 w", "d6e6 e7g5 e6d6 g5e7"),
    ("3k5/9/9/9/9/9/9/9/cr1CAK3/9 w", "d1d3 b1b3 d3d1 b3b1"),
    ("4k4/9/4b4/2c2nR2/9/9/9/9/9/3K5 w", "g6g5 f6g8 g5g6 g8f6"),
    ("5k3/9/9/9/9/4c4/3r5/3NB4/4A4/4K4 w", "e0d0 e4d4 d0e0 d4e4"),
    ("5k3/9/9/9/9/9/9/9/9/3NK1cr1 w", "d0c2 h0h2 c2d0 h2h0"),
    ("5k3/9/9/9/9/1N2P1C2/9/4BC3/9/cr1RK4 w", "b4c2 b0c0 c2b4 c0b0"),
    ("4k4/9/9/9/4n4/9/5C3/9/4N4/4K4 w", "e1g0 e9f9 g0e1 f9e9"),
    ("3P5/3k5/3nn4/9/9/9/9/9/9/5K3 w", "d9e9 d8e8 e9d9 e8d8"),
    ("4ck3/9/9/9/9/2r1R4/9/9/4A4/3AK4 w", "e4e3 c4c3 e3e4 c3c4"),
    ("4k4/9/9/c1c6/9/r8/9/9/C8/3K5 w", "a1c1 a4c4 c1a1 c4a4"),
];
/// Nobody has to break these off: both sides check; both chase, twice.
const DRAWS: &[(&str, &str, Rule)] = &[
    ("9/4c4/3k5/3r5/9/9/4C4/9/4K4/3R5 w", "e3d3 d6e6 d3e3 e6d6", Rule::BothCheck),
    ("5k3/9/9/9/9/9/7r1/9/2nRA3c/4K4 w", "e1f0 h3h1 f0e1 h1h3", Rule::BothChase),
    ("4ka3/c2R1R2c/4b4/9/9/9/9/9/9/4K4 w", "f8f6 f9e8 f6f8 e8f9", Rule::BothChase),
];

/// Loops on which programs disagree. Black's moves are free in all three, so that everything hangs on whether both of
/// Red's make an attack that was none before; by the letter of the definition they do, and Red violates.
///
/// In the first, a chariot stands before the horse all the time, and what changes is whether the advisor may recapture:
/// with the black king on e9 and the cannon on e4, and with the king on f9 and the cannon on f4, it is pinned by the
/// cannon when the chariot has taken. Who sees only the pieces sees no new attack; but a capture that was recaptured
/// was no attack. In the second, the chariot attacks the horse on e7 itself, and on b9 it takes away the king's right to
/// recapture what the cannon takes on f9. In the third, the king gives free one chariot after the other to take the
/// cannon on d3.
const DISPUTED: &[(&str, &str)] = &[
    ("4k4/4a4/4bn3/9/5R3/5C3/9/9/9/4K4 w", "f4e4 e9f9 e4f4 f9e9"),
    ("1RC1k4/9/4n4/9/9/9/9/4B4/9/4K4 w", "b9b7 e7f9 b7b9 f9e7"),
    ("3c1k3/9/3R5/9/9/9/3cR4/9/4A4/3K1A3 w", "d0e0 d9e9 e0d0 e9d9"),
];

fn line(moves: &str) -> Vec<Move> {
    moves.split(' ').map(|m| m.parse().unwrap()).collect()
}

fn judge(fen: &str, moves: &str) -> Repetition {
    Repetition::last(&fen.parse().unwrap(), &line(moves)).unwrap().unwrap()
}

/// The same loop with the sides exchanged, and seen in a mirror.
fn turned(fen: &str, moves: &str, position: fn(&Position) -> Position, chosen: fn(Move) -> Move) -> Repetition {
    let start = position(&fen.parse().unwrap());
    let line: Vec<_> = line(moves).into_iter().map(chosen).collect();
    Repetition::last(&start, &line).unwrap().unwrap()
}

#[test]
fn loops_in_which_black_violates() {
    for (fen, moves) in BLACK {
        let found = judge(fen, moves);
        assert_eq!(found.by_chase().0, Verdict::Loses(Color::Black), "{fen} {moves}: {found:?}");
        let flipped = turned(fen, moves, Position::flip, Move::flip);
        assert_eq!(flipped.by_chase().0, Verdict::Loses(Color::Red), "{fen} {moves}: {flipped:?}");
        let mirrored = turned(fen, moves, Position::mirror, Move::mirror);
        assert_eq!(mirrored, found, "{fen} {moves}");
        let checks = found.black == Conduct::Checks;
        assert_eq!(found.by_check().0 == Verdict::Loses(Color::Black), checks, "{fen} {moves}");
    }
}

#[test]
fn loops_that_are_draws() {
    for &(fen, moves, rule) in DRAWS {
        let found = judge(fen, moves);
        assert_eq!(found.by_chase(), (Verdict::Draw, rule), "{fen} {moves}: {found:?}");
        assert_eq!(found.by_check().0, Verdict::Draw);
    }
}

#[test]
fn disputed_loops_by_the_letter() {
    for (fen, moves) in DISPUTED {
        let found = judge(fen, moves);
        assert_eq!(found.black, Conduct::Free, "{fen} {moves}");
        assert_eq!(found.by_chase().0, Verdict::Loses(Color::Red), "{fen} {moves}: {found:?}");
    }
}

/// What a chariot that stands before a horse gains depends on whether the advisor may recapture.
#[test]
fn a_pinned_protector_does_not_protect() {
    let attack = |fen: &str, attacker: &str, victim: &str| {
        let position: Position = fen.parse().unwrap();
        position.is_attack(attacker.parse().unwrap(), victim.parse().unwrap())
    };
    assert!(!attack("4k4/4a4/4bn3/9/5R3/5C3/9/9/9/4K4 w", "f5", "f7"));
    assert!(attack("4k4/4a4/4bn3/9/5R3/4C4/9/9/9/4K4 w", "f5", "f7"));
    // Unless they give themselves away, kings and soldiers may do as they like.
    assert!(!attack("3k5/9/9/9/9/4P4/4n4/9/9/4K4 b", "e4", "e3"));
    // A soldier at home is nobody's victim; a horse may take a protected chariot, but not a protected cannon.
    assert!(!attack("3k5/9/9/9/9/9/2r3P2/9/9/4K4 b", "c3", "g3"));
    assert!(attack("3k5/9/9/9/9/2n6/4R4/9/4R4/4K4 b", "c4", "e3"));
    assert!(!attack("3k5/9/9/9/9/2n6/4C4/9/4R4/4K4 b", "c4", "e3"));
    // Chariots face each other; one that is pinned cannot take back.
    assert!(!attack("3k5/9/9/9/9/9/2r3R2/9/9/4K4 b", "c3", "g3"));
    assert!(attack("3k5/9/9/9/4r4/9/2r1R4/9/9/4K4 b", "c3", "e3"));
}

/// Check and chase in turn are allowed, and so are two victims in turn; a check that chases counts as either.
#[test]
fn mixed_conduct() {
    let in_turn = judge("5k3/9/9/9/7r1/9/9/9/7N1/4K4 b", "h5e5 e0d0 e5h5 d0e0");
    assert_eq!((in_turn.red, in_turn.black), (Conduct::Free, Conduct::InTurn));
    assert_eq!(in_turn.by_chase(), (Verdict::Draw, Rule::Nothing));
    assert_eq!(in_turn.by_check(), (Verdict::Draw, Rule::Nothing));
    let two = judge("5k3/9/9/9/7r1/9/9/9/1N5N1/4K4 b", "h5b5 e0d0 b5h5 d0e0");
    assert_eq!(two.black, Conduct::InTurn);
    assert_eq!(two.by_chase().0, Verdict::Draw);
    let (fen, moves) = BLACK[5];
    let start: Position = fen.parse().unwrap();
    let after = start.play(line(moves)[0]);
    assert!(after.gives_check(line(moves)[1]));
    assert_eq!(judge(fen, moves).black, Conduct::Chases(Piece::new(Color::Red, Role::Cannon)));
}

#[test]
fn lines_without_a_repetition_and_with_a_bad_move() {
    let start = "3k5/9/9/9/9/9/3r5/9/9/3NK4 w".parse().unwrap();
    assert_eq!(Repetition::last(&start, &line("d0c2 d3c3")).unwrap(), None);
    let error = Repetition::last(&start, &line("d0c2 d3c4")).unwrap_err();
    assert_eq!(error.number, 2);
    // What stands before the first of the two positions does not matter, nor what comes after the second.
    let early = Repetition::last(&start, &line("e0f0 d9d8 d0c2 d3c3 c2d0 c3d3 d0b1 d8d9")).unwrap().unwrap();
    assert_eq!((early.first, early.again), (2, 6));
    let horse = Piece::new(Color::Red, Role::Horse);
    assert_eq!(early.by_chase(), (Verdict::Loses(Color::Black), Rule::PerpetualChase(horse)));
}
