//! Random numbers as an argument: one seeded generator for pairing, sides, ids and session tokens.
//!
//! The generator is cryptographic, so that ids and tokens cannot be predicted from others. A test sets the seed; the server takes it from
//! the operating system.

use crate::domain::hex::hex;
use parking_lot::Mutex;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha20Rng;

use crate::time::clock::Clock;

/// Shared random number generator.
pub struct SharedRng {
    rng: Mutex<ChaCha20Rng>,
    ids: Mutex<IdCounter>,
}

/// Counter that makes ids of this instance monotonic.
#[derive(Default)]
struct IdCounter {
    millis: u64,
    count: u16,
}

impl IdCounter {
    /// Maximum number in the 12 bits after the time.
    const MAX_COUNTER: u16 = 0xfff;

    /// Returns time and number of the next id. The number is random (`start`, 11 bits) in a new millisecond and grows within one; if it
    /// would overflow, or the clock went back, the time of the ids runs ahead of the clock.
    fn next(&mut self, millis: u64, start: u16) -> (u64, u16) {
        let full = self.count == Self::MAX_COUNTER;
        let millis = millis.max(self.millis + u64::from(full));
        self.count = if millis == self.millis { self.count + 1 } else { start & (Self::MAX_COUNTER >> 1) };
        self.millis = millis;
        (self.millis, self.count)
    }
}

impl SharedRng {
    /// Creates a generator seeded by the operating system.
    #[must_use]
    #[expect(clippy::disallowed_methods, reason = "this is the one home of unseeded randomness")]
    pub fn from_system() -> Self {
        let mut seed = [0; 32];
        rand::rng().fill_bytes(&mut seed);
        Self::new(ChaCha20Rng::from_seed(seed))
    }

    /// Creates a generator with a fixed seed.
    #[must_use]
    pub fn seeded(seed: u64) -> Self {
        Self::new(ChaCha20Rng::seed_from_u64(seed))
    }

    fn new(rng: ChaCha20Rng) -> Self {
        Self { rng: Mutex::new(rng), ids: Mutex::default() }
    }

    /// Runs a closure with the generator.
    pub fn with<T>(&self, draw: impl FnOnce(&mut ChaCha20Rng) -> T) -> T {
        // A panic while drawing leaves the generator usable.
        draw(&mut self.rng.lock())
    }

    /// Generates a UUIDv7: sorts by time and, within a millisecond, in the order of generation on this instance (RFC 9562, 6.2, method 1).
    /// 62 bits are random, so that it cannot be guessed.
    #[must_use]
    pub fn id(&self, clock: &dyn Clock) -> String {
        let mut random = [0; 10];
        self.with(|rng| rng.fill_bytes(&mut random));
        let start = u16::from_be_bytes([random[0], random[1]]);
        let mut ids = self.ids.lock();
        let (millis, count) = ids.next(u64::try_from(clock.now().0).unwrap_or(0), start);
        random[..2].copy_from_slice(&count.to_be_bytes());
        uuid::Builder::from_unix_timestamp_millis(millis, &random).into_uuid().to_string()
    }

    /// Returns a seed for a separate generator.
    #[must_use]
    pub fn seed(&self) -> u64 {
        self.with(rand::Rng::next_u64)
    }

    /// Generates 128 random bits in hexadecimal.
    #[must_use]
    pub fn token(&self) -> String {
        let mut random = [0; 16];
        self.with(|rng| rng.fill_bytes(&mut random));
        hex(&random)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::time::Timestamp;

    struct StoppedClock;

    impl Clock for StoppedClock {
        fn now(&self) -> Timestamp {
            Timestamp(1_700_000_000_000)
        }
    }

    #[test]
    fn ids_of_one_millisecond_sort_in_the_order_in_which_they_were_made() {
        let rng = SharedRng::seeded(1);
        let ids: Vec<String> = (0..10_000).map(|_| rng.id(&StoppedClock)).collect();
        assert!(ids.is_sorted(), "{:?}", ids.windows(2).find(|pair| pair[0] > pair[1]));
        let guessable: std::collections::HashSet<&str> = ids.iter().map(|id| &id[19..]).collect();
        assert_eq!(guessable.len(), ids.len(), "the rest of each is random");
    }
}
