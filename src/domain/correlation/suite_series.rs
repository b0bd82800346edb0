//! Scores of every model in a suite as series, with resampled items.
//!
//! [`ItemDraws`] resamples the items; every mean over items is computed for all replicates at once.

use std::collections::{BTreeMap, BTreeSet};

use hashbrown::HashMap;
use rayon::prelude::*;

use super::published_series::{INTENTS_PART, intent};
use super::series::SeriesValues;
use super::suite_score_table::{ScoreFacts, SuiteComparison};
use super::{Aliases, Point, SeriesError, Subjects, SuiteUsed, bootstrap_for};
use crate::benchmark::Suite;
use crate::benchmark::analysis::item_scores::ItemScores;
use crate::benchmark::item::Item;
use crate::benchmark::runs::mixed_settings::MixedSettings;
use crate::benchmark::scores::item_resampling::ItemDraws;
use crate::benchmark::scores::judgement::Judgement;
use crate::benchmark::scores::panel_scores::{JudgementTable, mean_scores};
use crate::benchmark::scores::score::{Coverage, Part, PartKind, Score, Scores, Verdicts};
use crate::judging::budget::{Prices, Tokens};
use crate::stats::confidence::ConfidenceLevel;
use crate::stats::distribution::mean;
use crate::stats::resample::BootstrapOptions;

/// Scores of every model in a suite by one judge or the mean of a panel, with the scores of each replicate.
pub struct SuiteSeries {
    /// Provenance: judgements from which the scores were computed.
    pub used: SuiteUsed,
    /// Judges with judgements, also those whose scores are not used.
    pub judges: Vec<String>,
    title: String,
    /// Notes on all parts.
    notes: Vec<String>,
    parts: Vec<Part>,
    models: Vec<ModelSamples>,
    /// Scores of single items by the mean of the judges.
    items: ItemScores,
    /// Coverage, date and tokens by model.
    efforts: BTreeMap<String, ScoreProvenance>,
}

/// Coverage, date and tokens of a model's score.
#[derive(Default)]
struct ScoreProvenance {
    coverage: Coverage,
    judged_at: i64,
    /// Tokens by queried model: judges, and the model itself.
    tokens: BTreeMap<String, Tokens>,
}

struct ModelSamples {
    model: String,
    /// Score by part.
    values: Vec<Option<f64>>,
    /// Coverage by part.
    coverages: Vec<Coverage>,
    /// Score by part and replicate.
    samples: Vec<Vec<Option<f64>>>,
    /// Whether each of the judges has judged the model.
    is_judged_by_all: bool,
}

impl SuiteSeries {
    /// Scores the judgements, and again for each replicate: those of the panel, or else of the judge with the most verdicts, as the suite's
    /// page does.
    #[must_use]
    pub fn new(
        suite: &dyn Suite,
        items: &[Item],
        judgements: &[Judgement],
        used: SuiteUsed,
        bootstrap: BootstrapOptions,
    ) -> Self {
        let bootstrap = bootstrap_for(bootstrap, &format!("bench:{}", suite.name()));
        let draws = ItemDraws::new(items, bootstrap);
        let (table, spent) =
            rayon::join(|| JudgementTable::new(judgements).of_default_judges(), || spent_by_judge(judgements));
        let judges: Vec<String> = table.judges().iter().map(|&judge| judge.to_owned()).collect();
        let mut efforts = efforts(spent, &judges);
        let verdicts: Vec<Vec<Verdicts<'_>>> = table.models().par_iter().map(|model| model.verdicts(&draws)).collect();
        let whole: Vec<Scores> = verdicts.par_iter().map(|own| mean_scores(suite, items, own)).collect();
        let parts = parts(&whole);
        let models = table.models().iter().zip(&whole);
        let models = models.map(|(model, scores)| ModelSamples {
            is_judged_by_all: model.is_judged_by_all(),
            ..ModelSamples::new(model.model, &parts, scores, draws.replicates())
        });
        let models: Vec<ModelSamples> = models.collect();
        let notes = single_item_categories(items).into_iter().chain(left_out(&judges, &used.judges)).collect();
        let judgements = judgements.iter().filter(|judgement| judges.contains(&judgement.judge_model)).count();
        let known = used.judges.clone();
        let used = SuiteUsed { models: models.len(), judges, judgements, ..used };
        let names: Vec<&str> = table.models().iter().map(|model| model.model).collect();
        let items = item_scores(suite, items, &names, &verdicts);
        for (model, scores) in table.models().iter().zip(&whole) {
            let coverage = scores.of(&Part::overall()).map(|score| score.coverage).unwrap_or_default();
            efforts.entry(model.model.to_owned()).or_default().coverage = coverage;
        }
        Self { efforts, used, judges: known, title: suite.title().to_owned(), notes, parts, models, items }
    }

    /// Compares every other model with this one on the same items, by the mean of the judges; `None` if the model has no judgement. Models
    /// are named as in the series.
    #[must_use]
    pub fn compare_with(&self, reference: &str, aliases: &Aliases, level: ConfidenceLevel) -> Option<SuiteComparison> {
        let own_name = self.items.models().iter().find(|model| aliases.model(model) == reference)?;
        let mut models = self.items.compare_with(own_name, level)?;
        models.iter_mut().for_each(|row| row.model = aliases.model(&row.model).to_owned());
        Some(SuiteComparison { suite: self.used.suite.clone(), models })
    }

    /// Adds a note on every model and judge that was queried with several settings.
    #[must_use]
    pub fn with_mixed_settings(mut self, mixed: &[MixedSettings]) -> Self {
        let note = |mixed: &MixedSettings| format!("the scores mix what several settings of one id said: {mixed}");
        self.notes.extend(mixed.iter().map(note));
        self
    }

    /// Adds the tokens of each model's answers.
    #[must_use]
    pub fn with_answers(mut self, tokens: BTreeMap<String, Tokens>) -> Self {
        for (model, tokens) in tokens {
            if let Some(effort) = self.efforts.get_mut(&model) {
                let own = effort.tokens.entry(model).or_default();
                *own = Tokens { input: own.input + tokens.input, output: own.output + tokens.output };
            }
        }
        self
    }

    /// Returns coverage, date and cost (by these prices) of a model's score; the model is named as in the series.
    #[must_use]
    pub fn facts(&self, model: &str, aliases: &Aliases, prices: &dyn Fn(&str) -> Option<Prices>) -> Option<ScoreFacts> {
        let (_, effort) = self.efforts.iter().find(|(own, _)| aliases.model(own) == model)?;
        let paid = effort.tokens.iter().filter(|(_, tokens)| **tokens != Tokens::default());
        let cost: Option<f64> = paid.clone().map(|(asked, tokens)| Some(prices(asked)?.cost(*tokens))).sum();
        Some(ScoreFacts {
            coverage: effort.coverage,
            judged_at: effort.judged_at,
            cost: cost.filter(|_| paid.count() > 0),
        })
    }

    /// Returns the keys of the parts, as series names spell them.
    #[must_use]
    pub fn keys(&self) -> Vec<String> {
        let intents = (self.intents().count() >= 3).then(|| INTENTS_PART.to_owned());
        self.parts.iter().map(Part::key).chain(intents).collect()
    }

    /// Returns the series of a part; the overall score for an empty key.
    ///
    /// # Errors
    /// [`SeriesError::Part`] for an unknown part.
    pub fn part(&self, key: &str, level: ConfidenceLevel) -> Result<SeriesValues, SeriesError> {
        if key == INTENTS_PART && self.intents().count() > 0 {
            let (title, points) = (format!("{}: intents", self.title()), self.by_intent(level));
            let notes = self.notes.clone();
            return Ok(SeriesValues { title, subjects: Subjects::Intents, points, notes, resampled: None });
        }
        let key = if key.is_empty() { Part::overall().key() } else { key.to_owned() };
        let place = self.parts.iter().position(|part| part.key() == key).ok_or_else(|| SeriesError::Part {
            series: format!("bench:{}", self.used.suite),
            part: key.clone(),
            known: self.keys().join(", "),
        })?;
        let point = |model: &ModelSamples| {
            let samples = model.samples[place].clone();
            Some((model.model.clone(), Point::from_samples(model.values[place]?, samples, level)))
        };
        let whole = self.parts[place].kind == PartKind::Overall;
        let title = if whole { self.title() } else { format!("{}: {key}", self.title()) };
        let points: BTreeMap<String, Point> = self.models.iter().filter_map(point).collect();
        let notes =
            self.notes.iter().cloned().chain(self.without_score(place)).chain(self.low_coverage_note(place)).collect();
        Ok(SeriesValues { title, subjects: Subjects::Models, points, notes, resampled: None })
    }

    /// Returns the suite's title, with the judge if one was requested.
    fn title(&self) -> String {
        match &self.used.judge {
            Some(judge) => format!("{} · {judge}", self.title),
            None => self.title.clone(),
        }
    }

    /// Returns notes that name the models without a score in a part and say why, if there are any.
    fn without_score(&self, part: usize) -> Vec<String> {
        let missing = self.models.iter().filter(|model| model.values[part].is_none());
        let (judged, unjudged): (Vec<_>, Vec<_>) = missing.partition(|model| model.is_judged_by_all);
        let note = |models: Vec<&ModelSamples>, why: &str| {
            let named = |model: &&ModelSamples| {
                let Coverage { ok, total } = model.coverages[part];
                format!("{} ({ok} of {total})", model.model)
            };
            let named: Vec<String> = models.iter().map(named).collect();
            (!named.is_empty()).then(|| format!("left out are {}: {why}", named.join(", ")))
        };
        let unjudged_why = match self.used.judges.as_slice() {
            [judge] => format!("{judge} has not judged them; @JUDGE names another judge"),
            _ => "not every judge has judged them; @JUDGE names one".to_owned(),
        };
        let unread = "a score needs a verdict in each of its categories, and in one none could be read";
        note(unjudged, &unjudged_why).into_iter().chain(note(judged, unread)).collect()
    }

    /// Returns a note that names the models with low coverage in a part, if there are any.
    fn low_coverage_note(&self, part: usize) -> Option<String> {
        let is_low = |model: &&ModelSamples| model.values[part].is_some() && model.coverages[part].is_low();
        let named = |model: &ModelSamples| {
            let Coverage { ok, total } = model.coverages[part];
            format!("{} ({ok} of {total})", model.model)
        };
        let named: Vec<String> = self.models.iter().filter(is_low).map(named).collect();
        (!named.is_empty()).then(|| format!("less than 95 % of the answers could be judged of {}", named.join(", ")))
    }

    /// Returns the positions of the parts that are intents of URS.
    fn intents(&self) -> impl Iterator<Item = (&'static str, usize)> {
        let categories = self.parts.iter().enumerate().filter(|(_, part)| part.kind == PartKind::Category);
        categories.filter(|(_, part)| part.within.is_none()).filter_map(|(at, part)| Some((intent(&part.name)?, at)))
    }

    /// Computes the mean over the models for each intent.
    fn by_intent(&self, level: ConfidenceLevel) -> BTreeMap<String, Point> {
        let over_models =
            |values: &mut dyn Iterator<Item = Option<f64>>| mean(&values.flatten().collect::<Vec<_>>()).ok();
        let replicates = self.models.first().and_then(|model| model.samples.first()).map_or(0, Vec::len);
        let point = |(intent, place): (&'static str, usize)| {
            let value = over_models(&mut self.models.iter().map(|model| model.values[place]))?;
            let sample = |at: usize| over_models(&mut self.models.iter().map(|model| model.samples[place][at]));
            Some((intent.to_owned(), Point::from_samples(value, (0..replicates).map(sample).collect(), level)))
        };
        self.intents().filter_map(point).collect()
    }
}

impl ModelSamples {
    /// Builds the samples; a part without a score of the model has a missing value in each replicate.
    fn new(model: &str, parts: &[Part], scores: &Scores, replicates: usize) -> Self {
        let found: Vec<Option<&Score>> = parts.iter().map(|part| scores.of(part)).collect();
        let none = || vec![None; replicates];
        Self {
            model: model.to_owned(),
            values: found.iter().map(|score| score.and_then(|score| score.value)).collect(),
            coverages: found.iter().map(|score| score.map_or_else(Coverage::default, |score| score.coverage)).collect(),
            samples: found.iter().map(|score| score.map_or_else(none, |score| score.samples.clone())).collect(),
            is_judged_by_all: true,
        }
    }
}

/// Time of the last judgement and tokens, by model and judge.
type SpentByJudge<'j> = HashMap<(&'j str, &'j str), (i64, Tokens)>;

/// Collects what each judge has spent on each model.
fn spent_by_judge(judgements: &[Judgement]) -> SpentByJudge<'_> {
    let mut by_judge = SpentByJudge::new();
    for said in judgements {
        let (judged_at, tokens) = by_judge.entry((&said.model, &said.judge_model)).or_default();
        *judged_at = said.ts.max(*judged_at);
        let own = said.tokens.unwrap_or_default();
        *tokens = Tokens { input: tokens.input + own.prompt, output: tokens.output + own.reply };
    }
    by_judge
}

/// Collects the time of each model's last judgement by these judges, and their tokens.
fn efforts(by_judge: SpentByJudge<'_>, judges: &[String]) -> BTreeMap<String, ScoreProvenance> {
    let is_used = |judge: &str| judges.iter().any(|used| used == judge);
    let mut efforts: BTreeMap<String, ScoreProvenance> = BTreeMap::new();
    for ((model, judge), (judged_at, tokens)) in by_judge.into_iter().filter(|((_, judge), _)| is_used(judge)) {
        let effort = efforts.entry(model.to_owned()).or_default();
        effort.judged_at = effort.judged_at.max(judged_at);
        effort.tokens.insert(judge.to_owned(), tokens);
    }
    efforts
}

/// Computes the mean over all judges with any score.
fn item_scores(suite: &dyn Suite, items: &[Item], models: &[&str], verdicts: &[Vec<Verdicts<'_>>]) -> ItemScores {
    let judges = verdicts.first().map_or(0, Vec::len);
    let of_judge = |judge: usize| {
        let own: Vec<&Verdicts<'_>> = verdicts.iter().map(|by_judge| &by_judge[judge]).collect();
        ItemScores::of_verdicts(suite, items, models, &own)
    };
    let scores: Vec<ItemScores> = (0..judges).into_par_iter().map(of_judge).collect();
    ItemScores::panel_mean(&scores.into_iter().filter(ItemScores::is_scored).collect::<Vec<_>>())
}

/// Returns a note that names the judges whose scores are not used, if there are any.
fn left_out(used: &[String], known: &[String]) -> Option<String> {
    let others: Vec<&str> = known.iter().filter(|judge| !used.contains(judge)).map(String::as_str).collect();
    let (used, others) = (used.join(", "), others.join(", "));
    let note =
        || format!("scores by {used}: {others} judged too little of it to be in the panel; @JUDGE names another judge");
    (!others.is_empty()).then(note)
}

/// Returns a note that names the categories with a single item, which resampling cannot vary, if there are any.
fn single_item_categories(items: &[Item]) -> Option<String> {
    let mut sizes: BTreeMap<&str, usize> = BTreeMap::new();
    items.iter().for_each(|item| *sizes.entry(&item.category).or_default() += 1);
    let single: Vec<&str> = sizes.iter().filter(|(_, size)| **size == 1).map(|(category, _)| *category).collect();
    let why = "has a single item, which cannot be resampled: the intervals ignore its uncertainty";
    (!single.is_empty()).then(|| format!("each of the categories {} {why}", single.join(", ")))
}

/// Lists every part in which some model has a score, in the order of the scores.
fn parts(scores: &[Scores]) -> Vec<Part> {
    let mut known = BTreeSet::new();
    let all = scores.iter().flat_map(|scores| &scores.0).map(|score| &score.part);
    all.filter(|part| known.insert((*part).clone())).cloned().collect()
}
