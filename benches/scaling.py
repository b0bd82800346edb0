#!/usr/bin/env python3
"""Many battles at once on many instances, simulated from measured costs:

    benches/scaling.py [--battles N] [--instances N] [--dead N] [--think SECONDS] [--seed N] [--NAME VALUE of COSTS]

A closed discrete-event model. A visitor begins a battle (a commit), is sent two replies (work of the instance's cores,
spread over the reply), has their end stored (a commit), thinks, votes (a commit, in a group that holds the lock which keeps votes
in order), and begins the next battle. In the second run some instances die together: their battles are begun again by others,
which first have to notice. What is measured and what is assumed stands beside each number of COSTS, and in README.md.
"""

import argparse
import heapq
import random
from collections import deque
from itertools import count

# name: (value, where it comes from)
COSTS = {
    # One battle, from the visitor's first message to the receipt.
    "instance_ms": (6.4, "measured: processor time of the arena a battle, 5.9 to 6.9 ms (benches/README.md)"),
    "frames": (205, "measured: frames to the visitor a battle"),
    "frames_share": (0.7, "assumed: part of instance_ms that goes with the frames; the rest is begin, end and vote alike"),
    "reply_s": (2.2, "the load's: 200 ms to the first token, 100 tokens at 50 a second"),
    "postgres_ms": (2.8, "measured: 0.2 to 0.3 cores at 90 battles a second, nearly all PostgreSQL, for three statements"),
    "wal_kb": (5.6, "measured: PostgreSQL's log a battle"),
    "redis_commands": (9, "measured: commands of Redis a battle"),
    "to_visitor_kb": (22.6, "measured: bytes to the visitor a battle, raw pacing"),
    # One instance.
    "cores": (2, "chosen: cores of an instance"),
    "idle_mb": (18, "measured: memory of an idle instance"),
    "battle_mb": (0.197, "measured: 0.15 MB a battle under way and 47 KB a socket"),
    "heartbeats": (2.5, "code: rows of `instances` written, and all of them read, a second"),
    # PostgreSQL and Redis.
    "postgres_cores": (16, "chosen: cores of the database server"),
    "flush_ms": (1.0, "assumed: one flush of the log to a disk that keeps its promise"),
    "vote_group_ms": (0.25, "assumed: a group of votes before its first one, within the lock"),
    "vote_ms": (0.055, "fitted: 64 callers reached 12,000 to 16,000 votes a second in groups of up to 64"),
    "largest_group": (256, "code: votes in a statement"),
    "connections": (8, "deploy/kubernetes: connections of an instance"),
    "redis_per_s": (100_000, "assumed: commands a second that one Redis answers"),
    "deliveries_per_s": (500_000, "assumed: messages a second that one Redis hands to subscribers"),
    "delivery_us": (15, "assumed: processor time of an instance for one event that it receives"),
    # Leaderboards: the leader fits, the others read what it published.
    "boards_per_s": (4, "code: a fit every 250 ms at most (rating.debounce_ms)"),
    "fit_cores": (0.2, "code: a fifth of a core for fitting at most"),
    "board_kb": (60, "assumed: a stored leaderboard of 100 models"),
    # After a death.
    "notice_s": (2.0, "code: five heartbeats of 400 ms"),
    "return_s": (1.0, "assumed: visitors come back within this time, spread evenly"),
    "return_ms": (1.0, "assumed: processor time of an instance to take a visitor in"),
    "return_statements": (4, "code: battle, turns and replies read, and the turn taken over"),
}
PARTS = 5  # into which the frames of a battle are cut
STATEMENTS = 3  # of a battle: its begin, its end, its vote


class Cores:
    """Servers with one queue, first come, first served."""

    def __init__(self, sim, servers):
        self.sim, self.free, self.waiting, self.busy = sim, servers, deque(), 0.0

    def do(self, seconds, then):
        if self.free:
            self.free -= 1
            self.start(seconds, then)
        else:
            self.waiting.append((self.sim.now, seconds, then))

    def start(self, seconds, then, waited=0.0):
        if self.sim.measuring():
            self.busy += seconds
        self.sim.at(seconds, lambda: self.end(then, waited))

    def end(self, then, waited):
        if self.waiting:
            since, seconds, following = self.waiting.popleft()
            self.start(seconds, following, self.sim.now - since)
        else:
            self.free += 1
        then(waited)


class Flusher:
    """Group commit: all who wait while the log is flushed share the next flush."""

    def __init__(self, sim, seconds):
        self.sim, self.seconds, self.waiting, self.under_way, self.busy, self.flushes = sim, seconds, [], False, 0.0, 0

    def commit(self, then):
        self.waiting.append(then)
        if not self.under_way:
            self.flush()

    def flush(self):
        group, self.waiting, self.under_way = self.waiting, [], True
        if self.sim.measuring():
            self.busy += self.seconds
            self.flushes += 1
        self.sim.at(self.seconds, lambda: self.end(group))

    def end(self, group):
        self.under_way = False
        if self.waiting:
            self.flush()
        for then in group:
            then()


class Instance:
    def __init__(self, sim, costs):
        self.cores = Cores(sim, int(costs["cores"]))
        self.votes, self.writing, self.alive = [], False, True


class Simulation:
    def __init__(self, costs, battles, instances, dead, think, seed):
        self.costs, self.think, self.random = costs, think, random.Random(seed)
        self.now, self.events, self.number = 0.0, [], count()
        # Everybody has voted once before anything is measured, and each has a cycle or two in the measurement.
        cycle = costs["reply_s"] + think
        self.warm = 1.5 * cycle + 1
        self.end = self.warm + max(6.0, 1.5 * cycle)
        self.instances = [Instance(self, costs) for _ in range(instances)]
        self.postgres = Cores(self, int(costs["postgres_cores"]))
        self.log, self.lock = Flusher(self, costs["flush_ms"] / 1000), Cores(self, 1)
        self.waits = {name: [] for name in ["begin", "token", "receipt", "return"]}
        self.done, self.groups, self.worst = 0, [], 0.0
        for _ in range(battles):
            self.at(self.random.uniform(0, cycle), self.begin)
        if dead:
            self.at(self.warm + 1, lambda: self.die(dead))

    def at(self, seconds, action):
        heapq.heappush(self.events, (self.now + seconds, next(self.number), action))

    def measuring(self):
        return self.warm <= self.now < self.end

    def note(self, what, seconds):
        if self.measuring():
            self.waits[what].append(seconds)

    def run(self):
        while self.events and self.events[0][0] < self.end:
            self.now, _, action = heapq.heappop(self.events)
            action()
        return self

    def part(self):
        """Seconds of a core for the begin, the end or the vote."""
        return self.costs["instance_ms"] * (1 - self.costs["frames_share"]) / STATEMENTS / 1000

    def statement(self, then):
        """A statement with its commit."""
        seconds = self.costs["postgres_ms"] / STATEMENTS / 1000
        self.postgres.do(seconds, lambda _: self.log.commit(then))

    def begin(self):
        instance = self.random.choice([instance for instance in self.instances if instance.alive])
        since = self.now

        def stored():
            self.note("begin", self.now - since)
            self.reply(instance, 0)

        instance.cores.do(self.part(), lambda _: self.statement(stored))

    def reply(self, instance, part):
        if not instance.alive:
            return self.come_back(self.now)
        if part == PARTS:
            return instance.cores.do(self.part(), lambda _: self.statement(lambda: self.end_of_reply(instance)))
        seconds = self.costs["instance_ms"] * self.costs["frames_share"] / PARTS / 1000
        instance.cores.do(seconds, lambda waited: self.note("token", waited))
        self.at(self.costs["reply_s"] / PARTS, lambda: self.reply(instance, part + 1))

    def end_of_reply(self, instance):
        self.at(self.think, lambda: self.vote(instance))

    def vote(self, instance):
        if not instance.alive:
            instance = self.random.choice([instance for instance in self.instances if instance.alive])
        since = self.now

        def receipt():
            self.note("receipt", self.now - since)
            self.done += self.measuring()
            self.begin()

        instance.cores.do(self.part(), lambda _: (instance.votes.append(receipt), self.write_votes(instance)))

    def write_votes(self, instance):
        """One group at a time of an instance, and one at a time of all: the lock is held to the end of the commit."""
        if instance.writing or not instance.votes:
            return
        instance.writing = True
        # The group is full when its turn comes: what has come until then goes along with the next one.
        largest = int(self.costs["largest_group"])
        group, instance.votes = instance.votes[:largest], instance.votes[largest:]
        if self.measuring():
            self.groups.append(len(group))

        def written(_):
            instance.writing = False
            for receipt in group:
                receipt()
            self.write_votes(instance)

        work = (self.costs["vote_group_ms"] + self.costs["vote_ms"] * len(group)) / 1000
        if self.measuring():
            self.postgres.busy += work
        self.lock.do(work + self.costs["flush_ms"] / 1000, written)

    def die(self, dead):
        for instance in self.instances[:dead]:
            instance.alive = False

    def come_back(self, since):
        """A visitor without instance: comes back, and is taken in when the new one has noticed the death."""
        instance = self.random.choice([instance for instance in self.instances if instance.alive])
        seconds = max(self.random.uniform(0, self.costs["return_s"]), self.costs["notice_s"])

        def taken_in(_):
            self.statements_of_return(instance, since)

        self.at(seconds, lambda: instance.cores.do(self.costs["return_ms"] / 1000, taken_in))

    def statements_of_return(self, instance, since):
        seconds = self.costs["return_statements"] * self.costs["postgres_ms"] / STATEMENTS / 1000

        def back():
            self.note("return", self.now - since)
            self.reply(instance, 0)

        self.postgres.do(seconds, lambda _: self.log.commit(back))

    def measured_s(self):
        return self.end - self.warm


def percentile(values, share):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else float("nan")


def loads(costs, rate, battles, instances):
    """What everything has to carry at so many battles a second: (what, amount, unit, capacity)."""
    votes, boards = rate, min(costs["boards_per_s"], rate)
    per_group = costs["vote_group_ms"] + costs["flush_ms"]
    beats, reads = costs["heartbeats"] * instances, costs["heartbeats"] * instances + boards * (instances - 1)
    statement = costs["postgres_ms"] / STATEMENTS
    deliveries = (votes + boards) * instances
    background = costs["fit_cores"] / instances + (votes + boards) * costs["delivery_us"] / 1e6
    return [
        ("cores of an instance", rate / instances * costs["instance_ms"] / 1000 + background, "cores", costs["cores"]),
        ("memory of an instance", costs["idle_mb"] + battles / instances * costs["battle_mb"], "MB", 512),
        # As if each vote came alone, as in the measurement: groups need less.
        ("cores of PostgreSQL", (rate * costs["postgres_ms"] + (beats + reads) * statement) / 1000, "cores", costs["postgres_cores"]),
        ("commits of PostgreSQL", rate * STATEMENTS + beats, "/s", None),
        ("votes through their lock", votes, "/s", costs["largest_group"] * 1000 / (per_group + costs["vote_ms"] * costs["largest_group"])),
        ("log of PostgreSQL", rate * costs["wal_kb"] / 1000, "MB/s", None),
        ("connections to PostgreSQL", costs["connections"] * instances, "", None),
        ("commands of Redis", rate * costs["redis_commands"], "/s", costs["redis_per_s"]),
        ("events out of Redis", deliveries, "/s", costs["deliveries_per_s"]),
        ("to visitors", rate * costs["to_visitor_kb"] * 8 / 1e6, "Gbit/s", None),
        ("leaderboards read", boards * (instances - 1) * costs["board_kb"] / 1000, "MB/s", None),
    ]


def show(title, costs, sim, battles, instances):
    rate = sim.done / sim.measured_s()
    print(f"\n{title}: {rate:,.0f} battles/s")
    print(f"  {'what':28} {'load':>12} {'':7} {'full at':>14}")
    first = None
    for what, amount, unit, capacity in loads(costs, rate, battles, instances):
        full = ""
        if capacity:
            at = battles * capacity / amount
            full = f"{100 * amount / capacity:4.0f} %"
            if first is None or at < first[1]:
                first = (what, at)
        print(f"  {what:28} {amount:12,.2f} {unit:7} {full:>14}")
    cores = sum(instance.cores.busy for instance in sim.instances) / sim.measured_s()
    print(f"  simulated: {cores / instances:.2f} cores an instance for battles, {sim.postgres.busy / sim.measured_s():.1f} cores of")
    print(f"  PostgreSQL, {sim.log.flushes / sim.measured_s():,.0f} flushes/s, {sum(sim.groups) / max(1, len(sim.groups)):.1f} votes a group,")
    print(f"  the lock of votes held {100 * sim.lock.busy / sim.measured_s():.0f} % of the time")
    for what, seconds in sim.waits.items():
        if seconds:
            shares = ", ".join(f"{1000 * percentile(seconds, share):.1f}" for share in [0.5, 0.9, 0.99, 0.999])
            print(f"  {what + ' (ms at 50, 90, 99, 99.9 %)':42} {shares}   (of {len(seconds):,})")
    print(f"  full first: {first[0]}, at about {first[1]:,.0f} battles at once with {instances} instances")


def main():
    parser = argparse.ArgumentParser(description="Many battles at once on many instances, simulated from measured costs.")
    parser.add_argument("--battles", type=int, default=10_000)
    parser.add_argument("--instances", type=int, default=50)
    parser.add_argument("--dead", type=int, default=5)
    parser.add_argument("--think", type=float, default=0.0, help="seconds from the replies to the vote")
    parser.add_argument("--seed", type=int, default=1)
    for name, (value, source) in COSTS.items():
        parser.add_argument(f"--{name}", type=float, default=value, help=source.replace("%", "%%"))
    options = parser.parse_args()
    costs = {name: getattr(options, name) for name in COSTS}
    print(f"seed {options.seed}")

    one = {**costs, "postgres_cores": 2, "cores": 2}
    sim = Simulation(one, 200, 1, 0, 0.0, options.seed).run()
    rate = sim.done / sim.measured_s()
    cores = sim.instances[0].cores.busy / sim.measured_s()
    memory = costs["idle_mb"] + 200 * costs["battle_mb"]
    print("beside the measured point, 200 battles at once on one instance (predicted, measured):")
    print(f"  battles in 15 s: {15 * rate:,.0f}, 1,367 to 1,370")
    print(f"  cores of the arena: {cores:.2f}, 0.54 to 0.63 (its cost a battle is an input)")
    print(f"  memory: {memory:.0f} MB, 55 to 57 MB")

    arguments = (options.battles, options.instances)
    sim = Simulation(costs, *arguments, 0, options.think, options.seed).run()
    show(f"{options.battles:,} battles at once on {options.instances} instances", costs, sim, *arguments)
    if options.dead:
        sim = Simulation(costs, *arguments, options.dead, options.think, options.seed).run()
        show(f"the same, and {options.dead} instances die at once", costs, sim, options.battles, options.instances - options.dead)


if __name__ == "__main__":
    main()
