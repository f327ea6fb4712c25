//! Cat and mouse as TOML.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::ops::Range;

use canju_retro::Side;
use serde::Deserialize;
use toml::Spanned;

use crate::chase::{MOST_MOVES, MOST_NODES};
use crate::error::Text;
use crate::{Chase, PuzzleError, Sanctuary, file};

#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table")]
struct File {
    #[serde(rename = "puzzle")]
    _puzzle: String,
    title: Option<String>,
    /// Pairs of nodes with a hyphen between them.
    edges: Vec<Spanned<String>>,
    cat: Spanned<Node>,
    mouse: Spanned<Node>,
    first: Spanned<String>,
    #[serde(default)]
    sanctuary: Vec<Spanned<Node>>,
    rule: Option<Spanned<String>>,
}

/// A node by its name, which may be a number.
#[derive(Deserialize)]
#[serde(untagged, expecting = "a node is a name, as \"den\", or a number")]
enum Node {
    Name(String),
    Number(u64),
}

impl fmt::Display for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => name.fmt(f),
            Self::Number(number) => number.fmt(f),
        }
    }
}

pub(crate) fn parse(source: Text) -> Result<(Option<String>, Chase), PuzzleError> {
    let file: File = file::read(source)?;
    let mut pairs = Vec::new();
    let mut names: HashSet<&str> = HashSet::new();
    for edge in &file.edges {
        let ends: Vec<&str> = edge.get_ref().split('-').map(str::trim).collect();
        let &[a, b] = &ends[..] else {
            return Err(source.at(edge.span(), "an edge is two nodes with a hyphen between them, as \"1-3\""));
        };
        if a.is_empty() || b.is_empty() || a == b {
            return Err(source.at(edge.span(), "an edge joins two different nodes"));
        }
        names.extend([a, b]);
        pairs.push((a, b, edge.span()));
        if names.len() > MOST_NODES {
            let reason = format!("{} nodes up to this edge: at most {MOST_NODES} are possible", names.len());
            return Err(source.at(edge.span(), reason));
        }
        // Each edge can be moved along, either way, wherever the other one stands.
        let moves = 4 * names.len() as u64 * pairs.len() as u64;
        if moves > MOST_MOVES {
            let reason = format!(
                "{} nodes and {} edges up to this one make {moves} moves: at most {MOST_MOVES} are possible",
                names.len(),
                pairs.len()
            );
            return Err(source.at(edge.span(), reason));
        }
    }
    let mut nodes: Vec<String> = names.into_iter().map(str::to_owned).collect();
    if nodes.is_empty() {
        return Err(source.on(1, "there is no edge: write edges = [\"1-3\", \"1-4\"]"));
    }
    // Numbers in their order, then words in theirs.
    nodes.sort_by_cached_key(|name| (name.parse::<u64>().unwrap_or(u64::MAX), name.clone()));
    let numbers: HashMap<&str, u32> = nodes.iter().map(String::as_str).zip(0..).collect();
    let find = |name: &str, at: Range<usize>| {
        let number = numbers.get(name.trim()).copied();
        number.ok_or_else(|| source.at(at, format!("no edge has the node {name:?}")))
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
        sanctuary[find(&node.get_ref().to_string(), node.span())? as usize] = true;
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
    let place = |node: &Spanned<Node>| find(&node.get_ref().to_string(), node.span());
    let (cat, mouse) = (place(&file.cat)?, place(&file.mouse)?);
    if rule == Sanctuary::Closed && sanctuary[cat as usize] {
        return Err(source.at(file.cat.span(), "the cat cannot begin where it may not enter"));
    }
    Ok((file.title, Chase::new(nodes, next, sanctuary, rule, (cat, mouse, side))))
}
