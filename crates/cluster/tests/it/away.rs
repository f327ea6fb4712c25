//! A store that is away while a switch is on, and that is borne with as every store is.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use canju_cluster::{Bucket, Buckets, ClusterError, Folders};
use canju_shelf::StoreSource;
use canju_store::{Retrying, Store, StoreError, StoreOptions};
use tokio::runtime::Handle;

use crate::hindered::Hindered;

/// The switch; all clones are one.
#[derive(Clone, Debug, Default)]
pub struct Away {
    is_away: Arc<AtomicBool>,
    /// What was asked for in vain.
    asked: Arc<Mutex<Vec<String>>>,
}

impl Away {
    pub fn leave(&self) {
        self.is_away.store(true, Ordering::SeqCst);
    }

    pub fn come_back(&self) {
        self.is_away.store(false, Ordering::SeqCst);
    }

    /// How often something below a prefix was asked for in vain.
    pub fn failures(&self, prefix: &str) -> usize {
        self.asked.lock().unwrap().iter().filter(|what| what.starts_with(prefix)).count()
    }

    fn ask(&self, what: &str) -> Result<(), StoreError> {
        if !self.is_away.load(Ordering::SeqCst) {
            return Ok(());
        }
        self.asked.lock().unwrap().push(what.to_owned());
        let source = std::io::ErrorKind::ConnectionRefused.into();
        Err(StoreError::Unavailable { what: what.to_owned(), place: "the store".into(), source })
    }
}

#[async_trait]
impl Buckets for Away {
    async fn open(&self, location: &str) -> Result<Bucket, ClusterError> {
        let inner = Folders.open(location).await?.store;
        let away = self.clone();
        let store = Hindered::new(inner, "the store", move |_, what| away.ask(what));
        let store: Arc<dyn Store> = Arc::new(Retrying::new(store, &StoreOptions::default()));
        Ok(Bucket { source: Arc::new(StoreSource::new(Arc::clone(&store), Handle::current())), store })
    }
}
