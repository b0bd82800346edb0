"""Recounts the leaderboard from exported votes and compares it with `langya fit`. See tests/recount.

Bradley–Terry by scipy's trust-region minimiser on the exported rows, its sandwich intervals and ranks by numpy, Elo in log order.
"""

import json
import os
import shutil
import subprocess
import sys
import time

import numpy
from scipy.optimize import minimize
from scipy.special import expit, log_expit
from scipy.stats import norm

PROGRAM, FOLDER = os.path.abspath(sys.argv[1]), sys.argv[2]
SCALE = 400 / numpy.log(10)
POINTS = {"model_a": 1.0, "model_b": 0.0, "tie": 0.5, "both_bad": 0.5}
SEED, VOTES, MODELS = 20261124, int(os.environ.get("VOTES", "20000")), 12

data = os.path.join(FOLDER, "data")
place = ["--database", os.environ["DATABASE"]] if "DATABASE" in os.environ else ["--data-dir", data]


def langya(*arguments):
    started = time.monotonic()
    done = subprocess.run([PROGRAM, *arguments], cwd=FOLDER, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"langya {' '.join(arguments)} ended with {done.returncode}: {done.stderr}")
    return done.stdout, time.monotonic() - started


def recount():
    """Ratings, ranks and Elo by model, and the number of excluded votes, from the exported log alone."""
    rows = [json.loads(line) for line in langya("export", "votes", *place, "--out", "-")[0].splitlines()]
    rated = [row for row in rows if row["rated"]]
    assert all((row["exclusion"] is None) == row["rated"] for row in rows)
    names = sorted({row[side] for row in rated for side in ("model_a", "model_b")})
    position = {name: at for at, name in enumerate(names)}
    a = numpy.array([position[row["model_a"]] for row in rated])
    b = numpy.array([position[row["model_b"]] for row in rated])
    y = numpy.array([POINTS[row["winner"]] for row in rated])
    n = len(names)

    def loss(s):
        d = s[a] - s[b]
        return -(y * log_expit(d) + (1 - y) * log_expit(-d)).sum()

    def gradient(s):
        residual = y - expit(s[a] - s[b])
        return numpy.bincount(b, residual, n) - numpy.bincount(a, residual, n)

    def spread(weights):
        matrix = numpy.zeros((n, n))
        for one, other, sign in ((a, a, 1), (b, b, 1), (a, b, -1), (b, a, -1)):
            numpy.add.at(matrix, (one, other), sign * weights)
        return matrix

    def hessian(s):
        p = expit(s[a] - s[b])
        return spread(p * (1 - p))

    # One strength is held at 0: only differences count.
    inner = numpy.s_[: n - 1]
    full = lambda x: numpy.append(x, 0.0)
    found = minimize(
        lambda x: loss(full(x)),
        numpy.zeros(n - 1),
        jac=lambda x: gradient(full(x))[inner],
        hess=lambda x: hessian(full(x))[inner, inner],
        method="trust-exact",
        options={"gtol": 1e-9},
    )
    x = found.x
    for _ in range(3):  # the minimiser stops where its loss no longer changes; the gradient goes further
        x = x - numpy.linalg.solve(hessian(full(x))[inner, inner], gradient(full(x))[inner])
    s = full(x)
    s -= s.mean()
    inverse = numpy.linalg.inv(hessian(s) + 1 / n) - 1 / n  # the pseudo-inverse of a graph's Laplacian
    variance = inverse @ spread((y - expit(s[a] - s[b])) ** 2) @ inverse
    margin = norm.ppf(0.975) * SCALE * numpy.sqrt(numpy.diag(variance))
    rating = 1000 + SCALE * s
    rank = [1 + int((rating - margin > rating[i] + margin[i]).sum()) for i in range(n)]

    elo = numpy.full(n, 1000.0)
    for one, other, points in zip(a, b, y):
        change = 4 * (points - 1 / (1 + 10 ** ((elo[other] - elo[one]) / 400)))
        elo[one] += change
        elo[other] -= change
    return {name: (rating[i], rank[i], elo[i]) for i, name in enumerate(names)}, len(rows) - len(rated)


def compare(step):
    text, _ = langya("fit", *place, "--interval", "sandwich", "--format", "json")
    board, (ours, excluded) = json.loads(text), recount()
    theirs = {row["model"]: row for row in board["models"]}
    assert theirs.keys() == ours.keys(), (theirs.keys(), ours.keys())
    assert sum(board["votes"]["excluded"].values()) == excluded
    differences = [
        max(abs(theirs[model][field] - row[at]) for model, row in ours.items()) for at, field in ((0, "rating"), (2, "elo"))
    ]
    ranks = sum(theirs[model]["rank"] != row[1] for model, row in ours.items())
    print(
        f"{step}: {board['votes']['rated']} rated, {excluded} excluded; largest difference of a rating {differences[0]:.1e}, "
        f"of an Elo rating {differences[1]:.1e}; ranks that differ: {ranks}"
    )
    assert max(differences) <= 1e-6 and ranks == 0, step
    return text


shutil.rmtree(data, ignore_errors=True)
print(f"seed {SEED}, {VOTES} votes, {MODELS} models")
langya(
    *["simulate", "--models", str(MODELS), "--votes", str(VOTES), "--seed", str(SEED), "--out", "votes.jsonl", "--force"],
    *["--ties", "0.1", "--both-bad", "0.05", "--voters", "500", "--activity", "zipf"],
)
langya("import", "votes", "votes.jsonl", *place)
before = compare("before")

rows = json.loads(langya("votes", "list", *place, "--limit", "0", "--format", "json")[0])
counts = {}
for row in rows:
    counts[row["voter"]] = counts.get(row["voter"], 0) + 1
voter = min(counts, key=lambda voter: abs(counts[voter] - 200))
reason = ["--reason", "a recount"]
_, took = langya("votes", "exclude", *place, "--voter", voter, *reason)
print(f"excluding {counts[voter]} votes of one voter took {took:.2f} s")
compare("without one voter")
half = VOTES // 2
_, took = langya("votes", "exclude", *place, "--seq", f"{half}..", "--rule", "rate_limited", *reason)
print(f"excluding {VOTES - half + 1} votes by their numbers took {took:.2f} s")
compare("without one voter and the later half")
_, took = langya("votes", "include", *place, "--rule", "rate_limited")
print(f"rating {VOTES - half + 1} votes again took {took:.2f} s")
compare("without one voter")
langya("votes", "include", *place, "--voter", voter)
assert compare("after everything was undone") == before, "not the same bytes"
print("the leaderboard equals the votes, and is the same to the last byte once everything is undone")
