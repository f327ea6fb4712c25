//! No bytes make a reader panic, hang or take much memory; no damage goes unseen.

use std::sync::Arc;

use canju_retro::Side;
use canju_table::{Manifest, ShardInfo, ShardSpec, TableError};
use proptest::prelude::*;

use crate::fixtures::{Random, cells, name, open, slice, spec, write};

fn small() -> (ShardSpec, Vec<u8>, ShardInfo) {
    let spec = ShardSpec { block_cells: 500, ..spec(&[1500, 700]) };
    let given: Vec<_> =
        [5, 300, 1, 2].iter().enumerate().map(|(i, &c)| slice(&cells(i as u64, [1500, 700][i / 2], c, 7))).collect();
    let (bytes, info) = write(&spec, &given);
    (spec, bytes, info)
}

/// Everything that can be asked of a shard.
fn use_all(bytes: Vec<u8>) -> Result<u64, TableError> {
    let shard = open(bytes, &name("KCPKA"))?;
    let mut seen = 0;
    for slice in shard.spec().slices().take(10) {
        for side in Side::BOTH {
            shard.read(side, slice, &mut |block| {
                assert!(block.cells.iter().all(|&c| usize::from(c) < block.palette.len()));
                seen += block.cells.len() as u64;
            })?;
            for cell in [0, 1, 600, u32::MAX] {
                let _ = shard.code(side, slice, cell);
            }
        }
    }
    Ok(seen)
}

#[test]
fn every_flipped_byte_is_seen() {
    let (spec, bytes, info) = small();
    assert_eq!(use_all(bytes.clone()).unwrap(), 2 * 2200);
    for at in 0..bytes.len() {
        for flip in [1, 0x80, 0xff] {
            let mut damaged = bytes.clone();
            damaged[at] ^= flip;
            match use_all(damaged.clone()) {
                Err(TableError::Damaged { table, damage, .. }) => {
                    assert_eq!((&table, damage.key.as_str()), (&spec.table, "the shard"));
                    assert!(damage.offset <= at as u64, "byte {at}: {damage}");
                }
                other => panic!("byte {at}: {other:?}"),
            }
            // So does who checks the whole.
            let whole = open(damaged, &spec.table).and_then(|shard| shard.verify(&info));
            assert!(matches!(whole, Err(TableError::Damaged { .. })), "byte {at}");
        }
    }
}

#[test]
fn damage_is_named_by_block_and_byte() {
    let (_, bytes, _) = small();
    let mut damaged = bytes.clone();
    let at = bytes.len() - 1;
    damaged[at] ^= 1;
    let error = use_all(damaged).unwrap_err();
    let TableError::Damaged { damage, .. } = &error else { panic!("{error}") };
    let block = damage.block.unwrap();
    assert!(block > 5 && damage.offset < at as u64);
    assert_eq!(
        damage.to_string(),
        format!("the shard, block {block}, byte {}: the block does not match its checksum", damage.offset)
    );
    assert!(error.to_string().contains("--build KCPKA"), "{error}");
}

#[test]
fn every_truncation_is_seen() {
    let (_, bytes, _) = small();
    for len in 0..bytes.len() {
        assert!(matches!(use_all(bytes[..len].to_vec()), Err(TableError::Damaged { .. })), "{len} bytes");
    }
    let longer = [&bytes[..], &[0]].concat();
    assert!(matches!(use_all(longer), Err(TableError::Damaged { .. })));
}

/// Makes the checksums of the head right again, so that what lies behind them is tried too.
fn resign(bytes: &mut [u8]) {
    let sign = |bytes: &mut [u8], start: usize, end: usize| {
        if start + 8 <= end && end <= bytes.len() {
            let hash = *blake3::hash(&bytes[start..end - 8]).as_bytes();
            bytes[end - 8..end].copy_from_slice(&hash[..8]);
        }
    };
    if bytes.len() < 72 {
        return;
    }
    let number = |bytes: &[u8], at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()) as usize;
    let [header, dictionary, directory] = [12, 16, 20].map(|at| number(bytes, at));
    let len = bytes.len() as u64;
    bytes[24..32].copy_from_slice(&len.to_le_bytes());
    sign(bytes, 0, 40);
    let (a, b) = (40usize.saturating_add(header), 40usize.saturating_add(header).saturating_add(dictionary));
    sign(bytes, 40, a);
    sign(bytes, a, b);
    let end = b.saturating_add(directory);
    if end > bytes.len() || directory < 8 {
        return;
    }
    // The checksums of the blocks, as far as the directory is one. The number of slices stands behind three names
    // and three numbers.
    let slices = number(bytes, 40 + 6 + 6 + 4 + 12);
    let mut offset = end;
    let mut entry = b.saturating_add(slices.saturating_mul(8));
    while entry.saturating_add(16) <= end - 8 {
        let len = number(bytes, entry + 4);
        let Some(block) = bytes.get(offset..offset.saturating_add(len)) else { break };
        let hash = *blake3::hash(block).as_bytes();
        bytes[entry + 8..entry + 16].copy_from_slice(&hash[..8]);
        offset += len;
        entry += 16;
    }
    sign(bytes, b, end);
}

/// Damage with right checksums, as only malice makes it: an answer or an error, nothing worse.
#[test]
fn wrong_bytes_with_right_checksums() {
    let (_, bytes, _) = small();
    let mut same = bytes.clone();
    resign(&mut same);
    assert!(same == bytes);
    let mut random = Random(11);
    for at in 8..bytes.len() {
        for value in [0, 0xff, random.next(256) as u8] {
            let mut damaged = bytes.clone();
            damaged[at] = value;
            resign(&mut damaged);
            let _ = use_all(damaged);
        }
    }
    for _ in 0..3000 {
        let mut damaged = bytes.clone();
        for _ in 0..1 + random.next(6) {
            let at = 8 + random.next(bytes.len() as u32 - 8) as usize;
            damaged[at] = random.next(256) as u8;
        }
        resign(&mut damaged);
        let _ = use_all(damaged);
    }
}

/// A dictionary that zstd refuses is damage, not a panic.
#[test]
fn a_bad_dictionary_is_damage() {
    let (_, bytes, _) = small();
    let number = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
    let at = 40 + number(12) as usize;
    let mut dictionary = vec![0x37, 0xa4, 0x30, 0xec];
    dictionary.extend([0xff; 60]);
    let mut damaged = bytes.clone();
    damaged.splice(at..at, dictionary);
    damaged[16..20].copy_from_slice(&64u32.to_le_bytes());
    resign(&mut damaged);
    let error = use_all(damaged).unwrap_err();
    let TableError::Damaged { damage, .. } = error else { panic!("{error}") };
    assert_eq!((damage.offset, damage.what.as_str()), (at as u64, "zstd refuses the dictionary"));
}

proptest! {
    #[test]
    fn any_bytes_are_no_shard(mut bytes in proptest::collection::vec(any::<u8>(), 0..300), begin in any::<bool>()) {
        if begin && bytes.len() >= 12 {
            bytes[..12].copy_from_slice(b"CANJUTAB\x01\0\0\0");
            resign(&mut bytes);
        }
        let _ = use_all(bytes);
    }

    #[test]
    fn any_bytes_are_no_manifest(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        prop_assert!(Manifest::parse("m", &bytes).is_err());
    }
}

/// A device that fails is no damage.
#[test]
fn a_failing_device_is_named() {
    struct Failing;
    impl canju_table::ReadAt for Failing {
        fn read_at(&self, _: u64, _: &mut [u8]) -> std::io::Result<()> {
            Err(std::io::Error::other("the cable is out"))
        }
        fn size(&self) -> std::io::Result<u64> {
            Ok(1 << 40)
        }
    }
    let error = canju_table::Shard::open(Arc::new(Failing), &name("KPK"), "key").map(|_| ()).unwrap_err();
    assert!(matches!(error, TableError::Io { .. }), "{error}");
}
