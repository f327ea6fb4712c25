//! Answers for single positions.
#![allow(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

use canju_probe::{ProbeError, Prober, Value, Wdl};
use canju_retro::Metric;
use canju_tests::Workshop;
use canju_xiangqi::Position;

fn position(fen: &str) -> Position {
    fen.parse().unwrap()
}

fn prober() -> Prober {
    Prober::new(Workshop::new().tables(&["KCKA", "KRKN", "KCKC"], &[Metric::Dtm, Metric::Dtc]))
}

#[test]
fn values_moves_and_lines_agree() {
    let prober = prober();
    let fens = [
        "9/4kC3/5a3/9/9/9/9/9/9/3K1A3 w",
        "9/9/4ka3/9/9/9/9/9/4C4/4K4 w",
        "3k5/9/9/9/9/9/9/4r4/3N5/4K4 b",
        "4k4/9/9/2c6/9/9/9/9/3C5/3K5 w",
    ];
    for fen in fens {
        let position = position(fen);
        let prober = &prober;
        let Ok(value) = prober.probe(&position) else { continue };
        let moves = prober.moves(&position).unwrap();
        assert_eq!(moves.len(), position.legal_moves().len());
        assert_eq!(moves.first().map(|(_, v)| (v.outcome, v.dtm)), Some((value.outcome, value.dtm)), "{fen}");
        for metric in [Metric::Dtm, Metric::Dtc] {
            let line = prober.main_line(&position, metric, 500);
            if value.outcome == Wdl::Draw {
                assert!(matches!(line, Err(ProbeError::Draw { .. })), "{fen}");
                continue;
            }
            let line = line.unwrap();
            let end = line.iter().fold(position, |p, &m| p.play(m));
            assert!(end.is_mate() || end.is_stalemate(), "{fen} {line:?}");
            if metric == Metric::Dtm {
                assert_eq!(line.len(), usize::from(value.dtm.unwrap()), "{fen}");
            }
            assert_eq!(prober.main_line(&position, metric, 1).unwrap(), line[..1], "{fen}");
        }
    }
}

#[test]
fn every_symmetric_image_has_the_same_value() {
    let prober = prober();
    let one = position("9/9/4ka3/9/9/9/9/9/4C4/3K5 w");
    let value = prober.probe(&one).unwrap();
    for image in [one.mirror(), one.flip(), one.flip().mirror()] {
        assert_eq!(prober.probe(&image).unwrap(), value, "{image}");
    }
    assert_eq!(prober.probe(&position("4k4/9/9/2c6/9/9/9/9/3C5/3K5 w")).unwrap().outcome, Wdl::Draw);
}

#[test]
fn a_chariot_mates_in_one() {
    let value = prober().probe(&position("5k3/9/9/9/9/9/9/9/9/4K2R1 w")).unwrap();
    assert_eq!(value, Value { outcome: Wdl::Win, order: 0, dtm: Some(1), dtc: Some(1) });
}

#[test]
fn what_the_tables_do_not_hold_is_never_a_draw() {
    let prober = prober();
    let error = |fen: &str| prober.probe(&position(fen)).unwrap_err();
    assert!(matches!(error("4k4/9/9/9/9/9/9/9/9/4K4 w"), ProbeError::Illegal { .. }));
    assert!(matches!(error("3k5/4R4/9/9/9/9/9/9/3R5/4K4 w"), ProbeError::Illegal { .. }));
    let missing = error("3k5/9/9/9/9/P1P6/9/9/9/4K4 w");
    assert!(missing.to_string().contains("coordinator start --build KPPK"), "{missing}");
    let full = Position::initial();
    assert!(matches!(prober.probe(&full).unwrap_err(), ProbeError::Endgame(_)));
    assert!(matches!(
        prober.main_line(&position("5k3/9/9/9/9/9/9/9/9/4K2R1 w"), Metric::Wdl, 9),
        Err(ProbeError::NoDistances(_))
    ));
}
