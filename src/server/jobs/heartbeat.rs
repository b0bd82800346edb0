//! Announces to other instances that this one is alive.

use std::sync::Arc;

use sha2::{Digest, Sha256};
use tokio::time::MissedTickBehavior;
use tokio_util::sync::CancellationToken;

use crate::domain::hex::hex;
use crate::domain::time::Timestamp;
use crate::infra::config::{CurrentSettings, Settings};
use crate::infra::job_report::JobReport;
use crate::infra::shared_clock::follow_database;
use crate::infra::storage::{Store, StoreError};
use crate::infra::time::clock::Clock;
use crate::services::arena::instances::{ArenaInstances, HEARTBEAT_INTERVAL};
use crate::services::public_log::PublicLog;

/// Sends heartbeats until the arena ends, follows the clock of a shared database, and announces whether this instance cannot append to the
/// public log. At shutdown the instance is removed from the list after its battles have ended.
pub async fn send_heartbeats(
    instances: Arc<ArenaInstances>,
    store: Store,
    log: PublicLog,
    settings: CurrentSettings,
    clock: Arc<dyn Clock>,
    report: JobReport,
    shutdown: CancellationToken,
) {
    if instances.is_alone() {
        return;
    }
    let mut ticker = tokio::time::interval(HEARTBEAT_INTERVAL);
    ticker.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut failing = false;
    loop {
        tokio::select! {
            _ = ticker.tick() => {}
            () = shutdown.cancelled() => return,
        }
        // The storage logs an outage found here.
        let _ = instances.check_durable().await;
        let beat = async {
            follow_database(clock.as_ref(), &store).await?;
            instances.heartbeat(&fingerprint(&settings.now()), log.cannot_append(), clock.now()).await
        };
        let beat = report.run(beat).await;
        log.note_leader(instances.log_fails_elsewhere());
        report.runs_within(HEARTBEAT_INTERVAL);
        match beat {
            Ok(()) => failing = false,
            Err(error) if !failing && !error.is_outage() => {
                failing = true;
                tracing::error!(error = ?error, "this instance could not send its heartbeat");
            }
            Err(_) => {}
        }
    }
}

/// Sends the first heartbeat, before this instance starts a battle.
///
/// # Errors
/// [`StoreError`] if the database fails.
pub async fn first_heartbeat(
    instances: &ArenaInstances,
    settings: &Settings,
    now: Timestamp,
) -> Result<(), StoreError> {
    instances.heartbeat(&fingerprint(settings), false, now).await
}

/// Hashes the settings that must be equal on all instances: vote counting, permissions, and outgoing data. Addresses, logging and service
/// locations may differ.
fn fingerprint(settings: &Settings) -> String {
    let Settings { battle, integrity, pairing, rating, models, judge, public_log, webhooks, .. } = settings;
    let Settings { access, admin, api, limits, moderation, oidc, retention, server, site, .. } = settings;
    let votes = (battle, integrity, pairing, rating, models, judge);
    let people = (&server.public_url, &site.consent, access, admin, api, limits, moderation, oidc, retention);
    let text = serde_json::to_string(&(votes, people, public_log, webhooks)).expect("settings are plain values");
    hex(&Sha256::digest(text)[..8])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::infra::config::AccessMode;

    fn of(change: impl FnOnce(&mut Settings)) -> String {
        let mut settings = Settings::default();
        change(&mut settings);
        fingerprint(&settings)
    }

    #[test]
    fn who_may_take_part_is_the_same_on_all_instances_and_their_threads_are_not() {
        let same = of(|_| {});
        assert_eq!(of(|settings| settings.server.workers = 7), same);
        for other in [
            of(|settings| settings.access.mode = AccessMode::Invite),
            of(|settings| settings.limits.concurrent_battles = 1),
            of(|settings| settings.server.public_url = "https://arena.example".into()),
            of(|settings| settings.battle.max_turns += 1),
        ] {
            assert_ne!(other, same);
        }
    }
}
