//! Plan of several runs: suites with their rounds of answers and participants.

use std::collections::BTreeSet;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::super::JudgeMode;
use crate::judging::budget::{Budget, Spent};

/// Maximum number of runs in a plan.
pub const MAX_RUNS: usize = 1_000;
/// Maximum of a plan's whole numbers: the largest integer in a TOML file.
const MAX_TOML_INTEGER: u64 = i64::MAX.unsigned_abs();

/// Error of a plan.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RunPlanError {
    /// The text is not a plan.
    #[error("{0}")]
    Syntax(String),
    /// The plan has no suite.
    #[error("the plan has no suite: write [[suites]] with suite = \"NAME\" for each")]
    NoSuite,
    /// A value is invalid.
    #[error("{0}")]
    InvalidValue(InvalidPlanKey),
    /// A name is invalid for a suite, model or switch.
    #[error("{key}: {name:?} has a control character: write the name without it")]
    Name {
        /// Key of the name.
        key: &'static str,
        /// Invalid name.
        name: String,
    },
    /// The plan has more than [`MAX_RUNS`] runs.
    #[error("the plan has {runs} runs, more than the {MAX_RUNS} allowed: split it into several plans")]
    TooManyRuns {
        /// Number of runs.
        runs: usize,
    },
    /// The plan has the same run twice.
    #[error("suite {suite} appears twice in round {sample}: plan each run once")]
    Twice {
        /// Name of the suite.
        suite: String,
        /// Round of answers.
        sample: u32,
    },
}

/// Key of a plan with an invalid value. `Display` describes valid values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InvalidPlanKey {
    /// The name of a suite.
    Suite,
    /// Maximum cost.
    Budget,
    /// Maximum number of requests.
    MaxCalls,
    /// Random seed of requests.
    Seed,
    /// Rounds of answers.
    Samples,
}

impl fmt::Display for InvalidPlanKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Suite => "suite: write the name of a suite",
            Self::Budget => "budget: write an amount from 0, for example 2.5",
            Self::MaxCalls => "max_calls: write a number of requests, for example 1000",
            Self::Seed => "seed: write a whole number from 0 to 9223372036854775807",
            Self::Samples => "samples: write rounds from 1, for example [1, 2]",
        })
    }
}

/// Contents of a plan file. Suites without own values use those of the plan.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RunPlan {
    /// Ids of the evaluated models; all configured ones if empty.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub models: Vec<String>,
    /// Ids of the judges.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub judges: Vec<String>,
    /// Id of the baseline model, for suites that compare.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub baseline: Option<String>,
    /// Rounds of answers; the first one if empty.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub samples: Vec<u32>,
    /// Random seed of the first round's requests, for models that support one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// Maximum cost over all suites.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub budget: Option<f64>,
    /// Maximum number of requests over all suites.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_calls: Option<u64>,
    /// Whether requests are sent in provider batches.
    #[serde(skip_serializing_if = "is_false")]
    pub batch: bool,
    /// Suites, in order.
    pub suites: Vec<PlannedSuite>,
}

/// Suite of a plan.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PlannedSuite {
    /// Name of the suite.
    pub suite: String,
    /// Models of this suite.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub models: Vec<String>,
    /// Judges of this suite.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub judges: Vec<String>,
    /// Baseline of this suite.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub baseline: Option<String>,
    /// Rounds of answers of this suite.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub samples: Vec<u32>,
    /// First characters of the data file's SHA-256.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<String>,
    /// Ablation: a different way of asking or judging.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ablation: Option<String>,
    /// Switches that reproduce the official program.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub compat: Vec<String>,
    /// Whether only the canaries are used.
    #[serde(skip_serializing_if = "is_false")]
    pub canaries: bool,
    /// Random seed of this suite.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
}

impl PlannedSuite {
    /// Creates a suite without own values.
    #[must_use]
    pub fn named(suite: impl Into<String>) -> Self {
        Self { suite: suite.into(), ..Self::default() }
    }

    fn names(&self) -> impl Iterator<Item = (&'static str, &String)> {
        keyed("suite", [&self.suite])
            .chain(keyed("models", &self.models))
            .chain(keyed("judges", &self.judges))
            .chain(keyed("baseline", &self.baseline))
            .chain(keyed("data", &self.data))
            .chain(keyed("ablation", &self.ablation))
            .chain(keyed("compat", &self.compat))
    }

    /// Returns the number of rounds.
    fn rounds(&self, of_all: &[u32]) -> usize {
        let own = if self.samples.is_empty() { of_all } else { &self.samples };
        own.len().max(1)
    }
}

fn keyed<'n>(
    key: &'static str,
    names: impl IntoIterator<Item = &'n String>,
) -> impl Iterator<Item = (&'static str, &'n String)> {
    names.into_iter().map(move |name| (key, name))
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_false(value: &bool) -> bool {
    !value
}

/// Run of a plan: a suite and a round of answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedRun {
    /// Suite with its own values.
    pub suite: PlannedSuite,
    /// Round of answers.
    pub sample: u32,
}

/// Participants of a run of a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedRoles {
    /// Ids of the evaluated models; all configured ones if empty.
    pub models: Vec<String>,
    /// Ids of the judges.
    pub judges: Vec<String>,
    /// Id of the baseline model.
    pub baseline: Option<String>,
}

impl RunPlan {
    /// Parses and validates the text of a plan.
    ///
    /// # Errors
    /// [`RunPlanError`] for the first problem.
    pub fn parse(text: &str) -> Result<Self, RunPlanError> {
        let plan: Self = toml::from_str(text).map_err(|error| RunPlanError::Syntax(error.to_string()))?;
        plan.check()?;
        Ok(plan)
    }

    /// Formats the plan for [`Self::parse`], without default values.
    ///
    /// # Errors
    /// [`RunPlanError`] for a number that TOML cannot represent; a validated plan has none.
    pub fn to_toml(&self) -> Result<String, RunPlanError> {
        toml::to_string(self).map_err(|error| RunPlanError::Syntax(error.to_string()))
    }

    /// Validates a plan that was not parsed from text.
    ///
    /// # Errors
    /// Those of [`Self::parse`].
    pub fn check(&self) -> Result<(), RunPlanError> {
        let bad = |value| Err(RunPlanError::InvalidValue(value));
        if self.suites.is_empty() {
            return Err(RunPlanError::NoSuite);
        }
        if self.suites.iter().any(|suite| suite.suite.is_empty()) {
            return bad(InvalidPlanKey::Suite);
        }
        if self.budget.is_some_and(|budget| !budget.is_finite() || budget < 0.0) {
            return bad(InvalidPlanKey::Budget);
        }
        if self.max_calls.is_some_and(|most| most > MAX_TOML_INTEGER) {
            return bad(InvalidPlanKey::MaxCalls);
        }
        let mut seeds = self.suites.iter().map(|suite| suite.seed).chain([self.seed]).flatten();
        if seeds.any(|seed| seed > MAX_TOML_INTEGER) {
            return bad(InvalidPlanKey::Seed);
        }
        if let Some((key, name)) = self.names().find(|(_, name)| name.chars().any(char::is_control)) {
            return Err(RunPlanError::Name { key, name: name.clone() });
        }
        let runs = self.suites.iter().map(|suite| suite.rounds(&self.samples)).sum();
        if runs > MAX_RUNS {
            return Err(RunPlanError::TooManyRuns { runs });
        }
        self.check_runs()
    }

    fn check_runs(&self) -> Result<(), RunPlanError> {
        let mut known = BTreeSet::new();
        for PlannedRun { suite, sample } in self.runs() {
            if sample == 0 {
                return Err(RunPlanError::InvalidValue(InvalidPlanKey::Samples));
            }
            if !known.insert((suite.suite.clone(), suite.data, suite.ablation, suite.compat, sample)) {
                return Err(RunPlanError::Twice { suite: suite.suite, sample });
            }
        }
        Ok(())
    }

    /// Returns every name in the plan, with its key.
    fn names(&self) -> impl Iterator<Item = (&'static str, &String)> {
        let all = keyed("models", &self.models).chain(keyed("judges", &self.judges));
        all.chain(keyed("baseline", &self.baseline)).chain(self.suites.iter().flat_map(PlannedSuite::names))
    }

    /// Returns the runs in order.
    #[must_use]
    pub fn runs(&self) -> Vec<PlannedRun> {
        let rounds = |suite: &PlannedSuite| {
            let rounds = if suite.samples.is_empty() { &self.samples } else { &suite.samples };
            if rounds.is_empty() { vec![1] } else { rounds.clone() }
        };
        let runs = |suite: &PlannedSuite| {
            let run = |sample| PlannedRun { suite: suite.clone(), sample };
            rounds(suite).into_iter().map(run).collect::<Vec<_>>()
        };
        self.suites.iter().flat_map(runs).collect()
    }

    /// Returns the remaining budget after its runs have spent this.
    #[must_use]
    pub fn budget_after(&self, spent: Spent) -> Budget {
        Budget {
            max_calls: self.max_calls.map(|most| most.saturating_sub(spent.calls)),
            max_cost: self.budget.map(|most| (most - spent.cost).max(0.0)),
        }
    }

    /// Returns the participants of a suite with this judging mode. Values of the plan apply to the suites that use them.
    #[must_use]
    pub fn roles(&self, suite: &PlannedSuite, mode: JudgeMode) -> PlannedRoles {
        let inherited = |own: &[String], all: &[String]| if own.is_empty() { all.to_vec() } else { own.to_vec() };
        let compares = mode == JudgeMode::PairwiseBaseline;
        let baseline = suite.baseline.clone().or_else(|| self.baseline.clone().filter(|_| compares));
        let mut models = inherited(&suite.models, &self.models);
        if suite.models.is_empty() && compares {
            models.retain(|model| Some(model) != baseline.as_ref());
        }
        let all_judges = if mode == JudgeMode::MultipleChoice { &[] } else { self.judges.as_slice() };
        PlannedRoles { models, judges: inherited(&suite.judges, all_judges), baseline }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn a_suite_takes_what_it_does_not_say_itself_from_the_plan() {
        let plan = RunPlan::parse(
            "models = [\"a\", \"b\"]\njudges = [\"j\"]\nbaseline = \"a\"\nsamples = [1, 2]\nbudget = 5.5\n\
             [[suites]]\nsuite = \"urs\"\n[[suites]]\nsuite = \"alignbench\"\nsamples = [3]\njudges = [\"k\"]\n",
        )
        .unwrap();
        let runs: Vec<(String, u32)> = plan.runs().into_iter().map(|run| (run.suite.suite, run.sample)).collect();
        assert_eq!(runs, [("urs".to_owned(), 1), ("urs".to_owned(), 2), ("alignbench".to_owned(), 3)]);
        let roles = |at: usize, mode| plan.roles(&plan.suites[at], mode);
        let (models, judges) = (names(&["a", "b"]), names(&["j"]));
        assert_eq!(
            roles(0, JudgeMode::PointwiseRef),
            PlannedRoles { models: models.clone(), judges: judges.clone(), baseline: None }
        );
        assert_eq!(roles(1, JudgeMode::PointwiseRef).judges, names(&["k"]));
        let pairwise = PlannedRoles { models: names(&["b"]), judges, baseline: Some("a".to_owned()) };
        assert_eq!(roles(0, JudgeMode::PairwiseBaseline), pairwise, "nobody is compared with itself");
        assert_eq!(
            roles(0, JudgeMode::MultipleChoice),
            PlannedRoles { models, judges: Vec::new(), baseline: None },
            "there is nothing to judge"
        );
    }

    #[test]
    fn a_plan_that_goes_on_has_what_is_left_of_its_limits() {
        let plan = RunPlan { budget: Some(2.0), max_calls: Some(100), ..RunPlan::default() };
        let spent = Spent { calls: 30, cost: 0.5, ..Spent::default() };
        assert_eq!(plan.budget_after(spent), Budget { max_calls: Some(70), max_cost: Some(1.5) });
        let spent = Spent { calls: 101, cost: 2.5, ..spent };
        assert_eq!(plan.budget_after(spent), Budget { max_calls: Some(0), max_cost: Some(0.0) });
        assert_eq!(RunPlan::default().budget_after(spent), Budget::default());
    }

    #[test]
    fn what_is_wrong_with_a_plan_is_said() {
        let suite = "[[suites]]\nsuite = \"urs\"\n";
        for (text, said) in [
            (String::new(), "has no suite"),
            ("suites = 3".to_owned(), "suites"),
            (format!("model = []\n{suite}"), "unknown field `model`"),
            (format!("samples = [0]\n{suite}"), "samples: write rounds from 1"),
            (format!("budget = -1.0\n{suite}"), "budget: write an amount"),
            (format!("{suite}{suite}"), "suite urs appears twice in round 1"),
            (format!("{suite}samples = [2, 2]\n"), "suite urs appears twice in round 2"),
            ("[[suites]]\n".to_owned(), "suite: write the name"),
            (format!("models = [\"a\\u0000\"]\n{suite}"), "models: \"a\\0\" has a control character"),
            (format!("{suite}ablation = \"\\u0007\""), "ablation: \"\\u{7}\" has a control character"),
            (format!("{suite}compat = [\"a\", \"\\n\"]"), "compat: \"\\n\" has a control character"),
            (
                format!("samples = {:?}\n{suite}", Vec::from_iter(1..=1_001)),
                "has 1001 runs, more than the 1000 allowed",
            ),
            (
                format!("samples = {:?}\n{suite}{}", Vec::from_iter(1..=999), suite.replace("urs", "alignbench")),
                "has 1998 runs",
            ),
            (format!("seed = -1\n{suite}"), "seed"),
        ] {
            let refused = RunPlan::parse(&text).unwrap_err().to_string();
            assert!(refused.contains(said), "{text}: {refused}");
        }
        assert!(RunPlan::parse(&format!("{suite}{suite}compat = [\"urs.official_parser\"]\n")).is_ok(), "another way");
    }

    #[test]
    fn a_plan_is_written_as_it_is_read_without_what_it_does_not_say() {
        let short = "models = [\"a\"]\nseed = 7\nbudget = 0.1\nbatch = true\n\n[[suites]]\nsuite = \"urs\"\nablation = \"general\"\n";
        assert_eq!(RunPlan::parse(short).unwrap().to_toml().unwrap(), short);
        let suite = PlannedSuite {
            suite: "suite \"of\" 琅".to_owned(),
            models: names(&["a"]),
            judges: names(&["j"]),
            baseline: Some("b".to_owned()),
            samples: vec![2, 5],
            data: Some("00ff".to_owned()),
            ablation: Some("x\"y".to_owned()),
            compat: names(&["c.d"]),
            canaries: true,
            seed: Some(MAX_TOML_INTEGER),
        };
        let all = RunPlan {
            models: names(&["m\\"]),
            judges: names(&["k", "l"]),
            baseline: Some("m".to_owned()),
            samples: vec![1],
            seed: Some(1),
            budget: Some(2.0),
            max_calls: Some(MAX_TOML_INTEGER),
            batch: true,
            suites: vec![suite, PlannedSuite::named("urs")],
        };
        assert_eq!(RunPlan::parse(&all.to_toml().unwrap()), Ok(all));
    }

    #[test]
    fn a_number_that_no_text_can_hold_is_refused() {
        let plan = RunPlan { suites: vec![PlannedSuite::named("urs")], ..RunPlan::default() };
        let seed = RunPlan { seed: Some(MAX_TOML_INTEGER + 1), ..plan.clone() };
        let most = RunPlan { max_calls: Some(MAX_TOML_INTEGER + 1), ..plan.clone() };
        for (plan, key) in [(seed, "seed: write"), (most, "max_calls: write")] {
            assert!(plan.check().unwrap_err().to_string().starts_with(key));
        }
        assert_eq!(plan.check(), Ok(()));
    }

    #[test]
    fn a_plan_of_an_earlier_version_can_be_read() {
        let row = r#"{"models":["a"],"judges":[],"baseline":null,"samples":[1],"seed":null,"budget":null,"max_calls":3,"suites":[]}"#;
        let plan = RunPlan { models: names(&["a"]), samples: vec![1], max_calls: Some(3), ..RunPlan::default() };
        assert_eq!(serde_json::from_str::<RunPlan>(row).unwrap(), plan);
    }
}
