//! Known exact counts: every endgame of up to four men, and those of five men with one side armed.
#![allow(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

use std::collections::HashMap;
use std::sync::Arc;

use canju_endgame::Xiangqi;
use canju_retro::{Game, MemoryTables, Metric, Rules, SideStatistics, Statistics, TableName, solve};
use canju_xiangqi::{Color, Material, Role};

/// Solves tables on demand and keeps what it has.
struct Library {
    game: Xiangqi,
    metric: Metric,
    tables: Arc<MemoryTables>,
    statistics: HashMap<TableName, Statistics>,
}

impl Library {
    fn new(metric: Metric) -> Self {
        Self { game: Xiangqi::new(), metric, tables: Arc::new(MemoryTables::new()), statistics: HashMap::new() }
    }

    fn solve(&mut self, table: &TableName) {
        if self.statistics.contains_key(table) {
            return;
        }
        for smaller in self.game.smaller(table).unwrap() {
            self.solve(&smaller);
        }
        let solved = solve(&self.game, table, self.metric, Rules::Plain, self.tables.clone()).unwrap();
        self.tables.insert(&self.game, table, self.metric, &solved).unwrap();
        self.statistics.insert(table.clone(), solved.part.statistics().unwrap());
    }

    /// The counts for one side to move of an endgame as named, whichever side its table names first.
    fn side(&mut self, name: &str, side: &str) -> &SideStatistics {
        let material: Material = name.parse().unwrap();
        let swapped = material.canonical().1;
        let table = self.game.table(name).unwrap();
        self.solve(&table);
        &self.statistics[&table].sides[usize::from((side == "b") != swapped)]
    }
}

fn rows(text: &'static str) -> impl Iterator<Item = Vec<&'static str>> {
    text.lines().filter(|l| !l.starts_with('#') && !l.starts_with("endgame")).map(|l| l.split('\t').collect())
}

fn plies(longest: Option<canju_retro::Longest>) -> u64 {
    longest.map_or(0, |l| u64::from(l.distance.plies))
}

fn number(text: &str) -> u64 {
    text.parse().unwrap()
}

#[test]
fn every_endgame_of_up_to_four_men() {
    let mut library = Library::new(Metric::Dtm);
    let mut tried = 0;
    for row in rows(include_str!("data/plain-four-men.tsv")) {
        let counts = library.side(row[0], row[1]);
        let found =
            [counts.wins(), counts.losses(), counts.draws(), plies(counts.longest_win), plies(counts.longest_loss)];
        let known: Vec<u64> = row[2..7].iter().map(|n| number(n)).collect();
        assert_eq!(found.as_slice(), known, "{} {}", row[0], row[1]);
        tried += 1;
    }
    assert_eq!(tried, 110);
}

fn armed(name: &str) -> usize {
    let material: Material = name.parse().unwrap();
    let attackers =
        |c| [Role::Chariot, Role::Horse, Role::Cannon, Role::Soldier].iter().any(|&r| material.count(c, r) > 0);
    Color::ALL.into_iter().filter(|&c| attackers(c)).count()
}

#[test]
fn one_side_armed_up_to_five_men() {
    let full: HashMap<(&str, &str), Vec<u64>> = rows(include_str!("data/axf-full-board.tsv"))
        .map(|r| ((r[0], r[1]), r[2..5].iter().map(|n| number(n)).collect()))
        .collect();
    for metric in [Metric::Dtm, Metric::Dtc] {
        let mut library = Library::new(metric);
        let mut tried = 0;
        for row in rows(include_str!("data/axf-five-men.tsv")).filter(|r| armed(r[0]) == 1) {
            let counts = library.side(row[0], row[1]);
            let known = number(if metric == Metric::Dtm { row[8] } else { row[6] });
            assert_eq!(plies(counts.longest_win), known, "{metric} of {} {}", row[0], row[1]);
            if let Some(known) = full.get(&(row[0], row[1])) {
                assert_eq!(&vec![counts.wins(), counts.losses(), counts.draws()], known, "{} {}", row[0], row[1]);
            }
            tried += 1;
        }
        assert!(tried > 100, "{tried}");
    }
}
