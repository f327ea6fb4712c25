//! What the server keeps, and how it answers when nothing goes wrong.

use std::collections::BTreeMap;

use bytes::Bytes;
use canju_store::ETag;
use hyper::Response;
use hyper::http::request::Parts;

const BUCKET: &str = "/xq";

#[derive(Default)]
pub(super) struct Objects {
    objects: BTreeMap<String, Bytes>,
    uploads: BTreeMap<String, BTreeMap<u32, Bytes>>,
    started: usize,
    /// Objects in a page of a list; all when it is 0.
    pub(super) page: usize,
}

/// An error as S3 says it.
pub(super) fn error(status: u16, code: &str, head: &Parts) -> Response<Bytes> {
    // The key's id stands in the message as some servers have it.
    let said = format!("told of {}", head.headers.get("authorization").map_or("nobody", |a| a.to_str().unwrap()));
    let text = format!("<?xml version=\"1.0\"?><Error><Code>{code}</Code><Message>{said}</Message></Error>");
    let region = if status == 301 { "mars-1" } else { "" };
    let text = if head.method == "HEAD" { Bytes::new() } else { text.into() };
    Response::builder().status(status).header("x-amz-bucket-region", region).body(text).unwrap()
}

fn quoted(bytes: &Bytes) -> String {
    format!("\"{}\"", ETag::of(bytes).as_str())
}

impl Objects {
    pub(super) fn names(&self) -> Vec<String> {
        self.objects.keys().cloned().collect()
    }

    pub(super) fn uploads(&self) -> usize {
        self.uploads.len()
    }

    pub(super) fn answer(&mut self, head: &Parts, body: &Bytes, conditions: bool, ranges: bool) -> Response<Bytes> {
        let path = head.uri.path();
        let Some(name) = path.strip_prefix(BUCKET).filter(|n| n.is_empty() || n.starts_with('/')) else {
            return error(404, "NoSuchBucket", head);
        };
        let name = name.trim_start_matches('/').to_owned();
        let query: BTreeMap<String, String> = head.uri.query().unwrap_or_default().split('&').map(pair).collect();
        let upload = query.get("uploadId").cloned();
        match (head.method.as_str(), upload) {
            ("GET", _) if name.is_empty() => self.list(&query),
            ("GET" | "HEAD", _) => self.read(&name, head, ranges),
            ("POST", None) => self.start(),
            ("PUT", Some(id)) => self.part(&id, &query["partNumber"], head, body),
            ("DELETE", Some(id)) => {
                self.uploads.remove(&id);
                done(204)
            }
            ("POST", Some(id)) => self.complete(&id, name, head, body, conditions),
            ("PUT", None) => match refusal(self, &name, head).filter(|_| conditions) {
                Some(refusal) => refusal,
                None => self.insert(name, body.clone()),
            },
            ("DELETE", None) => {
                self.objects.remove(&name);
                done(204)
            }
            _ => error(405, "MethodNotAllowed", head),
        }
    }

    fn insert(&mut self, name: String, bytes: Bytes) -> Response<Bytes> {
        let etag = quoted(&bytes);
        self.objects.insert(name, bytes);
        Response::builder().header("etag", etag).body(Bytes::new()).unwrap()
    }

    fn read(&self, name: &str, head: &Parts, ranges: bool) -> Response<Bytes> {
        let Some(bytes) = self.objects.get(name) else { return error(404, "NoSuchKey", head) };
        let answer = Response::builder().header("etag", quoted(bytes));
        if head.method == "HEAD" {
            return answer.header("content-length", bytes.len()).body(Bytes::new()).unwrap();
        }
        let Some(range) = head.headers.get("range").filter(|_| ranges) else {
            return answer.header("content-length", bytes.len()).body(bytes.clone()).unwrap();
        };
        let range = range.to_str().unwrap().strip_prefix("bytes=").unwrap().split_once('-').unwrap();
        let (first, last): (usize, usize) = (range.0.parse().unwrap(), range.1.parse().unwrap());
        if first >= bytes.len() {
            return error(416, "InvalidRange", head);
        }
        let end = (last + 1).min(bytes.len());
        let given = format!("bytes {first}-{}/{}", end - 1, bytes.len());
        let answer = answer.status(206).header("content-range", given).header("content-length", end - first);
        answer.body(bytes.slice(first..end)).unwrap()
    }

    fn list(&self, query: &BTreeMap<String, String>) -> Response<Bytes> {
        let (prefix, after) = (query.get("prefix"), query.get("continuation-token"));
        let prefix = prefix.map_or("", String::as_str);
        let mut found = self.objects.iter().filter(|(n, _)| n.starts_with(prefix) && after.is_none_or(|a| *n > a));
        let page: Vec<_> = found.by_ref().take(if self.page == 0 { usize::MAX } else { self.page }).collect();
        let mut text = "<?xml version=\"1.0\"?><ListBucketResult>".to_owned();
        for (name, bytes) in &page {
            text += &format!("<Contents><Key>{name}</Key><Size>{}</Size></Contents>", bytes.len());
        }
        if let (Some((last, _)), Some(_)) = (page.last(), found.next()) {
            text += &format!("<IsTruncated>true</IsTruncated><NextContinuationToken>{last}</NextContinuationToken>");
        }
        text += "</ListBucketResult>";
        Response::new(text.into())
    }

    fn start(&mut self) -> Response<Bytes> {
        self.started += 1;
        let id = format!("upload-{}", self.started);
        self.uploads.insert(id.clone(), BTreeMap::new());
        let text = format!("<InitiateMultipartUploadResult><UploadId>{id}</UploadId></InitiateMultipartUploadResult>");
        Response::new(text.into())
    }

    fn part(&mut self, id: &str, number: &str, head: &Parts, body: &Bytes) -> Response<Bytes> {
        let Some(upload) = self.uploads.get_mut(id) else { return error(404, "NoSuchUpload", head) };
        upload.insert(number.parse().unwrap(), body.clone());
        Response::builder().header("etag", quoted(body)).body(Bytes::new()).unwrap()
    }

    fn complete(&mut self, id: &str, name: String, head: &Parts, body: &Bytes, conditions: bool) -> Response<Bytes> {
        if let Some(refusal) = refusal(self, &name, head).filter(|_| conditions) {
            return refusal;
        }
        let Some(parts) = self.uploads.get(id) else { return error(404, "NoSuchUpload", head) };
        let listed = String::from_utf8_lossy(body).matches("<PartNumber>").count();
        assert_eq!(listed, parts.len());
        let whole: Bytes = parts.values().flat_map(|p| p.iter().copied()).collect::<Vec<_>>().into();
        self.uploads.remove(id);
        let etag = quoted(&whole);
        self.objects.insert(name, whole);
        let text = format!("<CompleteMultipartUploadResult><ETag>{etag}</ETag></CompleteMultipartUploadResult>");
        Response::new(text.into())
    }
}

/// What a condition that does not hold is answered with. A tag is compared as it comes, as radosgw does.
fn refusal(objects: &Objects, name: &str, head: &Parts) -> Option<Response<Bytes>> {
    let there = objects.objects.get(name).map(|bytes| ETag::of(bytes).as_str().to_owned());
    let header = |name| head.headers.get(name).map(|h| h.to_str().unwrap().to_owned());
    if header("if-none-match").is_some() && there.is_some() {
        return Some(error(412, "PreconditionFailed", head));
    }
    header("if-match").filter(|tag| there.as_ref() != Some(tag)).map(|_| error(412, "PreconditionFailed", head))
}

fn done(status: u16) -> Response<Bytes> {
    Response::builder().status(status).body(Bytes::new()).unwrap()
}

fn pair(text: &str) -> (String, String) {
    let (name, value) = text.split_once('=').unwrap_or((text, ""));
    (name.to_owned(), value.replace("%2F", "/").replace("%20", " "))
}
