//! Solutions as pages.

use canju_puzzles::{Puzzle, Solution};

use crate::examples;

fn page(file: &str, text: &str) -> String {
    Solution::of(&Puzzle::parse(file, text).unwrap()).unwrap().page().unwrap()
}

/// All examples: every step has its scene, and nothing comes from elsewhere.
#[test]
fn every_example_is_a_page() {
    let mut seen = 0;
    for entry in std::fs::read_dir(examples()).unwrap() {
        let puzzle = Puzzle::read(&entry.unwrap().path()).unwrap();
        let solution = Solution::of(&puzzle).unwrap();
        let page = solution.page().unwrap();
        let scenes = page.matches("<g class=\"scene").count();
        assert_eq!((scenes, page.matches("<g class=\"scene now").count()), (page.matches("<li>").count(), 1));
        let steps = solution.steps().unwrap_or(0) as usize;
        // Regions with lengths are stops on a longer way.
        assert!(scenes == steps + 1 || (scenes > 1 && scenes <= steps), "{}: {scenes}", puzzle.title());
        assert!(
            !page.contains("src=") && !page.contains("@import") && page.matches("http").count() == 2,
            "{}",
            puzzle.title()
        );
        for name in ["{title}", "{summary}", "{chinese}", "{picture}", "{first}", "{steps}"] {
            assert!(!page.contains(name), "{name}");
        }
        seen += 1;
    }
    assert!(seen >= 10);
}

/// Where there is no end, what keeps the mouse safe is told.
#[test]
fn what_keeps_the_mouse_safe_is_told() {
    let puzzle = crate::example("chase.toml");
    let page = Solution::of(&puzzle).unwrap().page().unwrap();
    let start = puzzle.start();
    let best: Vec<String> =
        crate::solved("chase.toml").best(start).into_iter().map(|to| puzzle.step(start, to)).collect();
    assert!(!best.is_empty() && page.contains(&format!("the mouse is safe: {}", best.join(", or "))), "{best:?}");
}

/// Browsers that speak Chinese are told everything in Chinese but for the names of the file.
#[test]
fn every_step_is_told_in_chinese_too() {
    for (name, wanted) in [
        ("ghosts.toml", ["此岸：person ×3、ghost ×3；对岸：无人；船在此岸", "过河", "最少 11 步"]),
        ("maze.txt", ["第 2 行，第 1 列", "向下", "最少 58 步"]),
        ("castle.toml", ["到 ", "：已走 ", "最少 5 步"]),
        ("chase-open.toml", ["猫在 2，老鼠在 3，老鼠走", "老鼠到 ", "猫在 8 步内抓住老鼠"]),
        ("chase.toml", ["猫在 2，老鼠在 3，老鼠走", "老鼠安全：老鼠到 ", "老鼠安全"]),
    ] {
        let page = crate::solved(name).page().unwrap();
        let told: String = page.split("data-zh=\"").skip(1).map(|rest| rest.split('"').next().unwrap()).collect();
        for words in wanted {
            assert!(told.contains(words), "{name}: {words} is not in {told}");
        }
        assert_eq!(page.matches("data-zh=\"").count(), page.matches("<li>").count() + 1, "{name}");
    }
}

/// Who is where: three of each at the start, the boat with them; in the end all across.
#[test]
fn scenes_show_who_is_where() {
    let text = "puzzle = \"river\"\n[[passenger]]\nname = \"ann\"\nrows = true\n[[passenger]]\nname = \"bag\"\ncount = 14\n[boat]\nseats = 15\n";
    let page = page("all.toml", text);
    let scenes: Vec<&str> =
        page.split("<g class=\"scene").skip(1).map(|rest| rest.split("</g>").next().unwrap()).collect();
    assert_eq!(scenes.len(), 2);
    for scene in &scenes {
        // A crowd is a dozen, of which the last stands for three.
        assert_eq!((scene.matches("<circle").count(), scene.matches(">+3<").count()), (13, 1), "{scene}");
    }
    // Who has come has a ring.
    assert_eq!((scenes[0].matches("stroke-width").count(), scenes[1].matches("stroke-width").count()), (0, 13));
    assert_ne!(scenes[0].split("<path").nth(1), scenes[1].split("<path").nth(1));
}

/// Words of a file are words, whatever they look like.
#[test]
fn words_are_no_markup() {
    let text = "puzzle = \"river\"\ntitle = \"</title><script>{picture}\"\n[[passenger]]\nname = \"<b>\"\nrows = true\n[boat]\nseats = 1\n";
    let page = page("evil.toml", text);
    assert!(!page.contains("<b>") && page.contains("&lt;b&gt;"));
    assert_eq!(
        (page.matches("<script>").count(), page.matches("&lt;/title&gt;&lt;script&gt;{picture}").count()),
        (1, 4)
    );
}
