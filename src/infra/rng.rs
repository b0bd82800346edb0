//! Randomness as an argument: one seeded generator for pairing, sides, ids and session tokens.
//!
//! The generator is cryptographic, so that ids and tokens cannot be guessed from others. A test gives the seed; the
//! server takes it from the operating system.

use crate::domain::hex::hex;
use parking_lot::Mutex;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha20Rng;

use crate::clock::Clock;

/// A shared source of randomness.
pub struct SharedRng(Mutex<ChaCha20Rng>);

impl SharedRng {
    /// Seeded by the operating system.
    #[must_use]
    #[expect(clippy::disallowed_methods, reason = "this is the one home of unseeded randomness")]
    pub fn from_system() -> Self {
        let mut seed = [0; 32];
        rand::rng().fill_bytes(&mut seed);
        Self(Mutex::new(ChaCha20Rng::from_seed(seed)))
    }

    /// The same draws for the same seed.
    #[must_use]
    pub fn seeded(seed: u64) -> Self {
        Self(Mutex::new(ChaCha20Rng::seed_from_u64(seed)))
    }

    /// Lends the generator.
    pub fn with<T>(&self, draw: impl FnOnce(&mut ChaCha20Rng) -> T) -> T {
        // A panic while drawing leaves a usable generator behind.
        draw(&mut self.0.lock())
    }

    /// A UUIDv7: sorts by time, cannot be guessed.
    #[must_use]
    pub fn id(&self, clock: &dyn Clock) -> String {
        let mut random = [0; 10];
        self.with(|rng| rng.fill_bytes(&mut random));
        let millis = u64::try_from(clock.now().0).unwrap_or(0);
        uuid::Builder::from_unix_timestamp_millis(millis, &random).into_uuid().to_string()
    }

    /// A seed for a generator of its own.
    #[must_use]
    pub fn seed(&self) -> u64 {
        self.with(rand::Rng::next_u64)
    }

    /// 128 random bits in hexadecimal.
    #[must_use]
    pub fn token(&self) -> String {
        let mut random = [0; 16];
        self.with(|rng| rng.fill_bytes(&mut random));
        hex(&random)
    }
}
