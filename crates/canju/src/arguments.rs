//! The command line.

use std::net::SocketAddr;
use std::path::PathBuf;

use canju_command::{Logging, size};
use canju_retro::{Metric, Rules};
use canju_xiangqi::notation;
use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::ewn::{GradeArguments, MatchArguments};

/// Asks finished xiangqi endgame tables about positions, counts, and checks them.
#[derive(Debug, Parser)]
#[command(name = "canju", version)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub command: Command,
    #[command(flatten)]
    pub logging: Logging,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// The value of a position and of each legal move, best first; or the values of all positions of a file.
    Probe(ProbeArguments),
    /// The moves to mate when both sides do their best.
    Line(LineArguments),
    /// How many positions of an endgame are won, drawn and lost, and the longest wins.
    Stats(StatsArguments),
    /// Checks the bytes of tables, and that every value follows from the values one move on.
    Verify(VerifyArguments),
    /// The tables that are there.
    List(ListArguments),
    /// Lets two players play EinStein würfelt nicht! in the contest's format.
    Match(MatchArguments),
    /// What players of EinStein würfelt nicht! lose by their moves, against exact tables.
    Grade(GradeArguments),
    /// Answers over HTTP: JSON, the explorer page, and the query form of the public xiangqi database.
    Serve(ServeArguments),
    /// Replays a game or study and marks each move that changes the result, lengthens a win or shortens a loss.
    Annotate(AnnotateArguments),
    /// Says whether a played line comes back to a position, and who loses by that under the rules of repetition. Needs no tables.
    Judge(JudgeArguments),
    /// Solves a puzzle from a file: a river crossing, a maze, cat and mouse.
    Solve(SolveArguments),
}

#[derive(Debug, Args)]
pub(crate) struct Tables {
    /// Where the tables are: a folder, s3://BUCKET/PREFIX, or the URL of a web server's folder.
    #[arg(long, value_name = "PLACE", default_value = "./tables")]
    pub tables: String,
    /// The S3 server; AWS_ENDPOINT_URL_S3 or AWS_ENDPOINT_URL unless told otherwise, else Amazon's.
    #[arg(long, value_name = "URL")]
    pub s3_endpoint: Option<String>,
    /// The bucket's region; AWS_REGION or the profile's unless told otherwise.
    #[arg(long, value_name = "REGION")]
    pub s3_region: Option<String>,
    /// The rules that the tables hold for: plain, check or axf.
    #[arg(long, default_value = "plain")]
    pub rules: Rules,
}

#[derive(Debug, Args)]
pub(crate) struct Asked {
    #[command(flatten)]
    pub tables: Tables,
    /// How to write moves.
    #[arg(long, value_enum, default_value = "coordinates")]
    pub notation: Notation,
    /// Write JSON.
    #[arg(long)]
    pub json: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Notation {
    /// h2e2
    Coordinates,
    /// C2.5
    Wxf,
    /// 炮二平五
    Chinese,
}

impl From<Notation> for notation::Notation {
    fn from(notation: Notation) -> Self {
        match notation {
            Notation::Coordinates => Self::Coordinates,
            Notation::Wxf => Self::Wxf,
            Notation::Chinese => Self::Chinese,
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct ProbeArguments {
    /// The position: the board from Black's home rank down, and the side to move, w or b. Or the file or the table of a puzzle
    /// and a position of it.
    #[arg(required_unless_present = "file", conflicts_with = "file", value_name = "FEN")]
    pub fen: Vec<String>,
    /// Tell the values of all positions of a file, of a game those of its main line; - reads standard input. FEN
    /// lists, name|FEN|moves lists, DhtmlXQ, PGN and XQF are read.
    #[arg(long, value_name = "FILE")]
    pub file: Option<PathBuf>,
    #[command(flatten)]
    pub asked: Asked,
    /// Draw the board into this file; of EinStein würfelt nicht! only.
    #[arg(long, value_name = "OUT", conflicts_with = "file")]
    pub svg: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct LineArguments {
    /// The position: the board from Black's home rank down, and the side to move, w or b.
    #[arg(required = true, value_name = "FEN")]
    pub fen: Vec<String>,
    #[command(flatten)]
    pub asked: Asked,
    /// What is counted: dtm or dtc. The table's distance to mate unless told otherwise, else to conversion.
    #[arg(long)]
    pub metric: Option<Metric>,
}

#[derive(Debug, Args)]
pub(crate) struct StatsArguments {
    /// The endgame, such as KRKN; KNKR counts the same table from the other side. Or a table of EinStein würfelt nicht!, such
    /// as EWN12B1, or the file or the table of a puzzle.
    pub name: String,
    #[command(flatten)]
    pub tables: Tables,
    /// Write JSON.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct VerifyArguments {
    /// The endgames, such as KRKN,KCPKA, or the files or tables of puzzles.
    #[arg(required = true, value_delimiter = ',', value_name = "NAME")]
    pub names: Vec<String>,
    #[command(flatten)]
    pub tables: Tables,
    /// Check so many cells, drawn at random but the same in every run, instead of all.
    #[arg(long, value_name = "N")]
    pub sample: Option<u64>,
    /// Threads to work with; one on each processor unless told otherwise.
    #[arg(long, default_value_t = 0, value_name = "N", hide_default_value = true)]
    pub threads: usize,
    /// Memory for decoded slices, as 4GiB.
    #[arg(long, default_value = "1GiB", value_name = "SIZE", value_parser = size::memory)]
    pub memory: u64,
}

#[derive(Debug, Args)]
pub(crate) struct SolveArguments {
    /// The puzzle: TOML, a drawing of a maze, or a picture of one as PNG.
    pub file: PathBuf,
    /// Print every position with its label.
    #[arg(long)]
    pub table: bool,
    /// Draw the solution into this file.
    #[arg(long, value_name = "OUT")]
    pub svg: Option<PathBuf>,
    /// Write a page for browsers into this file, which shows the solution step by step.
    #[arg(long, value_name = "OUT")]
    pub html: Option<PathBuf>,
    /// Write JSON.
    #[arg(long)]
    pub json: bool,
    /// Write the table into a folder or s3://BUCKET/PREFIX, where `probe`, `verify` and `fetch` find it.
    #[arg(long, value_name = "PLACE")]
    pub store: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct ListArguments {
    #[command(flatten)]
    pub tables: Tables,
    /// Write JSON.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ServeArguments {
    /// Where to listen. Everything that it answers is public: with an address that other machines reach, as 0.0.0.0:7425,
    /// everybody who reaches it may ask.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:7425")]
    pub listen: SocketAddr,
    #[command(flatten)]
    pub tables: Tables,
    /// Threads that ask the tables; four for each processor unless told otherwise, and at least eight.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,
    /// Memory for decoded blocks, as 4GiB.
    #[arg(long, default_value = "256MiB", value_name = "SIZE", value_parser = size::memory)]
    pub memory: u64,
    /// Requests at work or waiting; more are told to come again.
    #[arg(long, default_value_t = 1024, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1 << 20))]
    pub requests: u32,
    /// Seconds that an answer may take.
    #[arg(long, default_value_t = 30, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=3600))]
    pub timeout: u64,
}

#[derive(Debug, Args)]
pub(crate) struct AnnotateArguments {
    /// A FEN list, a name|FEN|moves list, DhtmlXQ, PGN or XQF; - reads standard input.
    pub file: PathBuf,
    #[command(flatten)]
    pub tables: Tables,
    /// How to write moves.
    #[arg(long, value_enum, default_value = "coordinates")]
    pub notation: Notation,
    /// What to write: text, one JSON object, or the games as PGN with comments.
    #[arg(long, value_enum, default_value = "text")]
    pub format: AnnotateFormat,
    /// Write JSON, as by --format json.
    #[arg(long, conflicts_with = "format")]
    pub json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct JudgeArguments {
    /// The position and the moves after it, as h2e2, C2.5 or 炮二平五.
    #[arg(required_unless_present = "file", conflicts_with = "file", value_name = "FEN MOVE")]
    pub line: Vec<String>,
    /// Judge the main lines of a file's games; - reads standard input. name|FEN|moves lists, DhtmlXQ, PGN and XQF are read.
    #[arg(long, value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// The rule of repetition: check (who checks for ever loses) or axf (who chases one piece for ever loses as well);
    /// under plain every repetition is a draw.
    #[arg(long, default_value = "axf")]
    pub rules: Rules,
    /// Write JSON.
    #[arg(long)]
    pub json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum AnnotateFormat {
    Text,
    Json,
    Pgn,
}
