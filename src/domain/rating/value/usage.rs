//! Usage of battles: tokens of prompts and replies, time to the first token, and speed.
//!
//! Only battles of one turn count. There the tokens and the times of a vote are of the same reply, and nothing of the
//! conversation is sent twice. Tokens are the program's own count ([`crate::battle::text_counts`]), the same for every
//! model; a count of 0 means not recorded. Times are rounded, because exact ones would help a visitor to guess which model is
//! answering.

use std::collections::BTreeMap;

use crate::battle::speed::per_second;
use crate::rating::votes::vote_log::{ColumnSet, ReplyTiming, VoteLog};
use crate::stats::distribution::quantile;
use crate::stats::real;

/// Minimum number of times for a median.
pub const MIN_TIMES: usize = 10;

/// Usage of the battles of a vote log.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ArenaUsage {
    /// Answers with counted tokens.
    pub answers: u64,
    /// Mean tokens of a prompt over all models: pairing ignores prompts, so all models get the same distribution.
    pub prompt_tokens: Option<f64>,
    /// Usage by model.
    pub models: BTreeMap<String, ModelUsage>,
}

/// Usage of the answers of one model.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct ModelUsage {
    /// Mean tokens of a reply.
    pub reply_tokens: Option<f64>,
    /// Median time to the first token in seconds, to a tenth.
    pub first_token_seconds: Option<f64>,
    /// Median tokens per second after the first one, to two digits.
    pub tokens_per_second: Option<f64>,
}

impl ArenaUsage {
    /// Adds the columns that [`ArenaUsage::new`] reads.
    pub fn add_columns(columns: &mut ColumnSet) {
        columns.turns = true;
        columns.style = true;
        columns.prompt_tokens = true;
        columns.timings = true;
    }

    /// Computes the usage of the battles of a log, as far as it has the columns.
    #[must_use]
    pub fn new(log: &VoteLog) -> Self {
        let (mut prompts, mut models) =
            (RecordedMean::default(), vec![Samples::default(); log.models.as_slice().len()]);
        let has_one_turn = |row: &usize| log.turns.as_ref().is_none_or(|turns| turns[*row] == 1);
        for row in (0..log.len()).filter(has_one_turn) {
            prompts.add(log.prompt_tokens.as_ref().map_or(0, |tokens| tokens[row]));
            for (side, model) in [log.a[row], log.b[row]].into_iter().enumerate() {
                let tokens = log.style.as_ref().map_or(0, |style| style.tokens()[row][side]);
                let timing = log.timings.as_ref().map(|timings| timings[row][side]);
                models[model as usize].add(tokens, timing.unwrap_or_default());
            }
        }
        Self {
            answers: models.iter().map(|samples| samples.replies.count).sum(),
            prompt_tokens: prompts.get(),
            models: log.models.as_slice().iter().cloned().zip(models.into_iter().map(Samples::summary)).collect(),
        }
    }
}

/// Mean of the recorded counts.
#[derive(Debug, Clone, Copy, Default)]
struct RecordedMean {
    sum: u64,
    count: u64,
}

impl RecordedMean {
    fn add(&mut self, tokens: u32) {
        self.sum += u64::from(tokens);
        self.count += u64::from(tokens > 0);
    }

    fn get(self) -> Option<f64> {
        (self.count > 0).then(|| real(self.sum) / real(self.count))
    }
}

/// Token counts and times of a model's answers.
#[derive(Debug, Clone, Default)]
struct Samples {
    replies: RecordedMean,
    first_tokens: Vec<f64>,
    speeds: Vec<f64>,
}

impl Samples {
    fn add(&mut self, tokens: u32, ReplyTiming { first_token_ms, duration_ms }: ReplyTiming) {
        self.replies.add(tokens);
        self.first_tokens.extend(first_token_ms.map(|ms| f64::from(ms) / 1000.0));
        let times = first_token_ms.zip(duration_ms).filter(|_| tokens > 0);
        self.speeds.extend(times.and_then(|(first, all)| per_second(tokens, first.into(), all.into())));
    }

    fn summary(self) -> ModelUsage {
        ModelUsage {
            reply_tokens: self.replies.get(),
            first_token_seconds: median(self.first_tokens).map(|seconds| (10.0 * seconds).round() / 10.0),
            tokens_per_second: median(self.speeds).map(two_digits),
        }
    }
}

fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    (values.len() >= MIN_TIMES).then(|| quantile(&values, 0.5))
}

fn two_digits(speed: f64) -> f64 {
    if speed <= 0.0 {
        return 0.0;
    }
    let unit = 10_f64.powf(speed.log10().floor() - 1.0);
    // Multiplying by a unit below 1 would leave digits behind.
    if unit < 1.0 { (speed / unit).round() / (1.0 / unit).round() } else { (speed / unit).round() * unit }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::battle::Outcome;

    /// Votes of `x` against `y`, each with one of these token counts.
    fn log(tokens: &[u32]) -> VoteLog {
        let mut columns = ColumnSet::default();
        ArenaUsage::add_columns(&mut columns);
        let mut log = VoteLog::with_columns(columns);
        for &tokens in tokens {
            log.push("x", "y", Outcome::Tie).unwrap();
            log.turns.as_mut().unwrap().push(1);
            log.prompt_tokens.as_mut().unwrap().push(7);
            log.style.as_mut().unwrap().push([Some([tokens, 2 * tokens]); 4]);
            let timing = ReplyTiming { first_token_ms: Some(1_234), duration_ms: Some(1_234 + 10 * tokens) };
            log.timings.as_mut().unwrap().push([timing, ReplyTiming { first_token_ms: None, ..timing }]);
        }
        log
    }

    #[test]
    fn tokens_are_averaged_and_times_are_rounded_medians() {
        let usage = ArenaUsage::new(&log(&[100; 10]));
        assert_eq!((usage.answers, usage.prompt_tokens), (20, Some(7.0)));
        let x = usage.models["x"];
        assert_eq!(x.reply_tokens, Some(100.0));
        assert_eq!((x.first_token_seconds, x.tokens_per_second), (Some(1.2), Some(100.0)));
        let y = usage.models["y"];
        assert_eq!((y.reply_tokens, y.first_token_seconds, y.tokens_per_second), (Some(200.0), None, None));
    }

    #[test]
    fn few_times_have_no_median_and_further_turns_do_not_count() {
        let mut log = log(&[100, 100, 100, 9_999, 100, 100, 100, 100, 100, 100]);
        log.turns.as_mut().unwrap()[3] = 2;
        let usage = ArenaUsage::new(&log);
        assert_eq!(usage.answers, 18);
        assert_eq!(usage.models["x"], ModelUsage { reply_tokens: Some(100.0), ..ModelUsage::default() });
    }

    #[test]
    fn a_count_of_zero_is_not_recorded() {
        let mut log = log(&[0, 40, 0, 60]);
        log.prompt_tokens.as_mut().unwrap().fill(0);
        let usage = ArenaUsage::new(&log);
        assert_eq!((usage.answers, usage.prompt_tokens), (4, None));
        assert_eq!(usage.models["x"].reply_tokens, Some(50.0));
        assert_eq!(ArenaUsage::new(&VoteLog::default()), ArenaUsage::default());
    }

    #[test]
    fn speeds_keep_two_digits() {
        for (speed, expected) in
            [(0.0, 0.0), (0.0437, 0.044), (3.16, 3.2), (9.96, 10.0), (47.6, 48.0), (1234.0, 1200.0)]
        {
            assert!((two_digits(speed) - expected).abs() < 1e-12, "{speed}: {}", two_digits(speed));
        }
    }
}
