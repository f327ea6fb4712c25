//! Addresses of coordinators and workers on the command line.

use canju_cluster::{Network, check_address};

/// Takes `HOST:PORT` or `http://HOST:PORT`, also with https, as it stands: which of them is meant where it is not said is
/// decided by whether certificates are given.
///
/// # Errors
/// For what is no address of a server, with what to write instead.
pub fn address(text: &str) -> Result<String, String> {
    let text = text.trim();
    check_address(&Network::default().url_of(text)).map_err(|error| error.to_string())?;
    Ok(text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_address_is_refused_at_once() {
        for good in ["127.0.0.1:7420", " host:1 ", "http://host:7420", "https://[::1]:7420/", "[::1]:7420"] {
            assert_eq!(address(good).as_deref(), Ok(good.trim()), "{good}");
        }
        for (bad, told) in [
            ("", "HOST:PORT"),
            ("host", "has no port"),
            ("http://host", "has no port"),
            ("ftp://host:7420", "ftp://"),
            ("127.0.0.1:99999", "HOST:PORT"),
            ("http://host:7420/page", "HOST:PORT"),
            ("s3://bucket:1", "s3://"),
        ] {
            let error = address(bad).unwrap_err();
            assert!(error.contains(told), "{bad}: {error}");
        }
    }
}
