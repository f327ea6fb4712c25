//! Work on slices in a given order, a few at a time.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use canju_retro::GameError;

/// Does `work` for the items in order, at most `width` at a time, on the calling thread's rayon pool. After an error no
/// more is begun.
pub(crate) fn in_order(
    width: usize,
    items: &[usize],
    work: impl Fn(usize) -> Result<(), GameError> + Sync,
) -> Result<(), GameError> {
    let next = AtomicUsize::new(0);
    let failed = Mutex::new(None);
    let run = || {
        while let Some(&item) = items.get(next.fetch_add(1, Ordering::Relaxed)) {
            if let Err(error) = work(item) {
                next.store(items.len(), Ordering::Relaxed);
                failed.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
            }
        }
    };
    rayon::scope(|scope| {
        (1..width.min(items.len())).for_each(|_| scope.spawn(|_| run()));
        run();
    });
    failed.into_inner().unwrap_or_else(PoisonError::into_inner).map_or(Ok(()), Err)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_at_a_time_than_asked_for() {
        let items: Vec<usize> = (0..200).collect();
        for width in [1, 3] {
            let (now, most, sum) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicUsize::new(0));
            let work = |item| {
                most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                sum.fetch_add(item, Ordering::SeqCst);
                std::thread::yield_now();
                now.fetch_sub(1, Ordering::SeqCst);
                Ok(())
            };
            in_order(width, &items, work).unwrap();
            assert_eq!(sum.into_inner(), 199 * 100);
            assert!(most.into_inner() <= width);
        }
    }

    #[test]
    fn an_error_ends_the_work() {
        let begun = Mutex::new(Vec::new());
        let work = |item| {
            begun.lock().unwrap().push(item);
            if item == 5 { Err(GameError::OutOfTurn("a test".into())) } else { Ok(()) }
        };
        assert!(in_order(1, &[3, 5, 7, 9], work).is_err());
        assert_eq!(begun.into_inner().unwrap(), [3, 5]);
    }
}
