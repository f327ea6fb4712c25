//! Any bytes as a shard, as they are and with checksums that fit.
#![no_main]

use std::sync::Arc;

use canju_retro::{Side, TableName};
use canju_table::Shard;
use canju_tests::forge;
use libfuzzer_sys::fuzz_target;

fn read(bytes: Vec<u8>) {
    for table in ["KPKA", "KPK"] {
        let table = TableName::new(table).unwrap();
        let Ok(shard) = Shard::open(Arc::new(bytes.clone()), &table, "fuzz") else { continue };
        for slice in shard.spec().slices().take(3) {
            let cells = shard.spec().slice_cells(slice).unwrap_or_default();
            for side in Side::BOTH {
                for cell in [0, cells / 2, cells.saturating_sub(1), cells, u32::MAX] {
                    let _ = shard.code(side, slice, cell);
                }
                // A few bytes may stand for many equal cells: reading them takes long by right.
                if cells < 1 << 22 {
                    let _ = shard.read(side, slice, &mut |block| {
                        assert!(block.cells.iter().all(|&c| usize::from(c) < block.palette.len()));
                    });
                }
            }
        }
    }
}

fuzz_target!(|bytes: &[u8]| {
    read(bytes.to_vec());
    let mut forged = bytes.to_vec();
    forge(&mut forged);
    read(forged);
});
