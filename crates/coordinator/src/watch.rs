//! `coordinator status --watch`: the status again and again, in place where that is a terminal.

use std::time::{Duration, Instant};

use anyhow::Result;
use canju_cluster::{Client, ClusterError, is_sure, status_json, time_in_words, wire};
use console::{Term, truncate_str};

use crate::print;
use crate::screen::screen;

/// How often the status is asked for.
const INTERVAL: Duration = Duration::from_secs(1);

/// Shows the status until the user ends it. A coordinator that is lost is asked again.
///
/// # Errors
/// When the coordinator is not there at the beginning, or nothing can be printed.
pub(crate) async fn watch<C>(connect: impl Fn() -> C, json: bool) -> Result<()>
where
    C: Future<Output = Result<Client>>,
{
    let mut client = connect().await?;
    // Only who was there once is waited for.
    client.status().await?;
    let term = Term::stdout();
    let live = term.is_term() && !json;
    if live {
        print("\x1b[?25l\x1b[2J")?;
    }
    let ended = tokio::select! {
        shown = show(connect, client, &term, live, json) => shown,
        _ = tokio::signal::ctrl_c() => Ok(()),
    };
    if live {
        print("\x1b[?25h\n")?;
    }
    ended
}

async fn show<C>(connect: impl Fn() -> C, client: Client, term: &Term, live: bool, json: bool) -> Result<()>
where
    C: Future<Output = Result<Client>>,
{
    let mut client = Some(client);
    let mut heard = Instant::now();
    let mut text = String::new();
    loop {
        match ask(&mut client, &connect).await {
            Some(status) => {
                heard = Instant::now();
                text = if json { format!("{}\n", status_json(&status)) } else { screen(&status) };
                if live { draw(term, &text)? } else { print(&text)? }
            }
            None => {
                let lost = format!("! no answer for {}, trying again\n", time_in_words(heard.elapsed().as_secs_f64()));
                // What was last seen stays below.
                match (live, json) {
                    (true, _) => draw(term, &(lost + &text))?,
                    (false, false) => print(&lost)?,
                    (false, true) => {}
                }
            }
        }
        if !live && !json {
            print("\n")?;
        }
        tokio::time::sleep(INTERVAL).await;
    }
}

/// The status, by a new connection where the last one is lost, or leads to one that may not be the active one any more.
async fn ask<C>(client: &mut Option<Client>, connect: impl Fn() -> C) -> Option<wire::StatusReply>
where
    C: Future<Output = Result<Client>>,
{
    if client.is_none() {
        *client = connect().await.ok();
    }
    let answer: Result<wire::StatusReply, ClusterError> = client.as_mut()?.status().await;
    if !answer.as_ref().is_ok_and(is_sure) {
        *client = None;
    }
    answer.ok()
}

/// Writes over what is there. Each line is cut to the width, so that nothing wraps, and the rest is wiped out.
fn draw(term: &Term, text: &str) -> Result<()> {
    let (rows, columns) = term.size();
    let lines = text.lines().take(usize::from(rows).saturating_sub(1));
    let mut out = String::from("\x1b[H");
    for line in lines {
        out += &truncate_str(line, usize::from(columns), "…");
        out += "\x1b[K\n";
    }
    print(&(out + "\x1b[J"))
}
