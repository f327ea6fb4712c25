//! What is written is what is read, and the bytes depend on the cells alone.

use canju_retro::{Code, Metric, Odds, Side, SliceCodes};
use canju_table::{Dictionary, EncodeError, ShardSpec, ShardWriter, encode_slice, write_shard};
use proptest::prelude::*;
use rayon::prelude::*;

use crate::fixtures::{Random, cells, code, collect, name, open, slice, spec, write};

/// Writes and reads, and compares every cell. Returns the shard.
fn round_trip(spec: &ShardSpec, slices: &[SliceCodes]) -> Vec<u8> {
    let (bytes, info) = write(spec, slices);
    assert_eq!(info.bytes, bytes.len() as u64);
    assert_eq!(info.blake3, blake3::hash(&bytes).to_hex().as_str());
    let shard = open(bytes.clone(), &spec.table).unwrap();
    let (read, given) = (shard.spec(), spec);
    assert_eq!((&read.cells, read.number, read.row), (&given.cells, given.number, given.row));
    assert_eq!(shard.verify(&info).unwrap().cells, slices.iter().map(|s| s.len() as u64).sum::<u64>());
    for (part, codes) in slices.iter().enumerate() {
        let (side, number) = (Side::BOTH[part % 2], spec.first_slice + part as u32 / 2);
        let read = collect(|sink| shard.read(side, number, sink).unwrap());
        let wanted: Vec<Code> = (0..codes.len()).map(|i| codes.get(i).unwrap()).collect();
        assert!(read == wanted, "slice {number} {side:?}");
        for cell in [0, codes.len() / 3, codes.len().saturating_sub(1)] {
            assert_eq!(shard.code(side, number, cell as u32).ok(), codes.get(cell));
        }
        assert!(shard.code(side, number, codes.len() as u32).is_err());
    }
    assert!(shard.code(Side::First, spec.slices().end, 0).is_err());
    bytes
}

#[test]
fn from_one_code_to_thousands() {
    for codes in [1, 2, 3, 4, 5, 16, 17, 100, 256, 257, 3000, 60_000] {
        for run in [1, 3, 1000] {
            let given: Vec<_> = (0..4).map(|i| slice(&cells(i, 20_000, codes, run))).collect();
            round_trip(&spec(&[20_000, 20_000]), &given);
        }
    }
}

/// Odds that are nearly all different stand by their bits, two or three bytes a cell; those that are few by a palette.
#[test]
fn odds_of_any_number() {
    let mut random = Random(11);
    let mut draw = |of: fn(f64) -> Odds, values: u32| {
        let mut next = || Code::from(of(f64::from(random.next(values + 1)) / f64::from(values)));
        SliceCodes::Plain((0..30_000).map(|_| next()).collect())
    };
    for (of, values, most) in [
        (Odds::of as fn(f64) -> Odds, 1 << 30, 3.1),
        (Odds::coarse, 1 << 30, 2.1),
        (Odds::of, 1, 0.3),
        (Odds::of, 255, 1.3),
        (Odds::of, 256, 3.1),
    ] {
        let spec = ShardSpec { metric: Metric::Odds, ..spec(&[30_000]) };
        let bytes = round_trip(&spec, &[draw(of, values), draw(of, values)]);
        assert!((bytes.len() as f64) < 60_000.0 * most, "{values}: {} bytes", bytes.len());
    }
    let distances = SliceCodes::Plain((0..300).map(code).collect());
    let refused = encode_slice(&spec(&[300]), Side::First, 7, &distances, &Dictionary::none(1));
    assert!(matches!(refused, Err(EncodeError::Odds)));
    let few = SliceCodes::Plain((0..256).map(code).collect());
    round_trip(&spec(&[256]), &[few.clone(), few]);
}

#[test]
fn nothing_is_a_shard_too() {
    let none = SliceCodes::Narrow { palette: vec![], cells: vec![] };
    round_trip(&spec(&[]), &[]);
    round_trip(&spec(&[0, 1]), &[none.clone(), none, slice(&[5]), slice(&[0])]);
}

#[test]
fn one_code_takes_no_cells() {
    let one = slice(&vec![9; 100_000]);
    let bytes = round_trip(&spec(&[100_000]), &[one.clone(), one]);
    assert!(bytes.len() < 50 * 25 + 200, "{}", bytes.len());
}

#[test]
fn blocks_end_with_rows() {
    let (bytes, _) = write(&spec(&[20_000]), &[slice(&cells(1, 20_000, 9, 9)), slice(&cells(2, 20_000, 9000, 2))]);
    let shard = open(bytes, &name("KCPKA")).unwrap();
    let mut ends = Vec::new();
    shard.read(Side::First, 7, &mut |b| ends.push(b.first as usize + b.cells.len())).unwrap();
    assert_eq!(ends, [4050, 8100, 12_150, 16_200, 20_000]);
    let mut rows = 0;
    shard.read(Side::Second, 7, &mut |b| rows += usize::from(b.first % 90 == 0)).unwrap();
    assert!(rows > 40, "{rows} blocks of many codes begin a row");
}

/// The same cells by another palette, with repeated and unused codes, or as the wide kind.
#[test]
fn the_palette_given_does_not_matter() {
    let mut random = Random(5);
    for codes in [3, 200] {
        let numbers = cells(3, 30_000, codes, 5);
        let spec = spec(&[30_000]);
        let plain = write(&spec, &[slice(&numbers), slice(&numbers)]).0;
        let mut palette: Vec<Code> = (0..2 * codes + 100).map(|n| code(n % codes)).collect();
        palette.push(code(777));
        let mut wide = Vec::new();
        for &n in &numbers {
            wide.push((n + codes * random.next(2)) as u16);
        }
        let wide = SliceCodes::Wide { palette, cells: wide };
        assert!(write(&spec, &[wide.clone(), wide]).0 == plain);
    }
}

#[test]
fn threads_do_not_matter() {
    let given: Vec<_> = (0..6).map(|i| slice(&cells(i, 300_000, 40 + 40 * i as u32, 20))).collect();
    for level in [1, 3, 5, 9] {
        for dictionary in [false, true] {
            let block_cells = if dictionary { 1 << 14 } else { 1 << 16 };
            let spec = ShardSpec { level, dictionary, block_cells, ..spec(&[300_000; 3]) };
            let shards: Vec<_> = [1, 2, 5]
                .map(|threads| {
                    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                    pool.install(|| write(&spec, &given).0)
                })
                .into_iter()
                .collect();
            assert!(shards.iter().all(|s| *s == shards[0]), "level {level}");
            assert!(shards[0].len() < 6 * 300_000 / 2);
        }
    }
}

/// By hand, from many threads in any order, it is the same shard as at once.
#[test]
fn slices_are_encoded_in_any_order() {
    let given: Vec<_> = (0..6).map(|i| slice(&cells(i, 200_000, 30, 20))).collect();
    let spec = ShardSpec { dictionary: true, ..spec(&[200_000; 3]) };
    let dictionary = Dictionary::train(&spec, &[&given[0], &given[1]]).unwrap();
    assert!(!dictionary.bytes().is_empty());
    let part = |i: usize| encode_slice(&spec, Side::BOTH[i % 2], 7 + i as u32 / 2, &given[i], &dictionary).unwrap();
    let mut encoded: Vec<_> = (0..6).into_par_iter().rev().map(part).collect();
    let mut writer = ShardWriter::new(spec.clone(), &dictionary).unwrap();
    assert!(matches!(writer.push(encoded[0].clone()), Err(EncodeError::Slice(_))), "the last slice is not the first");
    while let Some(slice) = encoded.pop() {
        writer.push(slice).unwrap();
    }
    assert!(writer.push(part(5)).is_err());
    assert!(writer.finish().unwrap().0 == round_trip(&spec, &given));
}

#[test]
fn mistakes_are_named() {
    let dictionary = Dictionary::none(3);
    let short = encode_slice(&spec(&[10]), Side::First, 7, &slice(&[1; 9]), &dictionary);
    assert!(short.unwrap_err().to_string().contains("9 cells for slice 7"));
    assert!(matches!(
        encode_slice(&spec(&[10]), Side::First, 8, &slice(&[1; 10]), &dictionary),
        Err(EncodeError::Slice(_))
    ));
    for bad in [
        SliceCodes::Narrow { palette: vec![code(1)], cells: vec![0, 1] },
        SliceCodes::Wide { palette: vec![code(1)], cells: vec![0, 1] },
    ] {
        assert!(matches!(encode_slice(&spec(&[2]), Side::First, 7, &bad, &dictionary), Err(EncodeError::Palette)));
    }
    for wrong in [ShardSpec { row: 0, ..spec(&[1]) }, ShardSpec { block_cells: 0, ..spec(&[1]) }] {
        assert!(matches!(write_shard(&wrong, |_, _| Ok(slice(&[1]))), Err(EncodeError::Spec { .. })));
    }
    assert!(ShardWriter::new(spec(&[1]), &dictionary).unwrap().finish().is_err());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]
    #[test]
    fn any_cells(
        parts in proptest::collection::vec((0u64..99, 0u32..3000, 1u32..2000, 1u32..50), 0..4),
        row in 1u32..200,
        block_cells in 1u32..1500,
    ) {
        let sizes: Vec<u32> = parts.iter().map(|p| p.1).collect();
        let spec = ShardSpec { row, block_cells, ..spec(&sizes) };
        let given: Vec<_> = parts
            .iter()
            .flat_map(|&(seed, len, codes, run)| [0, 1].map(|s| slice(&cells(2 * seed + s, len as usize, codes, run))))
            .collect();
        round_trip(&spec, &given);
    }
}
