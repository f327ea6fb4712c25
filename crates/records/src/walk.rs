//! Going through the moves of a record.

use canju_xiangqi::{Move, Position};

use crate::{NodeId, Record};

/// One move of a record, with the positions around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ply {
    /// Where it stands in the tree.
    pub node: NodeId,
    /// Its number: 1 for a move from the start, whoever makes it.
    pub number: usize,
    /// The position that it is made in.
    pub before: Position,
    /// The move.
    pub chosen: Move,
    /// The position after it.
    pub after: Position,
}

/// What comes next when a record is read aloud with its variations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// A move.
    Move(Box<Ply>),
    /// A variation begins: its first move stands instead of the last one told.
    Open,
    /// The variation ends: back to where it began.
    Close,
}

enum Task {
    Open,
    Close,
    /// A move after a position.
    Play(NodeId, Position, usize),
    /// Whatever moves follow it, and how many came before them.
    GoOn(NodeId, Position, usize),
}

/// See [`Record::steps`].
struct Steps<'a> {
    record: &'a Record,
    /// The last is the next.
    tasks: Vec<Task>,
}

impl Iterator for Steps<'_> {
    type Item = Step;

    fn next(&mut self) -> Option<Step> {
        loop {
            match self.tasks.pop()? {
                Task::Open => return Some(Step::Open),
                Task::Close => return Some(Step::Close),
                Task::Play(node, before, number) => {
                    if let Some(chosen) = self.record.tree.chosen(node) {
                        let after = before.play(chosen);
                        return Some(Step::Move(Box::new(Ply { node, number, before, chosen, after })));
                    }
                }
                Task::GoOn(node, position, number) => self.plan(node, position, number),
            }
        }
    }
}

impl Steps<'_> {
    /// Plans the main move, then the variations with all that follows them, then all that follows the main move.
    fn plan(&mut self, node: NodeId, position: Position, number: usize) {
        let tree = &self.record.tree;
        let Some(main) = tree.main(node) else { return };
        let go_on = |child: NodeId| {
            let after = tree.chosen(child).map_or(position, |chosen| position.play(chosen));
            Task::GoOn(child, after, number + 1)
        };
        let mut tasks = vec![Task::Play(main, position, number + 1)];
        for other in tree.children(node).skip(1) {
            tasks.extend([Task::Open, Task::Play(other, position, number + 1), go_on(other), Task::Close]);
        }
        tasks.push(go_on(main));
        self.tasks.extend(tasks.into_iter().rev());
    }
}

impl Record {
    /// All moves: each is followed by its variations, and then by what comes after it.
    pub fn steps(&self) -> impl Iterator<Item = Step> + '_ {
        Steps { record: self, tasks: vec![Task::GoOn(NodeId::START, self.start, 0)] }
    }

    /// The moves of the main line.
    pub fn main_line(&self) -> impl Iterator<Item = Ply> + '_ {
        let mut position = self.start;
        let nodes = std::iter::successors(self.tree.main(NodeId::START), |&node| self.tree.main(node));
        (1..).zip(nodes).map_while(move |(number, node)| {
            let (before, chosen) = (position, self.tree.chosen(node)?);
            position = before.play(chosen);
            Some(Ply { node, number, before, chosen, after: position })
        })
    }
}
