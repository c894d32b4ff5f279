//! The fleet of `fixtures/calibrate`, which declares nothing: what its limits are is known all the same,
//! since it is made here. Integers only, so that it is the same on every machine.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::support::command::scratch;

/// Where it is kept.
pub const FLEET: &str = "fixtures/calibrate/traces.jsonl.zst";

const US: u64 = 1_000;
const MS: u64 = 1_000 * US;
const START: u64 = 1_772_445_600_000_000_000;

/// A source of numbers that is the same everywhere (`SplitMix64`).
struct Random(u64);

impl Random {
    /// A number in 0..below.
    fn below(&mut self, below: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % below
    }

    /// A length from `least` to `most`, short ones much more often.
    fn skewed(&mut self, least: u64, most: u64) -> u64 {
        let u = self.below(1_000);
        least + (most - least) * (u * u * u) / 1_000_000_000 + self.below(US)
    }

    /// When a timer fires that was set to `length`: never before, mostly within half a percent.
    fn fires(&mut self, length: u64) -> u64 {
        let scale = length / 200 + 300 * US;
        let sum: u64 = (0..4).map(|_| self.below(1_000)).sum();
        length + scale * sum.abs_diff(2_000) / 600
    }
}

/// A trace that is being made.
struct Trace {
    number: u64,
    start: u64,
    spans: Vec<(&'static str, Value)>,
}

impl Trace {
    fn new(number: u64) -> Self {
        Self { number, start: START + number * 250 * MS, spans: Vec::new() }
    }

    /// Adds a span below another (0: none), and gives its number.
    fn add(
        &mut self,
        parent: u64,
        (service, name, kind): (&'static str, &str, u8),
        (start, end): (u64, u64),
        attributes: &[(&str, Value)],
    ) -> u64 {
        let number = self.spans.len() as u64 + 1;
        let id = |number: u64| format!("{:016x}", self.number * 16 + number);
        let attributes = attributes.iter().map(|(key, value)| {
            let value = match value {
                Value::Number(number) => json!({ "intValue": number.to_string() }),
                other => json!({ "stringValue": other }),
            };
            json!({ "key": key, "value": value })
        });
        let mut span = json!({
            "traceId": format!("{:032x}", self.number + 1),
            "spanId": id(number),
            "name": name,
            "kind": kind,
            "startTimeUnixNano": (self.start + start).to_string(),
            "endTimeUnixNano": (self.start + end).to_string(),
            "attributes": attributes.collect::<Vec<_>>(),
        });
        if parent > 0 {
            span["parentSpanId"] = id(parent).into();
        }
        self.spans.push((service, span));
        number
    }

    /// Its line.
    fn line(&self) -> String {
        let resource = |(service, span): &(&str, Value)| {
            let attribute =
                |key: &str, value: &str| json!({ "key": key, "value": { "stringValue": value } });
            json!({
                "resource": { "attributes": [
                    attribute("service.name", service),
                    attribute("host.name", "one-host"),
                ] },
                "scopeSpans": [{ "spans": [span] }],
            })
        };
        let spans: Vec<Value> = self.spans.iter().map(resource).collect();
        format!("{}\n", json!({ "resourceSpans": spans }))
    }
}

const SERVER: u8 = 2;
const CLIENT: u8 = 3;

fn grpc(code: u64) -> [(&'static str, Value); 2] {
    [("rpc.system", "grpc".into()), ("rpc.grpc.status_code", code.into())]
}

fn http(method: &'static str, route: &'static str, status: u64) -> [(&'static str, Value); 3] {
    let status = ("http.response.status_code", status.into());
    [("http.request.method", method.into()), ("http.route", route.into()), status]
}

/// An order: web waits a second for orders, which waits 250 ms for stock, whatever is left, and for
/// price as long as web does.
fn order(number: u64, random: &mut Random) -> Trace {
    let mut trace = Trace::new(number);
    let sent = random.skewed(MS, 40 * MS);
    let received = sent + 200 * US + random.below(400 * US);
    let asked = received + random.skewed(MS, 120 * MS);
    let is_slow = |random: &mut Random| random.below(100) < 11;
    let takes = if is_slow(random) { 320 * MS } else { 0 } + random.skewed(4 * MS, 180 * MS);
    let limit = random.fires(250 * MS);
    let (stock, stock_end) = (takes.min(limit), asked + 300 * US + takes);
    let quoted = asked + stock + random.skewed(100 * US, 5 * MS);
    let takes = if is_slow(random) { 1_100 * MS } else { 0 } + random.skewed(3 * MS, 150 * MS);
    let limit = received + random.fires(1_000 * MS) - quoted;
    let (price, price_end) = (takes.min(limit), quoted + 300 * US + takes);
    let is_late = limit < takes;
    let answered = quoted + price + random.skewed(100 * US, 2 * MS);
    let waited = if is_late {
        random.fires(1_000 * MS).min(answered + 100 * US - sent)
    } else {
        answered + 200 * US - sent
    };
    let end = sent + waited + random.skewed(200 * US, 3 * MS);
    let code = if is_late { 4 } else { 0 };
    let (name, status) = ("GET /orders/{id}", if is_late { 504 } else { 200 });
    let root = trace.add(0, ("web", name, SERVER), (0, end), &http("GET", "/orders/{id}", status));
    let name = "orders.Orders/Get";
    let call = trace.add(root, ("web", name, CLIENT), (sent, sent + waited), &grpc(code));
    // Orders notices only when its own call to price ends.
    let here = trace.add(call, ("orders", name, SERVER), (received, answered), &grpc(0));
    let name = "stock.Stock/Reserve";
    let status = if stock_end > asked + stock + 300 * US { 4 } else { 0 };
    let call = trace.add(here, ("orders", name, CLIENT), (asked, asked + stock), &grpc(status));
    let stock_end = if status == 0 { asked + stock - 200 * US } else { stock_end };
    trace.add(call, ("stock", name, SERVER), (asked + 150 * US, stock_end), &grpc(0));
    let name = "price.Price/Quote";
    let call = trace.add(here, ("orders", name, CLIENT), (quoted, quoted + price), &grpc(code));
    let price_end = if is_late { price_end } else { quoted + price - 200 * US };
    trace.add(call, ("price", name, SERVER), (quoted + 150 * US, price_end), &grpc(0));
    trace
}

/// A list: who asks for it gives up after two seconds, and web gives up its call with them.
fn list(number: u64, random: &mut Random) -> Trace {
    let mut trace = Trace::new(number);
    let sent = 2 * MS + random.below(700 * MS);
    let slow = if random.below(100) < 20 { 2_100 * MS } else { 0 };
    let takes = slow + random.skewed(20 * MS, 900 * MS);
    let gives_up = random.fires(2_000 * MS);
    let is_late = gives_up < sent + takes;
    let waited = takes.min(gives_up - sent);
    let end = if is_late { gives_up } else { sent + waited + 2 * MS };
    let (name, status) = ("GET /list", if is_late { 499 } else { 200 });
    let root = trace.add(0, ("web", name, SERVER), (0, end), &http("GET", "/list", status));
    let (name, code) = ("catalog.Catalog/List", u64::from(is_late));
    let call = trace.add(root, ("web", name, CLIENT), (sent, sent + waited), &grpc(code));
    let there = (sent + 200 * US, sent + takes - 200 * US);
    trace.add(call, ("catalog", name, SERVER), there, &grpc(0));
    trace
}

/// The traces, one a line.
pub fn traces() -> String {
    let mut random = Random(8);
    let one = |number| match number % 3 {
        0 => list(number, &mut random),
        _ => order(number, &mut random),
    };
    (0..600).map(one).map(|trace| trace.line()).collect()
}

/// The same, as they are kept.
pub fn kept() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(FLEET);
    let bytes = fs::read(path).unwrap_or_default();
    String::from_utf8(zstd::decode_all(&*bytes).unwrap_or_default()).unwrap()
}

#[test]
fn the_fixture_is_what_is_made_here() {
    let made = traces();
    if made != kept() {
        let dir = scratch("calibrate-fixture").join("traces.jsonl.zst");
        fs::write(&dir, zstd::encode_all(made.as_bytes(), 19).unwrap()).unwrap();
        panic!("the fixture is another one: cp {} {FLEET}", dir.display());
    }
}
