//! Text in columns.

/// Rows in columns of equal width; the first `left` columns stand to the left, the others to the right,
/// and the last one is not filled up. Numbers are easier to compare that way.
pub(crate) fn columns<const N: usize>(head: [&str; N], left: usize, rows: &[[String; N]]) -> String {
    let mut widths = head.map(|h| h.chars().count());
    for row in rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let mut text = String::new();
    let head = head.map(str::to_owned);
    for row in std::iter::once(&head).chain(rows) {
        let mut line = String::new();
        for (i, (cell, width)) in row.iter().zip(widths).enumerate() {
            let gap = " ".repeat(width - cell.chars().count());
            let last = i + 1 == N;
            if i < left {
                line += &format!("{cell}{gap}  ");
            } else if last {
                line += cell;
            } else {
                line += &format!("{gap}{cell}  ");
            }
        }
        text += line.trim_end();
        text.push('\n');
    }
    text
}

/// A number with its thousands apart: `1 234 567`.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(' ');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands() {
        assert_eq!(grouped(0), "0");
        assert_eq!(grouped(999), "999");
        assert_eq!(grouped(1234), "1 234");
        assert_eq!(grouped(1_234_567), "1 234 567");
    }

    #[test]
    fn rows_stand_below_each_other() {
        let rows =
            [["a".to_owned(), "10".to_owned(), "x".to_owned()], ["bcd".to_owned(), "7".to_owned(), String::new()]];
        assert_eq!(columns(["n", "no", "rest"], 1, &rows), "n    no  rest\na    10  x\nbcd   7\n");
    }
}
