"""Writes correlations.json: 200 random pairs of series and what scipy says of them.

Needs Python with scipy (1.17 was used):  python3 correlations.py > correlations.json
"""

import itertools
import json
import math
import random
import warnings

from scipy import stats

random.seed(20261121)
warnings.simplefilter("ignore")


def series(kind, n):
    if kind == "ties":
        return [random.randint(1, 5) for _ in range(n)]
    if kind == "constant":
        return [0.1] * n
    if kind == "large":
        return [round(random.gauss(1e9, 50), 2) for _ in range(n)]
    return [round(random.gauss(0, 1), 3) for _ in range(n)]


def permutation_p(x, y):
    """Spearman's exact two-sided p-value, by trying every order."""
    rank = lambda values: [sorted(values).index(value) for value in values]
    a, b = rank(x), rank(y)
    n = len(a)
    middle = (n**3 - n) / 6
    far = lambda order: abs(sum((i - j) ** 2 for i, j in zip(a, order)) - middle)
    seen = far(b)
    orders = list(itertools.permutations(range(n)))
    return sum(far(order) >= seen for order in orders) / len(orders)


def tied_p(coefficient, x, y):
    """Exact two-sided p-value of a rank correlation of values with ties: SciPy's value of it in every order."""
    statistic = lambda order: coefficient(x, order).statistic
    test = stats.permutation_test((y,), statistic, permutation_type="pairings", n_resamples=math.inf, vectorized=False)
    return sum(abs(test.null_distribution) >= abs(test.statistic) - 1e-9) / len(test.null_distribution)


def case(number):
    n = random.choice([1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 17, 20, 33, 34, 40])
    kinds = ["plain", "plain", "plain", "ties", "large"] + (["constant"] if number % 5 == 0 else [])
    x_kind, y_kind = random.choice(kinds), random.choice(kinds)
    x, y = series(x_kind, n), series(y_kind, n)
    if x_kind == y_kind == "plain" and random.random() < 0.7:
        y = [round(0.8 * a + 0.5 * b, 3) for a, b in zip(x, y)]
    found = {"x": x, "y": y}
    if n < 3 or len(set(x)) == 1 or len(set(y)) == 1:
        return found
    pearson, spearman, kendall = stats.pearsonr(x, y), stats.spearmanr(x, y), stats.kendalltau(x, y)
    found["pearson"] = [pearson.statistic, pearson.pvalue]
    found["spearman"] = [spearman.statistic, spearman.pvalue]
    found["kendall"] = [kendall.statistic, kendall.pvalue]
    if n > 3:
        found["pearson_95"] = list(pearson.confidence_interval(0.95))
    if n <= 7 and len(set(x)) == len(set(y)) == n:
        found["spearman_exact_p"] = permutation_p(x, y)
    if n <= 8 and min(len(set(x)), len(set(y))) < n:
        found["tied_p"] = [tied_p(stats.spearmanr, x, y), tied_p(stats.kendalltau, x, y)]
    return found


print("[\n" + ",\n".join(json.dumps(case(number)) for number in range(200)) + "\n]")
