//! What the command line says.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use canju_command::{Logging, Trust, address, size};
use clap::{Args, Parser, Subcommand};

/// Solves parts of endgames for a coordinator.
#[derive(Parser)]
#[command(name = "worker", version)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
    #[command(flatten)]
    pub(crate) logging: Logging,
}

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Join a coordinator and work until told to stop
    Start(Box<Start>),
    /// Ask a worker whether it is ready: ends with 0 when it is, else with 1
    Health(Health),
}

#[derive(Args)]
pub(crate) struct Start {
    /// The coordinators, one of which is active, separated by commas; they are tried until one is there
    #[arg(long, value_name = "URL", required = true, value_delimiter = ',', value_parser = address)]
    pub(crate) coordinator: Vec<String>,
    /// A file of a puzzle that it may be given to solve; more than once for several
    #[arg(long, value_name = "FILE")]
    pub(crate) game: Vec<PathBuf>,
    /// Where to take messages of other workers
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:0")]
    pub(crate) listen: SocketAddr,
    /// Where other workers reach it, as HOST:PORT; `auto` takes the address that leads to the coordinator
    /// [default: where it listens, `auto` if that is every address]
    #[arg(long, value_name = "ADDR")]
    pub(crate) advertise: Option<String>,
    /// What its parts may take, as 24GiB [default: 4/5 of what is free]
    #[arg(long, value_name = "SIZE", value_parser = size::memory)]
    pub(crate) memory: Option<u64>,
    /// Threads that compute [default: all processors]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) threads: Option<u16>,
    /// A folder that is there, where parts keep in files what does not fit into --memory
    #[arg(long, value_name = "DIR")]
    pub(crate) scratch: Option<PathBuf>,
    /// How long it waits, when it is told to stop, for others to take its parts over; 0s to leave at once
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = humantime::parse_duration)]
    pub(crate) drain: Duration,
    /// The S3 server, where the coordinator's store is s3:// [default: AWS_ENDPOINT_URL_S3 or AWS_ENDPOINT_URL, else Amazon's]
    #[arg(long, value_name = "URL")]
    pub(crate) s3_endpoint: Option<String>,
    /// The bucket's region [default: AWS_REGION or the profile's, else us-east-1 if there is an endpoint]
    #[arg(long, value_name = "REGION")]
    pub(crate) s3_region: Option<String>,
    /// A folder where it keeps what it reads from S3; workers may share one [default: canju in the user's folder for caches]
    #[arg(long, value_name = "DIR")]
    pub(crate) cache: Option<PathBuf>,
    /// How much it keeps there, as 16GiB; 0 for nothing
    #[arg(long, value_name = "SIZE", default_value = "16GiB", value_parser = size::bytes)]
    pub(crate) cache_size: u64,
    /// What people call it [default: the host's name and the process's number]
    #[arg(long)]
    pub(crate) name: Option<String>,
    /// Where probes and Prometheus ask, as 127.0.0.1:7431 [default: nowhere]
    #[arg(long, value_name = "ADDR")]
    pub(crate) http: Option<SocketAddr>,
    /// Allow --listen and --http on addresses that other machines reach, without a token or certificates of clients
    #[arg(long)]
    pub(crate) insecure_network: bool,
    #[command(flatten)]
    pub(crate) trust: Trust,
}

#[derive(Args)]
pub(crate) struct Health {
    /// The worker
    #[arg(value_name = "URL", default_value = "127.0.0.1:7430", value_parser = address)]
    pub(crate) url: String,
    /// Ask only whether it answers: one without its coordinator is not ready
    #[arg(long)]
    pub(crate) live: bool,
    #[command(flatten)]
    pub(crate) trust: Trust,
}
