"""`dwindle analyze` as an Apache Spark job: the same tables from more traces than one machine holds.

Spark brings the spans of each trace together, sorts and stores. All that numbers depend on is done by
steps of `dwindle cluster-worker`, a child process of each task, which reads an Arrow stream from its
standard input and writes one to its standard output:

    files --> ingest --> spans ==by trace==> survey --> settle --> the survey, which all tasks get
                           |
                           +--> observe --> calibrate --> a contract, where one is wanted
                           +--> reconstruct --> wide rows, a column a table; of them are made
                                  requests, hops, attempts, segments: as they come
                                  stays      ==by queue==> graveyard ==by trace==> findings
                                  values     ==by class==> distributions
                                  candidates ==one task==> exemplars
                                  parts      --> manifest.json, written last

`==>` is a shuffle. Settle, calibrate, manifest and problems run beside the driver, the others in tasks.
Partitions are ranges of trace ids, and each is sorted: so the parts of a table, one after another, are
the table in the order in which `dwindle analyze` writes it.

    spark-submit --files dwindle job.py --dwindle ./dwindle --out DIR --partitions N INPUT...

An INPUT is a path, which the tasks open themselves, or a URL (s3a://, hdfs://, file:///), which Spark
reads. What happens is told on standard output, a JSON object a line. Runs on Spark 3.5 and later; the
driver needs pandas (2.2 or later, below 3) and every machine pyarrow.
"""

import argparse
import errno
import heapq
import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from contextlib import contextmanager
from functools import cached_property, reduce
from pathlib import Path

import pyarrow as pa
from pyspark import SparkFiles, StorageLevel, TaskContext
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

SETTINGS = {
    # Partitions are ours to choose: none may be merged or split.
    "spark.sql.adaptive.enabled": "false",
    # Strings and bytes with offsets of 32 bits, as the worker reads them.
    "spark.sql.execution.arrow.useLargeVarTypes": "false",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "10000",
    "spark.sql.session.timeZone": "UTC",
    # Rows that Spark keeps come back from disk a hundred batches at a time otherwise: 400 MB.
    "spark.serializer.objectStreamReset": "1",
    # ClickHouse writes times in nanoseconds, for which Spark has no other type.
    "spark.sql.legacy.parquet.nanosAsLong": "true",
}

# Tables whose rows a task of `reconstruct` gives one after another.
OF_REQUESTS = ["requests", "hops", "attempts", "segments"]
TABLES = [*OF_REQUESTS, "findings", "distributions", "exemplars", "problems"]


class StepFailed(RuntimeError):
    """A step gave no whole answer. The text is one line for whoever started the job."""


# In a task.


class Batches:
    """Arrow batches on their way to a child, of which it is known how far they came."""

    def __init__(self, batches, key):
        self.batches, self.key, self.last = iter(batches), key, None
        self.first = next(self.batches, None)

    def feed(self, sink):
        with pa.ipc.new_stream(sink, self.first.schema) as writer:
            while self.first is not None:
                self.last = self.first
                writer.write_batch(self.first)
                self.first = next(self.batches, None)

    def __str__(self):
        if self.last is None or self.last.num_rows == 0 or self.key not in self.last.schema.names:
            return "at its start"
        keys = self.last.column(self.key)
        return f"last given {self.key} {keys[0]} to {keys[-1]}"


class Content:
    """The bytes of a file on their way to a child."""

    def __init__(self, name, content):
        self.name, self.content = name, content

    def feed(self, sink):
        if self.content is not None:
            sink.write(self.content)

    def __str__(self):
        return f"file {self.name}"


def answer(argv, source, held=()):
    """The batches that a child writes, while `source` is fed to it. A child that ends with exit code 0
    has given its whole answer; a stream that is cut off between two batches looks whole, too."""
    said = tempfile.TemporaryFile()  # A file, not a pipe: nobody has to empty it.
    try:
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": said}
        child = subprocess.Popen(argv, **pipes, pass_fds=held)
    except OSError as error:
        raise StepFailed(failure(argv, source, why_not_started(error))) from None
    fed = []

    def feed():  # One thread that wrote and read would wait for ever once both pipes are full.
        try:
            with child.stdin as sink:
                source.feed(sink)
        except BrokenPipeError:
            pass  # The child is gone, and its exit code tells why.
        except BaseException as error:  # Must not look like the end of the rows.
            fed.append(error)
            child.kill()

    feeder = threading.Thread(target=feed, daemon=True)
    feeder.start()
    broken = None
    try:
        with pa.ipc.open_stream(child.stdout) as batches:
            yield from batches
    except (pa.ArrowInvalid, OSError) as error:
        broken = f"an answer that is no Arrow stream: {error}"
    except GeneratorExit:  # Nobody wants the rest.
        child.kill()
        raise
    finally:
        child.stdout.close()
        code = child.wait()
        feeder.join(timeout=60)
        said.seek(max(0, said.seek(0, os.SEEK_END) - 4000))
        words = said.read().decode(errors="replace")
        said.close()
    if fed:
        raise fed[0]
    if code != 0 or broken:
        raise StepFailed(failure(argv, source, why_ended(code, words) if code else broken))


def failure(argv, source, why):
    """What failed where, in one line."""
    where = f"partition {TaskContext.get().partitionId()}, host {socket.gethostname()}"
    return f"{argv[2]} ({source}; {where}): {why}"


def why_not_started(error):
    """What it means that this machine does not run the program."""
    machine = os.uname().machine
    return {
        errno.ENOEXEC: f"this dwindle is built for another processor than this machine's ({machine})",
        errno.ENOENT: "this dwindle needs a C library that this machine does not have, or was not shipped",
        errno.EACCES: "this machine may not run files where Spark puts them (is it mounted noexec?)",
    }.get(error.errno, f"cannot be started: {error.strerror}")


def why_ended(code, words):
    """What the exit code of a child means, and what it said last."""
    last = words.strip().split("\n")[-1].removeprefix("dwindle: error: ")
    if code < 0:
        hint = "; is there memory for it beside Spark's?" if -code == signal.SIGKILL else ""
        return f"was ended by signal {-code} ({signal.strsignal(-code)}){hint} {last}".rstrip()
    if "GLIBC_" in words:
        return f"this dwindle needs a newer C library than this machine has: {last}"
    return last or f"ended with exit code {code} and said nothing"


class Step:
    """A step that tasks run: its flags, and the files it reads, whose bytes every task gets."""

    def __init__(self, name, binary, flags, files, key):
        self.name, self.binary, self.flags, self.files, self.key = name, binary, flags, files, key

    @contextmanager
    def command(self, program, *more):
        """What to run, and the files that it is handed, which have no name that could be left behind."""
        argv, held = [program, "cluster-worker", self.name, *self.flags], []
        for flag, content in self.files.items():
            file = tempfile.TemporaryFile()
            file.write(content.value)
            file.seek(0)
            held.append(file)
            argv += [flag, f"/dev/fd/{file.fileno()}"]
        try:
            yield [*argv, *more], [file.fileno() for file in held]
        finally:
            for file in held:
                file.close()

    def answer(self, source, *more):
        """The batches that it gives for one source."""
        with self.command(SparkFiles.get(self.binary), *more) as (argv, held):
            yield from answer(argv, source, held)

    def of_rows(self, *more):
        """For `mapInArrow`: the rows of a partition; of an empty one there is nothing to tell."""

        def run(batches):
            source = Batches(batches, self.key)
            if source.first is not None:
                yield from self.answer(source, *more)

        return run

    def of_files(self, batches):
        """For `mapInArrow`: files, one after another, of which Spark has read the content or not."""
        for batch in batches:
            for row in range(batch.num_rows):
                name, path, content = (batch.column(column)[row] for column in range(3))
                source = Content(name.as_py(), content.as_buffer())
                yield from self.answer(source, "--name", name.as_py(), path.as_py() or "-")


# On the driver.


def tell(event, **what):
    """Tells whoever started the job."""
    sys.stdout.write(json.dumps({"event": event, **what}) + "\n")
    sys.stdout.flush()


class Progress(threading.Thread):
    """Tells how many tasks of a running stage are done."""

    def __init__(self, context):
        super().__init__(daemon=True)
        self.context, self.tracker = context, context.statusTracker()
        self.names, self.told, self.lock = [], {}, threading.Lock()
        self.start()

    def run(self):
        while True:
            time.sleep(0.5)
            self.look()

    def begin(self, *names):
        """What runs from now on; the last stages of each of its jobs have these names."""
        self.look()
        self.names = names
        self.context.setJobGroup(names[-1], f"dwindle {names[-1]}")

    def look(self):
        with self.lock:
            for job in self.tracker.getJobIdsForGroup(self.names[-1]) if self.names else []:
                info = self.tracker.getJobInfo(job)
                stages = sorted(info.stageIds, reverse=True) if info else []
                for stage, name in zip(stages, reversed(self.names)):
                    info = self.tracker.getStageInfo(stage)
                    if info and info.numCompletedTasks != self.told.get(stage, 0):
                        self.told[stage] = info.numCompletedTasks
                        tell("stage", name=name, done=info.numCompletedTasks, of=info.numTasks)


class Folder:
    """A folder, in whatever file system it is."""

    def __init__(self, spark, url):
        self.url, self.jvm = url, spark._jvm
        self.system = self.path("").getFileSystem(spark._jsc.hadoopConfiguration())
        self.system.setWriteChecksum(False)

    def path(self, name):
        return self.jvm.org.apache.hadoop.fs.Path(f"{self.url.rstrip('/')}/{name}")

    def names(self):
        is_there = self.system.exists(self.path(""))
        files = self.system.listStatus(self.path("")) if is_there else []
        return sorted(file.getPath().getName() for file in files)

    def read(self, name):
        """What a file of ours holds; nothing where it is none."""
        if not self.system.exists(self.path(name)):
            return {}
        text = self.jvm.org.apache.commons.io.IOUtils.toByteArray(self.system.open(self.path(name)))
        try:
            return dict(json.loads(bytes(text)))
        except (ValueError, TypeError):
            return {}

    def write(self, name, text):
        stream = self.system.create(self.path(name), True)
        stream.write(bytearray(text.encode()))
        stream.close()


class Tables(Folder):
    """The folder of tables. Without a manifest, which comes last, it is not whole."""

    MANIFEST, PARTIAL = "manifest.json", "manifest.json.partial"
    OURS = re.compile(rf"manifest\.json|({'|'.join(TABLES)})\.(parquet|ndjson|csv)(\.partial)?")

    def __init__(self, spark, url):
        super().__init__(spark, url)
        stale = self.stale()
        if stale and not any("dwindle_version" in self.read(it) for it in (self.MANIFEST, self.PARTIAL)):
            raise StepFailed(
                f"{url}: holds {stale[0]} already, and no manifest beside it says that dwindle wrote it: "
                "name another folder, or remove it"
            )

    def stale(self):
        """What is there under the names of tables, the manifest first."""
        return sorted(filter(self.OURS.fullmatch, self.names()), key=lambda name: name != self.MANIFEST)

    @contextmanager
    def begun(self):
        """While tables are written: what dwindle wrote there before goes, and so do tables that do not
        become whole."""
        self.clear()
        try:
            yield
        except BaseException:
            self.clear()
            self.system.delete(self.path(self.PARTIAL), False)
            raise

    def clear(self):
        self.write(self.PARTIAL, '{"dwindle_version": null}')
        for name in self.stale():
            self.system.delete(self.path(name), True)

    def finish(self, manifest):
        self.write(self.PARTIAL, manifest)
        self.system.rename(self.path(self.PARTIAL), self.path(self.MANIFEST))


class KeptSpans(Folder):
    """A folder of spans as they were read, which a file tells of how many files they are."""

    WHOLE = "_dwindle.json"

    def files(self):
        if "files" not in self.read(self.WHOLE):
            raise StepFailed(f"{self.url}: the spans in it are not whole, or --keep-spans did not write them")
        return self.read(self.WHOLE)["files"]

    def keep(self, spans, files):
        if self.names() and "files" not in self.read(self.WHOLE):
            raise StepFailed(f"{self.url}: is there already, and --keep-spans did not write it: name another")
        spans.write.mode("overwrite").parquet(self.url, compression="zstd")
        self.write(self.WHOLE, json.dumps({"files": files}))


class Job:
    """The job: every method is one step of the data's way."""

    def __init__(self, spark, args):
        self.spark, self.args, self.context = spark, args, spark.sparkContext
        self.progress = Progress(self.context)
        self.level = getattr(StorageLevel, args.storage)
        self.program = self.shipped(args.dwindle)
        if not os.path.exists(SparkFiles.get(os.path.basename(self.program))):
            self.context.addFile(self.program)  # Nobody gave it to --files.
        given = {"--contract": args.contract, "--conventions": args.conventions}
        given = {flag: Path(self.shipped(path)).read_bytes() for flag, path in given.items() if path}
        self.files = {flag: self.context.broadcast(content) for flag, content in given.items()}
        self.schema = json.loads(self.worker("schema"))

    def run(self):
        folder = Tables(self.spark, url(self.args.out)) if self.args.out else None
        spans, files = self.ingested()
        spans = self.by_trace(spans).persist(self.level)
        self.survey(spans, files)
        if self.args.keep_spans:
            self.progress.begin("keep spans")
            KeptSpans(self.spark, url(self.args.keep_spans)).keep(spans, files)
        if self.args.calibrate:
            self.calibrate(spans)
        with pa.ipc.open_stream(self.worker("problems", files=["--survey"])) as stream:
            problems = stream.read_all().to_pylist()
        known = json.loads(self.write(folder, spans, problems) if folder else self.manifest([]))
        counts = {name: known[name] for name in ["requests", "traces", "spans_admitted", "spans_rejected"]}
        tell("done", **counts, losses=sum(row["severity"] == "loss" for row in problems))

    def shipped(self, path):
        """Where a file is on the driver, which Spark may have put elsewhere, in another way each cluster."""
        name = os.path.basename(path)
        beside = os.path.join(os.path.dirname(self.args.dwindle), name)
        places = [SparkFiles.get(name), beside, path]
        return os.path.abspath(next(filter(os.path.exists, places), path))

    # The way in.

    def ingested(self):
        """The spans of all inputs, and of how many files they are."""
        if self.args.table:
            sources = [self.of_table(name) for name in self.args.inputs]
        else:
            urls = [it for it in self.args.inputs if is_url(it)]
            paths = [it for it in self.args.inputs if not is_url(it)]
            sources = [self.of_paths(paths)] if paths else []
            sources += [self.of_urls(urls)] if urls else []
        spans, files = zip(*sources)
        return reduce(DataFrame.unionByName, spans), sum(files)

    def of_table(self, name):
        """Rows of a table that Spark reads: spans that were kept, or those of ClickHouse's otel_traces."""
        rows = self.spark.read.parquet(url(name))
        if "part" in rows.columns:
            return rows, KeptSpans(self.spark, url(name)).files()
        ingest = self.step("ingest", "--conventions", key="TraceId").of_rows("--rows", "--name", name)
        names = rows.columns

        def named(batches):
            return ingest(pa.RecordBatch.from_arrays(batch.columns, names=names) for batch in batches)

        # Spark takes the dot of `Events.Name` for a field of a column, so names are left out on the way.
        unnamed = rows.toDF(*(f"column{place}" for place in range(len(names))))
        return unnamed.mapInArrow(named, self.schema["steps"]["ingest"]), 1

    def of_files(self, rows, files):
        step = self.step("ingest", "--conventions")
        return rows.mapInArrow(step.of_files, self.schema["steps"]["ingest"]), files

    def of_urls(self, urls):
        """Files that Spark reads, each as a whole."""
        files = self.spark.read.format("binaryFile").option("recursiveFileLookup", True).load(urls)
        rows = files.selectExpr("path as name", "string(null) as path", "content")
        return self.of_files(rows, files.select("path").count())

    def of_paths(self, paths):
        """Files that tasks open themselves: as many tasks as partitions at most, each with about as many
        bytes as any other."""
        files = [json.loads(line) for line in self.worker("list", *paths).splitlines()]
        tasks = [(0, place, []) for place in range(min(len(files), self.args.partitions))]
        for file in sorted(files, key=lambda file: (-file["bytes"], file["name"])):
            size, place, held = tasks[0]
            held.append((file["name"], file["path"], None))
            heapq.heapreplace(tasks, (size + file["bytes"], place, held))
        rows = self.context.parallelize([held for _, _, held in tasks], len(tasks)).flatMap(list)
        rows = self.spark.createDataFrame(rows, "name string, path string, content binary")
        return self.of_files(rows, len(files))

    def by_trace(self, rows, *then):
        """Rows of traces in the order of tables, each partition a range of trace ids."""
        count, keys = self.args.partitions, ", ".join(map(str, self.keys))
        place = f"shiftright(bigint(conv(substring(trace_id, 17, 4), 16, 10)) * {count}, 16)"
        rows = rows.repartition(count, F.expr(f"array({keys})[int({place})]"))
        return rows.sortWithinPartitions(F.expr("substring(trace_id, 17, 16)"), "trace_id", *then)

    @cached_property
    def keys(self):
        """For each partition a number that Spark places there, which is found by asking Spark."""
        count, tried, found = self.args.partitions, 8, {}
        while len(found) < count:
            tried *= 2
            numbers = self.spark.range(0, tried * count, 1, 1).selectExpr("int(id) as number")
            placed = numbers.repartition(count, "number").selectExpr("number", "spark_partition_id()")
            found = {place: number for number, place in placed.collect()}
        return [found[place] for place in range(count)]

    # What all spans know together.

    def survey(self, spans, files):
        self.progress.begin("ingest", "survey")
        parts = self.rows("survey", spans).collect()
        survey = self.worker("settle", "--files", str(files), rows=arrow(parts))
        self.files["--survey"] = self.context.broadcast(survey)

    def calibrate(self, spans):
        self.progress.begin("observe")
        parts = self.rows("observe", spans, "--survey").collect()
        contract = self.worker("calibrate", rows=arrow(parts), files=["--survey"])
        Path(self.args.calibrate).write_bytes(contract)
        self.files["--contract"] = self.context.broadcast(contract)

    # The way out.

    def write(self, folder, spans, problems):
        wide = self.rows("reconstruct", spans, "--survey", "--contract").persist(self.level)
        self.progress.begin("reconstruct")
        parts = wide.where("part is not null").select("part").collect()
        with folder.begun():
            for table in OF_REQUESTS:
                self.store(folder, table, wide.where(f"{table} is not null").select(f"{table}.*"))
            buried = self.graveyard(wide).persist(self.level)
            self.store(folder, "findings", self.findings(wide, buried))
            self.store(folder, "distributions", self.distributions(wide, buried))
            self.store(folder, "exemplars", self.exemplars(wide))
            columns = ", ".join(f"{name} {kind}" for name, kind, _ in self.schema["tables"]["problems"])
            self.store(folder, "problems", self.spark.createDataFrame(problems, columns).coalesce(1))
            manifest = self.manifest(parts)
            folder.finish(manifest)
        return manifest

    def manifest(self, parts):
        inputs = [flag for it in self.args.inputs for flag in ("--input", it)]
        return self.worker("manifest", *inputs, rows=arrow(parts), files=["--survey", "--contract"]).decode()

    def graveyard(self, wide):
        stays = wide.where("stays is not null").select("stays.*")
        queue = ["service", "clock_domain"]
        stays = stays.repartition(self.args.partitions, *queue).sortWithinPartitions(*queue)
        return self.rows("graveyard", stays, key="service")

    def findings(self, wide, buried):
        at_once = wide.withColumn("late", F.lit(None).cast("string"))
        columns = ["findings.*", "findings_at", "late"]
        rows = [rows.where("findings is not null").select(*columns) for rows in (at_once, buried)]
        return self.by_trace(rows[0].union(rows[1]), "findings_at", F.col("late").asc_nulls_first())

    def distributions(self, wide, buried):
        values = [rows.where("values is not null").select("values.*") for rows in (wide, buried)]
        values = reduce(DataFrame.unionByName, values).repartition(self.args.partitions, "request_class")
        rows = self.rows("distributions", values, "--survey", key="request_class")
        return rows.repartition(1).sortWithinPartitions("request_class", "at")

    def exemplars(self, wide):
        rows = wide.where("candidates is not null or exemplars is not null").select("candidates", "exemplars")
        trace = "coalesce(candidates.trace_id, exemplars.trace_id)"
        rows = rows.repartition(1).sortWithinPartitions(F.expr(f"substring({trace}, 17, 16)"), F.expr(trace))
        return self.rows("exemplars", rows)

    def store(self, folder, table, rows):
        """Writes a table, with exactly its columns, of which those that are never null say so."""
        columns = [
            name if is_nullable else f"coalesce({name}, {zero(kind)}) as {name}"
            for name, kind, is_nullable in self.schema["tables"][table]
        ]
        self.progress.begin(*(["graveyard"] * (table == "findings")), table)
        out = str(folder.path(f"{table}.parquet"))
        rows.selectExpr(*columns).write.mode("overwrite").parquet(out, compression="zstd")

    # Steps of the worker.

    def rows(self, step, rows, *files, key="trace_id"):
        """What tasks make of rows."""
        return rows.mapInArrow(self.step(step, *files, key=key).of_rows(), self.schema["steps"][step])

    def step(self, name, *files, key=None):
        binary = os.path.basename(self.args.dwindle)
        held = {flag: self.files[flag] for flag in files if flag in self.files}
        return Step(name, binary, self.args.step_flags.get(name, []), held, key)

    def worker(self, step, *more, rows=b"", files=()):
        """What a step beside the driver writes."""
        with self.step(step, *files).command(self.program, *more) as (argv, held):
            try:
                done = subprocess.run(argv, input=rows, capture_output=True, pass_fds=held, check=False)
            except OSError as error:
                raise StepFailed(f"{self.program}: {why_not_started(error)}") from None
        words = done.stderr.decode(errors="replace")
        if done.returncode != 0:
            raise StepFailed(f"{step}: {why_ended(done.returncode, words)}")
        for line in words.splitlines():
            tell("note", text=line)
        return done.stdout


def arrow(parts):
    """Rows of one column `part` as an Arrow stream."""
    table = pa.table({"part": pa.array([bytes(row.part) for row in parts], pa.binary())})
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue()


def zero(kind):
    """A value for a column that holds none that is null: Spark cannot know that."""
    known = {"string": "''", "boolean": "false"}
    return known.get(kind) or f"cast({'array()' if kind.startswith('array') else 0} as {kind})"


def is_url(text):
    return "://" in text or text.startswith("file:/")


def url(text):
    """A path as a URL: what stands without one may be looked for elsewhere than on disk."""
    return text if is_url(text) else "file://" + os.path.abspath(text)


def one_line(error):
    """Why the job ended. Spark hands a task's words on within its own."""
    text = str(error)
    said = re.findall(r"StepFailed: (.+)", text)
    if isinstance(error, StepFailed) or not said:
        return text.strip().split("\n")[0]
    return said[-1].strip()


def arguments():
    parser = argparse.ArgumentParser(description="The tables of dwindle analyze, made by Spark.")
    add = parser.add_argument
    add("inputs", nargs="+", metavar="INPUT")
    add("--dwindle", required=True, help="the program, which goes to the executors")
    add("--out", help="the folder of tables to write")
    add("--partitions", type=int, required=True, help="how many parts the traces are cut into")
    add("--step-flags", type=json.loads, default={}, help="a JSON object: lists of flags by step")
    add("--contract", help="a contract, shipped with --files too")
    add("--conventions", help="more attribute keys, shipped with --files too")
    add("--calibrate", help="the file to write the contract to that the traces come to")
    add("--sketch", action="store_true", help="round values of distributions by at most 0.8 %%")
    add("--keep-spans", help="the folder to write the spans to, for --table")
    add("--table", action="store_true", help="INPUTs are Parquet tables: otel_traces, or kept spans")
    add("--storage", default="MEMORY_AND_DISK", help="where Spark keeps rows: or DISK_ONLY")
    args = parser.parse_args()
    for step in ["reconstruct", "graveyard"] if args.sketch else []:
        args.step_flags.setdefault(step, []).append("--sketch")
    return args


def main():
    args = arguments()
    builder = SparkSession.builder.appName("dwindle").config("spark.sql.shuffle.partitions", args.partitions)
    for name, value in SETTINGS.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    try:
        Job(spark, args).run()
    except Exception as error:
        traceback.print_exc()
        tell("error", text=one_line(error))
        sys.exit(2)
    finally:
        spark.stop()


if __name__ == "__main__":
    main()
