//! Any text as a position, and what is asked of it.
#![no_main]

use std::sync::LazyLock;

use canju_fuzz::{FILES, prober};
use canju_probe::Prober;
use canju_xiangqi::Position;
use libfuzzer_sys::fuzz_target;

static PROBER: LazyLock<Prober> = LazyLock::new(|| prober(&FILES));

fuzz_target!(|text: &str| {
    let Ok(position) = Position::from_fen(text) else { return };
    let again: Position = position.to_fen().parse().unwrap();
    assert_eq!(again, position);
    assert_eq!(again.signature(), position.signature());
    let value = PROBER.probe(&position);
    assert_eq!(PROBER.wdl(&position).ok(), value.as_ref().ok().map(|value| value.outcome));
    for image in [position.mirror(), position.flip()] {
        assert_eq!(PROBER.probe(&image).ok(), value.as_ref().ok().copied(), "{image}");
    }
    let _ = PROBER.moves(&position);
});
