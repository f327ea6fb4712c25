//! Certificates and keys as files, with errors that name the file.

use std::path::{Path, PathBuf};

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, UnixTime};
use tonic::transport::{Certificate, Identity};
use webpki::{EndEntityCert, Error, KeyUsage};

use crate::ClusterError;

fn refuse<T>(text: String) -> Result<T, ClusterError> {
    Err(ClusterError::Refused(text))
}

/// A file's bytes, for the option that named it.
pub(crate) fn read(path: &Path, option: &str) -> Result<Vec<u8>, ClusterError> {
    std::fs::read(path).or_else(|e| refuse(format!("cannot read {}, given with {option}: {e}", path.display())))
}

/// The certificates of a PEM file, which must be in force.
fn certificates(path: &Path, option: &str) -> Result<(Vec<u8>, Vec<CertificateDer<'static>>), ClusterError> {
    let pem = read(path, option)?;
    let list: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&pem).collect();
    let file = path.display();
    let list = match list {
        Ok(list) if !list.is_empty() => list,
        Ok(_) => return refuse(format!("{file}, given with {option}, holds no certificate: give a PEM file")),
        Err(e) => return refuse(format!("{file}, given with {option}, is no PEM file: {e}")),
    };
    for certificate in &list {
        in_force(certificate, path, option)?;
    }
    Ok((pem, list))
}

/// Refuses what cannot be read as a certificate, and what has expired or has not begun.
fn in_force(certificate: &CertificateDer<'_>, path: &Path, option: &str) -> Result<(), ClusterError> {
    let file = path.display();
    let parsed = match EndEntityCert::try_from(certificate) {
        Ok(parsed) => parsed,
        Err(e) => return refuse(format!("{file}, given with {option}, holds a certificate that cannot be read: {e}")),
    };
    // The dates are looked at before anything else; nothing is trusted here, so that some other error always follows.
    let judged = parsed.verify_for_usage(&[], &[], &[], UnixTime::now(), KeyUsage::server_auth(), None, None);
    let day = |seconds: u64| seconds / 86400;
    match judged.err() {
        Some(Error::CertExpired { time, not_after }) => {
            let days = day(time.as_secs().saturating_sub(not_after.as_secs()));
            refuse(format!("the certificate in {file}, given with {option}, expired {days} days ago: make a new one"))
        }
        Some(Error::CertNotValidYet { time, not_before }) => {
            let days = day(not_before.as_secs().saturating_sub(time.as_secs()));
            let remedy = "look at this machine's clock";
            refuse(format!("the certificate in {file}, given with {option}, is valid only in {days} days: {remedy}"))
        }
        _ => Ok(()),
    }
}

/// The certificates whose holders are trusted.
pub(crate) fn authority(path: &Path) -> Result<Certificate, ClusterError> {
    let (pem, _) = certificates(path, "--tls-ca")?;
    Ok(Certificate::from_pem(pem))
}

/// What a process shows of itself: its certificate and the key to it.
pub(crate) fn identity(certificate: &Path, key: &Path) -> Result<Identity, ClusterError> {
    let (pem, chain) = certificates(certificate, "--tls-cert")?;
    let secret = read(key, "--tls-key")?;
    let (cert_file, key_file) = (certificate.display(), key.display());
    let parsed = match PrivateKeyDer::from_pem_slice(&secret) {
        Ok(parsed) => parsed,
        Err(e) => return refuse(format!("{key_file}, given with --tls-key, holds no private key in PEM: {e}")),
    };
    let signing = match rustls::crypto::ring::sign::any_supported_type(&parsed) {
        Ok(signing) => signing,
        Err(e) => return refuse(format!("the key in {key_file}, given with --tls-key, cannot be used: {e}")),
    };
    let pair = rustls::sign::CertifiedKey::new(chain, signing);
    if let Err(e) = pair.keys_match() {
        return refuse(format!(
            "the key in {key_file} (--tls-key) is not that of the certificate in {cert_file} (--tls-cert): {e}"
        ));
    }
    Ok(Identity::from_pem(pem, secret))
}

/// The two files of an identity, which go together.
pub(crate) fn pair(
    certificate: Option<PathBuf>,
    key: Option<PathBuf>,
) -> Result<Option<(PathBuf, PathBuf)>, ClusterError> {
    match (certificate, key) {
        (Some(certificate), Some(key)) => Ok(Some((certificate, key))),
        (None, None) => Ok(None),
        (Some(_), None) => refuse("--tls-cert needs --tls-key: give the certificate's private key".into()),
        (None, Some(_)) => refuse("--tls-key needs --tls-cert: give the key's certificate".into()),
    }
}
