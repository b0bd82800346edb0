"""Writes jackknife_votes.csv, jackknife_expected.csv and jackknife_neighbours.csv, with nothing but Python's standard library.

Votes of 14 voters with tastes of their own on 6 models; one of them casts a third of all votes. The expected intervals
leave out one voter at a time: by a full refit where a voter has more than a quarter of the information on some model,
by one Newton step elsewhere. Strengths are found with the last model held at 0 and centred afterwards, equations are
solved by elimination, and Student's t comes from the numerical integral of its density: nothing here is shared with the
program. The intervals of neighbours are those of a normal mixture (Waudby-Smith et al. 2021), tuned at 1,000 battles of
each model, with the variance of the difference over the fits without each voter. Run it by hand: python3 jackknife_expected.py
"""

import csv
import math
import pathlib
import random
from statistics import NormalDist

HERE = pathlib.Path(__file__).parent
MODELS = [f"model {letter}" for letter in "ABCDEF"]
SCALE = 400 / math.log(10)
REFIT_SHARE = 0.25


def make_votes():
    rng = random.Random(20261123)
    strengths = [0.8, 0.5, 0.2, -0.1, -0.5, -0.9]
    tastes = [[rng.gauss(0, 0.5) for _ in MODELS] for _ in range(14)]
    votes = []
    for number in range(420):
        voter = 0 if number % 3 == 0 else rng.randrange(1, 14)
        a, b = rng.sample(range(6), 2)
        d = strengths[a] + tastes[voter][a] - strengths[b] - tastes[voter][b]
        chance = 1 / (1 + math.exp(-d))
        outcome = rng.choices(["model_a", "model_b", "tie", "tie (bothbad)"], [chance, 1 - chance, 0.12, 0.06])[0]
        votes.append((MODELS[a], MODELS[b], outcome, f"voter {voter:02}"))
    return votes


def solve(matrix, right):
    """Gaussian elimination with pivots; `right` is a vector."""
    size = len(right)
    rows = [list(row) + [value] for row, value in zip(matrix, right)]
    for column in range(size):
        pivot = max(range(column, size), key=lambda row: abs(rows[row][column]))
        rows[column], rows[pivot] = rows[pivot], rows[column]
        for row in range(column + 1, size):
            factor = rows[row][column] / rows[column][column]
            for place in range(column, size + 1):
                rows[row][place] -= factor * rows[column][place]
    answer = [0.0] * size
    for row in reversed(range(size)):
        rest = sum(rows[row][place] * answer[place] for place in range(row + 1, size))
        answer[row] = (rows[row][size] - rest) / rows[row][row]
    return answer


def derivatives(votes, strengths):
    """Gradient and Hessian of the negative log likelihood over all strengths."""
    size = len(MODELS)
    gradient, hessian = [0.0] * size, [[0.0] * size for _ in range(size)]
    for a, b, points in votes:
        p = 1 / (1 + math.exp(strengths[b] - strengths[a]))
        gradient[a] += p - points
        gradient[b] -= p - points
        weight = p * (1 - p)
        for row, column, sign in [(a, a, 1), (b, b, 1), (a, b, -1), (b, a, -1)]:
            hessian[row][column] += sign * weight
    return gradient, hessian


def step(gradient, hessian):
    """The Newton step with the last strength held."""
    size = len(gradient) - 1
    return solve([row[:size] for row in hessian[:size]], [-value for value in gradient[:size]]) + [0.0]


def fit(votes, start):
    strengths = list(start)
    for _ in range(50):
        move = step(*derivatives(votes, strengths))
        strengths = [value + change for value, change in zip(strengths, move)]
        if max(map(abs, move)) < 1e-14:
            break
    return strengths


def centred(values):
    mean = sum(values) / len(values)
    return [value - mean for value in values]


def t_quantile(share, freedom):
    """The two-sided quantile, by Simpson's rule on the density and bisection."""
    norm = math.exp(math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2)) / math.sqrt(freedom * math.pi)

    def inside(end):
        steps = 20_000
        width = end / steps
        total = 0.0
        for number in range(steps + 1):
            weight = 1 if number in (0, steps) else 4 if number % 2 else 2
            total += weight * (1 + (number * width) ** 2 / freedom) ** (-(freedom + 1) / 2)
        return 2 * norm * total * width / 3

    low, high = 0.0, 50.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if inside(middle) < share else (low, middle)
    return (low + high) / 2


def any_time_half_width(error, optimal_at_battles, alpha=0.05):
    """The normal mixture in the form of the paper: n observations of variance 1 have the error 1/sqrt(n)."""
    n = 1 / error**2
    tuned = optimal_at_battles / 8
    rho = math.sqrt((-2 * math.log(alpha) + math.log(-2 * math.log(alpha) + 1)) / tuned)
    grown = n * rho**2 + 1
    return math.sqrt(2 * grown / (n * rho) ** 2 * math.log(math.sqrt(grown) / alpha))


def write_neighbours(rows, changes, factor):
    """`rows`: model, rating, lower, upper, effective voters."""
    rank = {row[0]: 1 + sum(other[2] > row[3] for other in rows) for row in rows}
    rows = sorted(rows, key=lambda row: (rank[row[0]], -row[1]))
    with open(HERE / "jackknife_neighbours.csv", "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["upper", "lower", "difference", "low", "high"])
        for upper, lower in zip(rows, rows[1:]):
            one, other = MODELS.index(upper[0]), MODELS.index(lower[0])
            variance = factor * sum((change[one] - change[other]) ** 2 for change in changes)
            freedom = min(upper[4], lower[4]) - 1
            error = math.sqrt(variance) * t_quantile(0.95, freedom) / NormalDist().inv_cdf(0.975)
            half = SCALE * any_time_half_width(error, 1000)
            difference = upper[1] - lower[1]
            ends = [difference, difference - half, difference + half]
            writer.writerow([upper[0], lower[0]] + [f"{value:.10f}" for value in ends])


def main():
    raw = make_votes()
    with open(HERE / "jackknife_votes.csv", "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["model_a", "model_b", "winner", "voter"])
        writer.writerows(raw)
    points = {"model_a": 1.0, "model_b": 0.0, "tie": 0.5, "tie (bothbad)": 0.5}
    votes = [(MODELS.index(a), MODELS.index(b), points[outcome]) for a, b, outcome, _ in raw]
    voters = sorted({voter for *_, voter in raw})
    strengths = fit(votes, [0.0] * len(MODELS))
    _, hessian = derivatives(votes, strengths)
    squares = [0.0] * len(MODELS)
    changes = []
    information = [[0.0, 0.0] for _ in MODELS]
    refits = 0
    for voter in voters:
        own = [vote for vote, (*_, by) in zip(votes, raw) if by == voter]
        others = [vote for vote, (*_, by) in zip(votes, raw) if by != voter]
        _, own_hessian = derivatives(own, strengths)
        shares = [own_hessian[model][model] / hessian[model][model] for model in range(len(MODELS))]
        if max(shares) > REFIT_SHARE:
            refits += 1
            without = fit(others, strengths)
            change = [new - old for new, old in zip(without, strengths)]
        else:
            change = step(*derivatives(others, strengths))
        changes.append(centred(change))
        for model, value in enumerate(changes[-1]):
            squares[model] += value * value
            information[model][0] += own_hessian[model][model]
            information[model][1] += own_hessian[model][model] ** 2
    assert 0 < refits < len(voters)
    factor = (len(voters) - 1) / len(voters)
    rows = []
    with open(HERE / "jackknife_expected.csv", "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["model", "rating", "standard_error", "lower", "upper", "effective_voters"])
        for model, strength in enumerate(centred(strengths)):
            error = SCALE * math.sqrt(factor * squares[model])
            effective = information[model][0] ** 2 / information[model][1]
            margin = t_quantile(0.95, effective - 1) * error
            rating = 1000 + SCALE * strength
            row = [rating, error, rating - margin, rating + margin, effective]
            writer.writerow([MODELS[model]] + [f"{value:.10f}" for value in row])
            rows.append([MODELS[model], rating, rating - margin, rating + margin, effective])
    write_neighbours(rows, changes, factor)


if __name__ == "__main__":
    main()
