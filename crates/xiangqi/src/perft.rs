use crate::Position;

/// Counts the sequences of legal moves of a length, in plies. Repetition plays no part.
///
/// The last ply is counted without making its moves. The position is the same afterwards.
#[must_use]
pub fn perft(position: &mut Position, depth: u32) -> u64 {
    match depth {
        0 => 1,
        1 => position.count_legal_moves() as u64,
        _ => {
            let mut nodes = 0;
            for &chosen in &position.legal_moves() {
                let undo = position.make(chosen);
                nodes += perft(position, depth - 1);
                position.unmake(chosen, undo);
            }
            nodes
        }
    }
}
