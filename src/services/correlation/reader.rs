//! Reads series, each source once.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use super::printed::{self, Printed};
use super::satisfaction::{self, Satisfied};
use super::suite::SuiteScores;
use super::{
    Aliases, Point, Series, SeriesError, SeriesName, Subjects, SuiteUsed, Table, Used, VotePart, VotesUsed, votes,
};
use crate::benchmark::score::Part;
use crate::rating::bootstrap::BootstrapOptions;
use crate::rating::leaderboard::LeaderboardOptions;
use crate::rating::redraw::Figure;
use crate::rating::vote_log::{VoteLog, Wanted};
use crate::services::vote_log::{Reading, read_log};
use crate::storage::{Store, VoteRange};

/// Pages of votes that are asked for at the same moment.
const AT_ONCE: usize = 2;

/// Where series come from, and how they are reckoned.
#[derive(Clone)]
pub struct Sources<'s> {
    /// The arena.
    pub store: Option<&'s Store>,
    /// A table.
    pub table: Option<&'s Table>,
    /// Other names of models.
    pub aliases: Aliases,
    /// How the arena rates; the level of all intervals.
    pub rating: LeaderboardOptions,
    /// How votes and items are drawn anew; no replicates where they are held fixed.
    pub bootstrap: BootstrapOptions,
}

/// Reads series. What several of them share, such as the votes or a suite's verdicts, is read once.
pub struct SeriesReader<'s> {
    sources: Sources<'s>,
    log: Option<(Wanted, Arc<VoteLog>)>,
    used: Used,
    suites: HashMap<(String, Option<String>), Arc<SuiteScores>>,
}

impl<'s> SeriesReader<'s> {
    /// Nothing is read yet.
    #[must_use]
    pub fn new(sources: Sources<'s>) -> Self {
        Self { sources, log: None, used: Used::default(), suites: HashMap::new() }
    }

    /// Reads several series, in their order.
    ///
    /// # Errors
    /// [`SeriesError`].
    pub async fn read_all(&mut self, names: &[SeriesName]) -> Result<Vec<Series>, SeriesError> {
        self.read_votes(names).await?;
        let mut series = Vec::with_capacity(names.len());
        for name in names {
            series.push(self.read(name).await?);
        }
        Ok(series)
    }

    /// Reads a series.
    ///
    /// # Errors
    /// [`SeriesError`].
    pub async fn read(&mut self, name: &SeriesName) -> Result<Series, SeriesError> {
        let (title, subjects, points) = match name {
            SeriesName::Column(column) => self.column(column)?,
            SeriesName::Arena { figure, part } => self.figures(name, *figure, part).await?,
            SeriesName::Satisfaction => self.satisfaction().await?,
            SeriesName::Bench { suite, judge, part } => {
                let scores = self.suite(suite, judge.as_deref()).await?;
                scores.part(suite, part, self.sources.rating.confidence)?
            }
            SeriesName::Published(id) => {
                let Printed { title, source, subjects, values } = printed::read(id, self.sources.store).await?;
                self.used.published.insert(name.to_string(), source);
                (title, subjects, fixed(values))
            }
        };
        let points = match subjects {
            Subjects::Models => self.sources.aliases.apply(&name.to_string(), points)?,
            Subjects::Intents | Subjects::Methods => points,
        };
        Ok(Series { name: name.clone(), title, subjects, points })
    }

    /// What everything that was read so far is made from.
    #[must_use]
    pub fn used(&self) -> Used {
        let mut suites: Vec<SuiteUsed> = self.suites.values().map(|scores| scores.used.clone()).collect();
        suites.sort_by(|one, other| (&one.suite, &one.judge).cmp(&(&other.suite, &other.judge)));
        Used { suites, ..self.used.clone() }
    }

    /// Every score of every suite that somebody was judged on, and what was brought in that others have published.
    ///
    /// # Errors
    /// [`SeriesError`].
    pub async fn stored_scores(&mut self) -> Result<Vec<SeriesName>, SeriesError> {
        let Some(store) = self.sources.store else { return Ok(Vec::new()) };
        let suites: BTreeSet<String> = store.bench_suites().await?.into_iter().map(|row| row.suite).collect();
        let mut names = Vec::new();
        for suite in suites {
            match self.suite(&suite, None).await {
                Ok(scores) => names.extend(scores.keys().into_iter().map(|key| score_name(&suite, &key))),
                Err(SeriesError::NotJudged { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        let brought = store.published_scores().await?.into_iter().map(|row| match row.part.as_str() {
            "" => row.series,
            part => format!("{}:{part}", row.series),
        });
        names.extend(brought.collect::<BTreeSet<String>>().into_iter().map(SeriesName::Published));
        Ok(names)
    }

    fn column(&self, name: &str) -> Result<Found, SeriesError> {
        let table = self.sources.table.ok_or_else(|| SeriesError::NoTable(name.to_owned()))?;
        Ok((name.to_owned(), Subjects::Models, fixed(table.column(name)?)))
    }

    async fn figures(&mut self, name: &SeriesName, figure: Figure, part: &VotePart) -> Result<Found, SeriesError> {
        self.read_votes(std::slice::from_ref(name)).await?;
        let (_, log) = self.log.clone().expect("the votes were just read");
        let (slice, options, bootstrap) = (part.0.clone(), self.sources.rating.clone(), self.sources.bootstrap);
        let points = tokio::task::spawn_blocking(move || {
            let log = slice.take(VoteLog::clone(&log))?;
            votes::figures(&log, figure, &options, bootstrap)
        });
        Ok((arena_title(figure, part), Subjects::Models, points.await??))
    }

    async fn satisfaction(&mut self) -> Result<Found, SeriesError> {
        let store = self.store(&SeriesName::Satisfaction)?;
        let found = satisfaction::by_intent(store, self.sources.bootstrap, self.sources.rating.confidence);
        let Satisfied { points, votes } = found.await?;
        self.used.satisfied_votes = Some(votes);
        Ok(("satisfaction, 1 to 5".to_owned(), Subjects::Intents, points))
    }

    async fn suite(&mut self, suite: &str, judge: Option<&str>) -> Result<Arc<SuiteScores>, SeriesError> {
        let key = (suite.to_owned(), judge.map(str::to_owned));
        if let Some(known) = self.suites.get(&key) {
            return Ok(Arc::clone(known));
        }
        let name = SeriesName::Bench { suite: suite.to_owned(), judge: key.1.clone(), part: String::new() };
        let scores = SuiteScores::read(self.store(&name)?, suite, judge, self.sources.bootstrap).await?;
        self.suites.insert(key, Arc::clone(&scores));
        Ok(scores)
    }

    /// Reads the votes with all columns that the series need, unless that was done. Who reads series one by one calls it
    /// with all of them first, so that the votes are read once.
    ///
    /// # Errors
    /// [`SeriesError`].
    pub async fn read_votes(&mut self, names: &[SeriesName]) -> Result<(), SeriesError> {
        let mut wanted = self.log.as_ref().map(|(wanted, _)| *wanted).unwrap_or_default();
        let mut asked = None;
        for name in names {
            if let SeriesName::Arena { part, .. } = name {
                part.0.want(&mut wanted);
                asked = Some(name);
            }
        }
        let Some(name) = asked else { return Ok(()) };
        if self.log.as_ref().is_some_and(|(known, _)| *known == wanted) {
            return Ok(());
        }
        let reading = Reading { wanted, range: VoteRange::ALL, at_once: AT_ONCE };
        let last_seq = AtomicI64::new(0);
        let log = read_log(self.store(name)?, reading, |_, last| last_seq.store(last, Ordering::Relaxed)).await?;
        self.used.votes =
            Some(VotesUsed { rated: log.len(), excluded: log.excluded.clone(), last_seq: last_seq.into_inner() });
        self.log = Some((wanted, Arc::new(log)));
        Ok(())
    }

    fn store(&self, name: &SeriesName) -> Result<&'s Store, SeriesError> {
        self.sources.store.ok_or_else(|| SeriesError::NoStore(name.to_string()))
    }
}

/// The whole needs no part.
fn score_name(suite: &str, key: &str) -> SeriesName {
    let part = if key == Part::overall().key() { String::new() } else { key.to_owned() };
    SeriesName::Bench { suite: suite.to_owned(), judge: None, part }
}

/// What a series is called, what it is of, and its numbers.
type Found = (String, Subjects, BTreeMap<String, Point>);

fn fixed(values: BTreeMap<String, f64>) -> BTreeMap<String, Point> {
    values.into_iter().map(|(subject, value)| (subject, Point::fixed(value))).collect()
}

fn arena_title(figure: Figure, part: &VotePart) -> String {
    let figure = match figure {
        Figure::Rating => "arena rating",
        Figure::Elo => "arena Elo rating",
        Figure::WinTieRate => "arena win-and-tie rate",
    };
    match part.0.describe().as_slice() {
        [] => figure.to_owned(),
        parts => format!("{figure}, {}", parts.join(", ")),
    }
}
