//! What a step of the rules of repetition reads in one slice.

use std::borrow::Cow;
use std::cell::{OnceCell, RefCell};

use canju_retro::{GameError, Side};

use crate::index::Index;
use crate::labels::Labels;
use crate::territory::Territory;

/// The cells of the hunted that he has not won, of a slice or nothing where nothing has been won yet.
type Unwon<'a> = Option<Cow<'a, [u128]>>;

/// Where the words of a slice that is worked on come from.
pub(crate) struct View<'a> {
    pub territory: &'a Territory,
    pub index: &'a Index,
    pub labels: &'a dyn Labels,
    pub slice: usize,
    /// The slice's words.
    pub words: usize,
    /// The side that may profit.
    pub hunted: Side,
    here: OnceCell<Unwon<'a>>,
    near: RefCell<Vec<(usize, Unwon<'a>)>>,
    failed: RefCell<Option<GameError>>,
}

impl<'a> View<'a> {
    pub fn new(territory: &'a Territory, labels: &'a dyn Labels, slice: u32, hunted: Side) -> Self {
        Self {
            territory,
            index: &territory.index,
            labels,
            slice: slice as usize,
            words: territory.words(slice),
            hunted,
            here: OnceCell::new(),
            near: RefCell::default(),
            failed: RefCell::default(),
        }
    }

    pub fn hunter(&self) -> Side {
        self.hunted.other()
    }

    /// The cells of the hunted that he has not won.
    #[inline]
    pub fn unwon(&self, slice: usize, word: usize) -> u128 {
        match self.here.get() {
            Some(Some(set)) if slice == self.slice => set[word],
            _ => self.find_unwon(slice, word),
        }
    }

    fn find_unwon(&self, slice: usize, word: usize) -> u128 {
        let of = |set: &Unwon<'_>| match set {
            Some(set) => set[word],
            None => self.territory.legal(slice, word, self.hunted),
        };
        if slice == self.slice {
            return of(self.here.get_or_init(|| self.load(slice)));
        }
        let mut near = self.near.borrow_mut();
        let at = near.iter().position(|(s, _)| *s == slice).unwrap_or_else(|| {
            near.push((slice, self.load(slice)));
            near.len() - 1
        });
        of(&near[at].1)
    }

    fn load(&self, slice: usize) -> Unwon<'a> {
        self.labels.unwon(slice as u32, self.hunted).unwrap_or_else(|error| {
            self.failed.replace(Some(error));
            None
        })
    }

    /// What could not be read, once all is done.
    pub fn finish(self) -> Result<(), GameError> {
        self.failed.take().map_or(Ok(()), Err)
    }
}
