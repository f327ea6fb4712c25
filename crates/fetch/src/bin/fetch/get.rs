//! `fetch get`: from a source into a folder.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

use canju_fetch::{Origin, Plan, Request, closure, get};

use crate::arguments::GetArguments;
use crate::shown::Shown;
use crate::words::{count, grouped, tables};
use crate::{signals, source};

pub(crate) async fn run(arguments: &GetArguments, out: &mut dyn Write) -> anyhow::Result<ExitCode> {
    let endgames = tables(&arguments.names)?;
    if endgames.is_empty() {
        anyhow::bail!("no endgame: name some to fetch, such as KRKN; `fetch list` tells which there are");
    }
    let metrics = (!arguments.metric.is_empty()).then(|| arguments.metric.iter().copied().collect::<BTreeSet<_>>());
    let request = Request {
        rules: arguments.rules,
        metrics,
        smaller: !arguments.no_smaller,
        jobs: arguments.jobs.into(),
        piece: u64::from(arguments.piece) << 10,
        ..Request::new(endgames)
    };
    let origin = source::open(&arguments.from, request.jobs).await?;
    let shown = Arc::new(Shown::new());
    if arguments.dry_run {
        let planned = closure(&origin, &request).await?.compare(&origin, &arguments.to, Arc::clone(&shown) as _).await;
        shown.end();
        tell_plan(&planned?, &origin, &arguments.to, out)?;
        return Ok(ExitCode::SUCCESS);
    }
    let begun = Instant::now();
    let signalled = signals::first()?;
    let fetched = tokio::select! {
        fetched = get(&origin, &arguments.to, &request, Arc::clone(&shown) as _) => fetched,
        code = signalled => {
            shown.end();
            // Standard error may be closed.
            let _ = writeln!(
                std::io::stderr(),
                "stopped: what came so far is kept in {}; run the same command again to go on",
                arguments.to.display()
            );
            return Ok(ExitCode::from(code));
        }
    };
    shown.end();
    let fetched = fetched?;
    let names: Vec<&str> = request.endgames.iter().map(|table| table.as_str()).collect();
    writeln!(
        out,
        "{} whole in {}: {} fetched, {} there before, {} bytes in {:.1} s",
        if names.len() == 1 { format!("{} is", names[0]) } else { format!("{} are", names.join(", ")) },
        arguments.to.display(),
        count(fetched.tables, "table"),
        fetched.whole,
        grouped(fetched.bytes),
        begun.elapsed().as_secs_f64()
    )?;
    Ok(ExitCode::SUCCESS)
}

fn tell_plan(plan: &Plan, origin: &Origin, to: &Path, out: &mut dyn Write) -> anyhow::Result<()> {
    for table in &plan.tables {
        let metrics: Vec<&str> = table.metrics.keys().map(|metric| metric.name()).collect();
        let bytes: u64 = table.metrics.values().map(|entry| entry.bytes()).sum();
        writeln!(out, "{:16}{:12}{:>18}", table.endgame, metrics.join(" "), grouped(bytes))?;
    }
    writeln!(
        out,
        "{} to fetch from {} into {}, {} whole there; {} bytes are missing, {} are kept of an earlier fetch, {} are free on the disk",
        count(plan.tables.len(), "table"),
        origin.place(),
        to.display(),
        plan.whole,
        grouped(plan.bytes),
        grouped(plan.kept),
        grouped(plan.free)
    )?;
    Ok(())
}
