//! A benchmark's scores with resampled items.
//!
//! Items are drawn within their categories: how many of each a suite has is not left to chance. The same replicate samples the
//! same items for every model and part, so that what two parts of a suite share is shared in each replicate too.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use super::{Found, ReadSeriesError};
use crate::domain::benchmark::item::{Item, Question};
use crate::domain::benchmark::judgement::{Judgement, Status};
use crate::domain::benchmark::panel_scores::jury;
use crate::domain::benchmark::score::{Part, PartKind, Scores};
use crate::domain::benchmark::{Suite, SuiteOptions};
use crate::domain::correlation::papers::INTENTS;
use crate::domain::correlation::papers::intent;
use crate::domain::correlation::{Point, Subjects, SuiteUsed, bootstrap_for};
use crate::domain::stats::confidence::ConfidenceLevel;
use crate::domain::stats::distribution::mean;
use crate::domain::stats::resample::BootstrapOptions;
use crate::domain::stats::resample::replicates;
use crate::infra::storage::{BenchJudgementRow, BenchSet, IncludeText, Store};
use crate::services::benchmark::loading::{Loaded, load};

/// The scores of every model in a suite, by everybody who judged or one judge, and what they are with the items resampled.
pub(super) struct SuiteScores {
    /// What they are made from.
    pub(super) used: SuiteUsed,
    title: String,
    /// What is true of all parts.
    notes: Vec<String>,
    parts: Vec<Part>,
    models: Vec<ModelDraws>,
}

struct ModelDraws {
    model: String,
    /// By part.
    values: Vec<Option<f64>>,
    /// By replicate and part.
    samples: Vec<Vec<Option<f64>>>,
}

/// A model with what each judge said of it.
struct Judged {
    model: String,
    by_judge: Vec<Vec<Judgement>>,
}

impl SuiteScores {
    /// Reads and computes them, on a blocking thread.
    ///
    /// # Errors
    /// [`ReadSeriesError`] where there is no such suite, nobody was judged, or the database fails.
    pub(super) async fn read(
        store: &Store,
        suite: &str,
        judge: Option<&str>,
        bootstrap: BootstrapOptions,
    ) -> Result<Arc<Self>, ReadSeriesError> {
        let loaded = load(store, suite, None, &SuiteOptions::default()).await?;
        let set = BenchSet { suite: suite.to_owned(), version: loaded.row.version.clone(), sample: 1 };
        let mut rows = store.bench_judgements(&set, "", "", IncludeText::No).await?;
        rows.retain(|row| row.variant.is_empty() && judge.is_none_or(|judge| row.judgement.judge_model == judge));
        let judgements = most_judged(rows);
        let judges: BTreeSet<&String> = judgements.iter().map(|judgement| &judgement.judge_model).collect();
        let used = SuiteUsed {
            suite: suite.to_owned(),
            sha256: loaded.row.version.clone(),
            file: loaded.row.source.clone(),
            judge: judge.map(str::to_owned),
            judges: judges.into_iter().cloned().collect(),
            judgements: judgements.len(),
            models: 0,
        };
        let judged = judged(judgements);
        if judged.is_empty() {
            let by = judge.map_or_else(String::new, |judge| format!(" by {judge}"));
            return Err(ReadSeriesError::NotJudged { suite: suite.to_owned(), by });
        }
        Ok(tokio::task::spawn_blocking(move || Arc::new(Self::of(loaded, &judged, used, bootstrap))).await?)
    }

    fn of(loaded: Loaded, judged: &[Judged], used: SuiteUsed, bootstrap: BootstrapOptions) -> Self {
        let suite = loaded.suite.as_ref();
        let items: Vec<Item> = loaded.data.items.into_iter().map(without_texts).collect();
        let whole: Vec<Scores> = judged.iter().map(|model| model.scores(suite, &items)).collect();
        let parts = parts(&whole);
        let values = |scores: &Scores| parts.iter().map(|part| scores.of(part)?.value).collect::<Vec<Option<f64>>>();
        let bootstrap = bootstrap_for(bootstrap, &format!("bench:{}", suite.name()));
        let drawn: Vec<Vec<Vec<Option<f64>>>> = replicates(bootstrap, |rng| {
            let items = resampled(&items, rng);
            judged.iter().map(|model| values(&model.scores(suite, &items))).collect()
        });
        let samples = |at: usize| drawn.iter().map(|models| models[at].clone()).collect();
        let of_model = |(at, (model, scores)): (usize, (&Judged, &Scores))| ModelDraws {
            model: model.model.clone(),
            values: values(scores),
            samples: samples(at),
        };
        let models = judged.iter().zip(&whole).enumerate().map(of_model).collect();
        let used = SuiteUsed { models: judged.len(), ..used };
        let notes = single(&items).into_iter().collect();
        Self { used, title: suite.title().to_owned(), notes, parts, models }
    }

    /// The keys of its parts, as a series asks for them.
    pub(super) fn keys(&self) -> Vec<String> {
        let intents = (self.intents().count() >= 3).then(|| INTENTS.to_owned());
        self.parts.iter().map(Part::key).chain(intents).collect()
    }

    /// What a part is called, what it has one number of, and the numbers.
    ///
    /// # Errors
    /// [`SeriesError::Part`](crate::domain::correlation::SeriesError::Part).
    pub(super) fn part(&self, suite: &str, key: &str, level: ConfidenceLevel) -> Result<Found, ReadSeriesError> {
        if key == INTENTS && self.intents().count() > 0 {
            let (title, points) = (format!("{}: intents", self.title), self.by_intent(level));
            return Ok(Found { title, subjects: Subjects::Intents, points, notes: self.notes.clone() });
        }
        let key = if key.is_empty() { Part::overall().key() } else { key.to_owned() };
        let place = self.parts.iter().position(|part| part.key() == key).ok_or_else(|| {
            crate::domain::correlation::SeriesError::Part {
                series: format!("bench:{suite}"),
                part: key.clone(),
                known: self.keys().join(", "),
            }
        })?;
        let point = |model: &ModelDraws| {
            let samples = model.samples.iter().map(|parts| parts[place]).collect();
            Some((model.model.clone(), Point::from_samples(model.values[place]?, samples, level)))
        };
        let whole = self.parts[place].kind == PartKind::Overall;
        let title = if whole { self.title.clone() } else { format!("{}: {key}", self.title) };
        let points: BTreeMap<String, Point> = self.models.iter().filter_map(point).collect();
        let lacking = self.models.iter().filter(|model| model.values[place].is_none());
        let lacking: Vec<&str> = lacking.map(|model| model.model.as_str()).collect();
        let lacks = (!lacking.is_empty())
            .then(|| format!("left out are {}: not every judge has judged them; @JUDGE names one", lacking.join(", ")));
        let notes = self.notes.iter().cloned().chain(lacks).collect();
        Ok(Found { title, subjects: Subjects::Models, points, notes })
    }

    /// The places of the parts that are URS's intents.
    fn intents(&self) -> impl Iterator<Item = (&'static str, usize)> {
        let categories = self.parts.iter().enumerate().filter(|(_, part)| part.kind == PartKind::Category);
        categories.filter(|(_, part)| part.within.is_none()).filter_map(|(at, part)| Some((intent(&part.name)?, at)))
    }

    /// The mean over the models of each intent.
    fn by_intent(&self, level: ConfidenceLevel) -> BTreeMap<String, Point> {
        let over_models =
            |values: &mut dyn Iterator<Item = Option<f64>>| mean(&values.flatten().collect::<Vec<_>>()).ok();
        let replicates = self.models.first().map_or(0, |model| model.samples.len());
        let point = |(intent, place): (&'static str, usize)| {
            let value = over_models(&mut self.models.iter().map(|model| model.values[place]))?;
            let draw = |at: usize| over_models(&mut self.models.iter().map(|model| model.samples[at][place]));
            Some((intent.to_owned(), Point::from_samples(value, (0..replicates).map(draw).collect(), level)))
        };
        self.intents().filter_map(point).collect()
    }
}

impl Judged {
    fn scores(&self, suite: &dyn Suite, items: &[Item]) -> Scores {
        let score = |judgements: &Vec<Judgement>| suite.score(items, &judgements.iter().collect::<Vec<_>>());
        match self.by_judge.as_slice() {
            [only] => score(only),
            several => jury(&several.iter().map(score).collect::<Vec<_>>()),
        }
    }
}

/// Of judgements beside several baselines, those beside the one that most were made with.
fn most_judged(rows: Vec<BenchJudgementRow>) -> Vec<Judgement> {
    let mut by_baseline: BTreeMap<String, Vec<Judgement>> = BTreeMap::new();
    rows.into_iter().for_each(|row| by_baseline.entry(row.baseline).or_default().push(row.judgement));
    by_baseline.into_values().max_by_key(Vec::len).unwrap_or_default()
}

/// By model, and for each one list a judge; a judge that said nothing of a model has an empty one.
fn judged(mut judgements: Vec<Judgement>) -> Vec<Judged> {
    // A verdict wins over a failure that came after it.
    judgements.sort_by_key(|judgement| judgement.status == Status::Ok);
    let judges: BTreeSet<String> = judgements.iter().map(|judgement| judgement.judge_model.clone()).collect();
    let mut by_model: BTreeMap<String, BTreeMap<String, Vec<Judgement>>> = BTreeMap::new();
    for judgement in judgements {
        let of_model = by_model.entry(judgement.model.clone()).or_default();
        of_model.entry(judgement.judge_model.clone()).or_default().push(judgement);
    }
    let judged = |(model, mut said): (String, BTreeMap<String, Vec<Judgement>>)| Judged {
        by_judge: judges.iter().map(|judge| said.remove(judge).unwrap_or_default()).collect(),
        model,
    };
    by_model.into_iter().map(judged).collect()
}

/// Scores do not depend on what was asked, and thousands of copies of it are made.
fn without_texts(item: Item) -> Item {
    let turns = item.turns.iter().map(|_| Question { question: String::new(), reference: None }).collect();
    Item { turns, choices: None, ..item }
}

/// That some categories do not vary when their items are resampled, where there are such.
fn single(items: &[Item]) -> Option<String> {
    let mut sizes: BTreeMap<&str, usize> = BTreeMap::new();
    items.iter().for_each(|item| *sizes.entry(&item.category).or_default() += 1);
    let single: Vec<&str> = sizes.iter().filter(|(_, size)| **size == 1).map(|(category, _)| *category).collect();
    let why = "has a single item, which cannot be drawn otherwise: intervals do not allow for it";
    (!single.is_empty()).then(|| format!("each of the categories {} {why}", single.join(", ")))
}

/// As many items of each category as there are, drawn with replacement.
fn resampled(items: &[Item], rng: &mut ChaCha8Rng) -> Vec<Item> {
    let mut by_category: BTreeMap<&str, Vec<&Item>> = BTreeMap::new();
    items.iter().for_each(|item| by_category.entry(&item.category).or_default().push(item));
    let mut drawn = Vec::with_capacity(items.len());
    for own in by_category.values() {
        drawn.extend(own.iter().map(|_| own[rng.random_range(0..own.len())].clone()));
    }
    drawn
}

/// Every part that some model has a score in, in the order of the scores.
fn parts(scores: &[Scores]) -> Vec<Part> {
    let mut known = BTreeSet::new();
    let all = scores.iter().flat_map(|scores| &scores.0).map(|score| &score.part);
    all.filter(|part| known.insert((*part).clone())).cloned().collect()
}
