//! Tables behind a network, with the threads that reach them.

use std::error::Error;
use std::io;
use std::sync::{Arc, mpsc};

use canju_store::{Location, StoreOptions};
use canju_table::{ReadAt, Source};
use tokio::runtime::{Builder, Runtime};

use crate::OpenOptions;

/// Threads that wait for the network.
const THREADS: usize = 2;

/// The tables of a bucket or a web server. They are read by ranges: a question needs a few blocks, not shards.
pub(crate) fn reach(place: &str, options: &OpenOptions) -> Result<Arc<dyn Source>, Box<dyn Error + Send + Sync>> {
    let location: Location = place.parse()?;
    let settings = StoreOptions {
        endpoint: options.s3_endpoint.clone(),
        region: options.s3_region.clone(),
        patience: options.patience,
        ..StoreOptions::default()
    };
    let mut builder = Builder::new_multi_thread();
    let runtime = builder.worker_threads(THREADS).thread_name("canju-tables").enable_all().build()?;
    let handle = runtime.handle().clone();
    let (answer, opened) = mpsc::sync_channel(1);
    // Not `block_on`, which a thread of somebody's async runtime must not call.
    runtime.spawn(async move {
        // Who waits does so a few lines below.
        let _ = answer.send(canju_shelf::open(&location, &settings, handle, None).await);
    });
    let source = opened.recv().map_err(|_| "the threads that open the tables have ended")??;
    Ok(Arc::new(Reached { source, runtime: Some(runtime) }))
}

/// A source with the runtime that serves it.
struct Reached {
    source: Arc<dyn Source>,
    /// There until it is dropped.
    runtime: Option<Runtime>,
}

impl Drop for Reached {
    fn drop(&mut self) {
        // Dropped as it is, it would wait for its threads, which a thread of somebody's async runtime must not do.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

impl Source for Reached {
    fn place(&self) -> String {
        self.source.place()
    }

    fn open(&self, key: &str) -> io::Result<Arc<dyn ReadAt>> {
        self.source.open(key)
    }

    fn read_all(&self, key: &str) -> io::Result<Vec<u8>> {
        self.source.read_all(key)
    }

    fn manifests(&self) -> io::Result<Vec<String>> {
        self.source.manifests()
    }
}
