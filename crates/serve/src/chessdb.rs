//! The query form of the public xiangqi database, answered in its shape: `docs/serve.md` tells what is its and what is ours.

use std::cmp::Reverse;
use std::fmt::Write;

use canju_retro::Metric;
use canju_xiangqi::{Color, Move, Position, Role};
use serde_json::{Value as Json, json};
use utoipa::{IntoParams, ToSchema};

use canju_probe::Wdl;

use crate::answers::{Ending, Outcome};
use crate::asker::{Asker, Deadline, read};
use crate::failure::Failure;

/// A win in no plies; each ply takes one off.
const MATE: i32 = 30_000;
/// The same where the loser can still break the rules of repetition on the way.
const BOUND: i32 = 20_000;
/// Moves of a line, as many as the public database gives.
const LINE: usize = 200;
/// Bytes of a FEN; its counters may stand behind the side to move.
const FEN: usize = 200;

/// What is asked for.
#[derive(Clone, Debug, Default, IntoParams, ToSchema)]
#[into_params(parameter_in = Query)]
#[schema(as = ChessdbForm)]
pub(crate) struct Asked {
    /// `queryall`, `querybest`, `query`, `querysearch`, `querypv` or `queryscore`.
    #[param(required = false)]
    #[schema(required = false)]
    action: String,
    /// The FEN.
    #[param(required = false)]
    #[schema(required = false)]
    board: String,
    /// `dtm`, which is also meant by anything else, or `dtc`.
    #[param(required = false)]
    #[schema(required = false)]
    egtbmetric: String,
    /// Moves that are passed over: `move:c3c4|move:b2e2`.
    #[param(required = false)]
    #[schema(required = false)]
    ban: String,
    /// `1`: every legal move is listed, also where nothing is known.
    #[param(required = false)]
    #[schema(required = false)]
    showall: String,
    /// `1`: the answer is JSON.
    #[param(required = false)]
    #[schema(required = false)]
    json: String,
}

/// A move, and what the database tells of it.
struct Candidate {
    chosen: Move,
    outcome: Wdl,
    /// Violations of the rules of repetition that the loser can still commit.
    order: u16,
    /// Plies to mate or to the conversion, counted from before the move; 0 for a draw.
    step: u16,
    /// True where it keeps what the position itself is worth, or more, by the distance to conversion: a capture is
    /// counted by the smaller table, which may tell more plies or fewer than the position's own.
    keeps: bool,
    capture: bool,
    check: bool,
}

/// An answer before it is written.
enum Answer {
    /// One word for all.
    Status(&'static str),
    Moves(Vec<Candidate>, Metric),
    /// Every legal move, of none of which anything is known.
    Unscored(Vec<Move>),
    Best(Move),
    /// Moves that keep a draw, among which a search may choose.
    Search(Vec<Move>),
    Score(i32),
    Line {
        score: i32,
        depth: u16,
        moves: Vec<(Move, String)>,
    },
}

impl Asked {
    /// What an address asks, and then a form: of parameters that come again the last one counts.
    pub fn of(query: Option<&str>, form: &[u8]) -> Self {
        let mut asked = Self::default();
        let address = form_urlencoded::parse(query.unwrap_or_default().as_bytes());
        for (name, value) in address.chain(form_urlencoded::parse(form)) {
            let place = match &*name {
                "action" => &mut asked.action,
                "board" => &mut asked.board,
                "egtbmetric" => &mut asked.egtbmetric,
                "ban" => &mut asked.ban,
                "showall" => &mut asked.showall,
                "json" => &mut asked.json,
                _ => continue,
            };
            *place = value.into_owned();
        }
        asked
    }

    /// True where the answer is JSON.
    pub fn is_json(&self) -> bool {
        is_true(&self.json)
    }

    /// The answer, as text that ends with a NUL, or as JSON.
    pub fn answer(&self, asker: &Asker, deadline: Deadline) -> Result<String, Failure> {
        let answer = self.find(asker, deadline)?;
        Ok(if self.is_json() { answer.json().to_string() } else { answer.text() })
    }

    fn find(&self, asker: &Asker, deadline: Deadline) -> Result<Answer, Failure> {
        if self.action.is_empty() || self.board.is_empty() {
            return Ok(Answer::Status("invalid parameters"));
        }
        let Ok(position) = read(&self.board, FEN) else { return Ok(Answer::Status("invalid board")) };
        let metric = if self.egtbmetric.eq_ignore_ascii_case("dtc") { Metric::Dtc } else { Metric::Dtm };
        let candidates = self.candidates(asker, &position, metric)?;
        let none = match Ending::of(&position) {
            Some(Ending::Checkmate) => "checkmate",
            Some(Ending::Stalemate) => "stalemate",
            None => "unknown",
        };
        Ok(match self.action.as_str() {
            "queryall" if candidates.is_empty() && none == "unknown" && is_true(&self.showall) => {
                Answer::Unscored(position.legal_moves().iter().copied().collect())
            }
            "queryall" if candidates.is_empty() => Answer::Status(none),
            "queryall" => Answer::Moves(candidates, metric),
            "querybest" | "query" | "querysearch" => best(&position, &candidates),
            "queryscore" => candidates.first().map_or(Answer::Status(none), |best| Answer::Score(best.score())),
            "querypv" => match candidates.first() {
                None => Answer::Status(none),
                Some(first) => self.line(asker, &position, first, metric, deadline)?,
            },
            _ => Answer::Status("invalid parameters"),
        })
    }

    /// The moves that are not banned, best first; none where anything about them or the position is unknown.
    fn candidates(&self, asker: &Asker, position: &Position, metric: Metric) -> Result<Vec<Candidate>, Failure> {
        let banned: Vec<&str> = self.ban.split('|').map(|word| word.strip_prefix("move:").unwrap_or(word)).collect();
        let mut candidates = Vec::new();
        let own = asker.probe(position)?;
        if own.outcome == Outcome::Unknown {
            return Ok(candidates);
        }
        for (chosen, known) in asker.rated(position)? {
            let Ok(value) = known else { return Ok(Vec::new()) };
            let capture = position.is_capture(chosen);
            let after = position.play(chosen);
            let step = match (value.outcome, metric) {
                (Wdl::Draw, _) => Some(0),
                // After a capture the database counts anew.
                (_, Metric::Dtc) if capture => asker.probe(&after)?.dtc.map(|plies| plies.saturating_add(1)),
                _ => value.distance(metric),
            };
            let Some(step) = step else { return Ok(Vec::new()) };
            if !banned.contains(&chosen.to_string().as_str()) {
                let (outcome, order, check) = (value.outcome, value.order, after.in_check());
                let keeps = order == own.order && own.dtc.is_some_and(|dtc| keeps(outcome, step, dtc));
                candidates.push(Candidate { chosen, outcome, order, step, keeps, capture, check });
            }
        }
        candidates.sort_by_key(|candidate| (candidate.merit(metric), candidate.chosen));
        Ok(candidates)
    }

    fn line(
        &self,
        asker: &Asker,
        position: &Position,
        first: &Candidate,
        metric: Metric,
        deadline: Deadline,
    ) -> Result<Answer, Failure> {
        let wxf =
            |board, chosen| canju_xiangqi::notation::write_move(board, chosen, canju_xiangqi::notation::Notation::Wxf);
        let mut moves = vec![(first.chosen, wxf(position, first.chosen))];
        if first.outcome != Wdl::Draw {
            let after = position.play(first.chosen);
            let rest = asker.line(&after, Some(metric), LINE - 1, deadline)?;
            moves.extend(rest.moves.into_iter().filter_map(|m| Some((m.squares.parse().ok()?, m.wxf))));
        }
        Ok(Answer::Line { score: first.score(), depth: first.step, moves })
    }
}

impl Candidate {
    fn score(&self) -> i32 {
        let most = if self.order > 0 { BOUND } else { MATE };
        match self.outcome {
            Wdl::Win => most - i32::from(self.step),
            Wdl::Draw => 0,
            Wdl::Loss => i32::from(self.step) - most,
        }
    }

    /// Better moves are less. Of wins by mate the faster, then captures; of wins by conversion those that keep the position's
    /// own distance, then captures, then the faster. Of draws and losses the slower, and those that keep the pieces on the
    /// board. Before plies come orders. Of equals those without check.
    fn merit(&self, metric: Metric) -> (u8, bool, bool, [u16; 2], Reverse<[u16; 2]>, bool, bool) {
        let quiet_first = self.capture;
        let (far, none) = ([self.order, self.step], Reverse([0; 2]));
        match (self.outcome, metric) {
            (Wdl::Win, Metric::Dtc) => (0, !self.keeps, !self.capture, far, none, false, self.check),
            (Wdl::Win, _) => (0, false, false, far, none, !self.capture, self.check),
            (Wdl::Draw, _) => (1, false, false, [0; 2], none, self.check, quiet_first),
            (Wdl::Loss, Metric::Dtc) => (2, !self.keeps, quiet_first, [0; 2], Reverse(far), false, self.check),
            (Wdl::Loss, _) => (2, false, false, [0; 2], Reverse(far), self.check, quiet_first),
        }
    }

    /// True where the database makes no difference between two moves.
    fn equals(&self, other: &Self) -> bool {
        let what = |c: &Self| (c.outcome, c.order, c.step, c.capture, c.check);
        what(self) == what(other)
    }

    /// The rank and the note beside the best move.
    fn rank(&self, best: &Self, metric: Metric) -> (u8, String) {
        let (rank, mark) = match () {
            // By the distance to conversion the database has this for the best draws.
            () if self.equals(best) && self.outcome == Wdl::Draw && metric == Metric::Dtc => (2, '*'),
            () if self.equals(best) => (2, '!'),
            () if self.outcome == best.outcome => (1, '*'),
            () => (0, '?'),
        };
        let outcome = match self.outcome {
            Wdl::Win => 'W',
            Wdl::Draw => 'D',
            Wdl::Loss => 'L',
        };
        let note = match metric {
            Metric::Dtc => format!("{mark} ({outcome}-{:02}-{:03})", self.order, self.step),
            _ => format!("{mark} ({outcome}-M-{:04})", self.step),
        };
        (rank, note)
    }
}

/// One of the best moves, where the tables choose; else those that keep the draw.
fn best(position: &Position, candidates: &[Candidate]) -> Answer {
    let Some(first) = candidates.first() else { return Answer::Status("nobestmove") };
    let attackers = [Role::Chariot, Role::Horse, Role::Cannon, Role::Soldier];
    let armed = |color: Color| attackers.iter().any(|&role| position.count(color, role) > 0);
    if first.outcome != Wdl::Draw || !armed(position.turn()) {
        return Answer::Best(first.chosen);
    }
    Answer::Search(candidates.iter().take_while(|c| c.outcome == Wdl::Draw).map(|c| c.chosen).collect())
}

impl Answer {
    /// The text, with the NUL that the database puts at its end and scripts cut off.
    fn text(&self) -> String {
        let mut text = String::new();
        // Writing to a string does not fail.
        let _ = match self {
            Self::Status(word) => write!(text, "{word}"),
            Self::Moves(candidates, metric) => {
                for candidate in candidates {
                    let (rank, note) = candidate.rank(&candidates[0], *metric);
                    let (chosen, score) = (candidate.chosen, candidate.score());
                    let bar = if text.is_empty() { "" } else { "|" };
                    let _ = write!(text, "{bar}move:{chosen},score:{score},rank:{rank},note:{note}");
                }
                Ok(())
            }
            Self::Unscored(moves) => {
                let words: Vec<_> = moves.iter().map(|m| format!("move:{m},score:??,rank:0,note:? (??-??)")).collect();
                write!(text, "{}", words.join("|"))
            }
            Self::Best(chosen) => write!(text, "egtb:{chosen}"),
            Self::Search(moves) => {
                let words: Vec<_> = moves.iter().map(|m| format!("search:{m}")).collect();
                write!(text, "{}", words.join("|"))
            }
            Self::Score(score) => write!(text, "eval:{score}"),
            Self::Line { score, depth, moves } => {
                let words: Vec<_> = moves.iter().map(|(m, _)| m.to_string()).collect();
                write!(text, "score:{score},depth:{depth},pv:{}", words.join("|"))
            }
        };
        text.push('\0');
        text
    }

    fn json(&self) -> Json {
        let squares = |moves: &[Move]| moves.iter().map(ToString::to_string).collect::<Vec<_>>();
        match self {
            Self::Status(word) => json!({"status": word}),
            Self::Moves(candidates, metric) => {
                let moves = candidates.iter().map(|candidate| {
                    let (rank, note) = candidate.rank(&candidates[0], *metric);
                    json!({"uci": candidate.chosen.to_string(), "score": candidate.score(), "rank": rank, "note": note})
                });
                json!({"status": "ok", "moves": moves.collect::<Vec<_>>()})
            }
            Self::Unscored(moves) => {
                let moves = squares(moves).into_iter();
                let moves = moves.map(|m| json!({"uci": m, "score": "??", "rank": 0, "note": "? (??-??)"}));
                json!({"status": "ok", "moves": moves.collect::<Vec<_>>()})
            }
            Self::Best(chosen) => json!({"status": "ok", "egtb": chosen.to_string()}),
            Self::Search(moves) => {
                let moves = squares(moves).into_iter().map(|m| json!({"uci": m}));
                json!({"status": "ok", "search_moves": moves.collect::<Vec<_>>()})
            }
            Self::Score(score) => json!({"status": "ok", "eval": score}),
            Self::Line { score, depth, moves } => {
                let (squares, texts): (Vec<_>, Vec<_>) = moves.iter().map(|(m, wxf)| (m.to_string(), wxf)).unzip();
                json!({"status": "ok", "score": score, "depth": depth, "pv": squares, "pvSAN": texts})
            }
        }
    }
}

/// True where a move scores what its position does, or more: a win that is as fast, a loss that is as slow.
const fn keeps(outcome: Wdl, step: u16, dtc: u16) -> bool {
    match outcome {
        Wdl::Win => step <= dtc,
        Wdl::Loss => step >= dtc,
        Wdl::Draw => false,
    }
}

/// As the database reads a flag.
fn is_true(word: &str) -> bool {
    ["1", "true", "on", "yes"].iter().any(|yes| yes.eq_ignore_ascii_case(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn candidate(squares: &str, step: u16, capture: bool) -> Candidate {
        let chosen = squares.parse().unwrap_or_else(|_| unreachable!("{squares}"));
        let (outcome, keeps) = (Wdl::Loss, keeps(Wdl::Loss, step, 6));
        Candidate { chosen, outcome, order: 0, step, keeps, capture, check: false }
    }

    /// The loser's moves by the distance to conversion where the position's own is 6: as the database compares scores, those
    /// that score no less than the position come before all others, quiet ones first.
    #[test]
    fn what_loses_as_slowly_comes_first() {
        let mut all = [
            candidate("a0a1", 2, true),
            candidate("b0b1", 4, false),
            candidate("c0c1", 6, true),
            candidate("d0d1", 6, false),
            candidate("e0e1", 8, true),
        ];
        all.sort_by_key(|candidate| (candidate.merit(Metric::Dtc), candidate.chosen));
        assert_eq!(all.each_ref().map(|candidate| candidate.step), [6, 8, 6, 4, 2]);
        assert_eq!(all[0].chosen.to_string(), "d0d1");
        assert!([keeps(Wdl::Win, 6, 6), keeps(Wdl::Win, 4, 6)].iter().all(|&kept| kept) && !keeps(Wdl::Win, 8, 6));
    }
}
