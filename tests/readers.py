"""Exports a database in every format, reads the files by pandas, DuckDB and arena-rank, and compares; see tests/readers."""

import hashlib
import json
import math
import re
import shutil
import sqlite3
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import duckdb
import pandas as pd

VOTES = 3000
# A log whose last columns are empty for longer than DuckDB looks when it guesses types (20,480 rows).
MANY_VOTES = 25_000
# Elo points by which arena-rank may be off: it stops at a tolerance of its own.
ALLOWED = 1.0
# Models and texts that break what is put together carelessly.
MODELS = ["=SUM(1+1)", 'quoted, "twice"', "通义千问", "-lead", "two\nlines", "'apostrophe", "emoji 🦊", "tab\there"]
TEXTS = ["=1+1", "line\r\nline\n\nline", '"', "'", ",;\t|", "你好，世界", "\\n \\ {}[]", "", "🦊" * 3000, "# h\n\n- a\n- **b**", "null", "NaN"]



def read_json(path):
    """As it stands; of a longer file, whose types DuckDB guesses from its first rows, all rows are to be looked at."""
    with open(path, encoding="utf-8") as file:
        long = sum(1 for _ in file) > 20_480
    return (duckdb.read_json(path, sample_size=-1) if long else duckdb.read_json(path)).df()


READERS = {
    "jsonl": [("pandas", lambda path: pd.read_json(path, lines=True)), ("DuckDB", read_json)],
    "csv": [("pandas", pd.read_csv), ("DuckDB", lambda path: duckdb.read_csv(path).df())],
    "parquet": [("pandas", pd.read_parquet), ("DuckDB", lambda path: duckdb.read_parquet(path).df())],
}


def run(program, *arguments):
    done = subprocess.run([program, *map(str, arguments)], capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"langya {' '.join(map(str, arguments))}: {done.stderr}")
    return done.stdout


# ------------------------------------------------------------------------------------------------------- the database


def fill(program, data, count):
    """Simulated votes, and some battles of hostile texts, a third of them without a vote."""
    votes = data / "simulated.jsonl"
    run(program, "simulate", "--models", 12, "--votes", count, "--seed", 7, "--ties", 0.1, "--both-bad", 0.05, "--out", votes)
    run(program, "import", "votes", votes, "--data-dir", data)
    with sqlite3.connect(data / "langya.db") as database:
        for name in MODELS:
            database.execute("INSERT INTO models VALUES (?, ?, '', '', 0, 0, 'closed', 0, NULL)", (name, name))
        for n in range(90):
            add_battle(database, n)


def add_battle(database, n):
    battle, visitor, at = f"0199-{n:04d}", f"visitor-{n % 7}", 1_790_000_000_123 + n
    a, b = MODELS[n % len(MODELS)], MODELS[(n + 1 + n // 8 % 7) % len(MODELS)]
    category, intent = [None, "coding, or not"][n % 2], [None, "=intent"][n // 2 % 2]
    policy, probability, language = "weighted", 1 / (n + 3), ["English", "Chinese", ""][n % 3]
    stage = ["ready", "voted", "abandoned"][n % 3] if n % 3 != 1 else "ready"
    database.execute(
        "INSERT INTO battles VALUES (?, ?, 'anonymous', ?, 1, ?, ?, ?, 1, ?, ?, ?, ?, ?, ?, NULL)",
        (battle, visitor, stage, a, b, policy, probability, language, category, intent, at, at),
    )
    database.execute("INSERT INTO turns VALUES (?, 1, ?, ?)", (battle, TEXTS[n % len(TEXTS)], at))
    for side, model in (("a", a), ("b", b)):
        text = TEXTS[(n + len(side + model)) % len(TEXTS)]
        database.execute("INSERT INTO replies VALUES (?, 1, ?, ?, ?, '', 'complete', NULL, 5)", (battle, side, model, text))
    if n % 3:
        counts = [{"tokens": n, "headings": [n, 0, 1, 0, 0, 2], "ordered": 1, "unordered": n, "bold_stars": 3, "bold_underscores": n}] * 2
        outcome = ["a", "b", "tie", "both_bad"][n // 3 % 4]
        first = [None, n][n % 2]
        cast = database.execute(
            "INSERT INTO votes (id, battle_id, visitor, model_a, model_b, outcome, turn, anonymous, language, category, intent,"
            " satisfaction, pairing_policy, policy_version, pair_probability, first_token_ms_a, first_token_ms_b, duration_ms_a,"
            " duration_ms_b, text_counts, receipt, created_at)"
            " VALUES (?, ?, ?, ?, ?, ?, 1, 1, ?, ?, ?, ?, ?, 1, ?, ?, NULL, ?, 8, ?, '{}', ?)",
            (f"v{n}", battle, visitor, a, b, outcome, language, category, intent, [None, 1 + n % 5][n % 2], policy, probability,
             first, n, json.dumps(counts), at),
        )
        if n % 11 == 0:
            database.execute(
                "INSERT INTO vote_exclusions (id, vote_seq, rule, reason, excluded_by, excluded_at)"
                " VALUES (?, ?, 'identity_leak', 'a test', 'readers', ?)",
                (f"e{n}", cast.lastrowid, at),
            )


def serve_once(program, data):
    """Has the arena fit and keep a leaderboard."""
    arena = subprocess.Popen([program, "serve", "--data-dir", data, "--listen", "127.0.0.1:18717"], stderr=subprocess.DEVNULL)
    try:
        for _ in range(200):
            time.sleep(0.1)
            try:
                with urllib.request.urlopen("http://127.0.0.1:18717/api/v1/leaderboard") as answer:
                    if json.load(answer)["models"]:
                        return
            except OSError:
                continue
        sys.exit("the arena published no leaderboard")
    finally:
        arena.terminate()
        arena.wait()


# -------------------------------------------------------------------------------------------- what files should hold


def pseudonym(visitor):
    return hashlib.sha256(f"langya judge {visitor}".encode()).hexdigest()[:16]


def nested(counts):
    """Text counts under the names of LMArena's log."""
    found = {}
    for side, count in zip("ab", json.loads(counts)):
        found[f"sum_assistant_{side}_tokens"] = count["tokens"]
        found[f"header_count_{side}"] = {f"h{n + 1}": number for n, number in enumerate(count["headings"])}
        found[f"list_count_{side}"] = {"ordered": count["ordered"], "unordered": count["unordered"]}
        found[f"bold_count_{side}"] = {"**": count["bold_stars"], "__": count["bold_underscores"]}
    return found


def said(database, battle, side):
    rows = database.execute(
        "SELECT t.prompt, r.text FROM turns t JOIN replies r USING (battle_id, turn) WHERE battle_id = ? AND side = ? ORDER BY turn",
        (battle, side),
    )
    lines = [line for prompt, text in rows for line in (("user", prompt), ("assistant", text))]
    return [{"role": role, "content": content} for role, content in lines]


def expected(data, what):
    with sqlite3.connect(data / "langya.db") as database:
        database.row_factory = sqlite3.Row
        if what == "leaderboard":
            return json.loads(database.execute("SELECT body FROM leaderboards ORDER BY minute DESC LIMIT 1").fetchone()[0])["models"]
        rows = [dict(row) for row in database.execute(f"SELECT * FROM {what} ORDER BY {'seq' if what == 'votes' else 'id'}")]
        for row in rows:
            row["battle_id"] = row.get("battle_id", row["id"])
            row["judge"], row["tstamp"] = pseudonym(row["visitor"]), row["created_at"] / 1000
            row["anony"], row["rated"] = True, bool(row.get("rated"))
            if what == "votes":
                row["winner"] = {"a": "model_a", "b": "model_b"}.get(row["outcome"], row["outcome"])
                row["conv_metadata"] = nested(row["text_counts"])
            for side in "ab":
                row[f"conversation_{side}"] = said(database, row["battle_id"], side)
        return rows


# ------------------------------------------------------------------------------------------------------------ comparing


def value_at(row, path):
    for name in path.split("."):
        row = row[name]
    return row


def plain(value):
    """A cell without what a reader wraps it in."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, dict):
        return {name: plain(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [plain(inner) for inner in value]
    missing = value is None or value is pd.NaT or value is pd.NA or (isinstance(value, float) and math.isnan(value))
    return None if missing else value


def same(found, wanted, form, column):
    found = plain(found)
    if column.startswith("conversation_") and isinstance(found, str):
        found = json.loads(found)
    if form == "csv" and isinstance(wanted, str):
        # A cell that begins like a formula carries an apostrophe, and an empty one is none.
        wanted = "'" + wanted if re.match(r"[=+\-@\t\r]", wanted) else wanted or None
    if form == "csv" and isinstance(wanted, int) and isinstance(found, str):
        # A column that begins empty is text to DuckDB.
        return found == str(wanted)
    if isinstance(wanted, float):
        return found is not None and math.isclose(found, wanted, rel_tol=1e-12)
    return found == wanted and (wanted is None or isinstance(wanted, str) == isinstance(found, str))


def check(frame, rows, form, label):
    if len(frame) != len(rows):
        sys.exit(f"{label}: {len(frame)} rows instead of {len(rows)}")
    problems = 0
    for column in frame.columns:
        for found, row in zip(frame[column], rows):
            wanted = value_at(row, column)
            if not same(found, wanted, form, column):
                print(f"{label}: {column} is {found!r} instead of {wanted!r}")
                problems += 1
                break
    return problems


def rank(frame):
    """arena-rank's ratings, from the columns as they stand."""
    from arena_rank.models.bradley_terry import BradleyTerry
    from arena_rank.utils.data_utils import PairDataset

    data = PairDataset.from_pandas(frame)
    results = BradleyTerry(n_competitors=len(data.competitors)).compute_ratings_and_cis(data, significance_level=0.05)
    return dict(zip(results["competitors"], map(float, results["ratings"])))


def beside_fit(program, path, frame, label):
    """The largest difference between arena-rank and langya fit on the votes that both take, centred."""
    wanted = {row["model"]: row["rating"] for row in json.loads(run(program, "fit", "--votes", path, "--format", "json"))["models"]}
    found = rank(frame[frame["rated"]])
    shift = sum(found[name] - wanted[name] for name in found) / len(found)
    worst = max(abs(found[name] - wanted[name] - shift) for name in found)
    print(f"{label}: arena-rank and langya differ by {worst:.2g} Elo at most, {len(found)} models")
    return int(worst > ALLOWED or found.keys() != wanted.keys())


EXPORTS = [("votes", False), ("votes", True), ("battles", False), ("battles", True), ("leaderboard", False)]


def check_exports(program, data, count, exports):
    shutil.rmtree(data, ignore_errors=True)
    data.mkdir()
    fill(program, data, count)
    if ("leaderboard", False) in exports:
        serve_once(program, data)
    problems = 0
    for what, text in exports:
        rows = expected(data, what)
        for form, readers in READERS.items():
            path = data / f"{what}{'-text' * text}.{form}"
            run(program, "export", what, *["--text"] * text, "--data-dir", data, "--format", form, "--out", path)
            for reader, read in readers:
                frame = read(str(path))
                label = f"{path.name} by {reader}"
                problems += check(frame, rows, form, label)
                print(f"{label}: {len(frame)} rows, {len(frame.columns)} columns")
                if what == "votes" and not text:
                    problems += beside_fit(program, path, frame, label)
    return problems


def main(program, work):
    problems = check_exports(program, work / "data", VOTES, EXPORTS)
    problems += check_exports(program, work / "long", MANY_VOTES, EXPORTS[:1])
    sys.exit(f"{problems} problems" if problems else 0)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
