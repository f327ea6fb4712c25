//! Cat and mouse as TOML.

use std::ops::Range;

use canju_retro::Side;
use serde::Deserialize;
use toml::Spanned;

use crate::chase::MOST_NODES;
use crate::error::Text;
use crate::{Chase, PuzzleError, Sanctuary, file};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(rename = "puzzle")]
    _puzzle: String,
    title: Option<String>,
    /// Pairs of nodes with a hyphen between them.
    edges: Vec<Spanned<String>>,
    cat: Spanned<String>,
    mouse: Spanned<String>,
    first: Spanned<String>,
    #[serde(default)]
    sanctuary: Vec<Spanned<String>>,
    rule: Option<Spanned<String>>,
}

pub(crate) fn parse(source: Text) -> Result<(Option<String>, Chase), PuzzleError> {
    let file: File = file::read(source)?;
    let mut pairs = Vec::new();
    let mut nodes: Vec<String> = Vec::new();
    for edge in &file.edges {
        let ends: Vec<&str> = edge.get_ref().split('-').map(str::trim).collect();
        let &[a, b] = &ends[..] else {
            return Err(source.at(edge.span(), "an edge is two nodes with a hyphen between them, as \"1-3\""));
        };
        if a.is_empty() || b.is_empty() || a == b {
            return Err(source.at(edge.span(), "an edge joins two different nodes"));
        }
        nodes.extend([a, b].map(str::to_owned));
        pairs.push((a, b, edge.span()));
    }
    // Numbers in their order, then words in theirs.
    nodes.sort_by_cached_key(|name| (name.parse::<u64>().unwrap_or(u64::MAX), name.clone()));
    nodes.dedup();
    if nodes.is_empty() {
        return Err(source.on(1, "there is no edge: write edges = [\"1-3\", \"1-4\"]"));
    }
    if nodes.len() > MOST_NODES {
        return Err(source.whole(format!("{} nodes: at most {MOST_NODES} are possible", nodes.len())));
    }
    let find = |name: &str, at: Range<usize>| {
        let number = nodes.iter().position(|node| node == name.trim());
        number.map(|n| n as u32).ok_or_else(|| source.at(at, format!("no edge has the node {name:?}")))
    };
    let mut next: Vec<Vec<u32>> = vec![Vec::new(); nodes.len()];
    for (a, b, span) in pairs {
        let (from, to) = (find(a, span.clone())?, find(b, span.clone())?);
        if next[from as usize].contains(&to) {
            return Err(source.at(span, format!("the edge {a}-{b} is there twice")));
        }
        next[from as usize].push(to);
        next[to as usize].push(from);
    }
    next.iter_mut().for_each(|next| next.sort_unstable());
    let mut sanctuary = vec![false; nodes.len()];
    for node in &file.sanctuary {
        sanctuary[find(node.get_ref(), node.span())? as usize] = true;
    }
    let rule = match file.rule.as_ref().map(|rule| (rule.get_ref().as_str(), rule.span())) {
        None | Some(("closed", _)) => Sanctuary::Closed,
        Some(("shared", _)) => Sanctuary::Shared,
        Some((other, span)) => {
            let reason = format!(
                "there is no rule {other:?}: the cat may not enter by \"closed\", both may stand there by \"shared\""
            );
            return Err(source.at(span, reason));
        }
    };
    let side = match file.first.get_ref().as_str() {
        "cat" => Side::First,
        "mouse" => Side::Second,
        other => return Err(source.at(file.first.span(), format!("{other:?} does not move: write cat or mouse"))),
    };
    let (cat, mouse) = (find(file.cat.get_ref(), file.cat.span())?, find(file.mouse.get_ref(), file.mouse.span())?);
    if rule == Sanctuary::Closed && sanctuary[cat as usize] {
        return Err(source.at(file.cat.span(), "the cat cannot begin where it may not enter"));
    }
    Ok((file.title, Chase::new(nodes, next, sanctuary, rule, (cat, mouse, side))))
}
