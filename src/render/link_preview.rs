//! Link preview image (Open Graph) of a battle, 1200 × 630 pixels: two replies with the chosen one marked. It has no text, since a server
//! may have no fonts and the title has the prompt.

use tiny_skia::{Color, FillRule, LineCap, LineJoin, Paint, Path, PathBuilder, Pixmap, Rect, Stroke, Transform};

use crate::domain::battle::Outcome;
use crate::domain::colour_contrast::Rgb;

/// Width and height in pixels.
pub const SIZE: (u32, u32) = (1200, 630);

const PAPER: Rgb = Rgb([0xf6, 0xf3, 0xec]);
const SURFACE: Rgb = Rgb([0xff, 0xfd, 0xf9]);
const LINE: Rgb = Rgb([0xdd, 0xd6, 0xc8]);
const EDGE: Rgb = Rgb([0x85, 0x82, 0x7a]);
const SEAL: Rgb = Rgb([0xb2, 0x3a, 0x2a]);
const SEAL_FIGURE: Rgb = Rgb([0xfd, 0xf8, 0xee]);
/// Colours of the letters A and B.
const SIDES: [Rgb; 2] = [Rgb([0x28, 0x54, 0x8f]), Rgb([0x83, 0x54, 0x0d])];
/// Default accent colour.
const JADE: Rgb = Rgb([0x1d, 0x67, 0x55]);

/// Width and height of a reply.
const CARD: (f32, f32) = (500.0, 400.0);
/// Left edges of the two replies, and the top of both.
const CARDS: ([f32; 2], f32) = ([80.0, 620.0], 80.0);
/// Lengths of the lines of replies A and B.
const TEXT: [[f32; 5]; 2] = [[420.0, 380.0, 405.0, 300.0, 180.0], [390.0, 420.0, 250.0, 400.0, 320.0]];

/// File name of the image.
#[must_use]
pub fn preview_file(outcome: Option<Outcome>) -> String {
    format!("{}.png", outcome.map_or("without-vote", Outcome::as_str))
}

/// Renders the image of a battle with this outcome, or without a vote, as PNG. `accent` is the colour of the mark. `None` if memory is
/// insufficient.
#[must_use]
pub fn preview_picture(outcome: Option<Outcome>, accent: Option<Rgb>) -> Option<Vec<u8>> {
    let mut picture = Pixmap::new(SIZE.0, SIZE.1)?;
    picture.fill(color(PAPER));
    for side in 0..2 {
        draw_reply(&mut picture, side, mark(outcome, side), accent.unwrap_or(JADE))?;
    }
    draw_logo(&mut picture)?;
    picture.encode_png().ok()
}

/// Result of one reply in the vote.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mark {
    Chosen,
    Even,
    Bad,
    Nothing,
}

fn mark(outcome: Option<Outcome>, side: usize) -> Mark {
    match (outcome, side) {
        (Some(Outcome::AWins), 0) | (Some(Outcome::BWins), 1) => Mark::Chosen,
        (Some(Outcome::Tie), _) => Mark::Even,
        (Some(Outcome::BothBad), _) => Mark::Bad,
        _ => Mark::Nothing,
    }
}

fn draw_reply(picture: &mut Pixmap, side: usize, mark: Mark, accent: Rgb) -> Option<()> {
    let (left, top) = (CARDS.0[side], CARDS.1);
    let card = rounded_rectangle_path(left, top, CARD, 28.0)?;
    fill(picture, &card, SURFACE);
    let (edge, width) = if mark == Mark::Chosen { (accent, 8.0) } else { (LINE, 3.0) };
    stroke(picture, &card, edge, width);
    stroke(picture, &letter(side, left + 40.0, top + 36.0)?, SIDES[side], 11.0);
    for (row, length) in (0u8..).zip(TEXT[side]) {
        let bar = rounded_rectangle_path(left + 40.0, top + 152.0 + 46.0 * f32::from(row), (length, 18.0), 9.0)?;
        fill(picture, &bar, LINE);
    }
    let (x, y) = (left + CARD.0 - 72.0, top + 70.0);
    match mark {
        Mark::Chosen => {
            fill(picture, &PathBuilder::from_circle(x, y, 36.0)?, accent);
            stroke(
                picture,
                &lines(&[&[(x - 16.0, y + 1.0), (x - 4.0, y + 13.0), (x + 17.0, y - 12.0)]])?,
                SURFACE,
                9.0,
            );
        }
        Mark::Even => {
            let equals = [[(x - 20.0, y - 9.0), (x + 20.0, y - 9.0)], [(x - 20.0, y + 9.0), (x + 20.0, y + 9.0)]];
            stroke(picture, &lines(&equals.each_ref().map(<[_; 2]>::as_slice))?, EDGE, 9.0);
        }
        Mark::Bad => {
            let cross = [[(x - 17.0, y - 17.0), (x + 17.0, y + 17.0)], [(x - 17.0, y + 17.0), (x + 17.0, y - 17.0)]];
            stroke(picture, &lines(&cross.each_ref().map(<[_; 2]>::as_slice))?, SEAL, 9.0);
        }
        Mark::Nothing => {}
    }
    Some(())
}

/// Path of the letter A or B, 68 pixels high.
fn letter(side: usize, x: f32, y: f32) -> Option<Path> {
    if side == 0 {
        return lines(&[
            &[(x, y + 68.0), (x + 28.0, y), (x + 56.0, y + 68.0)],
            &[(x + 11.0, y + 45.0), (x + 45.0, y + 45.0)],
        ]);
    }
    let mut path = PathBuilder::new();
    path.move_to(x, y);
    path.line_to(x + 24.0, y);
    path.cubic_to(x + 48.0, y, x + 48.0, y + 32.0, x + 24.0, y + 32.0);
    path.line_to(x, y + 32.0);
    path.move_to(x + 24.0, y + 32.0);
    path.cubic_to(x + 56.0, y + 32.0, x + 56.0, y + 68.0, x + 24.0, y + 68.0);
    path.line_to(x, y + 68.0);
    path.close();
    path.finish()
}

/// Draws the logo of the page header, centred below the replies.
fn draw_logo(picture: &mut Pixmap) -> Option<()> {
    let place = Transform::from_scale(2.75, 2.75).post_translate(556.0, 512.0);
    let mut ground = PathBuilder::new();
    ground.move_to(4.0, 1.0);
    ground.line_to(27.0, 1.0);
    ground.quad_to(31.0, 1.0, 31.0, 5.0);
    ground.line_to(30.4, 15.5);
    ground.line_to(31.0, 27.0);
    ground.quad_to(31.0, 31.0, 27.0, 31.0);
    ground.line_to(5.0, 31.0);
    ground.quad_to(1.0, 31.0, 1.0, 27.0);
    ground.line_to(1.5, 18.0);
    ground.line_to(1.0, 5.0);
    ground.quad_to(1.0, 1.0, 4.0, 1.0);
    ground.close();
    picture.fill_path(&ground.finish()?, &paint(SEAL), FillRule::Winding, place, None);
    let shapes: [&[(f32, f32)]; 2] = [
        &[(6.0, 26.0), (6.0, 10.5), (10.5, 6.0), (15.0, 10.5), (15.0, 26.0)],
        &[(17.0, 26.0), (17.0, 15.0), (21.5, 10.5), (26.0, 15.0), (26.0, 26.0)],
    ];
    picture.fill_path(&lines(&shapes)?, &paint(SEAL_FIGURE), FillRule::Winding, place, None);
    Some(())
}

/// Path of polylines, one for each list of points.
fn lines(drawn: &[&[(f32, f32)]]) -> Option<Path> {
    let mut path = PathBuilder::new();
    for points in drawn {
        for (at, (x, y)) in points.iter().enumerate() {
            if at == 0 { path.move_to(*x, *y) } else { path.line_to(*x, *y) }
        }
    }
    path.finish()
}

fn rounded_rectangle_path(x: f32, y: f32, (width, height): (f32, f32), radius: f32) -> Option<Path> {
    let rect = Rect::from_xywh(x, y, width, height)?;
    let (right, bottom) = (rect.right(), rect.bottom());
    let mut path = PathBuilder::new();
    path.move_to(x + radius, y);
    path.line_to(right - radius, y);
    path.quad_to(right, y, right, y + radius);
    path.line_to(right, bottom - radius);
    path.quad_to(right, bottom, right - radius, bottom);
    path.line_to(x + radius, bottom);
    path.quad_to(x, bottom, x, bottom - radius);
    path.line_to(x, y + radius);
    path.quad_to(x, y, x + radius, y);
    path.close();
    path.finish()
}

fn fill(picture: &mut Pixmap, path: &Path, colour: Rgb) {
    picture.fill_path(path, &paint(colour), FillRule::Winding, Transform::identity(), None);
}

fn stroke(picture: &mut Pixmap, path: &Path, colour: Rgb, width: f32) {
    let stroke = Stroke { width, line_cap: LineCap::Round, line_join: LineJoin::Round, ..Stroke::default() };
    picture.stroke_path(path, &paint(colour), &stroke, Transform::identity(), None);
}

fn paint(colour: Rgb) -> Paint<'static> {
    let mut paint = Paint { anti_alias: true, ..Paint::default() };
    paint.set_color(color(colour));
    paint
}

fn color(Rgb([red, green, blue]): Rgb) -> Color {
    Color::from_rgba8(red, green, blue, 255)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The colour in the middle of the edge of a reply's card.
    fn edge(outcome: Option<Outcome>, side: usize) -> [u8; 3] {
        let png = preview_picture(outcome, Some(Rgb([0x28, 0x54, 0x8f]))).unwrap();
        let picture = Pixmap::decode_png(&png).unwrap();
        assert_eq!((picture.width(), picture.height()), SIZE);
        assert!(png.len() < 30_000, "{} bytes", png.len());
        let (x, y) = ([80, 620][side], 280);
        let pixel = picture.pixel(x, y).unwrap();
        [pixel.red(), pixel.green(), pixel.blue()]
    }

    #[test]
    fn the_reply_that_was_chosen_is_framed_in_the_colour_of_the_arena_and_no_other() {
        let accent = [0x28, 0x54, 0x8f];
        for (outcome, framed) in [
            (Some(Outcome::AWins), [true, false]),
            (Some(Outcome::BWins), [false, true]),
            (Some(Outcome::Tie), [false, false]),
            (Some(Outcome::BothBad), [false, false]),
            (None, [false, false]),
        ] {
            assert_eq!([0, 1].map(|side| edge(outcome, side) == accent), framed, "{outcome:?}");
        }
    }

    #[test]
    fn every_outcome_has_a_picture_of_its_own() {
        let outcomes = [None, Some(Outcome::AWins), Some(Outcome::BWins), Some(Outcome::Tie), Some(Outcome::BothBad)];
        let pictures: std::collections::BTreeSet<Vec<u8>> =
            outcomes.iter().filter_map(|outcome| preview_picture(*outcome, None)).collect();
        assert_eq!(pictures.len(), outcomes.len());
    }
}
