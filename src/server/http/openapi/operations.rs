//! Operations of `/api/v1`: purpose, parameters and responses of each address.

use schemars::generate::SchemaGenerator;
use schemars::{JsonSchema, Schema};
use serde_json::{Map, Value};

use crate::domain::admin::key_scope::KeyScope;
use crate::domain::battle::pairing::published_pairing::PublishedPairing;
use crate::domain::battle_judging::report::BattleJudgingReport;
use crate::domain::correlation::report::{MixtureReport, PairReport};
use crate::domain::model_register::report::Register;
use crate::http::api_keys::{AuditList, AuditQuery, KeyJson};
use crate::http::benchmarks::benchmark::ReportQuery;
use crate::http::benchmarks::benchmark_comparison::{ComparisonJson, ComparisonQuery};
use crate::http::benchmarks::correlation::CatalogJson;
use crate::http::benchmarks::suite_score_table::{ScoreTableQuery, Suites};
use crate::http::campaign::{
    ErrorBody, JoinAnswer, JoinRequest, JudgementAnswer, JudgementRequest, NextAnswer, NextRequest, UndoAnswer,
    UndoRequest,
};
use crate::http::leaderboards::leaderboard_api::{DatedLeaderboard, DatedRigging, DatedRobustness};
use crate::http::leaderboards::models::RegisterQuery;
use crate::http::leaderboards::value::DatedReport;
use crate::http::log::exclusions::{ExclusionList, ExclusionsQuery};
use crate::http::log::public_log::{LogDescription, ReceiptJson};
use crate::http::log::vote_log_api::VotesQuery;
use crate::http::visitor::consent::ConsentJson;
use crate::pages::correlation_query::CorrelationQuery;
use crate::pages::leaderboards::leaderboard_query::LeaderboardQuery;
use crate::render::report::benchmark::Report;

type SchemaOf = fn(&mut SchemaGenerator) -> Schema;

/// HTTP method of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HttpMethod {
    /// Safe requests.
    Get,
    /// Changes.
    Post,
}

impl HttpMethod {
    /// Returns the key of the method in a path item.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Get => "get",
            Self::Post => "post",
        }
    }
}

/// Content type with its schema.
#[derive(Debug, Clone, Copy)]
pub(super) struct ResponseContent {
    pub(super) kind: &'static str,
    pub(super) schema: SchemaOf,
}

/// Request body of an operation.
#[derive(Debug, Clone, Copy)]
pub(super) struct RequestBody {
    pub(super) schema: SchemaOf,
    pub(super) is_required: bool,
}

/// Operation: one method of one address.
#[derive(Debug)]
pub struct Operation {
    /// HTTP method.
    pub method: HttpMethod,
    /// Address, with its path parameters in braces.
    pub path: &'static str,
    /// Operation id, from which generated clients take names.
    pub id: &'static str,
    /// Tag that groups operations.
    pub tag: &'static str,
    /// Purpose in a sentence.
    pub summary: &'static str,
    pub(super) query: Option<SchemaOf>,
    pub(super) body: Option<RequestBody>,
    pub(super) answers: &'static [ResponseContent],
    pub(super) access: AllowedCallers,
}

/// Authorisation of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AllowedCallers {
    /// Everyone.
    Anybody,
    /// Annotators with the token of their link, and programs with a key for annotating.
    Annotators,
    /// Everyone, or programs with a key for reading votes, by setting.
    VoteReaders,
    /// Programs with any key.
    AnyKey,
    /// Programs with a key of this scope.
    Key(KeyScope),
}

impl Operation {
    /// Returns the error statuses with their meanings.
    pub(super) fn refusals(&self) -> &'static [(&'static str, &'static str)] {
        if self.access == AllowedCallers::Annotators {
            return &[
                ("400", "The request cannot be read, or the judgement does not fit the task."),
                ("401", "The token is missing or unknown."),
                ("403", "The link was revoked, has expired or has no place left, or the key may not annotate."),
                ("404", "There is no such campaign, or the assignment is not this annotator's."),
                ("409", "The campaign is not open, or nothing has been judged."),
                ("413", "The request is longer than 65,536 bytes."),
                (
                    "429",
                    "Too many wrong keys, new annotators, rendered texts or votes of a rated campaign: `Retry-After` says when to come back.",
                ),
                ("503", "The database does not answer: try again in a minute."),
            ];
        }
        if self.access == AllowedCallers::VoteReaders {
            return &[
                ("400", "A parameter cannot be read: the text says what it may be."),
                ("401", "The key is missing or unknown, was revoked, or has expired."),
                ("403", "The key does not have the scope."),
                ("404", "The operator does not give the votes away."),
                ("429", "Too many wrong keys came from the network: `Retry-After` says when to come back."),
                (
                    "503",
                    "Many read at the moment, or the database does not answer: `Retry-After` says when to come back.",
                ),
            ];
        }
        if self.access != AllowedCallers::Anybody {
            return &[
                ("400", "A parameter cannot be read: the text says what it may be."),
                ("401", "The key is missing or unknown, was revoked, or has expired."),
                ("403", "The key does not have the scope."),
                ("429", "Too many wrong keys came from the network: `Retry-After` says when to come back."),
                ("503", "The database does not answer: try again in a minute."),
            ];
        }
        &[
            ("400", "A parameter cannot be read: the text says what it may be."),
            ("404", "What the address names does not exist."),
            ("503", "Being computed, or the database does not answer: `Retry-After` says when to come back."),
        ]
    }

    /// Returns the error statuses of requests whose body is not read, which every address answers as text.
    pub(super) fn body_refusals(&self) -> &'static [(&'static str, &'static str)] {
        match self.body {
            None => &[],
            Some(_) => &[
                ("408", "The request did not come within 10 seconds."),
                (
                    "415",
                    "The request is compressed or has the type `text/plain`: send it as JSON without `Content-Encoding`.",
                ),
            ],
        }
    }

    /// Whether responses have an `ETag`: public ones that are not streamed.
    pub(super) fn has_tag(&self) -> bool {
        self.access == AllowedCallers::Anybody
    }

    /// Returns the content type of errors: JSON for annotators, otherwise plain text.
    pub(super) fn refused_as(&self) -> ResponseContent {
        if self.access == AllowedCallers::Annotators { json::<ErrorBody<'_>>() } else { TEXT }
    }
}

/// Plain text content.
pub(super) const TEXT: ResponseContent = ResponseContent { kind: "text/plain", schema: schema_of::<String> };
const LINES: ResponseContent = ResponseContent { kind: "application/x-ndjson", schema: schema_of::<String> };
const CSV: ResponseContent = ResponseContent { kind: "text/csv", schema: schema_of::<String> };

const fn json<T: JsonSchema>() -> ResponseContent {
    ResponseContent { kind: "application/json", schema: schema_of::<T> }
}

fn schema_of<T: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<T>()
}

/// Returns the type's own schema, whose properties become parameters.
fn parameters_of<T: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    T::json_schema(generator)
}

/// Response of `/api/v1/correlation`: two series, a mixture, or everything.
#[derive(JsonSchema)]
#[schemars(untagged)]
#[expect(dead_code, reason = "the handler writes one of these")]
enum CorrelationAnswer<'a> {
    Pair(Box<PairReport>),
    Mixture(Box<MixtureReport>),
    Catalog(CatalogJson<'a>),
}

const fn get(
    path: &'static str,
    id: &'static str,
    tag: &'static str,
    answers: &'static [ResponseContent],
) -> Operation {
    let (query, body) = (None, None);
    Operation {
        method: HttpMethod::Get,
        path,
        id,
        tag,
        summary: "",
        query,
        body,
        answers,
        access: AllowedCallers::Anybody,
    }
}

const fn post(path: &'static str, id: &'static str, answers: &'static [ResponseContent]) -> Operation {
    Operation { method: HttpMethod::Post, access: AllowedCallers::Annotators, ..get(path, id, "campaigns", answers) }
}

impl Operation {
    const fn about(self, summary: &'static str) -> Self {
        Self { summary, ..self }
    }

    const fn for_keys(self, access: AllowedCallers) -> Self {
        Self { access, ..self }
    }

    const fn with_query(self, query: SchemaOf) -> Self {
        Self { query: Some(query), ..self }
    }

    const fn with_body(self, schema: SchemaOf, is_required: bool) -> Self {
        Self { body: Some(RequestBody { schema, is_required }), ..self }
    }
}

/// Operations of `/api/v1`.
pub static OPERATIONS: [Operation; 25] = [
    get("/api/v1/leaderboard", "leaderboard", "leaderboard", &[json::<DatedLeaderboard<'static>>()])
        .about("The latest leaderboard, or that of a part of the votes or of a past moment.")
        .with_query(parameters_of::<LeaderboardQuery>),
    get("/api/v1/leaderboard.csv", "leaderboard_csv", "leaderboard", &[CSV])
        .about("The same leaderboard as CSV, one row a model.")
        .with_query(parameters_of::<LeaderboardQuery>),
    get(
        "/api/v1/leaderboard/robustness",
        "leaderboard_robustness",
        "leaderboard",
        &[json::<DatedRobustness<'static>>()],
    )
    .about("How firm the leaderboard is: what would change first place, and how many votes it takes."),
    get("/api/v1/leaderboard/rigging", "leaderboard_rigging", "leaderboard", &[json::<DatedRigging<'static>>()])
        .about("How many rigged votes would swap neighbours, and the leaderboard without flagged voters."),
    get("/api/v1/leaderboard/value", "leaderboard_value", "leaderboard", &[json::<DatedReport<'static>>()])
        .about("What models cost and how fast they are, beside their ratings; `until` is refused.")
        .with_query(parameters_of::<LeaderboardQuery>),
    get("/api/v1/models", "models", "models", &[json::<Register>()])
        .about("Every model that ever took part, with its changes and its share of battles.")
        .with_query(parameters_of::<RegisterQuery>),
    get("/api/v1/pairing", "pairing", "models", &[json::<PublishedPairing>()])
        .about("The pairing policy and the probability of each pair by the latest ratings."),
    get("/api/v1/log", "public_log", "votes", &[json::<LogDescription<'static>>()])
        .about("Name, key and state of the public log of votes."),
    get("/api/v1/log/votes/{vote}", "vote_receipt", "votes", &[json::<ReceiptJson<'static>>(), TEXT])
        .about("Where a vote stands in the public log; with `.tlog-proof` behind the id, the proof alone as text."),
    get("/api/v1/votes", "votes", "votes", &[LINES])
        .about(
            "The vote log in lines of JSON, in its order and without conversations, as `langya export votes` writes it. Without a key it ends \
             at the last vote of the leaderboard.",
        )
        .with_query(parameters_of::<VotesQuery>)
        .for_keys(AllowedCallers::VoteReaders),
    get("/api/v1/exclusions", "exclusions", "votes", &[json::<ExclusionList>()])
        .about("What keeps votes out of the ratings, the latest first, 100 at once and up to 1,000 with `limit`.")
        .with_query(parameters_of::<ExclusionsQuery>),
    get("/api/v1/consent", "consent", "votes", &[json::<ConsentJson>()])
        .about("What visitors agree to before their first battle; a `start` may name its version in `consent`."),
    get("/api/v1/benchmarks", "benchmarks", "benchmarks", &[json::<Suites>()])
        .about("The data files of benchmark suites, what was judged over each, and all models beside each other.")
        .with_query(parameters_of::<ScoreTableQuery>),
    get("/api/v1/benchmarks.csv", "benchmarks_csv", "benchmarks", &[CSV])
        .about("All models and suites as CSV, one row a model and suite.")
        .with_query(parameters_of::<ScoreTableQuery>),
    get("/api/v1/benchmarks/{suite}", "benchmark", "benchmarks", &[json::<Report>()])
        .about("The report of a suite: tables and findings.")
        .with_query(parameters_of::<ReportQuery>),
    get("/api/v1/benchmarks/{suite}/compare", "benchmark_runs_compared", "benchmarks", &[json::<ComparisonJson>()])
        .about("Two runs of a suite item by item: what changed in data, prompts and settings, in answers and scores.")
        .with_query(parameters_of::<ComparisonQuery>),
    get("/api/v1/correlation", "correlation", "benchmarks", &[json::<CorrelationAnswer<'static>>()])
        .about("The correlation of two series, of a mixture with its target, or all series with their matrix.")
        .with_query(parameters_of::<CorrelationQuery>),
    get("/api/v1/judges", "judges", "benchmarks", &[json::<BattleJudgingReport>()])
        .about("How far judge models agree with people on the arena's own battles."),
    post("/api/v1/campaigns/{id}/next", "next_assignment", &[json::<NextAnswer>()])
        .about("The assignment that waits for a judgement, or a new one.")
        .with_body(schema_of::<NextRequest>, false),
    post("/api/v1/campaigns/{id}/judgements", "judge_assignment", &[json::<JudgementAnswer>()])
        .about("Judges an assignment once; a repeated request gets the first judgement.")
        .with_body(schema_of::<JudgementRequest>, true),
    post("/api/v1/campaigns/{id}/undo", "undo_judgement", &[json::<UndoAnswer>()])
        .about("Takes the annotator's last judgement back; a request that names the judgement may be repeated.")
        .with_body(schema_of::<UndoRequest>, false),
    post("/api/v1/campaigns/{id}/join", "join_campaign", &[json::<JoinAnswer>()])
        .about("Takes a place of a shared link, whose token the request has; the answer has the annotator's own.")
        .with_body(schema_of::<JoinRequest>, false),
    get("/api/v1/key", "api_key", "keys", &[json::<KeyJson>()])
        .about("What the key of the request may do.")
        .for_keys(AllowedCallers::AnyKey),
    get("/api/v1/audit", "audit_log", "keys", &[json::<AuditList>()])
        .about("The audit log, the latest entry first, 100 at once and up to 1,000 with `limit`.")
        .with_query(parameters_of::<AuditQuery>)
        .for_keys(AllowedCallers::Key(KeyScope::Admin)),
    get("/api/v1/openapi.json", "openapi", "document", &[json::<Map<String, Value>>()]).about("This document."),
];
