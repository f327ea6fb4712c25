//! Who may speak with whom: certificates for the connections, and a token for what is asked over them.

use std::path::PathBuf;

use tonic::transport::{Certificate, ClientTlsConfig, Identity, ServerTlsConfig};

use crate::token::{Badge, Guard};
use crate::{ClusterError, Token, certificate};

/// The environment variable that may hold the token.
const TOKEN_VARIABLE: &str = "CANJU_TOKEN";

/// What a user gives of certificates and tokens; nothing for no security.
#[derive(Clone, Debug, Default)]
pub struct Credentials {
    /// The PEM file of this process's certificate, with those that lead to its authority.
    pub certificate: Option<PathBuf>,
    /// The PEM file of the certificate's private key.
    pub key: Option<PathBuf>,
    /// The PEM file of the authorities whose certificates are trusted: servers' by clients, clients' by servers.
    pub authority: Option<PathBuf>,
    /// The file of the token.
    pub token_file: Option<PathBuf>,
}

impl Credentials {
    /// Reads all of it. Where no file of a token is given, it is taken from the environment, if it is there.
    ///
    /// # Errors
    /// [`ClusterError::Refused`], with the name of the file, for what cannot be read or used.
    pub fn load(self) -> Result<Security, ClusterError> {
        let identity = certificate::pair(self.certificate, self.key)?
            .map(|(certificate, key)| certificate::identity(&certificate, &key))
            .transpose()?;
        let authority = self.authority.as_deref().map(certificate::authority).transpose()?;
        let token = match (&self.token_file, std::env::var_os(TOKEN_VARIABLE)) {
            (Some(file), _) => {
                let bytes = certificate::read(file, "--token-file")?;
                Some(Token::new(&String::from_utf8_lossy(&bytes), &file.display().to_string())?)
            }
            (None, Some(text)) => Some(Token::new(&text.to_string_lossy(), TOKEN_VARIABLE)?),
            (None, None) => None,
        };
        Ok(Security { identity, authority, token })
    }
}

/// How connections are secured and who is let in. The default is not at all, and everybody.
#[derive(Clone, Debug, Default)]
pub struct Security {
    identity: Option<Identity>,
    authority: Option<Certificate>,
    token: Option<Token>,
}

impl Security {
    /// Security by a token alone.
    #[must_use]
    pub fn of_token(token: Token) -> Self {
        Self { token: Some(token), ..Self::default() }
    }

    /// The same without the token.
    pub(crate) fn without_token(&self) -> Self {
        Self { token: None, ..self.clone() }
    }

    /// True when servers encrypt.
    #[must_use]
    pub const fn serves_tls(&self) -> bool {
        self.identity.is_some()
    }

    /// True when this process was told whose certificates it is to trust.
    #[must_use]
    pub const fn has_authority(&self) -> bool {
        self.authority.is_some()
    }

    /// True when this process was given anything of certificates: then it speaks with nobody in plain text.
    #[must_use]
    pub const fn wants_tls(&self) -> bool {
        self.identity.is_some() || self.authority.is_some()
    }

    /// The hash of the header that shows the token.
    pub(crate) fn token_hash(&self) -> Option<blake3::Hash> {
        self.token.as_ref().map(Token::hash)
    }

    /// What is missing for a server that strangers can reach, and whether it must not be missing.
    pub(crate) const fn missing(&self) -> Option<(&'static str, bool)> {
        match (&self.identity, &self.authority, &self.token) {
            (None, _, None) => Some(("connections are neither encrypted nor authenticated", true)),
            (None, _, Some(_)) => Some(("connections are not encrypted: the token can be read on the way", false)),
            (Some(_), None, None) => Some(("connections are not authenticated", true)),
            _ => None,
        }
    }

    /// How a server encrypts.
    pub(crate) fn server(&self) -> Option<ServerTlsConfig> {
        let config = ServerTlsConfig::new().identity(self.identity.clone()?);
        Some(match &self.authority {
            Some(authority) => config.client_ca_root(authority.clone()),
            None => config,
        })
    }

    /// How a client knows servers.
    pub(crate) fn client(&self) -> ClientTlsConfig {
        let config = match &self.authority {
            Some(authority) => ClientTlsConfig::new().ca_certificate(authority.clone()),
            None => ClientTlsConfig::new().with_native_roots(),
        };
        match &self.identity {
            Some(identity) => config.identity(identity.clone()),
            None => config,
        }
    }

    /// What clients send with every request.
    pub(crate) fn badge(&self) -> Badge {
        Badge(self.token.clone())
    }

    /// What stands before every service.
    pub(crate) fn guard(&self) -> Guard {
        Guard::new(self.token.clone())
    }
}
