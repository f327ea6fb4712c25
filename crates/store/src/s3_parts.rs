//! Large objects go up in parts: no request is so long that a short failure costs all of it.

use std::time::Duration;

use aws_sdk_s3::Client;
use aws_sdk_s3::primitives::ByteStream;
use aws_sdk_s3::types::{CompletedMultipartUpload, CompletedPart};
use bytes::Bytes;
use tokio::task::JoinSet;

use crate::s3::{Condition, S3Store};
use crate::s3_error::{Failure, sort};
use crate::{ETag, Key};

/// A part's bytes, unless the object would have more parts than a server takes.
const PART: u64 = 16 << 20;
const MOST_PARTS: u64 = 10_000;
const AT_ONCE: usize = 4;
/// A part that failed for a passing reason is sent again before all of the object is.
const TRIES: u32 = 3;

/// An upload that is under way; its parts are removed again unless it is completed, also when the caller
/// stops waiting for it.
struct Upload {
    client: Client,
    bucket: String,
    name: String,
    id: String,
    open: bool,
}

/// Writes an object in parts. The condition is the last request's: until then nothing is to be seen.
pub(crate) async fn put(
    store: &S3Store,
    key: &Key,
    what: &str,
    bytes: Bytes,
    condition: &Condition,
) -> Result<ETag, Failure> {
    let (client, bucket, name) = (&store.client, &store.bucket, store.name(key));
    let request = client.create_multipart_upload().bucket(bucket).key(&name).send().await;
    let id = request.map_err(|e| sort(e, what, store.place()))?.upload_id;
    let id = id.ok_or_else(|| Failure::Error(store.odd(what, "the answer has no upload id")))?;
    let mut upload = Upload { client: client.clone(), bucket: bucket.clone(), name, id, open: true };
    let result = finish(store, what, &mut upload, bytes, condition).await;
    if upload.open {
        upload.open = false;
        upload.abort().await;
    }
    result
}

async fn finish(
    store: &S3Store,
    what: &str,
    upload: &mut Upload,
    bytes: Bytes,
    condition: &Condition,
) -> Result<ETag, Failure> {
    let parts = send(store, what, upload, &bytes).await?;
    let done = CompletedMultipartUpload::builder().set_parts(Some(parts)).build();
    let request = upload.client.complete_multipart_upload().bucket(&upload.bucket).key(&upload.name);
    let request = request.upload_id(&upload.id).multipart_upload(done);
    let request = request.set_if_none_match(condition.if_none_match()).set_if_match(condition.if_match());
    let answer = request.send().await.map_err(|e| sort(e, what, store.place()))?;
    // This request can fail after its status was sent; the answer then has no tag.
    let etag = store.etag(answer.e_tag, what).map_err(Failure::Error)?;
    upload.open = false;
    Ok(etag)
}

async fn send(store: &S3Store, what: &str, upload: &Upload, bytes: &Bytes) -> Result<Vec<CompletedPart>, Failure> {
    let len = bytes.len() as u64;
    let part = PART.min(store.parts_above.max(1)).max(len.div_ceil(MOST_PARTS)) as usize;
    let mut waiting = (0..bytes.len()).step_by(part).map(|at| bytes.slice(at..bytes.len().min(at + part))).zip(1..);
    let mut under_way = JoinSet::new();
    let mut done = Vec::new();
    loop {
        while under_way.len() < AT_ONCE {
            let Some((bytes, number)) = waiting.next() else { break };
            under_way.spawn(upload.part(store, what, number, bytes));
        }
        match under_way.join_next().await {
            None => break,
            Some(Ok(sent)) => done.push(sent?),
            Some(Err(stopped)) => return Err(Failure::Error(store.odd(what, &stopped.to_string()))),
        }
    }
    done.sort_by_key(|part: &CompletedPart| part.part_number);
    Ok(done)
}

impl Upload {
    /// Sends one part.
    fn part(
        &self,
        store: &S3Store,
        what: &str,
        number: i32,
        bytes: Bytes,
    ) -> impl Future<Output = Result<CompletedPart, Failure>> + use<> {
        let (store, what) = (store.clone(), what.to_owned());
        let (name, id) = (self.name.clone(), self.id.clone());
        async move {
            let mut tried = 0;
            loop {
                tried += 1;
                let request = store.client.upload_part().bucket(&store.bucket).key(&name).upload_id(&id);
                let sent = request.part_number(number).body(ByteStream::from(bytes.clone())).send().await;
                match sent.map_err(|e| sort(e, &what, store.place())) {
                    Ok(answer) => {
                        let etag = store.etag(answer.e_tag, &what).map_err(Failure::Error)?;
                        return Ok(CompletedPart::builder().part_number(number).e_tag(etag.as_str()).build());
                    }
                    Err(Failure::Error(error)) if error.is_transient() && tried < TRIES => {
                        tokio::time::sleep(Duration::from_millis(200) * tried).await;
                    }
                    Err(Failure::Error(error)) => return Err(Failure::Error(error)),
                    // The upload is not there any more: all of it must be sent again.
                    Err(_) => return Err(Failure::Error(store.odd(&what, "the upload is not known any more"))),
                }
            }
        }
    }

    /// Removes what was sent. Best effort: buckets have rules that remove what stays of uploads.
    fn abort(&self) -> impl Future<Output = ()> + use<> {
        let request = self.client.abort_multipart_upload().bucket(&self.bucket).key(&self.name).upload_id(&self.id);
        let name = self.name.clone();
        async move {
            if let Err(e) = request.send().await {
                tracing::debug!(object = name, error = crate::transport::chain(&e), "parts of an upload stay behind");
            }
        }
    }
}

impl Drop for Upload {
    fn drop(&mut self) {
        if let (true, Ok(runtime)) = (self.open, tokio::runtime::Handle::try_current()) {
            runtime.spawn(self.abort());
        }
    }
}
