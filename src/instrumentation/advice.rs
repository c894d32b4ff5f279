//! Which attribute tells what is missing, and what makes it appear, by what makes the spans.
//!
//! Where a stack has no setting the table says so and gives an attribute of dwindle's own, which any
//! code can write. What instrumentation does was read in its source or documentation
//! (docs/inference.md).

use super::gap::{Missing, Way};

/// One line of the table. The first that holds is what is advised.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rule {
    /// What is missing.
    pub missing: Missing,
    /// How the service is asked; `None` in whatever way.
    pub way: Option<Way>,
    /// What makes its spans; `None` whatever does.
    pub stack: Option<&'static str>,
    /// What to advise.
    pub advice: Advice,
}

/// What to record, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Advice {
    /// The attribute as it will stand on spans, or the span.
    pub attribute: &'static str,
    /// The setting that makes it appear, or what to write where there is none.
    pub setting: &'static str,
}

/// All rules, in the order in which they are tried.
pub const fn rules() -> &'static [Rule] {
    RULES
}

/// What to record where `missing` is missing at a service that is asked in this way and whose spans
/// `stack` makes.
pub fn advice(missing: Missing, way: Way, stack: Option<&str>) -> Advice {
    // What was left when a remote procedure was called is the deadline of what it begins.
    let missing = match (missing, way) {
        (Missing::Deadline, Way::Grpc) => Missing::Grant,
        (missing, _) => missing,
    };
    let holds = |rule: &&Rule| {
        rule.missing == missing
            && rule.way.is_none_or(|known| known == way)
            && rule.stack.is_none_or(|known| Some(known) == stack)
    };
    let own = Advice { attribute: "deadline.remaining_ms", setting: OWN };
    RULES.iter().find(holds).map_or(own, |rule| rule.advice)
}

/// Where nothing captures what is known.
const OWN: &str = "no setting: write it in a server interceptor, from what the framework knows";

const fn rule(
    missing: Missing,
    way: Option<Way>,
    stack: Option<&'static str>,
    attribute: &'static str,
    setting: &'static str,
) -> Rule {
    Rule { missing, way, stack, advice: Advice { attribute, setting } }
}

const fn grpc(stack: &'static str, attribute: &'static str, setting: &'static str) -> Rule {
    rule(Missing::Grant, Some(Way::Grpc), Some(stack), attribute, setting)
}

const fn http(stack: &'static str, attribute: &'static str, setting: &'static str) -> Rule {
    rule(Missing::Grant, Some(Way::Http), Some(stack), attribute, setting)
}

const fn queue(stack: &'static str, attribute: &'static str, setting: &'static str) -> Rule {
    rule(Missing::Queue, Some(Way::Http), Some(stack), attribute, setting)
}

const fn any(missing: Missing, attribute: &'static str, setting: &'static str) -> Rule {
    rule(missing, None, None, attribute, setting)
}

/// A grant of this project's own.
const REMAINING: &str = "deadline.remaining_ms";
/// A queue.
const QUEUE: &str = "deadline.queue_ms";
/// What Envoy tells a callee.
const EXPECTED: &str = "http.request.header.x-envoy-expected-rq-timeout-ms";
/// The same, by instrumentation that writes `_` for `-` unless it is told otherwise.
const EXPECTED_UNDERSCORED: &str = "http.request.header.x_envoy_expected_rq_timeout_ms";
/// When a load balancer took a request.
const REQUEST_START: &str = "http.request.header.x-request-start";
/// The same, by such instrumentation.
const REQUEST_START_UNDERSCORED: &str = "http.request.header.x_request_start";
/// How many tries of a remote procedure came before.
const PREVIOUS: &str = "previous-rpc-attempts";

const RULES: &[Rule] = &[
    grpc(
        "java",
        "rpc.grpc.request.metadata.grpc-timeout",
        "otel.instrumentation.grpc.capture-metadata.server.request=grpc-timeout (newest agents: \
         otel.instrumentation.grpc.server.request-metadata.included=grpc-timeout)",
    ),
    grpc(
        "dotnet",
        "http.request.header.grpc-timeout",
        "OTEL_DOTNET_AUTO_TRACES_ASPNETCORE_INSTRUMENTATION_CAPTURE_REQUEST_HEADERS=grpc-timeout",
    ),
    grpc(
        "envoy",
        "grpc.timeout",
        "nothing to set: Envoy writes it wherever a caller sends grpc-timeout, so callers have to set a \
         deadline",
    ),
    grpc(
        "go",
        REMAINING,
        "no setting (grpc-go hides the header): write it in a server interceptor, from ctx.Deadline()",
    ),
    grpc(
        "nodejs",
        REMAINING,
        "no setting (grpc-js hides the header): write it in the handler, from call.getDeadline()",
    ),
    grpc(
        "python",
        REMAINING,
        "no setting: write it in a server interceptor, from context.time_remaining()",
    ),
    grpc("cpp", REMAINING, "no setting: write it in the handler, from ServerContext::deadline()"),
    rule(Missing::Grant, Some(Way::Grpc), None, REMAINING, OWN),
    http(
        "java",
        EXPECTED,
        "otel.instrumentation.http.server.capture-request-headers=x-envoy-expected-rq-timeout-ms, where \
         a mesh sends it; else write deadline.remaining_ms in a filter",
    ),
    http(
        "python",
        EXPECTED_UNDERSCORED,
        "OTEL_INSTRUMENTATION_HTTP_CAPTURE_HEADERS_SERVER_REQUEST=x-envoy-expected-rq-timeout-ms, where a \
         mesh sends it; else write deadline.remaining_ms in a middleware",
    ),
    http(
        "nodejs",
        EXPECTED_UNDERSCORED,
        "new HttpInstrumentation({ headersToSpanAttributes: { server: { requestHeaders: \
         ['x-envoy-expected-rq-timeout-ms'] } } }), where a mesh sends it; else write \
         deadline.remaining_ms in a middleware",
    ),
    http(
        "dotnet",
        EXPECTED,
        "OTEL_DOTNET_AUTO_TRACES_ASPNETCORE_INSTRUMENTATION_CAPTURE_REQUEST_HEADERS=\
         x-envoy-expected-rq-timeout-ms, where a mesh sends it; else write deadline.remaining_ms in a \
         middleware",
    ),
    http(
        "ruby",
        EXPECTED_UNDERSCORED,
        "allowed_request_headers: ['x-envoy-expected-rq-timeout-ms'] of OpenTelemetry::Instrumentation::Rack, \
         where a mesh sends it; else write deadline.remaining_ms in a middleware",
    ),
    http(
        "envoy",
        EXPECTED,
        "in the proxy of the callee, custom_tags: request_header x-envoy-expected-rq-timeout-ms under \
         this tag (Istio: Telemetry, customTags), and respect_expected_rq_timeout: true of its router \
         filter, which else overwrites the header by the timeout of its own route",
    ),
    http(
        "go",
        REMAINING,
        "no setting (otelhttp captures no headers): write it in a middleware, from ctx.Deadline()",
    ),
    any(Missing::Grant, REMAINING, OWN),
    rule(
        Missing::Deadline,
        None,
        Some("envoy"),
        REMAINING,
        "Envoy writes none: tell the timeout of its route by --deadline or in a contract",
    ),
    any(
        Missing::Deadline,
        REMAINING,
        "write it on the span that takes requests in; or tell it by --deadline or in a contract",
    ),
    any(
        Missing::CalleeSpan,
        "server span",
        "trace it with an OpenTelemetry SDK or agent, unless it is a database, and pass traceparent on to \
         it (OTEL_PROPAGATORS=tracecontext,baggage at both ends)",
    ),
    rule(
        Missing::CalleeName,
        None,
        Some("java"),
        "peer.service",
        "otel.instrumentation.common.peer-service-mapping=HOST=SERVICE",
    ),
    any(
        Missing::CalleeName,
        "service.peer.name",
        "write it, or server.address, on the client span; then trace whom it names",
    ),
    queue(
        "java",
        REQUEST_START,
        "otel.instrumentation.http.server.capture-request-headers=x-request-start, where the load \
         balancer stamps it",
    ),
    queue(
        "python",
        REQUEST_START_UNDERSCORED,
        "OTEL_INSTRUMENTATION_HTTP_CAPTURE_HEADERS_SERVER_REQUEST=x-request-start, where the load \
         balancer stamps it",
    ),
    queue(
        "nodejs",
        REQUEST_START_UNDERSCORED,
        "new HttpInstrumentation({ headersToSpanAttributes: { server: { requestHeaders: \
         ['x-request-start'] } } }), where the load balancer stamps it",
    ),
    queue(
        "dotnet",
        REQUEST_START,
        "OTEL_DOTNET_AUTO_TRACES_ASPNETCORE_INSTRUMENTATION_CAPTURE_REQUEST_HEADERS=x-request-start, \
         where the load balancer stamps it",
    ),
    queue(
        "ruby",
        REQUEST_START_UNDERSCORED,
        "allowed_request_headers: ['x-request-start'] of OpenTelemetry::Instrumentation::Rack, where the \
         load balancer stamps it",
    ),
    queue(
        "envoy",
        REQUEST_START,
        "custom_tags: request_header x-request-start under this tag (Istio: Telemetry, customTags)",
    ),
    any(
        Missing::Queue,
        QUEUE,
        "write it where a request leaves the queue: how long it stood there",
    ),
    rule(
        Missing::Ordinal,
        Some(Way::Grpc),
        Some("java"),
        PREVIOUS,
        "gRPC's own spans: GrpcOpenTelemetry with GRPC_EXPERIMENTAL_ENABLE_OTEL_TRACING=true",
    ),
    rule(
        Missing::Ordinal,
        Some(Way::Grpc),
        Some("go"),
        PREVIOUS,
        "gRPC's own spans: opentelemetry.DialOption of google.golang.org/grpc/stats/opentelemetry with \
         TraceOptions, where gRPC's retry policy tries again; else write it on the client span of each \
         try, 0 for the first",
    ),
    rule(
        Missing::Ordinal,
        None,
        Some("envoy"),
        "retry.count",
        "spawn_upstream_span: true in the tracing of the connection manager",
    ),
    rule(
        Missing::Ordinal,
        Some(Way::Grpc),
        None,
        PREVIOUS,
        "write it on the client span of each try: 0 for the first, 1 for the one after it",
    ),
    any(
        Missing::Ordinal,
        "http.request.resend_count",
        "write it on the client span of each try but the first: 1 for the one after it",
    ),
    any(
        Missing::Clock,
        "host.id",
        "OTEL_RESOURCE_ATTRIBUTES=host.id=... or a resource detector for hosts, where resources have \
         none: clocks of one host are then bounded by all its calls",
    ),
];
