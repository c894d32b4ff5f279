//! The traces of a made-up fleet, as a collector exports them: about 20 spans a trace, 10 attributes
//! a span, batches of many traces and services, so that the spans of one trace lie in several lines
//! and files. The same seed gives the same bytes.

use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::common::v1::{AnyValue, InstrumentationScope, KeyValue};
use opentelemetry_proto::tonic::resource::v1::Resource;
use opentelemetry_proto::tonic::trace::v1::span::SpanKind;
use opentelemetry_proto::tonic::trace::v1::{ResourceSpans, ScopeSpans, Span, Status};

/// Spans of a trace.
pub const SPANS_PER_TRACE: usize = 20;
/// Traces that begin while a batch is open.
const TRACES_PER_BATCH: u64 = 100;
/// Batches that are open at a time.
const OPEN_BATCHES: usize = 4;
/// When the first trace begins.
const START_NS: u64 = 1_788_600_000_000_000_000;
/// From one trace to the next.
const BETWEEN_NS: u64 = 2_000_000;

const SERVICES: [&str; 12] = [
    "gateway",
    "checkout",
    "cart",
    "catalog",
    "pricing",
    "payments",
    "fraud",
    "inventory",
    "search",
    "recommendation",
    "shipping",
    "notification",
];
const METHODS: [&str; 6] = ["Get", "List", "Reserve", "Quote", "Authorize", "Update"];

/// How many traces, and how varied.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// How many.
    pub traces: u64,
    /// Distinct names of spans.
    pub operations: u64,
    /// Where the random numbers begin.
    pub seed: u64,
}

/// Random numbers: splitmix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }
}

/// The batches of a plan, in the order in which they are exported.
pub struct Batches {
    plan: Plan,
    random: Random,
    trace: u64,
    /// The spans of the open batches by service, the oldest first.
    open: Vec<Vec<Vec<Span>>>,
}

impl Batches {
    /// Those of `plan`.
    pub fn new(plan: Plan) -> Self {
        let open = vec![vec![Vec::new(); SERVICES.len()]; OPEN_BATCHES];
        Self { plan, random: Random(plan.seed), trace: 0, open }
    }
}

impl Iterator for Batches {
    type Item = ExportTraceServiceRequest;

    fn next(&mut self) -> Option<Self::Item> {
        while self.trace < self.plan.traces {
            for (service, span) in Trace::new(self.plan, self.trace, &mut self.random).spans {
                let batch = self.random.below(OPEN_BATCHES as u64) as usize;
                self.open[batch][service].push(span);
            }
            self.trace += 1;
            if self.trace.is_multiple_of(TRACES_PER_BATCH) {
                let oldest = self.open.remove(0);
                self.open.push(vec![Vec::new(); SERVICES.len()]);
                return Some(request(oldest));
            }
        }
        (!self.open.is_empty()).then(|| request(self.open.remove(0)))
    }
}

/// A batch as it is exported.
fn request(by_service: Vec<Vec<Span>>) -> ExportTraceServiceRequest {
    let of_service = |(service, spans): (usize, Vec<Span>)| ResourceSpans {
        resource: Some(resource(service)),
        scope_spans: vec![ScopeSpans {
            scope: Some(InstrumentationScope {
                name: "io.opentelemetry.instrumentation".to_owned(),
                version: "2.9.0".to_owned(),
                ..InstrumentationScope::default()
            }),
            spans,
            schema_url: String::new(),
        }],
        schema_url: "https://opentelemetry.io/schemas/1.27.0".to_owned(),
    };
    let filled = by_service.into_iter().enumerate().filter(|(_, spans)| !spans.is_empty());
    ExportTraceServiceRequest { resource_spans: filled.map(of_service).collect() }
}

fn resource(service: usize) -> Resource {
    let name = SERVICES[service];
    Resource {
        attributes: vec![
            text("service.name", name),
            text("service.namespace", "shop"),
            text("service.version", "1.42.0"),
            text("service.instance.id", &format!("{name}-7d9f8b6c5-x2x{service}")),
            text("k8s.namespace.name", "shop"),
            text("k8s.pod.name", &format!("{name}-7d9f8b6c5-x2x{service}")),
            text("k8s.node.name", &format!("node-{}", service % 5)),
            text("telemetry.sdk.language", "java"),
            text("telemetry.sdk.version", "1.43.0"),
        ],
        ..Resource::default()
    }
}

/// A trace while it is made.
struct Trace<'r> {
    plan: Plan,
    random: &'r mut Random,
    id: Vec<u8>,
    /// The spans with their services.
    spans: Vec<(usize, Span)>,
}

impl<'r> Trace<'r> {
    fn new(plan: Plan, number: u64, random: &'r mut Random) -> Self {
        let id = [random.next().to_be_bytes(), random.next().to_be_bytes()].concat();
        let mut trace = Self { plan, random, id, spans: Vec::with_capacity(SPANS_PER_TRACE) };
        let start = START_NS + number * BETWEEN_NS + trace.random.below(BETWEEN_NS);
        let length = 20_000_000 + trace.random.below(900_000_000);
        let mut root = trace.span(0, SpanKind::Server, start, start + length, None);
        trace.describe_http(&mut root);
        root.attributes.push(text("rpc.grpc.request.metadata.grpc-timeout", "800m"));
        trace.spans.push((0, root));
        let mut servers = vec![0];
        while trace.spans.len() < SPANS_PER_TRACE {
            let parent = servers[trace.random.below(servers.len() as u64) as usize];
            match trace.random.below(5) {
                0..3 if trace.spans.len() + 2 <= SPANS_PER_TRACE => {
                    servers.push(trace.call(parent));
                }
                3 => trace.query(parent),
                _ => trace.work(parent),
            }
        }
        trace
    }

    fn span(
        &mut self,
        service: usize,
        kind: SpanKind,
        start: u64,
        end: u64,
        parent: Option<usize>,
    ) -> Span {
        let parent_span_id = parent.map_or_else(Vec::new, |at| self.spans[at].1.span_id.clone());
        let method = METHODS[self.random.below(METHODS.len() as u64) as usize];
        let name = match self.plan.operations {
            0..100 => format!("shop.{}/{method}", SERVICES[service]),
            many => format!("shop.{}/{method}{}", SERVICES[service], self.random.below(many)),
        };
        Span {
            trace_id: self.id.clone(),
            span_id: self.random.next().to_be_bytes().to_vec(),
            parent_span_id,
            flags: 257,
            name,
            kind: kind.into(),
            start_time_unix_nano: start,
            end_time_unix_nano: end,
            status: Some(Status::default()),
            ..Span::default()
        }
    }

    /// A stretch within the span at `parent`.
    fn within(&mut self, parent: usize) -> (u64, u64) {
        let (start, end) = {
            let span = &self.spans[parent].1;
            (span.start_time_unix_nano, span.end_time_unix_nano)
        };
        let length = (end - start).max(1_000);
        let begun = start + self.random.below(length / 2);
        (begun, begun + 500 + self.random.below((end.max(begun + 1) - begun).max(2)))
    }

    /// A call to another service; where its server span is.
    fn call(&mut self, parent: usize) -> usize {
        let (start, end) = self.within(parent);
        let caller = self.spans[parent].0;
        let callee = self.random.below(SERVICES.len() as u64) as usize;
        let timeout = format!("{}m", 50 + self.random.below(900));
        let mut client = self.span(caller, SpanKind::Client, start, end, Some(parent));
        let service = format!("shop.{}", SERVICES[callee]);
        client.attributes = vec![
            text("rpc.system", "grpc"),
            text("rpc.service", &service),
            text("rpc.method", METHODS[0]),
            int("rpc.grpc.status_code", 0),
            text("rpc.grpc.request.metadata.grpc-timeout", &timeout),
            text("server.address", SERVICES[callee]),
            int("server.port", 8_080),
            text("network.peer.address", "10.0.3.17"),
            int("thread.id", 41),
            text("thread.name", "grpc-default-executor-3"),
        ];
        let name = client.name.clone();
        self.spans.push((caller, client));
        let way = (end - start) / 20;
        let sent = self.spans.len() - 1;
        let mut server = self.span(callee, SpanKind::Server, start + way, end - way, Some(sent));
        server.name = name;
        server.attributes = vec![
            text("rpc.system", "grpc"),
            text("rpc.service", &service),
            text("rpc.method", METHODS[0]),
            int("rpc.grpc.status_code", 0),
            text("client.address", "10.0.2.9"),
            text("network.protocol.version", "2"),
            text("server.address", SERVICES[callee]),
            int("server.port", 8_080),
            int("thread.id", 57),
            text("thread.name", "grpc-default-executor-7"),
        ];
        self.spans.push((callee, server));
        self.spans.len() - 1
    }

    /// A query of a database.
    fn query(&mut self, parent: usize) {
        let (start, end) = self.within(parent);
        let service = self.spans[parent].0;
        let mut span = self.span(service, SpanKind::Client, start, end, Some(parent));
        span.attributes = vec![
            text("db.system.name", "postgresql"),
            text("db.namespace", "shop"),
            text("db.operation.name", "SELECT"),
            text("db.collection.name", "items"),
            text("db.query.text", "SELECT id, name, price FROM items WHERE id = $1 AND shop = $2"),
            text("server.address", "items-db.shop.svc"),
            int("server.port", 5_432),
            int("thread.id", 33),
            text("thread.name", "pool-2-thread-9"),
        ];
        self.spans.push((service, span));
    }

    /// Work inside a service.
    fn work(&mut self, parent: usize) {
        let (start, end) = self.within(parent);
        let service = self.spans[parent].0;
        let mut span = self.span(service, SpanKind::Internal, start, end, Some(parent));
        span.attributes = vec![
            text("code.function.name", "com.example.shop.Basket.total"),
            text("code.file.path", "Basket.java"),
            int("code.line.number", 118),
            int("items.count", 3),
            text("thread.name", "http-nio-8080-exec-4"),
            int("thread.id", 29),
            boolean("cache.hit", true),
            text("tenant", "eu-west"),
        ];
        self.spans.push((service, span));
    }

    fn describe_http(&mut self, span: &mut Span) {
        span.attributes = vec![
            text("http.request.method", "POST"),
            text("http.route", "/api/checkout/{cart}"),
            text("url.path", &format!("/api/checkout/{}", self.random.below(1_000_000))),
            text("url.scheme", "https"),
            int("http.response.status_code", 200),
            text("server.address", "shop.example.com"),
            int("server.port", 443),
            text("client.address", "203.0.113.7"),
            text("network.protocol.version", "1.1"),
            text("user_agent.original", "Mozilla/5.0 (X11; Linux x86_64) Firefox/128.0"),
        ];
    }
}

fn attribute(key: &str, value: Value) -> KeyValue {
    let value = Some(AnyValue { value: Some(value) });
    KeyValue { key: key.to_owned(), value, ..KeyValue::default() }
}

fn text(key: &str, value: &str) -> KeyValue {
    attribute(key, Value::StringValue(value.to_owned()))
}

fn int(key: &str, value: i64) -> KeyValue {
    attribute(key, Value::IntValue(value))
}

fn boolean(key: &str, value: bool) -> KeyValue {
    attribute(key, Value::BoolValue(value))
}
