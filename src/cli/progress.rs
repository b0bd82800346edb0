//! A progress bar for long work: on a terminal only, and on stderr, where it is in no pipe's way.

use indicatif::{ProgressBar, ProgressStyle};

/// A bar that has not begun; it takes itself away at the end. Where stderr is no terminal it shows nothing.
pub(super) fn bar(what: &'static str) -> ProgressBar {
    let style = ProgressStyle::with_template("{msg} {wide_bar} {human_pos} of {human_len}, {eta} left");
    let bar = ProgressBar::new(0).with_message(what);
    match style {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}

/// Shows that the work is at `done` of `all`.
pub(super) fn show(bar: &ProgressBar, done: i64, all: i64) {
    bar.set_length(all.unsigned_abs());
    bar.set_position(done.unsigned_abs());
}
