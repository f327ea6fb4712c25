//! Mazes as pictures: dark is wall.

use std::io::Cursor;

use png::{ColorType, Decoder, Limits, Transformations};

use crate::Maze;
use crate::drawing::openings;
use crate::maze::MOST_SQUARES;

/// What a pixel is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Pixel {
    Wall,
    Way,
    Entrance,
    Exit,
}

/// How far the strongest colour must be above the weakest to be a mark.
const COLOURED: u8 = 96;
/// Darker than this is wall.
const DARK: u32 = 128;

/// Reads a PNG. A square of the maze is the largest square of pixels that divides the picture; green marks the entrance and
/// red the exit, else these are two openings in the outer wall.
pub(crate) fn read(bytes: &[u8]) -> Result<Maze, String> {
    let (width, pixels) = decode(bytes)?;
    let (width, squares) = reduce(width, &pixels);
    let marked = |mark: Pixel| {
        let all: Vec<usize> = (0..squares.len()).filter(|&at| squares[at] == mark).collect();
        all.get(all.len() / 2).copied()
    };
    let open: Vec<bool> = squares.iter().map(|&s| s != Pixel::Wall).collect();
    let (entrance, exit) = match (marked(Pixel::Entrance), marked(Pixel::Exit)) {
        (Some(entrance), Some(exit)) => (entrance, exit),
        (None, None) => openings(width, &open)?,
        (Some(_), None) => return Err("a green entrance without a red exit: colour both, or neither".to_owned()),
        (None, Some(_)) => return Err("a red exit without a green entrance: colour both, or neither".to_owned()),
    };
    Ok(Maze::new(width as u32, open, entrance as u32, exit as u32))
}

fn decode(bytes: &[u8]) -> Result<(usize, Vec<Pixel>), String> {
    let wrong = |e: png::DecodingError| format!("is no PNG picture that can be read: {e}");
    let mut decoder = Decoder::new_with_limits(Cursor::new(bytes), Limits { bytes: 8 * MOST_SQUARES });
    decoder.set_transformations(Transformations::EXPAND | Transformations::STRIP_16);
    let mut reader = decoder.read_info().map_err(wrong)?;
    let (width, height) = (reader.info().width as usize, reader.info().height as usize);
    if width * height > MOST_SQUARES {
        return Err(format!("{width} times {height} pixels: a maze has at most {MOST_SQUARES}"));
    }
    let mut data = vec![0; reader.output_buffer_size().ok_or("the picture is too large")?];
    let frame = reader.next_frame(&mut data).map_err(wrong)?;
    let samples = frame.color_type.samples();
    let pixel = |p: &[u8]| match (frame.color_type, p) {
        (ColorType::Grayscale | ColorType::Indexed, &[g, ..]) => classify([g; 3], 255),
        (ColorType::GrayscaleAlpha, &[g, a]) => classify([g; 3], a),
        (ColorType::Rgb, &[r, g, b]) => classify([r, g, b], 255),
        (ColorType::Rgba, &[r, g, b, a]) => classify([r, g, b], a),
        _ => Pixel::Way,
    };
    Ok((width, data[..frame.buffer_size()].chunks_exact(samples).map(pixel).collect()))
}

fn classify([r, g, b]: [u8; 3], alpha: u8) -> Pixel {
    let (most, least) = (r.max(g).max(b), r.min(g).min(b));
    if alpha < 128 {
        Pixel::Way
    } else if most - least >= COLOURED && g == most && g > r {
        Pixel::Entrance
    } else if most - least >= COLOURED && r == most && r > g {
        Pixel::Exit
    } else if (2 * u32::from(r) + 5 * u32::from(g) + u32::from(b)) / 8 < DARK {
        Pixel::Wall
    } else {
        Pixel::Way
    }
}

/// Makes squares of pixels one: as many as divide every run of equal pixels in rows and columns.
fn reduce(width: usize, pixels: &[Pixel]) -> (usize, Vec<Pixel>) {
    let height = pixels.len() / width.max(1);
    let mut size = gcd(width, height);
    for at in 0..pixels.len() {
        let (row, column) = (at / width, at % width);
        // Where something begins, a square does.
        if column > 0 && pixels[at] != pixels[at - 1] {
            size = gcd(size, column);
        }
        if row > 0 && pixels[at] != pixels[at - width] {
            size = gcd(size, row);
        }
        if size == 1 {
            return (width, pixels.to_vec());
        }
    }
    let corner = |row: usize| (0..width).step_by(size).map(move |column| row * width + column);
    (width / size, (0..height).step_by(size).flat_map(corner).map(|at| pixels[at]).collect())
}

fn gcd(a: usize, b: usize) -> usize {
    if b == 0 { a } else { gcd(b, a % b) }
}
