//! The zstd dictionary of a shard: what its blocks have in common.

use std::io;

use canju_retro::SliceCodes;
use zstd::bulk::Compressor;
use zstd::dict::EncoderDictionary;
use zstd::zstd_safe::CParameter;

use crate::block::{BlockCompressor, Cutter};
use crate::{EncodeError, ShardSpec};

/// A shard of fewer cells, both sides together, gets no dictionary: it would cost more than it saves.
const TRAIN_FROM: u64 = 1 << 20;
/// The shortest match in bytes. Distances are noisy: shorter matches cost more than they save, by 3 % of a table.
const MIN_MATCH: u32 = 7;
/// Most bytes of a dictionary.
const DICTIONARY_LEN: usize = 16 << 10;
/// Bytes of one sample.
const SAMPLE_LEN: usize = 4 << 10;
/// Most samples: training time grows with them.
const SAMPLES: usize = 192;

/// The dictionary of a shard, possibly none, made ready for compression.
pub struct Dictionary {
    bytes: Vec<u8>,
    level: i32,
    prepared: Option<EncoderDictionary<'static>>,
}

impl Dictionary {
    /// No dictionary.
    #[must_use]
    pub fn none(level: i32) -> Self {
        Self { bytes: Vec::new(), level, prepared: None }
    }

    /// True where [`train`](Self::train) would try: the spec asks for it and the shard is large enough.
    #[must_use]
    pub fn wanted(spec: &ShardSpec) -> bool {
        spec.dictionary && spec.cells.iter().map(|&c| 2 * u64::from(c)).sum::<u64>() >= TRAIN_FROM
    }

    /// Trains a dictionary on slices of the shard (its first slice, both sides, in [`write_shard`](crate::write_shard)).
    /// Depends on the spec and these cells only. Yields none where the shard is small or the slices have nothing to teach.
    ///
    /// # Errors
    /// [`EncodeError::Palette`] when a cell is beyond its palette.
    pub fn train(spec: &ShardSpec, slices: &[&SliceCodes]) -> Result<Self, EncodeError> {
        if !Self::wanted(spec) {
            return Ok(Self::none(spec.level));
        }
        let mut samples = Vec::new();
        let mut lengths = Vec::new();
        let plain = Self::none(1);
        let mut compressor = BlockCompressor::new(&plain)?;
        for codes in slices {
            let cutter = Cutter::new(codes);
            let blocks = cutter.cut(spec.row.max(1) as usize, spec.block_cells.max(1) as usize)?;
            let each = (SAMPLES / slices.len()).div_ceil(blocks.len().max(1)).max(1);
            for block in blocks {
                let packed = cutter.packed(block, &mut compressor)?;
                // Evenly spread over the block.
                let stride = (packed.len() / each).max(SAMPLE_LEN);
                for sample in packed.chunks(stride).map(|c| &c[..c.len().min(SAMPLE_LEN)]) {
                    samples.extend_from_slice(sample);
                    lengths.push(sample.len());
                }
            }
        }
        // The trainer refuses samples that are too few or too alike: then there is nothing to gain.
        let bytes = zstd::dict::from_continuous(&samples, &lengths, DICTIONARY_LEN).unwrap_or_default();
        Ok(Self::from_bytes(bytes, spec.level))
    }

    fn from_bytes(bytes: Vec<u8>, level: i32) -> Self {
        let prepared = (!bytes.is_empty()).then(|| EncoderDictionary::copy(&bytes, level));
        Self { bytes, level, prepared }
    }

    /// The dictionary's bytes, empty where there is none.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub(crate) fn level(&self) -> i32 {
        self.level
    }

    pub(crate) fn compressor(&self) -> io::Result<Compressor<'_>> {
        let mut zstd = match &self.prepared {
            Some(prepared) => Compressor::with_prepared_dictionary(prepared)?,
            None => Compressor::new(self.level)?,
        };
        // The shard has one dictionary: its number in every frame would tell nothing.
        zstd.include_dictid(false)?;
        zstd.set_parameter(CParameter::MinMatch(MIN_MATCH))?;
        Ok(zstd)
    }
}
