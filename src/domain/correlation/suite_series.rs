//! The scores of every model in a suite as series, with resampled items.
//!
//! How items are resampled is [`ItemDraws`]'; every mean over items is taken over all replicates at once.

use std::collections::{BTreeMap, BTreeSet};

use hashbrown::HashMap;
use rayon::prelude::*;

use super::published_series::{INTENTS, intent};
use super::series::SeriesValues;
use super::suite_score_table::{ScoreFacts, SuiteComparison};
use super::{Aliases, Point, SeriesError, Subjects, SuiteUsed, bootstrap_for};
use crate::benchmark::Suite;
use crate::benchmark::analysis::item_scores::ItemScores;
use crate::benchmark::item::Item;
use crate::benchmark::item_resampling::ItemDraws;
use crate::benchmark::judgement::Judgement;
use crate::benchmark::mixed_settings::MixedSettings;
use crate::benchmark::panel_scores::{JudgementTable, mean_scores};
use crate::benchmark::score::{Coverage, Part, PartKind, Score, Scores, Verdicts};
use crate::judging::budget::{Prices, Tokens};
use crate::stats::confidence::ConfidenceLevel;
use crate::stats::distribution::mean;
use crate::stats::resample::BootstrapOptions;

/// The scores of every model in a suite by one judge or the mean of all, and the scores of each replicate.
pub struct SuiteSeries {
    /// The judgements behind the scores.
    pub used: SuiteUsed,
    title: String,
    /// Notes on all parts.
    notes: Vec<String>,
    parts: Vec<Part>,
    models: Vec<ModelSamples>,
    /// The scores of single items by the mean of all judges.
    items: ItemScores,
    /// What is behind the score of each model.
    efforts: BTreeMap<String, ModelEffort>,
}

/// What is behind a model's score.
#[derive(Default)]
struct ModelEffort {
    coverage: Coverage,
    judged_at: i64,
    /// By who was asked: judges, and the model itself.
    tokens: BTreeMap<String, Tokens>,
}

struct ModelSamples {
    model: String,
    /// By part.
    values: Vec<Option<f64>>,
    /// How much of each part could be judged.
    coverages: Vec<Coverage>,
    /// By part and replicate.
    samples: Vec<Vec<Option<f64>>>,
}

impl SuiteSeries {
    /// Scores the judgements, and again for each replicate.
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
        let (table, mut efforts) = rayon::join(|| JudgementTable::new(judgements), || efforts(judgements));
        let verdicts: Vec<Vec<Verdicts<'_>>> = table.models().par_iter().map(|model| model.verdicts(&draws)).collect();
        let whole: Vec<Scores> = verdicts.par_iter().map(|own| mean_scores(suite, items, own)).collect();
        let parts = parts(&whole);
        let models = table.models().iter().zip(&whole);
        let models: Vec<ModelSamples> =
            models.map(|(model, scores)| ModelSamples::new(model.model, &parts, scores, draws.replicates())).collect();
        let used = SuiteUsed { models: models.len(), ..used };
        let notes = single_item_categories(items).into_iter().collect();
        let names: Vec<&str> = table.models().iter().map(|model| model.model).collect();
        let items = item_scores(suite, items, &names, &verdicts);
        for (model, scores) in table.models().iter().zip(&whole) {
            let coverage = scores.of(&Part::overall()).map(|score| score.coverage).unwrap_or_default();
            efforts.entry(model.model.to_owned()).or_default().coverage = coverage;
        }
        Self { efforts, used, title: suite.title().to_owned(), notes, parts, models, items }
    }

    /// Every other model beside this one on the same items, by the mean of all judges; none where the model has no judgement. Models are
    /// named as the series are.
    #[must_use]
    pub fn compare_with(&self, reference: &str, aliases: &Aliases, level: ConfidenceLevel) -> Option<SuiteComparison> {
        let own_name = self.items.models().iter().find(|model| aliases.model(model) == reference)?;
        let mut models = self.items.compare_with(own_name, level)?;
        models.iter_mut().for_each(|row| row.model = aliases.model(&row.model).to_owned());
        Some(SuiteComparison { suite: self.used.suite.clone(), models })
    }

    /// The same with a note on every model and judge that was asked with several settings.
    #[must_use]
    pub fn with_mixed_settings(mut self, mixed: &[MixedSettings]) -> Self {
        let note = |mixed: &MixedSettings| format!("the scores mix what several settings of one id said: {mixed}");
        self.notes.extend(mixed.iter().map(note));
        self
    }

    /// The same with the tokens of each model's answers.
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

    /// What is behind a model's score, with the cost by these prices; the model is named as the series name it.
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

    /// The keys of the parts, as series names spell them.
    #[must_use]
    pub fn keys(&self) -> Vec<String> {
        let intents = (self.intents().count() >= 3).then(|| INTENTS.to_owned());
        self.parts.iter().map(Part::key).chain(intents).collect()
    }

    /// The series of a part; the overall score for an empty key.
    ///
    /// # Errors
    /// [`SeriesError::Part`].
    pub fn part(&self, key: &str, level: ConfidenceLevel) -> Result<SeriesValues, SeriesError> {
        if key == INTENTS && self.intents().count() > 0 {
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
            self.notes.iter().cloned().chain(self.without_score(place)).chain(self.hardly_judged(place)).collect();
        Ok(SeriesValues { title, subjects: Subjects::Models, points, notes, resampled: None })
    }

    /// The suite's title, with the judge where one was asked for.
    fn title(&self) -> String {
        match &self.used.judge {
            Some(judge) => format!("{} · {judge}", self.title),
            None => self.title.clone(),
        }
    }

    /// A note that names the models without a score in a part, if there are any.
    fn without_score(&self, part: usize) -> Option<String> {
        let missing = self.models.iter().filter(|model| model.values[part].is_none());
        let missing: Vec<&str> = missing.map(|model| model.model.as_str()).collect();
        let note = || format!("left out are {}: not every judge has judged them; @JUDGE names one", missing.join(", "));
        (!missing.is_empty()).then(note)
    }

    /// A note that names the models of whose answers in a part too few could be judged.
    fn hardly_judged(&self, part: usize) -> Option<String> {
        let is_low = |model: &&ModelSamples| model.values[part].is_some() && model.coverages[part].is_low();
        let named = |model: &ModelSamples| {
            let Coverage { ok, total } = model.coverages[part];
            format!("{} ({ok} of {total})", model.model)
        };
        let named: Vec<String> = self.models.iter().filter(is_low).map(named).collect();
        (!named.is_empty()).then(|| format!("less than 95 % of the answers could be judged of {}", named.join(", ")))
    }

    /// The positions of the parts that are intents of URS.
    fn intents(&self) -> impl Iterator<Item = (&'static str, usize)> {
        let categories = self.parts.iter().enumerate().filter(|(_, part)| part.kind == PartKind::Category);
        categories.filter(|(_, part)| part.within.is_none()).filter_map(|(at, part)| Some((intent(&part.name)?, at)))
    }

    /// The mean over the models of each intent.
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
    /// A part without a score of the model has a sample without a value in each replicate.
    fn new(model: &str, parts: &[Part], scores: &Scores, replicates: usize) -> Self {
        let found: Vec<Option<&Score>> = parts.iter().map(|part| scores.of(part)).collect();
        let none = || vec![None; replicates];
        Self {
            model: model.to_owned(),
            values: found.iter().map(|score| score.and_then(|score| score.value)).collect(),
            coverages: found.iter().map(|score| score.map_or_else(Coverage::default, |score| score.coverage)).collect(),
            samples: found.iter().map(|score| score.map_or_else(none, |score| score.samples.clone())).collect(),
        }
    }
}

/// When each model was last judged, and the tokens that its judges took.
fn efforts(judgements: &[Judgement]) -> BTreeMap<String, ModelEffort> {
    let mut by_judge: HashMap<(&str, &str), (i64, Tokens)> = HashMap::new();
    for said in judgements {
        let (judged_at, tokens) = by_judge.entry((&said.model, &said.judge_model)).or_default();
        *judged_at = said.ts.max(*judged_at);
        let own = said.tokens.unwrap_or_default();
        *tokens = Tokens { input: tokens.input + own.prompt, output: tokens.output + own.reply };
    }
    let mut efforts: BTreeMap<String, ModelEffort> = BTreeMap::new();
    for ((model, judge), (judged_at, tokens)) in by_judge {
        let effort = efforts.entry(model.to_owned()).or_default();
        effort.judged_at = effort.judged_at.max(judged_at);
        effort.tokens.insert(judge.to_owned(), tokens);
    }
    efforts
}

/// The mean over all judges that gave any score.
fn item_scores(suite: &dyn Suite, items: &[Item], models: &[&str], verdicts: &[Vec<Verdicts<'_>>]) -> ItemScores {
    let judges = verdicts.first().map_or(0, Vec::len);
    let of_judge = |judge: usize| {
        let own: Vec<&Verdicts<'_>> = verdicts.iter().map(|by_judge| &by_judge[judge]).collect();
        ItemScores::of_verdicts(suite, items, models, &own)
    };
    let scores: Vec<ItemScores> = (0..judges).into_par_iter().map(of_judge).collect();
    ItemScores::panel_mean(&scores.into_iter().filter(ItemScores::is_scored).collect::<Vec<_>>())
}

/// A note that names the categories with a single item, which resampling cannot vary, if there are any.
fn single_item_categories(items: &[Item]) -> Option<String> {
    let mut sizes: BTreeMap<&str, usize> = BTreeMap::new();
    items.iter().for_each(|item| *sizes.entry(&item.category).or_default() += 1);
    let single: Vec<&str> = sizes.iter().filter(|(_, size)| **size == 1).map(|(category, _)| *category).collect();
    let why = "has a single item, which cannot be resampled: the intervals ignore its uncertainty";
    (!single.is_empty()).then(|| format!("each of the categories {} {why}", single.join(", ")))
}

/// Every part in which some model has a score, in the order of the scores.
fn parts(scores: &[Scores]) -> Vec<Part> {
    let mut known = BTreeSet::new();
    let all = scores.iter().flat_map(|scores| &scores.0).map(|score| &score.part);
    all.filter(|part| known.insert((*part).clone())).cloned().collect()
}
