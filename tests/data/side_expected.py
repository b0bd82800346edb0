"""Writes side_expected.csv: ratings of jackknife_votes.csv adjusted for the side, with nothing but Python's standard library.

Newton's method with the last model held at 0 and the advantage of side A as a further parameter; the sandwich for
independent votes; then the strengths are centred. Run it by hand: python3 side_expected.py
"""

import csv
import math

from jackknife_expected import HERE, MODELS, SCALE, solve

POINTS = {"model_a": 1.0, "model_b": 0.0, "tie": 0.5, "tie (bothbad)": 0.5}


def read_votes():
    with open(HERE / "jackknife_votes.csv", newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    return [(MODELS.index(row["model_a"]), MODELS.index(row["model_b"]), POINTS[row["winner"]]) for row in rows]


def features(a, b):
    """The derivative of a vote's log odds by the parameters: the strengths but the last, then the side."""
    row = [0.0] * len(MODELS)
    for model, sign in [(a, 1.0), (b, -1.0)]:
        if model < len(MODELS) - 1:
            row[model] = sign
    row[-1] = 1.0
    return row


def outer(rows):
    size = len(MODELS)
    sums = [[0.0] * size for _ in range(size)]
    for weight, row in rows:
        for i in range(size):
            for j in range(size):
                sums[i][j] += weight * row[i] * row[j]
    return sums


def main():
    votes = [(features(a, b), points) for a, b, points in read_votes()]
    size = len(MODELS)
    at = [0.0] * size
    for _ in range(50):
        chances = [1 / (1 + math.exp(-sum(x * y for x, y in zip(row, at)))) for row, _ in votes]
        gradient = [sum((p - points) * row[i] for (row, points), p in zip(votes, chances)) for i in range(size)]
        hessian = outer([(p * (1 - p), row) for (row, _), p in zip(votes, chances)])
        move = solve(hessian, [-value for value in gradient])
        at = [value + change for value, change in zip(at, move)]
        if max(map(abs, move)) < 1e-14:
            break
    middle = outer([((p - points) ** 2, row) for (row, points), p in zip(votes, chances)])
    # Rows of the map from the parameters to the centred strengths and the side.
    rows = [[(1.0 if i == model else 0.0) - 1 / size for i in range(size - 1)] + [0.0] for model in range(size)]
    rows.append([0.0] * (size - 1) + [1.0])
    with open(HERE / "side_expected.csv", "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["model", "rating", "standard_error"])
        for name, row in zip(MODELS + ["side"], rows):
            half = solve(hessian, row)
            error = math.sqrt(sum(half[i] * middle[i][j] * half[j] for i in range(size) for j in range(size)))
            value = sum(x * y for x, y in zip(row, at))
            if name != "side":
                value, error = 1000 + SCALE * value, SCALE * error
            writer.writerow([name, f"{value:.10f}", f"{error:.10f}"])


if __name__ == "__main__":
    main()
