//! A move generator as slow and plain as can be, which shares nothing with the crate: it reads a
//! FEN, walks one square at a time and tries each move on a copy of the board.

type Board = [[char; 9]; 10];
type Step = ((usize, usize), (usize, usize));

/// The legal moves of a position, as sorted texts.
pub fn legal_moves(fen: &str) -> Vec<String> {
    let (board, red) = read(fen);
    let mut legal: Vec<String> = (steps(&board, red).into_iter())
        .filter(|&(from, to)| !is(board[to.1][to.0], 'k') && is_safe(&after(&board, from, to), red))
        .map(|(from, to)| format!("{}{}", name(from), name(to)))
        .collect();
    legal.sort();
    legal
}

/// Whether the side to move is in check.
pub fn in_check(fen: &str) -> bool {
    let (board, red) = read(fen);
    steps(&board, !red).into_iter().any(|(_, to)| is(board[to.1][to.0], 'k'))
}

fn read(fen: &str) -> (Board, bool) {
    let (ranks, side) = fen.split_once(' ').unwrap();
    let mut board = [['.'; 9]; 10];
    for (y, rank) in ranks.split('/').rev().enumerate() {
        let mut x = 0;
        for letter in rank.chars() {
            match letter.to_digit(10) {
                Some(gap) => x += gap as usize,
                None => {
                    board[y][x] = letter;
                    x += 1;
                }
            }
        }
    }
    (board, side == "w")
}

fn name((x, y): (usize, usize)) -> String {
    format!("{}{y}", "abcdefghi".chars().nth(x).unwrap())
}

fn is(letter: char, role: char) -> bool {
    letter.to_ascii_lowercase() == role
}

fn after(board: &Board, from: (usize, usize), to: (usize, usize)) -> Board {
    let mut next = *board;
    next[to.1][to.0] = next[from.1][from.0];
    next[from.1][from.0] = '.';
    next
}

fn is_safe(board: &Board, red: bool) -> bool {
    let taken = steps(board, !red).into_iter().any(|(_, to)| is(board[to.1][to.0], 'k'));
    !taken && !kings_face(board)
}

fn kings_face(board: &Board) -> bool {
    (3..6).any(|x| {
        let file: Vec<char> = (0..10).map(|y| board[y][x]).filter(|&letter| letter != '.').collect();
        file.windows(2).any(|pair| is(pair[0], 'k') && is(pair[1], 'k'))
    })
}

/// All moves of a side that leave its own pieces standing.
fn steps(board: &Board, red: bool) -> Vec<Step> {
    let mut steps = Vec::new();
    for y in 0..10 {
        for x in 0..9 {
            let letter = board[y][x];
            if letter == '.' || letter.is_ascii_uppercase() != red {
                continue;
            }
            for (tx, ty) in targets(board, x as i32, y as i32, red) {
                let target = board[ty as usize][tx as usize];
                if target == '.' || target.is_ascii_uppercase() != red {
                    steps.push(((x, y), (tx as usize, ty as usize)));
                }
            }
        }
    }
    steps
}

fn targets(board: &Board, x: i32, y: i32, red: bool) -> Vec<(i32, i32)> {
    let on_board = |x: i32, y: i32| (0..9).contains(&x) && (0..10).contains(&y);
    let at = |x: i32, y: i32| if on_board(x, y) { board[y as usize][x as usize] } else { '#' };
    let palace = |x: i32, y: i32| (3..=5).contains(&x) && if red { (0..=2).contains(&y) } else { (7..=9).contains(&y) };
    let home = |y: i32| if red { y <= 4 } else { y >= 5 };
    let straight = [(0, 1), (0, -1), (1, 0), (-1, 0)];
    let diagonal = [(1, 1), (1, -1), (-1, 1), (-1, -1)];
    let mut found = Vec::new();
    match at(x, y).to_ascii_lowercase() {
        'k' => found.extend(straight.iter().map(|(dx, dy)| (x + dx, y + dy)).filter(|&(x, y)| palace(x, y))),
        'a' => found.extend(diagonal.iter().map(|(dx, dy)| (x + dx, y + dy)).filter(|&(x, y)| palace(x, y))),
        'b' => {
            for (dx, dy) in diagonal {
                if at(x + dx, y + dy) == '.' && home(y + 2 * dy) {
                    found.push((x + 2 * dx, y + 2 * dy));
                }
            }
        }
        'n' => {
            for (dx, dy, leg_x, leg_y) in [
                (1, 2, 0, 1),
                (-1, 2, 0, 1),
                (1, -2, 0, -1),
                (-1, -2, 0, -1),
                (2, 1, 1, 0),
                (2, -1, 1, 0),
                (-2, 1, -1, 0),
                (-2, -1, -1, 0),
            ] {
                if at(x + leg_x, y + leg_y) == '.' {
                    found.push((x + dx, y + dy));
                }
            }
        }
        'p' => {
            found.push((x, if red { y + 1 } else { y - 1 }));
            if !home(y) {
                found.extend([(x - 1, y), (x + 1, y)]);
            }
        }
        slider => {
            for (dx, dy) in straight {
                let (mut tx, mut ty) = (x + dx, y + dy);
                while at(tx, ty) == '.' {
                    found.push((tx, ty));
                    (tx, ty) = (tx + dx, ty + dy);
                }
                if slider == 'c' {
                    (tx, ty) = (tx + dx, ty + dy);
                    while at(tx, ty) == '.' {
                        (tx, ty) = (tx + dx, ty + dy);
                    }
                }
                found.push((tx, ty));
            }
        }
    }
    found.retain(|&(x, y)| on_board(x, y));
    found
}
