//! `langya models pairing`: previews another pairing policy. Read-only.

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::str::FromStr;

use clap::Args;
use serde::Serialize;

use super::{TableRow, render};
use crate::databases;
use crate::domain::battle::ModelId;
use crate::domain::battle::pairing::preview::{PairChange, PairingPreview};
use crate::domain::battle::pairing::{ModelPool, PairingRules, Policy, distribution};
use crate::domain::rating::leaderboards::leaderboard::Leaderboard;
use crate::domain::rating::pairing_pool::pairing_pool;
use crate::domain::rating::votes::vote_log::{ColumnSet, VoteLog};
use crate::error::{BadInput, CommandResult};
use crate::infra::config::{PairingPolicySetting, PairingSettings, Settings};
use crate::infra::llm::roster::entries;
use crate::infra::storage::{IfMissing, VoteRange};
use crate::infra::stored_votes::vote_log::{LogQuery, read_log};
use crate::output::output_format::OutputFormat;
use crate::output::standard_output::print;
use crate::services::leaderboard::latest_leaderboard::LatestLeaderboard;

/// `langya models pairing …`
#[derive(Debug, Clone, Args)]
pub struct PairingOptions {
    /// The policy to try: uniform, weighted, elo or active [default: from the settings]
    #[arg(long)]
    policy: Option<PairingPolicySetting>,
    /// Another weight for a model; may be repeated
    #[arg(long = "weight", value_name = "ID=WEIGHT")]
    weights: Vec<ModelWeight>,
    /// Share of battles drawn uniformly under elo and active
    #[arg(long, value_name = "SHARE")]
    uniform_share: Option<f64>,
    /// Under elo: the rating difference at which a pair is e times rarer
    #[arg(long, value_name = "POINTS")]
    elo_width: Option<f64>,
    /// Number of future votes to distribute over the pairs, for the column "expected votes"
    #[arg(long, default_value_t = 1_000)]
    votes: u32,
    /// Output format
    #[arg(long, value_enum, default_value_t)]
    format: OutputFormat,
}

/// `ID=WEIGHT`.
#[derive(Debug, Clone)]
struct ModelWeight(ModelId, f64);

impl FromStr for ModelWeight {
    type Err = BadInput;

    fn from_str(text: &str) -> Result<Self, BadInput> {
        let read = text.rsplit_once('=').and_then(|(id, weight)| Some(Self(ModelId::new(id), weight.parse().ok()?)));
        let is_weight = |weight: &Self| weight.1.is_finite() && weight.1 >= 0.0;
        read.filter(is_weight)
            .ok_or_else(|| BadInput("write a model and a weight of 0 or more, such as a=2".to_owned()))
    }
}

/// Output row of a pair with its probabilities.
#[derive(Debug, Clone, PartialEq, Serialize)]
struct PairRow {
    model_a: String,
    model_b: String,
    today: f64,
    then: f64,
    expected_votes: f64,
}

impl TableRow for PairRow {
    const HEADS: &'static [&'static str] = &["model", "model", "today", "then", "expected votes"];

    fn cells(&self) -> Vec<String> {
        let percent = |share: f64| format!("{:.2}%", 100.0 * share);
        let votes = format!("{:.1}", self.expected_votes);
        vec![self.model_a.clone(), self.model_b.clone(), percent(self.today), percent(self.then), votes]
    }
}

/// Prints every pair, in descending order of probability under the other pairing.
///
/// # Errors
/// Invalid numbers, too few models, or an unavailable database.
pub(super) async fn print_preview(options: &PairingOptions, settings: &Settings) -> CommandResult<ExitCode> {
    let former = settings.pairing.clone();
    let tried = PairingSettings {
        policy: options.policy.unwrap_or(former.policy),
        uniform_share: options.uniform_share.unwrap_or(former.uniform_share),
        elo_width: options.elo_width.unwrap_or(former.elo_width),
        ..former.clone()
    };
    tried.check()?;
    let configured: Vec<(ModelId, f64)> =
        entries(settings).iter().map(|entry| (ModelId::new(&entry.id), entry.weight)).collect();
    let weights: BTreeMap<&ModelId, f64> = options.weights.iter().map(|weight| (&weight.0, weight.1)).collect();
    if let Some(unknown) = weights.keys().find(|id| !configured.iter().any(|(known, _)| known == **id)) {
        return Err(
            BadInput(format!("no model has the id {:?}: `langya models list` shows them", unknown.as_str())).into()
        );
    }
    let ratings = Ratings::read(settings, [&former.rules(), &tried.rules()]).await?;
    let changed = configured.iter().map(|(id, weight)| (id.clone(), weights.get(id).copied().unwrap_or(*weight)));
    let then = distribution(&ratings.pool(changed, &tried.rules()), &tried.rules());
    let then = then.map_err(|error| BadInput(error.to_string()))?;
    let today = ratings.pool(configured.iter().cloned(), &former.rules());
    let preview = PairingPreview::new(&distribution(&today, &former.rules()).unwrap_or_default(), &then);
    let rows: Vec<PairRow> = preview.pairs.iter().map(|pair| row(pair, options.votes)).collect();
    print(&render(&rows, options.format)?)?;
    Ok(ExitCode::SUCCESS)
}

fn row(pair: &PairChange, votes: u32) -> PairRow {
    PairRow {
        model_a: pair.models[0].to_string(),
        model_b: pair.models[1].to_string(),
        today: pair.chance.today,
        then: pair.chance.then,
        expected_votes: pair.chance.then * f64::from(votes),
    }
}

/// Ratings and vote counts of the models.
struct Ratings {
    leaderboard: Leaderboard,
    /// Number of rated votes of two models, by ids.
    pair_votes: BTreeMap<[String; 2], u64>,
}

impl Ratings {
    /// Reads the latest leaderboard, and the votes of pairs if one of the rules needs them.
    async fn read(settings: &Settings, rules: [&PairingRules; 2]) -> CommandResult<Self> {
        let store = databases::open(&settings.storage, IfMissing::Fail).await?;
        let leaderboard = LatestLeaderboard::open(&store).await?.latest().leaderboard.clone();
        let pair_votes = match rules.iter().any(|rules| rules.policy == Policy::Active) {
            true => {
                let (columns, range) = (ColumnSet::default(), VoteRange::ALL);
                count_pairs(&read_log(&store, LogQuery { columns, range, concurrency: 1 }, |_, _| {}).await?)
            }
            false => BTreeMap::new(),
        };
        Ok(Self { leaderboard, pair_votes })
    }

    fn pool(&self, weighted: impl Iterator<Item = (ModelId, f64)>, rules: &PairingRules) -> ModelPool {
        let votes = |one: &str, other: &str| self.pair_votes.get(&ordered(one, other)).copied().unwrap_or(0);
        pairing_pool(weighted, &self.leaderboard, votes, rules)
    }
}

fn count_pairs(log: &VoteLog) -> BTreeMap<[String; 2], u64> {
    let (names, mut counts) = (log.models.as_slice(), BTreeMap::new());
    for (a, b) in log.a.iter().zip(&log.b) {
        *counts.entry(ordered(&names[*a as usize], &names[*b as usize])).or_insert(0) += 1;
    }
    counts
}

fn ordered(one: &str, other: &str) -> [String; 2] {
    let (one, other) = if one <= other { (one, other) } else { (other, one) };
    [one.to_owned(), other.to_owned()]
}
