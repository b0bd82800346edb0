"""A study for a paper: does a benchmark say which models people prefer?

Reads votes.csv and scores.csv (README.md says where they come from), and asks the program langya for its own coefficients at the end:
python benchmark_study.py
"""

# %%
import json
import subprocess

import numpy as np
import pandas as pd
from scipy import stats

VOTES, SCORES = "votes.csv", "scores.csv"
SAMPLES = 1000
rng = np.random.default_rng(20261125)

# %% What the benchmark says: the overall score of each model, as the mean of its judges
scores = pd.read_csv(SCORES)
benchmark = scores[scores["part"] == "overall"].groupby("model")["score"].mean()

# %% What people say: the votes that are rated, on models with a score
votes = pd.read_csv(VOTES)
votes = votes[votes["rated"] & votes["model_a"].isin(benchmark.index) & votes["model_b"].isin(benchmark.index)]
models = pd.Index(sorted(set(votes["model_a"]) | set(votes["model_b"])))
benchmark = benchmark[models]
a, b = models.get_indexer(votes["model_a"]), models.get_indexer(votes["model_b"])
points = votes["winner"].map({"model_a": 1.0, "model_b": 0.0, "tie": 0.5, "both_bad": 0.5}).to_numpy()
voter, voters = pd.factorize(votes["judge"])
print(f"{len(votes)} votes of {len(voters)} voters on {len(models)} models")


def ratings(weight):
    """Bradley–Terry by Newton's method, where each vote counts as often as its weight says; 400 points are ten times the odds."""
    n = len(models)
    wins = np.bincount(a * n + b, weight * points, n * n) + np.bincount(b * n + a, weight * (1 - points), n * n)
    wins = wins.reshape(n, n)
    battles = wins + wins.T
    strength = np.zeros(n)
    for _ in range(100):
        chance = 1 / (1 + np.exp(strength - strength[:, None]))
        gradient = (wins - battles * chance).sum(axis=1)
        curvature = battles * chance * (1 - chance)
        step = np.linalg.pinv(np.diag(curvature.sum(axis=1)) - curvature) @ gradient
        strength += step
        if np.abs(step).max() < 1e-12:
            break
    return 1000 + 400 / np.log(10) * (strength - strength.mean())


people = pd.Series(ratings(np.ones(len(votes))), models)
table = pd.DataFrame({"benchmark": benchmark, "people": people.round(6)}).sort_values("people", ascending=False)
print(table.round(2).to_string(), "\n")

# %% How they go together
COEFFICIENTS = {
    "pearson": lambda x, y: stats.pearsonr(x, y).statistic,
    "spearman": lambda x, y: stats.spearmanr(x, y).statistic,
    "kendall": lambda x, y: stats.kendalltau(x, y).statistic,
}


def coefficients(x, y):
    return [coefficient(x, y) for coefficient in COEFFICIENTS.values()]


# Two questions, two intervals. Had other people voted: voters are resampled with all of their votes, which are not independent. Had
# other models taken part: models are resampled. With few models the second one is wide, and it is the one that a claim about
# benchmarks in general has to carry.
by_voters, by_models = [], []
while len(by_voters) < SAMPLES:
    drawn = np.bincount(rng.integers(len(voters), size=len(voters)), minlength=len(voters))
    by_voters.append(coefficients(benchmark, ratings(drawn[voter])))
while len(by_models) < SAMPLES:
    drawn = rng.integers(len(models), size=len(models))
    # Models that all have one score have no correlation.
    if benchmark.iloc[drawn].nunique() > 1:
        by_models.append(coefficients(benchmark.iloc[drawn], people.iloc[drawn]))

study = pd.DataFrame({"r": coefficients(benchmark, people)}, COEFFICIENTS)
for name, samples in (("voters", by_voters), ("models", by_models)):
    study[f"{name} 2.5 %"], study[f"{name} 97.5 %"] = np.percentile(samples, [2.5, 97.5], axis=0)
print(study.round(3).to_string(), "\n")

# %% Vote by vote: how often does the model that a ranking prefers win, where the vote was no tie?
decided = points != 0.5


def share_right(value):
    value = value.to_numpy()
    return np.mean((value[a] > value[b])[decided] == (points[decided] == 1))


# The ratings were fitted to these votes, so no ranking does much better than they do.
print(f"the benchmark predicts {share_right(benchmark):.1%} of the decided votes, the ratings themselves {share_right(people):.1%}")

# %% For the paper: one line of a LaTeX table
cells = " & ".join(f"{row.iloc[0]:.2f} [{row.iloc[3]:.2f}, {row.iloc[4]:.2f}]" for _, row in study.iterrows())
print(f"{scores['suite'].iloc[0]} & {len(models)} & {cells} \\\\")

# %% The same by langya, which also draws the figure: langya correlate … --charts charts
table.to_csv("series.csv", index_label="model")
command = ["langya", "correlate", "--table", "series.csv", "--x", "benchmark", "--y", "people", "--format", "json"]
found = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
differences = {name: abs(found[name]["r"] - study.loc[name, "r"]) for name in COEFFICIENTS}
assert max(differences.values()) < 1e-9, differences
print("langya finds the same coefficients, and by Fisher's method for Pearson's", [round(found["pearson"][bound], 3) for bound in ("lower", "upper")])
