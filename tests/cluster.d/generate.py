"""Spans for a job of some size: generate.py SHOP OUT REPLICAS HUGE

Writes the traces of fixtures/shop (SHOP) REPLICAS times to 16 files in OUT, each time with other trace
ids, later and on other hosts, so that all that was planted there is there again; every trace is spread
over several files. 14 are Parquet, as ClickHouse writes `otel_traces`, two are gzip OTLP JSON. One more
trace has HUGE spans."""

import gzip
import json
import os
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

FILES, OF_JSON, HOSTS = 16, 2, 4
PERIOD_NS = 900 * 10**9  # The shop was watched for less.
KINDS = ["Unspecified", "Internal", "Server", "Client", "Producer", "Consumer"]
STATUS = ["Unset", "Ok", "Error"]
TIME, TEXTS = pa.timestamp("ns", "UTC"), pa.map_(pa.string(), pa.string())
SCHEMA = pa.schema(
    [("Timestamp", TIME), ("TraceId", pa.string()), ("SpanId", pa.string()), ("ParentSpanId", pa.string())]
    + [("SpanName", pa.string()), ("SpanKind", pa.string()), ("ServiceName", pa.string())]
    + [("Duration", pa.int64()), ("ResourceAttributes", TEXTS), ("SpanAttributes", TEXTS)]
    + [("StatusCode", pa.string()), ("StatusMessage", pa.string())]
    + [("Events.Timestamp", pa.list_(TIME)), ("Events.Name", pa.list_(pa.string()))]
    + [("Events.Attributes", pa.list_(TEXTS)), ("Links.TraceId", pa.list_(pa.string()))]
)
rng = np.random.default_rng(9)


def spans(folder):
    """Each span with its resource, both as in OTLP JSON."""
    for name in sorted(os.listdir(folder)):
        with pa.input_stream(os.path.join(folder, name), compression="zstd") as file:
            for line in file.read().splitlines():
                for group in json.loads(line)["resourceSpans"]:
                    for scope in group["scopeSpans"]:
                        yield from ((group["resource"], span) for span in scope["spans"])


def texts(attributes):
    """Attributes as the exporter stores them: all values are texts."""
    return [(it["key"], text(next(iter(it["value"].values())))) for it in attributes]


def text(value):
    return str(value).lower() if isinstance(value, bool) else value if isinstance(value, str) else json.dumps(value)


def row(resource, span):
    """A span as a row of the table."""
    start, events, status = int(span["startTimeUnixNano"]), span.get("events", []), span.get("status", {})
    of_resource = texts(resource["attributes"])
    return {
        "Timestamp": start,
        "TraceId": span["traceId"],
        "SpanId": span["spanId"],
        "ParentSpanId": span.get("parentSpanId", ""),
        "SpanName": span["name"],
        "SpanKind": KINDS[span.get("kind", 0)],
        "ServiceName": dict(of_resource).get("service.name", ""),
        "Duration": int(span["endTimeUnixNano"]) - start,
        "ResourceAttributes": of_resource,
        "SpanAttributes": texts(span.get("attributes", [])),
        "StatusCode": STATUS[status.get("code", 0)],
        "StatusMessage": status.get("message", ""),
        "Events.Timestamp": [int(event["timeUnixNano"]) for event in events],
        "Events.Name": [event["name"] for event in events],
        "Events.Attributes": [texts(event.get("attributes", [])) for event in events],
        "Links.TraceId": [link["traceId"] for link in span.get("links", [])],
    }


def on_host(resource, host):
    """A resource, on another host."""
    attributes = []
    for it in resource["attributes"]:
        is_host = it["key"] == "host.name"
        value = {"stringValue": f"{it['value']['stringValue']}-{host}"} if is_host else it["value"]
        attributes.append({"key": it["key"], "value": value})
    return {"attributes": attributes}


def later(column, shift):
    """Times, or lists of times, so much later."""
    if pa.types.is_list(column.type):
        return pa.ListArray.from_arrays(column.offsets, later(column.values, shift))
    return pa.array(column.cast(pa.int64()).to_numpy(zero_copy_only=False) + shift, pa.int64()).cast(TIME)


def ids(count):
    """Random trace ids."""
    digits = rng.bytes(16 * count).hex()
    return [digits[at : at + 32] for at in range(0, len(digits), 32)]


def as_json(file, known, picked, names, shift, host):
    """Writes spans as OTLP JSON, a line for those of a resource."""
    groups = {}
    for at in picked:
        resource, span = known[at]
        moved = {**span, "traceId": names[span["traceId"]]}
        for key in ("startTimeUnixNano", "endTimeUnixNano"):
            moved[key] = str(int(span[key]) + shift)
        if "events" in span:
            moved["events"] = [
                {**event, "timeUnixNano": str(int(event["timeUnixNano"]) + shift)} for event in span["events"]
            ]
        groups.setdefault(id(resource), (resource, []))[1].append(moved)
    for resource, moved in groups.values():
        group = {"resource": on_host(resource, host), "scopeSpans": [{"spans": moved}]}
        file.write(json.dumps({"resourceSpans": [group]}).encode() + b"\n")


def huge(count, start):
    """One trace of so many spans, each but the first below another."""
    place = np.arange(count, dtype=np.int64)
    numbers = [f"{number:016x}" for number in range(1, count + 1)]
    parents = [""] + [numbers[(number - 1) // 8] for number in range(1, count)]
    lists = pa.array([[]], pa.list_(pa.string())).take(pa.array(np.zeros(count, np.int64)))
    same = lambda value, kind: pa.array([value], kind).take(pa.array(np.zeros(count, np.int64)))  # noqa: E731
    columns = {
        "Timestamp": pa.array(start + place * 1000).cast(TIME),
        "TraceId": same(ids(1)[0], pa.string()),
        "SpanId": pa.array(numbers),
        "ParentSpanId": pa.array(parents),
        "SpanName": same("GET /everything", pa.string()),
        "SpanKind": pa.array(["Server", "Internal"]).take(pa.array(np.minimum(place, 1))),
        "ServiceName": same("export", pa.string()),
        "Duration": pa.array(np.where(place == 0, count * 1000, 900)),
        "ResourceAttributes": same([("service.name", "export"), ("host.name", "export-1")], TEXTS),
        "SpanAttributes": same([], TEXTS),
        "StatusCode": same("Unset", pa.string()),
        "StatusMessage": same("", pa.string()),
        "Events.Timestamp": same([], pa.list_(TIME)),
        "Events.Name": lists,
        "Events.Attributes": same([], pa.list_(TEXTS)),
        "Links.TraceId": lists,
    }
    return pa.table([columns[name] for name in SCHEMA.names], SCHEMA)


def main(shop, out, replicas, count):
    os.makedirs(out, exist_ok=True)
    known = list(spans(shop))
    rows = [row(resource, span) for resource, span in known]
    table = pa.Table.from_pylist(rows, SCHEMA).combine_chunks()
    hosts = []
    for host in range(HOSTS):
        of_host = [texts(on_host(resource, host)["attributes"]) for resource, _ in known]
        hosts.append(pa.array(of_host, TEXTS))
    traces, of_trace = np.unique([it["TraceId"] for it in rows], return_inverse=True)
    first = min(it["Timestamp"] for it in rows)
    columns = {name: table[name].chunk(0) for name in SCHEMA.names}
    of_file = [[] for _ in range(FILES)]
    texts_out = [gzip.open(f"{out}/part-{at:02}.jsonl.gz", "wb", 1) for at in range(OF_JSON)]
    total = 0
    for replica in range(replicas):
        shift, host, new = replica * PERIOD_NS, replica % HOSTS, ids(len(traces))
        moved = {
            **columns,
            "TraceId": pa.array(new).take(pa.array(of_trace)),
            "Timestamp": later(columns["Timestamp"], shift),
            "Events.Timestamp": later(columns["Events.Timestamp"], shift),
            "ResourceAttributes": hosts[host],
        }
        moved = pa.table([moved[name] for name in SCHEMA.names], SCHEMA)
        total += len(moved)
        where = rng.integers(0, FILES, len(moved))
        for at, file in enumerate(texts_out):
            as_json(file, known, np.nonzero(where == at)[0], dict(zip(traces, new)), shift, host)
        for at in range(OF_JSON, FILES):
            of_file[at].append(moved.take(pa.array(np.nonzero(where == at)[0])))
    for file in texts_out:
        file.close()
    if count:
        one, where = huge(count, first), rng.integers(OF_JSON, FILES, count)
        total += count
        for at in range(OF_JSON, FILES):
            of_file[at].append(one.take(pa.array(np.nonzero(where == at)[0])))
    for at in range(OF_JSON, FILES):
        pq.write_table(pa.concat_tables(of_file[at]), f"{out}/part-{at:02}.parquet", compression="zstd")
    print(f"{total} spans in {FILES} files")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
