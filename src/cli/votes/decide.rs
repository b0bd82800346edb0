//! `langya votes exclude` and `langya votes include`: previews and writes decisions on exclusions.

use std::collections::BTreeMap;
use std::process::ExitCode;

use clap::Args;
use serde::Serialize;

use super::filters::FilterFlags;
use super::list::ListedVote;
use crate::Location;
use crate::databases;
use crate::domain::admin::MAX_REASON_CHARS;
use crate::domain::integrity::exclusions::exclusion_decision::{ExclusionDecision, SelectedVote};
use crate::domain::integrity::exclusions::exclusion_rule::ExclusionRule;
use crate::domain::integrity::exclusions::leaderboard_change::{ChangedModel, LeaderboardChange, LeaderboardPlace};
use crate::domain::plural::counted;
use crate::error::{BadInput, CommandResult};
use crate::infra::config::{Environment, Settings};
use crate::infra::rng::SharedRng;
use crate::infra::storage::{IfMissing, Store, is_storable};
use crate::infra::stored_votes::selection::select;
use crate::infra::time::clock::{Clock, SystemClock};
use crate::output::output_format::OutputFormat;
use crate::output::table::{render, table};
use crate::output::{progress, standard_output};
use crate::services::admin::actor::Actor;
use crate::services::exclusions::preview::preview;
use crate::services::exclusions::write_decision::{DecisionContext, write_decision};

/// Maximum number of voters in a table, those with the most votes.
const MAX_LISTED_VOTERS: usize = 20;

/// Flags of `langya votes exclude`.
#[derive(Debug, Clone, Args)]
pub(super) struct ExcludeOptions {
    #[command(flatten)]
    common: CommonDecideOptions,
    /// The rule: identity_leak, failed_side, named_mode, rate_limited, anomalous_voter, duplicate_prompt, admin,
    /// taken_back or left_out
    #[arg(long, value_name = "RULE", default_value = "admin")]
    rule: ExclusionRule,
    /// Why; everybody can read it on the page /exclusions
    #[arg(long, value_name = "TEXT", value_parser = parse_text)]
    reason: String,
}

/// Flags of `langya votes include`.
#[derive(Debug, Clone, Args)]
pub(super) struct IncludeOptions {
    #[command(flatten)]
    common: CommonDecideOptions,
    /// Withdraw only exclusions by this rule; all rules without it
    #[arg(long, value_name = "RULE")]
    rule: Option<String>,
}

#[derive(Debug, Clone, Args)]
struct CommonDecideOptions {
    #[command(flatten)]
    location: Location,
    #[command(flatten)]
    filters: FilterFlags,
    /// Name of the person who decides; not published [default: the user of the operating system]
    #[arg(long, value_name = "NAME", value_parser = parse_text)]
    by: Option<String>,
    /// Only show which votes and voters it concerns and how the leaderboard would change
    #[arg(long)]
    dry_run: bool,
    /// Output format; CSV has a line for each vote
    #[arg(long, value_enum, default_value_t)]
    format: OutputFormat,
}

fn parse_text(text: &str) -> Result<String, String> {
    let text = text.trim();
    let is_usable = !text.is_empty() && text.chars().count() <= MAX_REASON_CHARS && is_storable(text);
    is_usable.then(|| text.to_owned()).ok_or_else(|| format!("write 1 to {MAX_REASON_CHARS} characters of plain text"))
}

/// Report of a decision, or of its dry run.
#[derive(Serialize)]
struct DecisionReport {
    action: &'static str,
    dry_run: bool,
    /// `null` for all rules.
    rule: Option<String>,
    /// Number of votes that match the filters.
    matched: usize,
    /// Number of these votes whose exclusions change.
    votes: usize,
    voters: Vec<DecidedVoter>,
    /// `null` unless it is a dry run.
    #[serde(rename = "board")]
    leaderboard: Option<LeaderboardChange>,
}

/// Vote count of a voter; the empty name stands for all imported votes without a voter.
#[derive(Serialize)]
struct DecidedVoter {
    voter: String,
    votes: u64,
}

/// Excludes votes.
///
/// # Errors
/// No filter, or no matching vote.
pub(super) async fn exclude(options: ExcludeOptions, env: &Environment) -> CommandResult<ExitCode> {
    let ExcludeOptions { common, rule, reason } = options;
    run(common, ExclusionDecision::Exclude { rule, reason }, env).await
}

/// Withdraws exclusions.
///
/// # Errors
/// No filter, or no matching exclusion in force.
pub(super) async fn include(options: IncludeOptions, env: &Environment) -> CommandResult<ExitCode> {
    let IncludeOptions { common, rule } = options;
    run(common, ExclusionDecision::Include { rule }, env).await
}

async fn run(common: CommonDecideOptions, decision: ExclusionDecision, env: &Environment) -> CommandResult<ExitCode> {
    let by_rule = match &decision {
        ExclusionDecision::Include { rule } => rule.as_deref(),
        ExclusionDecision::Exclude { .. } => None,
    };
    if common.filters.is_empty() && by_rule.is_none() {
        return Err(BadInput(
            "no votes selected: give --voter, --model, --battle, --seq, --prompt-cluster, --since or --until; --seq 1.. for all"
                .to_owned(),
        )
        .into());
    }
    let settings = common.location.settings(env)?;
    let store = databases::open(&settings.storage, IfMissing::Fail).await?;
    let matched = selected(&store, &common, by_rule).await?;
    let votes: Vec<SelectedVote> = matched.iter().filter(|vote| decision.concerns(vote)).cloned().collect();
    check_found(&matched, &votes, &decision)?;
    let mut report = DecisionReport::new(&decision, &common, matched.len(), &votes);
    if common.dry_run {
        report.leaderboard = Some(preview_of(&store, &votes, &decision, &settings).await?);
    } else {
        let rng = SharedRng::from_system();
        let name = common.by.clone().unwrap_or_else(|| user(env));
        let author = DecisionContext {
            id: rng.id(&SystemClock),
            actor: Actor::of_command(name),
            decided_at: SystemClock.now(),
            subject: common.filters.filter(by_rule).summary(),
        };
        write_decision(&store, &decision, &votes, author).await?;
    }
    let listed = match common.format {
        OutputFormat::Csv => ListedVote::all(&store, &votes).await?,
        OutputFormat::Json | OutputFormat::Table => Vec::new(),
    };
    standard_output::print(&format_decision(&report, &listed, common.format)?)?;
    Ok(ExitCode::SUCCESS)
}

async fn selected(
    store: &Store,
    common: &CommonDecideOptions,
    by_rule: Option<&str>,
) -> CommandResult<Vec<SelectedVote>> {
    common.filters.check(store).await?;
    let bar = progress::bar("reading votes");
    let votes = select(store, &common.filters.filter(by_rule), |seq, last| progress::show(&bar, seq, last)).await?;
    bar.finish_and_clear();
    Ok(votes)
}

fn check_found(matched: &[SelectedVote], votes: &[SelectedVote], decision: &ExclusionDecision) -> Result<(), BadInput> {
    let excludes = matches!(decision, ExclusionDecision::Exclude { .. });
    if matched.is_empty() && excludes {
        return Err(BadInput("no vote matches: check the filters with `langya votes list`".to_owned()));
    }
    if votes.is_empty() && !excludes {
        let list = "no exclusion in force matches: `langya votes list` shows which rules exclude which votes";
        return Err(BadInput(list.to_owned()));
    }
    Ok(())
}

async fn preview_of(
    store: &Store,
    votes: &[SelectedVote],
    decision: &ExclusionDecision,
    settings: &Settings,
) -> CommandResult<LeaderboardChange> {
    let bar = progress::bar("rating votes");
    let options = settings.rating.leaderboard_options()?;
    let change = preview(store, votes, decision, options, |seq, last| progress::show(&bar, seq, last)).await?;
    bar.finish_and_clear();
    Ok(change)
}

/// Returns the operating system user, if the environment has one.
fn user(env: &Environment) -> String {
    env.user().and_then(|name| parse_text(name).ok()).unwrap_or_else(|| "operator".to_owned())
}

impl DecisionReport {
    fn new(decision: &ExclusionDecision, common: &CommonDecideOptions, matched: usize, votes: &[SelectedVote]) -> Self {
        let (action, rule) = match decision {
            ExclusionDecision::Exclude { rule, .. } => ("exclude", Some(rule.to_string())),
            ExclusionDecision::Include { rule } => ("include", rule.clone()),
        };
        let mut by_voter: BTreeMap<&str, u64> = BTreeMap::new();
        votes.iter().for_each(|vote| *by_voter.entry(&vote.voter).or_default() += 1);
        let mut voters: Vec<DecidedVoter> =
            by_voter.into_iter().map(|(voter, votes)| DecidedVoter { voter: voter.to_owned(), votes }).collect();
        voters.sort_by_key(|voter| std::cmp::Reverse(voter.votes));
        Self { action, dry_run: common.dry_run, rule, matched, votes: votes.len(), voters, leaderboard: None }
    }

    fn sentence(&self) -> String {
        let rule = self.rule.as_ref().map_or_else(|| "any rule".to_owned(), |rule| format!("the rule {rule}"));
        let (votes, voters) = (counted(self.votes, "vote", "votes"), counted(self.voters.len(), "voter", "voters"));
        let verb = match (self.action, self.dry_run) {
            ("exclude", true) => "would be excluded",
            ("exclude", false) => "excluded",
            (_, true) => "would be rated again unless another rule excludes them",
            (_, false) => "rated again unless another rule excludes them",
        };
        let left = self.matched - self.votes;
        let unchanged = match left {
            0 => String::new(),
            1 => "; nothing changes for 1 more that matches".to_owned(),
            left => format!("; nothing changes for {left} more that match"),
        };
        format!("{votes} of {voters} {verb}, by {rule}{unchanged}\n")
    }
}

fn format_decision(report: &DecisionReport, votes: &[ListedVote<'_>], format: OutputFormat) -> CommandResult<String> {
    match format {
        OutputFormat::Json => Ok(format!("{}\n", serde_json::to_string_pretty(report)?)),
        OutputFormat::Csv => render(votes, format),
        OutputFormat::Table => {
            let rows = report.voters.iter().take(MAX_LISTED_VOTERS);
            let rows: Vec<Vec<String>> = rows
                .map(|row| {
                    let voter = if row.voter.is_empty() { "(not named)" } else { &row.voter };
                    vec![voter.to_owned(), row.votes.to_string()]
                })
                .collect();
            let mut text = report.sentence() + "\n" + &table(&["voter", "votes"], rows);
            if report.voters.len() > MAX_LISTED_VOTERS {
                text += &format!("… and {} more\n", report.voters.len() - MAX_LISTED_VOTERS);
            }
            if let Some(change) = &report.leaderboard {
                text = text + "\n" + &change_table(change);
            }
            Ok(text)
        }
    }
}

/// Formats the models whose rank changes as a table.
pub(super) fn change_table(change: &LeaderboardChange) -> String {
    let largest = change.largest_change.map_or_else(|| "-".to_owned(), |points| format!("{points:+.1} points"));
    let head = format!(
        "rated votes: {} before, {} after; ranks that change: {}; largest change of a rating: {largest}\n",
        change.votes_before, change.votes_after, change.ranks_changed
    );
    let rows: Vec<Vec<String>> = change.models.iter().filter(|model| model.changes_rank()).map(change_cells).collect();
    if rows.is_empty() {
        return head;
    }
    head + &table(&["model", "rank before", "rank after", "rating before", "rating after"], rows)
}

fn change_cells(change: &ChangedModel) -> Vec<String> {
    let rank = |place: Option<LeaderboardPlace>| {
        place.and_then(|place| place.shown_ranks).map_or_else(|| "-".to_owned(), |ranks| ranks.to_string())
    };
    let rating = |place: Option<LeaderboardPlace>| {
        place.and_then(|place| place.rating).map_or_else(|| "-".to_owned(), |rating| format!("{rating:.1}"))
    };
    let (before, after) = (change.before, change.after);
    vec![change.model.clone(), rank(before), rank(after), rating(before), rating(after)]
}
