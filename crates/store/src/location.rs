//! Where a store is, as a user writes it.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use reqwest::Url;

use crate::Key;

/// Where a store is: a folder, a bucket, or a web server. Written as a path, `s3://bucket/prefix`,
/// `http://…` or `https://…`; [`Display`](fmt::Display) gives a text that is read as the same location.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Location {
    /// A local folder.
    Folder(PathBuf),
    /// Objects of an S3-compatible server, all below one prefix.
    S3 {
        /// The bucket.
        bucket: String,
        /// What stands before every key, without a `/` at its end; empty for the whole bucket.
        prefix: String,
    },
    /// Files of a web server, to be read only; the URL ends with `/`.
    Http(Url),
}

/// A text that is no location of a store.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{given} is no place for tables: {reason}")]
pub struct LocationError {
    given: String,
    reason: String,
}

impl Location {
    /// The path, where it is a folder.
    #[must_use]
    pub fn folder(&self) -> Option<&Path> {
        match self {
            Self::Folder(path) => Some(path),
            _ => None,
        }
    }

    /// The same location for processes that run in other folders: a folder's path from the root on.
    ///
    /// # Errors
    /// When the path is empty, is not plain text, or the current folder is gone.
    pub fn absolute(self) -> Result<Self, LocationError> {
        let Self::Folder(path) = self else { return Ok(self) };
        let wrong = |reason: String| LocationError { given: path.display().to_string(), reason };
        let whole = std::path::absolute(&path).map_err(|e| wrong(format!("{e}; give another path")))?;
        if whole.to_str().is_none() {
            return Err(wrong("the path is not plain text; give another".to_owned()));
        }
        Ok(Self::Folder(whole))
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Folder(path) => path.display().fmt(f),
            Self::S3 { bucket, prefix } if prefix.is_empty() => write!(f, "s3://{bucket}"),
            Self::S3 { bucket, prefix } => write!(f, "s3://{bucket}/{prefix}"),
            Self::Http(url) => url.fmt(f),
        }
    }
}

impl FromStr for Location {
    type Err = LocationError;

    fn from_str(text: &str) -> Result<Self, LocationError> {
        let Some((scheme, rest)) = text.split_once("://") else {
            return match text {
                "" => Err(wrong(text, "it is empty; give a folder, s3://BUCKET/PREFIX or https://HOST/PATH")),
                _ if SCHEMES.iter().any(|scheme| begins_with(text, scheme)) => Err(slashes(text)),
                _ => Ok(Self::Folder(text.into())),
            };
        };
        match scheme.to_ascii_lowercase().as_str() {
            "s3" => s3(text, rest),
            "http" | "https" => web(text),
            "file" => Err(wrong(text, "give the folder's path alone, without file://")),
            "gs" | "az" | "r2" | "minio" => Err(wrong(
                text,
                "only S3 is spoken; give s3://BUCKET/PREFIX, and the server's URL for S3 with --s3-endpoint",
            )),
            other => Err(wrong(
                text,
                &format!("{other}:// is not known; give a folder, s3://BUCKET/PREFIX, http:// or https://"),
            )),
        }
    }
}

/// What stands before `://` where a store is no folder.
const SCHEMES: [&str; 3] = ["s3", "https", "http"];

/// True for a scheme and a colon, in letters of any size.
fn begins_with(text: &str, scheme: &str) -> bool {
    text.split_once(':').is_some_and(|(found, _)| found.eq_ignore_ascii_case(scheme))
}

/// A scheme without both of its slashes is no folder that anybody has.
fn slashes(text: &str) -> LocationError {
    let (scheme, rest) = text.split_once(':').unwrap_or((text, ""));
    if rest.contains(['@', '?']) {
        return hidden(scheme, "two slashes belong behind the colon");
    }
    let rest = rest.trim_start_matches('/');
    wrong(text, &format!("two slashes belong behind the colon; give {scheme}://{rest}, or ./{text} for a folder"))
}

fn s3(text: &str, rest: &str) -> Result<Location, LocationError> {
    let (bucket, prefix) = rest.split_once('/').unwrap_or((rest, ""));
    if bucket.is_empty() {
        return Err(wrong(text, "it has no bucket; give s3://BUCKET/PREFIX"));
    }
    if rest.contains('@') {
        return Err(hidden("s3", "access keys belong into the environment or a profile, not into the location"));
    }
    let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-');
    if bucket.len() > 255 || !bucket.bytes().all(plain) || !bucket.starts_with(|c: char| c.is_ascii_alphanumeric()) {
        return Err(wrong(
            text,
            &format!("{bucket} is no name of a bucket: they have letters, digits, '.', '_' and '-' only"),
        ));
    }
    let prefix = prefix.strip_suffix('/').unwrap_or(prefix);
    if !prefix.is_empty() {
        Key::new(prefix).map_err(|e| wrong(text, &format!("its prefix cannot be used: {e}")))?;
    }
    Ok(Location::S3 { bucket: bucket.to_owned(), prefix: prefix.to_owned() })
}

fn web(text: &str) -> Result<Location, LocationError> {
    let mut url = Url::parse(text).map_err(|e| wrong(text, &format!("{e}; give https://HOST/PATH")))?;
    if !url.username().is_empty() || url.password().is_some() {
        return Err(hidden(url.scheme(), "a password in it would be seen in logs; give a URL without one"));
    }
    if url.query().is_some() || url.fragment().is_some() {
        // What stands behind a question mark may be a signature: it is not repeated.
        return Err(hidden(url.scheme(), "files are looked for below it, so it can have no '?' or '#'"));
    }
    if !url.path().ends_with('/') {
        let path = format!("{}/", url.path());
        url.set_path(&path);
    }
    Ok(Location::Http(url))
}

fn wrong(text: &str, reason: &str) -> LocationError {
    LocationError {
        given: if text.is_empty() { "\"\"".to_owned() } else { text.to_owned() },
        reason: reason.to_owned(),
    }
}

/// As [`wrong`] for a text that may hold a secret.
fn hidden(scheme: &str, reason: &str) -> LocationError {
    wrong(&format!("{scheme}://…"), reason)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Location, LocationError> {
        text.parse()
    }

    #[test]
    fn what_is_written_is_read_again() {
        let s3 = |bucket: &str, prefix: &str| Location::S3 { bucket: bucket.into(), prefix: prefix.into() };
        for (text, location, written) in [
            ("./tables", Location::Folder("./tables".into()), "./tables"),
            ("/a b/ä", Location::Folder("/a b/ä".into()), "/a b/ä"),
            ("s3", Location::Folder("s3".into()), "s3"),
            ("./s3:/xq", Location::Folder("./s3:/xq".into()), "./s3:/xq"),
            ("s3://xq", s3("xq", ""), "s3://xq"),
            ("s3://xq/", s3("xq", ""), "s3://xq"),
            ("S3://xq/a/b/", s3("xq", "a/b"), "s3://xq/a/b"),
            ("http://h:9000", Location::Http("http://h:9000/".parse().unwrap()), "http://h:9000/"),
            ("https://h/t", Location::Http("https://h/t/".parse().unwrap()), "https://h/t/"),
        ] {
            assert_eq!(read(text).unwrap(), location, "{text}");
            assert_eq!(location.to_string(), written);
            assert_eq!(read(written).unwrap(), location);
        }
    }

    #[test]
    fn what_is_no_location_is_told_with_a_remedy() {
        for (text, told) in [
            ("", "it is empty"),
            ("s3://", "has no bucket"),
            ("s3:///prefix", "has no bucket"),
            ("s3:/xq/a", "give s3://xq/a, or ./s3:/xq/a for a folder"),
            ("S3:xq/a", "give S3://xq/a"),
            ("https:/host/t", "give https://host/t"),
            ("s3://a b", "no name of a bucket"),
            ("s3://xq//a", "a segment is empty"),
            ("s3://xq/../a", "begins with a dot"),
            ("gs://xq", "--s3-endpoint"),
            ("file:///tmp", "path alone"),
            ("ftp://host/", "ftp:// is not known"),
            ("http://", "give https://HOST/PATH"),
        ] {
            let error = read(text).unwrap_err().to_string();
            assert!(error.contains(told), "{text}: {error}");
        }
    }

    #[test]
    fn secrets_in_a_location_are_refused_and_not_repeated() {
        for text in [
            "https://me:hush@host/",
            "https://hush@host/",
            "https://host/t?sig=hush",
            "s3://id:hush@xq/a",
            "s3:/id:hush@xq/a",
        ] {
            let error = read(text).unwrap_err().to_string();
            assert!(!error.contains("hush"), "{error}");
        }
    }

    #[test]
    fn a_folder_is_told_from_the_root_on() {
        let whole = read("a/b").unwrap().absolute().unwrap();
        assert!(whole.folder().unwrap().is_absolute() && whole.folder().unwrap().ends_with("a/b"));
        assert_eq!(read("s3://xq/a").unwrap().absolute().unwrap(), read("s3://xq/a").unwrap());
    }
}
