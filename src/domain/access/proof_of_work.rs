//! Proof of work (hashcash): a visitor's browser computes briefly before a battle when many battles come from one network or in total.
//! Verification takes one hash per puzzle.
//!
//! Puzzle `i` of a seed is solved by a number `n` for which SHA-256 of the text `SEED:i:n` begins with the required number of zero bits.
//! Several small puzzles instead of a large one reduce the variance of the work: the time of 16 varies by a quarter, that of one by all of
//! it.

use sha2::{Digest, Sha256};

/// Puzzles per proof.
const PUZZLES_PER_PROOF: u32 = 16;
/// Minimum zero bits per puzzle, just above the pressure threshold.
const MIN_ZERO_BITS: u32 = 10;
/// Maximum zero bits per puzzle: 16 × 2^14 hashes, about two seconds on a slow phone.
const MAX_ZERO_BITS: u32 = 14;

/// Required work: number and difficulty of the puzzles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Puzzles {
    /// Number of puzzles.
    pub count: u32,
    /// Leading zero bits of each hash.
    pub bits: u32,
}

/// Determines the work under a pressure, which is the used share of a limit, 0 to 1; `None` up to `threshold`.
#[must_use]
pub fn required_work(pressure: f64, threshold: f64) -> Option<Puzzles> {
    if pressure <= threshold || threshold >= 1.0 {
        return None;
    }
    let above = (pressure - threshold) / (1.0 - threshold);
    // Each step doubles the work; the last one begins at four fifths of the range above the threshold.
    let steps = MAX_ZERO_BITS - MIN_ZERO_BITS + 1;
    let begins = |bits: &u32| f64::from(bits - MIN_ZERO_BITS) / f64::from(steps);
    let bits = (MIN_ZERO_BITS..=MAX_ZERO_BITS).rev().find(|bits| above >= begins(bits)).unwrap_or(MIN_ZERO_BITS);
    Some(Puzzles { count: PUZZLES_PER_PROOF, bits })
}

/// Verifies the solutions of a seed's puzzles, in their order.
#[must_use]
pub fn is_solved(seed: &str, puzzles: Puzzles, numbers: &[u64]) -> bool {
    let solves = |(puzzle, number): (u32, &u64)| {
        leading_zeros(&Sha256::digest(format!("{seed}:{puzzle}:{number}"))) >= puzzles.bits
    };
    u32::try_from(numbers.len()) == Ok(puzzles.count) && (0..).zip(numbers).all(solves)
}

/// Solves the puzzles of a seed like a browser: by trying 0, 1, 2 … for each.
#[must_use]
pub fn solve(seed: &str, puzzles: Puzzles) -> Vec<u64> {
    let first = |puzzle: u32| {
        let hash = |number: u64| Sha256::digest(format!("{seed}:{puzzle}:{number}"));
        (0..u64::MAX).find(|number| leading_zeros(&hash(*number)) >= puzzles.bits).unwrap_or(u64::MAX)
    };
    (0..puzzles.count).map(first).collect()
}

fn leading_zeros(hash: &[u8]) -> u32 {
    let whole = hash.iter().take_while(|byte| **byte == 0).count();
    let rest = hash.get(whole).map_or(0, |byte| byte.leading_zeros());
    u32::try_from(8 * whole).map_or(u32::MAX, |bits| bits + rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_computes_up_to_the_threshold_and_never_more_than_the_most() {
        let bits = |pressure, threshold| required_work(pressure, threshold).map(|puzzles| puzzles.bits);
        for (pressure, expected) in [
            (0.0, None),
            (0.5, None),
            (0.501, Some(10)),
            (0.59, Some(10)),
            (0.601, Some(11)),
            (0.701, Some(12)),
            (0.801, Some(13)),
            (0.901, Some(14)),
            (1.0, Some(14)),
            (7.0, Some(14)),
        ] {
            assert_eq!(bits(pressure, 0.5), expected, "{pressure}");
        }
        assert_eq!([bits(0.0, 0.0), bits(1e-9, 0.0), bits(1.0, 1.0)], [None, Some(10), None]);
    }

    #[test]
    fn a_solution_is_of_its_seed_its_order_and_its_bits() {
        let puzzles = Puzzles { count: 3, bits: 8 };
        let numbers = solve("seed", puzzles);
        assert!(is_solved("seed", puzzles, &numbers));
        assert!(!is_solved("other", puzzles, &numbers));
        assert!(!is_solved("seed", puzzles, &numbers[..2]));
        assert!(!is_solved("seed", puzzles, &[]));
        let mut swapped = numbers.clone();
        swapped.swap(0, 1);
        assert!(!is_solved("seed", puzzles, &swapped), "{numbers:?}");
        assert!(!is_solved("seed", Puzzles { bits: 24, ..puzzles }, &numbers));
    }

    #[test]
    fn bits_are_counted_from_the_front() {
        for (hash, expected) in [(&[0x80_u8, 0][..], 0), (&[0x00, 0x80], 8), (&[0x00, 0x01], 15), (&[0, 0], 16)] {
            assert_eq!(leading_zeros(hash), expected, "{hash:?}");
        }
    }

    /// Digest of a text, reproducible with `printf 'seed:0:1' | sha256sum`.
    #[test]
    fn what_is_hashed_is_the_text_that_the_design_names() {
        let hash = Sha256::digest("seed:0:1");
        assert!(is_solved("seed", Puzzles { count: 1, bits: leading_zeros(&hash) }, &[1]));
        assert!(!is_solved("seed", Puzzles { count: 1, bits: leading_zeros(&hash) + 1 }, &[1]));
    }
}
