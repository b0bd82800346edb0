//! Shared state of HTTP handlers, websockets and jobs.

use crate::domain::integrity::exclusions::exclusion_report::ExclusionReport;
use crate::infra::config::CurrentSettings;
use crate::infra::data_folder_probe::DataFolderProbe;
use crate::infra::events::EventBus;
use crate::infra::limits::RateLimits;
use crate::infra::limits::proof_of_work::Proofs;
use crate::infra::oidc::OidcClient;
use crate::infra::redis::RedisHandle;
use crate::infra::rng::SharedRng;
use crate::infra::sessions::Sessions;
use crate::infra::storage::Store;
use crate::infra::tasks::Tasks;
use crate::infra::time::clock_jumps::JumpDetectingClock;
use crate::infra::webhooks::WebhookSender;
use crate::services::admin::api_keys::ApiKeys;
use crate::services::admin::sessions::AdminSessions;
use crate::services::admin::users::AdminUsers;
use crate::services::arena::access::Access;
use crate::services::arena::battles::Battles;
use crate::services::arena::consent_version::Consents;
use crate::services::arena::instances::ArenaInstances;
use crate::services::arena::models::Models;
use crate::services::arena::pair_selection::Matchmaker;
use crate::services::arena::prompt_images::PromptImages;
use crate::services::arena::prompt_rules::PromptRules;
use crate::services::arena::voting::Voting;
use crate::services::battle_judging::reports::BattleJudgingReports;
use crate::services::benchmark::plans::BenchPlans;
use crate::services::benchmark::suite_results_cache::SuiteResultsCache;
use crate::services::campaign::report_cache::CampaignReports;
use crate::services::correlation::snapshot::CorrelationService;
use crate::services::exclusions::flagged_voters::FlaggedVotersCache;
use crate::services::exclusions::voter_check::VoterCheck;
use crate::services::leaderboard::background_report::BackgroundReport;
use crate::services::leaderboard::day_feed::DayFeed;
use crate::services::leaderboard::filtered::FilteredLeaderboards;
use crate::services::leaderboard::latest_leaderboard::LatestLeaderboard;
use crate::services::leaderboard::robustness::RobustnessReport;
use crate::services::leaderboard::value::ValueReports;
use crate::services::model_register::ModelRegister;
use crate::services::public_log::PublicLog;
use crate::watched_settings_file::WatchedSettingsFile;
use std::sync::Arc;

/// Shared state of HTTP handlers, websockets and jobs.
pub struct AppState {
    /// Settings in force.
    pub settings: CurrentSettings,
    /// Watched settings file; embedded arenas may have none.
    pub settings_file: Option<Arc<WatchedSettingsFile>>,
    /// Database of the arena.
    pub store: Store,
    /// Current roster of models.
    pub models: Arc<Models>,
    /// Latest leaderboard.
    pub leaderboard: Arc<LatestLeaderboard>,
    /// Leaderboard changes of each recent day.
    pub day_feed: Arc<DayFeed>,
    /// Filtered leaderboards, of a part of the votes.
    pub filtered: Arc<FilteredLeaderboards>,
    /// Robustness report on the latest leaderboard.
    pub robustness: Arc<BackgroundReport<RobustnessReport>>,
    /// Report on the effect of exclusions on the published leaderboard.
    pub exclusion_reports: Arc<BackgroundReport<ExclusionReport>>,
    /// Value-for-money reports.
    pub value: Arc<ValueReports>,
    /// Benchmark plans that the server runs.
    pub bench_plans: Arc<BenchPlans>,
    /// Benchmark scores.
    pub suite_results: Arc<SuiteResultsCache>,
    /// Reports on campaigns.
    pub campaigns: Arc<CampaignReports>,
    /// Correlations between series of the arena and of benchmarks.
    pub correlation: Arc<CorrelationService>,
    /// Reports on judges of the arena's battles.
    pub battle_judging: Arc<BattleJudgingReports>,
    /// Register of all models, with their history.
    pub register: Arc<ModelRegister>,
    /// Public log of votes.
    pub public_log: PublicLog,
    /// Chooses the pair of models.
    pub matchmaker: Arc<Matchmaker>,
    /// Probe whether the data folder is writable.
    pub data_folder: DataFolderProbe,
    /// Registry of the arena's instances.
    pub instances: Arc<ArenaInstances>,
    /// Battles: starting, answering and watching them.
    pub battles: Arc<Battles>,
    /// Casting of votes.
    pub voting: Arc<Voting>,
    /// Issuing and verification of session tokens.
    pub sessions: Arc<Sessions>,
    /// Sign-in and admission of visitors.
    pub access: Arc<Access>,
    /// Consents of visitors.
    pub consents: Arc<Consents>,
    /// Accounts of admin users.
    pub admin_users: Arc<AdminUsers>,
    /// API keys of programs.
    pub api_keys: ApiKeys,
    /// Sender of webhook messages.
    pub webhooks: Arc<WebhookSender>,
    /// Client of the identity provider.
    pub oidc: Arc<OidcClient>,
    /// Sessions of admin users.
    pub admin_sessions: Arc<AdminSessions>,
    /// Voters flagged by the tests.
    pub flagged_voters: Arc<FlaggedVotersCache>,
    /// Automatic exclusion of flagged voters' votes.
    pub voter_check: Arc<VoterCheck>,
    /// Validation and moderation of prompts.
    pub prompts: Arc<PromptRules>,
    /// Images beside prompts.
    pub images: Arc<PromptImages>,
    /// Rate limits.
    pub limits: Arc<RateLimits>,
    /// Proofs of work before a battle, under load.
    pub proofs: Arc<Proofs>,
    /// Event bus.
    pub events: Arc<dyn EventBus>,
    /// Redis handle, if several instances share a server.
    pub link: Option<RedisHandle>,
    /// Random number generator.
    pub rng: Arc<SharedRng>,
    /// Clock of the arena.
    pub clock: Arc<JumpDetectingClock>,
    /// Supervisor of all background tasks.
    pub tasks: Tasks,
}
