//! What the times of the frames tell about the sides, over real websockets. `domain/battle/pacing/simulation.rs` measures
//! the same with more models, and without a network.

use std::time::{Duration, Instant};

use futures_util::future::join_all;
use langya::infra::config::PacingMode;

use crate::support::arena::{SEED, TestArena};
use crate::support::scripted::{Scripted, Step};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

const BATTLES: u32 = 120;
/// Quanta of twelve characters.
const SHORT: usize = 16;
const LONG: usize = 40;

/// A model that writes a quantum every `gap` milliseconds at the mean, and the long reply where the prompt asks it to.
fn model(name: &'static str, gap: u64) -> Scripted {
    Scripted::new(move |messages| {
        let prompt = &messages.last().unwrap().content;
        let seed = prompt.bytes().map(u64::from).sum::<u64>() + gap;
        let mut rng = ChaCha8Rng::seed_from_u64(SEED + seed);
        let steps = if prompt.contains(name) { LONG } else { SHORT };
        let quantum =
            |_| [Step::Pause(Duration::from_millis(rng.random_range(0..=2 * gap))), Step::Say("twelve chars".into())];
        (0..steps).flat_map(quantum).collect()
    })
}

/// Gaps after the first end and around it, from the client's clock: mean, spread, longest, and the last one before the end.
fn features(times: &[(Instant, bool)]) -> [f64; 4] {
    let gaps: Vec<(f64, bool)> =
        times.windows(2).map(|pair| ((pair[1].0 - pair[0].0).as_secs_f64(), pair[1].1)).collect();
    let of = |ended| gaps.iter().filter(move |gap| gap.1 == ended && gap.0 > 0.005).map(|gap| gap.0);
    let count: f64 = of(true).map(|_| 1.0).sum();
    let mean = of(true).sum::<f64>() / count;
    let spread = (of(true).map(|gap| (gap - mean).powi(2)).sum::<f64>() / count).sqrt();
    [mean, spread, of(true).fold(0.0, f64::max), of(false).next_back().unwrap_or_default()]
}

/// A battle's features, and whether the slow model wrote the longer reply.
async fn play(arena: &TestArena, number: u32) -> ([f64; 4], bool) {
    let slow_is_longer = number.is_multiple_of(2);
    let mut visitor = arena.visitor().await;
    visitor.ask(&format!("{number}: {}", if slow_is_longer { "slow" } else { "quick" })).await;
    let (mut times, mut ended) = (Vec::new(), false);
    loop {
        let frame = visitor.next().await;
        match frame["type"].as_str() {
            Some("delta") => times.push((Instant::now(), ended)),
            Some("done") => ended = true,
            Some("ready") => return (features(&times), slow_is_longer),
            _ => {}
        }
    }
}

fn real(count: usize) -> f64 {
    f64::from(u32::try_from(count).unwrap())
}

/// The share of the second half that the best threshold of the first half gets right.
fn told(battles: &[([f64; 4], bool)]) -> f64 {
    let (train, test) = battles.split_at(battles.len() / 2);
    let right = |of: &[([f64; 4], bool)], feature: usize, threshold: f64, above: bool| {
        let right = of.iter().filter(|(row, label)| ((row[feature] > threshold) == above) == *label).count();
        real(right) / real(of.len())
    };
    let rules = (0..4).flat_map(|feature| {
        train.iter().flat_map(move |(row, _)| [true, false].map(|above| (feature, row[feature], above)))
    });
    let best = rules
        .max_by(|one, other| right(train, one.0, one.1, one.2).total_cmp(&right(train, other.0, other.1, other.2)));
    let (feature, threshold, above) = best.unwrap();
    right(test, feature, threshold, above)
}

async fn told_under(pacing: PacingMode) -> f64 {
    let (slow, quick) = (model("slow", 60), model("quick", 5));
    let arena = TestArena::start_with(&[("slow", &slow), ("quick", &quick)], |settings| {
        settings.battle.pacing = pacing;
        settings.battle.pace_chars_per_second = 240;
        settings.battle.reserve_ms = 400;
        settings.battle.start_classes_ms = vec![1_000, 2_000];
        settings.battle.tempo_classes = vec![160, 120];
    })
    .await;
    let battles = join_all((0..BATTLES).map(|number| play(&arena, number))).await;
    let told = told(&battles);
    println!("{pacing:?}: {told}");
    told
}

#[actix_web::test]
#[ignore = "slow: tests/run runs it"]
async fn the_times_of_the_frames_do_not_tell_which_side_is_slower() {
    let three_sigma = 3.0 * (0.25 / f64::from(BATTLES / 2)).sqrt();
    for pacing in [PacingMode::Common, PacingMode::Classes, PacingMode::Whole] {
        let told = told_under(pacing).await;
        assert!(told <= 0.5 + three_sigma, "{pacing:?}: {told}");
    }
    // The same look at the frames sees speeds where they show.
    let told = told_under(PacingMode::Raw).await;
    assert!(told > 0.5 + three_sigma, "raw: {told}");
}
