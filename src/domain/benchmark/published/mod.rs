//! Scores that the papers print, as reference series: shown apart from an arena's own runs, and of use in correlation
//! studies.
//!
//! Only facts: who scored how much in what, and where that stands. `series.toml` names the series, and a file of the same
//! name as its id holds the values by subject and part. Parts have the keys of [`Part::key`](super::score::Part::key), so
//! a published column and one of a run of the same suite go by the same name.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

/// What a series compares.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SubjectKind {
    /// Language models.
    #[default]
    Model,
    /// Ways of judging.
    Method,
    /// Services of other kinds beside models.
    Service,
}

/// What a published value is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ValueUnit {
    /// A score from 1 to 10.
    OneToTen,
    /// 0 to 100.
    Percent,
    /// -1 to 1.
    Correlation,
    /// 0 to 1.
    Share,
}

/// One published series.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Published {
    /// Its key.
    pub id: String,
    /// The suite, or `arena` for people's votes.
    pub suite: String,
    /// What it is, for people.
    pub title: String,
    /// The judge, if there was one.
    pub judge: Option<String>,
    /// What is compared.
    #[serde(default)]
    pub of: SubjectKind,
    /// The unit of the values.
    pub unit: ValueUnit,
    /// Paper and table.
    pub source: String,
    /// What differs from the print, and why.
    pub note: Option<String>,
    /// The values, in the paper's order.
    #[serde(skip_deserializing)]
    pub points: Vec<PublishedPoint>,
}

/// One published value.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PublishedPoint {
    /// The model, method or service.
    pub subject: String,
    /// The part's key.
    pub part: String,
    /// The value, in the series' unit.
    pub value: f64,
}

impl Published {
    /// The values of a part by subject.
    #[must_use]
    pub fn part(&self, part: &str) -> BTreeMap<&str, f64> {
        let of_part = self.points.iter().filter(|point| point.part == part);
        of_part.map(|point| (point.subject.as_str(), point.value)).collect()
    }

    /// The keys of its parts, in the paper's order.
    #[must_use]
    pub fn parts(&self) -> Vec<&str> {
        first_of_each(self.points.iter().map(|point| point.part.as_str()))
    }

    /// The subjects, in the paper's order.
    #[must_use]
    pub fn subjects(&self) -> Vec<&str> {
        first_of_each(self.points.iter().map(|point| point.subject.as_str()))
    }
}

/// All published series, in the order of `series.toml`.
#[must_use]
pub fn series() -> &'static [Published] {
    &SERIES
}

/// A series by its id.
#[must_use]
pub fn by_id(id: &str) -> Option<&'static Published> {
    series().iter().find(|series| series.id == id)
}

/// The series of a suite.
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

/// Each name once, where it first stands.
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
