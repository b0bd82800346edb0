//! Findings about a suite's judges as tables, from [`analysis`](crate::domain::benchmark::analysis) of the judgements.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use rayon::prelude::*;

use super::analysis_rows::{count, name_with_baseline, table};
use super::item_findings::ItemFindings;
use super::{Analysis, Datum, ScoreEntry};
use crate::domain::benchmark::Suite;
use crate::domain::benchmark::analysis::failed_judgements::StatusCounts;
use crate::domain::benchmark::analysis::five_level_verdicts::{BaselineGames, levels_by_model};
use crate::domain::benchmark::analysis::item_scores::ItemPair;
use crate::domain::benchmark::analysis::judges::{JudgePairAgreement, compare};
use crate::domain::benchmark::analysis::length::{GameLengths, ScoredLength, longer_wins, within_items};
use crate::domain::benchmark::analysis::position_bias::PositionBias;
use crate::domain::benchmark::analysis::self_preference::{ScoresByJudge, SelfPreference, self_preferences};
use crate::domain::benchmark::analysis::self_preference_matrix::{PreferenceCell, SelfPreferenceMatrix};
use crate::domain::benchmark::analysis::weighted_scores::WeightedScores;
use crate::domain::benchmark::item::Item;
use crate::domain::benchmark::judging_forms::logprob_weighted::LOGPROB_WEIGHTED;
use crate::domain::benchmark::scores::judgement::{Game, Judgement, Status};
use crate::domain::benchmark::scores::panel_scores::JudgementsByBaseline;
use crate::domain::benchmark::scores::score::Part;
use crate::domain::judging::verdict::Verdict;
use crate::domain::language::Language;
use crate::domain::stats::confidence::ConfidenceLevel;
use crate::domain::stats::correlation::Correlation;
use crate::domain::stats::resample::BootstrapOptions;
use crate::domain::stats::{Share, Undefined};
use crate::i18n::findings::{FindingTexts, finding_texts};

/// Maximum number of judges compared individually.
const MAX_LISTED_JUDGES: usize = 12;

/// Judgement with its baseline.
pub struct ComparedJudgement<'j> {
    /// The judgement.
    pub judgement: &'j Judgement,
    /// The baseline; empty without one.
    pub baseline: &'j str,
}

/// Lengths of answers in characters, by item, turn and model.
pub type Lengths = HashMap<(String, u32, String), u64>;

/// Findings about a suite's judges.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Findings {
    /// By displayed judge name and baseline.
    levels: Vec<(String, BaselineGames)>,
    /// Judges with at least one judgement without a verdict.
    ends: Vec<(String, StatusCounts)>,
    /// By judge; counted for every suite of scores, and kept at the end only for suites that ask for probabilities.
    weighted: Vec<(String, WeightedScores)>,
    position: Vec<(String, PositionBias)>,
    longer: Vec<(String, Share)>,
    length: Vec<(String, usize, Result<Correlation, Undefined>)>,
    /// By displayed judge name and baseline.
    preferences: Vec<(String, SelfPreference)>,
    pairs: Vec<(String, String, JudgePairAgreement)>,
    grid: SelfPreferenceMatrix,
    items: ItemFindings,
}

impl Findings {
    /// Analyses all judgements.
    #[must_use]
    pub fn new(judged: &[ComparedJudgement<'_>], lengths: &Lengths) -> Self {
        let mut by_judge: BTreeMap<&str, Vec<&ComparedJudgement<'_>>> = BTreeMap::new();
        for one in judged.iter().filter(|one| !one.judgement.judge_model.is_empty()) {
            by_judge.entry(&one.judgement.judge_model).or_default().push(one);
        }
        let by_judge: Vec<(&str, Vec<&ComparedJudgement<'_>>)> = by_judge.into_iter().collect();
        let found: Vec<Self> =
            by_judge.par_iter().map(|(judge, judged)| Self::of_judge(judge, judged, lengths)).collect();
        let mut findings = Self::default();
        for of_judge in found {
            findings.levels.extend(of_judge.levels);
            findings.ends.extend(of_judge.ends);
            findings.weighted.extend(of_judge.weighted);
            findings.position.extend(of_judge.position);
            findings.longer.extend(of_judge.longer);
            findings.length.extend(of_judge.length);
        }
        findings
    }

    fn of_judge(judge: &str, judged: &[&ComparedJudgement<'_>], lengths: &Lengths) -> Self {
        let judgements = || judged.iter().map(|one| one.judgement);
        let ends = StatusCounts::new(judged.iter().map(|one| (one.baseline, one.judgement)));
        let weighted = WeightedScores::new(judgements());
        let position = PositionBias::new(judgements());
        let longer = longer_wins(&judged.iter().filter_map(|one| game(one, lengths)).collect::<Vec<_>>());
        Self {
            levels: levels(judge, judged),
            ends: named_if(ends.of(Status::Ok) < ends.total(), judge, ends),
            weighted: named_if(weighted.scores > 0, judge, weighted),
            position: named_if(position.turns > 0, judge, position),
            longer: named_if(longer.total > 0, judge, longer),
            length: length_of(judge, judged, lengths).into_iter().collect(),
            ..Self::default()
        }
    }

    /// Adds comparisons of the judges by their scores; panels are left out.
    #[must_use]
    pub fn with_scores(mut self, entries: &[ScoreEntry], judges: &BTreeSet<String>) -> Self {
        let of_baseline = |baseline: &str| {
            let entries = entries.iter().filter(|entry| entry.baseline == baseline);
            let found = self_preferences(&by_judge(entries, judges, |entry| entry.model.clone()));
            found.into_iter().map(|one| (name_with_baseline(&one.judge, baseline), one)).collect::<Vec<_>>()
        };
        let baselines: BTreeSet<&str> = entries.iter().map(|entry| entry.baseline.as_str()).collect();
        self.preferences = baselines.into_iter().flat_map(of_baseline).collect();
        let scores = by_judge(entries, judges, |entry| name_with_baseline(&entry.model, &entry.baseline));
        let judges: Vec<&String> = scores.keys().take(MAX_LISTED_JUDGES).collect();
        for (at, first) in judges.iter().enumerate() {
            for second in &judges[at + 1..] {
                let pair = compare(&scores[*first], &scores[*second]);
                self.pairs.push(((*first).clone(), (*second).clone(), pair));
            }
        }
        self
    }

    /// Adds the cross-validation of evaluators and reference generators.
    #[must_use]
    pub fn with_grid(self, grid: SelfPreferenceMatrix) -> Self {
        Self { grid, ..self }
    }

    /// Adds item-level findings: differences of models on the same items, and statistics of each item.
    #[must_use]
    pub fn with_items(
        self,
        suite: &dyn Suite,
        items: &[Item],
        by_baseline: &JudgementsByBaseline,
        entries: &[ScoreEntry],
    ) -> Self {
        let is_weighted = suite.variant().starts_with(LOGPROB_WEIGHTED);
        let weighted = if is_weighted { self.weighted } else { Vec::new() };
        Self { items: ItemFindings::new(suite, items, by_baseline, entries), weighted, ..self }
    }

    /// The cross-validation; empty if no judge used a model's answers as references.
    pub(super) fn grid(&self) -> &SelfPreferenceMatrix {
        &self.grid
    }

    /// Models that others can be compared with on the same items.
    #[must_use]
    pub fn models(&self) -> BTreeSet<&str> {
        self.items.models()
    }

    /// Items with scores of both models, the largest difference first.
    #[must_use]
    pub fn item_pairs(&self, models: [&str; 2]) -> Vec<ItemPair> {
        self.items.item_pairs(models)
    }

    /// Items on which judges disagree, the largest disagreement first.
    #[must_use]
    pub fn disputed_items(&self) -> Vec<&str> {
        self.items.disputed_items()
    }

    /// Builds the tables of the findings; empty ones are left out. Models are compared with `compare_with`, or by default with the best
    /// one.
    #[must_use]
    pub fn analyses(&self, compare_with: Option<&str>, language: Language) -> Vec<Analysis> {
        let words = finding_texts(language);
        let all = [
            self.failed_judgements(words),
            self.weighted_scores(words),
            self.position_bias(words),
            self.longer_answers(words),
            self.lengths(words),
            self.self_preference(words),
            self.judge_pairs(words),
            self.ranks(words),
            self.cross_validation(words),
            self.cross_cells(words),
            self.rating_bias(words),
        ];
        std::iter::once(self.five_levels(words))
            .chain(self.items.analyses(compare_with, language))
            .chain(all)
            .filter(|analysis| !analysis.rows.is_empty())
            .collect()
    }

    fn five_levels(&self, words: &FindingTexts) -> Analysis {
        let row = |(judge, one): &(String, BaselineGames)| {
            let [lower, upper] = one.points_interval();
            let names = [judge, &one.model].map(|name| Datum::Text(name.clone()));
            let rates = [Some(one.win_rate), one.interval.map(|of| of.lower), one.interval.map(|of| of.upper)];
            let numbers = rates.into_iter().chain([one.points(), lower, upper]).map(Datum::Number);
            names.into_iter().chain(one.games.map(Datum::Count)).chain(numbers).collect()
        };
        table("five-levels", &words.levels, self.levels.iter().map(row).collect())
    }

    /// Judgements without a verdict, a column for each reason.
    fn failed_judgements(&self, words: &FindingTexts) -> Analysis {
        let row = |(judge, ends): &(String, StatusCounts)| {
            let counts = Status::ALL.map(|status| Datum::Count(ends.of(status)));
            [Datum::Text(judge.clone()), Datum::Count(ends.total())].into_iter().chain(counts).collect()
        };
        table("failed-judgements", &words.failed, self.ends.iter().map(row).collect())
    }

    fn weighted_scores(&self, words: &FindingTexts) -> Analysis {
        let row = |(judge, weighted): &(String, WeightedScores)| {
            let counts = [weighted.scores, weighted.weighted].map(Datum::Count);
            let means = weighted.means().map(Datum::Number);
            std::iter::once(Datum::Text(judge.clone())).chain(counts).chain(means).collect()
        };
        table("weighted-scores", &words.weighted, self.weighted.iter().map(row).collect())
    }

    fn position_bias(&self, words: &FindingTexts) -> Analysis {
        let row = |(judge, bias): &(String, PositionBias)| {
            vec![
                Datum::Text(judge.clone()),
                Datum::Count(bias.turns),
                Datum::Count(bias.consistent),
                Datum::Count(bias.first),
                Datum::Count(bias.second),
                Datum::Number(bias.changed().ok()),
                Datum::Number(bias.first_position_preference().ok()),
            ]
        };
        table("position-bias", &words.position, self.position.iter().map(row).collect())
    }

    fn longer_answers(&self, words: &FindingTexts) -> Analysis {
        let row = |(judge, share): &(String, Share)| {
            vec![Datum::Text(judge.clone()), Datum::Count(share.total), Datum::Number(share.rate().ok())]
        };
        table("longer-answers", &words.longer, self.longer.iter().map(row).collect())
    }

    fn lengths(&self, words: &FindingTexts) -> Analysis {
        let row = |(judge, answers, found): &(String, usize, Result<Correlation, Undefined>)| {
            let found = found.as_ref().ok();
            vec![
                Datum::Text(judge.clone()),
                Datum::Count(u64::try_from(*answers).unwrap_or(u64::MAX)),
                Datum::Number(found.map(|found| found.r)),
                Datum::Number(found.map(|found| found.p)),
            ]
        };
        table("length-bias", &words.length, self.length.iter().map(row).collect())
    }

    fn self_preference(&self, words: &FindingTexts) -> Analysis {
        let row = |(judge, one): &(String, SelfPreference)| {
            vec![
                Datum::Text(judge.clone()),
                Datum::Number(Some(one.of_itself)),
                Datum::Number(Some(one.of_others)),
                Datum::Number(Some(one.preference)),
            ]
        };
        table("self-preference", &words.preference, self.preferences.iter().map(row).collect())
    }

    fn judge_pairs(&self, words: &FindingTexts) -> Analysis {
        let r = |found: &Result<Correlation, Undefined>| Datum::Number(found.as_ref().ok().map(|found| found.r));
        let row = |(first, second, pair): &(String, String, JudgePairAgreement)| {
            vec![
                Datum::Text(first.clone()),
                Datum::Text(second.clone()),
                Datum::Count(u64::try_from(pair.models.len()).unwrap_or(u64::MAX)),
                r(&pair.pearson),
                r(&pair.spearman),
                r(&pair.kendall),
                Datum::Count(pair.pairs.concordant),
                Datum::Count(pair.pairs.discordant),
            ]
        };
        table("judges", &words.pairs, self.pairs.iter().map(row).collect())
    }

    fn ranks(&self, words: &FindingTexts) -> Analysis {
        let rows = self.pairs.iter().flat_map(|(first, second, pair)| {
            pair.models.iter().map(move |model| {
                vec![
                    Datum::Text(model.model.clone()),
                    Datum::Text(first.clone()),
                    Datum::Number(Some(model.first)),
                    Datum::Rank(model.first_rank),
                    Datum::Text(second.clone()),
                    Datum::Number(Some(model.second)),
                    Datum::Rank(model.second_rank),
                ]
            })
        });
        table("ranks", &words.ranks, rows.collect())
    }

    /// Table with a row for each evaluator and a column for each generator.
    fn cross_validation(&self, words: &FindingTexts) -> Analysis {
        let generators = self.grid.generators();
        let row = |evaluator: &str| {
            let mean = |generator: &&str| Datum::Number(self.grid.mean(evaluator, generator).ok());
            std::iter::once(Datum::Text(evaluator.to_owned())).chain(generators.iter().map(mean)).collect()
        };
        let mut found = table("cross-validation", &words.grid, self.grid.evaluators().into_iter().map(row).collect());
        found.columns.extend(generators.iter().map(|generator| (*generator).to_owned()));
        found
    }

    fn cross_cells(&self, words: &FindingTexts) -> Analysis {
        let row = |(names, cell): ([&str; 3], &PreferenceCell)| {
            let numbers = [count(cell.n), Datum::Number(Some(cell.mean)), Datum::Number(cell.std_dev)];
            names.map(|name| Datum::Text(name.to_owned())).into_iter().chain(numbers).collect()
        };
        table("cross-validation-models", &words.cells, self.grid.cells().map(row).collect())
    }

    fn rating_bias(&self, words: &FindingTexts) -> Analysis {
        let row = |judge: &str| {
            vec![Datum::Text(judge.to_owned()), count(self.grid.own(judge)), Datum::Number(self.grid.bias(judge).ok())]
        };
        table("rating-bias", &words.bias, self.grid.evaluators().into_iter().map(row).collect())
    }
}

/// Pairs a finding with its judge if it is worth a row.
fn named_if<T>(is_worth: bool, judge: &str, found: T) -> Vec<(String, T)> {
    is_worth.then(|| (judge.to_owned(), found)).into_iter().collect()
}

/// Overall scores by judge and model, with models renamed by a function.
fn by_judge<'e>(
    entries: impl IntoIterator<Item = &'e ScoreEntry>,
    judges: &BTreeSet<String>,
    name: impl Fn(&ScoreEntry) -> String,
) -> ScoresByJudge {
    let mut scores = ScoresByJudge::new();
    for entry in entries.into_iter().filter(|entry| !entry.judge.is_empty() && judges.contains(&entry.judge)) {
        let Some(value) = entry.scores.of(&Part::overall()).and_then(|score| score.value) else { continue };
        scores.entry(entry.judge.clone()).or_default().insert(name(entry), value);
    }
    scores
}

/// A judge's five-level verdicts, baseline by baseline.
fn levels(judge: &str, judged: &[&ComparedJudgement<'_>]) -> Vec<(String, BaselineGames)> {
    let baselines: BTreeSet<&str> = judged.iter().map(|one| one.baseline).collect();
    let of_baseline = |baseline: &str| {
        let own = judged.iter().filter(|one| one.baseline == baseline).map(|one| one.judgement);
        let found = levels_by_model(own, BootstrapOptions::default(), ConfidenceLevel::default());
        found.into_iter().map(|one| (name_with_baseline(judge, baseline), one)).collect::<Vec<_>>()
    };
    baselines.into_iter().flat_map(of_baseline).collect()
}

fn length(judgement: &Judgement, model: &str, lengths: &Lengths) -> Option<u64> {
    lengths.get(&(judgement.item_id.clone(), judgement.turn, model.to_owned())).copied()
}

/// Game with the lengths of its answers, if both are known.
fn game(one: &ComparedJudgement<'_>, lengths: &Lengths) -> Option<GameLengths> {
    let said = one.judgement;
    let Some(Verdict::Pair { winner, .. }) = said.parsed else { return None };
    let [own, other] = [said.model.as_str(), one.baseline].map(|model| length(said, model, lengths));
    let (a, b) = if said.game == Game::First { (own?, other?) } else { (other?, own?) };
    Some(GameLengths { winner, a, b })
}

/// Correlation of a judge's scores with the lengths of answers; `None` without scores or stored answers.
fn length_of(
    judge: &str,
    judged: &[&ComparedJudgement<'_>],
    lengths: &Lengths,
) -> Option<(String, usize, Result<Correlation, Undefined>)> {
    let items: Vec<(String, u64, f64)> = judged
        .iter()
        .filter_map(|one| match &one.judgement.parsed {
            Some(Verdict::Rating(rating)) => {
                let said = one.judgement;
                // Each turn counts as a separate question.
                Some((format!("{} {}", said.item_id, said.turn), length(said, &said.model, lengths)?, rating.score))
            }
            _ => None,
        })
        .collect();
    let scored: Vec<ScoredLength<'_>> =
        items.iter().map(|(item, length, score)| ScoredLength { item, length: *length, score: *score }).collect();
    (!scored.is_empty()).then(|| (judge.to_owned(), scored.len(), within_items(&scored)))
}
