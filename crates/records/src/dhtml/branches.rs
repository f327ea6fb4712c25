//! Moves and comments by branch.

use std::collections::{BTreeMap, VecDeque};

use super::tags::Tag;
use super::{read_move, said};
use crate::builder::{Builder, WARNINGS};
use crate::{Fault, NodeId, Place, RecordError};

/// No study has more, and each way back to the start stays short.
const BRANCHES: usize = 2000;
/// The same of comments.
const COMMENTS: usize = 20_000;

struct Branch {
    parent: u32,
    /// The ply that its first move has.
    from: usize,
    digits: Vec<u8>,
    /// What stands among the digits and is none.
    odd: bool,
    place: Place,
}

/// A branch in the tree: the nodes of its own plies.
struct Played {
    parent: Option<u32>,
    from: usize,
    nodes: Vec<NodeId>,
}

pub(super) struct Branches<'a> {
    branches: BTreeMap<u32, Branch>,
    /// By branch and ply.
    comments: Vec<(u32, usize, &'a Tag<'a>)>,
    passed_over: Vec<Place>,
}

impl<'a> Branches<'a> {
    pub fn of(tags: &'a [Tag<'a>]) -> Self {
        let mut all = Self { branches: BTreeMap::new(), comments: Vec::new(), passed_over: Vec::new() };
        for tag in tags {
            if tag.name == "movelist" {
                all.add_list(tag);
            } else if let Some(numbers) = tag.name.strip_prefix("move_") {
                if let [parent, from, branch] = numbers_of(numbers)[..] {
                    all.add(tag.place, tag.value, parent, from as usize, branch);
                }
            } else if let Some(numbers) = tag.name.strip_prefix("comment") {
                if all.comments.len() == COMMENTS {
                    all.pass_over(tag.place);
                    continue;
                }
                match numbers_of(numbers)[..] {
                    [ply] => all.comments.push((0, ply as usize, tag)),
                    [branch, ply] => all.comments.push((branch, ply as usize, tag)),
                    _ => {}
                }
            }
        }
        all
    }

    /// The main branch. Older files have all branches here, each between `[P_N_B]` and `[/P_N_B]`.
    fn add_list(&mut self, tag: &Tag<'_>) {
        let Some((main, named)) = tag.value.split_once('[') else {
            return self.add(tag.place, tag.value, 0, 1, 0);
        };
        if !main.trim().is_empty() {
            self.add(tag.place, main, 0, 1, 0);
        }
        for branch in named.split('[') {
            let (name, moves) = branch.split_once(']').unwrap_or((branch, ""));
            match numbers_of(name)[..] {
                [parent, from, branch] => self.add(tag.place, moves, parent, from as usize, branch),
                _ if name.starts_with('/') && moves.trim().is_empty() => {}
                _ => self.pass_over(tag.place),
            }
        }
    }

    /// Remembers no more places than are told.
    fn pass_over(&mut self, place: Place) {
        if self.passed_over.len() < WARNINGS {
            self.passed_over.push(place);
        }
    }

    fn add(&mut self, place: Place, moves: &str, parent: u32, from: usize, branch: u32) {
        if self.branches.contains_key(&branch) || self.branches.len() == BRANCHES {
            self.pass_over(place);
            return;
        }
        let digits: Vec<u8> = moves.bytes().filter(u8::is_ascii_digit).collect();
        let odd = moves.bytes().any(|b| !b.is_ascii_digit() && !b.is_ascii_whitespace());
        self.branches.insert(branch, Branch { parent, from, digits, odd, place });
    }

    /// The first move of the main branch, in coordinates.
    pub fn first_move(&self) -> Option<String> {
        read_move(self.branches.get(&0)?.digits.get(..4)?).map(|chosen| chosen.to_string())
    }

    /// Plays all branches and hangs the comments on them.
    pub fn play(self, builder: &mut Builder<'_>) -> Result<(), RecordError> {
        for place in &self.passed_over {
            builder.warn(*place, Fault::Branches);
        }
        let mut played: BTreeMap<u32, Played> = BTreeMap::new();
        let mut waiting = VecDeque::from([0]);
        while let Some(number) = waiting.pop_front() {
            if let Some(branch) = self.branches.get(&number) {
                let done = branch_of(branch, number, &played, builder)?;
                played.insert(number, done);
            } else {
                played.insert(number, Played { parent: None, from: 1, nodes: Vec::new() });
            }
            let hang = |(&child, branch): (&u32, &Branch)| (branch.parent == number && child != 0).then_some(child);
            waiting.extend(self.branches.iter().filter_map(hang));
        }
        for (number, branch) in &self.branches {
            if !played.contains_key(number) {
                builder.warn(branch.place, Fault::Orphan { branch: *number, parent: branch.parent });
            }
        }
        for (branch, ply, tag) in self.comments {
            match node_at(branch, ply, &played) {
                Some(node) => builder.record.tree.add_comment(node, &said(tag.value)),
                None if said(tag.value).trim().is_empty() => {}
                None => builder.warn(tag.place, Fault::Comment { ply, branch }),
            }
        }
        Ok(())
    }
}

fn branch_of(
    branch: &Branch,
    number: u32,
    played: &BTreeMap<u32, Played>,
    builder: &mut Builder<'_>,
) -> Result<Played, RecordError> {
    let parent = (number != 0).then_some(branch.parent);
    let mut done = Played { parent, from: branch.from.max(1), nodes: Vec::new() };
    if branch.odd {
        builder.warn(branch.place, Fault::Odd { branch: number });
    }
    let base = match parent {
        None => Some(NodeId::START),
        Some(parent) => done.from.checked_sub(1).and_then(|ply| node_at(parent, ply, played)),
    };
    let Some(mut node) = base else {
        let fault = Fault::Late { branch: number, parent: branch.parent, ply: branch.from };
        builder.warn(branch.place, fault);
        return Ok(done);
    };
    for four in branch.digits.chunks(4) {
        let Some(chosen) = read_move(four) else {
            let text = String::from_utf8_lossy(four).into_owned();
            builder.warn(branch.place, Fault::Digits { text, branch: number });
            break;
        };
        match builder.play(node, chosen, branch.place)? {
            Some(next) => node = next,
            None => break,
        }
        done.nodes.push(node);
    }
    Ok(done)
}

/// The node of a ply of a branch, which before the branch's own plies are its parent's.
fn node_at(mut branch: u32, ply: usize, played: &BTreeMap<u32, Played>) -> Option<NodeId> {
    if ply == 0 {
        return played.contains_key(&branch).then_some(NodeId::START);
    }
    loop {
        let there = played.get(&branch)?;
        if ply >= there.from {
            return there.nodes.get(ply - there.from).copied();
        }
        branch = there.parent?;
    }
}

/// The numbers of `0_13_1`; empty if something else is among them.
fn numbers_of(text: &str) -> Vec<u32> {
    let numbers: Option<Vec<u32>> = text.trim_start_matches('_').split('_').map(|n| n.parse().ok()).collect();
    numbers.unwrap_or_default()
}
