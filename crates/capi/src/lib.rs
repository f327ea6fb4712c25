//! The tables for engines in C: what `include/canju.h` declares.
//!
//! Each function takes what C gives apart, asks the [`Prober`] behind the handle, and turns what comes back into a
//! number. A panic ends here and becomes `CANJU_INTERNAL`; pointers are looked at for NULL, and what cannot be seen of
//! them (that they are what the header asks for) is the caller's promise.
#![allow(unsafe_code, reason = "a border to C: pointers come in, and symbols go out under their own names")]

mod failure;

use std::ffi::{CStr, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::NonNull;

use canju_probe::{OpenOptions, Prober, Wdl};
use canju_retro::{Metric, Outcome, Rules};
use canju_xiangqi::Position;

pub use failure::status;
use failure::{Failure, keep};

/// `CANJU_ABI`.
const ABI: i32 = 1;
/// `CANJU_NO_PLIES`.
const NO_PLIES: i32 = -1;

/// What a handle points to.
pub struct Tables(Prober);

/// `canju_best`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Best {
    /// The squares, with a 0 behind.
    pub r#move: [c_char; 8],
    /// Who wins.
    pub outcome: i32,
    /// Plies to mate.
    pub dtm: i32,
    /// Plies to conversion.
    pub dtc: i32,
}

/// Does the work of a function, and gives its number.
fn guarded(work: impl FnOnce() -> Result<(), Failure>) -> i32 {
    // What a panic interrupts is not asked again: a prober's locks and caches hold whole values at any time.
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(Ok(())) => status::OK,
        Ok(Err(failure)) => keep(failure),
        Err(_) => keep(Failure::new(status::INTERNAL, "the library failed; please report what was asked")),
    }
}

/// A text of the caller's.
///
/// # Safety
/// The pointer is NULL, or one to bytes that end with 0 and stay as they are for `'a`.
unsafe fn text<'a>(what: &str, given: *const c_char) -> Result<&'a str, Failure> {
    if given.is_null() {
        return Err(Failure::new(status::INVALID, format!("{what} is NULL: give a text")));
    }
    // SAFETY: not NULL, so by the caller's promise a text that ends with 0.
    let text = unsafe { CStr::from_ptr(given) };
    text.to_str().map_err(|_| Failure::new(status::INVALID, format!("{what} is not UTF-8")))
}

/// Where a result goes. The caller may have named one place for two results, so this is no reference.
struct Out<T>(NonNull<T>);

impl<T> Out<T> {
    /// # Safety
    /// The pointer is NULL, or one to memory of a `T`, initialised or not, that can be written to until
    /// [`put`](Self::put) is called.
    unsafe fn new(what: &str, given: *mut T) -> Result<Self, Failure> {
        let place = NonNull::new(given).map(Self);
        place.ok_or_else(|| Failure::new(status::INVALID, format!("{what} is NULL: say where the result is to be put")))
    }

    fn put(self, value: T) {
        // SAFETY: what `new` was promised. What was there is not dropped: it is plain numbers or uninitialised.
        unsafe { self.0.write(value) }
    }
}

/// The tables behind a handle.
///
/// # Safety
/// The pointer is NULL, or one that [`canju_open`] gave and that is not closed for `'a`.
unsafe fn prober<'a>(given: *const Tables) -> Result<&'a Prober, Failure> {
    // SAFETY: not NULL where this gives it, and then what `canju_open` boxed; it is shared, never written to.
    let tables = unsafe { given.as_ref() };
    Ok(&tables.ok_or_else(|| Failure::new(status::INVALID, "the tables are NULL: open some first"))?.0)
}

fn number(outcome: Wdl) -> i32 {
    match outcome {
        Wdl::Win => 1,
        Wdl::Draw => 0,
        Wdl::Loss => -1,
    }
}

/// `CANJU_DTM` or `CANJU_DTC`.
fn distance(metric: i32) -> Result<Metric, Failure> {
    match metric {
        1 => Ok(Metric::Dtm),
        2 => Ok(Metric::Dtc),
        _ => Err(Failure::new(status::INVALID, format!("{metric} is no metric: give CANJU_DTM or CANJU_DTC"))),
    }
}

/// `canju_abi`.
#[unsafe(no_mangle)]
pub extern "C" fn canju_abi() -> i32 {
    ABI
}

/// `canju_version`.
#[unsafe(no_mangle)]
pub extern "C" fn canju_version() -> *const c_char {
    concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast()
}

/// `canju_last_error`.
#[unsafe(no_mangle)]
pub extern "C" fn canju_last_error() -> *const c_char {
    failure::last()
}

/// `canju_open`.
///
/// # Safety
/// `place` and `rules` are NULL or texts that end with 0; `tables` is NULL or can be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn canju_open(
    place: *const c_char,
    rules: *const c_char,
    cache_bytes: u64,
    tables: *mut *mut Tables,
) -> i32 {
    guarded(|| {
        // SAFETY: this function's own conditions.
        let (place, out) = unsafe { (text("the place", place)?, Out::new("tables", tables)?) };
        let mut options = OpenOptions::default();
        if !rules.is_null() {
            // SAFETY: as above.
            options.rules = unsafe { text("the rules", rules)? }.parse::<Rules>()?;
        }
        if cache_bytes > 0 {
            options.cache = cache_bytes;
        }
        let prober = Prober::open(place, &options)?;
        out.put(Box::into_raw(Box::new(Tables(prober))));
        Ok(())
    })
}

/// `canju_close`.
///
/// # Safety
/// `tables` is NULL, or what [`canju_open`] gave, not closed yet and used by nobody.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn canju_close(tables: *mut Tables) {
    guarded(|| {
        if !tables.is_null() {
            // SAFETY: it came from `Box::into_raw` in `canju_open`, and by the caller's promise only once comes here.
            drop(unsafe { Box::from_raw(tables) });
        }
        Ok(())
    });
}

/// `canju_probe_wdl`.
///
/// # Safety
/// `tables` is NULL or open, `fen` NULL or a text that ends with 0, `outcome` NULL or can be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn canju_probe_wdl(tables: *const Tables, fen: *const c_char, outcome: *mut i32) -> i32 {
    guarded(|| {
        // SAFETY: this function's own conditions.
        let (prober, fen, out) = unsafe { (prober(tables)?, text("the FEN", fen)?, Out::new("outcome", outcome)?) };
        out.put(number(prober.wdl(&Position::from_fen(fen)?)?));
        Ok(())
    })
}

/// `canju_probe_distance`.
///
/// # Safety
/// `tables` is NULL or open, `fen` NULL or a text that ends with 0, `outcome` and `plies` NULL or can be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn canju_probe_distance(
    tables: *const Tables,
    fen: *const c_char,
    metric: i32,
    outcome: *mut i32,
    plies: *mut i32,
) -> i32 {
    guarded(|| {
        // SAFETY: this function's own conditions.
        let (prober, fen) = unsafe { (prober(tables)?, text("the FEN", fen)?) };
        // SAFETY: as above.
        let (outcome, plies) = unsafe { (Out::new("outcome", outcome)?, Out::new("plies", plies)?) };
        let value = prober.outcome(&Position::from_fen(fen)?, distance(metric)?)?;
        outcome.put(number(value.into()));
        plies.put(match value {
            Outcome::Draw => NO_PLIES,
            Outcome::Win(distance) | Outcome::Loss(distance) => i32::from(distance.plies),
        });
        Ok(())
    })
}

/// `canju_probe_order`.
///
/// # Safety
/// `tables` is NULL or open, `fen` NULL or a text that ends with 0, `order` NULL or can be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn canju_probe_order(
    tables: *const Tables,
    fen: *const c_char,
    metric: i32,
    order: *mut i32,
) -> i32 {
    guarded(|| {
        // SAFETY: this function's own conditions.
        let (prober, fen, out) = unsafe { (prober(tables)?, text("the FEN", fen)?, Out::new("order", order)?) };
        out.put(match prober.outcome(&Position::from_fen(fen)?, distance(metric)?)? {
            Outcome::Draw => 0,
            Outcome::Win(distance) | Outcome::Loss(distance) => i32::from(distance.order),
        });
        Ok(())
    })
}

/// `canju_best_move`.
///
/// # Safety
/// `tables` is NULL or open, `fen` NULL or a text that ends with 0, `best` NULL or can be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn canju_best_move(tables: *const Tables, fen: *const c_char, best: *mut Best) -> i32 {
    guarded(|| {
        // SAFETY: this function's own conditions.
        let (prober, fen, out) = unsafe { (prober(tables)?, text("the FEN", fen)?, Out::new("best", best)?) };
        let position = Position::from_fen(fen)?;
        let moves = prober.moves(&position)?;
        let Some((chosen, value)) = moves.first() else {
            return Err(Failure::new(status::OVER, format!("{fen} has no legal move: the side to move has lost")));
        };
        let mut squares = [0; 8];
        for (place, letter) in squares.iter_mut().zip(chosen.to_string().bytes().take(7)) {
            *place = letter as c_char;
        }
        let plies = |plies: Option<u16>| plies.map_or(NO_PLIES, i32::from);
        out.put(Best { r#move: squares, outcome: number(value.outcome), dtm: plies(value.dtm), dtc: plies(value.dtc) });
        Ok(())
    })
}
