//! What the times of the frames reveal about the sides, over real websockets. `domain/battle/pacing/simulation.rs` measures
//! the same with more models, and without a network.

use std::time::{Duration, Instant};

use futures_util::stream::{self, StreamExt};
use langya::infra::config::PacingMode;
use tokio::time::{MissedTickBehavior, interval};

use crate::support::arena::{SEED, TestArena};
use crate::support::scripted::{Scripted, Step};
use crate::support::size;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Battles of each pacing. A third of them trains.
const BATTLES: usize = 360;
/// Visitors come one by one, so that the load is the same from the beginning of a battle to its end. Where all begin at once, tokens come
/// late at the beginning and in time later on a busy machine: then the rest that a model really writes differs from one that is drawn
/// from its beginning, and reveals which it is.
const EVERY: Duration = Duration::from_millis(80);
/// Battles under way at most. A machine that is slower than the visitors come takes longer, and its load is still the same all the time.
const AT_ONCE: usize = 120;
/// Tokens of four characters, of which three are a quantum.
const TOKEN: &str = "four";
const SHORT: [usize; 4] = [5, 9, 48, 48];
const LONG: std::ops::Range<usize> = 80..120;

fn rng(seed: u64, number: u64) -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(seed * 10_000 + number)
}

/// A model that writes a token every `gap` milliseconds at the mean, and the long reply where the prompt asks it to.
fn model(name: &'static str, gap: u64, seed: u64) -> Scripted {
    Scripted::new(move |messages| {
        let prompt = &messages.last().unwrap().content;
        let number = prompt.split(':').next().unwrap().parse().unwrap();
        let mut lengths = rng(seed, number);
        let (short, long) = (SHORT[lengths.random_range(0..SHORT.len())], lengths.random_range(LONG));
        let mut rng = rng(seed + 1_000 * gap, number);
        let token = |_| [Step::Pause(Duration::from_millis(rng.random_range(0..=2 * gap))), Step::Say(TOKEN.into())];
        (0..if prompt.contains(name) { long } else { short }).flat_map(token).collect()
    })
}

/// What the client's clock shows.
const FEATURES: usize = 6;

/// Gaps after the first end and around it: mean, spread, longest, number, and the last one before the end; and the wait.
fn features(asked: Instant, times: &[(Instant, bool)]) -> [f64; FEATURES] {
    let gaps: Vec<(f64, bool)> =
        times.windows(2).map(|pair| ((pair[1].0 - pair[0].0).as_secs_f64(), pair[1].1)).collect();
    let of = |ended| gaps.iter().filter(move |gap| gap.1 == ended && gap.0 > 0.005).map(|gap| gap.0);
    let count: f64 = of(true).map(|_| 1.0).sum();
    let mean = of(true).sum::<f64>() / count;
    let spread = (of(true).map(|gap| (gap - mean).powi(2)).sum::<f64>() / count).sqrt();
    let (longest, last) = (of(true).fold(0.0, f64::max), of(false).next_back().unwrap_or_default());
    [mean, spread, longest, count, last, (times[0].0 - asked).as_secs_f64()]
}

/// A battle's features, and whether the slow model wrote the longer reply.
async fn play(arena: &TestArena, number: u32) -> ([f64; FEATURES], bool) {
    let slow_is_longer = number.is_multiple_of(2);
    let mut visitor = arena.visitor().await;
    let asked = Instant::now();
    visitor.ask(&format!("{number}: {}", if slow_is_longer { "slow" } else { "quick" })).await;
    let (mut times, mut ended) = (Vec::new(), false);
    loop {
        let frame = visitor.next().await;
        match frame["type"].as_str() {
            Some("delta") => times.push((Instant::now(), ended)),
            Some("done") => ended = true,
            Some("ready") => return (features(asked, &times), slow_is_longer),
            _ => {}
        }
    }
}

/// Of the battles after the first third, the share that the best threshold of the first third gets right, and how many they are.
fn correct_guesses(battles: &[([f64; FEATURES], bool)]) -> (f64, f64) {
    let (train, test) = battles.split_at(battles.len() / 3);
    let right = |of: &[([f64; FEATURES], bool)], feature: usize, threshold: f64, above: bool| {
        u32::try_from(of.iter().filter(|(row, label)| ((row[feature] > threshold) == above) == *label).count()).unwrap()
    };
    let rules = (0..FEATURES).flat_map(|feature| {
        train.iter().flat_map(move |(row, _)| [true, false].map(|above| (feature, row[feature], above)))
    });
    let (feature, threshold, above) = rules.max_by_key(|rule| right(train, rule.0, rule.1, rule.2)).unwrap();
    let tests = f64::from(u32::try_from(test.len()).unwrap());
    (f64::from(right(test, feature, threshold, above)) / tests, tests)
}

/// The share of right guesses, and what chance stays below: three standard deviations.
async fn guesses_under(pacing: PacingMode, battles: usize) -> (f64, f64) {
    let (slow, quick) = (model("slow", 34, SEED), model("quick", 3, SEED));
    let arena = TestArena::start_with(&[("slow", &slow), ("quick", &quick)], |settings| {
        settings.battle.pacing = pacing;
        settings.battle.pace_chars_per_second = 240;
        settings.battle.reserve_ms = 400;
        settings.battle.start_classes_ms = vec![1_000, 2_000];
        settings.battle.tempo_classes = vec![160, 60];
    })
    .await;
    let mut arrivals = interval(EVERY);
    arrivals.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let arena = &arena;
    let visitors = stream::unfold((arrivals, 0..battles), move |(mut arrivals, mut numbers)| async move {
        let number = u32::try_from(numbers.next()?).unwrap();
        arrivals.tick().await;
        Some((play(arena, number), (arrivals, numbers)))
    });
    let (told, tests) = correct_guesses(&visitors.buffered(AT_ONCE).collect::<Vec<_>>().await);
    println!("{pacing:?}: {told} of {tests}");
    (told, 0.5 + 3.0 * (0.25 / tests).sqrt())
}

/// By chance a threshold gets 60 % of 240 battles right in one run of 800, so one of three pacings in one run of 280. The long form has
/// three times as many battles.
#[actix_web::test]
#[ignore = "slow: tests/run runs it"]
async fn the_times_of_the_frames_do_not_tell_which_side_is_slower() {
    for pacing in [PacingMode::Common, PacingMode::Classes, PacingMode::Whole] {
        let (told, limit) = guesses_under(pacing, size(BATTLES, 3 * BATTLES)).await;
        assert!(told <= limit, "{pacing:?}: {told}");
    }
    // The same look at the frames sees speeds where they show.
    let (told, limit) = guesses_under(PacingMode::Raw, BATTLES / 2).await;
    assert!(told > limit, "raw: {told}");
}
