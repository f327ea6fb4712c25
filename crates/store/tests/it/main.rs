//! Stores against folders and servers, sound and hindered ones.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may stop")]

mod causes;
mod fake_s3;
mod http;
mod retries;
mod s3;
mod stores;
