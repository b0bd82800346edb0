//! Draws the wait and speed classes of a battle. They are the same in all its turns and on all instances: otherwise a visitor who
//! regenerates a reply until it is fast would learn the speed of the pair.

use hmac::{Hmac, KeyInit, Mac};
use secrecy::ExposeSecret;
use sha2::Sha256;

use crate::domain::battle::BattleId;
use crate::domain::battle::pacing::ClassDraw;
use crate::rng::SharedRng;
use crate::storage::{Store, StoreError};
use crate::time::clock::Clock;

/// Name of the key among the database's secrets.
const KEY_NAME: &str = "class_draw_key";

/// Draws the classes of battles from their ids, with a secret of the database.
pub struct ClassDraws(Hmac<Sha256>);

impl ClassDraws {
    /// Reads the database's key, or creates it.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn open(store: &Store, rng: &SharedRng, clock: &dyn Clock) -> Result<Self, StoreError> {
        let fresh = rng.token() + &rng.token();
        let key = store.secret(KEY_NAME, &fresh, clock.now()).await?;
        Ok(Self::with_key(key.expose_secret()))
    }

    fn with_key(key: &str) -> Self {
        Self(Hmac::new_from_slice(key.as_bytes()).expect("HMAC takes keys of any length"))
    }

    /// Returns the battle's draw.
    #[must_use]
    pub fn of_battle(&self, battle: &BattleId) -> ClassDraw {
        let bytes: [u8; 32] = self.0.clone().chain_update(battle.as_str()).finalize().into_bytes().into();
        let [start, tempo] = [0, 4].map(|at| {
            let number = u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
            f64::from(number) / (f64::from(u32::MAX) + 1.0)
        });
        ClassDraw { start, tempo }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_battle_keeps_its_draw_and_battles_draw_evenly() {
        let (draws, others) = (ClassDraws::with_key("key"), ClassDraws::with_key("other key"));
        let ids: Vec<BattleId> = (0..2_000).map(|number| BattleId::new(format!("battle {number}"))).collect();
        assert_eq!(draws.of_battle(&ids[0]), ClassDraws::with_key("key").of_battle(&ids[0]));
        assert_ne!(draws.of_battle(&ids[0]), others.of_battle(&ids[0]));
        let both_low = ids.iter().filter(|id| {
            let ClassDraw { start, tempo } = draws.of_battle(id);
            start < 0.5 && tempo < 0.5
        });
        let both_low = both_low.count();
        assert!((400..600).contains(&both_low), "{both_low} of 2000 where 500 are expected");
    }
}
