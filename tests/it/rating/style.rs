//! Style control: independent results, closed forms, edge cases and invariances.

use std::path::Path;

use langya::domain::battle::Outcome::{self, AWins, BWins, BothBad, Tie};
use langya::domain::rating::counts::comparison::ComparisonSet;
use langya::domain::rating::counts::tally::Tally;
use langya::domain::rating::intervals::sandwich::sandwich;
use langya::domain::rating::leaderboards::ranking::rank_log;
use langya::domain::rating::options::{IntervalMethod, LeaderboardOptions, Method};
use langya::domain::rating::strengths::bradley_terry::fit;
use langya::domain::rating::strengths::fit::{Fit, ModelStrength};
use langya::domain::rating::style::{FEATURES, StyleErrors, StyleOptions, StyledFit, fit_style};
use langya::domain::rating::votes::scoring::Scoring;
use langya::domain::rating::votes::scoring::TieRule;
use langya::domain::rating::votes::vote_log::{ColumnSet, Labels, StyleColumns, VoteLog};
use langya::domain::rating::{FitError, MEAN_RATING, POINTS_PER_STRENGTH};
use langya::formats::votes::{ReadOptions, read_log};

use crate::support::ratings::{golden, shared};

/// The half width of a normal interval at 95 %, in standard errors.
const Z: f64 = 1.959_963_984_540_054;

// ---------------------------------------------------------------------------------------------------- goldens

/// Reads a file with style counts and voters.
fn read(path: &Path) -> VoteLog {
    let wanted = ColumnSet { style: true, voters: true, ..ColumnSet::default() };
    read_log(&[path], wanted, &ReadOptions::default()).unwrap()
}

#[test]
fn the_simulated_log_agrees_with_the_exact_results() {
    let Some(shared) = shared() else { return };
    let log = read(&shared.join("data/synth_5000.csv"));
    let (tally, styled) = styled(&log, StyleErrors::Votes);
    let folder = shared.join("golden/synth_5000");
    let text = std::fs::read_to_string(folder.join("style.json")).unwrap();
    let exact = &serde_json::from_str::<serde_json::Value>(&text).unwrap()["unw_reg0"];
    for (place, effect) in styled.effects.iter().enumerate() {
        let wanted = |key: &str| exact[key][place].as_f64().unwrap();
        near(effect.coefficient, wanted("exact_coeffs"), 1e-6, effect.feature);
        near(effect.error.unwrap(), wanted("exact_coeff_se"), 1e-6, effect.feature);
    }
    let column = |name: &str| golden(&folder.join("style_ratings.csv"), &format!("unw_reg0_exact_{name}"));
    let (ratings, lower, upper) = (column("rating"), column("lower"), column("upper"));
    assert_eq!(ratings.len(), tally.models.len());
    for (place, model) in tally.models.iter().enumerate() {
        let rating = MEAN_RATING + POINTS_PER_STRENGTH * strength(&styled.fit, place).unwrap();
        let margin = Z * POINTS_PER_STRENGTH * styled.errors[place].unwrap();
        near(rating, ratings[&model.name], 1e-6, &model.name);
        near(rating - margin, lower[&model.name], 1e-6, &model.name);
        near(rating + margin, upper[&model.name], 1e-6, &model.name);
    }
    assert!(styled.fit.converged && styled.notes.is_empty(), "{:?}", styled.notes);
}

// ------------------------------------------------------------------------------------------------- small cases

#[track_caller]
fn near(got: f64, want: f64, tolerance: f64, what: &str) {
    assert!((got - want).abs() <= tolerance, "{what}: {got} instead of {want}");
}

fn strength(fit: &Fit, model: usize) -> Option<f64> {
    match fit.model_strengths[model] {
        ModelStrength::Rated { strength, .. } => Some(strength),
        ModelStrength::Unbounded { .. } => None,
    }
}

fn tally(log: &VoteLog) -> Tally {
    let mut comparisons = ComparisonSet::new();
    let name = |model: u32| log.models.as_slice()[model as usize].as_str();
    for ((&a, &b), &outcome) in log.a.iter().zip(&log.b).zip(&log.outcomes) {
        comparisons.record(name(a), name(b), outcome).unwrap();
    }
    comparisons.tally(Scoring::default())
}

fn styled(log: &VoteLog, errors: StyleErrors) -> (Tally, StyledFit) {
    let tally = tally(log);
    let options = StyleOptions { errors, ..StyleOptions::default() };
    let styled = fit_style(log, &tally, &fit(&tally).unwrap(), options).unwrap();
    let finite = styled.effects.iter().all(|effect| effect.coefficient.is_finite() && effect.coefficient.abs() < 1e3);
    assert!(finite && styled.fit.strengths().flatten().all(f64::is_finite), "{styled:?}");
    (tally, styled)
}

/// A vote and the counts of each feature on both sides.
type Vote = (&'static str, &'static str, Outcome, [[u32; 2]; 4]);

fn log_of(votes: impl IntoIterator<Item = Vote>) -> VoteLog {
    let (mut log, mut style) = (VoteLog::default(), StyleColumns::default());
    for (a, b, outcome, counts) in votes {
        log.push(a, b, outcome).unwrap();
        style.push(counts.map(Some));
    }
    log.style = Some(style);
    log
}

fn repeat(votes: &[(Vote, usize)]) -> Vec<Vote> {
    votes.iter().flat_map(|&(vote, times)| std::iter::repeat_n(vote, times)).collect()
}

const NONE: [u32; 2] = [0, 0];

fn length(counts: [u32; 2]) -> [[u32; 2]; 4] {
    [counts, NONE, NONE, NONE]
}

/// Three models with pseudo-random features.
#[test]
fn votes_whose_replies_were_not_counted_are_left_out_and_reported() {
    let known = log_of(uninformative_features().repeat(20));
    let mut both = known.clone();
    for &(a, b, outcome, _) in &uninformative_features() {
        both.push(a, b, outcome).unwrap();
        both.style.as_mut().unwrap().push([None; 4]);
    }
    let options = LeaderboardOptions { style: true, ..LeaderboardOptions::default() };
    let (leaderboard, expected) = (rank_log(&both, &options).unwrap(), rank_log(&known, &options).unwrap());
    assert_eq!((&leaderboard.models, &leaderboard.style), (&expected.models, &expected.style));
    let left_out = uninformative_features().len() as u64;
    assert_eq!(leaderboard.votes.excluded, [("no_text_counts".to_owned(), left_out)].into());
    assert_eq!(leaderboard.votes.read, both.len() as u64);
    let plain = rank_log(&both, &LeaderboardOptions::default()).unwrap();
    assert_eq!(plain.votes.rated, both.len() as u64, "they count where style does not matter");
}

fn uninformative_features() -> Vec<Vote> {
    let models = ["a", "b", "c"];
    let vote = |n: usize| {
        let outcome = [AWins, BWins, AWins, Tie, BWins, AWins, BothBad][n * 5 % 7];
        let count = |k: usize| u32::try_from((n * k + k) % 11).unwrap();
        let counts = [[count(7) + 1, count(3) + 1], [count(5), count(2)], [count(4), count(9)], [count(6), count(8)]];
        (models[n % 3], models[(n + 1 + n / 3 % 2) % 3], outcome, counts)
    };
    (0..120).map(vote).collect()
}

#[test]
fn two_models_and_two_lengths_have_a_closed_form() {
    // 8 votes with x = 1/2, of which a wins 6, and 6 with x = −1/2, of which a wins 2: two shares and two unknowns.
    let votes = repeat(&[
        (("a", "b", AWins, length([3, 1])), 6),
        (("a", "b", BWins, length([3, 1])), 2),
        (("a", "b", AWins, length([1, 3])), 2),
        (("a", "b", BWins, length([1, 3])), 4),
    ]);
    let (_, styled) = styled(&log_of(votes), StyleErrors::Votes);
    let mean: f64 = 0.5 * 2.0 / 14.0;
    let deviation = (0.25 - mean * mean).sqrt();
    let beta = (3_f64.ln() + 2_f64.ln()) * deviation;
    let difference = 3_f64.ln() - beta * (0.5 - mean) / deviation;
    assert_eq!(styled.effects.iter().map(|effect| effect.feature).collect::<Vec<_>>(), ["length"]);
    near(styled.effects[0].coefficient, beta, 1e-12, "β");
    near(strength(&styled.fit, 0).unwrap(), difference / 2.0, 1e-12, "θ");
    // Each share is a mean of its own, so the sandwich is the delta method on two log odds: Σ 1/(n·p·q).
    let variance: f64 = (1.0 / (8.0 * 0.75 * 0.25) + 1.0 / (6.0 * 2.0 / 9.0)) * deviation * deviation;
    near(styled.effects[0].error.unwrap(), variance.sqrt(), 1e-12, "error of β");
    assert_eq!(styled.notes.len(), 3, "headings, lists and bold are constant: {:?}", styled.notes);
}

#[test]
fn without_style_differences_the_fit_is_the_plain_one() {
    let votes = uninformative_features().into_iter().map(|(a, b, outcome, _)| (a, b, outcome, [NONE; 4]));
    let log = log_of(votes);
    let (tally, styled) = styled(&log, StyleErrors::Votes);
    let plain = fit(&tally).unwrap();
    let errors = sandwich(&tally, &plain).unwrap();
    for (model, (one, other)) in styled.errors.iter().zip(&errors).enumerate() {
        near(strength(&styled.fit, model).unwrap(), strength(&plain, model).unwrap(), 1e-12, "strength");
        near(one.unwrap(), other.unwrap(), 1e-12, "error");
    }
    near(styled.fit.log_likelihood, plain.log_likelihood, 1e-9, "log likelihood");
    assert!(styled.effects.is_empty());
    assert!(
        FEATURES.iter().all(|feature| styled.notes.iter().any(|note| note.to_string().contains(feature))),
        "{:?}",
        styled.notes
    );
}

#[test]
fn votes_that_all_equal_their_prediction_leave_errors_unknown() {
    let (shorter, longer) = (length([1, 2]), length([2, 1]));
    let ties = [("a", "b", Tie, shorter), ("a", "b", Tie, longer)].repeat(4);
    for errors in [StyleErrors::Votes, StyleErrors::Voters] {
        let mut log = log_of(ties.clone());
        if errors == StyleErrors::Voters {
            let mut voters = Labels::default();
            for voter in ["u", "v", "w", "v", "u", "w", "u", "v"] {
                voters.rows.push(voters.names.position(voter));
            }
            log.voters = Some(voters);
        }
        let (_, styled) = styled(&log, errors);
        assert_eq!(styled.errors, [None, None], "{errors:?}");
        assert!(styled.effects.iter().all(|effect| effect.error.is_none()), "{:?}", styled.effects);
    }
}

#[test]
fn a_model_whose_votes_all_equal_their_prediction_has_no_error() {
    let mut votes = uninformative_features().repeat(4);
    votes.extend([("new", "a", Tie, length([3, 5])); 6]);
    let mut log = log_of(votes);
    let mut voters = Labels::default();
    (0..log.len()).for_each(|vote| voters.rows.push(voters.names.position(&format!("voter {}", vote % 11))));
    log.voters = Some(voters);
    for errors in [StyleErrors::Votes, StyleErrors::Voters, StyleErrors::Jackknife] {
        let (tally, styled) = styled(&log, errors);
        for (model, error) in tally.models.iter().zip(&styled.errors) {
            assert_eq!(error.is_some(), model.name != "new", "{errors:?}: {} {error:?}", model.name);
        }
    }
}

#[test]
fn a_model_that_one_voter_alone_compares_with_the_rest_has_no_error_between_voters() {
    let mut votes = uninformative_features().repeat(4);
    let others = votes.len();
    votes.extend([("lone", "a", AWins, length([3, 5])), ("lone", "b", BWins, length([5, 4]))]);
    let mut log = log_of(votes);
    let mut voters = Labels::default();
    let voter = |vote: usize| if vote < others { format!("voter {}", vote % 11) } else { "voter 3".to_owned() };
    (0..log.len()).for_each(|vote| voters.rows.push(voters.names.position(&voter(vote))));
    log.voters = Some(voters);
    let (tally, styled) = styled(&log, StyleErrors::Jackknife);
    for (model, (tallied, error)) in tally.models.iter().zip(&styled.errors).enumerate() {
        assert_eq!(error.is_some(), tallied.name != "lone", "{}: {error:?}", tallied.name);
        assert_eq!(styled.single_voter.contains(&model), tallied.name == "lone", "{:?}", styled.single_voter);
    }
}

#[test]
fn the_number_of_threads_does_not_matter() {
    // Votes enough for three chunks, whose sums could be added in different orders.
    let log = log_of(uninformative_features().repeat(280));
    let on = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| styled(&log, StyleErrors::Votes).1)
    };
    let one = on(1);
    assert!(one.fit.converged, "{} iterations", one.fit.iterations);
    assert_eq!(one, on(3), "to the last bit");
}

#[test]
fn neither_side_nor_vote_order_matters() {
    let votes = uninformative_features();
    let turned = |(a, b, outcome, counts): Vote| {
        let outcome = match outcome {
            AWins => BWins,
            BWins => AWins,
            other => other,
        };
        (b, a, outcome, counts.map(|[a, b]| [b, a]))
    };
    let (_, one) = styled(&log_of(votes.clone()), StyleErrors::Votes);
    for other in [log_of(votes.iter().copied().map(turned)), log_of(votes.into_iter().rev())] {
        let (_, other) = styled(&other, StyleErrors::Votes);
        for (effect, same) in one.effects.iter().zip(&other.effects) {
            near(same.coefficient, effect.coefficient, 1e-10, effect.feature);
            near(same.error.unwrap(), effect.error.unwrap(), 1e-10, effect.feature);
        }
        for model in 0..3 {
            near(strength(&other.fit, model).unwrap(), strength(&one.fit, model).unwrap(), 1e-10, "strength");
        }
    }
}

#[test]
fn equal_weights_change_only_the_likelihood() {
    let log = log_of(uninformative_features());
    let tally = tally(&log);
    let plain = fit(&tally).unwrap();
    let of = |weights| fit_style(&log, &tally, &plain, StyleOptions { weights, ..StyleOptions::default() }).unwrap();
    let (free, heavy) = (of(None), of(Some(&[3.0; 120])));
    near(heavy.fit.log_likelihood, 3.0 * free.fit.log_likelihood, 1e-8, "log likelihood");
    for (one, other) in free.effects.iter().zip(&heavy.effects) {
        near(other.coefficient, one.coefficient, 1e-10, one.feature);
        near(other.error.unwrap(), one.error.unwrap(), 1e-10, one.feature);
    }
}

#[test]
fn a_vote_of_weight_two_counts_as_two() {
    // Every vote occurs twice, so that features have the same scale.
    let log = log_of(uninformative_features().into_iter().chain(uninformative_features()));
    let tally = tally(&log);
    let plain = fit(&tally).unwrap();
    let of = |weights: &[f64]| {
        let options = StyleOptions { weights: Some(weights), ..StyleOptions::default() };
        fit_style(&log, &tally, &plain, options).unwrap()
    };
    let uneven: Vec<f64> = (0..240).map(|vote| if vote < 120 { 2.0 } else { 0.0 }).collect();
    let (twice, two) = (of(&[1.0; 240]), of(&uneven));
    for (one, other) in twice.effects.iter().zip(&two.effects) {
        near(other.coefficient, one.coefficient, 1e-10, one.feature);
        near(other.error.unwrap(), 2_f64.sqrt() * one.error.unwrap(), 1e-10, one.feature);
    }
}

#[test]
fn voters_with_one_vote_each_give_unclustered_errors() {
    let mut log = log_of(uninformative_features());
    let (_, by_vote) = styled(&log, StyleErrors::Votes);
    let votes = log.len();
    log.voters = Some(Labels { rows: vec![Labels::NONE; votes], ..Labels::default() });
    let (_, by_voter) = styled(&log, StyleErrors::Voters);
    let number = f64::from(u32::try_from(votes).unwrap());
    let more = (number / (number - 1.0)).sqrt();
    for (one, other) in by_vote.errors.iter().zip(&by_voter.errors) {
        near(other.unwrap(), more * one.unwrap(), 1e-12, "error of a strength");
    }
    for (one, other) in by_vote.effects.iter().zip(&by_voter.effects) {
        near(other.error.unwrap(), more * one.error.unwrap(), 1e-12, one.feature);
    }
}

#[test]
fn repeating_each_voters_votes_does_not_change_clustered_errors() {
    let clustered = |times: usize| {
        let votes: Vec<Vote> = uninformative_features().into_iter().flat_map(|vote| vec![vote; times]).collect();
        let mut log = log_of(votes);
        let mut voters = Labels::default();
        for vote in 0..log.len() {
            voters.rows.push(voters.names.position(&format!("voter {}", vote / times)));
        }
        log.voters = Some(voters);
        styled(&log, StyleErrors::Voters).1
    };
    let (once, thrice) = (clustered(1), clustered(3));
    for (one, other) in once.effects.iter().zip(&thrice.effects) {
        near(other.error.unwrap(), one.error.unwrap(), 1e-10, one.feature);
    }
    for (one, other) in once.errors.iter().zip(&thrice.errors) {
        near(other.unwrap(), one.unwrap(), 1e-10, "error of a strength");
    }
}

#[test]
fn a_single_voter_gives_no_intervals_and_a_note() {
    let mut log = log_of(uninformative_features());
    let mut voters = Labels::default();
    voters.rows = vec![voters.names.position("only"); log.len()];
    log.voters = Some(voters);
    let (_, styled) = styled(&log, StyleErrors::Voters);
    assert!(styled.errors.iter().all(Option::is_none) && styled.effects.iter().all(|effect| effect.error.is_none()));
    assert!(styled.notes[0].to_string().contains("one voter's"), "{:?}", styled.notes);
}

#[test]
fn a_dependent_feature_is_left_out() {
    let votes = uninformative_features().into_iter().map(|(a, b, outcome, [tokens, headings, lists, _])| {
        (a, b, outcome, [tokens, headings, lists, headings.map(|count| 3 * count)])
    });
    let (_, styled) = styled(&log_of(votes), StyleErrors::Votes);
    assert_eq!(styled.effects.iter().map(|effect| effect.feature).collect::<Vec<_>>(), FEATURES[..3]);
    assert!(styled.notes[0].to_string().contains("bold follows from"), "{:?}", styled.notes);
}

#[test]
fn a_separating_feature_is_left_out() {
    // The reply with more headings wins; length carries little information.
    let decided = uninformative_features().into_iter().filter(|&(_, _, outcome, _)| matches!(outcome, AWins | BWins));
    let votes = decided.map(|(a, b, outcome, [tokens, ..])| {
        let headings = if outcome == AWins { [2, 1] } else { [1, 2] };
        (a, b, outcome, [tokens, headings, NONE, NONE])
    });
    let votes: Vec<Vote> = votes.collect();
    let (_, separated) = styled(&log_of(votes.clone()), StyleErrors::Votes);
    assert_eq!(separated.effects.iter().map(|effect| effect.feature).collect::<Vec<_>>(), ["length"]);
    assert!(
        separated.notes.iter().any(|note| note.to_string().starts_with("headings predicts")),
        "{:?}",
        separated.notes
    );
    let without = votes.into_iter().map(|(a, b, outcome, [tokens, ..])| (a, b, outcome, [tokens, NONE, NONE, NONE]));
    let (_, without) = styled(&log_of(without), StyleErrors::Votes);
    assert_eq!((separated.fit, separated.effects), (without.fit, without.effects));
}

#[test]
fn unbounded_models_and_components_are_the_same_as_without_style() {
    let apart = |n: usize| {
        let counts = u32::try_from(n % 5).unwrap();
        ("x", "y", if n.is_multiple_of(3) { AWins } else { BWins }, length([counts + 1, 4]))
    };
    let groups: Vec<Vote> = uninformative_features().into_iter().chain((0..60).map(apart)).collect();
    let (tally, both) = styled(&log_of(groups.clone()), StyleErrors::Votes);
    assert_eq!(both.fit.components, 2);
    let sum = |names: &[&str]| {
        let of = |name: &&str| tally.models.iter().position(|model| model.name == *name).unwrap();
        names.iter().map(|name| strength(&both.fit, of(name)).unwrap()).sum::<f64>()
    };
    near(sum(&["a", "b", "c"]), 0.0, 1e-12, "first group");
    near(sum(&["x", "y"]), 0.0, 1e-12, "second group");
    // A winner's votes change how features are scaled, and nothing else: with features that are there already, nothing.
    let winner = groups.iter().map(|&(_, b, _, counts)| ("first", if b == "y" { "y" } else { "a" }, AWins, counts));
    let with: Vec<Vote> = groups.iter().copied().chain(winner).collect();
    let (_, with) = styled(&log_of(with), StyleErrors::Votes);
    for (effect, same) in both.effects.iter().zip(&with.effects) {
        near(same.coefficient, effect.coefficient, 1e-9, effect.feature);
        near(same.error.unwrap(), effect.error.unwrap(), 1e-9, effect.feature);
    }
    assert!(
        with.fit.model_strengths.iter().filter(|strength| matches!(strength, ModelStrength::Unbounded { .. })).count()
            == 1
    );
}

#[test]
fn empty_logs_and_missing_columns_are_handled() {
    let (_, styled) = styled(&log_of([]), StyleErrors::Votes);
    assert!(styled.effects.is_empty() && styled.fit.model_strengths.is_empty());
    let mut log = log_of(uninformative_features());
    let tally = tally(&log);
    let plain = fit(&tally).unwrap();
    let options = StyleOptions { errors: StyleErrors::Voters, ..StyleOptions::default() };
    assert!(matches!(fit_style(&log, &tally, &plain, options), Err(FitError::NoVoters)));
    log.style = None;
    assert!(matches!(fit_style(&log, &tally, &plain, StyleOptions::default()), Err(FitError::NoStyle)));
}

// ---------------------------------------------------------------------------------------------- on the leaderboard

#[test]
fn a_leaderboard_with_style_shows_its_ratings_effects_and_notes() {
    let mut votes = uninformative_features();
    votes.push(("first", "a", AWins, length([2, 5])));
    let log = log_of(
        votes
            .into_iter()
            .map(|(a, b, outcome, [tokens, headings, lists, _])| (a, b, outcome, [tokens, headings, lists, NONE])),
    );
    let (tally, styled) = styled(&log, StyleErrors::Votes);
    let plain = rank_log(&log, &LeaderboardOptions::default()).unwrap();
    let leaderboard = rank_log(&log, &LeaderboardOptions { style: true, ..LeaderboardOptions::default() }).unwrap();
    for (place, model) in tally.models.iter().enumerate() {
        let line = leaderboard.models.iter().find(|line| line.model == model.name).unwrap();
        let Some(strength) = strength(&styled.fit, place) else {
            let without = plain.models.iter().find(|line| line.model == model.name).unwrap();
            assert_eq!(
                (line.unbounded, line.rating_or_limit().to_bits()),
                (without.unbounded, without.rating_or_limit().to_bits())
            );
            continue;
        };
        let error = POINTS_PER_STRENGTH * styled.errors[place].unwrap();
        near(line.rating_or_limit(), MEAN_RATING + POINTS_PER_STRENGTH * strength, 1e-9, &model.name);
        near(line.lower.unwrap(), line.rating_or_limit() - Z * error, 1e-9, "lower");
        near(line.upper.unwrap(), line.rating_or_limit() + Z * error, 1e-9, "upper");
    }
    assert_eq!(leaderboard.style.iter().map(|effect| effect.feature.as_str()).collect::<Vec<_>>(), FEATURES[..3]);
    for (shown, effect) in leaderboard.style.iter().zip(&styled.effects) {
        near(shown.coefficient, effect.coefficient, 1e-12, effect.feature);
        near(shown.upper - shown.lower, 2.0 * Z * effect.error.unwrap(), 1e-12, effect.feature);
    }
    assert!(
        leaderboard.notes.iter().any(|note| note.to_string().contains("same difference in bold")),
        "{:?}",
        leaderboard.notes
    );
}

#[test]
fn style_control_refuses_unsupported_options() {
    let log = log_of(uninformative_features());
    let styled = LeaderboardOptions { style: true, ..LeaderboardOptions::default() };
    let davidson = Scoring { ties: TieRule::Davidson, ..Scoring::default() };
    for options in [
        LeaderboardOptions { method: Method::Elo, ..styled.clone() },
        LeaderboardOptions { interval: IntervalMethod::Bootstrap, ..styled.clone() },
        LeaderboardOptions { scoring: davidson, ..styled.clone() },
    ] {
        assert!(matches!(rank_log(&log, &options), Err(FitError::StyleOptions)), "{options:?}");
    }
    let bare = VoteLog { style: None, ..log };
    assert!(matches!(rank_log(&bare, &styled), Err(FitError::NoStyle)));
}
