//! What the command line says.

use std::net::SocketAddr;
use std::path::PathBuf;

use canju_command::{Logging, Trust, address, size};
use canju_store::{Location, LocationError, StoreOptions};
use clap::{Args, Parser, Subcommand};

/// Builds tables of xiangqi endgames and of puzzles: plans, gives work to workers, and commits what they solve.
#[derive(Parser)]
#[command(name = "coordinator", version)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
    #[command(flatten)]
    pub(crate) logging: Logging,
}

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Serve a cluster, or with --build build some endgames and end
    Start(Box<Start>),
    /// Ask a coordinator for endgames, with all that they lead to
    Submit(Submit),
    /// List the jobs of a coordinator
    Jobs(Remote),
    /// Show workers and open jobs of a coordinator
    Status(Status),
    /// End a job
    Cancel(Cancel),
    /// Tell what building some endgames takes, without building
    Plan(Plan),
    /// Ask a coordinator whether it is ready: ends with 0 when it is, else with 1
    Health(Health),
}

#[derive(Args)]
pub(crate) struct Start {
    /// Where to listen [default: 127.0.0.1:7420, with --build any free port of this machine]
    #[arg(long, value_name = "ADDR")]
    pub(crate) listen: Option<SocketAddr>,
    /// Where workers and clients reach it, as HOST:PORT or a URL [default: where it listens]
    #[arg(long, value_name = "ADDR", value_parser = address)]
    pub(crate) advertise: Option<String>,
    #[command(flatten)]
    pub(crate) place: Place,
    #[command(flatten)]
    pub(crate) cache: Cache,
    /// How often workers write the logs of large tables to the store, in seconds: what is computed again after a loss
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) checkpoint: u32,
    /// Workers within this process [default: 1 with --build, else 0]
    #[arg(long, value_name = "N")]
    pub(crate) local_workers: Option<usize>,
    /// Threads of each local worker [default: all processors, shared among them]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) threads: Option<u16>,
    /// Memory of each local worker, as 24GiB [default: 4/5 of what is free, shared among them]
    #[arg(long, value_name = "SIZE", value_parser = size::memory)]
    pub(crate) memory: Option<u64>,
    /// A folder that is there, where local workers keep in files what does not fit into their memory
    #[arg(long, value_name = "DIR")]
    pub(crate) scratch: Option<PathBuf>,
    /// A file of a puzzle that may be asked for; more than once for several
    #[arg(long, value_name = "FILE")]
    pub(crate) game: Vec<PathBuf>,
    /// Endgames to build, as KRKN,KCPKA, or the files of puzzles; ends when they are there
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub(crate) build: Vec<String>,
    #[command(flatten)]
    pub(crate) wanted: Wanted,
    /// Begin no table before so many workers have joined [default: the local workers, at least 1]
    #[arg(long, value_name = "N")]
    pub(crate) min_workers: Option<usize>,
    /// Tables with fewer cells for one side to move go whole to one worker
    #[arg(long, value_name = "CELLS", default_value_t = 4 << 20)]
    pub(crate) cut_from: u64,
    /// Where browsers see it at work and Prometheus reads its metrics, or `off` [default: 127.0.0.1:7421, with --build off]
    #[arg(long, value_name = "ADDR", value_parser = http)]
    pub(crate) http: Option<Http>,
    /// Allow --listen and --http on addresses that other machines reach, without a token or certificates of clients
    #[arg(long)]
    pub(crate) insecure_network: bool,
    #[command(flatten)]
    pub(crate) trust: Trust,
}

/// Where to serve HTTP.
#[derive(Clone, Copy)]
pub(crate) enum Http {
    At(SocketAddr),
    Off,
}

fn http(text: &str) -> Result<Http, String> {
    if text == "off" {
        return Ok(Http::Off);
    }
    text.parse().map(Http::At).map_err(|_| "write an address as 127.0.0.1:7421, or off".to_owned())
}

#[derive(Args)]
pub(crate) struct Place {
    /// Where the tables are kept: a folder, or s3://BUCKET/PREFIX
    #[arg(long, value_name = "PLACE", default_value = "./tables")]
    pub(crate) store: String,
    /// The S3 server [default: AWS_ENDPOINT_URL_S3 or AWS_ENDPOINT_URL, else Amazon's]
    #[arg(long, value_name = "URL")]
    pub(crate) s3_endpoint: Option<String>,
    /// The bucket's region [default: AWS_REGION or the profile's, else us-east-1 if there is an endpoint]
    #[arg(long, value_name = "REGION")]
    pub(crate) s3_region: Option<String>,
}

impl Place {
    /// Where it is, for processes in other folders too. Parsed here and not by clap, which repeats what it was given:
    /// there may be a password in it.
    pub(crate) fn location(&self) -> Result<Location, LocationError> {
        self.store.parse::<Location>()?.absolute()
    }

    pub(crate) fn options(&self) -> StoreOptions {
        StoreOptions { endpoint: self.s3_endpoint.clone(), region: self.s3_region.clone(), ..StoreOptions::default() }
    }
}

#[derive(Args)]
pub(crate) struct Cache {
    /// A folder where local workers keep what they read from S3 [default: canju in the user's folder for caches]
    #[arg(long = "cache", value_name = "DIR")]
    pub(crate) folder: Option<PathBuf>,
    /// How much they keep there, as 16GiB; 0 for nothing
    #[arg(long = "cache-size", value_name = "SIZE", default_value = "16GiB", value_parser = size::bytes)]
    pub(crate) size: u64,
}

#[derive(Args)]
pub(crate) struct Wanted {
    /// What to count: dtm (plies to mate), dtc (plies to the first capture or mate), or both as dtm,dtc; odds for games of dice
    #[arg(long, value_name = "METRIC", value_delimiter = ',', default_value = "dtm")]
    pub(crate) metric: Vec<String>,
    /// The rule of repetition: plain (a draw), check (perpetual check loses), axf (perpetual chase loses as well)
    #[arg(long, default_value = "plain")]
    pub(crate) rules: String,
}

#[derive(Args)]
pub(crate) struct Remote {
    /// The coordinator; of several, with commas between them, whichever is active
    #[arg(long, value_name = "URL", value_delimiter = ',', default_value = "127.0.0.1:7420", value_parser = address)]
    pub(crate) coordinator: Vec<String>,
    #[command(flatten)]
    pub(crate) trust: Trust,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args)]
pub(crate) struct Submit {
    /// Endgames, as KRKN,KCPKA, or the files of puzzles
    #[arg(required = true, value_name = "NAME", value_delimiter = ',')]
    pub(crate) names: Vec<String>,
    #[command(flatten)]
    pub(crate) wanted: Wanted,
    /// Stay until the job is done
    #[arg(long)]
    pub(crate) follow: bool,
    #[command(flatten)]
    pub(crate) remote: Remote,
}

#[derive(Args)]
pub(crate) struct Status {
    /// Show it again every second, until Ctrl-C
    #[arg(long)]
    pub(crate) watch: bool,
    #[command(flatten)]
    pub(crate) remote: Remote,
}

#[derive(Args)]
pub(crate) struct Cancel {
    /// The job, as j1
    pub(crate) job: String,
    #[command(flatten)]
    pub(crate) remote: Remote,
}

#[derive(Args)]
pub(crate) struct Plan {
    /// Endgames, as KRKN,KCPKA, or the files of puzzles
    #[arg(required = true, value_name = "NAME", value_delimiter = ',')]
    pub(crate) names: Vec<String>,
    #[command(flatten)]
    pub(crate) wanted: Wanted,
    /// Over how many workers
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) workers: u32,
    /// Threads of each worker
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) threads: u16,
    /// What each worker has, as 24GiB; ends with 2 when it is too little
    #[arg(long, value_name = "SIZE", value_parser = size::memory)]
    pub(crate) memory: Option<u64>,
    #[command(flatten)]
    pub(crate) place: Place,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args)]
pub(crate) struct Health {
    /// The coordinator; of several, with commas or blanks between them, also of workers, one that is ready is enough
    #[arg(value_name = "URL", value_delimiter = ',', default_value = "127.0.0.1:7420", value_parser = address)]
    pub(crate) urls: Vec<String>,
    /// Ask only whether it answers: one that stands by is not ready
    #[arg(long)]
    pub(crate) live: bool,
    #[command(flatten)]
    pub(crate) trust: Trust,
}
