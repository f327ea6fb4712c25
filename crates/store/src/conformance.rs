//! What every store must do, as tests that any implementation can be put through.

use std::error::Error;
use std::sync::Arc;

use bytes::Bytes;

use crate::{Key, ObjectInfo, Store, StoreError};

type Checked = Result<(), Box<dyn Error + Send + Sync>>;

/// Puts an empty store through all that follows. Needs a tokio runtime of several threads to be worth much.
///
/// # Errors
/// What the store said where it should have done its work.
///
/// # Panics
/// Where the store did something else than it should have.
pub async fn check(store: Arc<dyn Store>) -> Checked {
    objects(&*store).await?;
    ranges(&*store).await?;
    listing(&*store).await?;
    conditions(&*store).await?;
    one_winner(&store).await?;
    exact_count(&store).await?;
    whole_reads(&store).await
}

async fn objects(store: &dyn Store) -> Checked {
    let key = Key::new("objects/one")?;
    assert!(matches!(store.get(&key).await, Err(StoreError::NotFound { .. })));
    assert!(matches!(store.head(&key).await, Err(StoreError::NotFound { .. })));
    let first = store.put(&key, "first".into()).await?;
    let second = store.put(&key, "second".into()).await?;
    assert_ne!(first, second);
    let object = store.get(&key).await?;
    assert_eq!((&object.bytes[..], &object.etag), (&b"second"[..], &second));
    assert_eq!(store.head(&key).await?, ObjectInfo { key: key.clone(), len: 6 });
    store.put(&key, Bytes::new()).await?;
    assert!(store.get(&key).await?.bytes.is_empty());
    store.delete(&key).await?;
    store.delete(&key).await?;
    assert!(matches!(store.get(&key).await, Err(StoreError::NotFound { .. })));
    Ok(())
}

async fn ranges(store: &dyn Store) -> Checked {
    let key = Key::new("ranges/digits")?;
    store.put(&key, "0123456789".into()).await?;
    assert_eq!(&store.get_range(&key, 2..5).await?[..], b"234");
    assert_eq!(&store.get_range(&key, 0..10).await?[..], b"0123456789");
    assert!(store.get_range(&key, 10..10).await?.is_empty());
    for (start, end) in [(8, 11), (11, 11), (0, u64::MAX), (5, 4)] {
        let beyond = store.get_range(&key, start..end).await;
        assert!(matches!(beyond, Err(StoreError::OutOfRange { len: 10, .. })), "{start}..{end}");
    }
    Ok(())
}

async fn listing(store: &dyn Store) -> Checked {
    let names = ["list/a/one", "list/a/two", "list/ab", "list/b/c/three"];
    for name in names.iter().rev() {
        store.put(&Key::new(name)?, name.to_string().into()).await?;
    }
    let listed = |prefix: &'static str| async move {
        let found = store.list(prefix).await?;
        assert!(found.iter().all(|o| o.len == o.key.as_str().len() as u64));
        Ok::<_, StoreError>(found.into_iter().map(|o| o.key.to_string()).collect::<Vec<_>>())
    };
    assert_eq!(listed("list/").await?, names);
    assert_eq!(listed("list/a").await?, names[..3]);
    assert_eq!(listed("list/a/").await?, names[..2]);
    assert_eq!(listed("list/b/c/th").await?, names[3..]);
    for none in ["list/none/", "list/ab/", "/", "../", "list//", "list/../list/"] {
        assert!(store.list(none).await?.is_empty(), "{none}");
    }
    Ok(())
}

/// That no key can be a folder of another, in a store that can tell.
///
/// # Errors
/// What the store said where it should have done its work.
///
/// # Panics
/// Where the store did something else than it should have.
pub async fn refuses_folders(store: &dyn Store) -> Checked {
    let (above, below) = (Key::new("folders/a")?, Key::new("folders/a/b")?);
    store.put(&below, "b".into()).await?;
    assert!(matches!(store.get(&above).await, Err(StoreError::NotFound { .. })));
    assert!(matches!(store.put(&above, "a".into()).await, Err(StoreError::Denied { .. })));
    assert!(matches!(store.put_if_absent(&above, "a".into()).await, Err(StoreError::Denied { .. })));
    store.delete(&above).await?;
    assert!(matches!(store.put(&below.join("c")?, "c".into()).await, Err(StoreError::Denied { .. })));
    assert!(matches!(store.get(&below.join("c")?).await, Err(StoreError::NotFound { .. })));
    assert_eq!(&store.get(&below).await?.bytes[..], b"b");
    Ok(())
}

async fn conditions(store: &dyn Store) -> Checked {
    let key = Key::new("conditions/one")?;
    let never = store.put(&Key::new("conditions/other")?, "never".into()).await?;
    assert!(matches!(store.put_if_match(&key, "x".into(), &never).await, Err(StoreError::NotFound { .. })));
    let first = store.put_if_absent(&key, "first".into()).await?;
    assert!(matches!(store.put_if_absent(&key, "x".into()).await, Err(StoreError::AlreadyExists { .. })));
    assert!(matches!(store.put_if_match(&key, "x".into(), &never).await, Err(StoreError::Changed { .. })));
    let second = store.put_if_match(&key, "second".into(), &first).await?;
    assert!(matches!(store.put_if_match(&key, "x".into(), &first).await, Err(StoreError::Changed { .. })));
    let object = store.get(&key).await?;
    assert_eq!((&object.bytes[..], object.etag), (&b"second"[..], second));
    store.delete(&key).await?;
    store.put_if_absent(&key, "again".into()).await?;
    Ok(())
}

/// Of many who make the same object, one succeeds, and its bytes are what stays.
async fn one_winner(store: &Arc<dyn Store>) -> Checked {
    for round in 0..8 {
        let key = Key::new(&format!("winner/{round}"))?;
        let tries: Vec<_> = (0..16u8)
            .map(|i| {
                let (store, key) = (Arc::clone(store), key.clone());
                tokio::spawn(async move { store.put_if_absent(&key, vec![i; 1000].into()).await.map(|_| i) })
            })
            .collect();
        let mut winner = None;
        for attempt in tries {
            match attempt.await? {
                Ok(i) => assert!(winner.replace(i).is_none(), "two winners"),
                Err(StoreError::AlreadyExists { .. }) => {}
                Err(other) => return Err(other.into()),
            }
        }
        let stayed = store.get(&key).await?.bytes;
        assert_eq!(Some(&stayed[..]), winner.map(|i| vec![i; 1000]).as_deref());
    }
    Ok(())
}

/// A counter that is raised by compare-and-swap loses no step.
async fn exact_count(store: &Arc<dyn Store>) -> Checked {
    let key = Key::new("count/counter")?;
    store.put(&key, "0".into()).await?;
    let counters: Vec<_> = (0..8)
        .map(|_| {
            let (store, key) = (Arc::clone(store), key.clone());
            tokio::spawn(async move { raise(&*store, &key, 10).await })
        })
        .collect();
    for counter in counters {
        counter.await??;
    }
    assert_eq!(&store.get(&key).await?.bytes[..], b"80");
    Ok(())
}

/// Raises the number in an object by one, so many times, by compare-and-swap.
///
/// # Errors
/// What the store said, unless somebody else was first.
pub async fn raise(store: &dyn Store, key: &Key, times: u32) -> Checked {
    let mut done = 0;
    while done < times {
        let seen = store.get(key).await?;
        let number: u64 = std::str::from_utf8(&seen.bytes)?.parse()?;
        match store.put_if_match(key, (number + 1).to_string().into(), &seen.etag).await {
            Ok(_) => done += 1,
            Err(StoreError::Changed { .. }) => {}
            Err(other) => return Err(other.into()),
        }
    }
    Ok(())
}

/// A reader never sees half of an object, and a listing never shows anything else than objects.
async fn whole_reads(store: &Arc<dyn Store>) -> Checked {
    let key = Key::new("whole/one")?;
    store.put(&key, vec![0; 100_000].into()).await?;
    let writer = {
        let (store, key) = (Arc::clone(store), key.clone());
        tokio::spawn(async move {
            for i in 1..30u8 {
                store.put(&key, vec![i; 100_000 + usize::from(i)].into()).await?;
            }
            Ok::<_, StoreError>(())
        })
    };
    while !writer.is_finished() {
        let bytes = store.get(&key).await?.bytes;
        assert!(bytes.iter().all(|&b| b == bytes[0]) && bytes.len() == 100_000 + usize::from(bytes[0]));
        let listed: Vec<_> = store.list("whole").await?.into_iter().map(|o| o.key).collect();
        assert_eq!(listed, std::slice::from_ref(&key));
    }
    writer.await??;
    Ok(())
}
