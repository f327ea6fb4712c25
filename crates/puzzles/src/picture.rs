//! Mazes as pictures: dark is wall.

use std::io::Cursor;

use png::{ColorType, Decoder, Limits, Transformations};

use crate::Maze;
use crate::drawing::openings;
use crate::margin::{Frame, flood};
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

/// Reads a PNG. The page around the walls is cut off. A square of the maze is the largest square of pixels that divides what
/// is left; a green spot marks the entrance and a red one the exit, else these are two openings in the outer wall.
pub(crate) fn read(bytes: &[u8]) -> Result<Maze, String> {
    let (width, pixels) = decode(bytes)?;
    let spots = [spot(width, &pixels, Pixel::Entrance)?, spot(width, &pixels, Pixel::Exit)?];
    match spots {
        [Some(_), None] => return Err("a green entrance without a red exit: colour both, or neither".to_owned()),
        [None, Some(_)] => return Err("a red exit without a green entrance: colour both, or neither".to_owned()),
        _ => {}
    }
    let frame = frame(width, &pixels, &spots)?;
    let (width, squares) = reduce(frame.columns.len(), &frame.cut(width, &pixels));
    let marked = |mark: Pixel| {
        let all: Vec<usize> = (0..squares.len()).filter(|&at| squares[at] == mark).collect();
        all.get(all.len() / 2).copied()
    };
    let open: Vec<bool> = squares.iter().map(|&s| s != Pixel::Wall).collect();
    let (entrance, exit) = match (marked(Pixel::Entrance), marked(Pixel::Exit)) {
        (Some(entrance), Some(exit)) => (entrance, exit),
        _ => openings(width, &open)?,
    };
    Ok(Maze::new(width as u32, open, entrance as u32, exit as u32))
}

/// The pixels of a spot; `None` where there is none.
fn spot(width: usize, pixels: &[Pixel], mark: Pixel) -> Result<Option<Vec<usize>>, String> {
    let mut seen = vec![false; pixels.len()];
    let mut spots = (0..pixels.len()).filter_map(|start| {
        let spot = flood(width, start, true, &mut seen, |at| pixels[at] == mark);
        (!spot.is_empty()).then_some(spot)
    });
    match (spots.next(), spots.next()) {
        (Some(one), Some(other)) => {
            let name = if mark == Pixel::Entrance { "green" } else { "red" };
            let [a, b] =
                [&one, &other].map(|spot| format!("column {}, row {}", spot[0] % width + 1, spot[0] / width + 1));
            Err(format!("two {name} spots, at pixels {a} and {b}: leave one"))
        }
        (spot, _) => Ok(spot),
    }
}

/// The walls and the spots, without the page around them.
fn frame(width: usize, pixels: &[Pixel], spots: &[Option<Vec<usize>>; 2]) -> Result<Frame, String> {
    let place = |at: usize| (at / width, at % width);
    let whole = Frame::whole(width, pixels.len() / width.max(1));
    let dark = (0..pixels.len()).filter(|&at| pixels[at] == Pixel::Wall).map(place);
    let Some(walls) = Frame::around(dark) else { return Ok(whole) };
    let [Some(entrance), Some(exit)] = spots else { return Ok(walls) };
    // From a spot on the page a way must not lead around the walls.
    let outside = |at: usize| pixels[at] != Pixel::Wall && !walls.has(place(at));
    let mut seen = vec![false; pixels.len()];
    let around =
        entrance.iter().flat_map(|&at| flood(width, at, false, &mut seen, outside)).any(|at| pixels[at] == Pixel::Exit);
    if around {
        return Err(
            "entrance and exit are both outside of the walls, and a way leads around these: colour the openings, or \
                    cut the page off"
                .to_owned(),
        );
    }
    let marks = entrance.iter().chain(exit).copied().map(place);
    let frame = Frame::around(marks).map_or(walls.clone(), |marks| marks.and(&walls));
    let openings = walls.runs(|(row, column)| pixels[row * width + column] != Pixel::Wall).len();
    if frame != whole && openings > 2 {
        return Err(format!(
            "the outer wall has {openings} openings, and ways on the page around it may lead from one to another: close them, or cut \
             the page off"
        ));
    }
    Ok(frame)
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
