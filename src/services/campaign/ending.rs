//! Ends campaigns that have enough judgements, checked after each judgement.

use super::reports::{CampaignReportError, counted_units};
use crate::domain::campaign::ending::{EndCondition, EndReason};
use crate::domain::campaign::plan::CampaignPlan;
use crate::domain::campaign::report::{JudgedUnit, are_separated, is_due, neighbours};
use crate::domain::stats::confidence::ConfidenceLevel;
use crate::domain::time::Timestamp;
use crate::infra::storage::{CampaignRow, Store};

/// Ends a campaign if the stopping rule of its file is met.
///
/// # Errors
/// [`CampaignReportError`].
pub(super) async fn end_if_rule_met(
    store: &Store,
    campaign: &CampaignRow,
    plan: &CampaignPlan,
    now: Timestamp,
) -> Result<(), CampaignReportError> {
    if campaign.ended.is_some() || (plan.until.is_none() && plan.max_judgements.is_none()) {
        return Ok(());
    }
    let judged = store.campaign_judged(&campaign.id).await?;
    if plan.max_judgements.is_some_and(|most| judged >= most) {
        store.end_campaign(&campaign.id, EndReason::MaxJudgements, now).await?;
    } else if plan.until == Some(EndCondition::Separated)
        && is_due(judged)
        && is_separated(store, campaign, plan).await?
    {
        store.end_campaign(&campaign.id, EndReason::Separated, now).await?;
    }
    Ok(())
}

async fn is_separated(store: &Store, campaign: &CampaignRow, plan: &CampaignPlan) -> Result<bool, CampaignReportError> {
    let models = usize::try_from(store.campaign_models(&campaign.id).await?).unwrap_or(usize::MAX);
    let judged = counted_units(store, &campaign.id).await?;
    let planned = campaign.units.unsigned_abs() * u64::from(plan.judgements_per_item);
    let found = tokio::task::spawn_blocking(move || {
        let judged: Vec<&JudgedUnit> = judged.iter().collect();
        neighbours(&judged, planned, ConfidenceLevel::default())
    });
    let found = found.await.map_err(|_| CampaignReportError::Thread)??;
    Ok(are_separated(&found, models))
}
