//! Shards on a local disk, in a folder that all processes of a machine may share.
//!
//! A shard's file is named by its BLAKE3, so that any number of stores have room side by side. It is fetched into a
//! file aside, checked, and renamed; and it is checked again when a process opens it for the first time. Locks of
//! the file system keep two processes from fetching the same shard, and from removing what another one is writing;
//! a file that is removed while others read it stays readable to them.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use bytes::Bytes;
use canju_table::ShardInfo;
use fs4::fs_std::FileExt;

/// Fetched at a time.
const PIECE: u64 = 32 << 20;
/// How often a shard is fetched whose bytes are wrong on arrival.
const TRIES: usize = 2;
/// Processes that fetch different shards seldom wait for each other, and the lock files stay few.
const LOCKS: u8 = 32;

static NEXT: AtomicU64 = AtomicU64::new(0);

/// A bounded folder of shards; those used longest ago go first.
#[derive(Debug)]
pub struct Cache {
    folder: PathBuf,
    bytes: u64,
    /// The files that this process has checked, as they were then.
    checked: Mutex<HashMap<String, Stamp>>,
}

/// Where shards are to be kept, if a store turns out to need it.
#[derive(Clone, Debug)]
pub struct CacheSettings {
    /// The folder; else `canju` in the user's folder for caches, and none where that cannot be used.
    pub folder: Option<PathBuf>,
    /// Its bound in bytes; without a cache when it is 0.
    pub bytes: u64,
}

impl Default for CacheSettings {
    fn default() -> Self {
        Self { folder: None, bytes: 16 << 30 }
    }
}

impl CacheSettings {
    /// Opens the cache.
    ///
    /// # Errors
    /// As [`Cache::open`], for a folder that was asked for.
    pub fn open(&self) -> io::Result<Option<Arc<Cache>>> {
        if self.bytes == 0 {
            return Ok(None);
        }
        if let Some(folder) = &self.folder {
            return Ok(Some(Arc::new(Cache::open(folder, self.bytes)?)));
        }
        let Some(folder) = usual_folder() else { return Ok(None) };
        match Cache::open(folder, self.bytes) {
            Ok(cache) => Ok(Some(Arc::new(cache))),
            Err(e) => {
                tracing::warn!(error = %e, "tables are read without a cache");
                Ok(None)
            }
        }
    }
}

fn usual_folder() -> Option<PathBuf> {
    let folder = |name| std::env::var_os(name).map(PathBuf::from).filter(|p| p.is_absolute());
    let caches = folder("XDG_CACHE_HOME").or_else(|| folder("HOME").map(|home| home.join(".cache")))?;
    Some(caches.join("canju"))
}

/// What changes when a file does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stamp {
    len: u64,
    created: Option<SystemTime>,
}

/// How bytes of a shard are fetched: offset and length.
pub(crate) type Fetch<'a> = dyn Fn(u64, u64) -> io::Result<Bytes> + 'a;

impl Cache {
    /// A cache of at most so many bytes in a folder, which is made where it is missing.
    ///
    /// # Errors
    /// When the folder cannot be written, with what to do about it.
    pub fn open(folder: impl AsRef<Path>, bytes: u64) -> io::Result<Self> {
        let cache = Self { folder: folder.as_ref().to_path_buf(), bytes, checked: Mutex::default() };
        let tried = fs::create_dir_all(&cache.folder).and_then(|()| {
            drop(cache.lock("room.lock")?);
            drop(cache.aside()?);
            cache.make_room(0)
        });
        match tried {
            Ok(()) => Ok(cache),
            Err(e) => Err(io::Error::new(
                e.kind(),
                format!("the cache folder {} cannot be used: {e}; choose another with --cache", cache.folder.display()),
            )),
        }
    }

    /// The folder.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// A shard's file, fetched if it is not there or is damaged. Nothing where the cache has no room for it.
    pub(crate) fn shard(&self, key: &str, info: &ShardInfo, fetch: &Fetch<'_>) -> io::Result<Option<File>> {
        let name = file_name(info)?;
        if let Some(file) = self.find(&name, info) {
            return Ok(Some(file));
        }
        if info.bytes > self.bytes {
            return Ok(None);
        }
        match self.fetch_once(key, &name, info, fetch) {
            Ok(file) => Ok(Some(file)),
            Err(Unfetched::Store(error)) => Err(error),
            Err(Unfetched::Cache(error)) => {
                tracing::warn!(folder = %self.folder.display(), key, %error, "the cache cannot be used: read without it");
                Ok(None)
            }
        }
    }

    /// Fetches a shard, unless another process does so meanwhile.
    fn fetch_once(&self, key: &str, name: &str, info: &ShardInfo, fetch: &Fetch<'_>) -> Result<File, Unfetched> {
        let number = blake3::hash(name.as_bytes()).as_bytes()[0] % LOCKS;
        let _fetching = self.lock(&format!("fetch-{number:02}.lock"))?;
        if let Some(file) = self.find(name, info) {
            return Ok(file);
        }
        let mut fetched = self.fetch(key, name, info, fetch);
        for _ in 1..TRIES {
            // Damaged on the way, perhaps.
            if matches!(&fetched, Err(Unfetched::Store(e)) if e.kind() == io::ErrorKind::InvalidData) {
                fetched = self.fetch(key, name, info, fetch);
            }
        }
        fetched
    }

    /// The file of a shard, if it is there and whole. One that is not is removed.
    fn find(&self, name: &str, info: &ShardInfo) -> Option<File> {
        let path = self.folder.join(name);
        let file = File::options().read(true).write(true).open(&path).or_else(|_| File::open(&path)).ok()?;
        let stamp = stamp(&file)?;
        let known = self.checked.lock().unwrap_or_else(PoisonError::into_inner).get(name).copied();
        if known != Some(stamp) && !(stamp.len == info.bytes && hash(&file).is_some_and(|h| h == info.blake3)) {
            tracing::warn!(file = %path.display(), "a damaged file of the cache is removed");
            let _ = fs::remove_file(&path);
            return None;
        }
        self.remember(name, stamp);
        // When it was last used. Best effort: a folder of somebody else's may only be read.
        let _ = file.set_modified(SystemTime::now());
        Some(file)
    }

    fn remember(&self, name: &str, stamp: Stamp) {
        self.checked.lock().unwrap_or_else(PoisonError::into_inner).insert(name.to_owned(), stamp);
    }

    fn fetch(&self, key: &str, name: &str, info: &ShardInfo, fetch: &Fetch<'_>) -> Result<File, Unfetched> {
        self.make_room(info.bytes)?;
        let mut aside = self.aside()?;
        let mut hasher = blake3::Hasher::new();
        let mut at = 0;
        while at < info.bytes {
            let bytes = fetch(at, PIECE.min(info.bytes - at)).map_err(Unfetched::Store)?;
            if bytes.is_empty() {
                return Err(Unfetched::Store(io::ErrorKind::UnexpectedEof.into()));
            }
            hasher.update(&bytes);
            aside.file.write_all(&bytes)?;
            at += bytes.len() as u64;
        }
        if hasher.finalize().to_hex().as_str() != info.blake3 {
            let told = format!(
                "{key} is damaged in the store: it is not what its manifest says; verify the table and build it again"
            );
            return Err(Unfetched::Store(io::Error::new(io::ErrorKind::InvalidData, told)));
        }
        let path = self.folder.join(name);
        fs::rename(&aside.path, &path)?;
        let file = File::open(&path)?;
        if let Some(stamp) = stamp(&file) {
            self.remember(name, stamp);
        }
        Ok(file)
    }

    /// A new file aside, locked for as long as it is written.
    fn aside(&self) -> io::Result<Aside> {
        let _room = self.lock("room.lock")?;
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |d| d.as_nanos());
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = self.folder.join(format!("aside-{}-{since}-{number}", std::process::id()));
        let file = File::create_new(&path)?;
        FileExt::lock_exclusive(&file)?;
        Ok(Aside { path, file })
    }

    /// Removes what was used longest ago until so many bytes have room, and what dead processes left.
    fn make_room(&self, wanted: u64) -> io::Result<()> {
        let _room = self.lock("room.lock")?;
        let mut files = Vec::new();
        let mut total = wanted;
        for entry in fs::read_dir(&self.folder)? {
            let path = entry?.path();
            let name = path.file_name().and_then(|n| n.to_str()).unwrap_or_default();
            // Another process may remove it at this moment.
            let Ok(data) = fs::metadata(&path) else { continue };
            if name.starts_with("aside-") {
                let left = File::open(&path).is_ok_and(|f| FileExt::try_lock_exclusive(&f).unwrap_or(false));
                if left {
                    let _ = fs::remove_file(&path);
                } else {
                    total = total.saturating_add(data.len());
                }
            } else if name.ends_with(".shard") {
                total = total.saturating_add(data.len());
                files.push((data.modified().ok(), path, data.len()));
            }
        }
        files.sort();
        for (_, path, len) in files {
            if total <= self.bytes {
                break;
            }
            match fs::remove_file(&path) {
                // Another process was faster.
                Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(e),
                _ => total -= len,
            }
        }
        Ok(())
    }

    fn lock(&self, name: &str) -> io::Result<File> {
        let open = || File::options().create(true).truncate(false).write(true).open(self.folder.join(name));
        let file = match open() {
            // Somebody has removed the folder.
            Err(e) if e.kind() == io::ErrorKind::NotFound => fs::create_dir_all(&self.folder).and_then(|()| open())?,
            file => file?,
        };
        FileExt::lock_exclusive(&file)?;
        Ok(file)
    }
}

/// Why a shard did not come into the cache.
#[derive(Debug)]
enum Unfetched {
    /// The store failed, or has something else.
    Store(io::Error),
    /// The cache's own folder failed.
    Cache(io::Error),
}

impl From<io::Error> for Unfetched {
    fn from(error: io::Error) -> Self {
        Self::Cache(error)
    }
}

/// A file that is being written; removed unless it was renamed.
struct Aside {
    path: PathBuf,
    file: File,
}

impl Drop for Aside {
    fn drop(&mut self) {
        // Not there any more when it was renamed.
        let _ = fs::remove_file(&self.path);
    }
}

/// The name of a shard's file. Manifests come from elsewhere: what is no hash becomes no path.
fn file_name(info: &ShardInfo) -> io::Result<String> {
    let plain = info.blake3.len() == 64 && info.blake3.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
    if plain { Ok(format!("{}.shard", info.blake3)) } else { Err(io::ErrorKind::InvalidData.into()) }
}

fn stamp(file: &File) -> Option<Stamp> {
    let data = file.metadata().ok()?;
    Some(Stamp { len: data.len(), created: data.created().ok() })
}

fn hash(mut file: &File) -> Option<String> {
    let mut hasher = blake3::Hasher::new();
    let mut buffer = vec![0; 1 << 20];
    loop {
        match file.read(&mut buffer).ok()? {
            0 => return Some(hasher.finalize().to_hex().to_string()),
            n => hasher.update(&buffer[..n]),
        };
    }
}
