//! The rules of xiangqi: board, moves, check, FEN and notation
