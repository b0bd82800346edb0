"""Writes pooling_votes.csv and pooling_expected.csv: ratings by category with partial pooling, with nothing but Python's
standard library.

All strengths and differences are one vector with one dense Hessian, the strength of the last model being the negative sum of
the others. The spread is averaged over twice: by the program's rule of nine points, and by a grid fine enough to show what
that rule leaves out ("exact"). Run it by hand: python3 pooling_expected.py
"""

import csv
import math
import random

from jackknife_expected import HERE, SCALE, solve

MODELS = ["m0", "m1", "m2", "m3"]
CATEGORIES = ["code", "maths", "writing"]
Z = 1.9599639845400543


def draw_votes():
    chance = random.Random(11)
    strength = {model: chance.gauss(0, 0.7) for model in MODELS}
    extra = {(model, category): chance.gauss(0, 0.6) for model in MODELS for category in CATEGORIES}
    votes = []
    for number in range(420):
        a, b = chance.sample(MODELS, 2)
        labels = chance.choices(CATEGORIES, weights=[12, 5, 2])
        if number % 9 == 0:
            labels = sorted(chance.sample(CATEGORIES, 2))
        if number % 20 == 7:
            labels = []
        gap = strength[a] - strength[b] + sum(extra[a, c] - extra[b, c] for c in labels) / max(1, len(labels))
        odds = 1 / (1 + math.exp(-gap))
        drawn = chance.random()
        if chance.random() < 0.15:
            outcome = chance.choice(["tie", "tie (bothbad)"])
        else:
            outcome = "model_a" if drawn < odds else "model_b"
        # In "writing", m3 never met m0.
        if not ("writing" in labels and {a, b} == {"m0", "m3"}):
            votes.append((a, b, outcome, ",".join(labels)))
    return votes


def weighted(votes):
    """A vote with two labels is half a vote in each; one without a label is in a slice of its own."""
    for a, b, outcome, labels in votes:
        points = {"model_a": 1.0, "model_b": 0.0}.get(outcome, 0.5)
        slices = labels.split(",") if labels else ["rest"]
        for name in slices:
            yield MODELS.index(a), MODELS.index(b), points, name, 1 / len(slices)


class Problem:
    def __init__(self, votes):
        self.votes = list(weighted(votes))
        self.keys = sorted({(name, model) for a, b, _, name, _ in self.votes for model in (a, b)})
        self.free = len(MODELS) - 1
        self.size = self.free + len(self.keys)

    def row(self, name, model):
        """The strength of a model in a slice, as a combination of the parameters."""
        row = self.own(model)
        row[self.free + self.keys.index((name, model))] += 1.0
        return row

    def own(self, model):
        row = [0.0] * self.size
        if model < self.free:
            row[model] = 1.0
        else:
            for other in range(self.free):
                row[other] = -1.0
        return row

    def mode(self, precision):
        at = [0.0] * self.size
        terms = [
            ([x - y for x, y in zip(self.row(name, a), self.row(name, b))], points, weight)
            for a, b, points, name, weight in self.votes
        ]
        while True:
            prior = [0.0] * self.free + [precision] * len(self.keys)
            value = sum(0.5 * k * x * x for k, x in zip(prior, at))
            gradient = [k * x for k, x in zip(prior, at)]
            hessian = [[prior[i] if i == j else 0.0 for j in range(self.size)] for i in range(self.size)]
            for row, points, weight in terms:
                gap = sum(x * y for x, y in zip(row, at))
                p = 1 / (1 + math.exp(-gap))
                value -= weight * (points * math.log(p) + (1 - points) * math.log(1 - p))
                touched = [i for i, x in enumerate(row) if x]
                for i in touched:
                    gradient[i] += weight * (p - points) * row[i]
                    for j in touched:
                        hessian[i][j] += weight * p * (1 - p) * row[i] * row[j]
            move = solve(hessian, [-x for x in gradient])
            if max(map(abs, move)) < 1e-13:
                return at, value, hessian
            at = [x + y for x, y in zip(at, move)]

    def log_density(self, log_spread):
        """Of the logarithm of the spread, under a half-normal prior of scale 1 on the spread."""
        precision = math.exp(-2 * log_spread)
        _, value, hessian = self.mode(precision)
        marginal = -value + 0.5 * len(self.keys) * math.log(precision) - 0.5 * log_determinant(hessian)
        return log_spread - 0.5 * math.exp(2 * log_spread) + marginal

    def average(self, rows, points):
        """The mean spread, and the means and errors of combinations of the parameters."""
        most = max(map(self.log_density, points))
        weights = [math.exp(self.log_density(point) - most) for point in points]
        weights = [weight if weight > 1e-4 else 0.0 for weight in weights]
        total, spread = sum(weights), 0.0
        sums = [[0.0, 0.0] for _ in rows]
        for weight, point in zip(weights, points):
            if weight:
                at, _, hessian = self.mode(math.exp(-2 * point))
                spread += weight / total * math.exp(point)
                for moments, row in zip(sums, rows):
                    mean = sum(x * y for x, y in zip(row, at))
                    variance = sum(x * y for x, y in zip(row, solve(hessian, row)))
                    moments[0] += weight / total * mean
                    moments[1] += weight / total * (variance + mean * mean)
        return spread, [(mean, math.sqrt(square - mean * mean)) for mean, square in sums]


def log_determinant(matrix):
    matrix = [list(row) for row in matrix]
    total = 0.0
    for i in range(len(matrix)):
        total += math.log(matrix[i][i])
        for j in range(i + 1, len(matrix)):
            factor = matrix[j][i] / matrix[i][i]
            for k in range(i, len(matrix)):
                matrix[j][k] -= factor * matrix[i][k]
    return total


def likeliest(function, low, high):
    ratio = (math.sqrt(5) - 1) / 2
    left, right = high - ratio * (high - low), low + ratio * (high - low)
    at_left, at_right = function(left), function(right)
    while high - low > 1e-8:
        if at_left > at_right:
            high, right, at_right = right, left, at_left
            left = high - ratio * (high - low)
            at_left = function(left)
        else:
            low, left, at_left = left, right, at_right
            right = low + ratio * (high - low)
            at_right = function(right)
    return (low + high) / 2


def main():
    votes = draw_votes()
    with open(HERE / "pooling_votes.csv", "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["model_a", "model_b", "winner", "category"])
        writer.writerows(votes)
    problem = Problem(votes)
    peak = likeliest(problem.log_density, -4.0, 1.5)
    around = [problem.log_density(peak + move) for move in (-0.1, 0.0, 0.1)]
    step = min(0.7, 1 / math.sqrt((2 * around[1] - around[0] - around[2]) / 0.01))
    rows, names = [], []
    for category in CATEGORIES:
        present = [model for name, model in problem.keys if name == category]
        for model in present:
            difference = [0.0] * problem.size
            for other in present:
                place = problem.free + problem.keys.index((category, other))
                difference[place] = (1.0 if other == model else 0.0) - 1 / len(present)
            rows += [[x + y for x, y in zip(problem.own(model), difference)], difference]
            names.append((category, MODELS[model]))
    by_rule = problem.average(rows, [peak + count * step for count in range(-5, 4)])
    exactly = problem.average(rows, [peak + count * step / 8 for count in range(-64, 41)])

    def numbers(found, line, kind):
        value, error = found[1][2 * line + kind]
        return [repr((0 if kind else 1000) + SCALE * x) for x in (value, value - Z * error, value + Z * error)]

    with open(HERE / "pooling_expected.csv", "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        columns = ["rating", "lower", "upper", "difference", "difference_lower", "difference_upper"]
        writer.writerow(["category", "model", *columns, "exact_lower", "exact_upper"])
        writer.writerow(["", "spread", repr(SCALE * by_rule[0]), *[""] * 5, repr(SCALE * exactly[0]), ""])
        for line, name in enumerate(names):
            exact = numbers(exactly, line, 0)[1:]
            writer.writerow([*name, *numbers(by_rule, line, 0), *numbers(by_rule, line, 1), *exact])


if __name__ == "__main__":
    main()
