//! Solves an endgame and everything its captures lead to, in memory, and prints counts and CPU seconds.
//!
//! `cargo run --release -p canju-endgame --example solve -- KCKN dtm 1 axf`

use std::collections::BTreeMap;
use std::error::Error;
use std::sync::Arc;

use canju_endgame::Xiangqi;
use canju_retro::{Game, MemoryTables, Metric, Rules, Side, TableName, solve};

fn closure(game: &Xiangqi, table: TableName, done: &mut Vec<TableName>) -> Result<(), Box<dyn Error>> {
    if !done.contains(&table) {
        for smaller in game.smaller(&table)? {
            closure(game, smaller, done)?;
        }
        done.push(table);
    }
    Ok(())
}

fn cpu_seconds() -> f64 {
    // Fields 14 and 15 of the process's line are its ticks in user and system mode, a hundred a second.
    let line = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<&str> = line.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let ticks = |i: usize| fields.get(i).and_then(|f| f.parse::<f64>().ok()).unwrap_or_default();
    (ticks(11) + ticks(12)) / 100.0
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let name = args.next().ok_or("usage: solve NAME [dtm|dtc] [THREADS] [plain|check|axf]")?;
    let metric: Metric = args.next().as_deref().unwrap_or("dtm").parse()?;
    let threads = args.next().map_or(Ok(1), |n| n.parse())?;
    let rules: Rules = args.next().map_or(Ok(Rules::Plain), |r| r.parse())?;
    rayon::ThreadPoolBuilder::new().num_threads(threads).use_current_thread().build_global()?;
    let game = Xiangqi::new();
    let tables = Arc::new(MemoryTables::new());
    let mut all = Vec::new();
    closure(&game, game.table(&name)?, &mut all)?;
    let mut total = (0.0, 0);
    for table in all {
        let start = cpu_seconds();
        let solved = solve(&game, &table, metric, rules, tables.clone())?;
        let seconds = cpu_seconds() - start;
        let positions = game.shape(&table)?.positions;
        total = (total.0 + seconds, total.1 + positions);
        let statistics = solved.part.statistics()?;
        let mut line = BTreeMap::new();
        for side in Side::BOTH {
            let s = &statistics.sides[side.index()];
            let plies = |l: Option<canju_retro::Longest>| {
                l.map_or("0".into(), |l| match l.distance.order {
                    0 => l.distance.plies.to_string(),
                    order => format!("{order}+{}", l.distance.plies),
                })
            };
            line.insert(
                side,
                format!("{} {} {} {} {}", s.wins(), s.losses(), s.draws(), plies(s.longest_win), plies(s.longest_loss)),
            );
        }
        println!(
            "{table:12} w {}  b {}  | {seconds:.2} s, {:.0} M/s, {} plies, {} MB",
            line[&Side::First],
            line[&Side::Second],
            positions as f64 / seconds.max(0.001) / 1e6,
            solved.plies,
            solved.part.memory() >> 20
        );
        tables.insert(&game, &table, metric, &solved)?;
    }
    println!(
        "{:.2} CPU s, {:.0} million positions a second, {:.2} CPU s with output",
        total.0,
        total.1 as f64 / total.0 / 1e6,
        cpu_seconds()
    );
    Ok(())
}
