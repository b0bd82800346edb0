//! The running arena: everything built once from the settings and handed to the edges.

use std::sync::Arc;

use tokio::sync::watch;

use crate::chance::Chance;
use crate::clock::Clock;
use crate::config::{CurrentSettings, Settings};
use crate::events::{BusState, EventBus};
use crate::jobs;
use crate::limits::RateLimits;
use crate::llm::roster::Roster;
use crate::rating::FitError;
use crate::services::battles::{BattleParts, Battles};
use crate::services::benchmark::boards::Boards;
use crate::services::correlation::board::Correlator;
use crate::services::crowd::reports::CrowdReports;
use crate::services::crowd::rounds::{RoundParts, Rounds};
use crate::services::final_labels::FacetChanges;
use crate::services::fleet::Fleet;
use crate::services::leaderboard::{Refitter, Standings, leaderboard_options};
use crate::services::matchmaking::Matchmaker;
use crate::services::models::Models;
use crate::services::relay;
use crate::services::sessions::Sessions;
use crate::services::studies::Studies;
use crate::services::tasks::Tasks;
use crate::services::vote_tally::VoteTally;
use crate::services::voting::Voting;
use crate::shared::{Link, SharedRests};
use crate::storage::{Store, StoreError};

/// What the edges reach.
pub struct AppState {
    /// The settings in force.
    pub settings: CurrentSettings,
    /// The database.
    pub store: Store,
    /// Who can be asked.
    pub models: Arc<Models>,
    /// The latest leaderboard.
    pub standings: Arc<Standings>,
    /// Leaderboards of a part of the votes.
    pub studies: Arc<Studies>,
    /// The scores of benchmarks.
    pub boards: Arc<Boards>,
    /// How series of the arena and of benchmarks go together.
    pub correlator: Arc<Correlator>,
    /// What judges made of the arena's own battles.
    pub crowd: Arc<CrowdReports>,
    /// Who meets whom.
    pub matchmaker: Arc<Matchmaker>,
    /// Which instances serve the arena.
    pub fleet: Arc<Fleet>,
    /// Battles.
    pub battles: Arc<Battles>,
    /// Votes.
    pub voting: Arc<Voting>,
    /// Who the visitors are.
    pub sessions: Sessions,
    /// How much a visitor may do.
    pub limits: Arc<RateLimits>,
    /// What changed.
    pub events: Arc<dyn EventBus>,
    /// The way to Redis, where several instances share one.
    pub link: Option<Link>,
    /// Randomness.
    pub chance: Arc<Chance>,
    /// The time of day.
    pub clock: Arc<dyn Clock>,
    /// Owner of all background tasks.
    pub tasks: Tasks,
}

/// The outside worlds of an arena; a test gives its own.
pub struct Worlds {
    /// The database.
    pub store: Store,
    /// What this and other instances tell each other.
    pub events: Arc<dyn EventBus>,
    /// The way to Redis, where several instances share one.
    pub link: Option<Link>,
    /// The models to begin with.
    pub roster: Roster,
    /// The time of day.
    pub clock: Arc<dyn Clock>,
    /// Randomness.
    pub chance: Chance,
}

/// Why the arena does not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The rating settings cannot be used.
    #[error(transparent)]
    Rating(#[from] FitError),
}

impl AppState {
    /// Puts the arena together and starts its background loops.
    ///
    /// # Errors
    /// [`StartError`].
    pub async fn start(settings: Settings, worlds: Worlds) -> Result<Arc<Self>, StartError> {
        let Worlds { store, events, link, roster, clock, chance } = worlds;
        let settings = CurrentSettings::new(settings);
        let (chance, tasks) = (Arc::new(chance), Tasks::default());
        // Where another process may serve the same database, battles may be under way there.
        let shared = store.is_shared() || *events.state().borrow() != BusState::Alone;
        let me = events.instance().clone();
        let fleet = if shared { Fleet::among_others(store.clone(), me) } else { Fleet::alone(store.clone(), me) };
        let fleet = Arc::new(fleet);
        jobs::beat::first_beat(&fleet, &settings.now(), clock.now()).await?;
        let models = Arc::new(Models::open(roster, &store, clock.as_ref()).await?);
        let standings = Arc::new(Standings::open(&store).await?);
        let sessions = Sessions::open(&store, Arc::clone(&chance), clock.as_ref()).await?;
        let matchmaker = Arc::new(Matchmaker::new(
            Arc::clone(&models),
            Arc::clone(&standings),
            Arc::clone(&chance),
            settings.clone(),
        ));
        let battles = Arc::new(Battles::new(BattleParts {
            store: store.clone(),
            fleet: Arc::clone(&fleet),
            events: Arc::clone(&events),
            models: Arc::clone(&models),
            matchmaker: Arc::clone(&matchmaker),
            chance: Arc::clone(&chance),
            clock: Arc::clone(&clock),
            tasks: tasks.clone(),
            settings: settings.clone(),
        }));
        let voting = Arc::new(Voting {
            store: store.clone(),
            events: Arc::clone(&events),
            models: Arc::clone(&models),
            standings: Arc::clone(&standings),
            chance: Arc::clone(&chance),
            clock: Arc::clone(&clock),
        });
        let studies = Arc::new(Studies::new(store.clone(), settings.clone()));
        let boards = Arc::new(Boards::new(store.clone()));
        let correlator =
            Arc::new(Correlator::new(store.clone(), settings.clone(), Arc::clone(&standings), Arc::clone(&clock)));
        let crowd = Arc::new(CrowdReports::new(store.clone()));
        let limits = Arc::new(RateLimits::new(settings.clone(), link.clone()));
        let app = Self {
            settings,
            store,
            models,
            standings,
            studies,
            boards,
            correlator,
            crowd,
            matchmaker,
            fleet,
            battles,
            voting,
            sessions,
            limits,
            events,
            link,
            chance,
            clock,
            tasks,
        };
        app.start_jobs()?;
        Ok(Arc::new(app))
    }

    fn start_jobs(&self) -> Result<(), StartError> {
        // Refused here rather than at the first fit.
        leaderboard_options(&self.settings.now().rating)?;
        let refitter = Refitter {
            store: self.store.clone(),
            standings: Arc::clone(&self.standings),
            events: Arc::clone(&self.events),
            clock: Arc::clone(&self.clock),
            settings: self.settings.clone(),
            ranked_by: None,
            relabelled: FacetChanges::default(),
            tally: VoteTally::default(),
        };
        let (lead, leads) = watch::channel(false);
        let shutdown = || self.tasks.shutdown();
        self.tasks.spawn(jobs::lead::keep_lead(self.store.clone(), lead, shutdown()));
        self.tasks.spawn(jobs::keep_leaderboard(refitter, leads.clone(), shutdown()));
        self.tasks.spawn(jobs::correlations::keep_correlations(
            Arc::clone(&self.correlator),
            Arc::clone(&self.events),
            self.settings.clone(),
            shutdown(),
        ));
        self.tasks.spawn(jobs::beat::keep_beating(
            Arc::clone(&self.fleet),
            self.settings.clone(),
            Arc::clone(&self.clock),
            shutdown(),
        ));
        self.tasks.spawn(relay::answer_letters(Arc::clone(&self.battles)));
        self.tasks.spawn(jobs::tidy_metrics(shutdown()));
        self.tasks.spawn(jobs::health::keep_health(
            Arc::clone(&self.models),
            self.store.clone(),
            self.link.clone().map(SharedRests::new),
            Arc::clone(&self.clock),
            shutdown(),
        ));
        self.tasks.spawn(jobs::sweep_battles(
            Arc::clone(&self.battles),
            self.store.clone(),
            Arc::clone(&self.clock),
            self.settings.clone(),
            leads.clone(),
            shutdown(),
        ));
        self.tasks.spawn(jobs::partitions::keep_partitions(self.store.clone(), leads.clone(), shutdown()));
        self.tasks.spawn(jobs::crowd::judge_battles(
            Rounds::new(RoundParts {
                store: self.store.clone(),
                models: Arc::clone(&self.models),
                chance: Arc::clone(&self.chance),
                clock: Arc::clone(&self.clock),
            }),
            self.settings.clone(),
            Arc::clone(&self.events),
            leads,
            shutdown(),
        ));
        Ok(())
    }
}
