//! Readability of colours on the arena's pages: contrast as defined by WCAG 2.

/// An sRGB colour, each channel 0 to 255.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rgb(pub [u8; 3]);

/// Accent colours of light and dark pages, in CSS notation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccentColours {
    /// Links and buttons: light, dark.
    pub accent: [String; 2],
    /// Link and button colours under the pointer: light, dark.
    pub strong: [String; 2],
    /// Background of selected and hovered elements: light, dark.
    pub wash: [String; 2],
}

/// Darkest background of light pages and lightest background of dark pages.
const WORST_BACKGROUNDS: [Rgb; 2] = [Rgb([0xef, 0xea, 0xe0]), Rgb([0x1b, 0x20, 0x23])];
const WHITE: Rgb = Rgb([255; 3]);
const BLACK: Rgb = Rgb([0; 3]);
/// Minimum contrast of text at WCAG 2 level AA.
const MIN_CONTRAST: f64 = 4.5;

impl Rgb {
    /// Parses a colour such as `#1d6755`.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let digits = text.strip_prefix('#').filter(|digits| digits.len() == 6 && digits.is_ascii())?;
        let channel = |at: usize| u8::from_str_radix(&digits[at..at + 2], 16).ok();
        Some(Self([channel(0)?, channel(2)?, channel(4)?]))
    }

    /// Computes the contrast (L₁ + 0.05) / (L₂ + 0.05), with the lighter colour's luminance as L₁.
    #[must_use]
    pub fn contrast(self, other: Self) -> f64 {
        let (one, other) = (self.luminance(), other.luminance());
        (one.max(other) + 0.05) / (one.min(other) + 0.05)
    }

    /// Computes the relative luminance: the linear channels weighted by 0.2126, 0.7152 and 0.0722.
    fn luminance(self) -> f64 {
        let linear = self.0.map(|channel| {
            let share = f64::from(channel) / 255.0;
            if share <= 0.040_45 { share / 12.92 } else { ((share + 0.055) / 1.055).powf(2.4) }
        });
        0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    }

    /// Mixes in the given percentage of another colour.
    fn with(self, hundredths: u16, other: Self) -> Self {
        let mixed = |one: u8, other: u8| {
            let sum = u16::from(one) * (100 - hundredths) + u16::from(other) * hundredths;
            u8::try_from(sum / 100).unwrap_or(u8::MAX)
        };
        Self(std::array::from_fn(|at| mixed(self.0[at], other.0[at])))
    }

    fn css(self) -> String {
        let [red, green, blue] = self.0;
        format!("#{red:02x}{green:02x}{blue:02x}")
    }
}

impl AccentColours {
    /// Derives the colours of an accent, lightened for dark pages; `None` where it is unreadable as a link on light ones.
    #[must_use]
    pub fn new(accent: Rgb) -> Option<Self> {
        let wash = |accent: Rgb, ground: usize| WORST_BACKGROUNDS[ground].with(10, accent);
        let is_readable = |accent: Rgb, ground: usize| {
            let behind = [WORST_BACKGROUNDS[ground], wash(accent, ground)];
            behind.iter().all(|behind| accent.contrast(*behind) >= MIN_CONTRAST)
        };
        let on_dark = (0..=100).step_by(5).map(|white| accent.with(white, WHITE)).find(|dark| is_readable(*dark, 1))?;
        is_readable(accent, 0).then(|| Self {
            accent: [accent, on_dark].map(Rgb::css),
            strong: [accent.with(20, BLACK), on_dark.with(30, WHITE)].map(Rgb::css),
            wash: [wash(accent, 0), wash(on_dark, 1)].map(Rgb::css),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contrast_is_that_of_the_guidelines() {
        assert!((WHITE.contrast(BLACK) - 21.0).abs() < 1e-9);
        // WCAG's example of the lightest readable grey on white.
        let grey = Rgb::parse("#767676").unwrap();
        assert!((grey.contrast(WHITE) - 4.54).abs() < 0.01);
        assert!((WHITE.contrast(grey) - grey.contrast(WHITE)).abs() < 1e-12);
    }

    #[test]
    fn an_accent_is_readable_on_every_ground_or_refused() {
        for accent in ["#1d6755", "#28548f", "#7a1f5c", "#000000", "#6a1fb0"] {
            let colours = AccentColours::new(Rgb::parse(accent).unwrap()).unwrap_or_else(|| panic!("{accent}"));
            for (at, colour) in colours.accent.iter().enumerate() {
                let colour = Rgb::parse(colour).unwrap();
                let wash = Rgb::parse(&colours.wash[at]).unwrap();
                assert!(
                    colour.contrast(WORST_BACKGROUNDS[at]) >= MIN_CONTRAST && colour.contrast(wash) >= MIN_CONTRAST,
                    "{accent}"
                );
            }
        }
        for pale in ["#ffcc00", "#7fb8a5", "#ffffff"] {
            assert_eq!(AccentColours::new(Rgb::parse(pale).unwrap()), None, "{pale}");
        }
    }

    #[test]
    fn only_six_digits_are_a_colour() {
        assert_eq!(Rgb::parse("#1D6755"), Some(Rgb([0x1d, 0x67, 0x55])));
        for text in ["", "1d6755", "#1d675", "#1d67555", "#gggggg", "red", "#1d67é"] {
            assert_eq!(Rgb::parse(text), None, "{text}");
        }
    }
}
