//! Estimates the width of texts for the layout of labels, and shortens texts to fit.

/// Estimates the width in units of the font size, with an error of about a tenth between fonts.
pub(super) fn width(text: &str) -> f64 {
    text.chars().map(of_char).sum()
}

/// Shortens a text with an ellipsis if it does not fit.
pub(super) fn shorten(text: &str, room: f64) -> String {
    if width(text) <= room {
        return text.to_owned();
    }
    let mut left = room - of_char('…');
    let fits = |c: &char| {
        left -= of_char(*c);
        left >= 0.0
    };
    text.chars().take_while(fits).chain(['…']).collect()
}

fn of_char(c: char) -> f64 {
    match c {
        'i' | 'j' | 'l' | '.' | ',' | ':' | ';' | '\'' | '|' | '!' => 0.3,
        'f' | 't' | 'r' | 'I' | ' ' | '-' | '(' | ')' | '/' => 0.38,
        'm' | 'w' | 'M' | 'W' | '@' | '%' => 0.92,
        'A'..='Z' | '&' => 0.72,
        _ if c.is_ascii() => 0.58,
        _ if console::measure_text_width(c.encode_utf8(&mut [0; 4])) == 2 => 1.05,
        '…' => 1.0,
        _ => 0.7,
    }
}
