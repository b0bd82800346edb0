//! Measurements of a run: counts, and the durations for which visitors were without their battle.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Limit of the 99th percentile of recoveries.
pub(crate) const RECOVERY_LIMIT: Duration = Duration::from_secs(5);

/// Measurements shared by all visitors and by the thread that injects the faults.
#[derive(Clone)]
pub(crate) struct Measurements {
    began: Instant,
    inner: Arc<Mutex<Inner>>,
}

#[derive(Default)]
struct Inner {
    counts: BTreeMap<String, u64>,
    /// Start of each fault, in order.
    faults: Vec<(Duration, String)>,
    recoveries: Vec<Recovery>,
}

/// Interval in which a visitor was without its battle.
#[derive(Clone)]
struct Recovery {
    began: Duration,
    took: Duration,
    sign: String,
    battle: String,
}

impl Measurements {
    pub(crate) fn new() -> Self {
        Self { began: Instant::now(), inner: Arc::default() }
    }

    pub(crate) fn count(&self, what: &str) {
        *self.inner.lock().unwrap().counts.entry(what.to_owned()).or_default() += 1;
    }

    pub(crate) fn counted(&self, what: &str) -> u64 {
        self.inner.lock().unwrap().counts.get(what).copied().unwrap_or(0)
    }

    /// Returns the seconds since the run began, formatted.
    pub(crate) fn now(&self) -> String {
        format!("{:.2} s", self.began.elapsed().as_secs_f64())
    }

    /// Records a fault and prints it.
    pub(crate) fn fault(&self, what: &str) {
        let at = self.began.elapsed();
        println!("{:7.2} s  {what}", at.as_secs_f64());
        self.inner.lock().unwrap().faults.push((at, what.to_owned()));
    }

    /// Prints a step that is not a fault.
    pub(crate) fn step(&self, what: &str) {
        println!("{:7.2} s    {what}", self.began.elapsed().as_secs_f64());
    }

    /// Records that a visitor is back at its battle, after an outage that it noticed by this sign.
    pub(crate) fn recovered(&self, trouble_began: Instant, sign: &str, battle: &str) {
        let recovery = Recovery {
            began: trouble_began.saturating_duration_since(self.began),
            took: trouble_began.elapsed(),
            sign: sign.to_owned(),
            battle: battle.to_owned(),
        };
        self.inner.lock().unwrap().recoveries.push(recovery);
    }

    /// Returns the battles whose recovery took too long.
    pub(crate) fn slow_battles(&self) -> Vec<String> {
        let inner = self.inner.lock().unwrap();
        let slow = inner.recoveries.iter().filter(|recovery| recovery.took >= RECOVERY_LIMIT);
        slow.map(|recovery| recovery.battle.clone()).collect()
    }

    /// Returns the 99th percentile of all recoveries, if there were any.
    pub(crate) fn recovery_p99(&self) -> Option<Duration> {
        let mut times: Vec<Duration> = self.inner.lock().unwrap().recoveries.iter().map(|it| it.took).collect();
        times.sort_unstable();
        percentile(&times, 99)
    }
}

/// Returns the five longest recoveries, the longest first.
fn slowest(recoveries: &[Recovery]) -> Vec<Recovery> {
    let mut sorted = recoveries.to_vec();
    sorted.sort_by_key(|recovery| std::cmp::Reverse(recovery.took));
    sorted.truncate(5);
    sorted
}

/// Returns the percentile by nearest rank.
fn percentile(sorted: &[Duration], percent: usize) -> Option<Duration> {
    let rank = (sorted.len() * percent).div_ceil(100);
    sorted.get(rank.saturating_sub(1)).copied()
}

impl fmt::Display for Measurements {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let inner = self.inner.lock().unwrap();
        for (what, count) in &inner.counts {
            writeln!(f, "{count:8}  {what}")?;
        }
        // An outage is attributed to the last fault that began before it.
        let mut by_fault: BTreeMap<&str, Vec<Duration>> = BTreeMap::new();
        for recovery in &inner.recoveries {
            let last = inner.faults.iter().rev().find(|(began, _)| *began <= recovery.began);
            let fault = last.map_or("before any fault", |(_, what)| what.as_str());
            by_fault.entry(fault).or_default().push(recovery.took);
            by_fault.entry("all").or_default().push(recovery.took);
        }
        writeln!(f, "recoveries: count, p50, p99, max in seconds")?;
        for (fault, mut times) in by_fault {
            times.sort_unstable();
            let [p50, p99, max] = [50, 99, 100].map(|p| percentile(&times, p).unwrap_or_default().as_secs_f64());
            writeln!(f, "{:8} {p50:7.2} {p99:7.2} {max:7.2}  {fault}", times.len())?;
        }
        for Recovery { began, took, sign, battle } in slowest(&inner.recoveries) {
            let (took, began) = (took.as_secs_f64(), began.as_secs_f64());
            writeln!(f, "among the longest: {took:.2} s from {began:.2} s on, seen as {sign}, battle {battle}")?;
        }
        Ok(())
    }
}
