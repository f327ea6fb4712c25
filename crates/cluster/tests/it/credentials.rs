//! Certificates, keys and tokens that cannot be used are refused by name.

use std::net::SocketAddr;

use crate::pki::{Authority, TOKEN, network};
use canju_cluster::{ClusterError, Credentials, Network, Security, Token};

type Change<'a> = &'a dyn Fn(&mut Credentials);

fn refusal(credentials: Credentials) -> String {
    match credentials.load() {
        Err(ClusterError::Refused(text)) => text,
        other => panic!("{other:?}"),
    }
}

#[test]
fn files_that_cannot_be_used_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let authority = Authority::new(folder.path(), "own");
    for name in ["a", "b"] {
        authority.sign(name, |_| {});
    }
    authority.sign_expired("old");
    authority.sign("new", |params| params.not_before = rcgen::date_time_ymd(2200, 1, 1));
    std::fs::write(authority.file("junk"), "junk").unwrap();
    let good = || authority.credentials("a", Some(TOKEN));
    good().load().unwrap();
    let with = |change: Change| {
        let mut credentials = good();
        change(&mut credentials);
        refusal(credentials)
    };
    let file = |name: &str| Some(authority.file(name));
    let cases: [(Change, &[&str]); 12] = [
        (&|c| c.certificate = file("none.pem"), &["none.pem", "--tls-cert", "cannot read"]),
        (&|c| c.key = file("none.key"), &["none.key", "--tls-key", "cannot read"]),
        (&|c| c.authority = file("none.ca"), &["none.ca", "--tls-ca", "cannot read"]),
        (&|c| c.token_file = file("none.token"), &["none.token", "--token-file", "cannot read"]),
        (&|c| c.certificate = file("junk"), &["junk", "--tls-cert", "no certificate"]),
        (&|c| c.authority = file("junk"), &["junk", "--tls-ca", "no certificate"]),
        (&|c| c.key = file("junk"), &["junk", "--tls-key", "no private key"]),
        (&|c| c.token_file = file("junk"), &["junk", "16", "openssl rand"]),
        (&|c| c.key = file("b.key"), &["b.key", "a.pem", "is not that of"]),
        (&|c| (c.certificate, c.key) = (file("old.pem"), file("old.key")), &["old.pem", "expired", "days ago"]),
        (&|c| (c.certificate, c.key) = (file("new.pem"), file("new.key")), &["new.pem", "valid only in", "clock"]),
        (&|c| c.key = None, &["--tls-cert needs --tls-key"]),
    ];
    for (change, words) in cases {
        let text = with(change);
        assert!(words.iter().all(|word| text.contains(word)) && !text.contains('\n'), "{words:?}: {text}");
    }
}

#[tokio::test]
async fn strangers_reach_only_servers_that_ask() {
    let folder = tempfile::tempdir().unwrap();
    let authority = Authority::new(folder.path(), "own");
    authority.sign("a", |_| {});
    let everywhere: SocketAddr = ([0, 0, 0, 0], 0).into();
    let certificate = |authority_too: bool, token: bool| {
        let mut credentials = authority.credentials("a", token.then_some(TOKEN));
        if !authority_too {
            credentials.authority = None;
        }
        network(credentials)
    };
    let of_token = Network::default().secured(Security::of_token(Token::new(TOKEN, "here").unwrap()));
    for (network, missing) in [
        (Network::default(), Some("neither encrypted nor authenticated")),
        (of_token, None),
        (certificate(false, false), Some("not authenticated")),
        (certificate(true, false), None),
        (certificate(false, true), None),
        (certificate(true, true), None),
    ] {
        match (network.listen(everywhere, false).await, missing) {
            (Ok(_), None) => {}
            (Err(error), Some(words)) => {
                let line = error.line();
                assert!(line.contains(words) && line.contains("--insecure-network"), "{line}");
            }
            (got, _) => panic!("{missing:?}: {:?}", got.map(|l| l.address())),
        }
        network.listen(everywhere, true).await.unwrap();
        network.listen(([127, 0, 0, 1], 0).into(), false).await.unwrap();
    }
}
