"""A Spark cluster of this machine alone: a master and two workers, all on loopback."""

import glob
import os
import signal
import socket
import subprocess
import time


def free_port():
    with socket.socket() as it:
        it.bind(("127.0.0.1", 0))
        return it.getsockname()[1]


def descendants(pid):
    """All processes below one, as far as they can be seen."""
    found = []
    for children in glob.glob(f"/proc/{pid}/task/*/children"):  # Any thread may have started some.
        try:
            with open(children) as file:
                below = file.read().split()
        except OSError:
            continue  # It has ended.
        for child in map(int, below):
            found += [child, *descendants(child)]
    return found


def command(pid):
    try:
        with open(f"/proc/{pid}/cmdline") as file:
            return file.read()
    except OSError:
        return ""


class Cluster:
    """It runs as long as it is entered; whatever happens, nothing of it stays."""

    def __init__(self, home, python, folder):
        self.home, self.folder, self.daemons = home, folder, {}
        self.environment = {
            **os.environ,
            "SPARK_HOME": home,
            "SPARK_LOCAL_IP": "127.0.0.1",
            "SPARK_PUBLIC_DNS": "127.0.0.1",
            "SPARK_MASTER_OPTS": "-Dspark.master.rest.enabled=false",
            "SPARK_DAEMON_MEMORY": "512m",
            "PYSPARK_PYTHON": python,
            "PYSPARK_DRIVER_PYTHON": python,
        }

    def __enter__(self):
        port = free_port()
        self.url = f"spark://127.0.0.1:{port}"
        try:
            self.start("master", "master.Master", "--port", str(port), "--webui-port", "0")
            self.wait("master", "Starting Spark master", 1)
            for worker in ("worker1", "worker2"):
                work = ["--work-dir", os.path.join(self.folder, worker), "--cores", "1", "--memory", "2g"]
                self.start(worker, "worker.Worker", *work, "--webui-port", "0", self.url)
            self.wait("master", "Registering worker", 2)
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *_):
        self.stop()

    def start(self, name, daemon, *options):
        argv = [f"{self.home}/bin/spark-class", f"org.apache.spark.deploy.{daemon}", "--host", "127.0.0.1"]
        with open(self.log(name), "w") as log:
            self.daemons[name] = subprocess.Popen(
                [*argv, *options], env=self.environment, stdout=log, stderr=log, start_new_session=True
            )

    def log(self, name):
        return os.path.join(self.folder, f"{name}.log")

    def wait(self, name, words, times):
        for _ in range(600):
            with open(self.log(name)) as log:
                text = log.read()
            if text.count(words) >= times:
                return
            if self.daemons[name].poll() is not None:
                break
            time.sleep(0.1)
        raise SystemExit(f"tests/cluster: {name} does not start:\n{text[-2000:]}")

    def executor(self, worker):
        """The process of the executor of a worker."""
        below = descendants(self.daemons[worker].pid)
        return next((pid for pid in below if "CoarseGrainedExecutorBackend" in command(pid)), None)

    def stop(self):
        below = [pid for it in self.daemons.values() for pid in descendants(it.pid)]
        for daemon in reversed(self.daemons.values()):
            daemon.terminate()
        for daemon in self.daemons.values():
            try:
                daemon.wait(20)
            except subprocess.TimeoutExpired:
                daemon.kill()
        for pid in below:
            if "spark" in command(pid):  # Its number may be another's by now.
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
