//! Certificates and the token, as the command line names them.

use std::path::PathBuf;

use anyhow::Result;
use canju_cluster::{Credentials, Network};
use clap::Args;

/// How this process shows who it is, and whom it trusts.
#[derive(Args, Clone)]
pub struct Trust {
    /// The certificate that this process shows, in PEM: encrypts all connections
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    pub tls_cert: Option<PathBuf>,
    /// The private key of --tls-cert, in PEM
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    pub tls_key: Option<PathBuf>,
    /// The authority whose certificates are trusted, in PEM; who listens asks clients for one [default: the system's, for servers only]
    #[arg(long, value_name = "FILE")]
    pub tls_ca: Option<PathBuf>,
    /// The file with the cluster's token, of at least 16 characters [default: what CANJU_TOKEN holds]
    #[arg(long, value_name = "FILE")]
    pub token_file: Option<PathBuf>,
}

impl Trust {
    /// The network with this security.
    ///
    /// # Errors
    /// For certificates and tokens that cannot be used, with the file.
    pub fn network(&self) -> Result<Network> {
        let Self { tls_cert, tls_key, tls_ca, token_file } = self.clone();
        let credentials = Credentials { certificate: tls_cert, key: tls_key, authority: tls_ca, token_file };
        Ok(Network::default().secured(credentials.load()?))
    }
}
