//! Scores of every model by every judge, and by the panel of judges. Pages, reports and correlations all use these.

use std::collections::{BTreeMap, BTreeSet};

use hashbrown::{HashMap, HashSet};
use rayon::prelude::*;
use serde::Serialize;

use super::super::Suite;
use super::super::item::Item;
use super::item_resampling::ItemDraws;
use super::judgement::{Game, Judgement, Status};
use super::score::{Coverage, Part, Score, Scores, Verdicts, mean, mean_samples};

/// One judge, or a panel whose scores are averaged.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum JudgePanel {
    /// Id of one judge; empty if answers are read without a judge.
    Judge(String),
    /// Ids of the judges of a panel.
    Several(Vec<String>),
}

impl JudgePanel {
    /// Returns the ids of the judges.
    #[must_use]
    pub fn judges(&self) -> &[String] {
        match self {
            Self::Judge(judge) => std::slice::from_ref(judge),
            Self::Several(judges) => judges,
        }
    }
}

/// Scores of one model by a judge or panel.
#[derive(Debug, Clone, PartialEq)]
pub struct PanelScores {
    /// Id of the model.
    pub model: String,
    /// Judge or panel.
    pub panel: JudgePanel,
    /// Scores by part.
    pub scores: Scores,
}

/// Judgements by model and judge.
#[derive(Debug, Clone)]
pub struct JudgementTable<'j> {
    judges: Vec<&'j str>,
    models: Vec<ModelJudgements<'j>>,
}

/// Judgements of one model, one list per judge of the table; empty for a judge that did not judge the model.
#[derive(Debug, Clone)]
pub struct ModelJudgements<'j> {
    /// Id of the model.
    pub model: &'j str,
    by_judge: Vec<Vec<&'j Judgement>>,
}

/// Returns the judges in alphabetical order; an empty name if answers are read without a judge.
#[must_use]
pub fn judge_names<'j>(judgements: impl IntoIterator<Item = &'j Judgement>) -> BTreeSet<&'j str> {
    distinct_names(judgements.into_iter().map(|judgement| judgement.judge_model.as_str()))
}

/// Returns the judged models, in alphabetical order.
#[must_use]
pub fn model_names<'j>(judgements: impl IntoIterator<Item = &'j Judgement>) -> BTreeSet<&'j str> {
    distinct_names(judgements.into_iter().map(|judgement| judgement.model.as_str()))
}

fn distinct_names<'j>(all: impl Iterator<Item = &'j str>) -> BTreeSet<&'j str> {
    let mut names = BTreeSet::new();
    // Not collected: that would sort duplicates before removing them.
    names.extend(all);
    names
}

/// Returns the judges without any verdict, in alphabetical order, if other judges have some.
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
    /// Groups judgements. A verdict replaces an earlier failure on the same answer; a later failure does not replace a verdict. Judges
    /// without any verdict are left out: see [`silent_judges`].
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

    /// Returns the models in alphabetical order.
    #[must_use]
    pub fn models(&self) -> &[ModelJudgements<'j>] {
        &self.models
    }

    /// Returns the judges in alphabetical order; judges without any verdict are left out if others have some.
    #[must_use]
    pub fn judges(&self) -> &[&'j str] {
        &self.judges
    }

    /// Keeps only the judges whose scores are shown unless others are asked for: the panel, or else the judge with the most verdicts.
    #[must_use]
    pub fn of_default_judges(mut self) -> Self {
        let shown = self.panel().or_else(|| Some(vec![self.judge_with_most_verdicts()?])).unwrap_or_default();
        self.judges = shown.iter().map(|&judge| self.judges[judge]).collect();
        for model in &mut self.models {
            model.by_judge = shown.iter().map(|&judge| std::mem::take(&mut model.by_judge[judge])).collect();
        }
        self
    }

    /// Returns the positions of the judges of the panel, if there are several: those that have judged at least half of the models of the
    /// judge with the most verdicts, and on each of these nearly everything that this judge has judged. A judge that was tried on a few
    /// models or items, or whose run has not ended, does not belong to it: its scores are of other items.
    fn panel(&self) -> Option<Vec<usize>> {
        if self.judges.len() < 2 {
            return None;
        }
        let fullest = self.judge_with_most_verdicts()?;
        let judged: Vec<Vec<JudgedTurns<'_>>> = self.models.iter().map(ModelJudgements::judged).collect();
        let by_fullest: Vec<_> = judged.iter().filter(|model| !model[fullest].is_empty()).collect();
        let belongs = |judge: &usize| {
            let by_both: Vec<_> = by_fullest.iter().filter(|model| !model[*judge].is_empty()).collect();
            let is_full = |model: &[JudgedTurns<'_>]| !shared_coverage(&model[fullest], &model[*judge]).is_low();
            2 * by_both.len() >= by_fullest.len() && by_both.iter().all(|model| is_full(model))
        };
        let members: Vec<usize> = (0..self.judges.len()).filter(belongs).collect();
        (members.len() > 1).then_some(members)
    }

    /// Returns the position of the judge with the most verdicts, of the latest one on a tie; `None` without judges.
    fn judge_with_most_verdicts(&self) -> Option<usize> {
        let verdicts = |judge: &usize| {
            let own: Vec<&Judgement> = self.models.iter().flat_map(|model| model.by_judge[*judge].clone()).collect();
            let verdicts = own.iter().filter(|judgement| judgement.status == Status::Ok).count();
            (verdicts, own.iter().map(|judgement| judgement.ts).max())
        };
        (0..self.judges.len()).max_by_key(verdicts)
    }

    /// Returns every model's scores by each judge, in alphabetical order; for a panel, each model's mean over its judges follows.
    #[must_use]
    pub fn scores(&self, suite: &dyn Suite, items: &[Item]) -> Vec<PanelScores> {
        let judges: Vec<String> = self.judges.iter().map(|&judge| judge.to_owned()).collect();
        let panel = self.panel();
        let of_model = |model: &ModelJudgements| {
            let scores = model.scores_by_judge(suite, items);
            let mean = panel.as_ref().map(|members| {
                let own: Vec<&Scores> = members.iter().map(|&judge| &scores[judge]).collect();
                let names = members.iter().map(|&judge| judges[judge].clone()).collect();
                (JudgePanel::Several(names), panel_mean(&own))
            });
            let panels = judges.iter().cloned().map(JudgePanel::Judge).zip(scores).chain(mean);
            let row = |(panel, scores)| PanelScores { model: model.model.to_owned(), panel, scores };
            panels.map(row).collect::<Vec<_>>()
        };
        self.models.par_iter().flat_map_iter(of_model).collect()
    }
}

/// Turns that a judge has judged: item, turn and game.
type JudgedTurns<'j> = HashSet<(&'j str, u32, Game)>;

/// Counts how much of what one judge has judged another has judged too.
fn shared_coverage(all: &JudgedTurns<'_>, own: &JudgedTurns<'_>) -> Coverage {
    all.iter().map(|turn| Coverage { ok: u64::from(own.contains(turn)), total: 1 }).sum()
}

impl<'j> ModelJudgements<'j> {
    /// Returns what each judge has judged; a judge that was not reached has not judged.
    fn judged(&self) -> Vec<JudgedTurns<'j>> {
        let key = |judgement: &'j Judgement| (judgement.item_id.as_str(), judgement.turn, judgement.game);
        let of_judge = |own: &Vec<&'j Judgement>| {
            let reached = own.iter().copied().filter(|judgement| judgement.status != Status::TransportFailed);
            reached.map(key).collect::<JudgedTurns<'j>>()
        };
        self.by_judge.iter().map(of_judge).collect()
    }

    fn scores_by_judge(&self, suite: &dyn Suite, items: &[Item]) -> Vec<Scores> {
        self.by_judge.iter().map(|judgements| suite.score(items, judgements)).collect()
    }

    /// Whether each judge of the table has judged the model.
    #[must_use]
    pub fn is_judged_by_all(&self) -> bool {
        self.by_judge.iter().all(|judgements| !judgements.is_empty())
    }

    /// Returns the verdicts of each judge of the table on the model, for means over resampled items as well.
    #[must_use]
    pub fn verdicts(&self, draws: &'j ItemDraws) -> Vec<Verdicts<'j>> {
        self.by_judge.iter().map(|judgements| Verdicts::new(judgements.iter().copied()).resampled(draws)).collect()
    }
}

/// Returns the scores by the only judge, or their mean over all judges; over each replicate as well if the verdicts are resampled.
#[must_use]
pub fn mean_scores(suite: &dyn Suite, items: &[Item], by_judge: &[Verdicts<'_>]) -> Scores {
    let mut scores: Vec<Scores> = by_judge.iter().map(|verdicts| suite.score_verdicts(items, verdicts)).collect();
    if scores.len() == 1 { scores.remove(0) } else { panel_mean(&scores.iter().collect::<Vec<_>>()) }
}

/// Filter of judgements by model and judge.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct JudgementFilter {
    /// Ids of the selected models; all if empty.
    pub models: Vec<String>,
    /// Ids of the selected judges; all if empty.
    pub judges: Vec<String>,
}

impl JudgementFilter {
    /// Whether the filter selects a judgement.
    #[must_use]
    pub fn matches(&self, judgement: &Judgement) -> bool {
        let among = |names: &[String], name: &String| names.is_empty() || names.contains(name);
        among(&self.models, &judgement.model) && among(&self.judges, &judgement.judge_model)
    }
}

/// Judgements by baseline; under an empty name without one.
pub type JudgementsByBaseline = BTreeMap<String, Vec<Judgement>>;

/// Returns the baseline with the most judgements, the alphabetically last one on a tie; `None` without judgements.
#[must_use]
pub fn most_used_baseline<'b>(baselines: impl IntoIterator<Item = &'b str>) -> Option<&'b str> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    baselines.into_iter().for_each(|baseline| *counts.entry(baseline).or_default() += 1);
    counts.into_iter().max_by_key(|(_, count)| *count).map(|(baseline, _)| baseline)
}

/// Scores of one model by one judge, or by a panel, with statistics of the judgements.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ModelScores {
    /// Id of the model.
    pub model: String,
    /// Id of the judge; for a panel several, in alphabetical order and joined with `+`; empty without a judge.
    pub judge: String,
    /// Ids of the judges: several for a panel.
    #[serde(skip)]
    pub judges: Vec<String>,
    /// Id of the baseline model; empty without one.
    pub baseline: String,
    /// Whether the judge, or one of a panel, is evaluated too, so that self-preference is possible.
    pub judge_is_evaluated: bool,
    /// Number of judgements by status.
    pub statuses: BTreeMap<&'static str, u64>,
    /// Time of the latest judgement, in milliseconds since 1970.
    pub judged_at: i64,
    /// Scores by part.
    pub scores: Scores,
}

impl ModelScores {
    /// Computes all scores of a suite, by baseline, model and judge.
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
            judges: judges.to_vec(),
            statuses,
            judged_at: own.iter().map(|count| count.latest).max().unwrap_or_default(),
            model: row.model,
            baseline: baseline.to_owned(),
            scores: row.scores,
        }
    }
}

/// Statistics of a model's judgements by a judge.
struct JudgementCount {
    statuses: BTreeMap<Status, u64>,
    /// Time of the latest judgement, in milliseconds since 1970.
    latest: i64,
}

/// Judgement statistics by model and judge.
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

/// Averages several judges' scores by part. A part that one of them could not score has no mean: over fewer judges it would not be
/// comparable with other models.
fn panel_mean(judges: &[&Scores]) -> Scores {
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
    use crate::benchmark::suites::registry::suite;
    use crate::judging::verdict::{OptionLetter, Verdict};
    use crate::language::Language;

    fn judgement(model: &str, judge: &str, status: Status) -> Judgement {
        let right = Verdict::Choice { choice: Some(OptionLetter::A), correct: true };
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

    fn on_item(item: usize, judgement: Judgement) -> Judgement {
        Judgement { item_id: item.to_string(), ..judgement }
    }

    #[test]
    fn a_judge_of_nearly_all_items_belongs_to_the_panel_and_one_of_some_items_does_not() {
        let both = |items: usize, judge: &str| -> Vec<Judgement> {
            let of = |model| (0..items).map(move |item| on_item(item, judgement(model, judge, Status::Ok)));
            ["a", "b"].into_iter().flat_map(of).collect()
        };
        let beside = |items: usize| [both(20, "i"), both(items, "k")].concat();
        assert_eq!(rows(&beside(18)), pairs(&[("a", "i"), ("a", "k"), ("b", "i"), ("b", "k")]));
        assert_eq!(rows(&beside(19))[2], ("a".to_owned(), "i+k".to_owned()));
        let tried = [beside(20), both(2, "j")].concat();
        assert!(rows(&tried).contains(&("b".to_owned(), "i+k".to_owned())), "who tried some items takes nothing away");
    }

    #[test]
    fn scores_are_shown_by_the_panel_or_else_by_the_judge_with_the_most_verdicts() {
        let of = |judge: &str, items: usize, ts: i64| -> Vec<Judgement> {
            let all = (0..items).map(|item| on_item(item, judgement("a", judge, Status::Ok)));
            all.map(|judgement| Judgement { ts, ..judgement }).collect()
        };
        let shown = |judgements: &[Judgement]| JudgementTable::new(judgements).of_default_judges().judges().join("+");
        assert_eq!(shown(&[of("i", 10, 1), of("j", 2, 2)].concat()), "i");
        assert_eq!(shown(&[of("i", 10, 1), of("j", 10, 2), of("k", 2, 3)].concat()), "i+j");
        let apart = |ts: i64| {
            let others = of("j", 10, ts).into_iter().map(|judgement| Judgement { model: "b".to_owned(), ..judgement });
            [of("i", 10, 2), others.collect()].concat()
        };
        assert_eq!((shown(&apart(1)), shown(&apart(3))), ("i".to_owned(), "j".to_owned()), "the latest on a tie");
        assert_eq!(shown(&[]), "");
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
