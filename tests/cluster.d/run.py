"""run.py PROGRAM QUERYING FOLDER: the analysis on a cluster beside the same on one machine.

PROGRAM is what runs, QUERYING one that can query tables too; all that is written goes to FOLDER."""

import os
import signal
import subprocess
import sys
import threading
import time

import pyspark

import compare
import events
import generate
from cluster import Cluster

PROGRAM, QUERYING, FOLDER = map(os.path.abspath, sys.argv[1:4])
ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
SHARED = os.environ.get("DWINDLE_SHARED", os.path.join(ROOT, "..", "shared"))
SHOP = "fixtures/shop"

REPLICAS, HUGE = 46, 1_000_000
PARTITIONS = 12

SETTINGS = """\
spark.driver.host 127.0.0.1
spark.driver.bindAddress 127.0.0.1
spark.ui.enabled false
spark.executor.memory 1200m
spark.eventLog.enabled true
spark.eventLog.rolling.enabled false
spark.eventLog.compress false
"""


def at(*names):
    return os.path.join(FOLDER, *names)


def say(words):
    print(f"tests/cluster: {words}", flush=True)


def took(begun):
    return f"{time.monotonic() - begun:.0f} s"


def alone(verb, *argv, out=None):
    """Runs the program on this machine."""
    done = subprocess.run([PROGRAM, verb, *argv], capture_output=True, check=False, cwd=ROOT)
    if done.returncode != 0:
        raise SystemExit(f"tests/cluster: dwindle {verb} {argv} ended with {done.returncode}: {done.stderr.decode()}")
    return done.stdout


class Trial:
    """A job on the cluster, and what becomes of it."""

    def __init__(self, cluster, name):
        self.cluster, self.name, self.log = cluster, name, at("events", name)
        os.makedirs(self.log)
        self.settings = at(f"{name}.conf")
        with open(self.settings, "w") as file:
            file.write(f"{SETTINGS}spark.eventLog.dir file://{self.log}\n")

    def run(self, *argv, partitions=4):
        begun = time.monotonic()
        argv = [PROGRAM, "cluster", *argv, "--master", self.cluster.url, "--partitions", str(partitions), "--quiet"]
        argv += ["--", "--properties-file", self.settings]
        done = subprocess.run(argv, capture_output=True, check=False, cwd=ROOT, env=self.cluster.environment)
        if done.returncode != 0:
            raise SystemExit(f"tests/cluster: {self.name} ended with {done.returncode}: {done.stderr.decode()}")
        return took(begun)

    def killing(self, *steps):
        """Kills an executor each time that a task of one of these steps has ended."""
        threading.Thread(target=self.kill, args=steps, daemon=True).start()

    def kill(self, *steps):
        for number, step in enumerate(steps):
            while (stage := events.stage_of(self.log, step)) is None:
                time.sleep(0.1)
            while not self.has_ended_task(stage):
                time.sleep(0.05)
            worker = f"worker{number % 2 + 1}"
            while (victim := self.cluster.executor(worker)) is None:
                time.sleep(0.1)  # The one before was killed, and the next is not there yet.
            os.kill(victim, signal.SIGKILL)
            say(f"killed the executor of {worker}, process {victim}, after the first task of {step}")

    def has_ended_task(self, stage):
        """Whether an executor's log tells of a task of this stage that has ended."""
        for folder, _, names in os.walk(self.cluster.folder):
            if "stderr" in names and "app-" in folder:
                with open(os.path.join(folder, "stderr"), errors="replace") as file:
                    if any("Finished task" in line and f" in stage {stage}." in line for line in file):
                        return True
        return False


def generated(cluster):
    begun = time.monotonic()
    generate.main(SHOP, at("spans"), REPLICAS, HUGE)
    say(f"generated, in {took(begun)}")
    trial = Trial(cluster, "generated")
    trial.killing("survey", "reconstruct")
    of_cluster = trial.run(at("spans"), "--out", at("generated"), partitions=PARTITIONS)
    executors, stages = events.lost(trial.log)
    if executors < 2 or stages < 1:
        raise SystemExit(f"tests/cluster: {executors} executors were lost, {stages} stages ran again: nothing was tried")
    say(f"{executors} executors were lost, {stages} stages ran again")
    begun = time.monotonic()
    alone("analyze", at("spans"), "--out", at("alone"))
    say(f"the job took {of_cluster}, one machine {took(begun)}")
    rows = compare.same(QUERYING, at("generated"), at("alone"))
    say(f"all {rows} rows and the manifest are equal")
    for step, (tasks, seconds, shuffled, records, spilled) in events.stages(trial.log).items():
        of_each = f", {shuffled / records:.0f} B for each of {records} rows" if records else ""
        say(f"  {step}: {tasks} tasks, {seconds:.1f} s, {shuffled >> 20} MiB into the shuffle{of_each}, {spilled >> 20} MiB spilled")


def shop(cluster):
    contract = ["--contract", f"{SHOP}.contract.toml"]
    seconds = Trial(cluster, "shop").run(SHOP, *contract, "--keep-spans", at("kept"), "--out", at("shop"))
    alone("analyze", SHOP, *contract, "--out", at("shop-alone"))
    rows = compare.same(QUERYING, at("shop"), at("shop-alone"))
    say(f"{SHOP} by its contract, in {seconds}: {rows} rows are equal")


def kept(cluster):
    argv = [at("kept"), "--table", "--calibrate", at("contract.toml"), "--out", at("calibrated")]
    seconds = Trial(cluster, "kept").run(*argv, partitions=3)
    contract = alone("calibrate", SHOP)
    with open(at("contract.toml"), "rb") as file:
        if file.read() != contract:
            raise compare.Different("the contract that the traces come to")
    alone("analyze", SHOP, "--contract", at("contract.toml"), "--out", at("calibrated-alone"))
    rows = compare.same(QUERYING, at("calibrated"), at("calibrated-alone"), ignored=["inputs"])
    say(f"its spans as they were kept, calibrated, in {seconds}: the contract and {rows} rows are equal")


def sketched(cluster):
    seconds = Trial(cluster, "sketched").run(SHOP, "--sketch", "--out", at("sketched"))
    alone("analyze", SHOP, "--out", at("exact"))
    compare.same(QUERYING, at("exact"), at("sketched"), rounded=True)
    say(f"{SHOP} with rounded values, in {seconds}: at most {compare.SKETCH_ERROR:.0%} off, the rest is equal")


def table(cluster):
    generate.main(SHOP, at("rows"), 1, 0)
    for name in os.listdir(at("rows")):
        if not name.endswith(".parquet"):
            os.remove(at("rows", name))
    seconds = Trial(cluster, "table").run(at("rows"), "--table", "--out", at("table"))
    alone("analyze", at("rows"), "--out", at("table-alone"))
    # Spark deals rows out, not files: trouble is told of the table.
    rows = compare.same(QUERYING, at("table"), at("table-alone"), ignored=["files", "problems"])
    say(f"rows of otel_traces that Spark reads, in {seconds}: {rows} rows are equal")


def corpus(cluster):
    folder = os.path.join(SHARED, "corpus")
    if not os.path.isdir(folder):
        return say(f"{folder} is not there; the corpus is skipped")
    files = [os.path.join(of, name) for of, _, names in os.walk(folder) for name in names]
    is_readable = lambda file: subprocess.run([PROGRAM, "inspect", file], capture_output=True).returncode == 0  # noqa: E731
    files = sorted(filter(is_readable, files))
    seconds = Trial(cluster, "corpus").run(*files, "--out", at("corpus"), partitions=7)
    alone("analyze", *files, "--out", at("corpus-alone"))
    rows = compare.same(QUERYING, at("corpus"), at("corpus-alone"))
    say(f"{len(files)} files of the corpus in one job, in {seconds}: {rows} rows are equal")


def main():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    os.chdir(ROOT)
    begun = time.monotonic()
    with Cluster(os.path.dirname(pyspark.__file__), sys.executable, FOLDER) as cluster:
        say(f"a master and two workers, in {took(begun)}")
        for trial in (generated, shop, kept, sketched, table, corpus):
            trial(cluster)
    say(f"all in {took(begun)}")


if __name__ == "__main__":
    main()
