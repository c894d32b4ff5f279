"""What Spark's event log tells of a job: lost executors, stages that ran again, time and bytes."""

import glob
import json
import os


def read(folder):
    """The events so far, of the one job whose log is in a folder."""
    for path in sorted(glob.glob(os.path.join(folder, "**"), recursive=True)):
        if os.path.isfile(path) and "appstatus" not in os.path.basename(path):
            with open(path) as file:
                for line in file:
                    try:
                        yield json.loads(line)
                    except ValueError:
                        return  # Its last line is still being written.


def stage_of(folder, step):
    """The number of the stage that runs a step of the job; None as long as it has not begun."""
    for event in read(folder):
        if event["Event"] == "SparkListenerJobStart":
            if event["Properties"].get("spark.jobGroup.id") == step:
                return max(event["Stage IDs"])
    return None


def lost(folder):
    """How many executors were lost, and how many stages ran again for it."""
    executors = stages = 0
    for event in read(folder):
        executors += event["Event"] == "SparkListenerExecutorRemoved"
        if event["Event"] == "SparkListenerStageSubmitted":
            stages += event["Stage Info"]["Stage Attempt ID"] > 0
    return executors, stages


def stages(folder):
    """Of each step: tasks, seconds of tasks, bytes and rows written into the shuffle, bytes spilled."""
    names, told = {}, {}
    for event in read(folder):
        if event["Event"] == "SparkListenerJobStart":
            step = event["Properties"].get("spark.jobGroup.id", "placing")
            for stage in event["Stage IDs"]:
                names.setdefault(stage, step if stage == max(event["Stage IDs"]) else f"before {step}")
        if event["Event"] == "SparkListenerTaskEnd" and event.get("Task Metrics"):
            metrics = event["Task Metrics"]
            written = metrics["Shuffle Write Metrics"]
            row = told.setdefault(names.get(event["Stage ID"], "?"), [0, 0, 0, 0, 0])
            row[0] += 1
            row[1] += metrics["Executor Run Time"] / 1000
            row[2] += written["Shuffle Bytes Written"]
            row[3] += written["Shuffle Records Written"]
            row[4] += metrics["Disk Bytes Spilled"]
    return told
