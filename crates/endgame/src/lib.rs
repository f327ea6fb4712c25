//! Xiangqi endgames for the retrograde engine: index, slices and the bit-parallel solver
