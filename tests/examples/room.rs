//! What solving an endgame takes in memory, beside what was expected: with all in memory, or in a room of so many MiB.
//!
//!     cargo run --release -p canju-tests --example room -- write FOLDER KCPKAABB dtm
//!     cargo run --release -p canju-tests --example room -- solve FOLDER KCPKAABB dtm [ROOM_MIB SCRATCH_FOLDER [PARTS]]
//!
//! The first writes the smaller tables, so that the second measures nothing but the endgame.
#![allow(clippy::unwrap_used, reason = "a measurement that cannot be set up has failed")]

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use canju_endgame::Xiangqi;
use canju_retro::{Game, Metric, Part, PartSpec, Room, Rules, Side};
use canju_table::{FolderSource, TableSet};
use canju_tests::Workshop;

/// A line of the process's status, in MiB.
fn status(name: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_default();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap_or(0) >> 10
}

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [command, folder, name, metric, rest @ ..] = &args[..] else { panic!("usage: as in the first lines") };
    let (game, metric): (_, Metric) = (Xiangqi::new(), metric.parse().unwrap());
    let table = game.table(name).unwrap();
    if command == "write" {
        let mut workshop = Workshop::new();
        for smaller in game.smaller(&table).unwrap() {
            workshop.write_to(Path::new(folder), smaller.as_str(), &[metric]);
        }
        return;
    }
    let room = (rest.len() > 1)
        .then(|| Room { bytes: rest[0].parse::<u64>().unwrap() << 20, scratch: Some(rest[1].clone().into()) });
    let parts: u32 = rest.get(2).map_or(1, |parts| parts.parse().unwrap());
    let tables = Arc::new(TableSet::with_cache(Arc::new(FolderSource::new(folder)), Rules::Plain, 4 << 20));
    let shape = game.shape(&table).unwrap();
    let all = shape.slices.len() as u32;
    let deal: Vec<Vec<u32>> = (0..parts).map(|p| (p * all / parts..(p + 1) * all / parts).collect()).collect();
    let mib = |bytes: u64| bytes as f64 / f64::from(1 << 20);
    let before = status("VmRSS:");
    let start = Instant::now();
    let mut solvers: Vec<Box<dyn Part>> = Vec::new();
    let mut price = canju_retro::Price::default();
    for slices in deal.clone() {
        let one = shape.price(&slices, rayon::current_num_threads());
        price.memory += one.memory;
        price.least += one.least;
        price.scratch += one.scratch;
        let spec = PartSpec { table: table.clone(), metric, rules: Rules::Plain, slices, room: room.clone() };
        let mut part = game.part(&spec, Arc::clone(&tables) as _).unwrap();
        part.prepare().unwrap();
        solvers.push(part);
    }
    let memory = |solvers: &[Box<dyn Part>]| solvers.iter().map(|part| part.memory()).sum::<u64>();
    let prepared = (memory(&solvers), status("VmHWM:"), start.elapsed());
    let (mut peak, mut idle, mut ply) = (prepared.0, 0, 0);
    while idle < 2 {
        let counts: Vec<_> = solvers.iter_mut().map(|part| part.step(ply).unwrap()).collect();
        for (from, to) in (0..deal.len()).flat_map(|from| (0..deal.len()).map(move |to| (from, to))) {
            let message = if from == to { Vec::new() } else { solvers[from].export(&deal[to]) };
            solvers[to].import(&message).unwrap();
        }
        peak = peak.max(memory(&solvers));
        idle = if counts.iter().any(|c| c.total() > 0 || c.pending) { 0 } else { idle + 1 };
        ply += 1;
    }
    let (solved, rss) = (start.elapsed(), status("VmHWM:"));
    let mut hasher = DefaultHasher::new();
    for (part, slices) in solvers.iter().zip(&deal) {
        for (&slice, side) in slices.iter().flat_map(|s| Side::BOTH.map(|side| (s, side))) {
            let codes = part.codes(slice, side, metric).unwrap();
            (0..codes.len()).for_each(|i| codes.get(i).unwrap().bits().hash(&mut hasher));
        }
    }
    println!(
        "{table} {metric} in {parts}: sets {:.1} MiB; expected {:.1}, least {:.1}, scratch {:.1}",
        mib(shape.set_bytes),
        mib(price.memory),
        mib(price.least),
        mib(price.scratch)
    );
    println!(
        "  room {:?}: prepared {:.1}, peak {:.1}, end {:.1} MiB; process {before} before, {} prepared, {rss} solved, {} \
         with cells; {:.1} s + {:.1} s; {ply} plies, cells {:016x}",
        room.map(|r| r.bytes >> 20),
        mib(prepared.0),
        mib(peak),
        mib(memory(&solvers)),
        prepared.1,
        status("VmHWM:"),
        prepared.2.as_secs_f64(),
        (solved - prepared.2).as_secs_f64(),
        hasher.finish()
    );
}
