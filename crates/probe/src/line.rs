//! How play goes on when both sides do their best.

use canju_retro::Metric;
use canju_xiangqi::{Move, Position};

use crate::{ProbeError, Prober, Value, Wdl};

impl Prober {
    /// The moves to mate or stalemate, or the first `limit` of them: the winner takes the shortest way by the
    /// metric, the loser the longest. By the distance to conversion the count starts anew after each capture.
    ///
    /// Under the rules of repetition a loser who could go on with a perpetual check or chase breaks it off at once, and the
    /// count starts anew; where all his moves go on with it, the line ends before them.
    ///
    /// # Errors
    /// [`ProbeError::Draw`] where nobody wins; [`ProbeError::NoDistances`] for a metric without; as [`Prober::probe`]
    /// for each position of the line, and [`canju_table::TableError::Missing`] where a table lacks the metric.
    pub fn main_line(&self, position: &Position, metric: Metric, limit: usize) -> Result<Vec<Move>, ProbeError> {
        self.main_line_while(position, metric, limit, || true)
    }

    /// The same, ended early where `goes_on` says so, which is asked before each move: tables may be far away.
    ///
    /// # Errors
    /// As [`Prober::main_line`].
    pub fn main_line_while(
        &self,
        position: &Position,
        metric: Metric,
        limit: usize,
        mut goes_on: impl FnMut() -> bool,
    ) -> Result<Vec<Move>, ProbeError> {
        if !metric.is_distance() {
            return Err(ProbeError::NoDistances(metric));
        }
        let distances = self.distances.and(metric);
        let mut board = *position;
        let mut line = Vec::new();
        loop {
            let value = self.value(&board, distances)?;
            if value.outcome == Wdl::Draw {
                return Err(ProbeError::Draw { fen: board.to_fen() });
            }
            if value.distance(metric).is_none() {
                return Err(self.missing(&self.table_of(&board)?, Some(metric)));
            }
            if line.len() == limit || !goes_on() {
                return Ok(line);
            }
            // A violation leads further from the end than the position is.
            let far = |value: &Value| (value.order, value.distance(metric));
            let falls = |(_, after): &&(Move, Value)| value.outcome == Wdl::Win || far(after) <= far(&value);
            let moves = self.ranked(&board, metric, distances)?;
            let Some(&(best, after)) = moves.iter().find(falls) else {
                if value.order > 0 || moves.is_empty() {
                    return Ok(line);
                }
                return Err(self.contradiction(self.table_of(&board)?, &board));
            };
            // The best move is worth what the position is; only who breaks off a perpetual has it otherwise.
            let breaks_off = value.outcome == Wdl::Loss && value.order > 0;
            if after.outcome != value.outcome || (far(&after) != far(&value) && !breaks_off) {
                return Err(self.contradiction(self.table_of(&board)?, &board));
            }
            line.push(best);
            board = board.play(best);
        }
    }
}
