"""The vote log in pandas, polars and DuckDB: how often each model wins, three times the same.

Reads votes.csv (README.md says where it comes from). Run the cells one by one in an editor that knows `# %%` (VS Code, Spyder, PyCharm,
JupyterLab with jupytext), or all at once: python read_votes.py
"""

# %%
import os

import duckdb
import pandas as pd
import polars as pl

VOTES = "votes.csv"
# What an outcome is worth to the model on side A. A tie is half a win for each side, and so is "both bad".
POINTS = {"model_a": 1.0, "model_b": 0.0, "tie": 0.5, "both_bad": 0.5}

# %% pandas: one row a vote
votes = pd.read_csv(VOTES)
# `rated` says whether a vote counts; the others stay in the log, with the rule that excludes them in `exclusion`.
rated = votes[votes["rated"]]
print(f"{len(votes)} votes of {votes['judge'].nunique()} voters, {len(rated)} of them rated")
print(rated["winner"].value_counts(normalize=True).round(3).to_string(), "\n")

# Each vote twice: as its model A saw it and as its model B did.
points = rated["winner"].map(POINTS)
sides = pd.concat(
    [
        pd.DataFrame({"model": rated["model_a"], "points": points}),
        pd.DataFrame({"model": rated["model_b"], "points": 1 - points}),
    ]
)
by_pandas = sides.groupby("model")["points"].agg(battles="size", share="mean")
print(by_pandas.sort_values("share", ascending=False).round(3).to_string(), "\n")

# %% polars: the same, read lazily, so that a log of any length fits into memory
log = pl.scan_csv(VOTES).filter(pl.col("rated"))
points = pl.col("winner").replace_strict(POINTS, return_dtype=pl.Float64)
sides = pl.concat(
    [
        log.select(model="model_a", points=points),
        log.select(model="model_b", points=1 - points),
    ]
)
by_polars = sides.group_by("model").agg(battles=pl.len(), share=pl.mean("points")).sort("model").collect()

# %% DuckDB: the same in SQL, on the file as it stands (a Parquet file or JSON lines work alike)
by_duckdb = duckdb.sql(
    f"""
    WITH rated AS (
        SELECT model_a, model_b, CASE winner WHEN 'model_a' THEN 1.0 WHEN 'model_b' THEN 0.0 ELSE 0.5 END AS points
        FROM '{VOTES}' WHERE rated
    )
    SELECT model, count(*) AS battles, avg(points) AS share
    FROM (SELECT model_a AS model, points FROM rated UNION ALL SELECT model_b, 1 - points FROM rated)
    GROUP BY model ORDER BY model
    """
).df()

# %% All three agree
for other in (pd.DataFrame(by_polars.to_dict(as_series=False)), by_duckdb):
    other = other.set_index("model")
    assert (other["battles"] == by_pandas["battles"]).all()
    assert (other["share"] - by_pandas["share"]).abs().max() < 1e-12
print("pandas, polars and DuckDB agree")

# %% From an arena that runs, without a file
# ARENA=https://arena.example.org ARENA_KEY=… ; the key has the scope "read": langya keys create "notebook" --scope read
if arena := os.environ.get("ARENA"):
    headers = {"Authorization": f"Bearer {os.environ['ARENA_KEY']}"}
    live = pd.read_json(f"{arena}/api/v1/votes", lines=True, storage_options=headers)
    print(f"{len(live)} votes from {arena}, the last one with the number {live['seq'].max()}")
    # Later: only what is new, from f"{arena}/api/v1/votes?after={live['seq'].max()}".
