"""Ratings and intervals by arena-rank, the code behind LMArena's leaderboard, beside those of `langya fit`.

Reads votes.csv (README.md says where it comes from), and asks the program langya for its own ratings: python fit_with_arena_rank.py
"""

# %%
import json
import subprocess

import pandas as pd
from arena_rank.models.bradley_terry import BradleyTerry
from arena_rank.utils.data_utils import PairDataset

VOTES = "votes.csv"

# %% arena-rank takes the columns as they stand; votes that are not rated are left out first
votes = pd.read_csv(VOTES)
data = PairDataset.from_pandas(votes[votes["rated"]])
found = BradleyTerry(n_competitors=len(data.competitors)).compute_ratings_and_cis(data, significance_level=0.05)
arena_rank = pd.DataFrame(
    {
        "rating": [float(rating) for rating in found["ratings"]],
        "lower": [float(bound) for bound in found["rating_lower"]],
        "upper": [float(bound) for bound in found["rating_upper"]],
    },
    index=found["competitors"],
)

# %% langya, with the interval that arena-rank computes: the sandwich formula for independent votes
# (What langya shows by default leaves out one voter at a time, since votes of one person are not independent.)
command = ["langya", "fit", "--votes", VOTES, "--interval", "sandwich", "--format", "json"]
board = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
langya = pd.DataFrame(board["models"]).set_index("model")

# %% Side by side
both = langya[["rank", "rating", "lower", "upper"]].join(arena_rank.add_suffix("_arena_rank"))
print(both.round(2).to_string())

# %% How far apart they may be
# Both maximise the same likelihood. langya goes on until the gradient is zero up to rounding; arena-rank stops where a step changes the
# mean loss of a vote by less than 1e-9, which leaves its ratings off by a small fraction of a point. Its intervals also add 1e-5 for each vote
# to the diagonal of the Hessian.
ALLOWED = 0.1
differences = {bound: (both[bound] - both[f"{bound}_arena_rank"]).abs().max() for bound in ("rating", "lower", "upper")}
print("largest differences in points:", {bound: float(difference.round(4)) for bound, difference in differences.items()})
assert max(differences.values()) < ALLOWED, differences
