//! `fetch index`: what a web server needs to offer tables.

use std::io::Write;

use canju_fetch::write_index;

use crate::arguments::IndexArguments;
use crate::words::count;

pub(crate) async fn run(arguments: &IndexArguments, out: &mut dyn Write) -> anyhow::Result<()> {
    let folder = &arguments.folder;
    match write_index(folder).await? {
        0 => anyhow::bail!(
            "there are no tables in {}: its index is empty; name the folder with the tables",
            folder.display()
        ),
        tables => writeln!(out, "{} listed in tables/index.json of {}", count(tables, "table"), folder.display())?,
    }
    Ok(())
}
