//! Files of every format, whole and broken.
#![allow(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

mod dhtml;
mod hostile;
mod lists;
mod pgn;
mod xqf;
mod xqf_writer;

use canju_records::{File, Record, RecordError, Step, read};

/// The only record of a file that is in order.
fn one(bytes: &[u8]) -> Record {
    let File { mut records, .. } = read(bytes).unwrap();
    assert_eq!(records.len(), 1);
    assert_eq!(records[0].warnings, []);
    records.remove(0)
}

fn error(bytes: &[u8]) -> RecordError {
    read(bytes).unwrap_err()
}

/// The moves with their variations in brackets and comments in braces.
fn told(record: &Record) -> String {
    let said = |node| match record.tree.comment(node) {
        "" => String::new(),
        comment => format!(" {{{comment}}}"),
    };
    let mut words = vec![said(canju_records::NodeId::START)];
    for step in record.steps() {
        words.push(match step {
            Step::Move(ply) => format!("{}{}", ply.chosen, said(ply.node)),
            Step::Open => "(".into(),
            Step::Close => ")".into(),
        });
    }
    words.join(" ").trim().to_owned()
}

fn gbk(text: &str) -> Vec<u8> {
    encoding_rs::GBK.encode(text).0.into_owned()
}
