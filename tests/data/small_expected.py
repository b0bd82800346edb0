"""Computes small_expected.csv from small_votes.csv in 50 digits, by other means than the program under test.

Strengths by the minorise-maximise iteration (Zermelo 1929), not Newton's; the pseudo-inverse by a bordered system.
Needs Python with mpmath:  python3 small_expected.py < small_votes.csv > small_expected.csv
"""

import csv
import sys

from mpmath import erfinv, exp, log, matrix, mp, mpf, sqrt

mp.dps = 50
POINTS = {"model_a": mpf(1), "model_b": mpf(0), "tie": mpf(1) / 2, "tie (bothbad)": mpf(1) / 2}

votes = sorted(csv.DictReader(sys.stdin), key=lambda row: float(row["tstamp"]))
names = sorted({row[side] for row in votes for side in ("model_a", "model_b")})
place = {name: i for i, name in enumerate(names)}
games = [(place[row["model_a"]], place[row["model_b"]], POINTS[row["winner"]]) for row in votes]
n = len(names)

elo = [mpf(1000)] * n
for a, b, y in games:
    change = 4 * (y - 1 / (1 + mpf(10) ** ((elo[b] - elo[a]) / 400)))
    elo[a] += change
    elo[b] -= change

points = [sum(y for a, _, y in games if a == i) + sum(1 - y for _, b, y in games if b == i) for i in range(n)]
merit = [mpf(1)] * n
while True:
    weight = [mpf(0)] * n
    for a, b, _ in games:
        weight[a] += 1 / (merit[a] + merit[b])
        weight[b] += 1 / (merit[a] + merit[b])
    new = [points[i] / weight[i] for i in range(n)]
    moved = max(abs(log(x / y)) for x, y in zip(new, merit))
    merit = new
    if moved < mpf(10) ** -40:
        break
theta = [log(x) for x in merit]
mean = sum(theta) / n
theta = [t - mean for t in theta]

bordered, spread = matrix(n + 1, n + 1), matrix(n, n)
for i in range(n):
    bordered[i, n] = bordered[n, i] = 1
for a, b, y in games:
    p = 1 / (1 + exp(theta[b] - theta[a]))
    for target, value in ((bordered, p * (1 - p)), (spread, (y - p) ** 2)):
        target[a, a] += value
        target[b, b] += value
        target[a, b] -= value
        target[b, a] -= value
inverse = (bordered**-1)[:n, :n]
variance = inverse * spread * inverse

scale, z = 400 / log(10), sqrt(2) * erfinv(mpf("0.95"))
rating = [1000 + scale * t for t in theta]
margin = [z * scale * sqrt(variance[i, i]) for i in range(n)]
out = csv.writer(sys.stdout, lineterminator="\n")
out.writerow(["model", "rating", "lower", "upper", "elo", "rank"])
for i in range(n):
    rank = 1 + sum(rating[j] - margin[j] > rating[i] + margin[i] for j in range(n))
    numbers = (rating[i], rating[i] - margin[i], rating[i] + margin[i], elo[i])
    out.writerow([names[i], *(mp.nstr(x, 20) for x in numbers), rank])
