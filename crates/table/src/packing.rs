//! Cells of 2, 4 or 8 bits in bytes, the first cell in the lowest bits.
//!
//! Two codes take two bits as well: zstd finds more in four cells a byte than in eight, by 5 % of a table of
//! wins and draws.

/// Bits that a cell needs for so many codes.
pub(crate) const fn bits_for(codes: usize) -> u8 {
    match codes {
        0 | 1 => 0,
        2..=4 => 2,
        5..=16 => 4,
        _ => 8,
    }
}

/// Bytes that so many cells take.
pub(crate) const fn packed_len(cells: usize, bits: u8) -> usize {
    (cells * bits as usize).div_ceil(8)
}

/// Appends the cells, each turned by `map`, which must yield values of `bits` bits.
pub(crate) fn pack(cells: &[u8], map: &[u8; 256], bits: u8, out: &mut Vec<u8>) {
    let start = out.len();
    out.resize(start + packed_len(cells.len(), bits), 0);
    let packed = &mut out[start..];
    // Eight cells make as many bytes as a cell has bits.
    match bits {
        2 => pack_by::<2>(cells, map, packed),
        4 => pack_by::<4>(cells, map, packed),
        8 => pack_by::<8>(cells, map, packed),
        _ => {}
    }
}

/// Tables repeat themselves: a word of eight cells that is the same as the one before is not worked out again.
fn pack_by<const BITS: usize>(cells: &[u8], map: &[u8; 256], packed: &mut [u8]) {
    let word_of =
        |cells: &[u8]| cells.iter().rev().fold(0u64, |w, &c| w << (BITS % 64) | u64::from(map[usize::from(c)]));
    let (words, rest) = cells.as_chunks::<8>();
    let (packed, last) = packed.split_at_mut(words.len() * BITS);
    let groups = packed.as_chunks_mut::<BITS>().0;
    let (mut before, mut group) = ([0; 8], [0; BITS]);
    group.copy_from_slice(&word_of(&before).to_le_bytes()[..BITS]);
    for (word, place) in words.iter().zip(groups) {
        if *word != before {
            before = *word;
            group.copy_from_slice(&word_of(word).to_le_bytes()[..BITS]);
        }
        *place = group;
    }
    last.copy_from_slice(&word_of(rest).to_le_bytes()[..last.len()]);
}

/// One cell.
pub(crate) fn get(packed: &[u8], bits: u8, cell: usize) -> Option<u8> {
    if bits == 0 {
        return Some(0);
    }
    let bits = usize::from(bits);
    let byte = *packed.get(cell * bits / 8)?;
    Some(((u32::from(byte) >> (cell * bits % 8)) & ((1 << bits) - 1)) as u8)
}

/// Fills `cells` with one byte a cell. `packed` holds at least as many cells.
pub(crate) fn unpack(packed: &[u8], bits: u8, cells: &mut [u8]) {
    match bits {
        2 => unpack_by::<4>(packed, cells, |byte, i| byte >> (2 * i) & 3),
        4 => unpack_by::<2>(packed, cells, |byte, i| byte >> (4 * i) & 15),
        8 => cells.copy_from_slice(&packed[..cells.len()]),
        _ => cells.fill(0),
    }
}

fn unpack_by<const N: usize>(packed: &[u8], cells: &mut [u8], field: impl Fn(u8, usize) -> u8) {
    let (groups, rest) = cells.as_chunks_mut::<N>();
    for (group, &byte) in groups.iter_mut().zip(packed) {
        for (i, cell) in group.iter_mut().enumerate() {
            *cell = field(byte, i);
        }
    }
    if let Some(&byte) = packed.get(groups.len()) {
        for (i, cell) in rest.iter_mut().enumerate() {
            *cell = field(byte, i);
        }
    }
}

/// The largest cell, as the bits have it: unused bits of the last byte count as cells too.
pub(crate) fn largest(packed: &[u8], bits: u8) -> u8 {
    let fold = |fields: u8, mask: u8| {
        packed
            .iter()
            .fold(0u8, |most, &byte| (0..fields).fold(most, |most, i| most.max(byte >> (i * (8 / fields)) & mask)))
    };
    match bits {
        2 => fold(4, 3),
        4 => fold(2, 15),
        8 => fold(1, 255),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn there_and_back(
            cells in proptest::collection::vec(any::<u8>(), 0..100),
            bits in proptest::sample::select(vec![0u8, 2, 4, 8]),
            repeat in 1usize..30,
        ) {
            let mask = ((1u32 << bits) - 1) as u8;
            let cells: Vec<u8> = cells.iter().flat_map(|&c| std::iter::repeat_n(c & mask, repeat)).collect();
            let map = std::array::from_fn(|i| mask - (i as u8 & mask));
            let mut packed = Vec::new();
            pack(&cells, &map, bits, &mut packed);
            prop_assert_eq!(packed.len(), packed_len(cells.len(), bits));
            let mut back = vec![99; cells.len()];
            unpack(&packed, bits, &mut back);
            let wanted: Vec<u8> = cells.iter().map(|&c| map[usize::from(c)]).collect();
            prop_assert!(back == wanted);
            for (i, &cell) in wanted.iter().enumerate() {
                prop_assert_eq!(get(&packed, bits, i), Some(cell));
            }
            prop_assert_eq!(largest(&packed, bits), wanted.iter().copied().max().unwrap_or(0));
        }
    }
}
