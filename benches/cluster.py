"""What a task of a cluster costs beside one machine: cluster.py DWINDLE FOLDER [REPLICAS]

Times `cluster-worker reconstruct` over one sorted Arrow file, and `analyze` of the same spans from
Parquet (rows of otel_traces), in turns; the medians of five of user and system time are told. The spans
are those of fixtures/shop, so many times (32: 730,000 spans). Needs pyarrow and numpy; `tests/cluster`
has installed them in target/cluster/venv."""

import os
import resource
import statistics
import subprocess
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
sys.path.append(os.path.join(ROOT, "tests", "cluster.d"))

import generate  # noqa: E402
import pyarrow as pa  # noqa: E402
import pyarrow.compute as pc  # noqa: E402

ROUNDS = 5


def run(argv, source=None, out=subprocess.DEVNULL):
    """Runs a program; the seconds of user and system time that it took."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(argv, stdin=source, stdout=out, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def step(program, folder, name, source, *argv):
    """Runs a step from one file to another."""
    out = os.path.join(folder, name)
    with open(source, "rb") as read, open(out, "wb") as written:
        seconds = run([program, "cluster-worker", name, *argv], read, written)
    return out, seconds


def spans_sorted(program, folder, files):
    """All spans as the engine hands them to one task."""
    tables = []
    for file in files:
        answer = subprocess.run(
            [program, "cluster-worker", "ingest", "--name", file, file], stdout=subprocess.PIPE, check=True
        )
        tables.append(pa.ipc.open_stream(answer.stdout).read_all())
    table = pa.concat_tables(tables)
    table = table.append_column("half", pc.utf8_slice_codeunits(table["trace_id"], 16, 32))
    order = pc.sort_indices(table, [("half", "ascending"), ("trace_id", "ascending")])
    table = table.drop_columns("half").take(order)
    path = os.path.join(folder, "sorted")
    with pa.OSFile(path, "wb") as file, pa.ipc.new_stream(file, table.schema) as writer:
        for batch in table.to_batches(max_chunksize=10_000):
            writer.write_batch(batch)
    return path, len(table)


def main(program, folder, replicas=32):
    spans = os.path.join(folder, "spans")
    generate.main(os.path.join(ROOT, "fixtures", "shop"), spans, int(replicas), 0)
    files = [os.path.join(spans, name) for name in sorted(os.listdir(spans)) if name.endswith(".parquet")]
    source, count = spans_sorted(program, folder, files)
    surveyed, _ = step(program, folder, "survey", source)
    survey, _ = step(program, folder, "settle", surveyed, "--files", str(len(files)))
    tables = os.path.join(folder, "tables")
    times = {"analyze": [], "reconstruct": [], "survey": []}
    for _ in range(ROUNDS):
        times["analyze"].append(run([program, "analyze", *files, "--out", tables, "--quiet"]))
        for name, argv in (("survey", ()), ("reconstruct", ("--survey", survey))):
            with open(source, "rb") as read:
                times[name].append(run([program, "cluster-worker", name, *argv], read))
    whole = statistics.median(times["analyze"])
    for name, seconds in times.items():
        middle = statistics.median(seconds)
        print(f"{name:<12} {middle:7.2f} s {1e6 * middle / count:6.2f} us a span {middle / whole:6.2f} x analyze")


if __name__ == "__main__":
    main(*sys.argv[1:])
