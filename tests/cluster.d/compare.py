"""Whether two folders hold the same: the rows of all tables as CSV, and the manifest."""

import csv
import itertools
import json
import os
import subprocess

TABLES = ["requests", "hops", "attempts", "segments", "findings", "distributions", "exemplars", "problems"]

# Rounded values are at most so far off.
SKETCH_ERROR = 0.01


class Different(AssertionError):
    """The first difference."""


def lines(program, folder, table):
    """The lines of a table as `query` prints it."""
    argv = [program, "query", folder, "-e", f"SELECT * FROM {table}", "--format", "csv", "--quiet"]
    child = subprocess.Popen(argv, stdout=subprocess.PIPE)
    with child.stdout:
        yield from child.stdout
    if child.wait() != 0:
        raise Different(f"{' '.join(argv)} ended with {child.returncode}")


def same_rows(program, one, other, table):
    """Compares a table; tells how many rows it has."""
    pairs = itertools.zip_longest(lines(program, one, table), lines(program, other, table))
    for number, (line, beside) in enumerate(pairs):
        if line != beside:
            raise Different(f"{table}, line {number + 1}:\n  {line}\n  {beside}")
    return number


def near_rows(program, one, other, table):
    """The same for rounded values: all but nanoseconds are equal, and these nearly."""
    tables = [csv.DictReader(line.decode() for line in lines(program, it, table)) for it in (one, other)]
    worst = 0
    for row, beside in itertools.zip_longest(*tables):
        for column, value in (row or beside).items():
            pair = [it and it[column] for it in (row, beside)]
            is_rounded = column.startswith("p") and column.endswith("_ns") and all(pair)
            if is_rounded:
                exact, rounded = map(int, pair)
                worst = max(worst, abs(exact - rounded) / max(1, abs(exact)))
            elif pair[0] != pair[1]:
                raise Different(f"{table}, {column} of {row}: {pair[0]} and {pair[1]}")
    if worst > SKETCH_ERROR:
        raise Different(f"{table}: a value is {worst:.2%} off")
    return worst


def same_manifest(one, other, ignored=()):
    texts = []
    for folder in (one, other):
        with open(os.path.join(folder, "manifest.json")) as file:
            texts.append(file.read())
    known = [{name: it for name, it in json.loads(text).items() if name not in ignored} for text in texts]
    for name in known[0]:
        if known[0][name] != known[1].get(name):
            raise Different(f"manifest.json, {name}:\n  {known[0][name]}\n  {known[1].get(name)}")
    if not ignored and texts[0] != texts[1]:
        raise Different("manifest.json: written in another way")


def same(program, one, other, ignored=(), rounded=False):
    """Compares two folders but for what is ignored, of tables or the manifest; tells how many rows they
    have."""
    rows = 0
    for table in TABLES:
        if table in ignored:
            continue
        if rounded and table == "distributions":
            near_rows(program, one, other, table)
        else:
            rows += same_rows(program, one, other, table)
    same_manifest(one, other, ignored)
    return rows
