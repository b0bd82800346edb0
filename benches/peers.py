"""Fits one file of votes by langya and by its peers, each in a fresh process; `benches/peers` calls this.

With a peer's name before the file, it is that process: it loads the file, fits, and prints its ratings as JSON.
"""

import json
import resource
import statistics
import subprocess
import sys
import time
from pathlib import Path

PEERS = ["arena-rank", "evalica", "fastchat"]
# Elo points by which an answer may be off: the peers stop at tolerances of their own.
ALLOWED = {"langya": 1e-6, "arena-rank": 1.0, "evalica": 1.0, "fastchat": 1.5}


def simulate(path, votes, models=120, seed=1):
    """Votes as pandas and pyarrow write them; a fifth are ties."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng = np.random.default_rng(seed)
    names = np.array([f"model-{n:03d}-chat" for n in range(models)])
    strengths = np.linspace(-1.5, 1.5, models)
    a = rng.integers(0, models, votes)
    b = (a + rng.integers(1, models, votes)) % models
    a_wins = rng.random(votes) < 1 / (1 + np.exp(strengths[b] - strengths[a]))
    words = np.array(["model_a", "model_b", "tie", "both_bad"])
    outcome = np.where(rng.random(votes) < 0.2, rng.integers(2, 4, votes), np.where(a_wins, 0, 1))
    table = pa.table({
        "question_id": np.char.add("q", np.arange(votes).astype(str)),
        "model_a": names[a],
        "model_b": names[b],
        "winner": words[outcome],
        "judge": np.char.add("judge-", rng.integers(0, max(votes // 10, 1), votes).astype(str)),
        "tstamp": 1.7e9 + np.cumsum(rng.exponential(20, votes)),
    })
    pq.write_table(table, path)


def load(path):
    import pandas as pd

    return pd.read_parquet(path, columns=["model_a", "model_b", "winner"])


def arena_rank(path):
    """Bradley–Terry with sandwich intervals, as LMArena ranks."""
    from arena_rank.models.bradley_terry import BradleyTerry
    from arena_rank.utils.data_utils import PairDataset

    frame = load(path)
    frame["winner"] = frame["winner"].replace("both_bad", "tie")
    data = PairDataset.from_pandas(frame)
    model = BradleyTerry(n_competitors=len(data.competitors))
    results = model.compute_ratings_and_cis(data, significance_level=0.05)
    return dict(zip(results["competitors"], map(float, results["ratings"])))


def evalica_fit(path):
    """Bradley–Terry and Elo, without intervals."""
    import evalica
    import numpy as np

    frame = load(path)
    winners = frame["winner"].map({
        "model_a": evalica.Winner.X, "model_b": evalica.Winner.Y, "tie": evalica.Winner.Draw, "both_bad": evalica.Winner.Draw,
    })
    fit = evalica.bradley_terry(frame["model_a"], frame["model_b"], winners, tolerance=1e-10, limit=1000)
    evalica.elo(frame["model_a"], frame["model_b"], winners, initial=1000, base=10, scale=400, k=4)
    return dict(zip(fit.scores.index, 400 * np.log10(fit.scores.to_numpy())))


def fastchat(path):
    """FastChat's fit: a logistic regression on the aggregated pairs, ties half and half, without intervals."""
    import numpy as np
    from sklearn.linear_model import LogisticRegression

    frame = load(path)
    ties = frame["winner"].isin(["tie", "both_bad"])
    points = np.where(ties, 0.5, (frame["winner"] == "model_a").astype(float))
    cells = frame.assign(points=points, n=1.0).groupby(["model_a", "model_b"], sort=True)[["points", "n"]].sum().reset_index()
    models = np.union1d(cells["model_a"].unique(), cells["model_b"].unique())
    place = {name: n for n, name in enumerate(models)}
    rows = np.arange(len(cells))
    design = np.zeros((2 * len(cells), len(models)))
    for half in (0, 1):
        design[rows + half * len(cells), cells["model_a"].map(place)] = np.log(10)
        design[rows + half * len(cells), cells["model_b"].map(place)] = -np.log(10)
    answers = np.repeat([1, 0], len(cells))
    weights = np.concatenate([cells["points"], cells["n"] - cells["points"]])
    model = LogisticRegression(fit_intercept=False, C=np.inf, tol=1e-6, max_iter=1000)
    model.fit(design, answers, sample_weight=weights)
    return dict(zip(models, 400 * model.coef_[0]))


def run(command):
    """Seconds, peak memory in MB and output of a fresh process."""
    start = time.perf_counter()
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    done = subprocess.run(["/usr/bin/env", "time", "-f", "%M", *command], capture_output=True, text=True, check=False)
    seconds = time.perf_counter() - start
    if done.returncode:
        sys.exit(f"{command}: {done.stderr}")
    last = done.stderr.strip().splitlines()[-1]
    memory = int(last) if last.isdigit() else max(before, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
    return seconds, memory / 1024, done.stdout


def centred(ratings):
    mean = statistics.fmean(ratings.values())
    return {name: rating - mean for name, rating in ratings.items()}


def compare(program, work, votes, runs):
    path = Path(work) / f"votes-{votes}.parquet"
    if not path.exists():
        simulate(path, votes)
    commands = {"langya": [program, "fit", "--votes", str(path), "--format", "json"]}
    commands |= {peer: [sys.executable, __file__, peer, str(path)] for peer in PEERS}
    found = {name: [] for name in commands}
    # In turns, so that a slow minute of the machine is everybody's.
    for _ in range(runs):
        for name, command in commands.items():
            found[name].append(run(command))
    board = json.loads(found["langya"][0][2])
    truth = centred({model["model"]: model["rating"] for model in board["models"]})
    fastest = min(seconds for seconds, *_ in found["langya"])
    print(f"{votes} votes, best of {runs} fresh processes")
    print(f"{'':<12}{'seconds':>9}{'ratio':>8}{'MB':>7}{'off by':>10}")
    for name, measured in found.items():
        seconds, memory, out = min(measured)
        answer = truth if name == "langya" else centred(json.loads(out))
        off = max(abs(truth[model] - rating) for model, rating in answer.items())
        print(f"{name:<12}{seconds:>9.3f}{seconds / fastest:>8.1f}{memory:>7.0f}{off:>10.2g}")
        if set(answer) != set(truth) or off > ALLOWED[name]:
            sys.exit(f"{name} gives another answer")


if __name__ == "__main__":
    fits = {"arena-rank": arena_rank, "evalica": evalica_fit, "fastchat": fastchat}
    if sys.argv[1] in fits:
        print(json.dumps(fits[sys.argv[1]](sys.argv[2])))
    else:
        compare(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
