//! A plan of several runs: suites with their rounds of answers, and who takes part in each.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::JudgeMode;

/// Why a plan cannot be run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RunPlanError {
    /// It is no plan.
    #[error("{0}")]
    Syntax(String),
    /// It has no suite.
    #[error("the plan has no suite: write [[suites]] with suite = \"NAME\" for each")]
    NoSuite,
    /// A number that cannot be.
    #[error("{key}: write {expected}")]
    Value {
        /// The key.
        key: &'static str,
        /// What to write.
        expected: &'static str,
    },
    /// The same run twice.
    #[error("suite {suite} stands twice in round {sample}: plan each run once")]
    Twice {
        /// The suite.
        suite: String,
        /// Which round of answers.
        sample: u32,
    },
}

/// A plan as its file describes it. What a suite does not say itself is said for all.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RunPlan {
    /// Models that answer; all of the settings where there are none.
    pub models: Vec<String>,
    /// Judges.
    pub judges: Vec<String>,
    /// The model that others are compared with, in suites that compare.
    pub baseline: Option<String>,
    /// Rounds of answers; the first where there are none.
    pub samples: Vec<u32>,
    /// Seed of the first round's requests, for models that take one.
    pub seed: Option<u64>,
    /// Money to spend at the most, over all suites.
    pub budget: Option<f64>,
    /// Requests to send at the most, over all suites.
    pub max_calls: Option<u64>,
    /// The suites, in their order.
    pub suites: Vec<PlannedSuite>,
}

/// A suite of a plan.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PlannedSuite {
    /// Its name.
    pub suite: String,
    /// Its own models.
    pub models: Vec<String>,
    /// Its own judges.
    pub judges: Vec<String>,
    /// Its own baseline.
    pub baseline: Option<String>,
    /// Its own rounds of answers.
    pub samples: Vec<u32>,
    /// The first characters of its data file's SHA-256.
    pub data: Option<String>,
    /// Another way of asking or judging.
    pub ablation: Option<String>,
    /// Switches of the official program.
    pub compat: Vec<String>,
    /// Only the items that are the same in every run.
    pub canaries: bool,
    /// Its own seed.
    pub seed: Option<u64>,
}

/// One run of a plan: a suite and a round of answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedRun {
    /// The suite with what it says itself.
    pub suite: PlannedSuite,
    /// Which round of answers.
    pub sample: u32,
}

/// Who takes part in a run of a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedRoles {
    /// Models that answer; all of the settings where there are none.
    pub models: Vec<String>,
    /// Judges.
    pub judges: Vec<String>,
    /// The model that others are compared with.
    pub baseline: Option<String>,
}

impl RunPlan {
    /// Reads and checks the text of a plan.
    ///
    /// # Errors
    /// [`RunPlanError`] for the first thing that is wrong with it.
    pub fn parse(text: &str) -> Result<Self, RunPlanError> {
        let plan: Self = toml::from_str(text).map_err(|error| RunPlanError::Syntax(error.to_string()))?;
        plan.check()?;
        Ok(plan)
    }

    /// Checks a plan that was not read from a text.
    ///
    /// # Errors
    /// As [`Self::parse`].
    pub fn check(&self) -> Result<(), RunPlanError> {
        let bad = |key, expected| Err(RunPlanError::Value { key, expected });
        if self.suites.is_empty() {
            return Err(RunPlanError::NoSuite);
        }
        if self.suites.iter().any(|suite| suite.suite.is_empty()) {
            return bad("suite", "the name of a suite");
        }
        if self.budget.is_some_and(|budget| !budget.is_finite() || budget < 0.0) {
            return bad("budget", "an amount from 0, for example 2.5");
        }
        let mut known = BTreeSet::new();
        for PlannedRun { suite, sample } in self.runs() {
            if sample == 0 {
                return bad("samples", "rounds from 1, for example [1, 2]");
            }
            if !known.insert((suite.suite.clone(), suite.data, suite.ablation, suite.compat, sample)) {
                return Err(RunPlanError::Twice { suite: suite.suite, sample });
            }
        }
        Ok(())
    }

    /// The runs in their order.
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

    /// Who takes part in a suite that is judged like this. What is said for all goes to the suites that have use for it.
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
    fn what_is_wrong_with_a_plan_is_said() {
        let suite = "[[suites]]\nsuite = \"urs\"\n";
        for (text, said) in [
            (String::new(), "has no suite"),
            ("suites = 3".to_owned(), "suites"),
            (format!("model = []\n{suite}"), "unknown field `model`"),
            (format!("samples = [0]\n{suite}"), "samples: write rounds from 1"),
            (format!("budget = -1.0\n{suite}"), "budget: write an amount"),
            (format!("{suite}{suite}"), "suite urs stands twice in round 1"),
            (format!("{suite}samples = [2, 2]\n"), "suite urs stands twice in round 2"),
            ("[[suites]]\n".to_owned(), "suite: write the name"),
        ] {
            let refused = RunPlan::parse(&text).unwrap_err().to_string();
            assert!(refused.contains(said), "{text}: {refused}");
        }
        assert!(RunPlan::parse(&format!("{suite}{suite}compat = [\"urs.official_parser\"]\n")).is_ok(), "another way");
    }
}
