//! `canju annotate`: games and studies with what their moves were worth.

mod json;
mod pgn;
mod text;

use std::io::Write;

use canju_probe::ProbeError;
use canju_records::{Record, Step};
use canju_retro::Rules;
use canju_xiangqi::notation::Notation;

use crate::arguments::{AnnotateArguments, AnnotateFormat};
use crate::ask::{Answer, Asker};
use crate::judge::{Judged, Summary, judge};
use crate::{file, tables};

/// A record with what its moves were worth.
struct Annotated<'a> {
    record: &'a Record,
    /// The value of the first position.
    start: Answer,
    /// The moves in order, each with its variations after it.
    steps: Vec<(Step, Option<Judged>)>,
    /// Of the main line.
    summary: Summary,
}

/// How to write.
#[derive(Clone, Copy)]
struct Style {
    notation: Notation,
    rules: Rules,
}

pub(crate) fn run(arguments: &AnnotateArguments, out: &mut dyn Write) -> anyhow::Result<()> {
    let read = file::read(&arguments.file)?;
    let asker = Asker::new(tables::open(&arguments.tables)?);
    let style = Style { notation: arguments.notation.into(), rules: arguments.tables.rules };
    let format = if arguments.json { AnnotateFormat::Json } else { arguments.format };
    let mut games = Vec::new();
    for (number, record) in (1..).zip(&read.records) {
        let annotated = annotate(record, &asker)?;
        match format {
            AnnotateFormat::Text => text::write(number, &annotated, style, out)?,
            AnnotateFormat::Json => games.push(json::game(&annotated, style)),
            AnnotateFormat::Pgn => out.write_all(pgn::game(&annotated, style).as_bytes())?,
        }
    }
    if format == AnnotateFormat::Json {
        json::write(read.format, games, style, out)?;
    }
    Ok(())
}

fn annotate<'a>(record: &'a Record, asker: &Asker) -> Result<Annotated<'a>, ProbeError> {
    let start = asker.value(&record.start)?;
    let mut summary = Summary::default();
    let mut steps = Vec::new();
    let mut depth = 0_usize;
    for step in record.steps() {
        let mut judged = None;
        match &step {
            Step::Open => depth += 1,
            Step::Close => depth -= 1,
            Step::Move(ply) => {
                let found = judge(asker, ply)?;
                if depth == 0 {
                    summary.of(ply.before.turn()).count(&found);
                }
                judged = Some(found);
            }
        }
        steps.push((step, judged));
    }
    Ok(Annotated { record, start, steps, summary })
}
