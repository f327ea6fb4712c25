//! Files that are no puzzles say where and why.

use canju_puzzles::Puzzle;

fn says(text: &str, line: Option<usize>, words: &[&str]) {
    for file in ["bad.toml", "bad"] {
        if file == "bad" && !text.contains("puzzle =") {
            continue;
        }
        let error = match Puzzle::parse(file, text) {
            Ok(_) => panic!("it is a puzzle:\n{text}"),
            Err(error) => error,
        };
        assert_eq!((error.file.as_str(), error.line), (file, line), "{error}");
        for word in words {
            assert!(error.reason.contains(word), "{error}: {word}");
        }
        let start = line.map_or(format!("{file}: "), |line| format!("{file}:{line}: "));
        assert!(error.to_string().starts_with(&start), "{error}");
        assert!(!error.to_string().contains('\n'), "{error}");
    }
}

#[test]
fn what_it_is() {
    says("", Some(1), &["puzzle = \"river\""]);
    says("\n\npuzzle = \"chess\"", Some(3), &["chess", "maze"]);
    says("puzzle = \"river\"\n= 3", Some(2), &[]);
    says("puzzle = \"river\"\n", Some(1), &["passenger"]);
}

/// What was expected is told as files have it.
#[test]
fn no_type_has_a_name() {
    says("puzzle = \"river\"\npassenger = [3]\n", Some(2), &["expected a table"]);
    says("puzzle = \"river\"\npassenger = 3\n", Some(2), &["expected a sequence"]);
    says(&format!("{HEAD}{HUNTER}boat = 3\n"), Some(5), &["boat"]);
    says(&format!("{HEAD}boat = 3\n{HUNTER}"), Some(2), &["expected a table"]);
    says("puzzle = \"maze\"\nregion = [\"a\"]\n", Some(2), &["expected a table"]);
}

const HEAD: &str = "puzzle = \"river\"\n";
const HUNTER: &str = "[[passenger]]\nname = \"hunter\"\nrows = true\n";
const SEATS: &str = "[boat]\nseats = 2\n";

#[test]
fn rivers() {
    let river = |rest: &str| format!("{HEAD}{HUNTER}{SEATS}{rest}");
    says(&river("seets = 2\n"), Some(7), &["seets"]);
    says(&format!("{HEAD}{HUNTER}[boat]\nseats = 0\n"), Some(6), &["1 to 16"]);
    says(&format!("{HEAD}{HUNTER}[boat]\n"), Some(5), &["seats = 2"]);
    says(&format!("{HEAD}{HUNTER}[boat]\nseats = 2\nloads = []\n"), Some(6), &["one of them"]);
    says(&format!("{HEAD}{HUNTER}[boat]\nloads = [[\"dog\"]]\n"), Some(6), &["dog"]);
    says(&format!("{HEAD}{HUNTER}[boat]\nloads = [[]]\n"), Some(6), &["1 to 16"]);
    says(&format!("{HEAD}{HUNTER}{HUNTER}{SEATS}"), Some(6), &["another passenger \"hunter\""]);
    says(&format!("{HEAD}[[passenger]]\nname = \"dog\"\n{SEATS}"), Some(4), &["rows = true"]);
    says(&format!("{HEAD}[[passenger]]\nname = \"dog\"\ncount = 0\n{SEATS}"), Some(4), &["no dog"]);
    says(&format!("{HEAD}[[passenger]]\nname = \"dog\"\ncount = -1\n{SEATS}"), Some(4), &["-1"]);
    says(
        &format!("{HEAD}[[passenger]]\nname = \"ant\"\ncount = 999999999\n{SEATS}"),
        Some(3),
        &["positions", "268435456"],
    );
    says(&river("[[forbidden]]\nall = [\"cat\"]\n"), Some(8), &["\"cat\""]);
    says(&river("[[forbidden]]\nnone = [\"hunter\"]\n"), Some(7), &["forbids nobody"]);
    says(&river("[[forbidden]]\nmore = \"hunter\"\n"), Some(8), &["go together"]);
    let shy = "[[passenger]]\nname = \"dog\"\n[[forbidden]]\nall = [\"hunter\"]\nsays = \"he is shy\"\n";
    says(&river(shy), Some(9), &["start is forbidden", "he is shy"]);
}

#[test]
fn mazes() {
    let drawing = |text: &str, line: usize, words: &[&str]| {
        let error = Puzzle::parse("maze.txt", text).err().unwrap();
        assert_eq!(error.line, Some(line), "{error}");
        words.iter().for_each(|word| assert!(error.reason.contains(word), "{error}"));
        // Within TOML, lines are those of the file.
        let toml = format!("puzzle = \"maze\"\ntitle = \"t\"\ndrawing = '''\n{text}'''\n");
        let error = Puzzle::parse("maze.toml", &toml).err().unwrap();
        assert_eq!(error.line, Some(line + 3), "{error}");
    };
    drawing("####\n#S #\n####\n", 2, &["only 'S'"]);
    drawing("####\n#SE#\n#X##\n", 3, &["third mark", "'X'"]);
    drawing("####\n#SE#\n#S##\n", 3, &["line 2 already"]);
    drawing("####\n#\t #\n####\n", 2, &["tab"]);
    drawing("####\n#  #\n####\n", 1, &["0 openings"]);
    drawing("\n\n####\n#  #\n####\n", 3, &["0 openings"]);
    drawing("\n\n", 1, &["no drawing"]);
    drawing("  \n \n", 1, &["no drawing"]);
    drawing("####  \n# S   \n#  #  \n# E   \n####\n", 1, &["not clear", "dots"]);
    says("puzzle = \"maze\"\nentrance = \"SS\"\ndrawing = \"S.E\"\n", Some(2), &["one character"]);
    says("puzzle = \"maze\"\nentrance = \"X\"\ndrawing = \"S.E\"\n", Some(3), &["'X'"]);
    // Lines that are written as \n are on the line on which they are written.
    says("puzzle = \"maze\"\ndrawing = \"##\\n#S\"\n", Some(2), &["only 'S'"]);
    says("puzzle = \"maze\"\ndrawing = \"\"\"\n##\n#\\u0053\n\"\"\"\n", Some(4), &["only 'S'"]);
    // A misspelt key is none that may be left out.
    says("puzzle = \"maze\"\nentrence = \"E\"\ndrawing = \"S.E\"\n", Some(2), &["entrence"]);
    says("puzzle = \"maze\"\ndrawing = \"S.E\"\n[[region]]\nname = \"a\"\nnext = []\n", Some(3), &["region"]);
    let regions = |rest: &str| format!("puzzle = \"maze\"\nentrance = \"a\"\nexit = \"b\"\n{rest}");
    let a = "[[region]]\nname = \"a\"\n";
    says(&regions(&format!("{a}next = []\n")), Some(3), &["no region \"b\""]);
    says(&regions(&format!("{a}next = [\"c\"]\n[[region]]\nname = \"b\"\nnext = []\n")), Some(6), &["\"c\""]);
    says(&regions(&format!("{a}next = [\"a\"]\n[[region]]\nname = \"b\"\nnext = []\n")), Some(6), &["own neighbour"]);
    says(&regions(&format!("{a}next = []\n{a}next = []\n")), Some(8), &["another region"]);
    let twice = "next = [{ to = \"b\", length = 3 }]\n[[region]]\nname = \"b\"\nnext = [{ to = \"a\", length = 4 }]\n";
    says(&regions(&format!("{a}{twice}")), Some(9), &["4 here, and 3"]);
    says(
        &regions(&format!("{a}next = [{{ to = \"b\", length = 0 }}]\n[[region]]\nname = \"b\"\nnext = []\n")),
        Some(6),
        &["0"],
    );
    says(&regions(&format!("{a}next = [3]\n")), Some(6), &["name of a region"]);
}

#[test]
fn chases() {
    let chase = |edges: &str, rest: &str| {
        format!("puzzle = \"chase\"\nedges = [{edges}]\ncat = \"1\"\nmouse = \"2\"\nfirst = \"mouse\"\n{rest}")
    };
    says(&chase("", ""), Some(1), &["no edge"]);
    says(&chase("\"1\"", ""), Some(2), &["hyphen"]);
    says(&chase("\"1-1\"", ""), Some(2), &["different"]);
    says(&chase("\"1-2\", \"2-1\"", ""), Some(2), &["twice"]);
    says(&chase("\"1-3\"", ""), Some(4), &["\"2\""]);
    says(&chase("\"1-2\"", "sanctuary = [\"1\"]\n"), Some(3), &["may not enter"]);
    says(&chase("\"1-2\"", "sanctuary = [\"2\"]\nrule = \"open\"\n"), Some(7), &["closed", "shared"]);
    says(&chase("\"1-2\"", "sanctuary = [true]\n"), Some(6), &["a name", "a number"]);
    says(&chase("\"1-2\"", "sanctuary = [7]\n"), Some(6), &["\"7\""]);
    let complete = |nodes: u32| {
        let edges = (0..nodes).flat_map(|a| (0..a).map(move |b| format!("\"{a}-{b}\"")));
        chase(&edges.collect::<Vec<_>>().join(",\n"), "")
    };
    says(&complete(900), Some(330_080), &["814 nodes and 330079 edges", "1073741824"]);
    let star: Vec<String> = (2..5000).map(|node| format!("\"1-{node}\"")).collect();
    says(&chase(&star.join(",\n"), ""), Some(4097), &["4097 nodes"]);
    says(
        "puzzle = \"chase\"\nedges = [\"1-2\"]\ncat = \"1\"\nmouse = \"2\"\nfirst = \"dog\"\n",
        Some(5),
        &["cat or mouse"],
    );
}
