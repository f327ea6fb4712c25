//! Objects as files of a local folder.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;

use crate::durable::{create_durably, sync_folder};
use crate::scratch::{Aside, Scratch};
use crate::{ETag, Key, Object, ObjectInfo, Store, StoreError};

/// Objects as files of a local folder; a key is the file's path below it.
///
/// A write goes to a file aside, which is flushed to the disk and then renamed, so that an object is
/// never seen half. Conditional writes hold between all processes that use the folder through this type.
/// Cheap to clone; all clones are one store.
#[derive(Clone, Debug)]
pub struct FolderStore(Arc<Folder>);

#[derive(Debug)]
struct Folder {
    root: PathBuf,
    /// Absent in a store that is only read.
    scratch: Option<Scratch>,
}

impl FolderStore {
    /// Opens a folder for reading and writing. Creates it where it is missing, tries that it can be
    /// written, and removes unfinished files of processes that died. Blocks for a moment.
    ///
    /// # Errors
    /// [`StoreError::Denied`] or [`StoreError::Full`] with what to do about it.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, StoreError> {
        let root = path.as_ref().to_path_buf();
        let folder = Folder { root, scratch: None };
        let to_open = |e| StoreError::from_io(e, "to be opened for writing".to_owned(), folder.place());
        fs::create_dir_all(&folder.root).map_err(to_open)?;
        let scratch = Scratch::open(&folder.root).map_err(to_open)?;
        Ok(Self(Arc::new(Folder { scratch: Some(scratch), ..folder })))
    }

    /// Opens a folder for reading; writes nothing into it, and does not create it.
    ///
    /// # Errors
    /// [`StoreError::Denied`] when there is no such folder or it cannot be read.
    pub fn open_read_only(path: impl AsRef<Path>) -> Result<Self, StoreError> {
        let folder = Folder { root: path.as_ref().to_path_buf(), scratch: None };
        let to_open = |e| StoreError::from_io(e, "to be opened for reading".to_owned(), folder.place());
        fs::read_dir(&folder.root).map_err(to_open)?;
        Ok(Self(Arc::new(folder)))
    }

    /// The folder.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.0.root
    }

    /// Runs file work where it may block.
    async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Folder) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let folder = Arc::clone(&self.0);
        match tokio::task::spawn_blocking(move || folder.judge(work)).await {
            Ok(result) => result,
            Err(stopped) => Err(StoreError::Unavailable {
                what: "to work on files".to_owned(),
                place: self.place(),
                source: io::Error::other(stopped),
            }),
        }
    }
}

impl Folder {
    fn place(&self) -> String {
        format!("the folder {}", self.root.display())
    }

    /// Does some work. What fails while the folder comes back has failed for that, whoever of several notices it first.
    fn judge<T>(&self, work: impl FnOnce(&Self) -> Result<T, StoreError>) -> Result<T, StoreError> {
        let returns = || self.scratch.as_ref().map(Scratch::returns);
        let before = returns();
        match work(self) {
            Err(error) if !error.is_transient() && returns() != before => {
                Err(self.away(io::Error::other(error), "to be used"))
            }
            done => done,
        }
    }

    /// True where the folder that was opened is not there: its disk is away, or somebody has moved it.
    fn is_away(&self) -> bool {
        match &self.scratch {
            // An empty folder may stand in its place, where a disk is mounted.
            Some(scratch) => scratch.is_away(),
            None => !self.root.is_dir(),
        }
    }

    fn error(&self, source: io::Error, what: impl Into<String>) -> StoreError {
        if source.kind() == io::ErrorKind::NotFound && self.is_away() {
            return self.away(source, what);
        }
        StoreError::from_io(source, what.into(), self.place())
    }

    /// Nobody knows what is in a folder that is away.
    fn away(&self, source: io::Error, what: impl Into<String>) -> StoreError {
        StoreError::Unreachable {
            what: what.into(),
            place: self.place(),
            remedy: "the folder that was opened is not there any more; bring it back, or mount its disk",
            source,
        }
    }

    fn file(&self, key: &Key) -> PathBuf {
        self.root.join(key.as_str())
    }

    /// Opens an object. A folder of that name is no object.
    fn open(&self, key: &Key) -> Result<(File, u64), StoreError> {
        let opened = File::open(self.file(key)).and_then(|file| {
            let data = file.metadata()?;
            if data.is_file() { Ok((file, data.len())) } else { Err(io::ErrorKind::NotFound.into()) }
        });
        opened.map_err(|e| match e.kind() {
            io::ErrorKind::NotFound if self.is_away() => self.away(e, format!("to read {key}")),
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => {
                StoreError::NotFound { key: key.clone(), place: self.place() }
            }
            _ => self.error(e, format!("to read {key}")),
        })
    }

    fn read(&self, key: &Key, range: Option<Range<u64>>) -> Result<Vec<u8>, StoreError> {
        let (mut file, len) = self.open(key)?;
        let range = range.unwrap_or(0..len);
        if range.start > range.end || range.end > len {
            let (start, end) = (range.start, range.end);
            return Err(StoreError::OutOfRange { key: key.clone(), place: self.place(), len, start, end });
        }
        let mut bytes = vec![0; (range.end - range.start) as usize];
        file.seek(SeekFrom::Start(range.start))
            .and_then(|_| file.read_exact(&mut bytes))
            .map_err(|e| self.error(e, format!("to read {key}")))?;
        Ok(bytes)
    }

    fn etag(&self, key: &Key) -> Result<ETag, StoreError> {
        Ok(ETag::of(&self.read(key, None)?))
    }

    fn scratch(&self, what: &str) -> Result<&Scratch, StoreError> {
        self.scratch.as_ref().ok_or_else(|| StoreError::Denied {
            what: what.to_owned(),
            place: self.place(),
            remedy: "it was opened for reading only; open it for writing",
            source: None,
        })
    }

    /// Writes aside, then moves the file into place under the key's lock, if `place` agrees.
    fn write(
        &self,
        key: &Key,
        bytes: &[u8],
        place: impl FnOnce(&Aside, &Path) -> Result<(), StoreError>,
    ) -> Result<ETag, StoreError> {
        let what = format!("to write {key}");
        let scratch = self.scratch(&what)?;
        let aside = scratch.write(bytes).map_err(|e| self.error(e, &what))?;
        let path = self.file(key);
        let parent = path.parent().unwrap_or(&self.root);
        create_durably(parent).map_err(|e| self.error(e, &what))?;
        let _locked = scratch.lock(key).map_err(|e| self.error(e, &what))?;
        place(&aside, &path)?;
        sync_folder(parent).map_err(|e| self.error(e, &what))?;
        Ok(ETag::of(bytes))
    }

    fn rename(&self, key: &Key, aside: &Aside, path: &Path) -> Result<(), StoreError> {
        fs::rename(&aside.path, path).map_err(|e| self.error(e, format!("to write {key}")))
    }

    fn put_if_absent(&self, key: &Key, bytes: &[u8]) -> Result<ETag, StoreError> {
        let exists = || Err(StoreError::AlreadyExists { key: key.clone(), place: self.place() });
        self.write(key, bytes, |aside, path| match fs::hard_link(&aside.path, path) {
            Ok(()) => Ok(()),
            Err(_) if path.is_file() => exists(),
            // No hard links on this file system, then; the lock alone keeps others of this type away.
            Err(_) => self.rename(key, aside, path),
        })
    }

    fn put_if_match(&self, key: &Key, bytes: &[u8], expected: &ETag) -> Result<ETag, StoreError> {
        self.write(key, bytes, |aside, path| {
            if self.etag(key)? != *expected {
                return Err(StoreError::Changed { key: key.clone(), place: self.place() });
            }
            self.rename(key, aside, path)
        })
    }

    fn delete(&self, key: &Key) -> Result<(), StoreError> {
        let what = format!("to delete {key}");
        let _locked = self.scratch(&what)?.lock(key).map_err(|e| self.error(e, &what))?;
        let path = self.file(key);
        if path.is_dir() {
            return Ok(());
        }
        let removed = fs::remove_file(&path).and_then(|()| sync_folder(path.parent().unwrap_or(&self.root)));
        match removed {
            Err(e) if !matches!(e.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                Err(self.error(e, what))
            }
            _ => Ok(()),
        }
    }

    fn list(&self, prefix: &str) -> Result<Vec<ObjectInfo>, StoreError> {
        let mut found = Vec::new();
        // Whole segments of the prefix name the folder where to begin.
        let (start, folder) = match prefix.rsplit_once('/') {
            None => (self.root.clone(), String::new()),
            Some((folder, _)) => match Key::new(folder) {
                Ok(key) => (self.file(&key), format!("{folder}/")),
                Err(_) => return Ok(found),
            },
        };
        let walked = self.walk(&start, &folder, prefix, &mut found);
        // What is missing was passed over.
        if self.is_away() {
            return Err(self.away(io::ErrorKind::NotFound.into(), "to be listed"));
        }
        walked.map_err(|e| self.error(e, "to be listed"))?;
        found.sort_by(|a, b| a.key.cmp(&b.key));
        Ok(found)
    }

    fn walk(&self, folder: &Path, name: &str, prefix: &str, found: &mut Vec<ObjectInfo>) -> io::Result<()> {
        let entries = match fs::read_dir(folder) {
            Ok(entries) => entries,
            Err(e) if matches!(e.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => return Ok(()),
            Err(e) => return Err(e),
        };
        for entry in entries {
            let entry = entry?;
            // Names that are no keys, the hidden folder first of all, are none of the store's objects.
            let Some(key) = entry.file_name().to_str().and_then(|n| Key::new(&format!("{name}{n}")).ok()) else {
                continue;
            };
            let kind = entry.file_type()?;
            if kind.is_dir() {
                let below = format!("{key}/");
                if below.starts_with(prefix) || prefix.starts_with(&below) {
                    self.walk(&entry.path(), &below, prefix, found)?;
                }
            } else if key.as_str().starts_with(prefix) {
                match fs::metadata(entry.path()) {
                    Ok(data) if data.is_file() => found.push(ObjectInfo { key, len: data.len() }),
                    Ok(_) => {}
                    // Deleted since the folder was read.
                    Err(e) if e.kind() == io::ErrorKind::NotFound => {}
                    Err(e) => return Err(e),
                }
            }
        }
        Ok(())
    }
}

#[async_trait]
impl Store for FolderStore {
    fn place(&self) -> String {
        self.0.place()
    }

    async fn get(&self, key: &Key) -> Result<Object, StoreError> {
        let key = key.clone();
        self.run(move |f| {
            let bytes = f.read(&key, None)?;
            Ok(Object { etag: ETag::of(&bytes), bytes: bytes.into() })
        })
        .await
    }

    async fn get_range(&self, key: &Key, range: Range<u64>) -> Result<Bytes, StoreError> {
        let key = key.clone();
        self.run(move |f| Ok(f.read(&key, Some(range))?.into())).await
    }

    async fn head(&self, key: &Key) -> Result<ObjectInfo, StoreError> {
        let key = key.clone();
        self.run(move |f| {
            let (_, len) = f.open(&key)?;
            Ok(ObjectInfo { key, len })
        })
        .await
    }

    async fn put(&self, key: &Key, bytes: Bytes) -> Result<ETag, StoreError> {
        let key = key.clone();
        self.run(move |f| f.write(&key, &bytes, |aside, path| f.rename(&key, aside, path))).await
    }

    async fn put_if_absent(&self, key: &Key, bytes: Bytes) -> Result<ETag, StoreError> {
        let key = key.clone();
        self.run(move |f| f.put_if_absent(&key, &bytes)).await
    }

    async fn put_if_match(&self, key: &Key, bytes: Bytes, expected: &ETag) -> Result<ETag, StoreError> {
        let (key, expected) = (key.clone(), expected.clone());
        self.run(move |f| f.put_if_match(&key, &bytes, &expected)).await
    }

    async fn delete(&self, key: &Key) -> Result<(), StoreError> {
        let key = key.clone();
        self.run(move |f| f.delete(&key)).await
    }

    async fn list(&self, prefix: &str) -> Result<Vec<ObjectInfo>, StoreError> {
        let prefix = prefix.to_owned();
        self.run(move |f| f.list(&prefix)).await
    }
}
