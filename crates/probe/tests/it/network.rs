//! Web servers and buckets: the answers are those of a folder, and a cold one takes two ranges.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use canju_probe::{Distances, OpenOptions, Prober};
use canju_retro::Rules;
use canju_table::{MemorySource, TableSet};

use crate::wells::{FILES, positions};

/// What was asked of a server.
#[derive(Default)]
struct Asked {
    /// Objects as a whole.
    whole: AtomicUsize,
    ranges: AtomicUsize,
}

/// A server of the tables below `/xq/shelf/`, a folder of the web and the prefix of a bucket. It ends with the process.
fn serve() -> (String, Arc<Asked>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let asked = Arc::new(Asked::default());
    let counts = Arc::clone(&asked);
    thread::spawn(move || {
        for stream in listener.incoming() {
            let counts = Arc::clone(&counts);
            // A client may go away whenever it likes.
            thread::spawn(move || stream.and_then(|stream| answer(stream, &counts)));
        }
    });
    (address, asked)
}

fn answer(mut stream: TcpStream, asked: &Asked) -> io::Result<()> {
    let mut lines = BufReader::new(stream.try_clone()?).lines();
    let request = lines.next().unwrap_or_else(|| Ok(String::new()))?;
    let mut range = None;
    for line in lines.by_ref() {
        let line = line?.to_ascii_lowercase();
        if line.is_empty() {
            break;
        }
        range = range.or_else(|| {
            let (first, last) = line.strip_prefix("range: bytes=")?.split_once('-')?;
            Some((first.parse::<usize>().ok()?, last.parse::<usize>().ok()?))
        });
    }
    let mut words = request.split(' ');
    let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let object = path.split('?').next().and_then(|path| FILES.get(path.strip_prefix("/xq/shelf/")?));
    let (status, extra, body) = match (object, range) {
        _ if path.contains("list-type=2") => {
            let none = "<?xml version=\"1.0\"?><ListBucketResult><IsTruncated>false</IsTruncated></ListBucketResult>";
            ("200 OK", String::new(), none.as_bytes())
        }
        (None, _) => ("404 Not Found", String::new(), &[][..]),
        (Some(bytes), None) => {
            asked.whole.fetch_add(1, Ordering::Relaxed);
            ("200 OK", String::new(), &bytes[..])
        }
        (Some(bytes), Some((first, last))) => {
            asked.ranges.fetch_add(1, Ordering::Relaxed);
            let end = bytes.len().min(last + 1);
            let extra = format!("content-range: bytes {first}-{}/{}\r\n", end - 1, bytes.len());
            ("206 Partial Content", extra, &bytes[first..end])
        }
    };
    let length = body.len();
    write!(stream, "HTTP/1.1 {status}\r\ncontent-length: {length}\r\netag: \"1\"\r\nconnection: close\r\n{extra}\r\n")?;
    if method != "HEAD" {
        stream.write_all(body)?;
    }
    stream.flush()?;
    // What the client still sends must not be cut off.
    stream.shutdown(std::net::Shutdown::Write)?;
    let _ = stream.read(&mut [0; 1]);
    Ok(())
}

/// Asks at a place, and in a folder's way.
fn compare(place: &str, options: &OpenOptions, asked: &Asked) {
    let files = MemorySource::new();
    FILES.iter().for_each(|(key, bytes)| files.insert(key, bytes.clone()));
    let near = Prober::new(TableSet::open(Arc::new(files), Rules::Plain));
    let count = || (asked.whole.swap(0, Ordering::Relaxed), asked.ranges.swap(0, Ordering::Relaxed));
    let all = positions("KRKN", 49_999);
    for (distances, ranges) in [(Distances::None, 2), (Distances::Dtm, 2), (Distances::All, 4)] {
        let far = Prober::open(place, &OpenOptions { distances, ..options.clone() }).unwrap();
        let opening = count();
        assert_eq!(opening, (0, 0), "opening reads no table");
        far.probe(&all[0]).unwrap();
        assert_eq!(count(), (1, ranges), "a manifest and two ranges of each metric");
        far.probe(&all[0]).unwrap();
        assert_eq!(count(), (0, 0), "what is known is not read again");
        for position in &all {
            let value = far.probe(position).unwrap();
            let wanted = near.probe(position).unwrap();
            assert_eq!(value.outcome, wanted.outcome, "{position}");
            assert!(distances == Distances::None || value.dtm == wanted.dtm, "{position}");
            assert!(distances != Distances::All || value == wanted, "{position}");
        }
        let (whole, _) = count();
        assert_eq!(whole, 0);
        if distances == Distances::All {
            assert_eq!(far.moves(&all[1]).unwrap(), near.moves(&all[1]).unwrap());
        }
    }
}

#[test]
fn a_web_server_answers_as_a_folder_does() {
    let (address, asked) = serve();
    compare(&format!("{address}/xq/shelf"), &OpenOptions::default(), &asked);
}

/// Keys come from the environment, which a test must not change for others: it runs itself with some.
#[test]
fn a_bucket_answers_as_a_folder_does() {
    const KEYS: [(&str, &str); 2] = [("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE"), ("AWS_SECRET_ACCESS_KEY", "of-this-test")];
    if std::env::var(KEYS[0].0).as_deref() != Ok(KEYS[0].1) {
        let test = "network::a_bucket_answers_as_a_folder_does";
        let mut itself = Command::new(std::env::current_exe().unwrap());
        let output = itself.args(["--exact", test]).envs(KEYS).env_remove("AWS_PROFILE").output().unwrap();
        let told = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && told.contains("1 passed"), "{told}");
        return;
    }
    let (address, asked) = serve();
    let options =
        OpenOptions { s3_endpoint: Some(address), s3_region: Some("here".to_owned()), ..OpenOptions::default() };
    compare("s3://xq/shelf", &options, &asked);
}
