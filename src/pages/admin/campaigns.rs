//! Campaigns in the admin: list, one campaign and its report.

use askama::Template;

use super::AdminFrame;
use crate::Page;
use crate::domain::admin::MAX_REASON_CHARS;
use crate::domain::admin::role::Role;
use crate::domain::campaign::MAX_LINK_DAYS;
use crate::domain::campaign::ending::{CampaignEnding, EndReason};
use crate::domain::campaign::plan::CampaignPlan;
use crate::domain::time::Timestamp;
use crate::frame::time::time_text;
use crate::infra::storage::{CampaignRow, CampaignState, InvitedAnnotator, SharedLinkRow};
use crate::render::i18n::pages::CampaignAdminTexts;

/// Maximum number of links per form; the command line can make more.
pub const MAX_INVITES: u32 = 100;

/// Row of a campaign.
pub struct CampaignLine {
    pub row: CampaignRow,
    /// Campaign plan; `None` if it was written by another version.
    pub plan: Option<CampaignPlan>,
    /// Number of judgements collected.
    pub judged: i64,
    /// Whether every unit has all its judgements.
    pub is_all_judged: bool,
}

impl CampaignLine {
    fn title(&self) -> &str {
        self.plan.as_ref().map_or(&self.row.id, |plan| &plan.title)
    }

    fn task(&self) -> &'static str {
        self.plan.as_ref().map_or("", |plan| plan.task.as_str())
    }

    /// Formats the judgements collected of those required.
    fn progress(&self) -> String {
        let each = self.plan.as_ref().map_or(0, |plan| i64::from(plan.judgements_per_item));
        format!("{} / {}", self.judged, self.row.units.saturating_mul(each))
    }

    /// Returns why annotators get no more units; `None` while they do.
    fn ending(&self, words: &CampaignAdminTexts) -> Option<String> {
        let because = |text: &str, at: i64| format!("{text} ({})", time_text(at));
        match self.row.ended {
            Some(CampaignEnding { because: EndReason::Separated, at }) => Some(because(words.ended_separated, at)),
            Some(CampaignEnding { because: EndReason::MaxJudgements, at }) => {
                Some(because(words.ended_max_judgements, at))
            }
            None if self.is_all_judged => Some(words.ended_all_judged.to_owned()),
            None => (self.row.state == CampaignState::Closed).then(|| words.ended_by_hand.to_owned()),
        }
    }

    fn made(&self) -> String {
        time_text(self.row.created_at.0)
    }

    fn class(&self) -> &'static str {
        if self.row.state == CampaignState::Open { "ok" } else { "other" }
    }

    fn has_public_report(&self) -> bool {
        self.row.state == CampaignState::Closed && self.plan.as_ref().is_some_and(|plan| plan.public)
    }

    fn can_open(&self) -> bool {
        self.row.state != CampaignState::Open
    }

    fn can_pause(&self) -> bool {
        self.row.state == CampaignState::Open
    }

    fn can_close(&self) -> bool {
        matches!(self.row.state, CampaignState::Open | CampaignState::Paused)
    }
}

/// Template of the list of campaigns.
#[derive(Template)]
#[template(path = "admin/campaigns.html")]
pub struct CampaignsPage {
    pub page: Page,
    pub frame: AdminFrame,
    pub campaigns: Vec<CampaignLine>,
}

/// Template of one campaign with its annotators.
#[derive(Template)]
#[template(path = "admin/campaign.html")]
pub struct CampaignPage {
    pub page: Page,
    pub frame: AdminFrame,
    pub campaign: CampaignLine,
    pub annotators: Vec<InvitedAnnotator>,
    pub shared: Vec<SharedLinkRow>,
    /// New invitation links, shown once.
    pub links: Vec<String>,
    pub now: Timestamp,
}

/// Template of a campaign's report.
#[derive(Template)]
#[template(path = "admin/campaign_report.html")]
pub struct CampaignReportPage {
    pub page: Page,
    pub frame: AdminFrame,
    pub id: String,
    pub title: String,
    /// The report as safe HTML.
    pub body: String,
}

impl CampaignPage {
    fn may_change(&self) -> bool {
        self.frame.role.covers(Role::Operator)
    }

    #[expect(clippy::unused_self, reason = "the template calls it on the page")]
    fn time(&self, time: &Option<Timestamp>) -> String {
        time.map_or_else(|| "–".to_owned(), |time| time_text(time.0))
    }

    fn expires(&self, annotator: &InvitedAnnotator) -> String {
        let never = || self.page.t().admin.campaigns.never.to_owned();
        annotator.expires_at.map_or_else(never, |time| time_text(time.0))
    }

    fn is_in_force(&self, annotator: &InvitedAnnotator) -> bool {
        annotator.revoked_at.is_none() && annotator.expires_at.is_none_or(|time| time > self.now)
    }

    /// Whether any annotator can still be left out.
    fn has_included_annotator(&self) -> bool {
        self.annotators.iter().any(|annotator| annotator.left_out_at.is_none())
    }

    fn is_shared_in_force(&self, link: &SharedLinkRow) -> bool {
        link.revoked_at.is_none() && link.expires_at.is_none_or(|time| time > self.now.0)
    }

    fn shared_state(&self, link: &SharedLinkRow) -> &'static str {
        let words = &self.page.t().admin.campaigns;
        match link.revoked_at {
            Some(_) => words.revoked,
            None if self.is_shared_in_force(link) => words.in_force,
            None => words.expired,
        }
    }

    fn shared_expires(&self, link: &SharedLinkRow) -> String {
        link.expires_at.map_or_else(|| self.page.t().admin.campaigns.never.to_owned(), time_text)
    }

    fn link_state(&self, annotator: &InvitedAnnotator) -> &'static str {
        let words = &self.page.t().admin.campaigns;
        match annotator.revoked_at {
            Some(_) => words.revoked,
            None if annotator.left_out_at.is_some() => words.left_out,
            None if self.is_in_force(annotator) => words.in_force,
            None => words.expired,
        }
    }
}
