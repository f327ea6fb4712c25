//! The command line of players.

use canju_ewn::PlayerKind;
use canju_retro::Rules;
use clap::Args;

use crate::arguments::Tables;

/// What players of EinStein würfelt nicht! know.
#[derive(Debug, Args)]
pub(crate) struct Known {
    /// Where finished tables are; without it they are computed first, in memory.
    #[arg(long, value_name = "PLACE")]
    pub tables: Option<String>,
    /// The S3 server, for tables in a bucket.
    #[arg(long, value_name = "URL")]
    pub s3_endpoint: Option<String>,
    /// The bucket's region.
    #[arg(long, value_name = "REGION")]
    pub s3_region: Option<String>,
    /// Most stones of the tables that are computed: 4 take 0.2 GB of memory, 5 take 7.5 GB.
    #[arg(long, default_value_t = 4, value_name = "N", value_parser = clap::value_parser!(u8).range(2..=5))]
    pub stones: u8,
    /// How many moves the table player looks ahead beyond the tables, its own one counted.
    #[arg(long, default_value_t = 3, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=5))]
    pub depth: u32,
}

impl Known {
    /// The place of the tables as other commands are given it.
    pub(crate) fn place(&self) -> Tables {
        Tables {
            tables: self.tables.clone().unwrap_or_default(),
            s3_endpoint: self.s3_endpoint.clone(),
            s3_region: self.s3_region.clone(),
            rules: Rules::Plain,
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct MatchArguments {
    /// Who plays Red: random, greedy, static or table.
    #[arg(long, value_name = "PLAYER")]
    pub red: PlayerKind,
    /// Who plays Blue.
    #[arg(long, value_name = "PLAYER")]
    pub blue: PlayerKind,
    /// Matches are begun until so many games have been played.
    #[arg(long, default_value_t = 100, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1_000_000_000))]
    pub games: u64,
    /// Which rolls and starts: the same seed gives the same games.
    #[arg(long, default_value_t = 1, value_name = "N")]
    pub seed: u64,
    #[command(flatten)]
    pub known: Known,
    /// Write JSON.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct GradeArguments {
    /// The players: random, greedy, static, table.
    #[arg(required = true, value_delimiter = ',', value_name = "PLAYER")]
    pub players: Vec<PlayerKind>,
    /// How many moves each of them makes, in positions of `--stones` stones.
    #[arg(long, default_value_t = 100_000, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1_000_000_000))]
    pub moves: u64,
    /// Which positions and rolls.
    #[arg(long, default_value_t = 1, value_name = "N")]
    pub seed: u64,
    #[command(flatten)]
    pub known: Known,
    /// Write JSON.
    #[arg(long)]
    pub json: bool,
}
