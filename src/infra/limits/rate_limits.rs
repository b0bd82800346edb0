//! Counts actions against the rate limits of the settings.

use parking_lot::{Mutex, MutexGuard};
use tokio::time::Instant;

use super::concurrency::{ConcurrencyLimit, ConcurrentTurns, TurnPermit};
use super::gcra::{Count, LimitAnswer, LimitCounts, TimesUntilFull, Wait, rates};
use super::redis_counts::SharedCounts;
use super::{Caller, LimitScope, LimitedAction, RateLimited, SharedBackends, TurnRefused};
use crate::config::{CurrentSettings, WindowLimits};
use crate::domain::battle::VisitorId;
use crate::metrics;

/// Sign-in attempts left to each network for an admin account that exceeded its limit.
const SIGN_INS_PER_NETWORK_AFTER_LIMIT: WindowLimits = WindowLimits::new(0, 1, 3);
/// Resumes, and requested reply texts, of a visitor: more than all tabs of a person with a flaky connection need.
const RESUMES_PER_VISITOR: WindowLimits = WindowLimits::new(60, 0, 0);
/// Resumes of a network: all tabs of a school may reconnect at once when an arena has restarted.
const RESUMES_PER_NETWORK: WindowLimits = WindowLimits::new(1_200, 0, 0);

/// Rate limits of the arena.
pub struct RateLimits {
    settings: CurrentSettings,
    under_way: ConcurrentTurns,
    local: Mutex<LimitCounts>,
    shared: Option<SharedCounts>,
}

impl RateLimits {
    /// Creates limits that follow the current settings, counted together with other instances if there are shared backends.
    #[must_use]
    pub fn new(settings: CurrentSettings, shared: Option<SharedBackends>) -> Self {
        let shared = shared.map(SharedCounts::new);
        Self { settings, under_way: ConcurrentTurns::default(), local: Mutex::default(), shared }
    }

    /// Counts one action.
    ///
    /// # Errors
    /// [`RateLimited`] if it exceeds a limit; then it is not counted.
    pub async fn take(&self, act: LimitedAction, caller: &Caller) -> Result<(), RateLimited> {
        self.check_counts(act, self.counts(act, Some(&caller.visitor), caller.network.as_deref())).await
    }

    /// Counts one resume of a battle, in this process alone: the limit protects the work of sending and rendering text that the client may
    /// already have.
    ///
    /// # Errors
    /// [`RateLimited`] if it exceeds a limit; then it is not counted.
    pub fn take_resume(&self, caller: &Caller) -> Result<(), RateLimited> {
        self.count_in_this_process(LimitedAction::Resume, caller)
    }

    /// Counts one requested reply text or rendered assignment, in this process alone like a resume: a small request causes a long answer.
    ///
    /// # Errors
    /// [`RateLimited`] if it exceeds a limit; then it is not counted.
    pub fn count_text_request(&self, caller: &Caller) -> Result<(), RateLimited> {
        self.count_in_this_process(LimitedAction::Text, caller)
    }

    fn count_in_this_process(&self, act: LimitedAction, caller: &Caller) -> Result<(), RateLimited> {
        let counts = self.counts(act, Some(&caller.visitor), caller.network.as_deref());
        self.count_locally(&counts).map_or(Ok(()), |wait| Err(refused(act, wait)))
    }

    /// Counts one sign-in attempt, by network alone: a guesser takes a new cookie each time, and must not lock out others.
    ///
    /// # Errors
    /// [`RateLimited`] if it exceeds a limit; then it is not counted.
    pub async fn take_sign_in(&self, network: &str) -> Result<(), RateLimited> {
        self.check_counts(LimitedAction::SignIn, self.counts(LimitedAction::SignIn, None, Some(network))).await
    }

    /// Counts one place taken through a campaign's shared link, as a vote of the network: a person takes a place in order to vote, and
    /// could take any number of them.
    ///
    /// # Errors
    /// [`RateLimited`] if it exceeds a limit; then it is not counted.
    pub async fn count_campaign_place(&self, network: Option<&str>) -> Result<(), RateLimited> {
        self.check_counts(LimitedAction::Vote, self.counts(LimitedAction::Vote, None, network)).await
    }

    /// Counts one attempt to sign in to an admin account. `account` is the name as typed, whether or not the account exists. Above the
    /// account's limit, each network has one attempt per hour left: guessing is slow from any number of networks, and the owner can still
    /// sign in from a network that did not guess.
    ///
    /// # Errors
    /// [`RateLimited`] if it exceeds a limit.
    pub async fn take_admin_sign_in(&self, account: &str, network: &str) -> Result<(), RateLimited> {
        let (settings, act) = (self.settings.now(), LimitedAction::AdminSignIn);
        let counts = |limits: WindowLimits, scope: LimitScope, name: String| {
            Vec::from_iter(count(limits, scope, format!("{}_{name}", act.as_str())))
        };
        let limits = &settings.limits;
        let of_network =
            counts(limits.admin_sign_ins_per_address, LimitScope::Network, format!("per_address:{network}"));
        self.check_counts(act, of_network).await?;
        let of_account =
            counts(limits.admin_sign_ins_per_account, LimitScope::Account, format!("per_account:{account}"));
        if self.check_counts(act, of_account).await.is_ok() {
            return Ok(());
        }
        let of_both = counts(
            SIGN_INS_PER_NETWORK_AFTER_LIMIT,
            LimitScope::Account,
            format!("per_account_and_address:{account}:{network}"),
        );
        self.check_counts(act, of_both).await
    }

    /// Refuses a network that has sent too many wrong API keys, as far as this instance knows; counts nothing.
    ///
    /// # Errors
    /// [`RateLimited`].
    pub fn check_wrong_keys(&self, network: &str) -> Result<(), RateLimited> {
        let act = LimitedAction::WrongKey;
        let wait = self.local().wait(&self.counts(act, None, Some(network)), Instant::now());
        wait.map_or(Ok(()), |wait| Err(refused(act, wait)))
    }

    /// Counts one wrong API key. If other instances have counted too many, this one learns it, so that it checks no more of the network's
    /// keys than its own share.
    ///
    /// # Errors
    /// [`RateLimited`] if it exceeds the limit.
    pub async fn take_wrong_key(&self, network: &str) -> Result<(), RateLimited> {
        let counts = self.counts(LimitedAction::WrongKey, None, Some(network));
        let taken = self.check_counts(LimitedAction::WrongKey, counts.clone()).await;
        if taken.is_err() {
            self.local().charge(&counts, Instant::now());
        }
        taken
    }

    async fn check_counts(&self, act: LimitedAction, counts: Vec<Count>) -> Result<(), RateLimited> {
        let wait = if counts.is_empty() { None } else { self.wait(&counts).await };
        wait.map_or(Ok(()), |wait| Err(refused(act, wait)))
    }

    /// Counts one turn and takes a concurrency slot for it.
    ///
    /// # Errors
    /// [`TurnRefused`] if it exceeds a limit; then it is not counted.
    pub async fn begin_turn(&self, caller: &Caller) -> Result<TurnPermit, TurnRefused> {
        // The slot first: it can be released if the rate limit refuses, while a counted use cannot be undone.
        let permit = self.under_way.take(self.places(caller)).ok_or_else(|| {
            metrics::refused(LimitedAction::Turn.as_str(), "at_once");
            TurnRefused::TooManyAtOnce
        })?;
        self.take(LimitedAction::Turn, caller).await?;
        Ok(permit)
    }

    /// Returns the used share of the turns of the caller's network or the whole arena, whichever is higher, 0 to 1, as far as this instance
    /// knows: it learns the uses granted by others whenever something is counted.
    #[must_use]
    pub fn used_turn_share(&self, caller: &Caller) -> f64 {
        let counts = self.counts(LimitedAction::Turn, Some(&caller.visitor), caller.network.as_deref());
        let (local, now) = (self.local(), Instant::now());
        let of_many = counts.iter().filter(|count| count.scope != LimitScope::Visitor);
        of_many.map(|count| local.used_share(count, now)).fold(0.0, f64::max)
    }

    /// Returns the active concurrency limits for a turn, with their counters.
    fn places(&self, caller: &Caller) -> Vec<ConcurrencyLimit> {
        let settings = self.settings.now();
        let limits = &settings.limits;
        let place = |limit: u32, kind: &str, who: Option<&str>| {
            (limit > 0).then_some(ConcurrencyLimit { name: format!("{kind}:{}", who?), limit })
        };
        let visitor = place(limits.concurrent_battles, "visitor", Some(caller.visitor.as_str()));
        let network = place(limits.concurrent_battles_per_address, "address", caller.network.as_deref());
        visitor.into_iter().chain(network).collect()
    }

    /// Counts one more use on all limits; returns the time to wait if one of them refuses it.
    async fn wait(&self, counts: &[Count]) -> Option<Wait> {
        let Some(shared) = &self.shared else { return self.count_locally(counts) };
        let known = match self.known(counts) {
            Ok(known) => known,
            Err(wait) => return Some(wait),
        };
        match shared.charge(counts, &known).await {
            LimitAnswer::Granted(ahead) => {
                let (mut local, now) = (self.local(), Instant::now());
                local.charge(counts, now);
                local.merge_counts(counts, &ahead, now);
                None
            }
            LimitAnswer::Refused(wait) => Some(wait),
            LimitAnswer::Nothing => {
                metrics::count_local_fallback();
                self.count_locally(counts)
            }
        }
    }

    /// Returns how far ahead these limits are as this instance knows, or the time to wait if that already exceeds one.
    fn known(&self, counts: &[Count]) -> Result<Vec<TimesUntilFull>, Wait> {
        let (local, now) = (self.local(), Instant::now());
        match local.wait(counts, now) {
            Some(wait) => Err(wait),
            None => Ok(counts.iter().map(|count| local.ahead(&count.name, now)).collect()),
        }
    }

    fn count_locally(&self, counts: &[Count]) -> Option<Wait> {
        let (mut local, now) = (self.local(), Instant::now());
        let wait = local.wait(counts, now);
        if wait.is_none() {
            local.charge(counts, now);
        }
        wait
    }

    /// Returns the active rate limits for this action, with their counters.
    fn counts(&self, act: LimitedAction, visitor: Option<&VisitorId>, network: Option<&str>) -> Vec<Count> {
        let settings = self.settings.now();
        let limits = &settings.limits;
        let [of_visitor, of_network, of_arena] = match act {
            LimitedAction::Turn => [limits.turns, limits.turns_per_address, limits.turns_per_arena],
            LimitedAction::Vote => [limits.votes, limits.votes_per_address, limits.votes_per_arena],
            LimitedAction::Resume | LimitedAction::Text => {
                [RESUMES_PER_VISITOR, RESUMES_PER_NETWORK, WindowLimits::NONE]
            }
            LimitedAction::Image => [limits.images, limits.images_per_address, WindowLimits::NONE],
            LimitedAction::SignIn | LimitedAction::WrongKey => {
                [WindowLimits::NONE, limits.sign_ins_per_address, WindowLimits::NONE]
            }
            LimitedAction::AdminSignIn => [WindowLimits::NONE; 3],
        };
        let what = act.as_str();
        let visitor = visitor.and_then(|id| count(of_visitor, LimitScope::Visitor, format!("{what}:{id}")));
        let network = network.and_then(|id| count(of_network, LimitScope::Network, format!("{what}_per_address:{id}")));
        let arena = count(of_arena, LimitScope::Arena, format!("{what}_per_arena"));
        [visitor, network, arena].into_iter().flatten().collect()
    }

    /// Counts stay valid after a panic elsewhere.
    fn local(&self) -> MutexGuard<'_, LimitCounts> {
        self.local.lock()
    }
}

/// Builds a refusal and counts it in the metrics.
fn refused(act: LimitedAction, Wait { wait, scope }: Wait) -> RateLimited {
    metrics::refused(act.as_str(), scope.as_str());
    RateLimited { act, scope, wait }
}

/// Returns a limit with this counter name if it is active.
fn count(limits: WindowLimits, scope: LimitScope, name: String) -> Option<Count> {
    let rates = rates([limits.minute, limits.hour, limits.day]);
    rates.iter().any(Option::is_some).then_some(Count { name, scope, rates })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::config::{LimitSettings, Settings};

    fn limits(limits: LimitSettings) -> (RateLimits, CurrentSettings) {
        let settings = CurrentSettings::new(Settings { limits, ..Settings::default() });
        (RateLimits::new(settings.clone(), None), settings)
    }

    fn caller(visitor: &str, network: &str) -> Caller {
        Caller { visitor: VisitorId::new(visitor), network: Some(network.into()) }
    }

    async fn granted(limits: &RateLimits, act: LimitedAction, caller: &Caller) -> usize {
        let mut granted = 0;
        for _ in 0..20 {
            granted += usize::from(limits.take(act, caller).await.is_ok());
        }
        granted
    }

    #[tokio::test(start_paused = true)]
    async fn each_visitor_and_network_has_its_limits_for_turns_and_for_votes() {
        let (limits, settings) = limits(LimitSettings {
            turns: WindowLimits::new(5, 0, 0),
            votes: WindowLimits::new(3, 0, 0),
            turns_per_address: WindowLimits::new(8, 0, 0),
            votes_per_address: WindowLimits::NONE,
            ..LimitSettings::default()
        });
        let (ann, ben, carl) = (caller("ann", "home"), caller("ben", "home"), caller("carl", "elsewhere"));
        for (caller, act, expected) in [
            (&ann, LimitedAction::Turn, 5),
            (&ben, LimitedAction::Turn, 3),
            (&carl, LimitedAction::Turn, 5),
            (&ann, LimitedAction::Vote, 3),
            (&ben, LimitedAction::Vote, 3),
        ] {
            assert_eq!(granted(&limits, act, caller).await, expected, "{act:?} of {caller:?}");
        }
        settings.replace(Settings {
            limits: LimitSettings { votes: WindowLimits::NONE, ..settings.now().limits.clone() },
            ..Settings::default()
        });
        assert_eq!(granted(&limits, LimitedAction::Vote, &ann).await, 20, "other settings are in force at once");
    }

    #[tokio::test(start_paused = true)]
    async fn guessing_at_an_account_is_slow_from_one_network_and_from_many_and_its_owner_still_gets_in() {
        let (limits, _) = limits(LimitSettings::default());
        // The immediate quota plus what is replenished within the hour.
        for (networks, most) in [(1_u32, 30 + 30), (500, 30 + 30 + 500 * (1 + 1))] {
            let account = format!("ada of {networks}");
            let mut granted = 0;
            // Ten thousand attempts within an hour.
            for guess in 0..10_000 {
                let network = format!("guesser {} of {networks}", guess % networks);
                granted += u32::from(limits.take_admin_sign_in(&account, &network).await.is_ok());
                tokio::time::advance(Duration::from_millis(360)).await;
            }
            assert!(granted <= most, "{granted} of 10,000 guesses from {networks} networks were checked");
            assert!(granted >= 30, "{granted}");
            limits.take_admin_sign_in(&account, &format!("home {networks}")).await.unwrap();
            let again = limits.take_admin_sign_in("another account", "home 1").await;
            assert!(again.is_ok(), "other accounts are not concerned");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_refusal_says_when_to_try_again() {
        let (limits, _) = limits(LimitSettings { votes: WindowLimits::new(7, 0, 0), ..LimitSettings::default() });
        let ann = caller("ann", "home");
        assert_eq!(granted(&limits, LimitedAction::Vote, &ann).await, 7);
        let refused = limits.take(LimitedAction::Vote, &ann).await.unwrap_err();
        assert_eq!(refused.to_string(), "too many votes of yours: try again in 9 s");
        tokio::time::advance(Duration::from_secs(9)).await;
        assert_eq!(granted(&limits, LimitedAction::Vote, &ann).await, 1);
    }

    #[tokio::test(start_paused = true)]
    async fn sixty_resumes_of_a_visitor_are_granted_at_once_then_one_a_second_and_of_a_network_twenty_times_as_many() {
        let (limits, _) = limits(LimitSettings::default());
        let granted = |caller: &Caller| (0..100).filter(|_| limits.take_resume(caller).is_ok()).count();
        let ann = caller("ann", "home");
        assert_eq!(granted(&ann), 60);
        let refused = limits.take_resume(&ann).unwrap_err();
        assert_eq!(refused.to_string(), "too many reconnections of yours: try again in 1 s");
        tokio::time::advance(Duration::from_secs(1)).await;
        assert_eq!(granted(&ann), 1);
        let class = (0..30).map(|pupil| granted(&caller(&format!("pupil {pupil}"), "school")));
        assert_eq!(class.sum::<usize>(), 1_200);
        assert_eq!(granted(&caller("ben", "elsewhere")), 60);
    }

    #[tokio::test(start_paused = true)]
    async fn each_visitor_and_network_has_so_many_turns_at_once_and_a_refusal_counts_for_nothing() {
        let (limits, _) = limits(LimitSettings {
            turns: WindowLimits::new(5, 0, 0),
            concurrent_battles: 2,
            concurrent_battles_per_address: 3,
            ..LimitSettings::default()
        });
        let (ann, ben) = (caller("ann", "home"), caller("ben", "home"));
        let first = limits.begin_turn(&ann).await.unwrap();
        let _second = limits.begin_turn(&ann).await.unwrap();
        for _ in 0..10 {
            assert_eq!(limits.begin_turn(&ann).await.unwrap_err(), TurnRefused::TooManyAtOnce);
        }
        let _third = limits.begin_turn(&ben).await.unwrap();
        assert_eq!(limits.begin_turn(&ben).await.unwrap_err(), TurnRefused::TooManyAtOnce, "the network is full");
        drop(first);
        for _ in 0..3 {
            let _ = limits.begin_turn(&ann).await.unwrap();
        }
        assert!(matches!(limits.begin_turn(&ann).await, Err(TurnRefused::TooFast(_))), "refusals were not counted");
        assert!(limits.begin_turn(&ben).await.is_ok(), "a turn that was too fast holds no place");
    }
}
