//! A solution as a page that stands by itself: it shows the way step by step and asks nobody for anything.

use std::fmt::Write;

use canju_retro::Players;

use crate::Solution;
use crate::svg::{Drawn, escape};

/// A page has a picture of each step.
const MOST_STEPS: u32 = 5000;

/// A way with more steps than a page can show.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{steps} steps are more than a page shows, which are {MOST_STEPS}: --svg draws the whole way")]
pub struct TooManySteps {
    steps: u32,
}

impl Solution {
    /// A page of HTML that shows a shortest solution step by step.
    ///
    /// # Errors
    /// [`TooManySteps`] where it would grow too large for a browser.
    pub fn page(&self) -> Result<String, TooManySteps> {
        if let Some(steps) = self.steps().filter(|&steps| steps > MOST_STEPS) {
            return Err(TooManySteps { steps });
        }
        let puzzle = self.puzzle();
        let line = self.line(puzzle.start());
        let scenes = self.scenes(&line);
        let (mut body, mut steps) = (scenes.ground.body, String::new());
        for (at, (scene, words)) in scenes.scenes.iter().enumerate() {
            let now = if at == 0 { " now" } else { "" };
            let _ = writeln!(body, "<g class=\"scene{now}\">{scene}</g>");
            let words = escape(words);
            let _ = writeln!(steps, "<li><button type=\"button\"><span>{at}</span><span>{words}</span></button></li>");
        }
        let picture = self.framed(&Drawn { size: scenes.ground.size, body });
        let first = scenes.scenes.first().map_or("", |(_, words)| words);
        // What is put in is not looked at again: a title may be any text.
        let parts = [
            ("title", escape(puzzle.title())),
            ("summary", escape(&self.summary())),
            ("picture", picture),
            ("first", escape(first)),
            ("steps", steps),
        ];
        let (mut page, mut rest) = (String::new(), include_str!("../page/solution.html"));
        while let Some((name, part, at)) = parts
            .iter()
            .filter_map(|(name, part)| Some((name, part, rest.find(&format!("{{{name}}}"))?)))
            .min_by_key(|p| p.2)
        {
            page += &rest[..at];
            page += part;
            rest = &rest[at + name.len() + 2..];
        }
        Ok(page + rest)
    }

    /// How it ends, in words.
    fn summary(&self) -> String {
        let counts = self.counts();
        let (positions, legal) = (counts.positions, counts.legal);
        match (self.puzzle().rules().players(), self.steps()) {
            (Players::One, Some(steps)) => format!(
                "{positions} positions, {legal} legal: {} solvable, {} dead; the least number of steps is {steps}",
                counts.decided, counts.open
            ),
            (Players::One, None) => format!("{positions} positions, {legal} legal: there is no solution"),
            (Players::Two, Some(plies)) => format!("the cat catches the mouse in {plies} plies"),
            (Players::Two, None) => "the mouse is safe".to_owned(),
        }
    }
}
