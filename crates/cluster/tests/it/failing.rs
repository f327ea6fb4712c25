//! A folder whose writes below some prefix fail while a switch is on.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use async_trait::async_trait;
use canju_cluster::{Bucket, Buckets, ClusterError, Folders};
use canju_store::StoreError;

use crate::hindered::{Access, Hindered};

const PLACE: &str = "the shaky store";

#[derive(Clone)]
pub struct FailingFolders {
    pub prefix: &'static str,
    pub broken: Arc<AtomicBool>,
    /// How often it failed.
    pub failures: Arc<AtomicU32>,
}

impl FailingFolders {
    fn try_to(&self, access: Access, key: &str) -> Result<(), StoreError> {
        if access != Access::Write || !key.starts_with(self.prefix) || !self.broken.load(Ordering::SeqCst) {
            return Ok(());
        }
        self.failures.fetch_add(1, Ordering::SeqCst);
        let source = std::io::ErrorKind::TimedOut.into();
        Err(StoreError::Unavailable { what: key.to_owned(), place: PLACE.into(), source })
    }
}

#[async_trait]
impl Buckets for FailingFolders {
    async fn open(&self, location: &str) -> Result<Bucket, ClusterError> {
        let Bucket { store, source } = Folders.open(location).await?;
        let how = self.clone();
        let store = Hindered::new(store, PLACE, move |access, key| how.try_to(access, key));
        Ok(Bucket { store, source })
    }
}
