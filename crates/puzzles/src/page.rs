//! A solution as a page that stands by itself: it shows the way step by step and asks nobody for anything.

use std::fmt::Write;

use canju_retro::{Cell, Players, Side};

use crate::Solution;
use crate::svg::{Drawn, escape};
use crate::words::counted_plies;

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
            let [words, chinese] = words.each_ref().map(|words| escape(words));
            let _ = writeln!(
                steps,
                "<li><button type=\"button\"><span>{at}</span><span data-zh=\"{chinese}\">{words}</span></button></li>"
            );
        }
        let picture = self.framed(&Drawn { size: scenes.ground.size, body });
        let first = scenes.scenes.first().map_or("", |(_, [words, _])| words);
        let [summary, chinese] = self.summary();
        // What is put in is not looked at again: a title may be any text.
        let parts = [
            ("title", escape(puzzle.title())),
            ("summary", escape(&summary)),
            ("chinese", escape(&chinese)),
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

    /// How it ends, in English and in Chinese.
    fn summary(&self) -> [String; 2] {
        let counts = self.counts();
        let (positions, legal, decided, open) = (counts.positions, counts.legal, counts.decided, counts.open);
        match (self.puzzle().rules().players(), self.steps()) {
            (Players::One, Some(steps)) => [
                format!(
                    "{positions} positions, {legal} legal: {decided} solvable, {open} dead; the least number of steps is {steps}"
                ),
                format!("共 {positions} 个状态，合法 {legal} 个：可解 {decided} 个，死局 {open} 个；最少 {steps} 步"),
            ],
            (Players::One, None) => [
                format!("{positions} positions, {legal} legal: there is no solution"),
                format!("共 {positions} 个状态，合法 {legal} 个：无解"),
            ],
            (Players::Two, Some(plies)) => {
                let counted = counted_plies(plies);
                [format!("the cat catches the mouse in {counted}"), format!("猫在 {plies} 步内抓住老鼠")]
            }
            (Players::Two, None) => self.safe(),
        }
    }

    /// That the mouse is safe, and where it is to move what keeps it so.
    fn safe(&self) -> [String; 2] {
        let (puzzle, start) = (self.puzzle(), self.puzzle().start());
        let best = match start.side {
            Side::First => Vec::new(),
            Side::Second => self.best(start),
        };
        let told = |told: &str, mark: &str, or: &str, step: &dyn Fn(Cell) -> String| match best.is_empty() {
            true => told.to_owned(),
            false => format!("{told}{mark}{}", best.iter().map(|&to| step(to)).collect::<Vec<_>>().join(or)),
        };
        [
            told("the mouse is safe", ": ", ", or ", &|to| puzzle.step(start, to)),
            told("老鼠安全", "：", "，或", &|to| puzzle.step_in_chinese(start, to)),
        ]
    }
}
