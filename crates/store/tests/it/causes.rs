//! What goes wrong with a bucket is told by its cause, with a remedy; what will not heal by itself is not tried again.

use std::error::Error;
use std::net::TcpListener;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use crate::fake_s3::{FakeS3, Fault, KEY_ID, SECRET};
use canju_store::{AccessKeys, Key, Location, Store, StoreError, StoreOptions, open};

/// All that is told of an error, and that no credentials are in it.
fn told(error: &StoreError) -> String {
    let text = format!("{error} ({})", error.source().map(ToString::to_string).unwrap_or_default());
    for printed in [text.clone(), format!("{error:?}")] {
        assert!(!printed.contains(KEY_ID) && !printed.contains(SECRET), "{printed}");
    }
    text
}

fn bucket() -> Location {
    "s3://xq/p".parse().unwrap()
}

async fn refused(options: &StoreOptions) -> StoreError {
    open(&bucket(), options).await.unwrap_err()
}

#[tokio::test]
async fn refusals_have_a_cause_and_a_remedy_and_are_final() {
    let server = FakeS3::start().await;
    let store = open(&bucket(), &server.options()).await.unwrap();
    for (status, code, remedy) in [
        (403, "InvalidAccessKeyId", "AWS_ACCESS_KEY_ID"),
        (403, "SignatureDoesNotMatch", "AWS_SECRET_ACCESS_KEY"),
        (400, "ExpiredToken", "get new credentials"),
        (403, "AccessDenied", "s3:GetObject"),
        (404, "NoSuchBucket", "create it"),
        (403, "RequestTimeTooSkewed", "set the clock"),
        (301, "PermanentRedirect", "--s3-region"),
        (400, "AuthorizationHeaderMalformed", "--s3-region"),
        (501, "NotImplemented", "use an S3 server that can"),
        (400, "SomethingNew", "check that the endpoint"),
    ] {
        server.asked();
        server.fail("GET", "/xq/", Fault::Answer(status, code), 1);
        let error = store.get(&Key::new("a").unwrap()).await.unwrap_err();
        assert!(matches!(error, StoreError::Denied { .. }), "{code}: {error:?}");
        let text = told(&error);
        assert!(text.contains(remedy) && text.contains(code), "{text}");
        assert_eq!(server.asked().len(), 1, "{code} is not tried again");
        server.fail("GET", "list-type", Fault::Answer(status, code), 1);
        assert!(told(&refused(&server.options()).await).contains(remedy), "{code} at opening");
    }
    server.fail("GET", "/xq/", Fault::Answer(301, "PermanentRedirect"), 1);
    let error = store.get(&Key::new("a").unwrap()).await.unwrap_err();
    assert!(told(&error).contains("the bucket is in mars-1"), "{error:?}");
    server.fail("PUT", "/xq/", Fault::Answer(403, "QuotaExceeded"), 1);
    let error = store.put(&Key::new("a").unwrap(), "a".into()).await.unwrap_err();
    assert!(matches!(error, StoreError::Full { .. }) && told(&error).contains("free some space"), "{error:?}");
}

#[tokio::test]
async fn wrong_keys_and_a_wrong_bucket_are_told_at_opening() {
    let server = FakeS3::start().await;
    let keys = AccessKeys { id: "NOTKNOWN".into(), secret: SECRET.into() };
    assert!(!format!("{keys:?}").contains("NOTKNOWN"));
    let error = refused(&StoreOptions { keys: Some(keys), ..server.options() }).await;
    assert!(told(&error).contains("AWS_ACCESS_KEY_ID"), "{error:?}");
    let error = open(&"s3://other".parse().unwrap(), &server.options()).await.unwrap_err();
    assert!(told(&error).contains("there is no such bucket") && error.to_string().contains("s3://other"), "{error:?}");
}

#[tokio::test]
async fn who_cannot_be_reached_is_told_by_where_the_way_ends() {
    // Nobody listens on a port that was just given back.
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let keys = Some(AccessKeys { id: KEY_ID.into(), secret: SECRET.into() });
    let at = |endpoint: String| StoreOptions {
        endpoint: Some(endpoint),
        keys: keys.clone(),
        patience: Duration::ZERO,
        ..StoreOptions::default()
    };
    for (endpoint, remedy) in [
        (format!("http://{free}"), "check that the server runs"),
        ("http://nowhere.invalid".to_owned(), "check the host's name"),
    ] {
        let error = refused(&at(endpoint)).await;
        assert!(matches!(error, StoreError::Unreachable { .. }), "{error:?}");
        assert!(told(&error).contains(remedy), "{error:?}");
    }
    // A server that speaks no TLS.
    let server = FakeS3::start().await;
    let endpoint = server.options().endpoint.unwrap().replace("http://", "https://");
    let error = refused(&StoreOptions { patience: Duration::from_secs(600), ..at(endpoint) }).await;
    assert!(matches!(error, StoreError::Denied { .. }), "{error:?}");
    assert!(told(&error).contains("give http:// instead of https://"), "{error:?}");
}

#[tokio::test]
async fn an_endpoint_that_is_none_is_told_without_its_secrets() {
    let server = FakeS3::start().await;
    for endpoint in ["127.0.0.1:9000", "ftp://host", "http://me:hush-hush-hush@host", "nonsense"] {
        let error = refused(&StoreOptions { endpoint: Some(endpoint.into()), ..server.options() }).await;
        assert!(told(&error).contains("--s3-endpoint"), "{error:?}");
    }
}

#[tokio::test]
async fn a_store_that_honours_no_conditions_is_refused_for_writing() {
    for (at, method, times) in [("opening/", "PUT", u64::MAX), ("opening/", "PUT", 2)] {
        let server = FakeS3::start().await;
        server.fail(method, at, Fault::NoConditions, times);
        let error = refused(&StoreOptions { writable: true, ..server.options() }).await;
        let text = told(&error);
        assert!(text.contains("conditional writes") && text.contains("leases need them"), "{text}");
        assert!(server.names().is_empty(), "the scratch key is removed");
        server.heal();
        open(&bucket(), &StoreOptions { writable: true, ..server.options() }).await.unwrap();
    }
    // Who only reads needs no conditions, and writes nothing.
    let server = FakeS3::start().await;
    server.fail("PUT", "", Fault::NoConditions, u64::MAX);
    open(&bucket(), &server.options()).await.unwrap();
    assert!(server.asked().iter().all(|a| a.starts_with("GET")));
}

#[tokio::test]
async fn a_condition_that_is_honoured_once_only_is_found_out() {
    // The first write of the trial is honest, the one that must fail too, and the one after it is not.
    let server = FakeS3::start().await;
    let store: Arc<dyn Store> = open(&bucket(), &server.options()).await.unwrap();
    drop(store);
    server.fail_after("PUT", "opening/", 2, Fault::NoConditions, 1);
    let error = refused(&StoreOptions { writable: true, ..server.options() }).await;
    assert!(told(&error).contains("only if absent"), "{error:?}");
    let server = FakeS3::start().await;
    server.fail_after("PUT", "opening/", 5, Fault::NoConditions, 1);
    let error = refused(&StoreOptions { writable: true, ..server.options() }).await;
    assert!(told(&error).contains("not the one to be replaced"), "{error:?}");
}

#[test]
fn no_credentials_at_all() {
    let child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "causes::child_has_no_credentials", "--ignored", "--nocapture"])
        .env_clear()
        .env("AWS_EC2_METADATA_DISABLED", "true")
        .output()
        .unwrap();
    assert!(child.status.success(), "{}", String::from_utf8_lossy(&child.stdout));
}

#[tokio::test]
#[ignore = "run by no_credentials_at_all"]
async fn child_has_no_credentials() {
    let options = StoreOptions { endpoint: Some("http://127.0.0.1:1".into()), ..StoreOptions::default() };
    let error = refused(&options).await;
    assert!(told(&error).contains("no credentials were found; set AWS_ACCESS_KEY_ID"), "{error:?}");
    let keys = Some(AccessKeys { id: KEY_ID.into(), secret: SECRET.into() });
    let error = refused(&StoreOptions { endpoint: None, keys, ..options }).await;
    assert!(told(&error).contains("--s3-region or AWS_REGION"), "{error:?}");
}
