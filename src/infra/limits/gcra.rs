//! The generic cell rate algorithm (GCRA), the rule of every rate limit. A window's quota may be used at once and is replenished evenly.
//!
//! For each visitor and window one moment is stored: when the quota will be full again ("due"). A further use is granted if that moment is
//! then at most one [`WindowRate::span`] ahead. Pure: time is an argument. The script in `redis_counts.rs` implements the same rule in
//! Redis, and the function `charge_limits` of the migrations in PostgreSQL.

use std::collections::HashMap;
use std::time::Duration;

use tokio::time::Instant;

use super::LimitScope;

/// Maximum number of stored visitors and addresses.
const MAX_KEYS: usize = 100_000;
/// Number of windows: a minute, an hour, a day.
pub(super) const WINDOW_COUNT: usize = 3;
const WINDOW_SECONDS: [u64; WINDOW_COUNT] = [60, 3_600, 86_400];

/// Rate of one window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct WindowRate {
    /// Time in which one use is replenished.
    pub(super) interval: Duration,
    /// Time in which the whole quota is replenished: the window except for rounding.
    pub(super) span: Duration,
}

/// Rates of one limit by window; `None` means no limit.
pub(super) type Rates = [Option<WindowRate>; WINDOW_COUNT];

/// Computes rates from quotas per minute, hour and day; 0 means no limit.
pub(super) fn rates(per_window: [u32; WINDOW_COUNT]) -> Rates {
    std::array::from_fn(|window| WindowRate::new(per_window[window], Duration::from_secs(WINDOW_SECONDS[window])))
}

impl WindowRate {
    /// Computes the rate of a quota per window; `None`, which means no limit, for 0.
    pub(super) fn new(count: u32, window: Duration) -> Option<Self> {
        let interval = (window / count.max(1)).max(Duration::from_micros(1));
        // Whole microseconds, as in Redis.
        let interval = Duration::from_micros(u64::try_from(interval.as_micros()).unwrap_or(u64::MAX));
        (count > 0).then(|| Self { interval, span: interval.saturating_mul(count) })
    }

    /// Returns when the quota will be full again after one more use now, or the time to wait if that is not granted.
    fn charge(self, due: Instant, now: Instant) -> Result<Instant, Duration> {
        // Clamped to this rate's span: before a change of the settings the rate may have allowed more.
        let due = due.clamp(now, now + self.span) + self.interval;
        let ahead = due - now;
        if ahead <= self.span { Ok(due) } else { Err(ahead - self.span) }
    }
}

/// A rate limit and the counter that it applies to.
#[derive(Debug, Clone)]
pub(super) struct Count {
    pub(super) name: String,
    pub(super) scope: LimitScope,
    pub(super) rates: Rates,
}

/// Time to wait, and the limit that requires it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Wait {
    pub(super) wait: Duration,
    pub(super) scope: LimitScope,
}

/// Answer of the backend shared by all instances.
pub(super) enum LimitAnswer {
    /// Time until the due moment of each limit, by window.
    Granted(Vec<TimesUntilFull>),
    Refused(Wait),
    /// No backend could be asked, or none answered in time.
    Nothing,
}

impl LimitAnswer {
    /// Parses the answer of the Redis script and of the PostgreSQL function.
    pub(super) fn read(answer: &[u64], counts: &[Count]) -> Self {
        match answer.split_first() {
            Some((0, ahead)) => {
                let windows = ahead.chunks_exact(WINDOW_COUNT);
                Self::Granted(windows.map(|ahead| std::array::from_fn(|w| Duration::from_micros(ahead[w]))).collect())
            }
            Some((wait, [slowest])) => {
                let slowest = usize::try_from(*slowest).ok().and_then(|number| counts.get(number.checked_sub(1)?));
                let wait = Duration::from_micros(*wait);
                slowest.map_or(Self::Nothing, |count| Self::Refused(Wait { wait, scope: count.scope }))
            }
            _ => Self::Nothing,
        }
    }
}

/// Moments when the quota will be full again, by window.
type DueTimes = [Instant; WINDOW_COUNT];
/// Times until the quota will be full again, by window.
pub(super) type TimesUntilFull = [Duration; WINDOW_COUNT];

/// Counts of this process, including those learned from the shared backend.
#[derive(Debug, Default)]
pub(super) struct LimitCounts {
    due: HashMap<String, DueTimes>,
}

impl LimitCounts {
    /// Returns the time until all limits grant one more use; `None` if they do now.
    pub(super) fn wait(&self, counts: &[Count], now: Instant) -> Option<Wait> {
        let waits = counts.iter().flat_map(|count| {
            let used = count.rates.iter().zip(self.due_times(&count.name, now));
            let waits = used.filter_map(move |(rate, due)| (*rate)?.charge(due, now).err());
            waits.map(|wait| Wait { wait, scope: count.scope })
        });
        waits.max_by_key(|wait| wait.wait)
    }

    /// Counts one more use on all limits that grant it.
    pub(super) fn charge(&mut self, counts: &[Count], now: Instant) {
        self.evict_counters(counts.len(), now);
        for count in counts {
            let mut dues = self.due_times(&count.name, now);
            for (rate, due) in count.rates.iter().zip(&mut dues) {
                if let Some(Ok(charged)) = rate.map(|rate| rate.charge(*due, now)) {
                    *due = charged;
                }
            }
            self.due.insert(count.name.clone(), dues);
        }
    }

    /// Merges the counts of the shared backend: how far ahead each window of a limit is.
    pub(super) fn merge_counts(&mut self, counts: &[Count], ahead: &[TimesUntilFull], now: Instant) {
        for (count, ahead) in counts.iter().zip(ahead) {
            if let Some(dues) = self.due.get_mut(&count.name) {
                dues.iter_mut().zip(ahead).for_each(|(due, ahead)| *due = (*due).max(now + *ahead));
            }
        }
    }

    /// Returns how far ahead each window of a limit is.
    pub(super) fn ahead(&self, name: &str, now: Instant) -> TimesUntilFull {
        self.due_times(name, now).map(|due| due.saturating_duration_since(now))
    }

    /// Returns the used share of a limit, 0 to 1, in the window where it is highest.
    pub(super) fn used_share(&self, count: &Count, now: Instant) -> f64 {
        let used = count.rates.iter().zip(self.due_times(&count.name, now));
        let share = |(rate, due): (&Option<WindowRate>, Instant)| {
            Some(due.saturating_duration_since(now).as_secs_f64() / (*rate)?.span.as_secs_f64())
        };
        used.filter_map(share).fold(0.0, f64::max).min(1.0)
    }

    fn due_times(&self, name: &str, now: Instant) -> DueTimes {
        self.due.get(name).copied().unwrap_or([now; WINDOW_COUNT])
    }

    /// Evicts counters that are full again; if that is not enough, the half that will be full soonest, which gain least from eviction. No
    /// use is refused for lack of room.
    fn evict_counters(&mut self, more: usize, now: Instant) {
        if self.due.len() + more <= MAX_KEYS {
            return;
        }
        self.due.retain(|_, dues| latest(dues) > now);
        if self.due.len() + more > MAX_KEYS {
            let mut ends: Vec<Instant> = self.due.values().map(latest).collect();
            let middle = ends.len() / 2;
            let (_, median, _) = ends.select_nth_unstable(middle);
            let median = *median;
            self.due.retain(|_, dues| latest(dues) > median);
        }
    }
}

fn latest(dues: &DueTimes) -> Instant {
    dues.iter().copied().max().expect("there are windows")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(name: &str, per_minute: u32) -> Count {
        windows(name, [per_minute, 0, 0])
    }

    fn windows(name: &str, per_window: [u32; WINDOW_COUNT]) -> Count {
        Count { name: name.into(), scope: LimitScope::Visitor, rates: rates(per_window) }
    }

    fn take(counts: &mut LimitCounts, wanted: &[Count], now: Instant) -> bool {
        let granted = counts.wait(wanted, now).is_none();
        if granted {
            counts.charge(wanted, now);
        }
        granted
    }

    fn wait(counts: &LimitCounts, wanted: &[Count], now: Instant) -> Option<Duration> {
        counts.wait(wanted, now).map(|wait| wait.wait)
    }

    #[test]
    fn a_minutes_worth_is_granted_at_once_and_comes_back_evenly() {
        for per_minute in [1, 2, 7, 60, 90_000] {
            let (mut counts, now) = (LimitCounts::default(), Instant::now());
            let wanted = [count("ann", per_minute)];
            let WindowRate { interval, span } = wanted[0].rates[0].unwrap();
            let granted = (0..2 * per_minute).filter(|_| take(&mut counts, &wanted, now)).count();
            assert_eq!(granted, usize::try_from(per_minute).unwrap());
            assert_eq!(wait(&counts, &wanted, now), Some(interval), "{per_minute} a minute");
            assert!(!take(&mut counts, &wanted, now + interval - Duration::from_micros(1)));
            assert!(take(&mut counts, &wanted, now + interval));
            assert!(!take(&mut counts, &wanted, now + interval));
            let granted = (0..2 * per_minute).filter(|_| take(&mut counts, &wanted, now + 3 * span));
            assert_eq!(granted.count(), usize::try_from(per_minute).unwrap(), "all of it is back, and no more");
        }
    }

    #[test]
    fn the_narrowest_window_decides_and_the_longest_wait_is_reported() {
        let (mut counts, start) = (LimitCounts::default(), Instant::now());
        let wanted = [windows("ann", [10, 25, 30])];
        let mut granted = [0, 0, 0, 0];
        // Each minute as much as is granted: ten, ten, and the rest of the hour.
        for (minute, granted) in (0..).zip(&mut granted) {
            let now = start + Duration::from_secs(60 * minute);
            *granted = (0..100).filter(|_| take(&mut counts, &wanted, now)).count();
        }
        assert_eq!(granted, [10, 10, 5, 1], "25 an hour: one comes back after 144 s");
        let now = start + Duration::from_secs(2 * 3_600);
        assert_eq!((0..100).filter(|_| take(&mut counts, &wanted, now)).count(), 6, "30 a day, and two came back");
        assert_eq!(wait(&counts, &wanted, now), Some(Duration::from_secs(86_400 / 30 * 3 - 7_200)));
    }

    #[test]
    fn nothing_is_used_where_one_of_several_limits_refuses() {
        let (mut counts, now) = (LimitCounts::default(), Instant::now());
        let (visitor, address) = (count("visitor", 10), count("address", 2));
        let both = [visitor.clone(), address];
        assert_eq!((0..10).filter(|_| take(&mut counts, &both, now)).count(), 2);
        assert_eq!((0..10).filter(|_| take(&mut counts, std::slice::from_ref(&visitor), now)).count(), 8);
    }

    #[test]
    fn a_lower_limit_counts_what_was_used_under_a_higher_one_for_a_window_at_the_most() {
        let (mut counts, now) = (LimitCounts::default(), Instant::now());
        assert!((0..100).all(|_| take(&mut counts, &[count("ann", 100)], now)));
        assert_eq!(wait(&counts, &[count("ann", 1)], now), Some(Duration::from_secs(60)));
        assert!(take(&mut counts, &[count("ann", 1)], now + Duration::from_secs(60)));
    }

    #[test]
    fn what_other_instances_used_is_learnt_and_never_forgives() {
        let (mut counts, now) = (LimitCounts::default(), Instant::now());
        let wanted = [count("ann", 10)];
        assert!(take(&mut counts, &wanted, now));
        let ahead = |seconds| [[Duration::from_secs(seconds), Duration::ZERO, Duration::ZERO]];
        counts.merge_counts(&wanted, &ahead(30), now);
        assert!((counts.used_share(&wanted[0], now) - 0.5).abs() < 1e-9);
        counts.merge_counts(&wanted, &ahead(0), now);
        assert!((counts.used_share(&wanted[0], now) - 0.5).abs() < 1e-9, "an emptied Redis");
        assert!((counts.used_share(&wanted[0], now + Duration::from_secs(40))).abs() < 1e-9);
    }

    #[test]
    fn zero_is_no_limit() {
        assert_eq!(rates([0, 0, 0]), [None; WINDOW_COUNT]);
        assert_eq!(rates([u32::MAX, 0, 0])[0].unwrap().interval, Duration::from_micros(1));
    }

    #[test]
    fn memory_is_bounded_those_who_use_much_are_forgotten_last_and_nobody_is_refused_for_want_of_room() {
        let (mut counts, now) = (LimitCounts::default(), Instant::now());
        let heavy = [windows("heavy", [0, 0, 1])];
        assert!(take(&mut counts, &heavy, now));
        for i in 0..3 * MAX_KEYS {
            assert!(take(&mut counts, &[windows(&format!("light {i}"), [0, 0, 1_000])], now));
        }
        assert!(counts.due.len() <= MAX_KEYS, "{}", counts.due.len());
        assert!(!take(&mut counts, &heavy, now));
        for i in 0..2 * MAX_KEYS {
            assert!(take(&mut counts, &[windows(&format!("as heavy {i}"), [0, 0, 1])], now));
        }
        assert!(counts.due.len() <= MAX_KEYS, "{}", counts.due.len());
    }
}
