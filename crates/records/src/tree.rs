//! Moves with their variations.

use canju_xiangqi::Move;

/// A place in a [`Tree`]: the position after a move, or the start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(u32);

impl NodeId {
    /// The position before all moves.
    pub const START: NodeId = NodeId(0);

    /// The number of the node: 0 for the start, and then in the order in which they were added.
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// Marks the absence of a node: no node has the start after it.
const NONE: NodeId = NodeId::START;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Notes {
    comment: String,
    glyphs: Vec<u8>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Node {
    chosen: Option<Move>,
    parent: NodeId,
    first: NodeId,
    last: NodeId,
    next: NodeId,
    notes: Option<Box<Notes>>,
}

impl Node {
    const fn new(chosen: Option<Move>, parent: NodeId) -> Self {
        Self { chosen, parent, first: NONE, last: NONE, next: NONE, notes: None }
    }
}

/// The moves of a game from its start on. The first move after a position is the main one, any
/// others are its variations, and no two of them are the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tree {
    nodes: Vec<Node>,
}

impl Default for Tree {
    fn default() -> Self {
        Self { nodes: vec![Node::new(None, NONE)] }
    }
}

impl Tree {
    /// A tree without moves.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// How many moves there are, variations included.
    #[must_use]
    pub fn len(&self) -> usize {
        self.nodes.len() - 1
    }

    /// Whether there is no move.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Adds a move after a node and returns its node, which is the one that was there if this move was. Whether it
    /// is legal is for who adds it to know.
    ///
    /// # Panics
    ///
    /// If the tree has four thousand million moves, or `after` is a node of another, larger tree.
    pub fn add(&mut self, after: NodeId, chosen: Move) -> NodeId {
        if let Some(there) = self.children(after).find(|&child| self.chosen(child) == Some(chosen)) {
            return there;
        }
        assert!(self.nodes.len() < u32::MAX as usize, "a tree holds fewer moves");
        let added = NodeId(self.nodes.len() as u32);
        self.nodes.push(Node::new(Some(chosen), after));
        let last = self.nodes[after.index()].last;
        match last {
            NONE => self.nodes[after.index()].first = added,
            last => self.nodes[last.index()].next = added,
        }
        self.nodes[after.index()].last = added;
        added
    }

    /// The move that leads to a node; `None` for the start.
    #[must_use]
    pub fn chosen(&self, node: NodeId) -> Option<Move> {
        self.nodes[node.index()].chosen
    }

    /// The node before; `None` for the start.
    #[must_use]
    pub fn parent(&self, node: NodeId) -> Option<NodeId> {
        (node != NodeId::START).then(|| self.nodes[node.index()].parent)
    }

    /// The node after the main move.
    #[must_use]
    pub fn main(&self, node: NodeId) -> Option<NodeId> {
        some(self.nodes[node.index()].first)
    }

    /// The nodes one move on, the main one first.
    pub fn children(&self, node: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        std::iter::successors(self.main(node), |child| some(self.nodes[child.index()].next))
    }

    /// What is said after a move, or before all; empty where nothing is.
    #[must_use]
    pub fn comment(&self, node: NodeId) -> &str {
        self.nodes[node.index()].notes.as_ref().map_or("", |notes| &notes.comment)
    }

    /// Adds to what is said after a move, on a line of its own.
    pub fn add_comment(&mut self, node: NodeId, comment: &str) {
        let comment = comment.trim();
        if comment.is_empty() {
            return;
        }
        let there = &mut self.notes(node).comment;
        if !there.is_empty() {
            there.push('\n');
        }
        there.push_str(comment);
    }

    /// The numeric glyphs of PGN after a move: 1 for `!`, 2 for `?` and so on.
    #[must_use]
    pub fn glyphs(&self, node: NodeId) -> &[u8] {
        self.nodes[node.index()].notes.as_ref().map_or(&[], |notes| &notes.glyphs)
    }

    /// Adds a glyph, unless it is there.
    pub fn add_glyph(&mut self, node: NodeId, glyph: u8) {
        if !self.glyphs(node).contains(&glyph) {
            self.notes(node).glyphs.push(glyph);
        }
    }

    fn notes(&mut self, node: NodeId) -> &mut Notes {
        self.nodes[node.index()].notes.get_or_insert_default()
    }
}

fn some(node: NodeId) -> Option<NodeId> {
    (node != NONE).then_some(node)
}
