//! Tables built into a bucket, with failures on the way, are those that are built into a folder.

use std::sync::Arc;

use crate::fake_s3::{FakeS3, Fault};
use crate::town::{Town, files, settings};
use crate::toy::Toy;
use canju_cluster::{Stores, wire};
use canju_shelf::CacheSettings;
use canju_store::Location;

#[tokio::test(flavor = "multi_thread")]
async fn a_bucket_gets_the_bytes_of_a_folder() {
    let (folder, cache, copy) =
        (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let server = FakeS3::start().await;
    let stores = Arc::new(Stores {
        options: server.options(),
        cache: CacheSettings { folder: Some(cache.path().to_path_buf()), ..CacheSettings::default() },
    });
    for place in [folder.path().display().to_string(), "s3://xq/some/prefix".to_owned()] {
        let mut settings = settings(folder.path());
        settings.store = place;
        settings.conductor.min_workers = 2;
        let town = Town::found(Arc::new(Toy::default()), stores.as_ref(), settings).await;
        let hands = [
            town.hire(Arc::new(Toy::default()), stores.clone(), "w0", 0).await,
            town.hire(Arc::new(Toy::default()), stores.clone(), "w1", 0).await,
        ];
        // Every kind of failure now and then.
        for (after, fault) in [(3, Fault::LostAnswer), (6, Fault::Answer(503, "SlowDown")), (9, Fault::LostAnswer)] {
            server.fail_after("PUT", "tables/", after, fault, 1);
        }
        for (after, fault) in [(2, Fault::HalfBody), (5, Fault::Answer(500, "InternalError"))] {
            server.fail_after("GET", "tables/", after, fault, 1);
        }
        let job = town.build(&["T4"], &["dtm", "dtc"]).await;
        assert_eq!(job.state(), wire::JobState::Done, "{}", job.error);
        for hand in hands {
            hand.leave().await;
        }
        town.close().await;
    }
    let location: Location = "s3://xq/some/prefix".parse().unwrap();
    let store = canju_store::open(&location, &server.options()).await.unwrap();
    for object in store.list("tables/").await.unwrap() {
        let path = copy.path().join(object.key.as_str());
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, store.get(&object.key).await.unwrap().bytes).unwrap();
    }
    assert!(files(copy.path()).len() > 8);
    assert_eq!(files(copy.path()), files(folder.path()));
    let kept = std::fs::read_dir(cache.path()).unwrap().map(|e| e.unwrap().path());
    assert!(kept.filter(|p| p.extension().is_some_and(|e| e == "shard")).count() > 2, "smaller tables are kept");
}
