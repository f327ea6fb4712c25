//! The routes that are asked by scripts of the public xiangqi database.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, Uri, header};
use axum::response::{IntoResponse, Response};
use serde_json::json;

use crate::chessdb::Asked;
use crate::failure::Failure;
use crate::reply::{Keep, tagged};
use crate::service::Service;

const TEXT: &str = "text/plain; charset=utf-8";
const JSON: &str = "application/json";
const FORM: &str = "application/x-www-form-urlencoded";

/// The query form of the public xiangqi database.
#[utoipa::path(get, path = "/chessdb", tag = "chessdb", params(Asked), responses(
    (status = 200, description = "in the shape of the public database, ended by a NUL; or JSON", content(
        (String = "text/plain"), (serde_json::Value = "application/json"),
    )),
    (status = "5XX", description = "busy, too late, or the store is away", body = String, content_type = "text/plain"),
))]
pub(crate) async fn chessdb(State(service): State<Arc<Service>>, uri: Uri, headers: HeaderMap) -> Response {
    answer(&service, &headers, Asked::of(uri.query(), b"")).await
}

/// The same under the name that scripts know.
#[utoipa::path(get, path = "/chessdb.php", tag = "chessdb", params(Asked), responses(
    (status = 200, description = "in the shape of the public database, ended by a NUL; or JSON", content(
        (String = "text/plain"), (serde_json::Value = "application/json"),
    )),
    (status = "5XX", description = "busy, too late, or the store is away", body = String, content_type = "text/plain"),
))]
pub(crate) async fn chessdb_php(State(service): State<Arc<Service>>, uri: Uri, headers: HeaderMap) -> Response {
    answer(&service, &headers, Asked::of(uri.query(), b"")).await
}

/// The query form of the public xiangqi database, asked by a form, whose fields count before those of the address.
#[utoipa::path(post, path = "/chessdb", tag = "chessdb", params(Asked),
    request_body(content = Asked, content_type = "application/x-www-form-urlencoded"),
    responses(
        (status = 200, description = "in the shape of the public database, ended by a NUL; or JSON", content(
            (String = "text/plain"), (serde_json::Value = "application/json"),
        )),
        (status = "4XX", description = "the form is too large or too slow", body = String, content_type = "text/plain"),
        (status = "5XX", description = "busy, too late, or the store is away", body = String, content_type = "text/plain"),
    ))]
pub(crate) async fn chessdb_form(
    State(service): State<Arc<Service>>,
    uri: Uri,
    headers: HeaderMap,
    body: Body,
) -> Response {
    posted(&service, &uri, &headers, body).await
}

/// The same under the name that scripts know.
#[utoipa::path(post, path = "/chessdb.php", tag = "chessdb", params(Asked),
    request_body(content = Asked, content_type = "application/x-www-form-urlencoded"),
    responses(
        (status = 200, description = "in the shape of the public database, ended by a NUL; or JSON", content(
            (String = "text/plain"), (serde_json::Value = "application/json"),
        )),
        (status = "4XX", description = "the form is too large or too slow", body = String, content_type = "text/plain"),
        (status = "5XX", description = "busy, too late, or the store is away", body = String, content_type = "text/plain"),
    ))]
pub(crate) async fn chessdb_php_form(
    State(service): State<Arc<Service>>,
    uri: Uri,
    headers: HeaderMap,
    body: Body,
) -> Response {
    posted(&service, &uri, &headers, body).await
}

async fn posted(service: &Service, uri: &Uri, headers: &HeaderMap, body: Body) -> Response {
    // A body that is no form has no fields; one that does not say what it is, is one.
    let kind = headers.get(header::CONTENT_TYPE).map_or(FORM.as_bytes(), HeaderValue::as_bytes);
    let is_form = kind.get(..FORM.len()).is_some_and(|kind| kind.eq_ignore_ascii_case(FORM.as_bytes()));
    let form = if is_form { service.body(headers, body).await } else { Ok(axum::body::Bytes::new()) };
    match form {
        // What a form asks is answered anew each time.
        Ok(form) => answer(service, &HeaderMap::new(), Asked::of(uri.query(), &form)).await,
        Err(failure) => told(failure, Asked::of(uri.query(), b"").is_json()),
    }
}

async fn answer(service: &Service, headers: &HeaderMap, asked: Asked) -> Response {
    let is_json = asked.is_json();
    match service.ask(move |asker, deadline| asked.answer(asker, deadline)).await {
        Ok(text) => tagged(headers, Keep::Passing, if is_json { JSON } else { TEXT }, text.into()),
        Err(failure) => told(failure, is_json),
    }
}

/// A failure as the database tells one.
fn told(failure: Failure, is_json: bool) -> Response {
    // Scripts know what to do then: they wait and ask again.
    let (word, end) = match failure.error.kind {
        "busy" => ("rate limit exceeded".to_owned(), "\0"),
        _ => (format!("Error: {}", failure.error.message), ""),
    };
    let (kind, text) = if is_json { (JSON, json!({"status": word}).to_string()) } else { (TEXT, word + end) };
    let mut response = failure.into_response();
    response.headers_mut().remove(header::CONTENT_LENGTH);
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    *response.body_mut() = text.into();
    response
}
