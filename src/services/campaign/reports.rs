//! Reads a campaign's judgements and reports them.

use std::collections::BTreeMap;

use crate::domain::battle::Outcome;
use crate::domain::campaign::assignment::AssignmentKind;
use crate::domain::campaign::plan::CampaignPlan;
use crate::domain::campaign::report::{CampaignFacts, CampaignReport, JudgedUnit, LeftOut, report};
use crate::domain::rating::FitError;
use crate::domain::rating::options::LeaderboardOptions;
use crate::infra::storage::{AnnotatorExclusion, CampaignJudgementRow, CampaignRow, Store, StoreError};

/// Why there is no report.
#[derive(Debug, thiserror::Error)]
pub enum CampaignReportError {
    /// What is stored of the campaign cannot be read.
    #[error("the campaign {campaign:?} cannot be read: {source}")]
    Unreadable {
        /// The campaign.
        campaign: String,
        /// What is wrong.
        source: serde_json::Error,
    },
    /// The comparisons cannot be fitted.
    #[error(transparent)]
    Fit(#[from] FitError),
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// The report of a campaign as it stands now.
///
/// # Errors
/// [`CampaignReportError`].
pub async fn campaign_report(
    store: &Store,
    campaign: &CampaignRow,
    options: &LeaderboardOptions,
) -> Result<CampaignReport, CampaignReportError> {
    let unreadable = |source| CampaignReportError::Unreadable { campaign: campaign.id.clone(), source };
    let plan: CampaignPlan = serde_json::from_str(&campaign.plan).map_err(unreadable)?;
    let rows = store.campaign_judgements(&campaign.id).await?;
    let judged = rows.into_iter().map(judged_unit).collect::<Result<Vec<_>, _>>().map_err(unreadable)?;
    let gold = store.campaign_gold(&campaign.id).await?;
    let known = |(unit, outcome): (i64, String)| Some((position(unit), Outcome::parse(&outcome).ok()?));
    let gold: BTreeMap<u32, Outcome> = gold.into_iter().filter_map(known).collect();
    let exclusions = store.annotator_exclusions(&campaign.id).await?;
    let facts = CampaignFacts {
        id: campaign.id.clone(),
        task: plan.task,
        judgements_per_item: plan.judgements_per_item,
        units: position(campaign.units),
        gold,
        left_out: exclusions.into_iter().filter_map(left_out).collect(),
        seed: plan.seed,
    };
    Ok(report(&facts, judged, options)?)
}

fn left_out(exclusion: AnnotatorExclusion) -> Option<LeftOut> {
    let AnnotatorExclusion { annotator, reason, excluded_by: by, excluded_at: at, withdrawn_at, .. } = exclusion;
    withdrawn_at.is_none().then_some(LeftOut { annotator, reason, by, at, judgements: 0 })
}

fn judged_unit(row: CampaignJudgementRow) -> Result<JudgedUnit, serde_json::Error> {
    #[expect(clippy::cast_precision_loss, reason = "milliseconds of a few hours")]
    let seconds = (row.judged_at - row.given_at) as f64 / 1000.0;
    Ok(JudgedUnit {
        annotator: row.annotator,
        unit: position(row.unit),
        item: row.item,
        shown: serde_json::from_str(&row.shown)?,
        kind: AssignmentKind::parse(&row.kind).unwrap_or(AssignmentKind::Fresh),
        judgement: serde_json::from_str(&row.judgement)?,
        seconds,
    })
}

fn position(number: i64) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}
