//! The word that the members of a cluster share, as clients send it and servers ask for it.

use std::fmt;
use std::sync::Arc;

use tonic::metadata::Ascii;
use tonic::metadata::MetadataValue;
use tonic::service::Interceptor;
use tonic::service::interceptor::InterceptedService;
use tonic::transport::server::TlsConnectInfo;
use tonic::{Request, Status};

use crate::ClusterError;
use crate::listen::Visitor;

/// The shortest token: one that could be guessed is none.
const SHORTEST: usize = 16;
/// The longest one: it must fit into the headers of a request.
const LONGEST: usize = 1024;
/// The name of the header, as HTTP has it.
const HEADER: &str = "authorization";

/// A token. It is compared by its hash, in a time that does not depend on where two differ, and is never printed.
#[derive(Clone)]
pub struct Token {
    header: MetadataValue<Ascii>,
    hash: blake3::Hash,
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token")
    }
}

impl Token {
    /// A token of 16 to 1024 visible characters. Space around it does not count.
    ///
    /// # Errors
    /// [`ClusterError::Refused`] for another; the text names `place`, where it came from.
    pub fn new(text: &str, place: &str) -> Result<Self, ClusterError> {
        let text = text.trim();
        let refuse = |what: String| {
            let remedy = "make one with `openssl rand -hex 32`";
            Err(ClusterError::Refused(format!("the token in {place} {what}: {remedy}")))
        };
        if text.len() < SHORTEST {
            return refuse(format!("has {} characters, fewer than {SHORTEST}", text.len()));
        }
        if text.len() > LONGEST {
            return refuse(format!("has {} characters, more than {LONGEST}", text.len()));
        }
        let header = format!("Bearer {text}");
        match header.parse::<MetadataValue<Ascii>>() {
            Ok(mut value) if text.bytes().all(|b| b.is_ascii_graphic()) => {
                value.set_sensitive(true);
                Ok(Self { header: value, hash: blake3::hash(header.as_bytes()) })
            }
            _ => refuse("has characters that are not visible ASCII".into()),
        }
    }

    /// The hash of `Bearer TOKEN`.
    pub(crate) const fn hash(&self) -> blake3::Hash {
        self.hash
    }
}

/// Puts the token into what a client sends.
#[derive(Clone, Debug, Default)]
pub struct Badge(pub(crate) Option<Token>);

impl Interceptor for Badge {
    fn call(&mut self, mut request: Request<()>) -> Result<Request<()>, Status> {
        if let Some(token) = &self.0 {
            request.metadata_mut().insert(HEADER, token.header.clone());
        }
        Ok(request)
    }
}

/// Lets nobody in without the token, where there is one.
#[derive(Clone, Debug, Default)]
pub struct Guard(Option<Arc<Token>>);

/// A service behind a guard.
pub type Guarded<S> = InterceptedService<S, Guard>;

impl Guard {
    pub(crate) fn new(token: Option<Token>) -> Self {
        Self(token.map(Arc::new))
    }
}

impl Interceptor for Guard {
    fn call(&mut self, request: Request<()>) -> Result<Request<()>, Status> {
        if let Some(token) = &self.0 {
            let given = request.metadata().get(HEADER);
            let Some(given) = given else {
                return Err(Status::unauthenticated("this cluster has a token: give it with --token-file"));
            };
            // Hashes are compared in constant time.
            if blake3::hash(given.as_bytes()) != token.hash {
                return Err(Status::unauthenticated(
                    "the token is not this cluster's: give the right one with --token-file",
                ));
            }
        }
        if let Some(visitor) = visitor(&request) {
            visitor.welcome();
        }
        Ok(request)
    }
}

/// Whose connection a request came by.
fn visitor(request: &Request<()>) -> Option<&Visitor> {
    let extensions = request.extensions();
    extensions.get::<Visitor>().or_else(|| extensions.get::<TlsConnectInfo<Visitor>>().map(TlsConnectInfo::get_ref))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_have_a_shape() {
        for bad in
            ["", "short", "fifteen-letters", "sixteen letters and more", "sixteen-letters-ä", "sixteen-lett\ners-and"]
        {
            let error = Token::new(bad, "the file t").unwrap_err().line();
            assert!(error.contains("the file t") && error.contains("openssl rand"), "{error}");
        }
        Token::new(&"x".repeat(LONGEST + 1), "f").unwrap_err();
        let token = Token::new(" sixteen-letters+ \n", "f").unwrap();
        assert_eq!(format!("{token:?} {:?}", token.header), "Token Sensitive");
    }

    #[test]
    fn a_guard_tells_tokens_apart() {
        let token = |text: &str| Token::new(text, "f").unwrap();
        let mut guard = Guard::new(Some(token("sixteen-letters-1")));
        let with = |t: Option<&str>| Badge(t.map(token)).call(Request::new(())).unwrap();
        assert!(guard.call(with(Some("sixteen-letters-1"))).is_ok());
        for other in [None, Some("sixteen-letters-2"), Some("sixteen-letters-11"), Some("Sixteen-letters-1")] {
            assert_eq!(guard.call(with(other)).unwrap_err().code(), tonic::Code::Unauthenticated);
        }
        assert!(Guard::default().call(with(None)).is_ok());
    }
}
