//! Judge models on the same pairs of answers as people: agreement with people, and consistency between both orders.
//!
//! A unit has one verdict of a judge and several judgements of people, so agreement is counted over judgements and its interval is from
//! resampled items. Both bad is a tie, as for battles. The agreement of two people on the same units is reported for comparison, as an
//! upper limit of what can be expected of a judge.

use std::collections::BTreeMap;

use serde::Serialize;

use super::item_bootstrap::RESAMPLES;
use super::judged::{JudgedUnit, UnitVerdict, by_name};
use crate::battle::Outcome;
use crate::battle_judging::agreement::Rate;
use crate::battle_judging::leaderboards::verdict_log;
use crate::battle_judging::report::{SHOWN_HASH_CHARS, position};
use crate::battle_judging::verdicts::{Judge, JudgedVote, by_judge};
use crate::rating::votes::vote_log::VoteLog;
use crate::stats::agreement::choices::Choice;
use crate::stats::agreement::kappa::cohen_of_counts;
use crate::stats::confidence::ConfidenceLevel;
use crate::stats::item_patterns::ItemPatterns;
use crate::stats::resample::{BootstrapOptions, replicates, uncertainty};
use crate::stats::{Share, Undefined};

/// Agreement of a judge with people on the units that both have judged.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct JudgeAgreement {
    /// Id of the judge.
    pub judge: String,
    /// First characters of the SHA-256 of the judge's instructions.
    pub prompt: String,
    /// Units with a readable verdict in both orders, out of those that the judge was asked about.
    pub judged: Rate,
    /// Units on which both orders agree, out of the judged ones.
    pub consistent: Rate,
    /// Disagreements between the orders in which the judge preferred the first position.
    pub first_position: Rate,
    /// Number of people's judgements that are compared with a verdict.
    pub judgements: u64,
    /// Share of these judgements that equal the verdict.
    pub agreement: Option<f64>,
    /// Bounds of [`agreement`](Self::agreement) over resampled items; `None` if resampling does not show the uncertainty, as with full
    /// agreement.
    pub agreement_interval: Option<[f64; 2]>,
    /// Cohen's kappa of these judgements and the verdicts.
    pub kappa: Option<f64>,
    /// Bounds of [`kappa`](Self::kappa) over resampled items; `None` as for the agreement.
    pub kappa_interval: Option<[f64; 2]>,
    /// Number of pairs of judgements by two people on one of these units.
    pub people_pairs: u64,
    /// Share of equal judgements among these pairs.
    pub people_agreement: Option<f64>,
}

/// Number of people's choices of the first model in the order of names, the second, and neither.
type ChoiceCounts = [u64; 3];
/// Item of each unit, with people's choices.
type PeopleByUnit = BTreeMap<u32, (u32, ChoiceCounts)>;

/// Compares each judge with the people who judged the same units.
pub(super) fn judge_agreements(
    verdicts: &[UnitVerdict],
    judged: &[&JudgedUnit],
    seed: u64,
    level: ConfidenceLevel,
) -> Vec<JudgeAgreement> {
    if verdicts.is_empty() {
        return Vec::new();
    }
    let people = people_by_unit(judged);
    let said = judged_votes(verdicts, &people);
    by_judge(&said).iter().map(|judge| report_on_judge(judge, &people, seed, level)).collect()
}

/// Converts a judge's verdicts on a campaign into votes for a fit; `None` if the judge has no verdict.
#[must_use]
pub fn unit_verdict_log(verdicts: &[UnitVerdict], judge: &str, judged: &[&JudgedUnit]) -> Option<VoteLog> {
    let said = judged_votes(verdicts, &people_by_unit(judged));
    by_judge(&said).iter().find(|found| found.name == judge).map(|found| verdict_log(&found.battles))
}

fn people_by_unit(judged: &[&JudgedUnit]) -> PeopleByUnit {
    let mut people = PeopleByUnit::new();
    for unit in judged {
        let Some(outcome) = unit.judgement.outcome() else { continue };
        let choice = match by_name(outcome, &unit.shown) {
            Outcome::AWins => 0,
            Outcome::BWins => 1,
            Outcome::Tie | Outcome::BothBad => 2,
        };
        people.entry(unit.unit).or_insert((unit.item, [0; 3])).1[choice] += 1;
    }
    people
}

/// Returns the verdicts on units that people have judged, with the most common judgement of people as the vote.
fn judged_votes(verdicts: &[UnitVerdict], people: &PeopleByUnit) -> Vec<JudgedVote> {
    let vote = |said: &UnitVerdict| {
        let (_, counts) = people.get(&said.unit)?;
        Some(JudgedVote {
            seq: i64::from(said.unit),
            models: said.models.clone(),
            outcome: majority_outcome(counts),
            turns: 1,
            language: String::new(),
            category: None,
            intent: None,
            judge: said.judge.clone(),
            prompt_sha256: said.prompt_sha256.clone(),
            game: said.game,
            status: said.status,
            parsed: said.parsed,
            created_at: said.created_at,
        })
    };
    verdicts.iter().filter_map(vote).collect()
}

/// Returns the most common judgement of people; a tie if none is.
fn majority_outcome(counts: &ChoiceCounts) -> Outcome {
    let top = counts.iter().max();
    let mut tops = (0..3).filter(|at| counts.get(*at) == top);
    match (tops.next(), tops.next()) {
        (Some(0), None) => Outcome::AWins,
        (Some(1), None) => Outcome::BWins,
        _ => Outcome::Tie,
    }
}

fn report_on_judge(judge: &Judge<'_>, people: &PeopleByUnit, seed: u64, level: ConfidenceLevel) -> JudgeAgreement {
    let bias = position(&judge.battles);
    let rate = |of, total| Rate::new(Share { of, total }, level);
    let compared = judge.battles.iter().filter_map(|unit| {
        let (item, chosen) = *people.get(&u32::try_from(unit.vote.seq).ok()?)?;
        Some(ComparedUnit { item, chosen, verdict: unit.verdict()? })
    });
    let compared: Vec<ComparedUnit> = compared.collect();
    let patterns = JudgementPatterns::new(&compared);
    let all = patterns.table(&patterns.of_items.counts());
    let drawn = replicates(BootstrapOptions { replicates: RESAMPLES, seed }, |rng| {
        let table = patterns.table(&patterns.of_items.draw(rng));
        (table.agreement(), table.kappa())
    });
    let (agreements, kappas): (Vec<_>, Vec<_>) = drawn.into_iter().unzip();
    let interval = |found: &Result<f64, Undefined>, values: &[Result<f64, Undefined>]| {
        let bounds = found.as_ref().ok().and_then(|_| uncertainty(values, level).ok())?;
        Some([bounds.lower, bounds.upper])
    };
    let pairs = pairs_of_people(&compared);
    JudgeAgreement {
        judge: judge.name.to_owned(),
        prompt: judge.prompt_sha256.chars().take(SHOWN_HASH_CHARS).collect(),
        judged: rate(bias.turns, judge.battles.len() as u64),
        consistent: rate(bias.consistent, bias.turns),
        first_position: rate(bias.first, bias.turns - bias.consistent),
        judgements: all.total(),
        agreement_interval: interval(&all.agreement(), &agreements),
        kappa_interval: interval(&all.kappa(), &kappas),
        agreement: all.agreement().ok(),
        kappa: all.kappa().ok(),
        people_pairs: pairs.total,
        people_agreement: pairs.rate().ok(),
    }
}

/// Unit with the judgements of people and the verdict of the judge.
struct ComparedUnit {
    item: u32,
    chosen: ChoiceCounts,
    verdict: Choice,
}

/// Counts pairs of judgements of the same unit.
fn pairs_of_people(compared: &[ComparedUnit]) -> Share {
    let pairs = |of: u64| of * of.saturating_sub(1) / 2;
    compared.iter().fold(Share::default(), |sum, unit| Share {
        of: sum.of + unit.chosen.iter().map(|of| pairs(*of)).sum::<u64>(),
        total: sum.total + pairs(unit.chosen.iter().sum()),
    })
}

/// Units by combination of people's judgements and verdict.
struct JudgementPatterns {
    distinct: Vec<(ChoiceCounts, Choice)>,
    of_items: ItemPatterns,
}

impl JudgementPatterns {
    fn new(compared: &[ComparedUnit]) -> Self {
        let mut places: BTreeMap<(ChoiceCounts, Choice), usize> = BTreeMap::new();
        let mut distinct = Vec::new();
        let place = |unit: &ComparedUnit| {
            let pattern = *places.entry((unit.chosen, unit.verdict)).or_insert_with(|| {
                distinct.push((unit.chosen, unit.verdict));
                distinct.len() - 1
            });
            (unit.item, pattern)
        };
        let mut units: Vec<(u32, usize)> = compared.iter().map(place).collect();
        units.sort_unstable();
        let of_items = ItemPatterns::new(units.into_iter(), distinct.len());
        Self { distinct, of_items }
    }

    /// Builds the table for this many units of each pattern.
    fn table(&self, counts: &[usize]) -> ChoiceTable {
        let mut table = ChoiceTable::default();
        for ((chosen, verdict), units) in self.distinct.iter().zip(counts) {
            for (row, of) in table.0.iter_mut().zip(chosen) {
                row[place(*verdict)] += of * *units as u64;
            }
        }
        table
    }
}

fn place(choice: Choice) -> usize {
    match choice {
        Choice::First => 0,
        Choice::Second => 1,
        Choice::Tie => 2,
    }
}

/// Contingency table of people's judgements (rows) and verdicts (columns).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct ChoiceTable([[u64; 3]; 3]);

impl ChoiceTable {
    fn total(&self) -> u64 {
        self.0.iter().flatten().sum()
    }

    fn agreement(&self) -> Result<f64, Undefined> {
        Share { of: (0..3).map(|at| self.0[at][at]).sum(), total: self.total() }.rate()
    }

    fn kappa(&self) -> Result<f64, Undefined> {
        let cells = (0..9).map(|at| ([at / 3, at % 3], self.0[at / 3][at % 3]));
        cohen_of_counts(cells).map(|found| found.kappa)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::benchmark::scores::judgement::{Game, Status};
    use crate::campaign::assignment::AssignmentKind;
    use crate::campaign::judgement::UnitJudgement;
    use crate::judging::verdict::Preference;
    use crate::stats::agreement::kappa::cohen;
    use crate::time::Timestamp;

    fn person(name: &str, unit: u32, outcome: Outcome, shown: [&str; 2]) -> JudgedUnit {
        JudgedUnit {
            annotator: name.into(),
            unit,
            item: unit,
            shown: shown.map(str::to_owned).into(),
            kind: AssignmentKind::Fresh,
            judgement: UnitJudgement::Outcome(outcome),
            answers: std::sync::Arc::default(),
            seconds: 1.0,
        }
    }

    fn games(judge: &str, unit: u32, winners: [Preference; 2]) -> [UnitVerdict; 2] {
        [0, 1].map(|game: usize| UnitVerdict {
            unit,
            models: ["x".into(), "y".into()],
            judge: judge.into(),
            prompt_sha256: "p".into(),
            game: Game::BOTH[game],
            status: Status::Ok,
            parsed: Some(winners[game]),
            created_at: Timestamp(1),
        })
    }

    #[test]
    fn agreement_is_counted_by_hand_whatever_the_sides() {
        use Outcome::{AWins, BWins, BothBad, Tie};
        use Preference::{A, B};
        let judged = [
            person("p", 0, AWins, ["x", "y"]),
            person("q", 0, AWins, ["y", "x"]),
            person("p", 1, BWins, ["x", "y"]),
            person("q", 1, BWins, ["x", "y"]),
            person("p", 2, BothBad, ["y", "x"]),
            person("q", 2, Tie, ["x", "y"]),
            person("p", 3, AWins, ["x", "y"]),
        ];
        let judged: Vec<&JudgedUnit> = judged.iter().collect();
        // x, y, inconsistent with a preference for the first position, one order only; unit 9 has no judgement of people.
        let mut verdicts = [games("j", 0, [A, B]), games("j", 1, [B, A]), games("j", 2, [A, A])].concat();
        verdicts.extend(games("j", 3, [A, B]).into_iter().take(1).chain(games("j", 9, [A, B])));
        let found = &judge_agreements(&verdicts, &judged, 1, ConfidenceLevel::default())[0];
        let counts = |rate: &Rate| (rate.of, rate.total);
        assert_eq!(
            (counts(&found.judged), counts(&found.consistent), counts(&found.first_position)),
            ((3, 4), (2, 3), (1, 1))
        );
        // p: x y tie; q: y y tie; the judge: x y tie.
        let (people, judge) = ([0, 1, 1, 1, 2, 2], [0, 0, 1, 1, 2, 2]);
        assert_eq!((found.judgements, found.agreement), (6, Some(5.0 / 6.0)));
        assert!((found.kappa.unwrap() - cohen(&people, &judge).unwrap().kappa).abs() < 1e-12, "{found:?}");
        assert_eq!((found.people_pairs, found.people_agreement), (3, Some(2.0 / 3.0)));
        let log = unit_verdict_log(&verdicts, "j", &judged).unwrap();
        assert_eq!(log.outcomes, [AWins, BWins, Tie]);
        assert!(unit_verdict_log(&verdicts, "k", &judged).is_none());
    }

    #[test]
    fn intervals_are_of_resampled_units() {
        // Ten people agree on each unit: 400 judgements, but only 40 units.
        let mut judged = Vec::new();
        for unit in 0..40 {
            let outcome = if unit % 4 == 0 { Outcome::BWins } else { Outcome::AWins };
            judged.extend((0..10).map(|at| person(&format!("p{at}"), unit, outcome, ["x", "y"])));
        }
        let judged: Vec<&JudgedUnit> = judged.iter().collect();
        let verdicts: Vec<UnitVerdict> =
            (0..40).flat_map(|unit| games("j", unit, [Preference::A, Preference::B])).collect();
        let found = &judge_agreements(&verdicts, &judged, 1, ConfidenceLevel::default())[0];
        let [lower, upper] = found.agreement_interval.unwrap();
        // ± 1.96 √(0.75 · 0.25 / 40) = ± 0.134
        assert!((upper - lower - 0.268).abs() < 0.05, "{found:?}");
        // The judge's verdict is constant, so kappa is 0 in every resample: that does not make it certain.
        assert_eq!((found.agreement, found.kappa, found.kappa_interval), (Some(0.75), Some(0.0), None));
    }
}
