//! The page that shows a cluster at work, and the JSON that it shows.

use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::time::{Duration, Instant};

use axum::Router;
use axum::extract::State;
use axum::http::header;
use axum::response::{Html, IntoResponse};
use axum::routing::get;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use sha2::{Digest, Sha256};

use crate::door::Door;
use crate::http::{Answers, HttpPort, HttpSettings};
use crate::json::status_json;
use crate::{ClusterError, Coordinator, metrics};

/// How long a picture is shown again before a new one is taken: browsers are many, the state is one.
const FRESH: Duration = Duration::from_millis(250);

const STYLE: &str = include_str!("dashboard/page.css");
const WORDS: &str = include_str!("dashboard/words.js");
const SCRIPT: &str = include_str!("dashboard/page.js");

/// The whole page, and what it may do.
struct Page {
    html: String,
    policy: String,
}

/// The page loads nothing from anywhere, and its own parts are named by their hashes: whatever else got into it
/// would not run.
static PAGE: LazyLock<Page> = LazyLock::new(|| {
    let script = format!("{WORDS}{SCRIPT}");
    let html = include_str!("dashboard/page.html").replace("/*style*/", STYLE).replace("/*script*/", &script);
    let hash = |text: &str| format!("'sha256-{}'", STANDARD.encode(Sha256::digest(text.as_bytes())));
    let policy = format!(
        "default-src 'none'; script-src {}; style-src {}; connect-src 'self'; base-uri 'none'; form-action 'none'; \
         frame-ancestors 'none'",
        hash(&script),
        hash(STYLE)
    );
    Page { html, policy }
});

/// What the pages are made from.
struct Desk {
    door: Arc<Door>,
    picture: Mutex<Option<(Instant, Bytes)>>,
}

impl Desk {
    fn status(&self) -> Bytes {
        let mut picture = self.picture.lock().unwrap_or_else(PoisonError::into_inner);
        match &*picture {
            Some((taken, bytes)) if taken.elapsed() < FRESH => bytes.clone(),
            _ => {
                let bytes = Bytes::from(status_json(&self.door.status()).to_string());
                *picture = Some((Instant::now(), bytes.clone()));
                bytes
            }
        }
    }
}

/// The HTTP port of a coordinator, open and not yet served.
pub struct Dashboard {
    port: HttpPort,
    door: Arc<Door>,
}

impl Coordinator {
    /// Opens an HTTP port for the coordinator's page, its status in JSON, probes and metrics.
    ///
    /// # Errors
    /// [`ClusterError::Refused`] for an address that other machines reach while there is no token,
    /// [`ClusterError::Listen`] when it cannot be had.
    pub async fn dashboard(&self, settings: &HttpSettings) -> Result<Dashboard, ClusterError> {
        let port = HttpPort::open(&self.settings.network, settings).await?;
        Ok(Dashboard { port, door: Arc::clone(&self.door) })
    }
}

impl Dashboard {
    /// Where browsers find it.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}/", self.port.address())
    }

    /// Serves until `shutdown`.
    pub async fn run(self, shutdown: impl Future<Output = ()>) {
        let pages = pages(Arc::clone(&self.door));
        tokio::select! {
            () = self.port.serve(self.door, pages) => {}
            () = shutdown => {}
        }
    }
}

/// The pages of a coordinator.
fn pages(door: Arc<Door>) -> Router {
    let desk = Arc::new(Desk { door, picture: Mutex::default() });
    Router::new().route("/", get(page)).route("/v1/status", get(status)).with_state(desk)
}

async fn page() -> impl IntoResponse {
    ([(header::CONTENT_SECURITY_POLICY, PAGE.policy.as_str())], Html(PAGE.html.as_str()))
}

async fn status(State(desk): State<Arc<Desk>>) -> impl IntoResponse {
    ([(header::CONTENT_TYPE, "application/json")], desk.status())
}

impl Answers for Door {
    fn is_ready(&self) -> bool {
        self.status().active
    }

    fn metrics(&self) -> String {
        metrics::coordinator(&self.status(), &self.tally())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_is_whole_and_loads_nothing() {
        let page = &PAGE.html;
        assert!(!page.contains("/*style*/") && !page.contains("/*script*/"));
        assert!(page.contains("connect(") && page.len() < 100_000);
        // Markup from outside has no way in, and addresses of other hosts are none of its business.
        for word in ["innerHTML", "insertAdjacentHTML", "document.write", "eval(", "src=", "@import", "url("] {
            assert!(!page.contains(word), "{word}");
        }
        let addresses: Vec<&str> = page.split("http").skip(1).map(|rest| rest.get(..20).unwrap_or(rest)).collect();
        assert!(
            addresses.iter().all(|a| a.starts_with("://www.w3.org/2000") || a.starts_with("://HOST")),
            "{addresses:?}"
        );
    }
}
