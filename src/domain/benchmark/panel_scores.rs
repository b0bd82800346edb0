//! The scores of every model by every judge, and by all judges together. Pages, reports and correlations all compute
//! scores here.

use std::collections::{BTreeMap, BTreeSet};

use hashbrown::HashMap;
use rayon::prelude::*;
use serde::Serialize;

use super::Suite;
use super::item::Item;
use super::item_resampling::ItemDraws;
use super::judgement::{Judgement, Status};
use super::score::{Coverage, Part, Score, Scores, Verdicts, mean, mean_samples};

/// One judge, or the mean of several.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum JudgePanel {
    /// One judge; its name is empty where answers are read without one.
    Judge(String),
    /// The mean of several.
    Several(Vec<String>),
}

impl JudgePanel {
    /// The judges.
    #[must_use]
    pub fn judges(&self) -> &[String] {
        match self {
            Self::Judge(judge) => std::slice::from_ref(judge),
            Self::Several(judges) => judges,
        }
    }
}

/// The scores of one model.
#[derive(Debug, Clone, PartialEq)]
pub struct PanelScores {
    /// The model.
    pub model: String,
    /// The judge or judges.
    pub panel: JudgePanel,
    /// The scores.
    pub scores: Scores,
}

/// Judgements by model and judge.
#[derive(Debug, Clone)]
pub struct JudgementTable<'j> {
    judges: Vec<&'j str>,
    models: Vec<ModelJudgements<'j>>,
}

/// The judgements of one model, one list per judge of the table; a judge that did not judge the model has an empty one.
#[derive(Debug, Clone)]
pub struct ModelJudgements<'j> {
    /// The model.
    pub model: &'j str,
    by_judge: Vec<Vec<&'j Judgement>>,
}

/// The judges, in alphabetical order; with an empty name where answers are read without one.
#[must_use]
pub fn judge_names<'j>(judgements: impl IntoIterator<Item = &'j Judgement>) -> BTreeSet<&'j str> {
    distinct(judgements.into_iter().map(|judgement| judgement.judge_model.as_str()))
}

/// The judged models, in alphabetical order.
#[must_use]
pub fn model_names<'j>(judgements: impl IntoIterator<Item = &'j Judgement>) -> BTreeSet<&'j str> {
    distinct(judgements.into_iter().map(|judgement| judgement.model.as_str()))
}

fn distinct<'j>(all: impl Iterator<Item = &'j str>) -> BTreeSet<&'j str> {
    let mut names = BTreeSet::new();
    // Not collected: that would sort all of them before it drops those that are there already.
    names.extend(all);
    names
}

/// Judges that gave no verdict at all, in alphabetical order, where others gave some.
#[must_use]
pub fn silent_judges<'j>(judgements: impl IntoIterator<Item = &'j Judgement>) -> Vec<&'j str> {
    let mut spoke: BTreeMap<&str, bool> = BTreeMap::new();
    for judgement in judgements {
        *spoke.entry(&judgement.judge_model).or_default() |= judgement.status == Status::Ok;
    }
    let any = spoke.values().any(|spoke| *spoke);
    spoke.into_iter().filter(|(_, spoke)| any && !spoke).map(|(judge, _)| judge).collect()
}

impl<'j> JudgementTable<'j> {
    /// Groups judgements. A verdict replaces an earlier failure on the same answer, and a later failure does not replace it.
    /// Judges without any verdict are left out: see [`silent_judges`].
    #[must_use]
    pub fn new(judgements: &'j [Judgement]) -> Self {
        let silent = silent_judges(judgements);
        let mut ordered: Vec<&Judgement> =
            judgements.iter().filter(|judgement| !silent.contains(&judgement.judge_model.as_str())).collect();
        ordered.sort_by_key(|judgement| judgement.status == Status::Ok);
        let judges: Vec<&str> = judge_names(ordered.iter().copied()).into_iter().collect();
        let mut by_model: BTreeMap<&str, Vec<Vec<&Judgement>>> = BTreeMap::new();
        for judgement in ordered {
            let by_judge = by_model.entry(&judgement.model).or_insert_with(|| vec![Vec::new(); judges.len()]);
            if let Ok(judge) = judges.binary_search(&judgement.judge_model.as_str()) {
                by_judge[judge].push(judgement);
            }
        }
        let models = by_model.into_iter().map(|(model, by_judge)| ModelJudgements { model, by_judge }).collect();
        Self { judges, models }
    }

    /// The models in alphabetical order.
    #[must_use]
    pub fn models(&self) -> &[ModelJudgements<'j>] {
        &self.models
    }

    /// Whether the judges are a panel: several, each of whom has judged half of the models or more. A judge that was tried on a few
    /// makes no panel that anybody has asked for.
    fn is_panel(&self) -> bool {
        let judged = |judge: usize| self.models.iter().filter(|model| !model.by_judge[judge].is_empty()).count();
        self.judges.len() > 1 && (0..self.judges.len()).all(|judge| 2 * judged(judge) >= self.models.len())
    }

    /// Every model's scores by each judge, in alphabetical order; where the judges are a panel, each model's mean over all of
    /// them follows its rows.
    #[must_use]
    pub fn scores(&self, suite: &dyn Suite, items: &[Item]) -> Vec<PanelScores> {
        let judges: Vec<String> = self.judges.iter().map(|&judge| judge.to_owned()).collect();
        let is_panel = self.is_panel();
        let of_model = |model: &ModelJudgements| {
            let scores = model.scores_by_judge(suite, items);
            let mean = is_panel.then(|| (JudgePanel::Several(judges.clone()), panel_mean(&scores)));
            let panels = judges.iter().cloned().map(JudgePanel::Judge).zip(scores).chain(mean);
            let row = |(panel, scores)| PanelScores { model: model.model.to_owned(), panel, scores };
            panels.map(row).collect::<Vec<_>>()
        };
        self.models.par_iter().flat_map_iter(of_model).collect()
    }
}

impl<'j> ModelJudgements<'j> {
    fn scores_by_judge(&self, suite: &dyn Suite, items: &[Item]) -> Vec<Scores> {
        self.by_judge.iter().map(|judgements| suite.score(items, judgements)).collect()
    }

    /// What each judge of the table says of the model, for means that are also taken over resampled items.
    #[must_use]
    pub fn verdicts(&self, draws: &'j ItemDraws) -> Vec<Verdicts<'j>> {
        self.by_judge.iter().map(|judgements| Verdicts::new(judgements.iter().copied()).resampled(draws)).collect()
    }
}

/// The scores by the only judge, or their mean over all judges; over each replicate too where the verdicts are resampled.
#[must_use]
pub fn mean_scores(suite: &dyn Suite, items: &[Item], by_judge: &[Verdicts<'_>]) -> Scores {
    let mut scores: Vec<Scores> = by_judge.iter().map(|verdicts| suite.score_verdicts(items, verdicts)).collect();
    if scores.len() == 1 { scores.remove(0) } else { panel_mean(&scores) }
}

/// Selects judgements by model and judge.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct JudgementFilter {
    /// Only these models; all if empty.
    pub models: Vec<String>,
    /// Only these judges; all if empty.
    pub judges: Vec<String>,
}

impl JudgementFilter {
    /// Whether a judgement is selected.
    #[must_use]
    pub fn matches(&self, judgement: &Judgement) -> bool {
        let among = |names: &[String], name: &String| names.is_empty() || names.contains(name);
        among(&self.models, &judgement.model) && among(&self.judges, &judgement.judge_model)
    }
}

/// Judgements by the baseline that the answers were compared with; under an empty name where there was none.
pub type JudgementsByBaseline = BTreeMap<String, Vec<Judgement>>;

/// The baseline that most judgements were made with, the last by name of several; none without judgements.
#[must_use]
pub fn most_used_baseline<'b>(baselines: impl IntoIterator<Item = &'b str>) -> Option<&'b str> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    baselines.into_iter().for_each(|baseline| *counts.entry(baseline).or_default() += 1);
    counts.into_iter().max_by_key(|(_, count)| *count).map(|(baseline, _)| baseline)
}

/// The scores of one model by one judge, or by a panel, with the judgements behind them.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ModelScores {
    /// The model.
    pub model: String,
    /// The judge; several, in alphabetical order and joined with `+`, for the mean of a panel; empty where none is needed.
    pub judge: String,
    /// The model that the answers were compared with; empty where there was none.
    pub baseline: String,
    /// Whether the judge, or one of a panel, is evaluated too, so that it may have favoured itself.
    pub judge_is_evaluated: bool,
    /// Number of judgements by status.
    pub statuses: BTreeMap<&'static str, u64>,
    /// Time of the latest judgement, in milliseconds since 1970.
    pub judged_at: i64,
    /// The scores.
    pub scores: Scores,
}

impl ModelScores {
    /// All scores of a suite, by baseline, model and judge.
    #[must_use]
    pub fn all(
        suite: &dyn Suite,
        items: &[Item],
        by_baseline: &JudgementsByBaseline,
        evaluated_models: &BTreeSet<String>,
    ) -> Vec<Self> {
        let of_baseline = |(baseline, judgements): (&String, &Vec<Judgement>)| {
            let counts = judgement_counts(judgements);
            let scores = JudgementTable::new(judgements).scores(suite, items);
            scores.into_iter().map(|row| Self::new(row, baseline, &counts, evaluated_models)).collect::<Vec<_>>()
        };
        by_baseline.iter().flat_map(of_baseline).collect()
    }

    fn new(
        row: PanelScores,
        baseline: &str,
        counts: &JudgementCounts<'_>,
        evaluated_models: &BTreeSet<String>,
    ) -> Self {
        let judges = row.panel.judges();
        let own: Vec<&JudgementCount> =
            judges.iter().filter_map(|judge| counts.get(&(row.model.as_str(), judge.as_str()))).collect();
        let mut statuses = BTreeMap::new();
        for (status, count) in own.iter().flat_map(|count| &count.statuses) {
            *statuses.entry(status.as_str()).or_default() += count;
        }
        Self {
            judge_is_evaluated: judges
                .iter()
                .any(|judge| !judge.is_empty() && (evaluated_models.contains(judge) || judge == baseline)),
            judge: judges.join("+"),
            statuses,
            judged_at: own.iter().map(|count| count.latest).max().unwrap_or_default(),
            model: row.model,
            baseline: baseline.to_owned(),
            scores: row.scores,
        }
    }
}

/// The judgements of a model by a judge.
struct JudgementCount {
    statuses: BTreeMap<Status, u64>,
    /// In milliseconds since 1970.
    latest: i64,
}

/// By model and judge.
type JudgementCounts<'j> = HashMap<(&'j str, &'j str), JudgementCount>;

fn judgement_counts(judgements: &[Judgement]) -> JudgementCounts<'_> {
    let mut counts = JudgementCounts::new();
    for said in judgements {
        let none = || JudgementCount { statuses: BTreeMap::new(), latest: said.ts };
        let count = counts.entry((&said.model, &said.judge_model)).or_insert_with(none);
        *count.statuses.entry(said.status).or_default() += 1;
        count.latest = count.latest.max(said.ts);
    }
    counts
}

/// The mean of several judges' scores, part by part. A part that one of them could not score has no mean: over fewer
/// judges it would not compare with other models'.
fn panel_mean(judges: &[Scores]) -> Scores {
    let Some(first) = judges.first() else { return Scores::default() };
    let of_all = |part: &Part| -> Option<Score> {
        let scores: Vec<&Score> = judges.iter().map(|scores| scores.of(part)).collect::<Option<_>>()?;
        let values: Option<Vec<f64>> = scores.iter().map(|score| score.value).collect();
        let coverage: Coverage = scores.iter().map(|score| score.coverage).sum();
        let (part, value, samples) = (part.clone(), values.and_then(|values| mean(&values)), mean_samples(&scores));
        Some(Score { part, value, std_dev: None, coverage, samples })
    };
    Scores(first.0.iter().filter_map(|score| of_all(&score.part)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::benchmark::SuiteOptions;
    use crate::benchmark::item::{ItemSampling, Question};
    use crate::benchmark::judgement::Game;
    use crate::benchmark::registry::suite;
    use crate::judging::verdict::{Letter, Verdict};
    use crate::language::Language;

    fn judgement(model: &str, judge: &str, status: Status) -> Judgement {
        let right = Verdict::Choice { choice: Some(Letter::A), correct: true };
        Judgement {
            suite: String::new(),
            suite_version: String::new(),
            item_id: "1".to_owned(),
            turn: 1,
            model: model.to_owned(),
            judge_model: judge.to_owned(),
            judge_prompt_sha256: String::new(),
            params: ItemSampling::default(),
            game: Game::First,
            raw_text: String::new(),
            parsed: (status == Status::Ok).then_some(right),
            status,
            attempts: 1,
            latency_ms: None,
            tokens: None,
            ts: 0,
        }
    }

    fn rows(judgements: &[Judgement]) -> Vec<(String, String)> {
        let close = suite("superclue-close", &SuiteOptions::default()).unwrap();
        let turns = vec![Question { question: "q".to_owned(), reference: None }];
        let item = Item {
            id: "1".to_owned(),
            category: "闲聊".to_owned(),
            subcategory: None,
            language: Language::Chinese,
            turns,
            choices: None,
        };
        let scores = JudgementTable::new(judgements).scores(close.as_ref(), &[item]);
        scores.into_iter().map(|row| (row.model, row.panel.judges().join("+"))).collect()
    }

    fn pairs(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
        pairs.iter().map(|(model, judge)| ((*model).to_owned(), (*judge).to_owned())).collect()
    }

    #[test]
    fn judges_are_a_panel_where_each_has_judged_half_of_the_models() {
        let mut judgements: Vec<Judgement> = ["a", "b", "c"].map(|model| judgement(model, "i", Status::Ok)).into();
        judgements.push(judgement("a", "j", Status::Ok));
        let alone = [("a", "i"), ("a", "j"), ("b", "i"), ("b", "j"), ("c", "i"), ("c", "j")];
        assert_eq!(rows(&judgements), pairs(&alone));
        judgements.push(judgement("b", "j", Status::ParseFailed));
        assert_eq!(rows(&judgements).len(), 9);
        assert!(rows(&judgements).contains(&("c".to_owned(), "i+j".to_owned())));
    }

    #[test]
    fn a_judge_without_any_verdict_is_no_judge_beside_others() {
        let judgements = [judgement("a", "i", Status::Ok), judgement("a", "j", Status::TransportFailed)];
        assert_eq!((rows(&judgements), silent_judges(&judgements)), (pairs(&[("a", "i")]), vec!["j"]));
        let alone = &judgements[1..];
        assert_eq!((rows(alone), silent_judges(alone)), (pairs(&[("a", "j")]), vec![]), "nobody else is there");
    }

    #[test]
    fn who_is_read_without_a_judge_is_not_evaluated_by_one() {
        let close = suite("superclue-close", &SuiteOptions::default()).unwrap();
        let by_baseline = JudgementsByBaseline::from([(String::new(), vec![judgement("a", "", Status::Ok)])]);
        let scores = ModelScores::all(close.as_ref(), &[], &by_baseline, &["a".to_owned()].into());
        assert_eq!(scores.iter().map(|row| row.judge_is_evaluated).collect::<Vec<_>>(), [false]);
    }
}
