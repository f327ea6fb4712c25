//! The samples that books give verdicts of, beside what the tables say. `docs/samples.md` tells of them, and
//! `tests/samples` runs that page, with the three soldiers whose table takes minutes.
#![allow(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

use canju_probe::{Prober, Wdl};
use canju_retro::Metric;
use canju_tests::Workshop;
use canju_xiangqi::notation::{Notation, write_move};
use canju_xiangqi::{Color, Position};

struct Sample {
    name: &'static str,
    fen: &'static str,
    /// For the side to move, as books have it.
    claimed: Wdl,
    /// Plies to mate, and the only move that wins, as the tables have them.
    mate: Option<(u16, &'static str)>,
}

const SAMPLES: [Sample; 5] = [
    Sample {
        name: "horse against two advisors",
        fen: "9/4a4/3ak4/N8/9/9/9/9/9/5K3 w",
        claimed: Wdl::Win,
        mate: Some((43, "a6b8")),
    },
    Sample { name: "horse against one elephant", fen: "5k3/9/9/9/2b6/6N2/9/9/9/4K4 w", claimed: Wdl::Draw, mate: None },
    Sample { name: "soldier against advisor", fen: "4k4/4a4/4P4/9/9/9/9/9/9/5K3 w", claimed: Wdl::Draw, mate: None },
    Sample {
        name: "soldier and advisor against advisor",
        fen: "4k4/4a4/9/4P4/9/9/9/9/4A4/4K4 w",
        claimed: Wdl::Win,
        mate: Some((19, "e6e7")),
    },
    Sample {
        name: "the same with Black to move",
        fen: "4k4/4a4/9/4P4/9/9/9/9/4A4/4K4 b",
        claimed: Wdl::Draw,
        mate: None,
    },
];

#[test]
fn the_tables_judge_what_books_claim() {
    let tables = Workshop::new().tables(&["KNKAA", "KNKB", "KPKA", "KAPKA"], &[Metric::Dtm]);
    let prober = Prober::new(tables);
    for Sample { name, fen, claimed, mate } in SAMPLES {
        let position = Position::from_fen(fen).unwrap();
        let value = prober.probe(&position).unwrap();
        println!("{fen}  {name}: books {}, tables {} {:?}", claimed.name(), value.outcome.name(), value.dtm);
        let moves = prober.moves(&position).unwrap();
        if value.outcome == Wdl::Draw {
            // No move wins, and one at least does not lose.
            for (chosen, value) in &moves {
                println!("  {chosen} {}", value.outcome.name());
            }
            assert!(moves.iter().all(|(_, value)| value.outcome != Wdl::Win), "{name}");
        } else {
            let line = prober.main_line(&position, Metric::Dtm, 200).unwrap();
            let mut board = position;
            for &chosen in &line {
                print!("{} ", write_move(&board, chosen, Notation::Chinese));
                board = board.play(chosen);
            }
            println!(" {}", board.to_fen());
            // The proof: the side to move at the end has lost.
            assert!(!board.has_legal_move() && board.turn() == Color::Black, "{name}");
            assert_eq!(line.len(), usize::from(value.dtm.unwrap()), "{name}");
        }
        assert_eq!(value.outcome, claimed, "{name}");
        let won: Vec<String> =
            moves.iter().filter(|(_, value)| value.outcome == Wdl::Win).map(|(chosen, _)| chosen.to_string()).collect();
        assert_eq!(value.dtm, mate.map(|(plies, _)| plies), "{name}");
        assert_eq!(won, mate.iter().map(|(_, only)| *only).collect::<Vec<_>>(), "{name}");
    }
}
