//! Bytes of a finished table: shards, blocks, manifest, reading and writing
