//! A web server with the tables of the stage, that stops within a byte when it is told to.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;

/// Serves files until it has sent so many bytes of them; then it says nothing more on any connection.
pub struct Web {
    pub url: String,
    shared: Arc<Shared>,
}

struct Shared {
    files: BTreeMap<String, Vec<u8>>,
    ranges: bool,
    sent: AtomicU64,
    limit: AtomicU64,
    dry: (Mutex<bool>, Condvar),
}

impl Web {
    pub fn new(files: BTreeMap<String, Vec<u8>>, ranges: bool) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap());
        let (sent, limit) = (AtomicU64::new(0), AtomicU64::new(u64::MAX));
        let shared = Arc::new(Shared { files, ranges, sent, limit, dry: Default::default() });
        let serving = Arc::clone(&shared);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let serving = Arc::clone(&serving);
                thread::spawn(move || serving.serve(stream));
            }
        });
        Self { url, shared }
    }

    pub fn sent(&self) -> u64 {
        self.shared.sent.load(Ordering::SeqCst)
    }

    /// Stops for good after so many more bytes.
    pub fn stop_after(&self, bytes: u64) {
        *self.shared.dry.0.lock().unwrap() = false;
        self.shared.limit.store(self.sent().saturating_add(bytes), Ordering::SeqCst);
    }

    /// Waits until it has stopped.
    pub fn wait(&self) {
        let (dry, told) = &self.shared.dry;
        drop(told.wait_while(dry.lock().unwrap(), |dry| !*dry).unwrap());
    }
}

impl Shared {
    fn serve(&self, mut stream: TcpStream) -> Option<()> {
        let mut lines = BufReader::new(stream.try_clone().ok()?).lines();
        loop {
            let first = lines.next()?.ok()?;
            let mut range = None;
            loop {
                let line = lines.next()?.ok()?.to_ascii_lowercase();
                if line.is_empty() {
                    break;
                }
                if let Some((start, last)) = line.strip_prefix("range: bytes=").and_then(|r| r.split_once('-')) {
                    range = Some((start.parse::<usize>().unwrap(), last.parse::<usize>().unwrap() + 1));
                }
            }
            let mut words = first.split(' ');
            let (method, path) = (words.next()?, words.next()?);
            let Some(file) = self.files.get(path.trim_start_matches('/')) else {
                stream.write_all(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n").ok()?;
                continue;
            };
            let (status, body, extra) = match range.filter(|_| self.ranges) {
                Some((start, _)) if start >= file.len() => {
                    ("416 Range Not Satisfiable", &file[..0], format!("Content-Range: bytes */{}\r\n", file.len()))
                }
                Some((start, end)) => {
                    let end = end.min(file.len());
                    let range = format!("Content-Range: bytes {start}-{}/{}\r\n", end - 1, file.len());
                    ("206 Partial Content", &file[start..end], range)
                }
                None => ("200 OK", &file[..], String::new()),
            };
            let head = format!("HTTP/1.1 {status}\r\n{extra}Content-Length: {}\r\n\r\n", body.len());
            stream.write_all(head.as_bytes()).ok()?;
            if method == "GET" {
                self.send(&mut stream, body)?;
            }
        }
    }

    fn send(&self, stream: &mut TcpStream, body: &[u8]) -> Option<()> {
        let len = body.len() as u64;
        let before = self.sent.fetch_add(len, Ordering::SeqCst);
        let left = self.limit.load(Ordering::SeqCst).saturating_sub(before);
        if left >= len {
            return stream.write_all(body).ok();
        }
        stream.write_all(&body[..left as usize]).ok()?;
        *self.dry.0.lock().unwrap() = true;
        self.dry.1.notify_all();
        // The connection stays open and silent, as long as the other side bears it.
        let mut held = stream.try_clone().ok()?;
        std::io::copy(&mut held, &mut std::io::sink()).ok()?;
        None
    }
}
