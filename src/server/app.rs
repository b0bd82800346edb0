//! Builds the arena from the settings and starts the background jobs.

use std::sync::Arc;

use tokio::sync::watch;

use crate::domain::rating::FitError;
use crate::infra::config::{CurrentSettings, Settings};
use crate::infra::data_folder_probe::DataFolderProbe;
use crate::infra::events::{BusState, EventBus};
use crate::infra::limits::proof_of_work::{ProofParts, Proofs};
use crate::infra::limits::{RateLimits, SharedBackends, SingleUse};
use crate::infra::llm::roster::Roster;
use crate::infra::moderation::ModerationEndpoint;
use crate::infra::oidc::OidcClient;
use crate::infra::pacing_class_draws::ClassDraws;
use crate::infra::public_log::signed_checkpoint_file::CheckpointFile;
use crate::infra::raw_pacing_ticks::RawPacingTicks;
use crate::infra::redis::RedisHandle;
use crate::infra::rng::SharedRng;
use crate::infra::sessions::Sessions;
use crate::infra::shared_clock::follow_database;
use crate::infra::storage::{Store, StoreError};
use crate::infra::stored_votes::final_labels::SliceVoteChanges;
use crate::infra::stored_votes::rated_votes::RatedVotes;
use crate::infra::stored_votes::vote_tally::VoteTally;
use crate::infra::tasks::Tasks;
use crate::infra::time::clock::Clock;
use crate::infra::time::clock_jumps::JumpDetectingClock;
use crate::infra::webhooks::WebhookSender;
use crate::jobs::heartbeat::first_heartbeat;
use crate::jobs::job_table::{JOBS, Job};
use crate::services::admin::api_keys::ApiKeys;
use crate::services::admin::sessions::AdminSessions;
use crate::services::admin::users::AdminUsers;
use crate::services::arena::access::Access;
use crate::services::arena::battle_dependencies::BattleDependencies;
use crate::services::arena::battles::Battles;
use crate::services::arena::consent_version::Consents;
use crate::services::arena::exclusion_rules::ExclusionRules;
use crate::services::arena::instances::ArenaInstances;
use crate::services::arena::models::Models;
use crate::services::arena::pair_selection::Matchmaker;
use crate::services::arena::prompt_images::PromptImages;
use crate::services::arena::prompt_rules::PromptRules;
use crate::services::arena::reply_moderation::ReplyModeration;
use crate::services::arena::voting::Voting;
use crate::services::battle_judging::auto_judge::AutoJudge;
use crate::services::battle_judging::reports::BattleJudgingReports;
use crate::services::benchmark::plans::BenchPlans;
use crate::services::benchmark::suite_results_cache::SuiteResultsCache;
use crate::services::campaign::report_cache::CampaignReports;
use crate::services::correlation::snapshot::CorrelationService;
use crate::services::exclusions::flagged_voters::FlaggedVotersCache;
use crate::services::exclusions::leak_check::LeakCheck;
use crate::services::exclusions::voter_check::VoterCheck;
use crate::services::judging_rounds::RoundDependencies;
use crate::services::leaderboard::background_report::BackgroundReport;
use crate::services::leaderboard::day_feed::DayFeed;
use crate::services::leaderboard::filtered::FilteredLeaderboards;
use crate::services::leaderboard::latest_leaderboard::{LatestLeaderboard, Refitter};
use crate::services::leaderboard::value::ValueReports;
use crate::services::model_register::ModelRegister;
use crate::services::model_register::recording::Recorder;
use crate::services::public_log::sequencer::{Sequencer, SequencerDependencies};
use crate::services::public_log::{PublicLog, PublicLogError};
use crate::state::AppState;
use crate::watched_settings_file::WatchedSettingsFile;

/// External dependencies of an arena; tests replace them.
pub struct Dependencies {
    /// Database of the arena.
    pub store: Store,
    /// Event bus between instances.
    pub events: Arc<dyn EventBus>,
    /// Redis handle, if several instances share a server.
    pub link: Option<RedisHandle>,
    /// Initial models.
    pub roster: Roster,
    /// Clock for stored rows.
    pub clock: Arc<dyn Clock>,
    /// Random number generator.
    pub rng: SharedRng,
    /// Moderation service for prompts, if configured.
    pub moderation: Option<ModerationEndpoint>,
    /// Sender of webhook messages.
    pub webhooks: WebhookSender,
    /// Settings file, if it is watched.
    pub settings_file: Option<Arc<WatchedSettingsFile>>,
}

/// Error of starting the arena.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Rating settings are invalid.
    #[error(transparent)]
    Rating(#[from] FitError),
    /// The key of the public log cannot be read.
    #[error(transparent)]
    PublicLog(#[from] PublicLogError),
}

/// Returns the registry of instances. If another process may serve the same database, battles may be running there.
fn join_instances(store: &Store, events: &dyn EventBus) -> ArenaInstances {
    let me = events.instance().clone();
    let bus = *events.state().borrow();
    if store.is_shared() || bus != BusState::Alone {
        ArenaInstances::with_peers(store.clone(), me, bus)
    } else {
        ArenaInstances::alone(store.clone(), me)
    }
}

/// Dependencies shared by most parts of an arena.
struct CoreDependencies {
    settings: CurrentSettings,
    webhooks: Arc<WebhookSender>,
    settings_file: Option<Arc<WatchedSettingsFile>>,
    store: Store,
    events: Arc<dyn EventBus>,
    link: Option<RedisHandle>,
    rng: Arc<SharedRng>,
    clock: Arc<JumpDetectingClock>,
    tasks: Tasks,
    instances: Arc<ArenaInstances>,
    models: Arc<Models>,
    leaderboard: Arc<LatestLeaderboard>,
    sessions: Arc<Sessions>,
    prompts: Arc<PromptRules>,
}

impl CoreDependencies {
    async fn open(settings: Settings, worlds: Dependencies) -> Result<Self, StartError> {
        let Dependencies { store, events, link, roster, clock, rng, moderation, webhooks, settings_file } = worlds;
        follow_database(clock.as_ref(), &store).await?;
        let (settings, clock) = (CurrentSettings::new(settings), Arc::new(JumpDetectingClock::new(clock)));
        let (rng, tasks) = (Arc::new(rng), Tasks::default());
        let instances = Arc::new(join_instances(&store, events.as_ref()));
        first_heartbeat(&instances, &settings.now(), clock.now()).await?;
        let models = Arc::new(Models::open(roster, &store, clock.as_ref()).await?);
        let leaderboard = Arc::new(LatestLeaderboard::open(&store).await?);
        let sessions = Arc::new(Sessions::open(&store, Arc::clone(&rng), clock.as_ref()).await?);
        let prompts = Arc::new(PromptRules {
            settings: settings.clone(),
            endpoint: moderation.map(Arc::new),
            store: store.clone(),
            rng: Arc::clone(&rng),
            clock: clock.clone(),
        });
        let webhooks = Arc::new(webhooks);
        Ok(Self {
            webhooks,
            prompts,
            settings,
            settings_file,
            store,
            events,
            link,
            rng,
            clock,
            tasks,
            instances,
            models,
            leaderboard,
            sessions,
        })
    }

    fn matchmaker(&self) -> Matchmaker {
        let (models, leaderboard) = (Arc::clone(&self.models), Arc::clone(&self.leaderboard));
        Matchmaker::new(models, leaderboard, Arc::clone(&self.rng), self.settings.clone())
    }

    async fn battles(&self, matchmaker: &Arc<Matchmaker>, images: &Arc<PromptImages>) -> Result<Battles, StartError> {
        Ok(Battles::new(BattleDependencies {
            store: self.store.clone(),
            instances: Arc::clone(&self.instances),
            events: Arc::clone(&self.events),
            models: Arc::clone(&self.models),
            matchmaker: Arc::clone(matchmaker),
            rng: Arc::clone(&self.rng),
            clock: self.clock.clone(),
            class_draws: ClassDraws::open(&self.store, &self.rng, self.clock.as_ref()).await?,
            raw_pacing_ticks: RawPacingTicks::start(),
            tasks: self.tasks.clone(),
            prompts: Arc::clone(&self.prompts),
            images: Arc::clone(images),
            settings: self.settings.clone(),
        }))
    }

    fn images(&self) -> PromptImages {
        let (rng, clock) = (Arc::clone(&self.rng), self.clock.clone());
        PromptImages::new(self.store.clone(), rng, clock, self.settings.clone())
    }

    fn voting(&self, battles: &Arc<Battles>, log: &PublicLog) -> Voting {
        Voting {
            store: self.store.clone(),
            battles: Arc::clone(battles),
            events: Arc::clone(&self.events),
            models: Arc::clone(&self.models),
            rules: ExclusionRules::new(Arc::clone(&self.models), self.settings.clone()),
            leaderboard: Arc::clone(&self.leaderboard),
            settings: self.settings.clone(),
            rng: Arc::clone(&self.rng),
            clock: self.clock.clone(),
            replies: ReplyModeration::new(Arc::clone(&self.prompts), self.tasks.clone()),
            log: log.clone(),
        }
    }

    async fn public_log(&self) -> Result<PublicLog, StartError> {
        let settings = self.settings.now();
        let (store, clock) = (self.store.clone(), self.clock.as_ref());
        Ok(PublicLog::open(store, &self.rng, clock, &settings.server.public_url).await?)
    }

    fn filtered(&self) -> FilteredLeaderboards {
        FilteredLeaderboards::new(self.store.clone(), self.settings.clone(), self.tasks.clone())
    }

    fn value(&self, filtered: &Arc<FilteredLeaderboards>) -> ValueReports {
        ValueReports::new(self.store.clone(), self.settings.clone(), Arc::clone(filtered), self.tasks.clone())
    }

    fn background_report<R: Default>(&self) -> BackgroundReport<R> {
        BackgroundReport::new(self.store.clone(), self.settings.clone(), Arc::clone(&self.leaderboard))
    }

    fn battle_judging(&self) -> BattleJudgingReports {
        let reports = BattleJudgingReports::new(self.store.clone(), self.tasks.clone());
        reports.up_to(Arc::clone(&self.leaderboard))
    }

    fn correlation(&self) -> CorrelationService {
        let (store, leaderboard) = (self.store.clone(), Arc::clone(&self.leaderboard));
        CorrelationService::new(store, self.settings.clone(), leaderboard, self.clock.clone(), &self.tasks)
    }

    fn voter_check(&self) -> VoterCheck {
        VoterCheck::new(self.store.clone(), self.settings.clone(), Arc::clone(&self.rng), self.clock.clone())
    }

    fn access(&self, limits: &Arc<RateLimits>) -> Access {
        let (store, sessions) = (self.store.clone(), Arc::clone(&self.sessions));
        Access::new(store, sessions, Arc::clone(limits), self.settings.clone(), self.clock.clone())
    }

    fn consents(&self) -> Consents {
        Consents::new(self.store.clone(), self.settings.clone(), self.clock.clone())
    }

    fn bench_plans(&self) -> BenchPlans {
        BenchPlans {
            store: self.store.clone(),
            models: Arc::clone(&self.models),
            settings: self.settings.clone(),
            rng: Arc::clone(&self.rng),
            clock: self.clock.clone(),
        }
    }

    /// Returns the backends that count limits across instances.
    fn shared_backends(&self) -> Option<SharedBackends> {
        let redis = self.link.clone()?;
        Some(SharedBackends { redis, store: self.store.clone() })
    }

    fn oidc(&self) -> OidcClient {
        let used = SingleUse::new("oidc_state", self.shared_backends());
        OidcClient::new(self.settings.clone(), Arc::clone(&self.sessions), self.clock.clone(), used)
    }

    fn proofs(&self, limits: &Arc<RateLimits>) -> Proofs {
        Proofs::new(ProofParts {
            sessions: Arc::clone(&self.sessions),
            limits: Arc::clone(limits),
            settings: self.settings.clone(),
            rng: Arc::clone(&self.rng),
            clock: self.clock.clone(),
            used: SingleUse::new("proof", self.shared_backends()),
        })
    }
}

impl AppState {
    /// Builds the arena and starts its background jobs.
    ///
    /// # Errors
    /// [`StartError`] if the database, the rating settings or the public log's key is unusable.
    pub async fn start(settings: Settings, worlds: Dependencies) -> Result<Arc<Self>, StartError> {
        let app = Arc::new(Self::assemble(CoreDependencies::open(settings, worlds).await?).await?);
        app.start_jobs()?;
        Ok(app)
    }

    async fn assemble(base: CoreDependencies) -> Result<Self, StartError> {
        let matchmaker = Arc::new(base.matchmaker());
        let images = Arc::new(base.images());
        let battles = Arc::new(base.battles(&matchmaker, &images).await?);
        let filtered = Arc::new(base.filtered());
        let limits = Arc::new(RateLimits::new(base.settings.clone(), base.shared_backends()));
        let public_log = base.public_log().await?;
        let admin_users = Arc::new(AdminUsers::new(base.store.clone(), Arc::clone(&base.rng), base.clock.clone()));
        let admin_sessions = AdminSessions::new(Arc::clone(&admin_users), Arc::clone(&limits), base.settings.clone());
        Ok(Self {
            voting: Arc::new(base.voting(&battles, &public_log)),
            value: Arc::new(base.value(&filtered)),
            robustness: Arc::new(base.background_report()),
            exclusion_reports: Arc::new(base.background_report()),
            bench_plans: Arc::new(base.bench_plans()),
            suite_results: Arc::new(SuiteResultsCache::new(base.store.clone(), &base.tasks)),
            campaigns: Arc::new(CampaignReports::new(base.store.clone(), base.tasks.clone())),
            correlation: Arc::new(base.correlation()),
            battle_judging: Arc::new(base.battle_judging()),
            flagged_voters: Arc::new(FlaggedVotersCache::new(base.store.clone(), base.tasks.clone())),
            voter_check: Arc::new(base.voter_check()),
            register: Arc::new(ModelRegister::new(base.store.clone())),
            public_log,
            access: Arc::new(base.access(&limits)),
            consents: Arc::new(base.consents()),
            day_feed: Arc::new(DayFeed::new(base.store.clone(), Arc::clone(&base.leaderboard))),
            admin_sessions: Arc::new(admin_sessions),
            api_keys: ApiKeys::new(base.store.clone(), Arc::clone(&base.rng), base.clock.clone()),
            oidc: Arc::new(base.oidc()),
            proofs: Arc::new(base.proofs(&limits)),
            data_folder: DataFolderProbe::default(),
            prompts: base.prompts,
            webhooks: base.webhooks,
            settings: base.settings,
            settings_file: base.settings_file,
            store: base.store,
            models: base.models,
            leaderboard: base.leaderboard,
            instances: base.instances,
            sessions: base.sessions,
            events: base.events,
            link: base.link,
            rng: base.rng,
            clock: base.clock,
            tasks: base.tasks,
            admin_users,
            filtered,
            matchmaker,
            images,
            battles,
            limits,
        })
    }

    fn start_jobs(self: &Arc<Self>) -> Result<(), StartError> {
        // Checked here rather than at the first fit.
        self.settings.now().rating.leaderboard_options()?;
        let leader_election = watch::Sender::new(false);
        for Job { name, need, run } in JOBS {
            let (app, leader_election) = (Arc::clone(self), leader_election.clone());
            let report = self.tasks.job_report(name);
            self.tasks.supervise(name, need, move || run(&app, &leader_election, report.clone()));
        }
        Ok(())
    }

    pub(crate) fn refitter(&self) -> Refitter {
        Refitter {
            store: self.store.clone(),
            leaderboard: Arc::clone(&self.leaderboard),
            events: Arc::clone(&self.events),
            clock: self.clock.clone(),
            settings: self.settings.clone(),
            ranked_by: None,
            votes: RatedVotes::default(),
            relabeled: SliceVoteChanges::default(),
            ranked_exclusions: None,
            tally: VoteTally::default(),
        }
    }

    pub(crate) fn recorder(&self) -> Recorder {
        Recorder {
            store: self.store.clone(),
            models: Arc::clone(&self.models),
            settings: self.settings.clone(),
            clock: self.clock.clone(),
            rng: Arc::clone(&self.rng),
        }
    }

    pub(crate) fn sequencer(&self) -> Sequencer {
        Sequencer::new(SequencerDependencies {
            log: self.public_log.clone(),
            leaderboard: Arc::clone(&self.leaderboard),
            clock: self.clock.clone(),
            rng: Arc::clone(&self.rng),
            file: CheckpointFile::in_folder(&self.settings.now().storage.data_dir),
            settings: self.settings.clone(),
        })
    }

    pub(crate) fn auto_judge(&self) -> AutoJudge {
        AutoJudge::new(self.round_parts())
    }

    pub(crate) fn leak_check(&self) -> LeakCheck {
        LeakCheck::new(self.round_parts())
    }

    fn round_parts(&self) -> RoundDependencies {
        RoundDependencies {
            store: self.store.clone(),
            models: Arc::clone(&self.models),
            rng: Arc::clone(&self.rng),
            clock: self.clock.clone(),
        }
    }
}
