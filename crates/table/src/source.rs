//! Where the bytes of tables come from: one small trait, so that a folder, memory and a network are the same to the reader.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};

use crate::handles::Handles;
use crate::remedy::FOLDER;

/// Bytes that can be read at any place, by many threads at once.
pub trait ReadAt: Send + Sync {
    /// Fills `buf` with the bytes from `offset` on.
    ///
    /// # Errors
    /// [`io::ErrorKind::UnexpectedEof`] when there are fewer; whatever the device says.
    fn read_at(&self, offset: u64, buf: &mut [u8]) -> io::Result<()>;

    /// How many bytes there are.
    ///
    /// # Errors
    /// Whatever the device says.
    fn size(&self) -> io::Result<u64>;
}

impl ReadAt for [u8] {
    fn read_at(&self, offset: u64, buf: &mut [u8]) -> io::Result<()> {
        let start = usize::try_from(offset).ok();
        let found = start.and_then(|start| self.get(start..start.checked_add(buf.len())?));
        buf.copy_from_slice(found.ok_or(io::ErrorKind::UnexpectedEof)?);
        Ok(())
    }

    fn size(&self) -> io::Result<u64> {
        Ok(self.len() as u64)
    }
}

impl ReadAt for Vec<u8> {
    fn read_at(&self, offset: u64, buf: &mut [u8]) -> io::Result<()> {
        self.as_slice().read_at(offset, buf)
    }

    fn size(&self) -> io::Result<u64> {
        Ok(self.len() as u64)
    }
}

impl ReadAt for File {
    #[cfg(unix)]
    fn read_at(&self, offset: u64, buf: &mut [u8]) -> io::Result<()> {
        std::os::unix::fs::FileExt::read_exact_at(self, buf, offset)
    }

    #[cfg(windows)]
    fn read_at(&self, mut offset: u64, mut buf: &mut [u8]) -> io::Result<()> {
        while !buf.is_empty() {
            match std::os::windows::fs::FileExt::seek_read(self, buf, offset)? {
                0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                read => {
                    buf = &mut buf[read..];
                    offset += read as u64;
                }
            }
        }
        Ok(())
    }

    fn size(&self) -> io::Result<u64> {
        Ok(self.metadata()?.len())
    }
}

/// Files of tables by key, as [`shard_key`](crate::shard_key) and [`manifest_key`](crate::manifest_key) make them.
/// A missing file is [`io::ErrorKind::NotFound`].
pub trait Source: Send + Sync {
    /// Where the files are, in a user's words.
    fn place(&self) -> String;

    /// Opens a file for reading at any place.
    ///
    /// # Errors
    /// [`io::ErrorKind::NotFound`]; whatever the device says.
    fn open(&self, key: &str) -> io::Result<Arc<dyn ReadAt>>;

    /// A whole file.
    ///
    /// # Errors
    /// As [`open`](Source::open).
    fn read_all(&self, key: &str) -> io::Result<Vec<u8>> {
        let file = self.open(key)?;
        let mut bytes = vec![0; usize::try_from(file.size()?).map_err(io::Error::other)?];
        file.read_at(0, &mut bytes)?;
        Ok(bytes)
    }

    /// The keys of all manifests, in ascending order.
    ///
    /// # Errors
    /// Whatever the device says.
    fn manifests(&self) -> io::Result<Vec<String>>;
}

/// Tables in a folder, which holds `tables/` or is itself what others call `tables`. At most
/// [`OPEN_FILES`](crate::OPEN_FILES) of its files are open at a time, however many are asked.
#[derive(Clone, Debug)]
pub struct FolderSource {
    /// What users give to commands: the folder that holds `tables`.
    root: PathBuf,
    tables: PathBuf,
    handles: Arc<Handles>,
}

impl FolderSource {
    /// The tables of a folder: below `tables` in it, or in the folder itself when it has no such folder.
    /// Nothing is read yet; a folder that does not exist has no tables.
    pub fn new(path: impl AsRef<Path>) -> Self {
        let given = path.as_ref().to_path_buf();
        let inner = given.join("tables");
        let holds = has_manifests(&given);
        let named = given.file_name().is_some_and(|n| n == "tables");
        if inner.is_dir() {
            return Self { root: given, tables: inner, handles: Arc::default() };
        }
        let root = match given.parent() {
            Some(parent) if named && holds => parent.to_path_buf(),
            _ => given.clone(),
        };
        let root = if root.as_os_str().is_empty() { PathBuf::from(".") } else { root };
        Self { root, tables: if named || holds { given } else { inner }, handles: Arc::default() }
    }

    fn path(&self, key: &str) -> io::Result<PathBuf> {
        let below = key.strip_prefix(crate::TABLES).ok_or(io::ErrorKind::NotFound)?;
        let plain =
            below.split('/').all(|part| !part.is_empty() && !part.starts_with('.') && !part.contains(['\\', ':']));
        if plain { Ok(self.tables.join(below)) } else { Err(io::ErrorKind::NotFound.into()) }
    }
}

/// True where the folder holds `<rules>/<ENDGAME>/manifest.json` without a `tables` around it.
#[must_use]
pub fn has_manifests(folder: &Path) -> bool {
    let folders = |path: &Path| fs::read_dir(path).into_iter().flatten().flatten().map(|e| e.path());
    folders(folder).any(|rules| folders(&rules).any(|table| table.join("manifest.json").is_file()))
}

impl Source for FolderSource {
    fn place(&self) -> String {
        format!("{FOLDER}{}", self.root.display())
    }

    fn open(&self, key: &str) -> io::Result<Arc<dyn ReadAt>> {
        self.handles.open(&self.path(key)?)
    }

    fn read_all(&self, key: &str) -> io::Result<Vec<u8>> {
        fs::read(self.path(key)?)
    }

    fn manifests(&self) -> io::Result<Vec<String>> {
        let names = |path: &Path| -> io::Result<Vec<String>> {
            let entries = match fs::read_dir(path) {
                Err(e) if matches!(e.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                    return Ok(vec![]);
                }
                entries => entries?,
            };
            entries.map(|e| Ok(e?.file_name().to_string_lossy().into_owned())).collect()
        };
        let mut keys = Vec::new();
        for rules in names(&self.tables)? {
            for table in names(&self.tables.join(&rules))? {
                let key = format!("{}{rules}/{table}/manifest.json", crate::TABLES);
                if self.path(&key).is_ok_and(|path| path.is_file()) {
                    keys.push(key);
                }
            }
        }
        keys.sort();
        Ok(keys)
    }
}

/// Files of tables in memory.
#[derive(Default)]
pub struct MemorySource(RwLock<BTreeMap<String, Arc<Vec<u8>>>>);

impl MemorySource {
    /// No files.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a file, or replaces one.
    pub fn insert(&self, key: impl Into<String>, bytes: Vec<u8>) {
        self.0.write().unwrap_or_else(PoisonError::into_inner).insert(key.into(), Arc::new(bytes));
    }
}

impl Source for MemorySource {
    fn place(&self) -> String {
        "memory".to_owned()
    }

    fn open(&self, key: &str) -> io::Result<Arc<dyn ReadAt>> {
        let files = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let file: Arc<Vec<u8>> = files.get(key).cloned().ok_or(io::ErrorKind::NotFound)?;
        Ok(file)
    }

    fn manifests(&self) -> io::Result<Vec<String>> {
        let files = self.0.read().unwrap_or_else(PoisonError::into_inner);
        Ok(files.keys().filter(|key| crate::parse_manifest_key(key).is_some()).cloned().collect())
    }
}
