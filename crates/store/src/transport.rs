//! What went wrong on the way to a server, told apart by its cause.

use std::error::Error;
use std::io;

use crate::StoreError;

/// Sorts what a client said that got no answer, or only half of one, from the server.
pub(crate) fn sort(error: &(dyn Error + 'static), timed_out: bool, what: String, place: String) -> StoreError {
    let told = chain(error);
    let source = io::Error::other(told.clone());
    if let Some(remedy) = tls(error) {
        return StoreError::Denied { what, place, remedy, source: Some(source) };
    }
    let lower = told.to_ascii_lowercase();
    let remedy = if lower.contains("dns error") || lower.contains("failed to lookup") {
        "its name is not known here; check the host's name and the name server"
    } else if has_kind(error, io::ErrorKind::ConnectionRefused) {
        "nothing listens there; check that the server runs, its address and its port"
    } else if has_kind(error, io::ErrorKind::HostUnreachable) || has_kind(error, io::ErrorKind::NetworkUnreachable) {
        "there is no way to it from here; check the network and the address"
    } else if timed_out || has_kind(error, io::ErrorKind::TimedOut) {
        "it does not answer in time; check the address, the network and firewalls"
    } else {
        return StoreError::Unavailable { what, place, source };
    };
    StoreError::Unreachable { what, place, remedy, source }
}

/// An error and its causes in one line, each said once.
pub(crate) fn chain(error: &(dyn Error + 'static)) -> String {
    let mut told = error.to_string();
    for cause in causes(error).skip(1).map(ToString::to_string) {
        if !told.contains(&cause) {
            told = format!("{told}: {cause}");
        }
    }
    told
}

fn causes<'a>(error: &'a (dyn Error + 'static)) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    std::iter::successors(Some(error), |&e| {
        // An io::Error around another hides it from its own source().
        let inner = e.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
        inner.map(|i| i as &(dyn Error + 'static)).or_else(move || e.source())
    })
}

fn has_kind(error: &(dyn Error + 'static), kind: io::ErrorKind) -> bool {
    causes(error).any(|e| e.downcast_ref::<io::Error>().is_some_and(|e| e.kind() == kind))
}

/// What to do about a failure of TLS that stays until somebody does something.
fn tls(error: &(dyn Error + 'static)) -> Option<&'static str> {
    let error = causes(error).find_map(|e| e.downcast_ref::<rustls::Error>())?;
    match error {
        rustls::Error::InvalidCertificate(_) => Some(
            "its certificate is not to be trusted; check the address and this machine's clock, or name the authority's certificates by SSL_CERT_FILE",
        ),
        rustls::Error::InvalidMessage(_) => {
            Some("it does not speak TLS on this port; check the port, or give http:// instead of https://")
        }
        rustls::Error::PeerIncompatible(_) | rustls::Error::NoApplicationProtocol => {
            Some("it speaks no TLS that is known here; have it speak TLS 1.2 or 1.3")
        }
        _ => None,
    }
}
