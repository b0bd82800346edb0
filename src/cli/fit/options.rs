//! Options of `langya fit`.

use std::path::PathBuf;

use clap::Args;

use crate::output::output_format::OutputFormat;

use crate::domain::rating::counts::weighting::Reweight;
use crate::domain::rating::intervals::sequential_testing::{MAX_OPTIMAL_AT, SequentialOptions};
use crate::domain::rating::leaderboards::leaderboard_filter::CountedVotes;
use crate::domain::rating::options::{Anchor, IntervalMethod, LeaderboardOptions, Method};
use crate::domain::rating::value::prices::PriceList;
use crate::domain::rating::value::usage::ArenaUsage;
use crate::domain::rating::votes::scoring::{BothBadRule, Scoring, TieRule};
use crate::domain::rating::votes::slice::SliceColumn;
use crate::domain::rating::votes::vote_log::ColumnSet;
use crate::domain::stats::confidence::ConfidenceLevel;
use crate::domain::stats::resample::BootstrapOptions;
use crate::fit::error::FitCommandError;
use crate::formats::check_given_once;
use crate::formats::makers::read_makers;
use crate::formats::prices::read_prices;
use crate::slice_flags::SliceFlags;
use crate::vote_files::ReadFlags;

/// Default number of bootstrap replicates.
const DEFAULT_REPLICATES: u32 = 1_000;

/// Options of `langya fit`.
#[derive(Debug, Clone, Args)]
pub struct FitOptions {
    /// Vote files: Parquet, CSV, TSV, JSON or JSON lines, optionally compressed with gzip or zstd; - for the standard input;
    /// without files, the database
    #[arg(long, value_name = "FILE", num_args = 1..)]
    pub votes: Vec<PathBuf>,
    /// Options for reading the files.
    #[command(flatten)]
    pub reading: ReadFlags,
    /// Rating method: Bradley–Terry (bt) or Elo in log order (elo)
    #[arg(long, value_name = "bt|elo", default_value = "bt")]
    pub method: Method,
    /// Interval method: jackknife that leaves out one voter at a time, sandwich formula for independent votes, sandwich
    /// formula clustered by voter (cluster), bootstrap, or none; auto is jackknife where the votes name several voters,
    /// else sandwich
    #[arg(long, value_name = "auto|jackknife|sandwich|cluster|bootstrap|none", default_value = "auto")]
    pub interval: IntervalMethod,
    /// Number of replicates of --interval bootstrap, at most 100,000 [default: 1000]; each draws voters where the votes name
    /// several, else votes
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(..=100_000))]
    pub bootstrap: Option<u32>,
    /// Seed of the bootstrap: the same seed gives the same intervals
    #[arg(long, value_name = "S", default_value_t = 0)]
    pub seed: u64,
    /// Confidence level of the intervals
    #[arg(long, value_name = "SHARE", default_value_t = 0.95)]
    pub confidence: f64,
    /// Weight of a tie: half a win for each side, not at all, or as an outcome with a fitted frequency (davidson)
    #[arg(long, value_name = "half|drop|davidson", default_value = "half")]
    pub ties: TieRule,
    /// Treatment of both-bad votes: like a counted tie, or not at all
    #[arg(long, value_name = "half|drop", default_value = "half")]
    pub both_bad: BothBadRule,
    /// Only votes for one side: short for --ties drop --both-bad drop
    #[arg(long, conflicts_with_all = ["ties", "both_bad"])]
    pub without_ties: bool,
    /// Weight of each vote: 1 / votes of its pair (at least 50), or 1 / probability of its pair
    #[arg(long, value_name = "none|pair-count|pair-probability", default_value = "none")]
    pub reweight: Reweight,
    #[command(flatten)]
    pub(super) slice: SliceFlags,
    /// Count the votes of the database that rules exclude, too
    #[arg(long, conflicts_with = "votes")]
    pub include_excluded: bool,
    /// Count only the first vote of each voter on the same, or nearly the same, prompt of the database
    #[arg(long, conflicts_with_all = ["votes", "include_excluded"])]
    pub unique_prompts: bool,
    /// Give one model this rating and shift the others by the same amount; without an anchor, the mean rating is 1000. Intervals keep their
    /// widths, which are those around the mean
    #[arg(long, value_name = "MODEL=RATING")]
    pub anchor: Option<String>,
    /// Mark models with fewer votes as provisional
    #[arg(long, value_name = "N", default_value_t = 30)]
    pub min_votes: u64,
    /// Add matrices of wins, votes and predicted wins of every pair to the JSON
    #[arg(long)]
    pub matrices: bool,
    /// Style control: adjust ratings for length, headings, lists and bold, and show their effects
    #[arg(long)]
    pub style: bool,
    /// Adjust ratings for the side on which a model was shown, and show the advantage of side A
    #[arg(long)]
    pub side: bool,
    /// As --side, and show by how much the advantage of side A differs in battles of several turns
    #[arg(long)]
    pub turn: bool,
    /// For votes of judge models: adjust ratings for a judge's preference for models of its own maker, and show it. A CSV file
    /// with model and maker, judges included; - for the standard input. A vote's voter is its judge
    #[arg(long, value_name = "FILE")]
    pub same_maker: Option<PathBuf>,
    /// Estimate the share of prompts for which each model alone is good enough, from "both bad" votes
    #[arg(long)]
    pub good_enough: bool,
    /// Compare models of ties by likelihood: an equal share of ties in every pair, Davidson, Rao–Kupper
    #[arg(long)]
    pub compare_ties: bool,
    /// Rate the models in each slice, estimated together with all votes, so that small slices stay usable. Only the largest
    /// group of models that votes connect in both directions has these ratings; a note names the others
    #[arg(long, value_name = "language|category|intent")]
    pub pool_by: Option<SliceColumn>,
    /// Show below the table whether each model and the next are separated, open, or equal, by intervals that hold however
    /// often you look; JSON always says so
    #[arg(long)]
    pub sequential: bool,
    /// Battles of each model at which the intervals of --sequential are narrowest, at most a million
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u64).range(1..=MAX_OPTIMAL_AT))]
    pub optimal_at_battles: u64,
    /// Difference in rating points below which --sequential calls two models equal
    #[arg(long, value_name = "POINTS", default_value_t = 20.0)]
    pub equal_within: f64,
    /// Add a robustness report: possible places; which votes, voters or further votes would change the order; whether ratings
    /// describe the votes, models beat each other in circles, the tie rule matters, and voters agree
    #[arg(long)]
    pub robustness: bool,
    /// Join ratings with prices, tokens and times: which models are worth their price, and which cheaper ones cannot be told
    /// apart. A CSV file with model, input_price and output_price of a million tokens and, if known, date, source and
    /// currency; - for the standard input
    #[arg(long, value_name = "FILE")]
    pub prices: Option<PathBuf>,
    /// Write charts as SVG files into this folder
    #[arg(long, value_name = "DIR")]
    pub charts: Option<PathBuf>,
    /// Output format
    #[arg(long, value_enum, default_value_t)]
    pub format: OutputFormat,
}

impl FitOptions {
    /// Returns the options of the fit.
    ///
    /// # Errors
    /// [`FitCommandError`] for an invalid confidence level, anchor or file of makers, unsupported options of the method, an empty range of
    /// times, and two files that are standard input.
    pub fn leaderboard_options(&self) -> Result<LeaderboardOptions, FitCommandError> {
        check_given_once(self.votes.iter().chain(&self.prices).chain(&self.same_maker))?;
        self.check_method()?;
        self.check_range()?;
        Ok(LeaderboardOptions {
            method: self.method,
            interval: self.interval,
            confidence: ConfidenceLevel::new(self.confidence)?,
            bootstrap: BootstrapOptions { replicates: self.bootstrap.unwrap_or(DEFAULT_REPLICATES), seed: self.seed },
            reweight: self.reweight,
            scoring: self.scoring(),
            min_votes: self.min_votes,
            anchor: self.anchor.as_deref().map(parse_anchor).transpose()?,
            matrices: self.matrices,
            style: self.style,
            side: self.side,
            turn: self.turn,
            makers: self.same_maker.as_deref().map(read_makers).transpose()?,
            good_enough: self.good_enough,
            compare_ties: self.compare_ties,
            pool_by: self.pool_by,
            sequential: Some(self.sequential_options()?),
            ..LeaderboardOptions::default()
        })
    }

    /// Whether `--bootstrap` is given without a bootstrap.
    pub(super) fn has_unused_replicates(&self) -> bool {
        self.bootstrap.is_some() && !matches!(self.interval, IntervalMethod::Bootstrap)
    }

    /// Rejects options that the method would ignore.
    ///
    /// # Errors
    /// [`FitCommandError::EloOption`].
    fn check_method(&self) -> Result<(), FitCommandError> {
        let ignored = [
            (!matches!(self.interval, IntervalMethod::Auto | IntervalMethod::None), "--interval"),
            (self.ties == TieRule::Davidson, "--ties davidson"),
            (self.reweight != Reweight::default(), "--reweight"),
        ];
        match ignored.into_iter().find(|(is_given, _)| *is_given) {
            Some((_, option)) if self.method == Method::Elo => Err(FitCommandError::EloOption(option)),
            _ => Ok(()),
        }
    }

    /// Rejects an empty range of times.
    ///
    /// # Errors
    /// [`FitCommandError::EmptyRange`].
    fn check_range(&self) -> Result<(), FitCommandError> {
        let slice = self.slice.slice();
        let is_empty = slice.since.zip(slice.until).is_some_and(|(since, until)| since >= until);
        if is_empty { Err(FitCommandError::EmptyRange) } else { Ok(()) }
    }

    /// Reads the prices, if their file is given.
    pub(super) fn price_list(&self) -> Result<Option<PriceList>, FitCommandError> {
        Ok(self.prices.as_deref().map(read_prices).transpose()?)
    }

    fn sequential_options(&self) -> Result<SequentialOptions, FitCommandError> {
        if self.sequential && (self.method == Method::Elo || !self.interval.has_errors()) {
            return Err(FitCommandError::SequentialInterval);
        }
        if !(self.equal_within.is_finite() && self.equal_within >= 0.0) {
            return Err(FitCommandError::EqualWithin(self.equal_within));
        }
        Ok(SequentialOptions { optimal_at_battles: self.optimal_at_battles, equal_within: self.equal_within })
    }

    /// Returns the columns to read besides models and outcome. Charts include the rating history, which needs times.
    pub(super) fn columns(&self) -> ColumnSet {
        let mut columns = ColumnSet {
            voters: self.interval.reads_voters() || self.robustness || self.same_maker.is_some(),
            turns: self.turn,
            style: self.style,
            pair_probabilities: self.reweight == Reweight::PairProbability,
            seconds: self.charts.is_some() || self.good_enough,
            ..ColumnSet::default()
        };
        if self.prices.is_some() {
            ArenaUsage::add_columns(&mut columns);
        }
        self.slice.slice().add_columns(&mut columns);
        self.pool_by.into_iter().for_each(|column| column.add_to(&mut columns));
        columns
    }

    /// Returns which votes of the database count.
    pub(super) fn counted_votes(&self) -> CountedVotes {
        match (self.include_excluded, self.unique_prompts) {
            (true, _) => CountedVotes::WithExcluded,
            (false, true) => CountedVotes::UniquePrompts,
            (false, false) => CountedVotes::Rated,
        }
    }

    fn scoring(&self) -> Scoring {
        if self.without_ties {
            return Scoring { ties: TieRule::Drop, both_bad: BothBadRule::Drop };
        }
        Scoring { ties: self.ties, both_bad: self.both_bad }
    }
}

/// Parses `MODEL=RATING`; the model's name may contain an equals sign.
fn parse_anchor(text: &str) -> Result<Anchor, FitCommandError> {
    let refused = || FitCommandError::Anchor(text.to_owned());
    let (model, rating) = text.rsplit_once('=').filter(|(model, _)| !model.is_empty()).ok_or_else(refused)?;
    Ok(Anchor { model: model.to_owned(), rating: rating.trim().parse().map_err(|_| refused())? })
}
