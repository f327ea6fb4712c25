//! What comes from outside is looked at here before anybody uses it: names, addresses, numbers.

use tonic::transport::Uri;

use crate::{ClusterError, VERSION, wire};

/// Workers that a coordinator takes.
pub(crate) const MEMBERS: usize = 1000;
/// The longest name of a worker or host, in characters.
const NAME: usize = 64;
/// The longest URL.
const URL: usize = 300;
/// The longest name of a table.
const TABLE: usize = 64;
/// Tables and metrics that one job may ask for by name.
const ASKED: usize = 10_000;

fn refuse<T>(text: String) -> Result<T, ClusterError> {
    Err(ClusterError::Refused(text))
}

/// The beginning of a text that strangers wrote, fit to be printed.
fn shown(text: &str) -> String {
    let start: String = text.chars().take(NAME).collect();
    if start.len() < text.len() { format!("{start:?}...") } else { format!("{start:?}") }
}

/// Refuses a name that is no name for a worker.
pub(crate) fn check_name(name: &str) -> Result<(), ClusterError> {
    let good = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    if name.is_empty() || name.len() > NAME || !name.chars().all(good) {
        return refuse(format!(
            "{} is no name for a worker: use 1 to {NAME} letters, digits, dots, dashes and underscores",
            shown(name)
        ));
    }
    Ok(())
}

/// Refuses what is no URL of a server: `http://HOST:PORT`, or with https.
///
/// # Errors
/// [`ClusterError::Refused`], with what to write instead.
pub fn check_address(url: &str) -> Result<(), ClusterError> {
    let bad = || ClusterError::Refused(format!("{} is no address: write HOST:PORT", shown(url)));
    if url.len() > URL {
        return Err(bad());
    }
    if url.split_once("://").is_some_and(|(scheme, _)| !["http", "https"].contains(&scheme)) {
        return refuse(format!(
            "{} is not spoken here: write HOST:PORT, http://HOST:PORT or https://HOST:PORT",
            shown(url)
        ));
    }
    let uri: Uri = url.parse().map_err(|_| bad())?;
    if uri.host().is_some_and(|host| !host.is_empty()) && uri.port().is_none() {
        return refuse(format!("{} has no port: write HOST:PORT, as a coordinator says where it listens", shown(url)));
    }
    let good = matches!(uri.scheme_str(), Some("http" | "https"))
        && uri.host().is_some_and(|host| !host.is_empty())
        && uri.port_u16().is_some_and(|port| port > 0)
        && uri.authority().is_some_and(|a| !a.as_str().contains('@'))
        && matches!(uri.path(), "" | "/")
        && uri.query().is_none();
    if good { Ok(()) } else { Err(bad()) }
}

/// Refuses a worker that does not say properly who it is.
pub(crate) fn check_hello(hello: &wire::Hello) -> Result<(), ClusterError> {
    check_name(&hello.name)?;
    check_address(&hello.address)?;
    if hello.version != VERSION {
        let version = shown(&hello.version);
        return refuse(format!("it is version {version}, the coordinator {VERSION}: use the same on all machines"));
    }
    Ok(())
}

/// Refuses a request with names that cannot be any, before they are looked up or repeated in an error.
pub(crate) fn check_submit(request: &wire::SubmitRequest) -> Result<(), ClusterError> {
    if request.tables.len() + request.metrics.len() > ASKED {
        return refuse(format!("a job can ask for {ASKED} tables and metrics, not more: make several jobs of it"));
    }
    let names = request.tables.iter().chain(&request.metrics).chain([&request.rules]);
    match names.into_iter().find(|name| name.len() > TABLE || name.chars().any(char::is_control)) {
        Some(name) => refuse(format!("{} is no name of a table, a metric or rules", shown(name))),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_workers() {
        for good in ["w", "local-1", "host.example_2-77", &"n".repeat(NAME)] {
            check_name(good).unwrap();
        }
        for bad in ["", " ", "a b", "a\n", "\u{1b}[2J", "../w", "wörker", &"n".repeat(NAME + 1)] {
            assert!(check_name(bad).is_err(), "{bad:?}");
        }
        assert!(check_name(&"\u{7}".repeat(100_000)).unwrap_err().line().len() < 1000);
    }

    #[test]
    fn addresses_of_workers() {
        for good in ["http://w1:7421", "https://10.0.0.1:1", "http://[::1]:7421", "http://host:7421/"] {
            check_address(good).unwrap();
        }
        let long = format!("http://{}:1", "h".repeat(URL));
        for bad in [
            "",
            "w1:7421",
            "http://w1",
            "http://:1",
            "http://w1:0",
            "http://w1:1/x",
            "s3://w1:1",
            "http://w1:1?q",
            "ftp://w1:1",
            "http://user@w1:1",
            "http://w1:99999",
            "http://w 1:1",
            "file:///etc",
            &long,
        ] {
            assert!(check_address(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn what_a_job_asks_for() {
        let ask = |tables: Vec<String>| check_submit(&wire::SubmitRequest { tables, ..Default::default() });
        ask(vec!["T3".into()]).unwrap();
        assert!(ask(vec!["K".repeat(65)]).is_err() && ask(vec!["K\u{1b}".into()]).is_err());
        assert!(ask(vec![String::new(); ASKED + 1]).is_err());
    }
}
