//! Authorities and certificates, for tests.

use std::path::{Path, PathBuf};

use canju_cluster::{Credentials, Network, Security};
use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair, date_time_ymd};

/// The token of the clusters in tests.
pub const TOKEN: &str = "a-token-for-tests-only";

/// An authority, and a folder for what it signs.
pub struct Authority {
    issuer: Issuer<'static, KeyPair>,
    folder: PathBuf,
}

impl Authority {
    /// An authority whose certificate is in `ca.pem` of a new folder.
    pub fn new(parent: &Path, name: &str) -> Self {
        let folder = parent.join(name);
        std::fs::create_dir(&folder).unwrap();
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.distinguished_name.push(DnType::CommonName, name);
        std::fs::write(folder.join("ca.pem"), params.self_signed(&key).unwrap().pem()).unwrap();
        Self { issuer: Issuer::new(params, key), folder }
    }

    pub fn file(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Writes `NAME.pem` and `NAME.key`.
    pub fn sign(&self, name: &str, change: impl FnOnce(&mut CertificateParams)) {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(vec!["localhost".into(), "127.0.0.1".into()]).unwrap();
        params.distinguished_name.push(DnType::CommonName, name);
        change(&mut params);
        let certificate = params.signed_by(&key, &self.issuer).unwrap();
        std::fs::write(self.file(&format!("{name}.pem")), certificate.pem()).unwrap();
        std::fs::write(self.file(&format!("{name}.key")), key.serialize_pem()).unwrap();
    }

    /// Signs what was over long ago.
    pub fn sign_expired(&self, name: &str) {
        self.sign(name, |params| {
            params.not_before = date_time_ymd(2019, 1, 1);
            params.not_after = date_time_ymd(2020, 1, 1);
        });
    }

    /// A certificate of this authority, trust in it, and a token.
    pub fn credentials(&self, name: &str, token: Option<&str>) -> Credentials {
        let file = token.map(|token| {
            let file = self.file(&format!("{token}.token"));
            std::fs::write(&file, format!("{token}\n")).unwrap();
            file
        });
        Credentials {
            certificate: Some(self.file(&format!("{name}.pem"))),
            key: Some(self.file(&format!("{name}.key"))),
            authority: Some(self.file("ca.pem")),
            token_file: file,
        }
    }
}

pub fn network(credentials: Credentials) -> Network {
    let security: Security = credentials.load().unwrap();
    Network::default().secured(security)
}
