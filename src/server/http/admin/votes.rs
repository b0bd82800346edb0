//! Votes by filter, flagged voters, and decisions about which votes are rated.

use actix_web::http::StatusCode;
use actix_web::http::header::{CONTENT_DISPOSITION, HeaderValue};
use actix_web::{HttpResponse, web};
use serde_json::json;

use super::signed_in_request::SignedInRequest;
use crate::domain::admin::MAX_REASON_CHARS;
use crate::domain::admin::action::AdminAction;
use crate::domain::battle::{BattleId, ModelId};
use crate::domain::integrity::anomalous_voters::detection::{DEFAULT_ALPHA, VoterReport, VoterResult};
use crate::domain::integrity::exclusions::exclusion_decision::{ExclusionDecision, SelectedVote};
use crate::domain::integrity::exclusions::exclusion_rule::ExclusionRule;
use crate::domain::integrity::prompts::prompt_cluster::ClusterId;
use crate::domain::integrity::vote_filter::VoteFilter;
use crate::http::form_token::see_other;
use crate::http::log::vote_log_api::{VoteReaders, WantedVotes, stream_votes};
use crate::http::request::error::PageError;
use crate::infra::storage::{Store, VoteRange, is_storable};
use crate::infra::stored_votes::selection::select;
use crate::infra::time::clock::Clock as _;
use crate::pages::admin::AdminTab;
use crate::pages::admin::votes::{DecisionPage, Evidence, FilterFields, VoteLine, VotersPage, VotesPage};
use crate::pages::exclusions::ChangeView;
use crate::pages::frame::query_string::escaped;
use crate::pages::respond;
use crate::render::i18n::pages::InvalidField;
use crate::services::admin::actor::audit_json;
use crate::services::exclusions::preview::preview;
use crate::services::exclusions::write_decision::{DecisionContext, write_decision};
use crate::services::import_export::vote_log_pages::LineFormat;

/// Maximum number of votes per page, latest first.
const PAGE_SIZE: usize = 100;

/// `GET /admin/voters`: flagged voters with their test results.
pub(super) async fn voters(call: SignedInRequest) -> Result<HttpResponse, PageError> {
    let report = call.app.flagged_voters.report().await?;
    let flagged: Vec<Evidence> = report.flagged(DEFAULT_ALPHA).map(|result| evidence(&call, &report, result)).collect();
    let (page, frame) = (call.page(), call.frame(AdminTab::Voters));
    let (tested, voters, withheld) = (report.results.len(), report.voters, report.withheld());
    let view = VotersPage { page, frame, flagged, tested, voters, withheld };
    Ok(respond(&call.request, StatusCode::OK, &view))
}

/// `GET /admin/votes`: `voter`, `model`, `rule`, `prompt_cluster` and `battle`; the latest votes without any.
pub(super) async fn votes(call: SignedInRequest) -> Result<HttpResponse, PageError> {
    let fields = filter_fields(&call);
    let mut filter = filter(&fields)?;
    let is_of_all = filter == VoteFilter::default();
    if is_of_all {
        filter.range.after = (call.app.store.last_vote_seq().await? - PAGE_SIZE as i64).max(0);
    }
    let votes = select(&call.app.store, &filter, |_, _| {}).await?;
    let evidence = match &fields.voter {
        voter if voter.is_empty() => None,
        voter => {
            let report = call.app.flagged_voters.report().await?;
            let result = report.results.iter().find(|result| result.voter == *voter);
            result.map(|result| evidence(&call, &report, result))
        }
    };
    let lines = lines(&call, votes.iter().rev().take(PAGE_SIZE).collect()).await?;
    let models = call.app.store.registered_models().await?;
    let models = models.into_iter().map(|model| (model.card.id.to_string(), model.card.name)).collect();
    let (page, frame) = (call.page(), call.frame(AdminTab::Votes));
    let (matched, excluded) = match is_of_all {
        true => all_votes(&call.app.store).await?,
        false => (votes.len(), votes.iter().filter(|vote| !vote.rules.is_empty()).count()),
    };
    let view = VotesPage { page, frame, fields, matched, excluded, lines, evidence, models };
    Ok(respond(&call.request, StatusCode::OK, &view))
}

/// Returns the numbers of all votes and of excluded ones.
async fn all_votes(store: &Store) -> Result<(usize, usize), PageError> {
    let excluded = store.exclusions_in_force(VoteRange::ALL).await?.excluded_votes();
    Ok((usize::try_from(store.vote_count().await?).unwrap_or(usize::MAX), excluded))
}

/// `GET /admin/votes/decide`: preview of a decision; the form on this page makes it.
pub(super) async fn preview_decision(call: SignedInRequest) -> Result<HttpResponse, PageError> {
    let fields = filter_fields(&call);
    let (decision, mut filter) = (decision(&call)?, decided_filter(&fields)?);
    filter.range.upto = call.app.store.last_vote_seq().await?;
    let matched = select(&call.app.store, &filter, |_, _| {}).await?;
    let concerned: Vec<SelectedVote> = matched.iter().filter(|vote| decision.concerns(vote)).cloned().collect();
    let options = call.app.settings.now().rating.leaderboard_options().map_err(|_| PageError::Preview)?;
    let change = preview(&call.app.store, &concerned, &decision, options, |_, _| {}).await;
    let change = change.map_err(|error| {
        tracing::warn!(error = ?error, "a decision about votes could not be previewed");
        PageError::Preview
    })?;
    let (page, frame) = (call.page(), call.frame(AdminTab::Votes));
    let name = |id: &str| call.app.models.card(&ModelId::new(id)).name;
    let mut voters: Vec<&str> = concerned.iter().map(|vote| &*vote.voter).collect();
    voters.sort_unstable();
    voters.dedup();
    let view = DecisionPage {
        change: ChangeView::new(&change, page.language, name),
        excludes: matches!(decision, ExclusionDecision::Exclude { .. }),
        rule: call.fields.one("by").to_owned(),
        reason: call.fields.one("reason").trim().to_owned(),
        upto: filter.range.upto,
        concerned: concerned.len(),
        voters: voters.len(),
        fields,
        page,
        frame,
    };
    Ok(respond(&call.request, StatusCode::OK, &view))
}

/// `POST /admin/votes/decide`: applies the decision to the votes of its preview.
pub(super) async fn decide(call: SignedInRequest) -> Result<HttpResponse, PageError> {
    let fields = filter_fields(&call);
    let (decision, mut filter) = (decision(&call)?, decided_filter(&fields)?);
    let upto = call.fields.one("upto").parse();
    filter.range.upto = upto.map_err(|_| invalid("the form lacks its last vote: look at the preview again"))?;
    let votes = select(&call.app.store, &filter, |_, _| {}).await?;
    let author = DecisionContext {
        id: call.app.rng.id(call.app.clock.as_ref()),
        actor: call.actor(),
        decided_at: call.app.clock.now(),
        subject: filter.summary(),
    };
    write_decision(&call.app.store, &decision, &votes, author).await?;
    Ok(see_other(&format!("/admin/votes?{}done=1", query(&fields))))
}

/// `POST /admin/votes/export`: the vote log without conversations as a file, in the `format` csv or jsonl. The entry in the audit log is written
/// before the first byte is sent.
pub(super) async fn export(call: SignedInRequest) -> Result<HttpResponse, PageError> {
    let (format, file) = match call.fields.one("format") {
        "csv" => (LineFormat::Csv, "attachment; filename=\"votes.csv\""),
        "jsonl" => (LineFormat::Json, "attachment; filename=\"votes.jsonl\""),
        _ => return Err(invalid("format is csv or jsonl")),
    };
    let (app, readers) = (&call.app, call.request.app_data::<web::Data<VoteReaders>>());
    let place = readers.ok_or(PageError::Full)?.take()?;
    let mut entry = call.actor().entry(&app.rng, app.clock.as_ref(), AdminAction::ExportVotes, "votes");
    entry.latter = audit_json(&json!({ "format": call.fields.one("format") }));
    app.store.add_audit_entry(&entry).await?;
    let wanted = WantedVotes { after: 0, upto: i64::MAX, limit: u32::MAX, format };
    let mut response = stream_votes(app, place, wanted).await?;
    response.headers_mut().insert(CONTENT_DISPOSITION, HeaderValue::from_static(file));
    Ok(response)
}

fn filter_fields(call: &SignedInRequest) -> FilterFields {
    let field = |name: &str| call.fields.one(name).trim().to_owned();
    FilterFields {
        voter: field("voter"),
        model: field("model"),
        rule: field("rule"),
        prompt_cluster: field("prompt_cluster"),
        battle: field("battle"),
    }
}

fn filter(fields: &FilterFields) -> Result<VoteFilter, PageError> {
    if !fields.all().into_iter().all(|(_, text)| is_storable(text)) {
        return Err(invalid("a filter is plain text"));
    }
    let given = |text: &String| Some(text.clone()).filter(|text| !text.is_empty());
    let cluster = match given(&fields.prompt_cluster) {
        None => None,
        Some(text) => Some(ClusterId::parse(&text).ok_or(PageError::InvalidField(InvalidField::PromptCluster))?),
    };
    Ok(VoteFilter {
        range: VoteRange::ALL,
        voters: given(&fields.voter).into_iter().collect(),
        models: given(&fields.model).into_iter().collect(),
        battle: given(&fields.battle).map(BattleId::new),
        rule: given(&fields.rule),
        prompt_cluster: cluster,
    })
}

/// Parses the filter of a decision, which must not be empty.
fn decided_filter(fields: &FilterFields) -> Result<VoteFilter, PageError> {
    let filter = filter(fields)?;
    if filter == VoteFilter::default() { Err(PageError::InvalidField(InvalidField::NoFilter)) } else { Ok(filter) }
}

/// Parses the decision: `change` is `exclude`, with the rule `by` and a reason, or `include`, where `by` may be empty.
fn decision(call: &SignedInRequest) -> Result<ExclusionDecision, PageError> {
    let (by, reason) = (call.fields.given("by"), call.fields.one("reason").trim());
    match call.fields.one("change") {
        "include" => Ok(ExclusionDecision::Include { rule: by.map(str::to_owned) }),
        "exclude" => {
            let rule =
                by.unwrap_or(ExclusionRule::Admin.name()).parse().map_err(|_| invalid("no rule has this name"))?;
            let is_reason = (1..=MAX_REASON_CHARS).contains(&reason.chars().count()) && is_storable(reason);
            let reason = is_reason.then(|| reason.to_owned());
            Ok(ExclusionDecision::Exclude {
                rule,
                reason: reason.ok_or(PageError::InvalidField(InvalidField::Reason))?,
            })
        }
        _ => Err(invalid("change is exclude or include")),
    }
}

fn invalid(text: &str) -> PageError {
    PageError::InvalidQuery(text.to_owned())
}

/// Formats the filter as a query, with `&` at its end.
fn query(fields: &FilterFields) -> String {
    let all = fields.all().into_iter();
    all.filter(|(_, value)| !value.is_empty()).map(|(name, value)| format!("{name}={}&", escaped(value))).collect()
}

fn evidence(call: &SignedInRequest, report: &VoterReport, result: &VoterResult) -> Evidence {
    let model = result.model.as_ref();
    let name = |id: &str| call.app.models.card(&ModelId::new(id)).name;
    Evidence {
        voter: result.voter.clone(),
        votes: result.votes,
        model: model.map(|model| name(&model.model)),
        favours: model.is_some_and(|model| model.favours),
        on_model: model.map(|model| model.votes),
        wins: model.and_then(|model| model.wins),
        expected: model.and_then(|model| model.expected),
        q: result.q,
        is_flagged: report.withheld().is_none() && result.q <= DEFAULT_ALPHA,
    }
}

async fn lines(call: &SignedInRequest, votes: Vec<&SelectedVote>) -> Result<Vec<VoteLine>, PageError> {
    let numbers: Vec<i64> = votes.iter().map(|vote| vote.seq).collect();
    let battles = call.app.store.battles_of_votes(&numbers).await?;
    Ok(votes.into_iter().map(|vote| line(call, vote, battles.get(&vote.seq))).collect())
}

fn line(call: &SignedInRequest, vote: &SelectedVote, battle: Option<&BattleId>) -> VoteLine {
    let name = |id: &str| call.app.models.card(&ModelId::new(id)).name;
    VoteLine {
        seq: vote.seq,
        cast_ms: vote.cast_at.0,
        voter: vote.voter.to_string(),
        models: [name(&vote.models[0]), name(&vote.models[1])],
        outcome: vote.outcome,
        rules: vote.rules.iter().map(ToString::to_string).collect(),
        battle: battle.map(ToString::to_string),
    }
}
