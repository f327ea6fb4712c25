//! A bucket is a store like the others.

use std::sync::Arc;
use std::time::Duration;

use crate::fake_s3::{FakeS3, Fault};
use bytes::Bytes;
use canju_store::{Key, S3Store, Store, StoreError, StoreOptions, conformance, open};

fn key(text: &str) -> Key {
    Key::new(text).unwrap()
}

/// A store without retries.
async fn bare(server: &FakeS3) -> S3Store {
    S3Store::new("xq", "some/prefix", &server.options()).await.unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_bucket_conforms() {
    let server = FakeS3::start().await;
    let options = StoreOptions { writable: true, ..server.options() };
    let store = open(&"s3://xq/some/prefix".parse().unwrap(), &options).await.unwrap();
    assert!(server.names().is_empty(), "what opening tries out is removed");
    conformance::check(store).await.unwrap();
    assert!(server.names().iter().all(|n| n.starts_with("some/prefix/")));
}

/// The same with everything in parts, and with lists in pages.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_bucket_conforms_in_pieces() {
    let server = FakeS3::start().await;
    server.page(2);
    let options = StoreOptions { writable: true, parts_above: 40_000, ..server.options() };
    let store = open(&"s3://xq".parse().unwrap(), &options).await.unwrap();
    conformance::check(store).await.unwrap();
    assert!(server.asked().iter().any(|a| a.contains("partNumber=3")), "objects go up in parts");
    assert_eq!(server.uploads(), 0, "uploads that lose are aborted");
}

#[tokio::test]
async fn parts_are_put_together_in_order_whatever_comes_first() {
    let server = FakeS3::start().await;
    let options = StoreOptions { parts_above: 1000, ..server.options() };
    let store = S3Store::new("xq", "", &options).await.unwrap();
    let bytes: Bytes = (0..20_500u32).map(|i| (i / 97) as u8).collect();
    // The first part comes late: it is answered with an error once.
    server.fail("PUT", "partNumber=1&", Fault::Answer(503, "SlowDown"), 1);
    let etag = store.put(&key("large"), bytes.clone()).await.unwrap();
    let object = store.get(&key("large")).await.unwrap();
    assert!(object.bytes == bytes && object.etag == etag);
    assert_eq!(server.asked().iter().filter(|a| a.contains("partNumber=")).count(), 22);
}

#[tokio::test]
async fn an_upload_that_fails_or_is_given_up_leaves_nothing() {
    let server = FakeS3::start().await;
    let options = StoreOptions { parts_above: 1000, ..server.options() };
    let store = S3Store::new("xq", "", &options).await.unwrap();
    let bytes = Bytes::from(vec![7; 5000]);
    server.fail("PUT", "partNumber=3", Fault::Answer(403, "AccessDenied"), 1);
    assert!(matches!(store.put(&key("large"), bytes.clone()).await, Err(StoreError::Denied { .. })));
    assert_eq!((server.uploads(), server.names().len()), (0, 0));
    server.fail("PUT", "partNumber=3", Fault::Hang, 1);
    let given_up = tokio::time::timeout(Duration::from_millis(500), store.put(&key("large"), bytes)).await;
    assert!(given_up.is_err());
    for _ in 0..500 {
        tokio::time::sleep(Duration::from_millis(10)).await;
        if server.uploads() == 0 {
            break;
        }
    }
    assert_eq!((server.uploads(), server.names().len()), (0, 0));
}

#[tokio::test]
async fn conditions_go_with_the_last_request_of_an_upload() {
    let server = FakeS3::start().await;
    let options = StoreOptions { parts_above: 10, ..server.options() };
    let store = S3Store::new("xq", "", &options).await.unwrap();
    let first = store.put_if_absent(&key("a"), vec![1; 100].into()).await.unwrap();
    let again = store.put_if_absent(&key("a"), vec![2; 100].into()).await;
    assert!(matches!(again, Err(StoreError::AlreadyExists { .. })), "{again:?}");
    store.put_if_match(&key("a"), vec![3; 100].into(), &first).await.unwrap();
    let late = store.put_if_match(&key("a"), vec![4; 100].into(), &first).await;
    assert!(matches!(late, Err(StoreError::Changed { .. })), "{late:?}");
    assert_eq!(store.get(&key("a")).await.unwrap().bytes, vec![3; 100]);
    assert_eq!(server.uploads(), 0);
}

#[tokio::test]
async fn half_an_answer_is_never_an_object() {
    let server = FakeS3::start().await;
    let store = bare(&server).await;
    store.put(&key("a"), vec![1; 100_000].into()).await.unwrap();
    server.fail("GET", "/a", Fault::HalfBody, 2);
    for failed in [store.get(&key("a")).await.map(|o| o.bytes), store.get_range(&key("a"), 10..90_000).await] {
        assert!(failed.as_ref().is_err_and(StoreError::is_transient), "{failed:?}");
    }
    assert_eq!(store.get(&key("a")).await.unwrap().bytes.len(), 100_000);
}

#[tokio::test]
async fn a_server_that_knows_no_ranges_gives_the_right_bytes() {
    let server = FakeS3::start().await;
    let store = bare(&server).await;
    store.put(&key("a"), "0123456789".into()).await.unwrap();
    server.fail("GET", "/a", Fault::NoRanges, 2);
    assert_eq!(&store.get_range(&key("a"), 2..5).await.unwrap()[..], b"234");
    let beyond = store.get_range(&key("a"), 8..11).await;
    assert!(matches!(beyond, Err(StoreError::OutOfRange { len: 10, .. })), "{beyond:?}");
}

#[tokio::test]
async fn what_others_keep_in_the_bucket_is_not_listed() {
    let server = FakeS3::start().await;
    let (inner, outer) = (bare(&server).await, S3Store::new("xq", "some", &server.options()).await.unwrap());
    inner.put(&key("a"), "a".into()).await.unwrap();
    outer.put(&key("prefixed"), "b".into()).await.unwrap();
    let keys: Vec<_> = inner.list("").await.unwrap().into_iter().map(|o| o.key.to_string()).collect();
    assert_eq!(keys, ["a"]);
    let keys: Vec<_> = outer.list("").await.unwrap().into_iter().map(|o| o.key.to_string()).collect();
    assert_eq!(keys, ["prefix/a", "prefixed"]);
}

/// Given by CI, where a real server runs: `CANJU_TEST_S3=s3://bucket/prefix`, and what AWS tools need beside it.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
#[ignore = "needs an S3 server: CANJU_TEST_S3=s3://bucket/prefix with AWS_ENDPOINT_URL and credentials"]
async fn a_real_server_conforms() {
    let place = std::env::var("CANJU_TEST_S3").unwrap();
    // 5 MiB is the smallest part that servers take.
    let options = StoreOptions { writable: true, parts_above: 5 << 20, ..StoreOptions::default() };
    // Every run in a place of its own: the suite needs an empty one.
    let place = format!("{}/run-{:016x}", place.trim_end_matches('/'), fastrand::u64(..));
    let store = open(&place.parse().unwrap(), &options).await.unwrap();
    conformance::check(Arc::clone(&store)).await.unwrap();
    let large: Bytes = (0..11u32 << 20).map(|i| (i >> 12) as u8).collect();
    let etag = store.put_if_absent(&key("large"), large.clone()).await.unwrap();
    let again = store.put_if_absent(&key("large"), large.slice(1..)).await;
    assert!(matches!(again, Err(StoreError::AlreadyExists { .. })), "{again:?}");
    let object = store.get(&key("large")).await.unwrap();
    assert!(object.bytes == large && object.etag == etag);
    assert_eq!(store.get_range(&key("large"), 6_000_000..6_000_100).await.unwrap(), large[6_000_000..6_000_100]);
    for object in store.list("").await.unwrap() {
        store.delete(&object.key).await.unwrap();
    }
}
