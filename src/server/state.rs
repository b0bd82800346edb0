//! What HTTP handlers, websockets and jobs reach.

use crate::domain::integrity::exclusion_report::ExclusionReport;
use crate::infra::clock_jumps::JumpDetectingClock;
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
use crate::services::benchmark::suite_results::SuiteResultsCache;
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

/// What the edges reach.
pub struct AppState {
    /// The settings in force.
    pub settings: CurrentSettings,
    /// The file that they come from; an embedded arena may have none.
    pub settings_file: Option<Arc<WatchedSettingsFile>>,
    /// The database.
    pub store: Store,
    /// The models.
    pub models: Arc<Models>,
    /// The latest leaderboard.
    pub leaderboard: Arc<LatestLeaderboard>,
    /// What changed on it on each of the last days.
    pub day_feed: Arc<DayFeed>,
    /// Leaderboards of a part of the votes.
    pub filtered: Arc<FilteredLeaderboards>,
    /// How firm the latest leaderboard is.
    pub robustness: Arc<BackgroundReport<RobustnessReport>>,
    /// What exclusions change on the published leaderboard.
    pub exclusion_reports: Arc<BackgroundReport<ExclusionReport>>,
    /// What models cost for what they are worth.
    pub value: Arc<ValueReports>,
    /// Plans of benchmarks that the server runs.
    pub bench_plans: Arc<BenchPlans>,
    /// The scores of benchmarks.
    pub suite_results: Arc<SuiteResultsCache>,
    /// What annotators of campaigns said.
    pub campaigns: Arc<CampaignReports>,
    /// How series of the arena and of benchmarks go together.
    pub correlation: Arc<CorrelationService>,
    /// What judges made of the arena's own battles.
    pub battle_judging: Arc<BattleJudgingReports>,
    /// Every model that ever took part, with its history.
    pub register: Arc<ModelRegister>,
    /// The public log of votes.
    pub public_log: PublicLog,
    /// Chooses the pair of models.
    pub matchmaker: Arc<Matchmaker>,
    /// Whether the data folder takes files.
    pub data_folder: DataFolderProbe,
    /// Which instances serve the arena.
    pub instances: Arc<ArenaInstances>,
    /// Battles.
    pub battles: Arc<Battles>,
    /// Votes.
    pub voting: Arc<Voting>,
    /// Visitors and their sessions.
    pub sessions: Arc<Sessions>,
    /// Who may take part.
    pub access: Arc<Access>,
    /// Who agreed to what is stored.
    pub consents: Arc<Consents>,
    /// Accounts of people who run the arena.
    pub admin_users: Arc<AdminUsers>,
    /// Keys with which programs use the API.
    pub api_keys: ApiKeys,
    /// Sends messages to the webhooks of the settings.
    pub webhooks: Arc<WebhookSender>,
    /// The provider where people sign in.
    pub oidc: Arc<OidcClient>,
    /// Their sessions.
    pub admin_sessions: Arc<AdminSessions>,
    /// Voters who vote like nobody else.
    pub flagged_voters: Arc<FlaggedVotersCache>,
    /// Excludes their votes, where the operator wants that.
    pub voter_check: Arc<VoterCheck>,
    /// What may be asked.
    pub prompts: Arc<PromptRules>,
    /// The images beside questions.
    pub images: Arc<PromptImages>,
    /// How much a visitor may do.
    pub limits: Arc<RateLimits>,
    /// What is to be computed before a battle, under pressure.
    pub proofs: Arc<Proofs>,
    /// What changed.
    pub events: Arc<dyn EventBus>,
    /// The way to Redis, where several instances share one.
    pub link: Option<RedisHandle>,
    /// Randomness.
    pub rng: Arc<SharedRng>,
    /// Clock of the arena.
    pub clock: Arc<JumpDetectingClock>,
    /// Owner of all background tasks.
    pub tasks: Tasks,
}
