//! Coordinators that end in the middle of whatever they do, and one that takes the lease from another.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use canju_cluster::{Client, Coordinator, CoordinatorSettings, Folders};
use canju_store::{Key, Store};
use tokio::runtime::Runtime;

use crate::chief::soon;
use crate::toy::Toy;

pub const LEASE: &str = "lease/coordinator";

/// A coordinator that can be killed: all that belongs to it runs on threads of its own.
pub struct Seat {
    pub url: String,
    runtime: Option<Runtime>,
}

impl Seat {
    pub fn take(game: Arc<Toy>, settings: CoordinatorSettings) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let (sender, bound) = std::sync::mpsc::channel();
        runtime.spawn(async move {
            // Its address may be that of one that was killed just now.
            let bind = async {
                loop {
                    match Coordinator::bind(game.clone(), &Folders, settings.clone()).await {
                        Ok(coordinator) => return coordinator,
                        Err(_) => tokio::time::sleep(Duration::from_millis(5)).await,
                    }
                }
            };
            let coordinator = soon("the address", bind).await;
            sender.send(coordinator.url()).unwrap();
            coordinator.run(std::future::pending()).await.unwrap();
        });
        Self { url: bound.recv().unwrap(), runtime: Some(runtime) }
    }

    pub async fn client(&self) -> Client {
        soon("a coordinator", async {
            loop {
                if let Ok(mut client) = Client::connect(&self.url).await
                    && client.status().await.is_ok()
                {
                    return client;
                }
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        })
        .await
    }

    /// Ends it in the middle of whatever it does.
    pub fn kill(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Another coordinator, which takes the lease away from who has it and renews it.
pub struct Usurper<'a> {
    pub store: &'a dyn Store,
    pub reign: Option<u64>,
}

impl Usurper<'_> {
    /// Writes the lease once more.
    pub async fn renew(&mut self) {
        let key = Key::new(LEASE).unwrap();
        loop {
            let lease = self.store.get(&key).await.unwrap();
            let mut record: serde_json::Value = serde_json::from_slice(&lease.bytes).unwrap();
            let found = record["reign"].as_u64().unwrap();
            let reign = *self.reign.get_or_insert(found + 1);
            assert!(found <= reign, "it was taken from who renews it");
            record["reign"] = reign.into();
            record["holder"] = serde_json::json!({ "address": "http://127.0.0.1:9", "process": "another" });
            record["beat"] = (record["beat"].as_u64().unwrap() + 1).into();
            // The holder may have renewed it meanwhile.
            if self.store.put_if_match(&key, Bytes::from(record.to_string()), &lease.etag).await.is_ok() {
                return;
            }
        }
    }
}
