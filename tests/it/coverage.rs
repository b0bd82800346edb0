//! Whether intervals hold what they promise: over 300 simulated arenas, a 95 % interval covers the truth 93 to 97 times
//! in a hundred. And whether a simulation is what it says.

use langya::battle::Outcome;
use langya::rating::bradley_terry::{Standing, fit};
use langya::rating::comparison::ComparisonSet;
use langya::rating::scoring::Scoring;
use langya::rating::simulate::{PairingPolicy, Simulation, SimulationError, SimulationOptions};
use langya::rating::style::{StyleErrors, StyleOptions, fit_style};
use langya::rating::tally::Tally;
use langya::rating::vote_log::{Labels, StyleColumns, VoteLog};
use langya::services::simulation::{SimulationFormat, write_truth, write_votes};

/// The half width of a normal interval at 95 %, in standard errors.
const Z: f64 = 1.959_963_984_540_054;
const ARENAS: u64 = 300;

fn log_of(simulation: &mut Simulation, votes: usize) -> VoteLog {
    let names: Vec<String> = simulation.models().iter().map(|model| model.name.clone()).collect();
    let (mut log, mut style, mut voters) = (VoteLog::default(), StyleColumns::default(), Labels::default());
    for _ in 0..votes {
        let vote = simulation.vote();
        log.push(&names[vote.a], &names[vote.b], vote.outcome).unwrap();
        let [tokens, headings, lists, bold] = vote.counts;
        style.tokens.push(tokens);
        style.headings.push(headings);
        style.lists.push(lists);
        style.bold.push(bold);
        voters.rows.push(voters.names.position(&vote.voter.to_string()));
    }
    (log.style, log.voters) = (Some(style), Some(voters));
    log
}

/// The same log with nothing to see in it.
fn plain_looks(mut log: VoteLog) -> VoteLog {
    let none = vec![[0, 0]; log.len()];
    log.style = Some(StyleColumns { tokens: none.clone(), headings: none.clone(), lists: none.clone(), bold: none });
    log
}

fn tally(log: &VoteLog) -> Tally {
    let mut comparisons = ComparisonSet::new();
    let name = |model: u32| log.models.as_slice()[model as usize].as_str();
    for ((&a, &b), &outcome) in log.a.iter().zip(&log.b).zip(&log.outcomes) {
        comparisons.record(name(a), name(b), outcome).unwrap();
    }
    comparisons.tally(Scoring::default())
}

/// How many intervals there were, and how many held the truth.
#[derive(Debug, Default)]
struct Coverage {
    all: u32,
    covering: u32,
}

impl Coverage {
    fn count(&mut self, estimate: f64, error: f64, truth: f64) {
        self.all += 1;
        self.covering += u32::from((estimate - truth).abs() <= Z * error);
    }

    fn share(&self) -> f64 {
        f64::from(self.covering) / f64::from(self.all)
    }

    #[track_caller]
    fn holds(&self) {
        assert!((0.93..=0.97).contains(&self.share()), "{:.4} of {} intervals cover the truth", self.share(), self.all);
    }
}

/// Coverage of strengths and of effects over arenas with seeds 1 to 300.
fn coverage(options: &SimulationOptions, votes: usize, errors: StyleErrors, with_style: bool) -> [Coverage; 2] {
    let [mut strengths, mut effects] = [Coverage::default(), Coverage::default()];
    for seed in 1..=ARENAS {
        let mut simulation = Simulation::new(SimulationOptions { seed, ..options.clone() }).unwrap();
        let log = log_of(&mut simulation, votes);
        let log = if with_style { log } else { plain_looks(log) };
        let tally = tally(&log);
        let styled =
            fit_style(&log, &tally, &fit(&tally).unwrap(), StyleOptions { errors, ..StyleOptions::default() }).unwrap();
        assert_eq!(tally.models.len(), simulation.models().len(), "every model has votes; seed {seed}");
        for (place, model) in simulation.models().iter().enumerate() {
            let Standing::Rated { strength, .. } = styled.fit.standings[place] else {
                panic!("unbounded; seed {seed}")
            };
            strengths.count(strength, styled.errors[place].unwrap(), model.strength);
        }
        for (effect, truth) in styled.effects.iter().zip(options.style) {
            effects.count(effect.coefficient, effect.error.unwrap(), truth);
        }
    }
    [strengths, effects]
}

fn small() -> SimulationOptions {
    SimulationOptions { models: 8, spread: 0.7, ties: 0.15, both_bad: 0.05, ..SimulationOptions::default() }
}

#[test]
fn sandwich_intervals_cover_the_truth() {
    coverage(&small(), 400, StyleErrors::Votes, false)[0].holds();
}

#[test]
fn intervals_under_style_control_cover_the_truth() {
    let options = SimulationOptions { models: 5, style: [0.5, 0.2, -0.3, 0.0], ..small() };
    let [strengths, effects] = coverage(&options, 400, StyleErrors::Votes, true);
    strengths.holds();
    effects.holds();
}

#[test]
fn where_votes_of_a_voter_hang_together_only_clustered_intervals_cover_the_truth() {
    let options = SimulationOptions { models: 5, voters: 60, voter_spread: 0.5, ..small() };
    coverage(&options, 600, StyleErrors::Voters, false)[0].holds();
    let plain = coverage(&options, 600, StyleErrors::Votes, false)[0].share();
    assert!(plain < 0.9, "votes taken for independent ones seem surer than they are: {plain}");
}

// -------------------------------------------------------------------------------------------- the simulation itself

fn share(votes: u32, of: usize) -> f64 {
    f64::from(votes) / f64::from(u32::try_from(of).unwrap())
}

#[test]
fn outcomes_have_the_shares_asked_for_and_strengths_stay_true() {
    let options = SimulationOptions {
        models: 2,
        spread: 1.5,
        ties: 0.2,
        both_bad: 0.1,
        voter_spread: 0.3,
        ..SimulationOptions::default()
    };
    let mut simulation = Simulation::new(options).unwrap();
    let d = simulation.models()[0].strength - simulation.models()[1].strength;
    let (mut points, mut ties, mut both_bad, votes) = (0.0, 0, 0, 40_000);
    for _ in 0..votes {
        let vote = simulation.vote();
        let points_a = vote.outcome.points_a();
        points += if vote.a == 0 { points_a } else { 1.0 - points_a };
        ties += u32::from(vote.outcome == Outcome::Tie);
        both_bad += u32::from(vote.outcome == Outcome::BothBad);
    }
    assert!((share(ties, votes) - 0.2).abs() < 0.01, "{ties}");
    assert!((share(both_bad, votes) - 0.1).abs() < 0.01, "{both_bad}");
    let mean = points / f64::from(u32::try_from(votes).unwrap());
    assert!((mean - 1.0 / (1.0 + (-d).exp())).abs() < 0.015, "{mean} at {d}");
}

#[test]
fn one_voter_agrees_with_itself_more_than_with_others() {
    let options = SimulationOptions { models: 2, voters: 50, spread: 0.0, voter_spread: 0.6, ..small() };
    let mut simulation = Simulation::new(SimulationOptions { ties: 0.0, both_bad: 0.0, ..options }).unwrap();
    let mut for_first = vec![(0_u32, 0_u32); 50];
    for _ in 0..10_000 {
        let vote = simulation.vote();
        let first_won = (vote.outcome == Outcome::AWins) == (vote.a == 0);
        let (won, all) = &mut for_first[vote.voter as usize];
        (*won, *all) = (*won + u32::from(first_won), *all + 1);
    }
    let shares = for_first.iter().map(|&(won, all)| f64::from(won) / f64::from(all));
    let spread = shares.map(|share| (share - 0.5).powi(2)).sum::<f64>() / 50.0;
    // For two normal numbers with correlation ρ, P(both below 0) = 1/4 + asin(ρ)/2π; so the shares vary by asin(ρ)/2π.
    let expected = 0.6_f64.asin() / std::f64::consts::TAU;
    assert!((spread - expected).abs() < 0.04, "{spread} instead of {expected}");
}

#[test]
fn pairs_come_as_often_as_their_probability_says() {
    for pairing in [PairingPolicy::Uniform, PairingPolicy::Zipf, PairingPolicy::Close] {
        let mut simulation = Simulation::new(SimulationOptions { models: 4, pairing, ..small() }).unwrap();
        let mut met = std::collections::BTreeMap::new();
        for _ in 0..20_000 {
            let vote = simulation.vote();
            let (times, probability) = met.entry((vote.a.min(vote.b), vote.a.max(vote.b))).or_insert((0, 0.0));
            (*times, *probability) = (*times + 1, vote.pair_probability);
        }
        assert_eq!(met.len(), 6);
        let total: f64 = met.values().map(|&(_, probability)| probability).sum();
        assert!((total - 1.0).abs() < 1e-12, "{total}");
        for (pair, (times, probability)) in met {
            assert!((share(times, 20_000) - probability).abs() < 0.015, "{pairing:?} {pair:?}: {times}, {probability}");
        }
    }
}

fn bytes(seed: u64, format: SimulationFormat) -> String {
    let mut simulation = Simulation::new(SimulationOptions { seed, ..small() }).unwrap();
    let mut out = Vec::new();
    write_votes(&mut simulation, 200, "uniform", format, &mut out, |_| {}).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn a_seed_gives_the_same_bytes_and_another_seed_others() {
    for format in [SimulationFormat::Csv, SimulationFormat::Jsonl] {
        assert_eq!(bytes(5, format), bytes(5, format));
        assert_ne!(bytes(5, format), bytes(6, format));
    }
}

#[test]
fn the_file_has_the_columns_of_the_log() {
    let text = bytes(1, SimulationFormat::Csv);
    let mut lines = text.lines();
    insta::assert_snapshot!(lines.next().unwrap(), @"seq,model_a,model_b,winner,judge,turn,anony,tstamp,tokens_a,tokens_b,headings_a,headings_b,lists_a,lists_b,bold_a,bold_b,pairing_policy,pair_probability,rated");
    assert_eq!(lines.count(), 200);
    let text = bytes(1, SimulationFormat::Jsonl);
    let row: serde_json::Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    assert_eq!((row["seq"].as_u64(), row["rated"].as_bool()), (Some(1), Some(true)));
    for count in ["header_count_a", "list_count_b", "bold_count_a"] {
        assert!(row["conv_metadata"][count].is_object(), "{row}");
    }
    assert_eq!(text.lines().count(), 200);
}

#[test]
fn the_truth_is_written_best_first() {
    let simulation = Simulation::new(small()).unwrap();
    let mut out = Vec::new();
    write_truth(simulation.models(), &mut out).unwrap();
    let rows: Vec<(String, f64, f64)> =
        csv::Reader::from_reader(out.as_slice()).deserialize().collect::<Result<_, _>>().unwrap();
    assert_eq!(rows.len(), 8);
    assert!(rows.is_sorted_by(|x, y| x.1 >= y.1));
    assert!(rows.iter().all(|(_, strength, rating)| (rating - 1000.0 - 400.0 / 10_f64.ln() * strength).abs() < 1e-9));
}

#[test]
fn what_cannot_be_simulated_is_refused() {
    let refuse = |options: SimulationOptions| Simulation::new(options).unwrap_err();
    assert_eq!(refuse(SimulationOptions { models: 1, ..small() }), SimulationError::Models(1));
    assert_eq!(refuse(SimulationOptions { voters: 0, ..small() }), SimulationError::NoVoters);
    assert!(matches!(refuse(SimulationOptions { ties: 1.0, ..small() }), SimulationError::Share { .. }));
    assert!(matches!(refuse(SimulationOptions { spread: f64::NAN, ..small() }), SimulationError::NotFinite { .. }));
    let far = SimulationOptions { ties: 0.4, spread: 6.0, ..small() };
    assert!(matches!(refuse(far), SimulationError::TooManyTies { .. }));
}
