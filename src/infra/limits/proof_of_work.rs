//! Proof of work before a battle while many battles come from one network or overall: signed challenges that no instance has to store, and
//! solutions that count once.
//!
//! A challenge is the text `EXPIRES.PUZZLES.BITS.NUMBER.SEED`; its seed is the signature of the rest and of the visitor with the session
//! key, so every instance can verify it, and no visitor can use another visitor's.

use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{Caller, RateLimits, SingleUse};
use crate::config::CurrentSettings;
use crate::domain::access::proof_of_work::{self, Puzzles};
use crate::metrics;
use crate::rng::SharedRng;
use crate::sessions::Sessions;
use crate::time::clock::Clock;

/// Lifetime of a challenge: longer than any client needs, and short enough to remember used solutions.
const CHALLENGE_LIFETIME: Duration = Duration::from_secs(120);
/// Maximum clock difference between instances.
const CLOCK_SKEW: Duration = Duration::from_secs(30);
/// Hexadecimal digits of a seed: 128 bits of the signature.
const SEED_DIGITS: usize = 32;

/// Challenge that a visitor must solve.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Challenge {
    /// The text to send back.
    pub challenge: String,
    /// Prefix of the puzzles' input.
    pub seed: String,
    /// Number of puzzles.
    pub puzzles: u32,
    /// Leading zero bits of each solution.
    pub bits: u32,
    /// Seconds until it expires.
    pub expires_in: u64,
}

/// Solution of a challenge.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Solution {
    /// Text of the challenge.
    pub challenge: String,
    /// A number for each puzzle.
    pub numbers: Vec<u64>,
}

/// Reason why a battle may not begin yet.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{reason}: solve the puzzles of \"proof\" and send the message again with the solution")]
pub struct ProofRequired {
    /// The problem with the solution.
    pub reason: ProofProblem,
    /// Challenge to solve.
    pub challenge: Challenge,
}

/// Problem with a solution.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ProofProblem {
    /// There is no solution.
    #[error("many battles are being started, so a little computation is asked for first")]
    Missing,
    /// The solution is wrong, or its challenge is expired, of another visitor or of another arena.
    #[error("this solution is wrong, expired or another visitor's")]
    Invalid,
    /// The solution was already used.
    #[error("this solution was used already")]
    Used,
}

/// A correct solution that is not yet used; `None` if none was required.
#[must_use = "a solution counts once: `Proofs::spend` it"]
pub struct CheckedSolution(Option<String>);

/// Issues challenges and verifies solutions.
pub struct Proofs {
    sessions: Arc<Sessions>,
    limits: Arc<RateLimits>,
    settings: CurrentSettings,
    rng: Arc<SharedRng>,
    clock: Arc<dyn Clock>,
    used: SingleUse,
}

/// Dependencies of [`Proofs`].
pub struct ProofParts {
    /// Sessions whose key signs challenges.
    pub sessions: Arc<Sessions>,
    /// Rate limits that measure the pressure.
    pub limits: Arc<RateLimits>,
    /// Settings with the threshold.
    pub settings: CurrentSettings,
    /// Random number generator.
    pub rng: Arc<SharedRng>,
    /// The time of day.
    pub clock: Arc<dyn Clock>,
    /// Store of used solutions.
    pub used: SingleUse,
}

impl Proofs {
    /// Creates the verifier.
    #[must_use]
    pub fn new(parts: ProofParts) -> Self {
        let ProofParts { sessions, limits, settings, rng, clock, used } = parts;
        Self { sessions, limits, settings, rng, clock, used }
    }

    /// Checks that this visitor may begin a battle: without pressure everyone may. Does not use the solution up.
    ///
    /// # Errors
    /// [`ProofRequired`], with a challenge.
    pub fn check(&self, caller: &Caller, solution: Option<&Solution>) -> Result<CheckedSolution, ProofRequired> {
        let pressure = self.limits.used_turn_share(caller);
        let Some(puzzles) = proof_of_work::required_work(pressure, self.settings.now().limits.proof_above) else {
            return Ok(CheckedSolution(None));
        };
        match solution {
            None => Err(self.refusal(caller, puzzles, ProofProblem::Missing)),
            Some(solution) if self.is_valid_solution(caller, solution) => {
                Ok(CheckedSolution(Some(solution.challenge.clone())))
            }
            Some(_) => Err(self.refusal(caller, puzzles, ProofProblem::Invalid)),
        }
    }

    /// Marks a solution as used.
    ///
    /// # Errors
    /// [`ProofRequired`] if it was used before, on any instance.
    pub async fn spend(&self, caller: &Caller, checked: CheckedSolution) -> Result<(), ProofRequired> {
        let Some(challenge) = checked.0 else { return Ok(()) };
        if self.used.claim(&challenge, CHALLENGE_LIFETIME + 2 * CLOCK_SKEW).await {
            return Ok(());
        }
        let pressure = self.limits.used_turn_share(caller).max(f64::MIN_POSITIVE);
        let puzzles = proof_of_work::required_work(pressure, 0.0);
        let puzzles = puzzles.expect("there is some pressure above none");
        Err(self.refusal(caller, puzzles, ProofProblem::Used))
    }

    fn refusal(&self, caller: &Caller, puzzles: Puzzles, reason: ProofProblem) -> ProofRequired {
        metrics::refused("turns", reason.as_str());
        ProofRequired { reason, challenge: self.issue(caller, puzzles) }
    }

    fn issue(&self, caller: &Caller, puzzles: Puzzles) -> Challenge {
        let expires = self.now() + CHALLENGE_LIFETIME.as_secs();
        let number = self.rng.token();
        let signed = format!("{expires}.{}.{}.{number}", puzzles.count, puzzles.bits);
        let seed = self.seed(caller, &signed);
        Challenge {
            challenge: format!("{signed}.{seed}"),
            seed,
            puzzles: puzzles.count,
            bits: puzzles.bits,
            expires_in: CHALLENGE_LIFETIME.as_secs(),
        }
    }

    fn is_valid_solution(&self, caller: &Caller, solution: &Solution) -> bool {
        let Some((signed, seed)) = solution.challenge.rsplit_once('.') else { return false };
        // A seed is public to the visitor that received it, and useless to others.
        if seed != self.seed(caller, signed) {
            return false;
        }
        let Some((expires, puzzles)) = read_challenge(signed) else { return false };
        self.now() < expires + CLOCK_SKEW.as_secs() && proof_of_work::is_solved(seed, puzzles, &solution.numbers)
    }

    fn seed(&self, caller: &Caller, signed: &str) -> String {
        let mut signature = self.sessions.signature("proof", &format!("{} {signed}", caller.visitor));
        signature.truncate(SEED_DIGITS);
        signature
    }

    /// Returns seconds since 1970.
    fn now(&self) -> u64 {
        u64::try_from(self.clock.now().0 / 1_000).unwrap_or(0)
    }
}

impl ProofProblem {
    /// Returns the name in metrics.
    fn as_str(self) -> &'static str {
        match self {
            Self::Missing => "proof_required",
            Self::Invalid => "proof_invalid",
            Self::Used => "proof_used",
        }
    }
}

/// Parses the expiry time and the puzzles.
fn read_challenge(signed: &str) -> Option<(u64, Puzzles)> {
    let mut parts = signed.split('.');
    let expires = parts.next()?.parse().ok()?;
    let puzzles = Puzzles { count: parts.next()?.parse().ok()?, bits: parts.next()?.parse().ok()? };
    Some((expires, puzzles))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{LimitSettings, Settings, WindowLimits};
    use crate::domain::battle::VisitorId;
    use crate::domain::time::Timestamp;
    use parking_lot::Mutex;

    struct SetClock(Mutex<i64>);

    impl Clock for SetClock {
        fn now(&self) -> Timestamp {
            Timestamp(*self.0.lock())
        }
    }

    struct Under {
        proofs: Proofs,
        limits: Arc<RateLimits>,
        clock: Arc<SetClock>,
    }

    /// Creates an arena with two turns a minute for each network.
    fn arena(key: &str) -> Under {
        let turns_per_address = WindowLimits::new(2, 0, 0);
        let limits = LimitSettings { turns_per_address, proof_above: 0.4, ..LimitSettings::default() };
        let settings = CurrentSettings::new(Settings { limits, ..Settings::default() });
        let limits = Arc::new(RateLimits::new(settings.clone(), None));
        let (rng, clock) = (Arc::new(SharedRng::seeded(7)), Arc::new(SetClock(Mutex::new(1_000_000))));
        let sessions = Arc::new(Sessions::with_key(key, Arc::clone(&rng)));
        let used = SingleUse::new("proof", None);
        let proofs = ProofParts { sessions, limits: Arc::clone(&limits), settings, rng, clock: clock.clone(), used };
        Under { proofs: Proofs::new(proofs), limits, clock }
    }

    fn caller(visitor: &str) -> Caller {
        Caller { visitor: VisitorId::new(visitor), network: Some("home".into()) }
    }

    fn solved(required: &ProofRequired) -> Solution {
        let Challenge { challenge, seed, puzzles, bits, .. } = required.challenge.clone();
        Solution { challenge, numbers: proof_of_work::solve(&seed, Puzzles { count: puzzles, bits }) }
    }

    async fn under_pressure(key: &str) -> Under {
        let arena = arena(key);
        let _ = arena.limits.begin_turn(&caller("somebody")).await.unwrap();
        arena
    }

    #[tokio::test(start_paused = true)]
    async fn nobody_is_asked_for_anything_before_a_network_is_busy_or_after_it_has_calmed_down() {
        let arena = arena("key");
        assert!(arena.proofs.check(&caller("ann"), None).is_ok());
        let _ = arena.limits.begin_turn(&caller("ben")).await.unwrap();
        let asked = arena.proofs.check(&caller("ann"), None).map(drop).unwrap_err();
        assert_eq!((asked.reason, asked.challenge.puzzles), (ProofProblem::Missing, 16));
        let elsewhere = Caller { network: Some("elsewhere".into()), ..caller("ann") };
        assert!(arena.proofs.check(&elsewhere, None).is_ok(), "another network");
        tokio::time::advance(Duration::from_secs(30)).await;
        assert!(arena.proofs.check(&caller("ann"), None).is_ok(), "it came back");
    }

    #[tokio::test(start_paused = true)]
    async fn a_solution_counts_once_for_its_visitor_until_it_expires() {
        let arena = under_pressure("key").await;
        let ann = caller("ann");
        let solution = solved(&arena.proofs.check(&ann, None).map(drop).unwrap_err());
        let checked = arena.proofs.check(&ann, Some(&solution)).unwrap();
        let again = arena.proofs.check(&ann, Some(&solution)).unwrap();
        assert!(arena.proofs.spend(&ann, checked).await.is_ok());
        assert_eq!(arena.proofs.spend(&ann, again).await.unwrap_err().reason, ProofProblem::Used);

        let stolen = arena.proofs.check(&caller("ben"), Some(&solution)).map(drop).unwrap_err();
        assert_eq!(stolen.reason, ProofProblem::Invalid);
        let other_arena = under_pressure("another key").await;
        assert!(other_arena.proofs.check(&ann, Some(&solution)).is_err());
        let fresh = solved(&stolen);
        *arena.clock.0.lock() += 151_000;
        assert!(arena.proofs.check(&caller("ben"), Some(&fresh)).is_err(), "it has expired");
        *arena.clock.0.lock() -= 2_000;
        assert!(arena.proofs.check(&caller("ben"), Some(&fresh)).is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn nothing_that_was_altered_is_a_solution() {
        let arena = under_pressure("key").await;
        let ann = caller("ann");
        let good = solved(&arena.proofs.check(&ann, None).map(drop).unwrap_err());
        let parts: Vec<&str> = good.challenge.split('.').collect();
        let [expires, count, bits, number, seed] = parts[..] else { panic!("{parts:?}") };
        let altered = [
            format!("9{expires}.{count}.{bits}.{number}.{seed}"),
            format!("{expires}.1.{bits}.{number}.{seed}"),
            format!("{expires}.{count}.0.{number}.{seed}"),
            format!("{expires}.{count}.{bits}.{}.{seed}", "0".repeat(32)),
            format!("{expires}.{count}.{bits}.{number}.{}", "0".repeat(32)),
            format!("{expires}.{count}.{bits}.{number}"),
            seed.to_owned(),
            ".....".to_owned(),
            String::new(),
        ];
        for challenge in altered {
            for numbers in [good.numbers.clone(), good.numbers[..1].to_vec(), Vec::new()] {
                let forged = Solution { challenge: challenge.clone(), numbers };
                assert!(arena.proofs.check(&ann, Some(&forged)).is_err(), "{forged:?}");
            }
        }
        let mut numbers = good.numbers.clone();
        numbers[3] += 1;
        assert!(arena.proofs.check(&ann, Some(&Solution { numbers, ..good.clone() })).is_err());
        assert!(arena.proofs.check(&ann, Some(&good)).is_ok());
    }
}
