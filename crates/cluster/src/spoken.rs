//! What a server speaks that turns out not to be who was meant.

use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tonic::transport::Uri;

use crate::{ClusterError, Network};

/// How long a server may take to show what it speaks.
const PATIENCE: Duration = Duration::from_secs(2);
/// What every server has an answer to, if only that it does not understand.
const QUESTION: &[u8] = b"GET / HTTP/1.1\r\nhost: canju\r\nconnection: close\r\n\r\n";

/// What a server speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Spoken {
    /// HTTP for browsers.
    Web,
    /// TLS.
    Encrypted,
    /// HTTP/2, in which gRPC is spoken.
    Plain,
}

impl Spoken {
    /// By the first bytes of an answer: a status line, a record of TLS that is an alert, or a frame of HTTP/2 by which its
    /// servers begin.
    fn of(answer: &[u8]) -> Option<Self> {
        match answer {
            [b'H', b'T', b'T', b'P', b'/', b'1', ..] => Some(Self::Web),
            [21 | 22, 3, ..] => Some(Self::Encrypted),
            [0, _, _, 4 | 7, ..] => Some(Self::Plain),
            _ => None,
        }
    }
}

impl Network {
    /// The error of a server that cannot be reached, by what is found where it should be.
    pub(crate) async fn explain(&self, error: ClusterError) -> ClusterError {
        let ClusterError::Unreachable { what, ref address, .. } = error else { return error };
        let Ok(uri) = address.parse::<Uri>() else { return error };
        let encrypted = uri.scheme_str() == Some("https");
        let hint = match self.spoken(&uri).await {
            Some(Spoken::Web) => {
                "a web server answers there: give the port that was --listen (7420 unless told otherwise), not that of --http"
            }
            Some(Spoken::Encrypted) if !encrypted => {
                "it encrypts: write https://HOST:PORT, and give --tls-ca where its authority is not the system's"
            }
            Some(Spoken::Plain) if encrypted => "it does not encrypt: write http://HOST:PORT, and leave out --tls-*",
            _ => return error,
        };
        // It says all that the broken connection says, and better.
        ClusterError::Unreachable { what, address: address.clone(), hint: hint.to_owned(), source: hint.into() }
    }

    /// What is spoken at an address; `None` where nothing that is known comes in time.
    pub(crate) async fn spoken(&self, uri: &Uri) -> Option<Spoken> {
        tokio::time::timeout(PATIENCE, self.ask(uri)).await.ok().flatten()
    }

    async fn ask(&self, uri: &Uri) -> Option<Spoken> {
        let mut connection = self.open(uri).await.ok()?;
        connection.write_all(QUESTION).await.ok()?;
        let mut answer = Vec::new();
        let mut buffer = [0; 64];
        loop {
            match connection.read(&mut buffer).await {
                Ok(0) | Err(_) => return Spoken::of(&answer),
                Ok(read) => answer.extend_from_slice(&buffer[..read]),
            }
            if answer.len() >= 9 {
                return Spoken::of(&answer);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn protocols_are_known_by_their_first_bytes() {
        assert_eq!(Spoken::of(b"HTTP/1.1 404 Not Found"), Some(Spoken::Web));
        assert_eq!(Spoken::of(&[21, 3, 3, 0, 2, 2, 50]), Some(Spoken::Encrypted));
        assert_eq!(Spoken::of(&[0, 0, 36, 4, 0, 0, 0, 0, 0]), Some(Spoken::Plain));
        for other in [&b""[..], b"SSH-2.0", &[0, 0]] {
            assert_eq!(Spoken::of(other), None);
        }
    }
}
