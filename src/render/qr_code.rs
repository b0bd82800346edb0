//! QR codes of short texts as an SVG path whose modules are squares of one unit.

use std::fmt::Write as _;

use qrcode::{Color, QrCode};

/// Width of the quiet zone in modules (ISO/IEC 18004, 6.3.8).
const QUIET_ZONE_MODULES: usize = 4;

/// QR code to draw dark on light.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QrPicture {
    /// Width and height, with the quiet zone.
    pub size: usize,
    /// The dark modules, as the `d` of a path.
    pub path: String,
}

/// Encodes a text; `None` if it is too long (about 2,300 bytes).
#[must_use]
pub fn picture(text: &str) -> Option<QrPicture> {
    let code = QrCode::new(text).ok()?;
    let width = code.width();
    let mut path = String::new();
    for (y, row) in code.to_colors().chunks(width).enumerate() {
        let mut x = 0;
        // Neighbours in a row are one rectangle, so that no seam is visible between them.
        for run in row.chunk_by(|left, right| left == right) {
            if run[0] == Color::Dark {
                let length = run.len();
                // Writing to a string does not fail.
                let _ = write!(path, "M{},{}h{length}v1h-{length}z", x + QUIET_ZONE_MODULES, y + QUIET_ZONE_MODULES);
            }
            x += run.len();
        }
    }
    Some(QrPicture { size: width + 2 * QUIET_ZONE_MODULES, path })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The modules that a path covers.
    fn modules(picture: &QrPicture) -> Vec<Vec<bool>> {
        let mut modules = vec![vec![false; picture.size]; picture.size];
        for run in picture.path.split('M').skip(1) {
            let (from, length) = run.strip_suffix('z').unwrap().split_once('h').unwrap();
            let (x, y) = from.split_once(',').unwrap();
            let (x, y): (usize, usize) = (x.parse().unwrap(), y.parse().unwrap());
            let length: usize = length.split_once('v').unwrap().0.parse().unwrap();
            modules[y][x..x + length].fill(true);
        }
        modules
    }

    #[test]
    fn a_code_has_its_three_eyes_and_a_light_edge() {
        let picture = picture("otpauth://totp/langya:ada?secret=GEZDGNBVGY3TQOJQ").unwrap();
        let modules = modules(&picture);
        let last = picture.size - QUIET_ZONE_MODULES;
        // A dark ring of seven, a light one, and three by three in the middle.
        for (left, top) in
            [(QUIET_ZONE_MODULES, QUIET_ZONE_MODULES), (last - 7, QUIET_ZONE_MODULES), (QUIET_ZONE_MODULES, last - 7)]
        {
            for (dy, dx) in (0..7).flat_map(|dy| (0..7).map(move |dx| (dy, dx))) {
                let ring = dx.min(dy).min(6 - dx).min(6 - dy);
                assert_eq!(modules[top + dy][left + dx], ring != 1, "{left},{top}: {dx},{dy}");
            }
        }
        for (y, row) in modules.iter().enumerate() {
            for (x, dark) in row.iter().enumerate() {
                let is_edge = [x, y].into_iter().any(|at| !(QUIET_ZONE_MODULES..last).contains(&at));
                assert!(!is_edge || !dark, "{x},{y}");
            }
        }
    }

    #[test]
    fn a_text_that_no_code_holds_has_none() {
        assert_eq!(picture(&"x".repeat(3_000)), None);
    }
}
