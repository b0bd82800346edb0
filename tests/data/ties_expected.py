"""Writes ties_expected.json: what models of all outcomes say of jackknife_votes.csv, with Python's standard library only.

Probabilities are written as published and maximised in 50 digits by Newton's method, with derivatives from differences of
1e-12 and 1e-16: nothing of the program's algebra is used. Shares of prompts for which a model is good enough come with the
sandwich for independent votes; so do their changes from the earlier half of the votes to the later. Run it by hand: python3 ties_expected.py
"""

import csv
import json
from collections import Counter
from decimal import Decimal, getcontext

from jackknife_expected import HERE, MODELS, solve

getcontext().prec = 50
Z = Decimal("1.959963984540054235524594430520")
STEP = Decimal("1e-14")
OUTCOMES = {"model_a": "first", "model_b": "second", "tie": "tie", "tie (bothbad)": "bad"}


def read_rows():
    with open(HERE / "jackknife_votes.csv", newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def counted(rows):
    """Votes by pair in order and outcome."""
    counts = Counter()
    for row in rows:
        a, b = MODELS.index(row["model_a"]), MODELS.index(row["model_b"])
        outcome = OUTCOMES[row["winner"]]
        if a > b:
            a, b = b, a
            outcome = {"first": "second", "second": "first"}.get(outcome, outcome)
        counts[a, b, outcome] += 1
    return counts


def generalised_rao_kupper(a, b, tie):
    theta = 1 + tie
    first, second, bad = a / (a + theta * b + 1), b / (b + theta * a + 1), 1 / (1 + a + b)
    return {"first": first, "second": second, "bad": bad, "tie": 1 - first - second - bad}


def rao_kupper(a, b, tie):
    theta = 1 + tie
    first, second = a / (a + theta * b), b / (b + theta * a)
    return {"first": first, "second": second, "tie": 1 - first - second}


def davidson(a, b, tie):
    both = tie * (a * b).sqrt()
    return {"first": a / (a + b + both), "second": b / (a + b + both), "tie": both / (a + b + both)}


def loss(model, counts, point):
    strengths, tie = [value.exp() for value in point[:-1]], point[-1].exp()
    return -sum(
        votes * model(strengths[a], strengths[b], tie)[outcome].ln() for (a, b, outcome), votes in counts.items()
    )


def moved(point, *changes):
    point = list(point)
    for place, change in changes:
        point[place] += change
    return point


def gradient(function, point, free):
    return [(function(moved(point, (i, STEP))) - function(moved(point, (i, -STEP)))) / (2 * STEP) for i in free]


def hessian(function, point, free):
    rows = []
    for i in free:
        more, less = (gradient(function, moved(point, (i, sign * STEP)), free) for sign in (1, -1))
        rows.append([(x - y) / (2 * STEP) for x, y in zip(more, less)])
    return rows


def minimise(function, point, free):
    for _ in range(60):
        slope = gradient(function, point, free)
        step = [Decimal(value) for value in solve(hessian(function, point, free), [-value for value in slope])]
        here, share = function(point), Decimal(1)
        while function(moved(point, *[(i, share * change) for i, change in zip(free, step)])) > here and share > STEP:
            share /= 2
        point = moved(point, *[(i, share * change) for i, change in zip(free, step)])
        if max(map(abs, step)) < Decimal("1e-12"):
            return point
    raise SystemExit("no minimum was found")


def good_enough(counts):
    size = len(MODELS) + 1
    free = list(range(size))
    point = minimise(lambda at: loss(generalised_rao_kupper, counts, at), [Decimal(0)] * size, free)
    curvature = hessian(lambda at: loss(generalised_rao_kupper, counts, at), point, free)
    middle = [[Decimal(0)] * size for _ in free]
    for kind, votes in counts.items():
        score = gradient(lambda at, kind=kind: loss(generalised_rao_kupper, {kind: 1}, at), point, free)
        for i in free:
            for j in free:
                middle[i][j] += votes * score[i] * score[j]
    shares = {}
    for model, name in enumerate(MODELS):
        unit = [Decimal(int(place == model)) for place in free]
        half = [Decimal(value) for value in solve(curvature, unit)]
        error = sum(half[i] * middle[i][j] * half[j] for i in free for j in free).sqrt()
        ends = [point[model], point[model] - Z * error, point[model] + Z * error]
        shares[name] = [float(1 / (1 + (-value).exp())) for value in ends]
    return shares


def changes(rows):
    """Shares of the later half minus those of the earlier, with the interval of Newcombe 1998, method 10."""
    half = len(rows) // 2
    earlier, later = (good_enough(counted(part)) for part in (rows[:half], rows[half:]))
    found = {}
    for name in MODELS:
        (s1, l1, u1), (s2, l2, u2) = earlier[name], later[name]
        change = s2 - s1
        below, above = ((s2 - l2) ** 2 + (u1 - s1) ** 2) ** 0.5, ((u2 - s2) ** 2 + (s1 - l1) ** 2) ** 0.5
        found[name] = [change, change - below, change + above]
    return found


def likelihoods(counts):
    """Both bad counts as a tie; the last strength is held at 0."""
    ties = Counter()
    for (a, b, outcome), votes in counts.items():
        ties[a, b, "tie" if outcome == "bad" else outcome] += votes
    free = [place for place in range(len(MODELS) + 1) if place != len(MODELS) - 1]
    start = [Decimal(0)] * len(MODELS) + [Decimal(-1)]
    found = {}
    for name, model in [("rao-kupper", rao_kupper), ("davidson", davidson)]:
        point = minimise(lambda at, model=model: loss(model, ties, at), start, free)
        found[name] = float(-loss(model, ties, point))

    wins = Counter({kind: votes for kind, votes in ties.items() if kind[2] != "tie"})

    def of_wins(at):
        strengths = [value.exp() for value in at]
        total = Decimal(0)
        for (a, b, outcome), votes in wins.items():
            winner = strengths[a] if outcome == "first" else strengths[b]
            total -= votes * (winner / (strengths[a] + strengths[b])).ln()
        return total

    # Ties that are equally frequent in every pair say nothing of the strengths.
    point = minimise(of_wins, [Decimal(0)] * len(MODELS), list(range(len(MODELS) - 1)))
    decided, all_votes = Decimal(sum(wins.values())), Decimal(sum(ties.values()))
    likelihood = (all_votes - decided) * ((all_votes - decided) / all_votes).ln() + decided * (decided / all_votes).ln()
    found["half"] = float(likelihood - of_wins(point))
    return found


if __name__ == "__main__":
    votes = read_rows()
    expected = {
        "good_enough": good_enough(counted(votes)),
        "good_enough_change": changes(votes),
        "log_likelihood": likelihoods(counted(votes)),
    }
    with open(HERE / "ties_expected.json", "w", encoding="utf-8") as file:
        json.dump(expected, file, indent=2)
        file.write("\n")
