//! Frame times of simulated battles: under the pacer, and under the arena's former rule without a reserve.

use std::time::Duration;

use rand::{Rng, RngExt};

use super::models::{Battle, SideArrival};
use crate::battle::Side;
use crate::battle::pacing::{ClassDraw, Ending, MIN_STEP_INTERVAL, Pace, Pacer, Release};

/// Characters of a step.
pub(super) const QUANTUM: usize = 12;

/// Release rule of the simulation.
pub(super) enum ReleaseRule {
    Paced(fn(ClassDraw) -> Pace),
    Timed(Pace),
    /// A step as soon as both sides have more than a quantum, without a reserve.
    AsItComes {
        tail: TailRule,
    },
}

/// Rule for the steps after the first end, without a reserve.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TailRule {
    OwnSpeed,
    MeanTempoAtMost,
}

/// Times of the steps.
#[derive(Debug, PartialEq)]
pub(super) struct ShownSteps {
    pub(super) steps: Vec<Duration>,
    /// The step with the first end.
    pub(super) first_end: usize,
}

impl ReleaseRule {
    pub(super) fn play(&self, battle: &Battle, rng: &mut impl Rng) -> ShownSteps {
        match self {
            Self::Paced(pace) => {
                let draw = ClassDraw { start: rng.random(), tempo: rng.random() };
                paced(Pacer::new(pace(draw), QUANTUM, rng.random()), battle)
            }
            Self::Timed(pace) => paced(Pacer::new(pace.clone(), QUANTUM, rng.random()), battle),
            Self::AsItComes { tail } => unpaced_steps(battle, *tail),
        }
    }
}

/// Plays a battle as a turn of the arena does: text is read when a step is due, and otherwise at intervals.
fn paced(mut pacer: Pacer, battle: &Battle) -> ShownSteps {
    Side::BOTH.into_iter().for_each(|side| pacer.set_usual_byte_time(side, battle.usual_byte_times[side.index()]));
    let mut shown = ShownSteps { steps: Vec::new(), first_end: usize::MAX };
    let (mut arrivals, mut at) = (battle.arrivals.iter().peekable(), Duration::ZERO);
    while !pacer.finished() {
        let mut read = false;
        while let Some((_, side, came)) = arrivals.next_if(|(when, ..)| *when <= at) {
            read = true;
            match came {
                SideArrival::Text(chars) => pacer.push(*side, &battle.letters[side.index()].repeat(*chars), at),
                SideArrival::End => pacer.end(*side, Ending::Complete, at),
            }
        }
        let released = pacer.step(at);
        if !released.is_empty() {
            if released.iter().any(|release| matches!(release, Release::Done(_))) {
                shown.first_end = shown.first_end.min(shown.steps.len());
            }
            shown.steps.push(at);
        }
        let rested = pacer.read_every().filter(|_| read).map(|rest| at + rest);
        let next = arrivals.peek().filter(|_| rested.is_none()).map(|(when, ..)| *when);
        at = [pacer.due(at), next, rested].into_iter().flatten().min().unwrap_or(at).max(at);
    }
    shown
}

fn unpaced_steps(battle: &Battle, tail: TailRule) -> ShownSteps {
    let [a, b] = Side::BOTH.map(|side| step_arrivals(battle, side));
    let first_end = a.len().min(b.len()) - 1;
    let (mut steps, mut next): (Vec<Duration>, Duration) = (Vec::new(), Duration::ZERO);
    let mut kept = MIN_STEP_INTERVAL;
    for at in 0..a.len().max(b.len()) {
        let came = a.get(at).max(b.get(at)).copied().expect("one lasts");
        let tick = came.max(next).as_nanos().div_ceil(MIN_STEP_INTERVAL.as_nanos());
        steps.push(MIN_STEP_INTERVAL * u32::try_from(tick).expect("minutes"));
        if at == first_end && at > 0 && tail == TailRule::MeanTempoAtMost {
            kept = (steps[at] - steps[0]) / u32::try_from(at).expect("few");
        }
        next = steps[at] + kept;
    }
    ShownSteps { steps, first_end }
}

/// Earliest time of each step of a side.
fn step_arrivals(battle: &Battle, side: Side) -> Vec<Duration> {
    let (mut chars, mut steps) = (0, Vec::new());
    for (at, _, came) in battle.arrivals.iter().filter(|(_, of, _)| *of == side) {
        match came {
            SideArrival::Text(more) => {
                chars += more;
                steps.resize((chars - 1) / QUANTUM, *at);
            }
            SideArrival::End => steps.push(*at),
        }
    }
    steps
}
