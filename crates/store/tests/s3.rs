//! A bucket is a store like the others, and what goes wrong with it is borne with or told by its cause.

#![allow(clippy::unwrap_used, reason = "a test may stop")]

mod fake_s3;

use std::sync::Arc;

use canju_store::{Store, StoreOptions, conformance, open};
use fake_s3::FakeS3;

async fn opened(server: &FakeS3, writable: bool) -> Arc<dyn Store> {
    let options = StoreOptions { writable, ..server.options() };
    open(&"s3://xq/some/prefix".parse().unwrap(), &options).await.unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_bucket_conforms() {
    let server = FakeS3::start().await;
    let store = opened(&server, true).await;
    assert!(server.names().is_empty(), "what opening tries out is removed");
    conformance::check(store).await.unwrap();
    assert!(server.names().iter().all(|n| n.starts_with("some/prefix/")));
}
