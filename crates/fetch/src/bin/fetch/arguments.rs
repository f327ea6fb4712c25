//! The command line.

use std::path::PathBuf;

use canju_command::Logging;
use canju_retro::{Metric, Rules};
use canju_store::Location;
use clap::{Args, Parser, Subcommand};

/// Finds, fetches and checks finished xiangqi endgame tables.
#[derive(Debug, Parser)]
#[command(name = "fetch", version)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub command: Command,
    #[command(flatten)]
    pub logging: Logging,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// The tables that there are to fetch.
    List(ListArguments),
    /// Fetches endgames with all smaller tables that they were built from; goes on with what was interrupted, and
    /// replaces what is damaged.
    Get(GetArguments),
    /// Checks that the tables of a folder are what was written, and complete.
    Verify(VerifyArguments),
    /// Writes the list of a folder's tables, with which any web server can offer them.
    Index(IndexArguments),
}

#[derive(Debug, Args)]
pub(crate) struct From {
    /// Where the tables are: s3://bucket/prefix, https://host/path, or a folder.
    #[arg(long, value_name = "SOURCE", env = "CANJU_FROM")]
    pub from: Option<String>,
    /// The address of an S3 server other than Amazon's.
    #[arg(long, value_name = "URL")]
    pub s3_endpoint: Option<String>,
    /// The region of the S3 bucket.
    #[arg(long, value_name = "REGION")]
    pub s3_region: Option<String>,
}

impl From {
    /// The source, where it is a folder.
    pub(crate) fn folder(&self) -> Option<PathBuf> {
        match self.from.as_deref()?.parse() {
            Ok(Location::Folder(path)) => Some(path),
            _ => None,
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct ListArguments {
    /// Which endgames: a name, or a pattern with * and ?, as KR*.
    #[arg(value_name = "PATTERN")]
    pub pattern: Option<String>,
    #[command(flatten)]
    pub from: From,
    /// The rules that the tables hold for.
    #[arg(long, default_value = "plain")]
    pub rules: Rules,
    /// Write JSON.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct GetArguments {
    /// The endgames, such as KRKN,KCPKA.
    #[arg(required = true, value_delimiter = ',', value_name = "ENDGAME")]
    pub names: Vec<String>,
    #[command(flatten)]
    pub from: From,
    /// The folder to fetch into; canju and the coordinator use the same one.
    #[arg(long, value_name = "DIR", default_value = "./tables")]
    pub to: PathBuf,
    /// The metrics: some of wdl, dtm, dtc, odds. All that there are unless told otherwise.
    #[arg(long, value_delimiter = ',', value_name = "METRICS")]
    pub metric: Vec<Metric>,
    /// The rules that the tables hold for.
    #[arg(long, default_value = "plain")]
    pub rules: Rules,
    /// Leave out the smaller tables, without which captures cannot be followed.
    #[arg(long)]
    pub no_smaller: bool,
    /// Requests that are under way at once.
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u16).range(1..=256))]
    pub jobs: u16,
    /// Largest part of a shard that one request fetches, in KiB.
    #[arg(long, value_name = "KIB", default_value_t = 4096, value_parser = clap::value_parser!(u32).range(1..=1 << 20))]
    pub piece: u32,
    /// Tell what would be fetched, and fetch nothing.
    #[arg(long)]
    pub dry_run: bool,
}

#[derive(Debug, Args)]
pub(crate) struct VerifyArguments {
    /// The folder with the tables.
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,
    /// The endgames, such as KRKN,KCPKA, each with its smaller ones. All unless told otherwise.
    #[arg(value_delimiter = ',', value_name = "ENDGAME")]
    pub names: Vec<String>,
    /// The rules that the tables hold for.
    #[arg(long, default_value = "plain")]
    pub rules: Rules,
    /// Write JSON.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct IndexArguments {
    /// The folder with the tables.
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,
}
