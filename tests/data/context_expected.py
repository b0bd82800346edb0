"""Writes context_votes.csv and context_expected.csv: verdicts of judge models, and ratings adjusted for the side, for the side
in battles of several turns and for judges who prefer models of their own maker. Python's standard library only.

The votes are drawn here from known strengths and effects. Newton's method with the last model held at 0 and the effects as
further parameters; the sandwich for independent votes; then the strengths are centred. Run it by hand: python3
context_expected.py
"""

import csv
import math
import random

from jackknife_expected import HERE, SCALE, solve

MAKERS = {"ash": "Tree", "birch": "Tree", "cod": "Fish", "dace": "Fish", "eel": "Fish", "flint": "Stone"}
MODELS = [model for model in MAKERS if model != "flint"]
STRENGTHS = [0.6, 0.2, 0.0, -0.3, -0.5]
JUDGES = ["ash", "cod", "flint", "somebody"]
EFFECTS = {"side": 0.3, "side_in_later_turns": -0.5, "same_maker": 0.4}


def context(a, b, judge, turn):
    """The features of a vote besides the models."""
    own = [int(MAKERS.get(judge, "?") == MAKERS[MODELS[model]]) for model in (a, b)]
    return [1.0, float(turn > 1), float(own[0] - own[1])]


def draw():
    rng = random.Random(15)
    rows = []
    for _ in range(900):
        a, b = rng.sample(range(len(MODELS)), 2)
        judge, turn = rng.choice(JUDGES), rng.choice([1, 1, 2, 3])
        odds = STRENGTHS[a] - STRENGTHS[b] + sum(x * y for x, y in zip(context(a, b, judge, turn), EFFECTS.values()))
        wins = rng.random() < 1 / (1 + math.exp(-odds))
        winner = "tie" if rng.random() < 0.15 else "model_a" if wins else "model_b"
        rows.append((a, b, winner, judge, turn))
    return rows


def write(name, header, rows):
    with open(HERE / name, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)


def outer(rows, size):
    sums = [[0.0] * size for _ in range(size)]
    for weight, row in rows:
        for i in range(size):
            for j in range(size):
                sums[i][j] += weight * row[i] * row[j]
    return sums


def main():
    drawn = draw()
    named = [(MODELS[a], MODELS[b], winner, judge, turn) for a, b, winner, judge, turn in drawn]
    write("context_votes.csv", ["model_a", "model_b", "winner", "voter", "turn"], named)
    write("context_makers.csv", ["model", "maker"], MAKERS.items())
    free, size = len(MODELS) - 1, len(MODELS) - 1 + len(EFFECTS)
    votes = []
    for a, b, winner, judge, turn in drawn:
        row = [float(model == a) - float(model == b) for model in range(free)] + context(a, b, judge, turn)
        votes.append((row, {"model_a": 1.0, "model_b": 0.0, "tie": 0.5}[winner]))
    at = [0.0] * size
    for _ in range(50):
        chances = [1 / (1 + math.exp(-sum(x * y for x, y in zip(row, at)))) for row, _ in votes]
        gradient = [sum((p - points) * row[i] for (row, points), p in zip(votes, chances)) for i in range(size)]
        hessian = outer([(p * (1 - p), row) for (row, _), p in zip(votes, chances)], size)
        move = solve(hessian, [-value for value in gradient])
        at = [value + change for value, change in zip(at, move)]
        if max(map(abs, move)) < 1e-14:
            break
    middle = outer([((p - points) ** 2, row) for (row, points), p in zip(votes, chances)], size)
    # Rows of the map from the parameters to the centred strengths and the effects.
    rows = {
        model: [float(place == i) - 1 / len(MODELS) for i in range(free)] + [0.0] * len(EFFECTS)
        for place, model in enumerate(MODELS)
    }
    rows |= {name: [float(place == i) for i in range(size)] for place, name in enumerate(EFFECTS, free)}
    found = []
    for name, row in rows.items():
        half = solve(hessian, row)
        error = math.sqrt(sum(half[i] * middle[i][j] * half[j] for i in range(size) for j in range(size)))
        value = sum(x * y for x, y in zip(row, at))
        if name in MODELS:
            value, error = 1000 + SCALE * value, SCALE * error
        found.append((name, f"{value:.10f}", f"{error:.10f}"))
    write("context_expected.csv", ["model", "rating", "standard_error"], found)


if __name__ == "__main__":
    main()
