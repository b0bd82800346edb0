//! Sampling of the battles to judge, by random seed and id alone.
//!
//! The sample is independent of a battle's content, so agreement on it estimates agreement on all battles. A larger share includes every
//! battle of a smaller one, and a run that stops early has judged the sample of a smaller share, since battles are judged in the order of
//! the draw.

use sha2::{Digest, Sha256};

/// Random sample of all battles.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sample {
    /// Random seed of the sample.
    pub seed: u64,
    /// Share of all battles, 0 to 1.
    pub share: f64,
}

impl Sample {
    /// Returns the position of a battle among all, from 0 to below 1.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "53 bits are what an f64 holds exactly")]
    pub fn place(&self, battle: &str) -> f64 {
        let digest = Sha256::digest(format!("{} {battle}", self.seed));
        let first: [u8; 8] = digest[..8].try_into().expect("a digest has 32 bytes");
        (u64::from_be_bytes(first) >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Returns the position of a battle if it is in the sample.
    #[must_use]
    pub fn draw(&self, battle: &str) -> Option<f64> {
        Some(self.place(battle)).filter(|place| *place < self.share)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(seed: u64, share: f64) -> Vec<u32> {
        let sample = Sample { seed, share };
        (0..2_000).filter(|number| sample.draw(&format!("battle-{number}")).is_some()).collect()
    }

    #[test]
    fn a_larger_share_holds_every_battle_of_a_smaller_one() {
        let (small, large) = (drawn(7, 0.1), drawn(7, 0.3));
        assert!(small.iter().all(|number| large.contains(number)));
        // Three standard deviations of a draw of 2,000.
        assert!((160..=240).contains(&small.len()) && (538..=662).contains(&large.len()), "{}", small.len());
        assert_eq!((drawn(7, 1.0).len(), drawn(7, 0.0).len()), (2_000, 0));
    }

    #[test]
    fn the_draw_is_by_seed_and_id_alone() {
        assert_eq!(drawn(7, 0.1), drawn(7, 0.1));
        assert_ne!(drawn(7, 0.1), drawn(8, 0.1));
        // Computed with another program: the first 53 bits of SHA-256("0 x").
        let place = Sample { seed: 0, share: 1.0 }.place("x");
        assert!((place - 0.1479414153218488).abs() < 1e-15, "{place}");
    }
}
