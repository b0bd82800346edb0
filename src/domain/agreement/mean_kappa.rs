//! Mean of the kappas of a judge with each person.
//!
//! People who saw the same questions share the judge's verdicts on them, and each kappa is itself an estimate. So a replicate draws
//! questions, each with all opinions on it, and people, and computes every kappa again. Such an interval is too wide rather than too
//! narrow: the label of one person on one question varies with both draws (McCullagh 2000, Resampling and exchangeable arrays). Fewer than
//! [`MIN_PEOPLE_TO_RESAMPLE`] people are not resampled: their interval is over questions and holds for these people.

use std::collections::{BTreeMap, BTreeSet};

use rand_chacha::ChaCha8Rng;

use super::agreement_input::item_of;
use super::metrics::{IntervalReport, MIN_PEOPLE_TO_RESAMPLE, MeanKappa, MetricValue};
use crate::stats::Undefined;
use crate::stats::distribution::mean;
use crate::stats::resample::{BootstrapOptions, replicates, resample_indices};

/// Labels of a person and the judge on the same question about two models, or on the same answer.
pub(super) struct LabelPair<'a> {
    /// Question key with its turn.
    pub(super) question: &'a str,
    /// Voter id of the person.
    pub(super) person: &'a str,
    /// Label of the person and of the judge.
    pub(super) labels: [usize; 2],
}

/// Pairs of labels with their frequencies.
pub(super) type LabelPairCounts = [([usize; 2], usize)];

/// Labels of every person beside the judge's.
pub(super) struct PeopleAndJudge {
    people: Vec<PersonAndJudge>,
    /// Number of questions, without their turns.
    questions: usize,
}

/// Labels of one person beside the judge's.
struct PersonAndJudge {
    /// Distinct pairs of labels.
    distinct: Vec<[usize; 2]>,
    /// Question index of each given pair, and the index of the pair in `distinct`.
    given: Vec<(usize, usize)>,
}

impl PeopleAndJudge {
    pub(super) fn new<'a>(pairs: impl Iterator<Item = LabelPair<'a>>) -> Self {
        let mut questions: BTreeMap<&str, usize> = BTreeMap::new();
        let mut people: BTreeMap<&str, Vec<(usize, [usize; 2])>> = BTreeMap::new();
        for LabelPair { question, person, labels } in pairs {
            let next = questions.len();
            let question = *questions.entry(item_of(question)).or_insert(next);
            people.entry(person).or_default().push((question, labels));
        }
        let people = people.values().map(|given| PersonAndJudge::new(given)).collect();
        Self { people, questions: questions.len() }
    }

    /// Computes the mean over the people with at least `fewest` pairs of labels and a defined kappa.
    pub(super) fn mean_kappa(
        &self,
        fewest: usize,
        kappa: impl Fn(&LabelPairCounts) -> Result<f64, Undefined> + Sync,
        bootstrap: BootstrapOptions,
    ) -> MeanKappa {
        let once = vec![1_usize; self.questions];
        let enough = self.people.iter().filter(|person| person.given.len() >= fewest);
        let with_kappa = enough.filter_map(|person| Some((person, kappa(&person.counts(&once)).ok()?)));
        let (people, kappas): (Vec<&PersonAndJudge>, Vec<f64>) = with_kappa.unzip();
        let found = mean(&kappas);
        let replicates = match found {
            Ok(_) => replicates(bootstrap, |rng| self.replicate(&people, &kappa, rng)),
            Err(_) => Vec::new(),
        };
        let uncertainty = IntervalReport::new(self.questions, found, &replicates);
        let excluded = self.people.len() - people.len();
        let MetricValue { value: kappa, undefined, .. } = found.into();
        MeanKappa { kappa, people: people.len(), excluded, fewest, undefined, uncertainty }
    }

    /// Computes the mean of a resample, without people whose kappa is undefined on the drawn questions.
    fn replicate(
        &self,
        people: &[&PersonAndJudge],
        kappa: impl Fn(&LabelPairCounts) -> Result<f64, Undefined>,
        rng: &mut ChaCha8Rng,
    ) -> Result<f64, Undefined> {
        let mut times = vec![0_usize; self.questions];
        resample_indices(self.questions, rng).into_iter().for_each(|question| times[question] += 1);
        let drawn: Vec<usize> = match people.len() {
            few if few < MIN_PEOPLE_TO_RESAMPLE => (0..few).collect(),
            enough => resample_indices(enough, rng),
        };
        let kappas = drawn.into_iter().filter_map(|person| kappa(&people[person].counts(&times)).ok());
        mean(&kappas.collect::<Vec<f64>>())
    }
}

impl PersonAndJudge {
    fn new(given: &[(usize, [usize; 2])]) -> Self {
        let distinct: BTreeSet<[usize; 2]> = given.iter().map(|&(_, labels)| labels).collect();
        let distinct: Vec<[usize; 2]> = distinct.into_iter().collect();
        let place = |labels: [usize; 2]| distinct.binary_search(&labels).unwrap_or_default();
        let given = given.iter().map(|&(question, labels)| (question, place(labels))).collect();
        Self { distinct, given }
    }

    /// Counts each pair of labels, with question `q` counted `times[q]` times.
    fn counts(&self, times: &[usize]) -> Vec<([usize; 2], usize)> {
        let mut counts: Vec<([usize; 2], usize)> = self.distinct.iter().map(|&labels| (labels, 0)).collect();
        self.given.iter().for_each(|&(question, place)| counts[place].1 += times[question]);
        counts
    }
}
