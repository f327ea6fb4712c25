//! What an S3 server refuses, told apart by its cause.

use std::error::Error;
use std::io;

use aws_sdk_s3::config::http::HttpResponse;
use aws_sdk_s3::error::{ProvideErrorMetadata, SdkError};

use crate::{StoreError, transport};

/// Why a request did not do what it was for.
pub(crate) enum Failure {
    /// No such object.
    Absent,
    /// The request's condition does not hold.
    Condition,
    /// The object has none of the bytes that were asked for.
    Range,
    /// All else.
    Error(StoreError),
}

/// Sorts what the SDK says of a request that was to do `what` in `place`.
pub(crate) fn sort<E>(error: SdkError<E, HttpResponse>, what: &str, place: &str) -> Failure
where
    E: ProvideErrorMetadata + Error + 'static,
{
    let (what, place) = (what.to_owned(), place.to_owned());
    let Some((status, region)) = error.raw_response().map(answer) else {
        return Failure::Error(unanswered(&error, what, place));
    };
    let meta = error.as_service_error().map(ProvideErrorMetadata::meta);
    let code = meta.and_then(|m| m.code()).unwrap_or_default().to_owned();
    match (code.as_str(), status) {
        ("NoSuchBucket", _) => {}
        ("NoSuchKey" | "NotFound", _) | ("", 404) => return Failure::Absent,
        ("PreconditionFailed", _) | (_, 412) => return Failure::Condition,
        ("InvalidRange", _) | (_, 416) => return Failure::Range,
        _ => {}
    }
    let region = region.map(|r| format!("; the bucket is in {r}")).unwrap_or_default();
    let named = if code.is_empty() { "no code" } else { &code };
    // The server's own words are not repeated: some have the access key in them.
    let source = io::Error::other(format!("status {status}, {named}{region}"));
    Failure::Error(match verdict(&code, status) {
        Verdict::Passing => StoreError::Unavailable { what, place, source },
        Verdict::Full => StoreError::Full { what, place, source },
        Verdict::Refused(remedy) => StoreError::Denied { what, place, remedy, source: Some(source) },
    })
}

fn answer(response: &HttpResponse) -> (u16, Option<String>) {
    let region = response.headers().get("x-amz-bucket-region").filter(|r| !r.is_empty());
    (response.status().as_u16(), region.map(str::to_owned))
}

enum Verdict {
    Passing,
    Full,
    Refused(&'static str),
}

/// What the answer means for who asked.
fn verdict(code: &str, status: u16) -> Verdict {
    Verdict::Refused(match (code, status) {
        ("InvalidAccessKeyId" | "InvalidSecurity" | "NotSignedUp", _) => {
            "the access key is not known there; check AWS_ACCESS_KEY_ID, AWS_PROFILE and the endpoint"
        }
        ("SignatureDoesNotMatch", _) => {
            "the secret key is not that of the access key; check AWS_SECRET_ACCESS_KEY, or the profile's"
        }
        ("InvalidToken" | "ExpiredToken" | "TokenRefreshRequired", _) => {
            "the session token is not valid any more; get new credentials, then start again"
        }
        ("RequestTimeTooSkewed" | "RequestExpired", _) => {
            "this machine's clock differs from the server's by too much; set the clock, by NTP best, then start again"
        }
        ("NoSuchBucket", _) => "there is no such bucket; create it, or check its name, the endpoint and the region",
        ("InvalidBucketName", _) => "that is no name of a bucket there; check it",
        (
            "PermanentRedirect" | "AuthorizationHeaderMalformed" | "IllegalLocationConstraintException" | "BadRegion",
            _,
        )
        | (_, 301) => "the bucket is in another region; give it with --s3-region or AWS_REGION",
        ("QuotaExceeded" | "InsufficientStorage" | "XMinioStorageFull" | "StorageFull", _) | (_, 507) => {
            return Verdict::Full;
        }
        ("EntityTooLarge", _) => "the object is larger than the server takes; raise the server's limit",
        ("NotImplemented" | "MethodNotAllowed", _) | (_, 501 | 405) => {
            "the server cannot do this; use an S3 server that can, and that honours conditional writes"
        }
        (
            "SlowDown"
            | "Throttling"
            | "ThrottlingException"
            | "TooManyRequests"
            | "RequestLimitExceeded"
            | "ServiceUnavailable"
            | "InternalError"
            | "RequestTimeout"
            | "IncompleteBody"
            | "BadDigest"
            | "XAmzContentSHA256Mismatch"
            | "OperationAborted"
            | "ConditionalRequestConflict"
            | "NoSuchUpload"
            | "TemporaryRedirect",
            _,
        )
        | (_, 307 | 408 | 409 | 425 | 429 | 500..)
        | (_, 200..=299) => return Verdict::Passing,
        ("AccessDenied" | "AccountProblem" | "AllAccessDisabled", _) | (_, 401 | 403) => {
            "access denied; allow these credentials s3:ListBucket on the bucket and s3:GetObject on its objects, and for writing also s3:PutObject, s3:DeleteObject and s3:AbortMultipartUpload"
        }
        _ => "the request is not accepted; check that the endpoint is that of an S3 server",
    })
}

/// Sorts a failure without an answer.
fn unanswered<E: Error + 'static>(error: &SdkError<E, HttpResponse>, what: String, place: String) -> StoreError {
    let timed_out = match error {
        SdkError::TimeoutError(_) => true,
        SdkError::DispatchFailure(e) => e.is_timeout(),
        _ => false,
    };
    transport::sort(error, timed_out, what, place)
}
