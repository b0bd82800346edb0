//! Requests cosignatures of the public log's checkpoints from witnesses, on the leader.

use std::collections::BTreeSet;
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use crate::infra::allowed_addresses::AllowedAddresses;
use crate::infra::config::CurrentSettings;
use crate::infra::job_report::JobReport;
use crate::infra::llm::http_client_within;
use crate::services::public_log::PublicLog;
use crate::services::public_log::witnesses::{WitnessStatus, Witnesses};

/// Poll interval for new checkpoints.
const POLL_INTERVAL: Duration = Duration::from_secs(1);
/// Timeout of a connection attempt.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// Requests the cosignatures of the configured witnesses for each new checkpoint.
pub async fn ask_witnesses(
    log: PublicLog,
    settings: CurrentSettings,
    lead: watch::Receiver<bool>,
    job: JobReport,
    shutdown: CancellationToken,
) {
    let allowed = AllowedAddresses::new(&settings.now().providers.private_networks);
    let client = match http_client_within(CONNECT_TIMEOUT, &allowed) {
        Ok(client) => client,
        Err(error) => {
            tracing::error!(%error, "no witness of the public log can be asked");
            return shutdown.cancelled().await;
        }
    };
    let (mut witnesses, mut failing) = (Witnesses::default(), BTreeSet::new());
    loop {
        let asked = settings.now().public_log.witnesses.clone();
        if *lead.borrow() && !asked.is_empty() {
            match job.run(witnesses.cosign(&log, &client, &asked)).await {
                Ok(asked) => asked.into_iter().for_each(|asked| report(&mut failing, asked)),
                // The public log job reports the same error.
                Err(error) => tracing::debug!(%error, "no checkpoint could be read for the witnesses"),
            }
            job.runs_within(POLL_INTERVAL);
        }
        tokio::select! {
            () = sleep(POLL_INTERVAL) => {}
            () = shutdown.cancelled() => return,
        }
    }
}

/// Reports when a witness begins to fail, and when it signs again.
fn report(failing: &mut BTreeSet<String>, asked: WitnessStatus) {
    let WitnessStatus { name, result, .. } = asked;
    match result {
        Ok(()) if failing.remove(&name) => tracing::info!(witness = name, "the witness signs the public log again"),
        Ok(()) => {}
        Err(error) if failing.contains(&name) => {
            tracing::debug!(witness = name, %error, "the witness still does not sign")
        }
        Err(error) => {
            tracing::warn!(witness = name, %error, "a witness does not sign the public log: it is asked again every minute");
            failing.insert(name);
        }
    }
}
