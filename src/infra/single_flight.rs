//! Runs expensive computations one at a time, shares each among all concurrent requests, caches the result, and cools down in proportion to
//! its cost.
//!
//! A computation belongs to the service, not to the first request. Once begun it runs to its end and its cost is charged, even if all
//! requests are cancelled, and the next request finds its result. A queued computation is dropped with its last waiting request.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::{Mutex, MutexGuard};
use tokio::sync::{OwnedMutexGuard, watch};
use tokio::time::{Instant, sleep_until, timeout};

use crate::backoff::later;
use crate::tasks::{Tasks, contain};

/// Serialises computations with a cool-down; clones share it.
#[derive(Debug, Clone)]
pub struct Throttle {
    /// Cool-down after a computation, as a multiple of its duration.
    rest_times: u32,
    /// Maximum wait in the queue.
    patience: Duration,
    /// Earliest start of the next computation. Locked while one runs.
    opens: Arc<tokio::sync::Mutex<Instant>>,
}

impl Throttle {
    /// Creates a throttle that is ready.
    #[must_use]
    pub fn new(rest_times: u32, patience: Duration) -> Self {
        Self { rest_times, patience, opens: Arc::new(tokio::sync::Mutex::new(Instant::now())) }
    }

    /// Waits for other computations and their cool-down; `None` if that takes too long.
    async fn enter(&self) -> Option<Permit> {
        let waiting = async {
            let opens = Arc::clone(&self.opens).lock_owned().await;
            sleep_until(*opens).await;
            Permit { opens, rest_times: self.rest_times, began: Instant::now() }
        };
        timeout(self.patience, waiting).await.ok()
    }
}

/// Permit to compute. Dropping it charges the time since it was granted.
struct Permit {
    opens: OwnedMutexGuard<Instant>,
    rest_times: u32,
    began: Instant,
}

impl Drop for Permit {
    fn drop(&mut self) {
        *self.opens = later(Instant::now(), self.began.elapsed().saturating_mul(self.rest_times));
    }
}

/// Reason why there is no result.
#[derive(Debug, thiserror::Error)]
pub enum FlightError<E> {
    /// Other computations take too long.
    #[error("too much is being computed: try again in a moment")]
    Busy,
    /// The computation failed, for all requests that share it.
    #[error(transparent)]
    Failed(Arc<E>),
    /// The computation panicked, or the arena is shutting down.
    #[error("the computation ended early")]
    Ended,
}

impl<E> FlightError<E> {
    /// Returns the error of the computation itself.
    #[must_use]
    pub fn cause(&self) -> Option<&E> {
        match self {
            Self::Failed(error) => Some(error),
            Self::Busy | Self::Ended => None,
        }
    }
}

impl<E> Clone for FlightError<E> {
    fn clone(&self) -> Self {
        match self {
            Self::Busy => Self::Busy,
            Self::Failed(error) => Self::Failed(Arc::clone(error)),
            Self::Ended => Self::Ended,
        }
    }
}

/// Part of a key compared by address. It keeps its value in memory, so that the address is not reused.
#[derive(Debug)]
pub struct ByAddress<T>(pub Arc<T>);

impl<T> PartialEq for ByAddress<T> {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl<T> Clone for ByAddress<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

type FlightOutcome<V, E> = Result<Arc<V>, FlightError<E>>;
type Flight<V, E> = watch::Sender<Option<FlightOutcome<V, E>>>;
type Waiter<V, E> = watch::Receiver<Option<FlightOutcome<V, E>>>;

/// Computes values by key and caches the latest ones; clones share them.
#[derive(Debug)]
pub struct SingleFlight<K, V, E>(Arc<SharedFlights<K, V, E>>);

#[derive(Debug)]
struct SharedFlights<K, V, E> {
    /// Name in logs and metrics.
    name: &'static str,
    throttle: Throttle,
    tasks: Tasks,
    /// Maximum number of cached values.
    capacity: usize,
    state: Mutex<FlightsState<K, V, E>>,
}

#[derive(Debug)]
struct FlightsState<K, V, E> {
    /// Cached values, the latest first.
    kept: VecDeque<(K, Arc<V>)>,
    /// Waiting or running computations.
    flights: Vec<(K, Arc<Flight<V, E>>)>,
}

/// Source of a requested value.
enum CacheEntry<V, E> {
    Kept(Arc<V>),
    /// A computation that this request began.
    Began(Waiter<V, E>),
    /// A computation that another request began.
    Joined(Waiter<V, E>),
}

impl<K, V, E> SingleFlight<K, V, E>
where
    K: Clone + PartialEq + Send + Sync + 'static,
    V: Send + Sync + 'static,
    E: Send + Sync + 'static,
{
    /// Creates an empty cache. `name` is that of its tasks, which belong to `tasks`.
    #[must_use]
    pub fn new(name: &'static str, capacity: usize, throttle: Throttle, tasks: Tasks) -> Self {
        let state = FlightsState { kept: VecDeque::new(), flights: Vec::new() };
        Self(Arc::new(SharedFlights { name, throttle, tasks, capacity, state: Mutex::new(state) }))
    }

    /// Returns the value of a key: the cached one if it is current, otherwise a new one, shared by all requests in the meantime.
    ///
    /// # Errors
    /// [`FlightError`].
    pub async fn get<F>(&self, key: K, is_current: impl Fn(&V) -> bool, compute: impl Fn() -> F) -> FlightOutcome<V, E>
    where
        F: Future<Output = Result<V, E>> + Send + 'static,
    {
        let mut has_joined = false;
        loop {
            match self.enter(&key, &is_current, &compute) {
                CacheEntry::Kept(value) => return Ok(value),
                CacheEntry::Began(waiter) => return wait(waiter).await,
                CacheEntry::Joined(waiter) => {
                    let value = wait(waiter).await?;
                    // A computation that began before this request may be outdated; the next one is not.
                    if has_joined || is_current(&value) {
                        return Ok(value);
                    }
                    has_joined = true;
                }
            }
        }
    }

    /// Begins to compute the value of a key unless it is current or being computed, without waiting for it.
    pub fn begin<F>(&self, key: &K, is_current: impl Fn(&V) -> bool, compute: impl Fn() -> F)
    where
        F: Future<Output = Result<V, E>> + Send + 'static,
    {
        if let CacheEntry::Began(waiter) = self.enter(key, is_current, compute) {
            // A computation needs a waiter to be started.
            self.0.tasks.spawn(self.0.name, async move { drop(wait(waiter).await) });
        }
    }

    /// Returns the cached value of a key if it is current.
    pub fn kept(&self, key: &K, is_current: impl Fn(&V) -> bool) -> Option<Arc<V>> {
        self.0.state().find(key, is_current)
    }

    fn enter<F>(&self, key: &K, is_current: impl Fn(&V) -> bool, compute: impl Fn() -> F) -> CacheEntry<V, E>
    where
        F: Future<Output = Result<V, E>> + Send + 'static,
    {
        let mut state = self.0.state();
        if let Some(value) = state.find(key, is_current) {
            return CacheEntry::Kept(value);
        }
        if let Some((_, flight)) = state.flights.iter().find(|(known, _)| known == key) {
            return CacheEntry::Joined(flight.subscribe());
        }
        let flight = Arc::new(watch::Sender::new(None));
        let waiter = flight.subscribe();
        state.flights.push((key.clone(), Arc::clone(&flight)));
        drop(state);
        let computation = Computation { inner: Arc::clone(&self.0), key: key.clone(), flight };
        self.0.tasks.spawn(self.0.name, computation.run(compute()));
        CacheEntry::Began(waiter)
    }
}

/// Waits for the end of a computation.
async fn wait<V, E>(mut waiter: Waiter<V, E>) -> FlightOutcome<V, E> {
    let ended = waiter.wait_for(Option::is_some).await;
    // The sender is dropped without a result if its task panics or the arena shuts down.
    ended.ok().and_then(|outcome| outcome.clone()).unwrap_or(Err(FlightError::Ended))
}

impl<K, V, E> SharedFlights<K, V, E> {
    fn state(&self) -> MutexGuard<'_, FlightsState<K, V, E>> {
        // The lists are valid after each statement, so a panic elsewhere does not spoil them.
        self.state.lock()
    }
}

impl<K: PartialEq, V, E> FlightsState<K, V, E> {
    fn find(&self, key: &K, is_current: impl Fn(&V) -> bool) -> Option<Arc<V>> {
        let found = self.kept.iter().find(|(known, value)| known == key && is_current(value));
        found.map(|(_, value)| Arc::clone(value))
    }
}

/// Runs one computation to its end. Dropping it removes the computation from the list.
struct Computation<K, V, E> {
    inner: Arc<SharedFlights<K, V, E>>,
    key: K,
    flight: Arc<Flight<V, E>>,
}

impl<K: Clone + PartialEq, V, E> Computation<K, V, E> {
    async fn run(self, work: impl Future<Output = Result<V, E>>) {
        let shutdown = self.inner.tasks.shutdown();
        let running = async {
            let permit = tokio::select! {
                permit = self.inner.throttle.enter() => permit,
                () = self.abandoned() => return,
            };
            let Some(_permit) = permit else { return self.finish(Err(FlightError::Busy)) };
            if let Ok(done) = contain(self.inner.name, work).await {
                self.finish(done.map(Arc::new).map_err(|error| FlightError::Failed(Arc::new(error))));
            }
        };
        tokio::select! {
            () = running => {}
            () = shutdown.cancelled() => {}
        }
    }

    /// Waits until no request awaits the value any more; from then on none can join.
    async fn abandoned(&self) {
        loop {
            self.flight.closed().await;
            let mut state = self.inner.state();
            if self.flight.receiver_count() == 0 {
                state.flights.retain(|(_, flight)| !Arc::ptr_eq(flight, &self.flight));
                return;
            }
        }
    }

    /// Stores a value, notifies all waiting requests, and closes the computation to new ones, atomically, so that none misses it.
    fn finish(&self, outcome: FlightOutcome<V, E>) {
        let mut state = self.inner.state();
        if let Ok(value) = &outcome {
            state.kept.retain(|(known, _)| *known != self.key);
            state.kept.push_front((self.key.clone(), Arc::clone(value)));
            state.kept.truncate(self.inner.capacity);
        }
        state.flights.retain(|(_, flight)| !Arc::ptr_eq(flight, &self.flight));
        self.flight.send_replace(Some(outcome));
    }
}

impl<K, V, E> Drop for Computation<K, V, E> {
    fn drop(&mut self) {
        self.inner.state().flights.retain(|(_, flight)| !Arc::ptr_eq(flight, &self.flight));
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use futures_util::future::join_all;
    use tokio::time::sleep;

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    /// Computations that take a given time and return their number.
    struct FlightFixture {
        flights: SingleFlight<&'static str, u32, String>,
        tasks: Tasks,
        begun: Arc<AtomicU32>,
        zero: Instant,
    }

    impl FlightFixture {
        fn new(rest_times: u32) -> Self {
            let (tasks, throttle) = (Tasks::default(), Throttle::new(rest_times, 10 * SECOND));
            let flights = SingleFlight::new("test_of_flights", 2, throttle, tasks.clone());
            Self { flights, tasks, begun: Arc::default(), zero: Instant::now() }
        }

        async fn ask(&self, key: &'static str, takes: Duration) -> Result<u32, FlightError<String>> {
            self.ask_for(key, takes, |_| true).await
        }

        /// Requests a key; one that begins with "bad" fails, and one of "panic" panics.
        async fn ask_for(
            &self,
            key: &'static str,
            takes: Duration,
            is_current: impl Fn(&u32) -> bool,
        ) -> Result<u32, FlightError<String>> {
            let begun = &self.begun;
            let compute = move || {
                let begun = Arc::clone(begun);
                async move {
                    let number = begun.fetch_add(1, Ordering::SeqCst) + 1;
                    sleep(takes).await;
                    assert_ne!(key, "panic");
                    if key.starts_with("bad") { Err(format!("{key} {number}")) } else { Ok(number) }
                }
            };
            self.flights.get(key, is_current, compute).await.map(|number| *number)
        }

        fn begun(&self) -> u32 {
            self.begun.load(Ordering::SeqCst)
        }

        async fn end(self) {
            assert!(self.tasks.end(SECOND).await, "a task outlives the end");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn all_who_ask_the_same_share_one_computation_and_its_result_is_kept() {
        let fixture = FlightFixture::new(0);
        let all = join_all((0..50).map(|_| fixture.ask("one", SECOND))).await;
        assert!(all.into_iter().all(|found| matches!(found, Ok(1))));
        assert_eq!((fixture.ask("one", SECOND).await.unwrap(), fixture.begun()), (1, 1));
        assert_eq!(fixture.zero.elapsed(), SECOND);
        fixture.end().await;
    }

    #[tokio::test(start_paused = true)]
    async fn a_computation_goes_on_is_charged_and_is_kept_when_all_who_asked_have_left() {
        let fixture = FlightFixture::new(4);
        for _ in 0..50 {
            let left = timeout(Duration::from_millis(10), fixture.ask("one", 2 * SECOND)).await;
            assert!(left.is_err());
        }
        assert_eq!(fixture.begun(), 1);
        assert_eq!(fixture.ask("one", 2 * SECOND).await.unwrap(), 1, "the next asker gets what was begun");
        assert_eq!(fixture.zero.elapsed(), 2 * SECOND);
        fixture.ask("two", Duration::ZERO).await.unwrap();
        assert_eq!((fixture.zero.elapsed(), fixture.begun()), (10 * SECOND, 2), "a rest of four times its cost");
        fixture.end().await;
    }

    #[tokio::test(start_paused = true)]
    async fn what_nobody_waits_for_is_not_begun() {
        let fixture = FlightFixture::new(0);
        let waiting = async {
            let asks = ["two", "three"].map(|key| fixture.ask(key, SECOND));
            assert!(timeout(SECOND, join_all(asks)).await.is_err());
        };
        let (one, ()) = tokio::join!(fixture.ask("one", 5 * SECOND), waiting);
        assert_eq!(one.unwrap(), 1);
        sleep(10 * SECOND).await;
        assert_eq!(fixture.begun(), 1);
        assert_eq!(fixture.ask("two", SECOND).await.unwrap(), 2, "it can be asked for again");
        fixture.end().await;
    }

    #[tokio::test(start_paused = true)]
    async fn computations_follow_each_other_with_a_rest_in_proportion() {
        let fixture = FlightFixture::new(4);
        let ask = async |key, takes| {
            fixture.ask(key, Duration::from_millis(takes)).await.unwrap();
            u64::try_from(fixture.zero.elapsed().as_millis()).unwrap()
        };
        let ended = tokio::join!(ask("one", 400), ask("two", 300), ask("three", 100));
        assert_eq!(ended, (400, 2_300, 3_600));
        fixture.end().await;
    }

    #[tokio::test(start_paused = true)]
    async fn who_would_wait_too_long_is_turned_away() {
        let fixture = FlightFixture::new(4);
        fixture.ask("one", 3 * SECOND).await.unwrap();
        assert!(matches!(fixture.ask("two", SECOND).await, Err(FlightError::Busy)));
        assert_eq!(fixture.zero.elapsed(), 13 * SECOND);
        assert_eq!(fixture.ask("two", SECOND).await.unwrap(), 2, "the rest was over at 15 s");
        fixture.end().await;
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_begun_is_there_later_for_who_did_not_wait() {
        let fixture = FlightFixture::new(0);
        for _ in 0..3 {
            let begun = Arc::clone(&fixture.begun);
            let compute = move || {
                let begun = Arc::clone(&begun);
                async move {
                    sleep(SECOND).await;
                    Ok(begun.fetch_add(1, Ordering::SeqCst) + 1)
                }
            };
            fixture.flights.begin(&"one", |_| true, compute);
        }
        assert_eq!(fixture.flights.kept(&"one", |_| true), None);
        sleep(2 * SECOND).await;
        assert_eq!(fixture.flights.kept(&"one", |_| true).as_deref(), Some(&1), "once for all who asked");
        fixture.end().await;
    }

    #[tokio::test(start_paused = true)]
    async fn a_failure_is_shared_and_not_kept() {
        let fixture = FlightFixture::new(0);
        let (one, same) = tokio::join!(fixture.ask("bad", SECOND), fixture.ask("bad", SECOND));
        let words = |found: Result<u32, FlightError<String>>| found.unwrap_err().cause().cloned().unwrap();
        assert_eq!((words(one), words(same)), ("bad 1".into(), "bad 1".into()));
        assert_eq!(words(fixture.ask("bad", SECOND).await), "bad 2");
        fixture.end().await;
    }

    #[tokio::test(start_paused = true)]
    async fn a_panic_is_charged_too_and_the_next_asker_begins_again() {
        let fixture = FlightFixture::new(4);
        let (one, same) = tokio::join!(fixture.ask("panic", SECOND), fixture.ask("panic", SECOND));
        assert!(matches!((one, same), (Err(FlightError::Ended), Err(FlightError::Ended))));
        fixture.ask("one", Duration::ZERO).await.unwrap();
        assert_eq!((fixture.zero.elapsed(), fixture.begun()), (5 * SECOND, 2));
        fixture.end().await;
    }

    #[tokio::test(start_paused = true)]
    async fn who_joins_what_is_out_of_date_gets_the_next_one() {
        let fixture = FlightFixture::new(0);
        let second = |number: &u32| *number >= 2;
        let (one, newer) = tokio::join!(fixture.ask("one", SECOND), fixture.ask_for("one", SECOND, second));
        assert_eq!((one.unwrap(), newer.unwrap()), (1, 2));
        assert_eq!(fixture.ask_for("one", SECOND, second).await.unwrap(), 2);
        fixture.end().await;
    }

    #[tokio::test(start_paused = true)]
    async fn the_oldest_value_goes_when_all_places_are_taken() {
        let fixture = FlightFixture::new(0);
        for key in ["one", "two", "three", "two", "one"] {
            fixture.ask(key, SECOND).await.unwrap();
        }
        assert_eq!(fixture.begun(), 4, "two was kept, one was not");
        fixture.end().await;
    }

    #[tokio::test(start_paused = true)]
    async fn an_end_of_the_arena_waits_for_no_computation() {
        let fixture = FlightFixture::new(0);
        let tasks = fixture.tasks.clone();
        let end = async {
            sleep(SECOND).await;
            tasks.end(SECOND).await
        };
        let (ended, all_ended) = tokio::join!(fixture.ask("one", 99 * SECOND), end);
        assert!(matches!(ended, Err(FlightError::Ended)) && all_ended);
        assert_eq!(fixture.zero.elapsed(), SECOND);
    }
}
