//! Sets of slices of which only some are in memory at a time.

use std::path::Path;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use canju_retro::{GameError, ScratchFile};

use crate::pack;

/// The words of one set, counted while they are in memory.
pub(crate) struct Set {
    pub words: Vec<u128>,
    live: Arc<AtomicU64>,
}

impl Drop for Set {
    fn drop(&mut self) {
        self.live.fetch_sub(self.words.capacity() as u64 * 16, Ordering::Relaxed);
    }
}

/// Where one set is: in memory, in the file, in both, or nowhere yet.
#[derive(Default)]
struct Slot {
    set: Option<Arc<Set>>,
    /// Bytes in the file, if they are those of the set.
    stored: Option<usize>,
    /// True where it was asked for since the last look for one to drop.
    used: bool,
}

/// Numbered sets, each of a length of its own. Those that are not in use leave memory for the file when there are too many.
///
/// Every set has a lock, which is held while it is read, written or changed: nobody waits for another set's file.
pub(crate) struct Sets {
    slots: Vec<Mutex<Slot>>,
    /// Where each has its place in the file, and the end of the last.
    places: Vec<u64>,
    file: ScratchFile,
    /// Bytes of sets in memory, those in use too.
    live: Arc<AtomicU64>,
    room: u64,
    /// The next one to look at for dropping.
    hand: AtomicUsize,
}

impl Sets {
    /// No sets yet, of these lengths in words.
    pub fn new(words: impl Iterator<Item = usize>, folder: &Path, room: u64) -> Result<Self, GameError> {
        let mut places = vec![0];
        for words in words {
            places.push(places[places.len() - 1] + pack::most_bytes(words));
        }
        Ok(Self {
            slots: (1..places.len()).map(|_| Mutex::default()).collect(),
            places,
            file: ScratchFile::new(folder)?,
            live: Arc::default(),
            room,
            hand: AtomicUsize::new(0),
        })
    }

    /// Changes how many bytes of sets may be in memory.
    pub fn set_room(&mut self, room: u64) {
        self.room = room;
    }

    fn slot(&self, number: usize) -> MutexGuard<'_, Slot> {
        self.slots[number].lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn counted(&self, words: Vec<u128>) -> Set {
        self.live.fetch_add(words.capacity() as u64 * 16, Ordering::Relaxed);
        Set { words, live: Arc::clone(&self.live) }
    }

    /// Brings a set into memory, if there is one.
    fn fetch(&self, number: usize, slot: &mut Slot) -> Result<(), GameError> {
        if let (None, Some(stored)) = (&slot.set, slot.stored) {
            let mut words = vec![0; ((self.places[number + 1] - self.places[number]) / 16) as usize];
            let mut bytes = vec![0; stored];
            self.file.read_at(&mut bytes, self.places[number])?;
            pack::unpack(&bytes, &mut words)?;
            slot.set = Some(Arc::new(self.counted(words)));
        }
        slot.used = true;
        Ok(())
    }

    /// A set, if there is one.
    pub fn get(&self, number: usize) -> Result<Option<Arc<Set>>, GameError> {
        let mut slot = self.slot(number);
        self.fetch(number, &mut slot)?;
        let set = slot.set.clone();
        drop(slot);
        self.make_room()?;
        Ok(set)
    }

    /// Adds or replaces a set.
    pub fn put(&self, number: usize, words: Vec<u128>) -> Result<(), GameError> {
        let set = self.counted(words);
        *self.slot(number) = Slot { set: Some(Arc::new(set)), stored: None, used: true };
        self.make_room()
    }

    /// Changes a set, which `make` makes if there is none. `change` tells whether it did.
    pub fn change<R>(
        &self,
        number: usize,
        make: impl FnOnce() -> Vec<u128>,
        change: impl FnOnce(&mut [u128]) -> Result<(bool, R), GameError>,
    ) -> Result<R, GameError> {
        let mut slot = self.slot(number);
        self.fetch(number, &mut slot)?;
        let mut set = match slot.set.take().map(Arc::try_unwrap) {
            Some(Ok(set)) => set,
            // Somebody reads it still: it is not changed under their eyes.
            Some(Err(shared)) => self.counted(shared.words.clone()),
            None => self.counted(make()),
        };
        let result = change(&mut set.words);
        if !matches!(result, Ok((false, _))) {
            slot.stored = None;
        }
        slot.set = Some(Arc::new(set));
        drop(slot);
        self.make_room()?;
        result.map(|(_, result)| result)
    }

    /// Drops sets that nobody uses until the others fit, and writes what the file does not have.
    fn make_room(&self) -> Result<(), GameError> {
        // Twice around: the first look at a set that was used lately spares it.
        for _ in 0..2 * self.slots.len() {
            if self.live.load(Ordering::Relaxed) <= self.room {
                break;
            }
            let number = self.hand.fetch_add(1, Ordering::Relaxed) % self.slots.len();
            // Who holds the lock uses the set.
            let Ok(mut slot) = self.slots[number].try_lock() else { continue };
            if std::mem::take(&mut slot.used) || slot.set.as_ref().is_none_or(|set| Arc::strong_count(set) > 1) {
                continue;
            }
            if let (None, Some(set)) = (slot.stored, &slot.set) {
                let bytes = pack::pack(&set.words);
                self.file.write_at(&bytes, self.places[number])?;
                slot.stored = Some(bytes.len());
            }
            slot.set = None;
        }
        Ok(())
    }

    /// Bytes of sets in memory.
    pub fn memory(&self) -> u64 {
        self.live.load(Ordering::Relaxed) + (self.slots.len() * (size_of::<Mutex<Slot>>() + 8)) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_come_back_as_they_were_changed() {
        let folder = tempfile::tempdir().unwrap();
        let lengths: Vec<usize> = (0..40).map(|n| 10 + n * n % 97).collect();
        for room in [0, 4000, 1 << 20] {
            let sets = Sets::new(lengths.iter().copied(), folder.path(), room).unwrap();
            let mut mirror: Vec<Option<Vec<u128>>> = vec![None; lengths.len()];
            let mut at = 1u64;
            for _ in 0..3000 {
                at = at.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                let number = (at >> 33) as usize % lengths.len();
                match at >> 60 {
                    0..6 => {
                        let word = (at >> 20) as usize % lengths[number];
                        let changes = at >> 59 & 1 == 1;
                        let make = || vec![7; lengths[number]];
                        let change = |set: &mut [u128]| {
                            set[word] ^= if changes { u128::from(at) << 50 } else { 0 };
                            Ok((changes, set[word]))
                        };
                        let there = sets.change(number, make, change).unwrap();
                        let (_, here) = change(mirror[number].get_or_insert_with(make)).unwrap();
                        assert_eq!(there, here);
                    }
                    6 => {
                        let words = vec![u128::from(at); lengths[number]];
                        sets.put(number, words.clone()).unwrap();
                        mirror[number] = Some(words);
                    }
                    _ => {
                        let set = sets.get(number).unwrap();
                        assert_eq!(set.as_ref().map(|s| &s.words), mirror[number].as_ref());
                        // One that is in use stays over the bound; the others are within it.
                        let own = set.map_or(0, |s| 16 * s.words.len() as u64);
                        assert!(sets.live.load(Ordering::Relaxed) <= room.max(own));
                    }
                }
            }
            assert_eq!(sets.file.written() > 0, room < 1 << 20);
            drop(sets);
        }
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn threads_share_sets() {
        let folder = tempfile::tempdir().unwrap();
        let sets = Sets::new([64; 30].into_iter(), folder.path(), 5000).unwrap();
        std::thread::scope(|scope| {
            for thread in 0..4u32 {
                let sets = &sets;
                scope.spawn(move || {
                    for round in 0..200u32 {
                        let number = ((round * 7 + thread * 11) % 30) as usize;
                        let add = |set: &mut [u128]| {
                            set[thread as usize] += 1;
                            Ok((true, ()))
                        };
                        sets.change(number, || vec![0; 64], add).unwrap();
                        sets.get((number + 1) % 30).unwrap();
                    }
                });
            }
        });
        let sum = |thread: usize| (0..30).filter_map(|n| sets.get(n).unwrap()).map(|s| s.words[thread]).sum::<u128>();
        assert!((0..4).all(|thread| sum(thread) == 200));
    }
}
