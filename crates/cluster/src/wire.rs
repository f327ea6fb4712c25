//! The generated messages and services; `proto/canju/v1` documents them.
#![allow(missing_docs, clippy::all, clippy::pedantic, rustdoc::all)]

tonic::include_proto!("canju.v1");
