//! Progress bars on stderr, shown only on a terminal.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use indicatif::{HumanCount, ProgressBar, ProgressFinish, ProgressStyle};

use crate::domain::judging::budget::Spent;
use crate::services::benchmark::RunProgress;

/// Update interval of [`waiting`].
const UPDATE_INTERVAL: Duration = Duration::from_millis(200);

/// Creates a bar at zero, removed when dropped. It is hidden if stderr is no terminal.
pub(crate) fn bar(what: &'static str) -> ProgressBar {
    styled(what, "{msg} {wide_bar} {human_pos} of {human_len}, {eta} left")
}

/// Creates a counter, for work of unknown length.
pub(crate) fn count(what: &'static str) -> ProgressBar {
    styled(what, "{msg}: {human_pos}, {elapsed}")
}

/// Creates a spinner with the elapsed time, for work without countable steps.
pub(crate) fn waiting(what: &'static str) -> ProgressBar {
    let bar = styled(what, "{spinner} {msg}, {elapsed}");
    bar.enable_steady_tick(UPDATE_INTERVAL);
    bar
}

fn styled(what: &'static str, template: &str) -> ProgressBar {
    let bar = ProgressBar::new(0).with_message(what).with_finish(ProgressFinish::AndClear);
    match ProgressStyle::with_template(template) {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}

/// Shows the progress as `done` of `all`.
pub(crate) fn show<N: TryInto<u64>>(bar: &ProgressBar, done: N, all: N) {
    bar.set_length(all.try_into().unwrap_or(0));
    bar.set_position(done.try_into().unwrap_or(0));
}

/// Progress bar of a benchmark, with speed and spending; removed when dropped.
pub(crate) struct BenchBar {
    bar: ProgressBar,
    begun: AtomicBool,
}

impl BenchBar {
    /// Creates a bar at zero.
    pub(crate) fn new(what: &'static str) -> Self {
        let bar = styled(what, "{msg} {wide_bar} {human_pos} of {human_len}, {per_sec}, {eta} left{prefix}");
        Self { bar, begun: AtomicBool::new(false) }
    }

    /// Shows the progress of the run. Results of earlier runs do not count towards the speed.
    pub(crate) fn show(&self, progress: RunProgress, spent: Spent) {
        let tokens = HumanCount(spent.tokens.input + spent.tokens.output);
        let cost = if spent.cost > 0.0 { format!(", cost {:.2}", spent.cost) } else { String::new() };
        self.bar.set_prefix(format!(", {tokens} tokens{cost}"));
        self.bar.set_length(progress.total);
        self.bar.set_position(progress.done);
        if !self.begun.swap(true, Ordering::Relaxed) {
            self.bar.reset_eta();
        }
    }

    /// Prints a line above the bar.
    pub(crate) fn print_line(&self, line: &str) {
        self.bar.suspend(|| eprintln!("{line}"));
    }
}
