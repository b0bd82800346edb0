//! Scores printed in the papers, as reference series: shown separately from an arena's own runs, and usable in correlation studies.
//!
//! Only facts: scores with their source. `series.toml` lists the series, and a file named after its id has the values by subject and
//! part. Parts have the keys of [`Part::key`](super::scores::score::Part::key), so a published column and one of a run of the same suite
//! have the same name.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

/// Kind of subject of a series.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SubjectKind {
    /// Language models.
    #[default]
    Model,
    /// Judging methods.
    Method,
    /// Models and other services.
    Service,
}

/// Unit of a published value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ValueUnit {
    /// Score from 1 to 10.
    OneToTen,
    /// Percentage, 0 to 100.
    Percent,
    /// Correlation, -1 to 1.
    Correlation,
    /// Share, 0 to 1.
    Share,
}

/// Published series of scores.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Published {
    /// Key of the series.
    pub id: String,
    /// Name of the suite, or `arena` for people's votes.
    pub suite: String,
    /// Display name.
    pub title: String,
    /// Judge, if there was one.
    pub judge: Option<String>,
    /// Kind of the subjects.
    #[serde(default)]
    pub of: SubjectKind,
    /// Unit of the values.
    pub unit: ValueUnit,
    /// Paper and table of the values.
    pub source: String,
    /// Deviations from the printed values, with reasons.
    pub note: Option<String>,
    /// Values in the paper's order.
    #[serde(skip_deserializing)]
    pub points: Vec<PublishedPoint>,
}

/// Published value.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PublishedPoint {
    /// Name of the model, method or service.
    pub subject: String,
    /// Key of the part.
    pub part: String,
    /// Value in the series' unit.
    pub value: f64,
}

impl Published {
    /// Returns the values of a part by subject.
    #[must_use]
    pub fn part(&self, part: &str) -> BTreeMap<&str, f64> {
        let of_part = self.points.iter().filter(|point| point.part == part);
        of_part.map(|point| (point.subject.as_str(), point.value)).collect()
    }

    /// Returns the keys of the parts, in the paper's order.
    #[must_use]
    pub fn parts(&self) -> Vec<&str> {
        first_of_each(self.points.iter().map(|point| point.part.as_str()))
    }

    /// Returns the subjects, in the paper's order.
    #[must_use]
    pub fn subjects(&self) -> Vec<&str> {
        first_of_each(self.points.iter().map(|point| point.subject.as_str()))
    }
}

/// Returns all published series, in the order of `series.toml`.
#[must_use]
pub fn series() -> &'static [Published] {
    &SERIES
}

/// Returns a series by its id.
#[must_use]
pub fn by_id(id: &str) -> Option<&'static Published> {
    series().iter().find(|series| series.id == id)
}

/// Returns the series of a suite.
pub fn of_suite(suite: &str) -> impl Iterator<Item = &'static Published> {
    series().iter().filter(move |series| series.suite == suite)
}

static SERIES: LazyLock<Vec<Published>> = LazyLock::new(|| {
    #[derive(Deserialize)]
    struct SeriesList {
        series: Vec<Published>,
    }
    let index: SeriesList = toml::from_str(include_str!("series.toml")).expect("a test reads the list of series");
    let with_points = |series: Published| Published { points: points(&series.id), ..series };
    index.series.into_iter().map(with_points).collect()
});

fn points(id: &str) -> Vec<PublishedPoint> {
    let text = FILES.iter().find(|(name, _)| *name == id).map_or("", |(_, text)| *text);
    let rows = csv::Reader::from_reader(text.as_bytes()).into_deserialize();
    rows.collect::<Result<_, _>>().expect("a test reads every file")
}

/// Removes duplicate names, keeping the first occurrences.
fn first_of_each<'n>(names: impl Iterator<Item = &'n str>) -> Vec<&'n str> {
    let mut seen = std::collections::BTreeSet::new();
    names.filter(|name| seen.insert(*name)).collect()
}

macro_rules! files {
    ($($id:literal),* $(,)?) => { [$(($id, include_str!(concat!($id, ".csv")))),*] };
}

const FILES: [(&str, &str); 18] = files![
    "superclue_close",
    "superclue_open",
    "superclue_arena",
    "urs",
    "urs_languages",
    "urs_search",
    "urs_translation",
    "alignbench_gpt4",
    "alignbench_critiquellm",
    "alignbench_dimensions",
    "alignbench_people_sample_pearson",
    "alignbench_people_system_pearson",
    "alignbench_people_pairwise",
    "mtbench101_gpt4",
    "mtbench101_qwen72b",
    "mtbench101_alignment",
    "mtbench101_people",
    "mtbench101_people_kappa",
];
