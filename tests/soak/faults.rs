//! Faults one after the other at random times, and each kind at least once if there is time.

use std::time::{Duration, Instant};

use rand::RngExt;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use tokio::time::sleep;

use crate::measurements::Measurements;
use crate::postgres_server::Shutdown;
use crate::services::{NAMES, Services};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    KillInstance,
    PauseInstance,
    RestartRedis,
    EmptyRedis,
    RestartPostgresFast,
    RestartPostgresImmediate,
    RollingRestart,
}

impl Fault {
    pub(crate) const ALL: [Self; 7] = [
        Self::KillInstance,
        Self::PauseInstance,
        Self::RestartRedis,
        Self::EmptyRedis,
        Self::RestartPostgresFast,
        Self::RestartPostgresImmediate,
        Self::RollingRestart,
    ];
}

/// Injects faults of these kinds until the time is over, in rounds in which each kind occurs once.
pub(crate) async fn inject_faults(
    services: &mut Services,
    kinds: &[Fault],
    duration: Duration,
    measurements: &Measurements,
    rng: &mut ChaCha8Rng,
) -> anyhow::Result<()> {
    let end = Instant::now() + duration;
    loop {
        let mut round = kinds.to_vec();
        round.shuffle(rng);
        for fault in round {
            let calm = Duration::from_millis(rng.random_range(1_000..3_000));
            let left = end.saturating_duration_since(Instant::now());
            sleep(calm.min(left)).await;
            services.check_alive()?;
            if left <= calm {
                return Ok(());
            }
            commit(services, fault, measurements, rng).await?;
        }
    }
}

async fn commit(
    services: &mut Services,
    fault: Fault,
    measurements: &Measurements,
    rng: &mut ChaCha8Rng,
) -> anyhow::Result<()> {
    let which = rng.random_range(0..2);
    let down = Duration::from_millis(rng.random_range(0..1_500));
    let name = NAMES[which];
    match fault {
        Fault::KillInstance => {
            measurements.fault(&format!("kill -9 of instance {name}"));
            services.kill_instance(which).await?;
            sleep(down).await;
            services.start_instance(which).await?;
            measurements.step(&format!("instance {name} is back"));
        }
        Fault::PauseInstance => {
            let pause = Duration::from_millis(rng.random_range(2_000..8_000));
            measurements.fault(&format!("SIGSTOP of instance {name}"));
            services.pause_instance(which, pause).await?;
            measurements.step(&format!("SIGCONT after {:.1} s", pause.as_secs_f64()));
        }
        Fault::RestartRedis => {
            measurements.fault("Redis restarted");
            services.restart_redis(down).await?;
            measurements.step("Redis is back, empty");
        }
        Fault::EmptyRedis => {
            measurements.fault("Redis emptied");
            services.empty_redis().await?;
        }
        Fault::RestartPostgresFast | Fault::RestartPostgresImmediate => {
            let shutdown = if fault == Fault::RestartPostgresFast { Shutdown::Fast } else { Shutdown::Immediate };
            measurements.fault(&format!("PostgreSQL restarted ({shutdown:?})"));
            services.restart_postgres(shutdown, down / 3).await?;
            measurements.step("PostgreSQL is back");
        }
        Fault::RollingRestart => roll(services, measurements).await?,
    }
    Ok(())
}

/// Restarts each instance in turn by SIGTERM.
async fn roll(services: &mut Services, measurements: &Measurements) -> anyhow::Result<()> {
    for (which, name) in NAMES.iter().enumerate() {
        measurements.fault(&format!("rolling restart, instance {name}"));
        services.stop_instance(which).await?;
        measurements.step(&format!("instance {name} has ended"));
        services.start_instance(which).await?;
        measurements.step(&format!("instance {name} is back"));
    }
    Ok(())
}
