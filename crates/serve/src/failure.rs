//! What is answered when a question cannot be.

use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use utoipa::ToSchema;

use crate::fault::{FileFault, PositionFault};

/// Why there is no answer, by what the client can do.
#[derive(Clone, Debug)]
pub(crate) struct Failure {
    pub status: StatusCode,
    pub error: ErrorDetail,
}

/// The body of every answer that is an error.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct ErrorBody {
    pub error: ErrorDetail,
}

/// What went wrong.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct ErrorDetail {
    /// A word for programs: `fen`, `illegal`, `position`, `name`, `parameter`, `body`, `too_many`, `games`, `too_large`, `path`, `method`, `missing`,
    /// `damaged`, `slow`, `busy`, `store`, `timeout`, `internal`.
    pub kind: &'static str,
    /// What is wrong, where, and what to do.
    pub message: String,
    /// Commands that would build or fetch what is missing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub commands: Vec<String>,
    /// What is wrong with a file, and where.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<Box<FileFault>>,
    /// What is wrong with a position.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub position: Option<Box<PositionFault>>,
}

impl Failure {
    pub fn new(status: StatusCode, kind: &'static str, message: impl Into<String>) -> Self {
        let (message, commands) = (message.into(), Vec::new());
        Self { status, error: ErrorDetail { kind, message, commands, file: None, position: None } }
    }

    /// The client's question is wrong.
    pub fn request(kind: &'static str, message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, kind, message)
    }

    /// A wrong question about a position, with what is wrong in parts.
    pub fn position(kind: &'static str, message: impl Into<String>, fault: PositionFault) -> Self {
        let mut failure = Self::request(kind, message);
        failure.error.position = Some(Box::new(fault));
        failure
    }

    /// More is done than can be.
    pub fn busy() -> Self {
        let text = "the server is at work on as many requests as it takes at a time: ask again in a second";
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "busy", text)
    }

    pub fn timeout() -> Self {
        let text = "the answer took too long: ask for less, or again later";
        Self::new(StatusCode::GATEWAY_TIMEOUT, "timeout", text)
    }

    pub fn internal() -> Self {
        let text = "the server failed at this; its log tells more";
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", text)
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        let mut response = (self.status, Json(ErrorBody { error: self.error })).into_response();
        let headers = response.headers_mut();
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        if self.status == StatusCode::SERVICE_UNAVAILABLE {
            headers.insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
        }
        response
    }
}
