"""Writes robustness_votes.csv, votes with a circle of three models and with voters who vote the other way round, and
robustness_expected.json: how firm their leaderboard is, with Python's standard library only.

Strengths by the MM iteration of Hunter (2004); the deviance term by term; circles by trying all triples; leverages and the
step that takes a voter's votes out by Gaussian elimination with one strength held; Crowd-BT by sums of logarithms over the
same grid of consistencies and the same lattice of priors that the program documents. Run it by hand:
python3 robustness_expected.py
"""

import csv
import json
import random
from itertools import combinations
from math import exp, log, sqrt

from jackknife_expected import HERE, MODELS, solve

SIZE = len(MODELS)
POINTS = {"model_a": 1.0, "model_b": 0.0, "tie": 0.5, "tie (bothbad)": 0.5}
NODES = [(node + 0.5) / 100 for node in range(100)]
PAIRS = list(combinations(range(SIZE), 2))


def make_votes():
    """900 votes; A beats B, B beats C and C beats A more often than their strengths say. Of 30 voters, the last four vote the
    other way round and the last one of the others guesses."""
    rng = random.Random(11)
    strengths = [0.9, 0.5, 0.3, 0.0, -0.5, -1.2]
    circle = {(0, 1): 0.7, (1, 2): 0.7, (0, 2): -1.1}
    with open(HERE / "robustness_votes.csv", "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["model_a", "model_b", "winner", "voter"])
        for _ in range(900):
            voter = int(30 * rng.random() ** 1.3)
            a, b = rng.sample(range(SIZE), 2)
            d = strengths[a] - strengths[b] + circle.get((a, b), 0) - circle.get((b, a), 0)
            p = 1 / (1 + exp(-d))
            p = 1 - p if voter >= 26 else 0.5 if voter == 25 else p
            tie, draw = 0.6 * p * (1 - p), rng.random()
            winner = "model_a" if draw < p - tie / 2 else "model_b" if draw >= p + tie / 2 else "tie"
            writer.writerow([MODELS[a], MODELS[b], winner, f"voter {voter:02}"])


def read_votes():
    """Model, other model, points of the first, voter."""
    with open(HERE / "robustness_votes.csv", newline="", encoding="utf-8") as file:
        return [
            (MODELS.index(row["model_a"]), MODELS.index(row["model_b"]), POINTS[row["winner"]], row["voter"])
            for row in csv.DictReader(file)
        ]


def fit(votes):
    """π with product 1: π_i ← points of i / Σ 1/(π_i + π_j) over its votes."""
    strengths = [1.0] * SIZE
    for _ in range(20_000):
        won, met = [0.0] * SIZE, [0.0] * SIZE
        for a, b, points, _ in votes:
            won[a] += points
            won[b] += 1 - points
            met[a] += 1 / (strengths[a] + strengths[b])
            met[b] += 1 / (strengths[a] + strengths[b])
        strengths = [w / m for w, m in zip(won, met)]
        mean = sum(map(log, strengths)) / SIZE
        strengths = [value / exp(mean) for value in strengths]
    return [log(value) for value in strengths]


def share(strengths, a, b):
    return 1 / (1 + exp(strengths[b] - strengths[a]))


def hessian(votes, strengths):
    matrix = [[0.0] * SIZE for _ in range(SIZE)]
    for a, b, _, _ in votes:
        weight = share(strengths, a, b) * share(strengths, b, a)
        matrix[a][a] += weight
        matrix[b][b] += weight
        matrix[a][b] -= weight
        matrix[b][a] -= weight
    return matrix


def solve_held(matrix, right):
    """Solves with the last strength held at 0."""
    return solve([row[:-1] for row in matrix[:-1]], right[:-1]) + [0.0]


def goodness_of_fit(votes, strengths):
    deviance, squares, kappa_below, rows = 0.0, 0.0, 0.0, []
    matrix = hessian(votes, strengths)
    for a, b in PAIRS:
        of_pair = [(x, points if x == a else 1 - points) for x, y, points, _ in votes if {x, y} == {a, b}]
        number, observed, p = len(of_pair), sum(points for _, points in of_pair), share(strengths, a, b)
        deviance += 2 * (observed * log(observed / (number * p)))
        deviance += 2 * (number - observed) * log((number - observed) / (number * (1 - p)))
        unit = [(model == a) - (model == b) for model in range(SIZE)]
        solved = solve_held(matrix, [float(value) for value in unit])
        leverage = number * p * (1 - p) * (solved[a] - solved[b])
        kappa_below += number * p * (1 - p)
        rows.append((a, b, number, observed, p, leverage))
    kappa = sum(points == 0.5 for _, _, points, _ in votes) / kappa_below
    worst = []
    for a, b, number, observed, p, leverage in rows:
        variance = number * p * (1 - p) * (1 - leverage) * (1 - kappa / 4)
        excess = observed - number * p
        squares += (excess**2 - variance) / number
        first, second, of, expected = (a, b, observed / number, p) if excess > 0 else (b, a, 1 - observed / number, 1 - p)
        worst.append(
            {
                "better": MODELS[first],
                "worse": MODELS[second],
                "votes": number,
                "observed": of,
                "expected": expected,
                "residual": abs(excess) / sqrt(variance),
            }
        )
    worst.sort(key=lambda row: -row["residual"])
    misfit = sqrt(max(0.0, squares / len(votes)))
    return {"deviance": deviance, "degrees_of_freedom": len(rows) - SIZE + 1, "misfit": misfit, "worst": worst[:5]}


def cycles(votes):
    wins = [[0] * SIZE for _ in range(SIZE)]
    for a, b, points, _ in votes:
        if points != 0.5:
            winner, loser = (a, b) if points == 1 else (b, a)
            wins[winner][loser] += 1

    def clarity(a, b):
        return (wins[a][b] - wins[b][a]) / sqrt(wins[a][b] + wins[b][a])

    found, triples = [], 0
    for trio in combinations(range(SIZE), 3):
        triples += all(wins[x][y] != wins[y][x] for x, y in combinations(trio, 2))
        for a, b, c in (trio, trio[::-1]):
            if min(clarity(a, b), clarity(b, c), clarity(c, a)) > 0:
                found.append((min(clarity(a, b), clarity(b, c), clarity(c, a)), (a, b, c)))
    clearest = max(found, default=None)
    return {
        "triples": triples,
        "cyclic": len(found),
        "clarity": clearest and clearest[0],
        "clearest": clearest and sorted(MODELS[model] for model in clearest[1]),
    }


def crowd(votes, strengths):
    matrix = hessian(votes, strengths)
    voters = {}
    for vote in votes:
        voters.setdefault(vote[3], []).append(vote)
    likelihoods = []
    for of_voter in voters.values():
        slope = [0.0] * SIZE
        for a, b, points, _ in of_voter:
            slope[a] += points - share(strengths, a, b)
            slope[b] -= points - share(strengths, a, b)
        without = [value - by for value, by in zip(strengths, solve_held(matrix, slope))]
        decided = [(a, b) if points == 1 else (b, a) for a, b, points, _ in of_voter if points != 0.5]
        agrees = [share(without, winner, loser) for winner, loser in decided]
        logs = [sum(log(eta * p + (1 - eta) * (1 - p)) for p in agrees) for eta in NODES]
        likelihoods.append((len(agrees), logs))

    def weights(alpha, beta):
        of_node = [(alpha - 1) * log(eta) + (beta - 1) * log(1 - eta) for eta in NODES]
        most = max(of_node)
        total = sum(exp(value - most) for value in of_node)
        return [exp(value - most) / total for value in of_node]

    def marginal(prior):
        total = 0.0
        for _, logs in likelihoods:
            most = max(logs)
            total += most + log(sum(weight * exp(value - most) for weight, value in zip(prior, logs)))
        return total

    lattice = [(2.0**alpha, 2.0**beta) for alpha in range(-2, 10) for beta in range(-5, 7)]
    prior, means, active, against = max((weights(*at) for at in lattice), key=marginal), [], [], 0
    for number, logs in likelihoods:
        most = max(logs)
        posterior = [weight * exp(value - most) for weight, value in zip(prior, logs)]
        total = sum(posterior)
        means.append(sum(eta * value for eta, value in zip(NODES, posterior)) / total)
        if number >= 10:
            active.append(means[-1])
            against += sum(posterior[:50]) / total >= 0.95
    return {"mean": sum(means) / len(means), "against": against, "means": sorted(active)}


def main():
    make_votes()
    votes = read_votes()
    strengths = fit(votes)
    expected = {
        "goodness_of_fit": goodness_of_fit(votes, strengths),
        "cycles": cycles(votes),
        "voter_consistency": crowd(votes, strengths),
    }
    text = json.dumps(expected, indent=2, ensure_ascii=False)
    (HERE / "robustness_expected.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
