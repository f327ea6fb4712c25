//! Tables of a folder that may go away for a while, as a disk of the network does.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread::sleep;
use std::time::{Duration, Instant};

use canju_table::{FolderSource, ReadAt, Source};

/// How long a folder that is away is waited for.
const PATIENCE: Duration = Duration::from_secs(600);
const PAUSE: Duration = Duration::from_millis(200);

/// The tables of a folder that was there. A file is missing only where the folder is there and the file is not.
#[derive(Clone, Debug)]
pub struct WaitingSource {
    inner: FolderSource,
    /// The folder that holds the tables.
    tables: PathBuf,
    patience: Duration,
}

impl WaitingSource {
    pub(crate) fn new(inner: FolderSource, tables: PathBuf) -> Self {
        Self { inner, tables, patience: PATIENCE }
    }

    /// Asks again while the folder is away.
    fn wait<T>(&self, mut ask: impl FnMut() -> io::Result<T>) -> io::Result<T> {
        let began = Instant::now();
        loop {
            match ask() {
                Err(error) if error.kind() == io::ErrorKind::NotFound && !self.tables.is_dir() => {
                    if began.elapsed() >= self.patience {
                        let text = format!("{} is not there any more: bring it back", self.tables.display());
                        return Err(io::Error::new(io::ErrorKind::NotConnected, text));
                    }
                }
                // It may have come back between the two questions.
                Err(error) if error.kind() == io::ErrorKind::NotFound => return ask(),
                done => return done,
            }
            sleep(PAUSE);
        }
    }
}

impl Source for WaitingSource {
    fn place(&self) -> String {
        self.inner.place()
    }

    fn open(&self, key: &str) -> io::Result<Arc<dyn ReadAt>> {
        let file = self.wait(|| self.inner.open(key))?;
        Ok(Arc::new(WaitingFile { file, source: self.clone() }))
    }

    fn manifests(&self) -> io::Result<Vec<String>> {
        self.inner.manifests()
    }
}

/// A file of theirs. It is opened again where it was closed for others, which may be while the folder is away.
struct WaitingFile {
    file: Arc<dyn ReadAt>,
    source: WaitingSource,
}

impl ReadAt for WaitingFile {
    fn read_at(&self, offset: u64, buf: &mut [u8]) -> io::Result<()> {
        self.source.wait(|| self.file.read_at(offset, buf))
    }

    fn size(&self) -> io::Result<u64> {
        self.source.wait(|| self.file.size())
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_folder_that_is_away_is_waited_for() {
        let place = tempfile::tempdir().unwrap();
        let (here, there) = (place.path().join("here"), place.path().join("there"));
        fs::create_dir_all(here.join("tables/plain")).unwrap();
        fs::write(here.join("tables/plain/a"), "a").unwrap();
        let source = crate::source_of_folder(&here);
        let kind = |source: &WaitingSource, key| source.open(key).err().map(|e| e.kind());
        assert_eq!(kind(&source, "tables/plain/b"), Some(io::ErrorKind::NotFound));
        fs::rename(&here, &there).unwrap();
        // It is not said that the file is missing: nobody knows.
        let hasty = WaitingSource { patience: Duration::ZERO, ..source.clone() };
        assert_eq!(kind(&hasty, "tables/plain/a"), Some(io::ErrorKind::NotConnected));
        std::thread::scope(|scope| {
            let asked = scope.spawn(|| kind(&source, "tables/plain/a"));
            sleep(PAUSE);
            fs::rename(&there, &here).unwrap();
            assert_eq!(asked.join().unwrap(), None);
        });
    }

    #[test]
    fn a_folder_that_is_away_is_waited_for_where_a_file_was_closed_for_others() {
        let place = tempfile::tempdir().unwrap();
        let (here, there) = (place.path().join("here"), place.path().join("there"));
        fs::create_dir_all(here.join("tables")).unwrap();
        let keys: Vec<String> = (0..3 * canju_table::OPEN_FILES).map(|n| format!("tables/{n}")).collect();
        for key in &keys {
            fs::write(here.join(key), "a").unwrap();
        }
        let source = crate::source_of_folder(&here);
        let hasty = WaitingSource { patience: Duration::ZERO, ..source.clone() };
        let open = |source: &WaitingSource| keys.iter().map(|key| source.open(key).unwrap()).collect::<Vec<_>>();
        let (files, hasty) = (open(&source), open(&hasty));
        let read = |file: &Arc<dyn ReadAt>| file.read_at(0, &mut [0]).and_then(|()| file.size()).map_err(|e| e.kind());
        fs::rename(&here, &there).unwrap();
        let told: Vec<_> = hasty.iter().map(read).collect();
        assert!(told.contains(&Err(io::ErrorKind::NotConnected)));
        assert!(!told.contains(&Err(io::ErrorKind::NotFound)), "nobody knows that a file is missing");
        std::thread::scope(|scope| {
            let asked = scope.spawn(|| files.iter().map(read).collect::<Vec<_>>());
            sleep(PAUSE);
            fs::rename(&there, &here).unwrap();
            assert!(asked.join().unwrap().iter().all(|read| *read == Ok(1)));
        });
    }
}
