"""Reads what `langya export preferences` and `langya export dataset` write, as trainers and dataset hubs do; see tests/readers.

    published_readers.py PROGRAM DATA FOLDER        DATA is an arena's data folder with votes and texts
"""

import json
import subprocess
import sys
from pathlib import Path

import pyarrow.dataset
import yaml
from datasets import List, Value, load_dataset

MESSAGES = List({"role": Value("string"), "content": Value("string")})


def run(program, *arguments):
    done = subprocess.run([program, *map(str, arguments)], capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"langya {' '.join(map(str, arguments))}: {done.stderr}")
    return done.stderr


def check_preferences(program, data, folder):
    """What TRL asks of a conversational preference data set with a prompt of its own."""
    path = folder / "preferences.jsonl"
    said = run(program, "export", "preferences", "--unrated", "--data-dir", data, "--out", path, "--force")
    rows = load_dataset("json", data_files=str(path), split="train", cache_dir=str(folder / "cache"))
    for column in ("prompt", "chosen", "rejected"):
        assert rows.features[column] == MESSAGES, (column, rows.features[column])
    for row in rows:
        roles = {column: [message["role"] for message in row[column]] for column in ("prompt", "chosen", "rejected")}
        assert roles["prompt"][-1] == "user" and roles["chosen"][-1] == roles["rejected"][-1] == "assistant", roles
        assert row["chosen"] != row["rejected"] and row["chosen_model"] != row["rejected_model"], row
        assert all(message["content"].strip() for column in roles for message in row[column]), row
    lines = [json.loads(line) for line in path.open(encoding="utf-8")]
    assert len(lines) == len(rows) > 0 and said.startswith(f"{len(rows)} preferences"), said
    print(f"preferences: {len(rows)} rows read by datasets as they stand")


def check_dataset(program, data, folder):
    """What a hub reads: the card's head, its configuration, and every shard with the same columns."""
    path = folder / "set"
    said = run(program, "export", "dataset", path, "--text", "--license", "cc-by-4.0", "--shard-votes", 1000, "--data-dir", data)
    head = yaml.safe_load((path / "README.md").read_text(encoding="utf-8").split("---\n")[1])
    assert head["license"] == "cc-by-4.0" and head["configs"][0]["data_files"][0]["path"] == "data/votes-*.parquet", head
    assert isinstance(head["size_categories"][0], str), head
    shards = sorted((path / "data").iterdir())
    schemas = {str(pyarrow.dataset.dataset(shard).schema) for shard in shards}
    assert len(schemas) == 1, schemas
    votes = load_dataset(str(path), "votes", split="train", cache_dir=str(folder / "cache"))
    assert said.startswith(f"{len(votes)} votes"), said
    numbers = votes["seq"][:]
    assert numbers == sorted(set(numbers)), "the log's order"
    for text in votes["conversation_a"][:]:
        assert all(message.keys() == {"role", "content"} for message in json.loads(text))
    subprocess.run(["sha256sum", "--check", "--quiet", "SHA256SUMS"], cwd=path, check=True)
    print(f"data set: {len(votes)} votes in {len(shards)} shards read by datasets under the card's own configuration")


def main(program, data, folder):
    check_preferences(program, data, folder)
    check_dataset(program, data, folder)


main(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]))
