//! Players, games and matches.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "helpers of tests")]

use std::sync::{Arc, LazyLock};
use std::time::Duration;

use canju_ewn::{
    BEGINS, Book, Color, Dice, Die, Ending, GameRecord, Lookup, Losses, PlayerKind, Position, Signature, Table, Tally,
    estimate, grade, picture, share,
};

static BOOK: LazyLock<Arc<dyn Lookup>> = LazyLock::new(|| Arc::new(Book::up_to(3)));

fn contest(seed: u64, kinds: [PlayerKind; 2], a_move: Duration) -> Vec<GameRecord> {
    let [red, blue] = [0, 1].map(|side| kinds[side].player(Dice::row(seed, side as u64), BOOK.clone(), 1));
    let (mut red, mut blue, mut now) = (red, blue, Duration::ZERO);
    let mut clock = || {
        now += a_move;
        now
    };
    let players: [&mut dyn canju_ewn::Player; 2] = [red.as_mut(), blue.as_mut()];
    Table { players, dice: Dice::row(seed, 2), clock: &mut clock, watch: &mut |_, _, _| Ok(()) }.contest().unwrap()
}

#[test]
fn matches_go_by_the_contest_s_rules() {
    let kinds = [PlayerKind::Greedy, PlayerKind::Random];
    let mut tally = Tally::default();
    for seed in 0..50 {
        let games = contest(seed, kinds, Duration::ZERO);
        assert_eq!(games, contest(seed, kinds, Duration::ZERO), "a seed gives the same match");
        let begins: Vec<_> = games.iter().map(|game| game.start.to_move()).collect();
        assert_eq!(begins, BEGINS[..games.len()]);
        let won = |color| games.iter().filter(|game| game.winner == color).count();
        assert_eq!([won(Color::Red), won(Color::Blue)].into_iter().max(), Some(4));
        for game in &games {
            let mut position = game.start;
            assert_eq!(position.count(), 12);
            for (die, m) in &game.moves {
                assert!(position.winner().is_none() && position.legal_moves(*die).any(|legal| legal == *m));
                position = position.after(m);
            }
            assert_eq!(position.winner(), Some(game.winner));
            assert_eq!(
                game.ending == Ending::Corner,
                position.square(game.winner, game.moves.last().unwrap().1.number) == Some(game.winner.goal())
            );
        }
        tally.add(&games);
    }
    assert_eq!(tally.matches.iter().sum::<u64>(), 50);
    assert!(tally.games[0] > tally.games[1], "{tally:?}");
}

#[test]
fn who_overruns_loses() {
    // 100 seconds a move: the second move of Red, who begins, is too late.
    let games = contest(1, [PlayerKind::Random; 2], Duration::from_secs(100));
    assert_eq!((games[0].winner, games[0].ending, games[0].moves.len()), (Color::Blue, Ending::Time, 2));
}

/// A player whose moves are none.
struct Cheat;

impl canju_ewn::Player for Cheat {
    fn start(&mut self, _: Color) -> [u8; 6] {
        [1; 6]
    }

    fn choose(&mut self, position: &Position, die: Die) -> Result<Option<canju_ewn::Move>, canju_ewn::LookupError> {
        Ok(position.legal_moves(die).next().map(|m| canju_ewn::Move { to: m.from, ..m }))
    }
}

#[test]
fn who_makes_no_legal_move_loses() {
    let mut random = PlayerKind::Random.player(Dice::new(1), BOOK.clone(), 1);
    let players: [&mut dyn canju_ewn::Player; 2] = [random.as_mut(), &mut Cheat];
    let mut clock = || Duration::ZERO;
    let games =
        Table { players, dice: Dice::new(2), clock: &mut clock, watch: &mut |_, _, _| Ok(()) }.contest().unwrap();
    assert!(games.len() == 4 && games.iter().all(|game| (game.winner, game.ending) == (Color::Red, Ending::Illegal)));
    let mut tally = Tally::default();
    tally.add(&games);
    assert_eq!((tally.illegal, tally.overrun), ([0, 4], [0, 0]));
}

/// Moves of one match are no more than it tells: alike or not, their number makes nothing surer.
#[test]
fn intervals_go_by_matches() {
    let of = |matches: &[&[f64]]| {
        let mut losses = Losses::default();
        matches.iter().for_each(|one| losses.add(one));
        losses
    };
    assert_eq!((of(&[]).mean(), of(&[]).interval()), (None, None));
    assert_eq!((of(&[&[0.1, 0.3]]).mean(), of(&[&[0.1, 0.3]]).interval()), (Some(0.2), None));
    // One move a match: the deviation with one less than there are, by the root of their number.
    let single = of(&[&[0.0], &[0.3], &[], &[0.6]]);
    assert!((single.interval().unwrap() - 1.96 * (0.09f64 / 3.0).sqrt()).abs() < 1e-12);
    // The same with each move ten times: ten times as many moves, no surer.
    let tenfold = of(&[&[0.0; 10], &[0.3; 10], &[0.6; 10]]);
    assert!((tenfold.mean().unwrap() - 0.3).abs() < 1e-12 && tenfold.moves == 30 && tenfold.worse == 20);
    assert!((tenfold.interval().unwrap() - single.interval().unwrap()).abs() < 1e-12);
    let (left, right) = (of(&[&[0.0], &[0.3, 0.2]]), of(&[&[0.6]]));
    assert_eq!(left.and(&right), of(&[&[0.0], &[0.3, 0.2], &[0.6]]));
}

fn losses(kind: PlayerKind) -> Losses {
    let mut player = kind.player(Dice::new(1), BOOK.clone(), 1);
    grade(player.as_mut(), &Signature::with_count(3), &BOOK, 3000, Dice::new(2)).unwrap()
}

#[test]
fn the_table_player_loses_nothing_and_the_random_one_most() {
    let means = PlayerKind::ALL.map(|kind| losses(kind).mean().unwrap());
    let [random, greedy, situation, table] = means;
    assert_eq!((losses(PlayerKind::Table).worse, table), (0, 0.0));
    assert!(situation < greedy && greedy < random, "{means:?}");
}

/// Beyond its tables the player looks ahead to them: with two stones fewer known it still finds what the tables say.
#[test]
fn looking_ahead_ends_at_tables() {
    let small: Arc<dyn Lookup> = Arc::new(Book::up_to(2));
    let mut player = PlayerKind::Table.player(Dice::new(1), small, 40);
    let position: Position = "R1d1 R6a1 B1b5 r".parse().unwrap();
    let die = Die::new(3).unwrap();
    let chosen = player.choose(&position, die).unwrap().unwrap();
    assert_eq!(canju_ewn::loss(&position, die, &chosen, BOOK.as_ref()).unwrap(), Some(0.0));
    let guess = estimate(&position);
    assert!(guess > 0.0 && guess < 1.0);
}

#[test]
fn intervals_and_pictures() {
    let (share_of, [low, high]) = share(50, 100).unwrap();
    assert!(share_of == 0.5 && (low - 0.4038).abs() < 1e-4 && (high - 0.5962).abs() < 1e-4);
    assert!(share(0, 0).is_none() && share(0, 10).unwrap().1[0] == 0.0);
    let position: Position = "R1d1 R4a1 B1b5 r".parse().unwrap();
    let m = position.legal_moves(Die::new(1).unwrap()).next().unwrap();
    let svg = picture(&position, Some(&m));
    assert_eq!((svg.matches("<circle").count(), svg.matches("<path").count()), (3, 1));
    assert!(!picture(&position, None).contains("<path"));
    assert!(svg.contains("<title>R1d1 R4a1 B1b5 r</title>") && svg.ends_with("</svg>\n"));
}
