//! Which captures are attacks, for the second opinion: read off the table of the rules, on a board of ninety letters.

use crate::board::{Board, is_red};

impl Board {
    /// The board after a capture, if it is one and leaves the capturer's king safe.
    fn taking(&self, from: usize, to: usize) -> Option<Self> {
        let letter = self.0[from];
        if self.0[to] == 0 || is_red(letter) == is_red(self.0[to]) {
            return None;
        }
        let mut reaches = false;
        self.targets(from, &mut |target| reaches |= target == to);
        if !reaches {
            return None;
        }
        let mut after = self.clone();
        (after.0[from], after.0[to]) = (0, letter);
        (!after.is_exposed(is_red(letter))).then_some(after)
    }

    /// Whether the piece on `from` attacks the enemy's on `to` by the rules of repetition.
    pub(crate) fn attacks(&self, from: usize, to: usize) -> bool {
        let (by, of) = (self.0[from].to_ascii_uppercase(), self.0[to].to_ascii_uppercase());
        if matches!(by, b'K' | b'P') || of == b'K' {
            return false;
        }
        let Some(after) = self.taking(from, to) else { return false };
        let recaptured = || (0..90).any(|s| after.0[s] != 0 && s != to && after.taking(s, to).is_some());
        let returned = || self.taking(to, from).is_some();
        match of {
            b'R' => match by {
                b'N' | b'C' => true,
                b'R' => !returned() && !recaptured(),
                _ => !recaptured(),
            },
            b'N' => !(recaptured() || by == b'N' && returned()),
            b'C' => !(recaptured() || by == b'C' && returned()),
            b'P' => {
                let over = if is_red(self.0[to]) { to >= 45 } else { to < 45 };
                over && !recaptured()
            }
            _ => !recaptured(),
        }
    }
}
