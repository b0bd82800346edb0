"""Writes value_votes.csv, value_prices.csv and value_expected.json, with nothing but Python's standard library.

Votes on 7 models with tokens and times: one model has few votes, one no price, one no times, and a tenth of the battles have
two turns, which no cost or time may count. The variance of a difference of two strengths is the sum over all votes of the
square of what the vote moves it by, by one Newton step with the last strength held at 0: no covariance matrix is made. The
Pareto set by rating and cost is found by a sweep over sorted costs, the one with times by comparing all pairs as the words
of the definition say. Run it by hand: python3 value_expected.py
"""

import csv
import json
import math
import random
from statistics import NormalDist, mean, median

import jackknife_expected
from jackknife_expected import HERE, SCALE, centred, derivatives, fit, solve

MODELS = [f"model {letter}" for letter in "ABCDEFG"]
STRENGTHS = [0.9, 0.85, 0.8, 0.7, 0.0, -0.1, 0.4]
WORDS = [420, 180, 300, 150, 160, 900, 200]
FIRST_MS = [900, 300, 400, None, 150, 200, 300]
MS_A_TOKEN = [30, 12, 20, None, 8, 5, 10]
PRICES = {"A": (5, 15), "B": (0.5, 1.5), "D": (0.6, 1.2), "E": (0.1, 0.4), "F": (0.05, 0.2), "G": (0, 0.01)}
FEWEST_VOTES = 30
FEWEST_TIMES = 10
jackknife_expected.MODELS = MODELS


def make_votes():
    rng = random.Random(20261124)
    votes = []
    for number in range(900):
        a, b = rng.sample(range(6), 2) if number % 45 else rng.sample([6, rng.randrange(6)], 2)
        chance = 1 / (1 + math.exp(STRENGTHS[b] - STRENGTHS[a]))
        winner = rng.choices(["model_a", "model_b", "tie"], [chance, 1 - chance, 0.15])[0]
        row = {"model_a": MODELS[a], "model_b": MODELS[b], "winner": winner, "turn": 1 + (number % 10 == 7)}
        row["prompt_tokens"] = rng.randrange(10, 90)
        for side, model in (("a", a), ("b", b)):
            tokens = max(3, round(rng.gauss(WORDS[model], WORDS[model] / 3)))
            known = FIRST_MS[model] is not None
            first = max(20, round(rng.gauss(FIRST_MS[model], 60))) if known else ""
            row[f"tokens_{side}"] = tokens
            row[f"first_token_ms_{side}"] = first
            row[f"duration_ms_{side}"] = first + tokens * MS_A_TOKEN[model] + rng.randrange(40) if known else ""
        votes.append(row)
    return votes


def write(name, rows):
    with open(HERE / name, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, rows[0], lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def half_width(votes, strengths, hessian, one, other):
    """95 % by the sandwich formula: each vote moves the difference by its score times H^-1 (e_one - e_other)."""
    size = len(MODELS) - 1
    contrast = [(model == one) - (model == other) for model in range(size)]
    direction = solve([row[:size] for row in hessian[:size]], contrast) + [0.0]
    variance = 0.0
    for a, b, points in votes:
        score = 1 / (1 + math.exp(strengths[b] - strengths[a])) - points
        variance += (score * (direction[a] - direction[b])) ** 2
    return SCALE * NormalDist().inv_cdf(0.975) * math.sqrt(variance)


def rounded(value, digits):
    """To so many decimals, halves up."""
    return math.floor(value * 10**digits + 0.5) / 10**digits


def usage(rows, model):
    """Mean tokens, and the rounded medians of the time to the first token and the speed."""
    tokens, firsts, speeds = [], [], []
    for row in rows:
        for side in "ab":
            if row[f"model_{side}"] != MODELS[model] or row["turn"] != 1:
                continue
            tokens.append(row[f"tokens_{side}"])
            first, duration = row[f"first_token_ms_{side}"], row[f"duration_ms_{side}"]
            if first == "":
                continue
            firsts.append(first / 1000)
            if duration - first >= 100:
                speeds.append(1000 * tokens[-1] / (duration - first))
    first = rounded(median(firsts), 1) if len(firsts) >= FEWEST_TIMES else None
    speed = median(speeds) if len(speeds) >= FEWEST_TIMES else None
    digits = 1 - math.floor(math.log10(speed)) if speed else 0
    return mean(tokens), first, speed and rounded(speed, digits)


def sweep(ratings, costs, compared):
    """From the cheapest on, a model is in the set if it is rated higher than all cheaper ones."""
    highest, found = -math.inf, set()
    for cost in sorted({costs[model] for model in compared}):
        equal = [model for model in compared if costs[model] == cost]
        best = max(ratings[model] for model in equal)
        if best > highest:
            found |= {model for model in equal if ratings[model] == best}
        highest = max(highest, best)
    return found


def main():
    rows = make_votes()
    prices = [dict(zip(("model", "input_price", "output_price"), (f"model {k}", *v))) for k, v in PRICES.items()]
    write("value_votes.csv", rows)
    write("value_prices.csv", prices)
    points = {"model_a": 1.0, "model_b": 0.0, "tie": 0.5}
    votes = [(MODELS.index(r["model_a"]), MODELS.index(r["model_b"]), points[r["winner"]]) for r in rows]
    strengths = fit(votes, [0.0] * len(MODELS))
    _, hessian = derivatives(votes, strengths)
    ratings = [1000 + SCALE * strength for strength in centred(strengths)]
    prompt = mean(row["prompt_tokens"] for row in rows if row["turn"] == 1)
    used = [usage(rows, model) for model in range(len(MODELS))]
    costs = {}
    for row in prices:
        model = MODELS.index(row["model"])
        costs[model] = (prompt * row["input_price"] + used[model][0] * row["output_price"]) / 1000
    battles = [sum(model in vote[:2] for vote in votes) for model in range(len(MODELS))]
    compared = [model for model in costs if battles[model] >= FEWEST_VOTES]
    plain = sweep(ratings, costs, compared)

    def goods(model):
        _, first, speed = used[model]
        return [ratings[model], -costs[model], None if first is None else -first, speed]

    def beats(one, other):
        pairs = [(x, y) for x, y in zip(goods(one), goods(other)) if y is not None]
        return all(x is not None and x >= y for x, y in pairs) and any(x > y for x, y in pairs)

    expected = {}
    for model, name in enumerate(MODELS):
        is_compared = model in compared
        cheaper = []
        for other in compared if is_compared else []:
            difference = ratings[model] - ratings[other]
            if costs[other] < costs[model]:
                half = half_width(votes, strengths, hessian, model, other)
                if abs(difference) <= half:
                    cheaper.append((costs[other], other, difference, half))
        found = None
        if cheaper:
            cost, other, difference, half = min(cheaper)
            found = {
                "model": MODELS[other],
                "difference": difference,
                "lower": difference - half,
                "upper": difference + half,
                "saving": 1 - cost / costs[model],
                "greatest_win_share": 1 / (1 + 10 ** (-(difference + half) / 400)),
            }
        expected[name] = {
            "rating": ratings[model],
            "cost": costs.get(model),
            "reply_tokens": used[model][0],
            "first_token_seconds": used[model][1],
            "tokens_per_second": used[model][2],
            "pareto": model in plain if is_compared else None,
            "pareto_with_times": not any(beats(o, model) for o in compared) if is_compared else None,
            "cheaper": found,
        }
    best = MODELS[max(compared, key=lambda model: ratings[model])]
    with open(HERE / "value_expected.json", "w", encoding="utf-8") as file:
        json.dump({"prompt_tokens": prompt, "best": best, "models": expected}, file, indent=1)
        file.write("\n")


if __name__ == "__main__":
    main()
