//! Flags that select a slice of the votes.

use std::time::Duration;

use clap::Args;

use super::output::times::{parse_end_time, parse_time};
use crate::domain::rating::votes::slice::{Slice, Turns, VoteSource};
use crate::domain::time::Timestamp;

/// Selection of votes to fit; all votes by default.
#[derive(Debug, Clone, Default, Args)]
pub(super) struct SliceFlags {
    /// Only votes of this language; English, en and en-GB are the same
    #[arg(long, value_name = "L")]
    language: Option<String>,
    /// Only votes of this category. In files, several stand with commas between them, and one with a comma in double quotes
    #[arg(long, value_name = "C")]
    category: Option<String>,
    /// Only votes of this intent
    #[arg(long, value_name = "I")]
    intent: Option<String>,
    /// Only battles of one turn (first) or of more (multi)
    #[arg(long, value_name = "first|multi")]
    turns: Option<Turns>,
    /// Only battles whose prompt has 500 tokens or more
    #[arg(long)]
    long_prompts: bool,
    /// Only votes on battles of the arena, on stored answers of campaigns, or of imported files
    #[arg(long, value_name = "arena|import|campaign")]
    source: Option<VoteSource>,
    /// Only votes at this time or later: 2026-11-21, or 2026-11-21T08:00:00Z
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    since: Option<Timestamp>,
    /// Only votes before this time
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    until: Option<Timestamp>,
    /// Only votes cast up to this time, or up to the end of this day in UTC
    #[arg(long, value_name = "TIME", value_parser = parse_end_time, conflicts_with = "until")]
    as_of: Option<Timestamp>,
}

impl SliceFlags {
    /// Returns the selected slice.
    #[must_use]
    pub(super) fn slice(&self) -> Slice {
        Slice {
            language: self.language.clone(),
            category: self.category.clone(),
            intent: self.intent.clone(),
            turns: self.turns,
            long_prompts: self.long_prompts,
            source: self.source,
            since: self.since.map(seconds),
            until: self.until.or(self.as_of).map(seconds),
        }
    }
}

/// Converts a time to seconds since 1970.
fn seconds(time: Timestamp) -> f64 {
    let seconds = Duration::from_millis(time.0.unsigned_abs()).as_secs_f64();
    if time.0 < 0 { -seconds } else { seconds }
}
