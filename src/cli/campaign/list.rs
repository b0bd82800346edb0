//! `langya campaign list`

use clap::Args;
use serde::Serialize;

use crate::domain::campaign::plan::CampaignPlan;
use crate::domain::time::Timestamp;
use crate::error::CommandResult;
use crate::infra::storage::{CampaignRow, Store};
use crate::output::output_format::OutputFormat;
use crate::output::standard_output::print;
use crate::output::table::{TableRow, render};
use crate::output::times::show_time;

/// Flags of `langya campaign list`.
#[derive(Debug, Args)]
pub(super) struct ListCampaignsOptions {
    /// Output format
    #[arg(long, value_enum, default_value_t)]
    format: OutputFormat,
}

#[derive(Serialize)]
struct ListedCampaign {
    campaign: String,
    state: &'static str,
    task: &'static str,
    items: i64,
    units: i64,
    annotators: i64,
    judgements: i64,
    ended_because: Option<&'static str>,
    ended_at: Option<String>,
    created_at: String,
    title: String,
}

impl TableRow for ListedCampaign {
    const HEADS: &'static [&'static str] =
        &["campaign", "state", "task", "items", "units", "annotators", "judgements", "ended", "created at", "title"];

    fn cells(&self) -> Vec<String> {
        vec![
            self.campaign.clone(),
            self.state.to_owned(),
            self.task.to_owned(),
            self.items.to_string(),
            self.units.to_string(),
            self.annotators.to_string(),
            self.judgements.to_string(),
            self.ended_because.zip(self.ended_at.as_ref()).map_or_else(String::new, |(why, at)| format!("{why} {at}")),
            self.created_at.clone(),
            self.title.clone(),
        ]
    }
}

impl ListedCampaign {
    fn new(row: CampaignRow) -> CommandResult<Self> {
        let plan: CampaignPlan = serde_json::from_str(&row.plan)?;
        Ok(Self {
            campaign: row.id,
            state: row.state.as_str(),
            task: plan.task.as_str(),
            items: row.items,
            units: row.units,
            annotators: row.annotators,
            judgements: row.judgements,
            ended_because: row.ended.map(|end| end.because.as_str()),
            ended_at: row.ended.map(|end| show_time(Timestamp(end.at))),
            created_at: show_time(row.created_at),
            title: plan.title,
        })
    }
}

/// Prints all campaigns.
///
/// # Errors
/// A database failure.
pub(super) async fn run(store: &Store, options: &ListCampaignsOptions) -> CommandResult<()> {
    let lines = store.campaigns().await?.into_iter().map(ListedCampaign::new).collect::<CommandResult<Vec<_>>>()?;
    print(&render(&lines, options.format)?)
}
