//! `canju match`: two players in the contest's format.

use std::io::Write;
use std::sync::Arc;
use std::time::Instant;

use canju_ewn::{Dice, Lookup, LookupError, Losses, Player, PlayerKind, Table, Tally, loss, share};
use rayon::prelude::*;
use serde::Serialize;

use super::{MatchArguments, SIDES, lookup};
use crate::words::grouped;

/// Matches that are played before their results are added up.
const BATCH: u64 = 10_000;

#[derive(Serialize)]
struct Played {
    seed: u64,
    matches: u64,
    games: u64,
    moves: u64,
    players: Vec<Side>,
}

#[derive(Serialize)]
struct Side {
    side: &'static str,
    player: &'static str,
    matches_won: u64,
    matches_share: Option<(f64, [f64; 2])>,
    games_won: u64,
    games_share: Option<(f64, [f64; 2])>,
    begun: u64,
    begun_won: u64,
    overrun: u64,
    illegal: u64,
    graded_moves: u64,
    mean_loss: Option<f64>,
    interval: Option<f64>,
}

/// One match, and what each side's moves lost.
fn contest(
    arguments: &MatchArguments,
    tables: &Arc<dyn Lookup>,
    number: u64,
) -> Result<(Tally, [Losses; 2]), LookupError> {
    let dice = |row: u64| Dice::row(arguments.seed, 3 * number + row);
    let player = |kind: PlayerKind, row| kind.player(dice(row), Arc::clone(tables), arguments.known.depth);
    let (mut red, mut blue) = (player(arguments.red, 1), player(arguments.blue, 2));
    let begin = Instant::now();
    let mut lost = [Vec::new(), Vec::new()];
    let mut watch = |position: &canju_ewn::Position, die, chosen: &canju_ewn::Move| {
        if tables.chance(position)?.is_some()
            && let Some(loss) = loss(position, die, chosen, tables.as_ref())?
        {
            lost[position.to_move().index()].push(loss);
        }
        Ok(())
    };
    let players: [&mut dyn Player; 2] = [red.as_mut(), blue.as_mut()];
    let games = Table { players, dice: dice(0), clock: &mut || begin.elapsed(), watch: &mut watch }.contest()?;
    let mut tally = Tally::default();
    tally.add(&games);
    let mut losses = [Losses::default(); 2];
    losses.iter_mut().zip(&lost).for_each(|(losses, lost)| losses.add(lost));
    Ok((tally, losses))
}

pub(crate) fn run(arguments: &MatchArguments, out: &mut dyn Write) -> anyhow::Result<()> {
    let tables = lookup::open(&arguments.known)?;
    let mut all = Tally::default();
    let mut losses = [Losses::default(); 2];
    // As many matches at a time as cannot be too many, each with dice of its own, so that the result does not depend on who
    // plays them; all that were begun count.
    let mut next = 0;
    while all.games.iter().sum::<u64>() < arguments.games {
        let missing = arguments.games - all.games.iter().sum::<u64>();
        let batch = missing.div_ceil(7).clamp(1, BATCH);
        let played: Vec<_> =
            (next..next + batch).into_par_iter().map(|n| contest(arguments, &tables, n)).collect::<Result<_, _>>()?;
        next += batch;
        for (tally, lost) in played {
            all = all.and(&tally);
            losses = [losses[0].and(&lost[0]), losses[1].and(&lost[1])];
        }
    }
    let games = all.games.iter().sum::<u64>();
    let kinds = [arguments.red, arguments.blue];
    let side = |at: usize| Side {
        side: SIDES[at].name(),
        player: kinds[at].name(),
        matches_won: all.matches[at],
        matches_share: share(all.matches[at], next),
        games_won: all.games[at],
        games_share: share(all.games[at], games),
        begun: all.begins[at],
        begun_won: all.begun[at],
        overrun: all.overrun[at],
        illegal: all.illegal[at],
        graded_moves: losses[at].moves,
        mean_loss: losses[at].mean(),
        interval: losses[at].interval(),
    };
    let played =
        Played { seed: arguments.seed, matches: next, games, moves: all.moves, players: vec![side(0), side(1)] };
    if arguments.json {
        writeln!(out, "{}", serde_json::to_string(&played)?)?;
        return Ok(());
    }
    tell(&played, out)
}

fn tell(played: &Played, out: &mut dyn Write) -> anyhow::Result<()> {
    let (matches, games, moves) = (grouped(played.matches), grouped(played.games), grouped(played.moves));
    writeln!(out, "{matches} matches, {games} games, {moves} moves, seed {}", played.seed)?;
    writeln!(
        out,
        "{:5} {:7} {:>8} {:>22} {:>8} {:>22} {:>13} {:>8} {:>20}",
        "side", "player", "matches", "", "games", "", "begun won", "overrun", "loss a move"
    )?;
    let percent = |share: Option<(f64, [f64; 2])>| {
        share.map_or(String::new(), |(p, [low, high])| {
            format!("{:.1}% ({:.1} to {:.1})", 100.0 * p, 100.0 * low, 100.0 * high)
        })
    };
    for side in &played.players {
        let begun = format!("{} of {}", side.begun_won, side.begun);
        let lost = side.mean_loss.map_or("-".to_owned(), |mean| super::lost(mean, side.interval));
        writeln!(
            out,
            "{:5} {:7} {:>8} {:>22} {:>8} {:>22} {begun:>13} {:>8} {lost:>20}",
            side.side,
            side.player,
            side.matches_won,
            percent(side.matches_share),
            side.games_won,
            percent(side.games_share),
            side.overrun,
        )?;
    }
    Ok(())
}
