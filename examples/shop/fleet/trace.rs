//! One trace while it is told: spans in true time, from which the hosts' clocks are then wrong.

use serde_json::{Value, json};

use super::planted::{Hop, Planted};
use super::random::Random;
use super::world::{Clocks, Dialect, Host, Rpc, Service, Statement};
use super::{MICRO, MILLI};

/// INTERNAL, as OTLP numbers kinds.
pub(crate) const INTERNAL: u8 = 1;
/// SERVER.
pub(crate) const SERVER: u8 = 2;
/// CLIENT.
pub(crate) const CLIENT: u8 = 3;
/// PRODUCER.
pub(crate) const PRODUCER: u8 = 4;
/// CONSUMER.
pub(crate) const CONSUMER: u8 = 5;

/// gRPC status codes.
pub(crate) const OK: i64 = 0;
pub(crate) const CANCELLED: i64 = 1;
pub(crate) const DEADLINE_EXCEEDED: i64 = 4;
pub(crate) const UNAVAILABLE: i64 = 14;

/// A span of the trace being told.
#[derive(Clone, Copy)]
pub(crate) struct At(usize);

/// Both halves of a call.
#[derive(Clone, Copy)]
pub(crate) struct Call {
    /// The caller's span.
    pub(crate) client: At,
    /// The callee's span.
    pub(crate) server: At,
}

/// What a caller tells its callee about time.
#[derive(Clone, Copy)]
pub(crate) enum Timeout {
    /// Nothing.
    Nothing,
    /// What is left by the caller's own knowledge: honest.
    PassOn,
    /// A configured number of milliseconds, whatever is left.
    Fixed(i64),
}

/// A span; instants are nanoseconds since the trace's beginning.
pub(crate) struct Span {
    pub(crate) id: u64,
    pub(crate) parent: Option<u64>,
    pub(crate) service: &'static Service,
    pub(crate) host: &'static Host,
    pub(crate) kind: u8,
    pub(crate) name: &'static str,
    pub(crate) start: i64,
    pub(crate) end: i64,
    pub(crate) attributes: Vec<Value>,
    pub(crate) events: Vec<(&'static str, i64)>,
    /// The message of an ERROR status; empty where it has none.
    pub(crate) error: Option<&'static str>,
    /// Until when its own process knows that the result is wanted.
    known_deadline: Option<i64>,
    /// The call that it is a half of.
    hop: Hop,
}

/// The trace of one storefront request, with the requests that it causes.
pub(crate) struct Trace<'a> {
    /// Its source of numbers.
    pub(crate) random: &'a mut Random,
    /// Where it writes down what it plants.
    planted: &'a mut Planted,
    /// Which hosts it may meet.
    clocks: Clocks,
    /// Its id.
    pub(crate) id: u128,
    /// True time of its beginning, nanoseconds since the epoch.
    pub(crate) began: i64,
    /// Its spans so far.
    pub(crate) spans: Vec<Span>,
}

impl<'a> Trace<'a> {
    /// A trace that begins at `began`, without spans.
    pub(crate) fn new(
        random: &'a mut Random,
        planted: &'a mut Planted,
        clocks: Clocks,
        began: i64,
    ) -> Self {
        let id = u128::from(random.next()) << 64 | u128::from(random.next());
        Self { random, planted, clocks, id, began, spans: Vec::new() }
    }

    /// A new span that ends as it starts until [`Self::end`] says otherwise.
    fn span(
        &mut self,
        (service, host): (&'static Service, &'static Host),
        parent: Option<At>,
        (kind, name, start): (u8, &'static str, i64),
        hop: Hop,
    ) -> At {
        let id = self.random.next();
        let parent = parent.map(|parent| &self.spans[parent.0]);
        self.spans.push(Span {
            id,
            parent: parent.map(|parent| parent.id),
            known_deadline: parent.and_then(|parent| parent.known_deadline),
            attributes: Vec::new(),
            events: Vec::new(),
            error: None,
            end: start,
            service,
            host,
            kind,
            name,
            start,
            hop,
        });
        At(self.spans.len() - 1)
    }

    /// A span of the same process as `parent`, half of `hop` or of the parent's.
    fn beside(&mut self, parent: At, kind: u8, name: &'static str, start: i64, hop: Hop) -> At {
        let Span { service, host, .. } = self.spans[parent.0];
        self.span((service, host), Some(parent), (kind, name, start), hop)
    }

    /// One of the hosts of `service` that this trace may meet, mostly the one whose clock is right.
    fn any_host(&mut self, service: &'static Service) -> &'static Host {
        let choice = if self.random.chance(25) { self.clocks.hosts() } else { 1 };
        &service.hosts[self.random.below(choice)]
    }

    /// A span by which `service` receives something that nobody in its request called: its root.
    pub(crate) fn root(
        &mut self,
        service: &'static Service,
        parent: Option<At>,
        (kind, name, start): (u8, &'static str, i64),
    ) -> At {
        let hop = Hop { caller: None, callee: service.name, operation: name };
        self.planted.request(hop);
        let host = self.any_host(service);
        let root = self.span((service, host), parent, (kind, name, start), hop);
        self.spans[root.0].known_deadline = None;
        root
    }

    /// The root of a request for `method route`.
    pub(crate) fn request(&mut self, name: &'static str) -> At {
        let root = self.root(&super::world::STOREFRONT, None, (SERVER, name, 0));
        let (method, route) = name.split_once(' ').unwrap_or((name, "/"));
        self.text(root, "http.request.method", method);
        self.text(root, "http.route", route);
        root
    }

    /// The load balancer stamped the request `queued` ago, to the millisecond, and gave it
    /// `budget` milliseconds in the header that `key` captures. Returns the deadline.
    pub(crate) fn header_budget(
        &mut self,
        root: At,
        key: &'static str,
        budget: i64,
        queued: Option<i64>,
    ) -> i64 {
        let mut arrived = self.spans[root.0].start;
        if let Some(queued) = queued {
            let clock = self.began + self.spans[root.0].host.ahead;
            let stamp = (clock + arrived - queued) / MILLI;
            self.texts(root, "http.request.header.x-request-start", &stamp.to_string());
            arrived = stamp * MILLI - clock;
        }
        self.texts(root, key, &budget.to_string());
        self.knows(root, arrived + budget * MILLI)
    }

    /// The service itself wrote down what was left at its start. Returns the deadline.
    pub(crate) fn own_budget(&mut self, span: At, budget: i64) -> i64 {
        self.int(span, "deadline.remaining_ms", budget);
        self.knows(span, self.spans[span.0].start + budget * MILLI)
    }

    /// The process of `span` knows of `deadline`.
    fn knows(&mut self, span: At, deadline: i64) -> i64 {
        self.spans[span.0].known_deadline = Some(deadline);
        deadline
    }

    /// A gRPC call on an idle network.
    pub(crate) fn call(&mut self, caller: At, rpc: &Rpc, start: i64, timeout: Timeout) -> Call {
        let way_in = self.way();
        self.call_slowly(caller, rpc, start, way_in, timeout)
    }

    /// A gRPC call whose request is received `way_in` after it was sent.
    pub(crate) fn call_slowly(
        &mut self,
        caller: At,
        rpc: &Rpc,
        start: i64,
        way_in: i64,
        timeout: Timeout,
    ) -> Call {
        let host = self.any_host(rpc.callee);
        let hop = self.hop_to(caller, rpc.callee.name, rpc.name);
        let client = self.beside(caller, CLIENT, rpc.name, start, hop);
        let place = (rpc.callee, host);
        let server = self.span(place, Some(client), (SERVER, rpc.name, start + way_in), hop);
        let (service, method) = rpc.name.split_once('/').unwrap_or((rpc.name, ""));
        for half in [client, server] {
            self.text(half, "rpc.system", "grpc");
            self.text(half, "rpc.service", service);
            self.text(half, "rpc.method", method);
        }
        self.text(client, "server.address", rpc.callee.name);
        self.int(client, "server.port", 8080);
        let granted = match timeout {
            Timeout::Nothing => None,
            Timeout::PassOn => self.spans[caller.0].known_deadline.map(|known| known - start),
            Timeout::Fixed(millis) => Some(millis * MILLI),
        };
        if let Some(granted) = granted {
            self.capture_timeout(server, rpc.callee.dialect, granted);
        }
        Call { client, server }
    }

    /// `server` received `granted`, and its telemetry says so in its dialect.
    fn capture_timeout(&mut self, server: At, dialect: Dialect, granted: i64) {
        self.knows(server, self.spans[server.0].start + granted);
        let header = if granted % MILLI == 0 {
            format!("{}m", granted / MILLI)
        } else {
            format!("{}u", granted / MICRO)
        };
        match dialect {
            Dialect::Java => self.texts(server, "rpc.grpc.request.metadata.grpc-timeout", &header),
            Dialect::Go => self.texts(server, "rpc.grpc.request.metadata.grpc_timeout", &header),
            Dialect::Envoy => self.text(server, "grpc.timeout", &header),
            Dialect::Silent => {}
        }
    }

    /// The callee answers at `end`, and the caller hears of it. Returns when.
    pub(crate) fn answer(&mut self, call: Call, end: i64, code: i64) -> i64 {
        let back = end + self.way();
        self.ended(call, (back, code), (end, code));
        back
    }

    /// Both halves end, each at its own time and with its own status.
    pub(crate) fn ended(&mut self, call: Call, client: (i64, i64), server: (i64, i64)) {
        let dialect = self.spans[call.server.0].service.dialect;
        for (half, (end, code), dialect) in
            [(call.client, client, Dialect::Java), (call.server, server, dialect)]
        {
            if dialect == Dialect::Envoy {
                self.text(half, "component", "proxy");
                self.text(half, "grpc.status_code", &code.to_string());
                self.text(half, "response_flags", if code == CANCELLED { "DC" } else { "-" });
            } else {
                self.int(half, "rpc.grpc.status_code", code);
            }
            if code != OK {
                self.spans[half.0].error = Some("");
            }
            self.end(half, end);
        }
    }

    /// An HTTP call of a service that is traced: a CLIENT named by its method and a SERVER.
    pub(crate) fn post(
        &mut self,
        caller: At,
        callee: &'static Service,
        name: &'static str,
        start: i64,
    ) -> Call {
        let hop = self.hop_to(caller, callee.name, name);
        let client = self.beside(caller, CLIENT, "POST", start, hop);
        let host = self.any_host(callee);
        let received = start + self.way();
        let server = self.span((callee, host), Some(client), (SERVER, name, received), hop);
        for half in [client, server] {
            self.text(half, "http.request.method", "POST");
        }
        self.text(client, "server.address", callee.name);
        self.text(client, "url.full", &format!("http://{}{}", callee.name, path(name)));
        self.text(server, "http.route", path(name));
        Call { client, server }
    }

    /// An HTTP call of something that is not traced.
    pub(crate) fn post_outside(
        &mut self,
        caller: At,
        peer: &'static str,
        name: &'static str,
        start: i64,
    ) -> At {
        let hop = self.hop_to(caller, peer, name);
        let client = self.beside(caller, CLIENT, name, start, hop);
        self.text(client, "http.request.method", "POST");
        self.text(client, "peer.service", peer);
        self.text(client, "server.address", &format!("api.{peer}.example"));
        self.text(client, "url.full", &format!("https://api.{peer}.example{}", path(name)));
        client
    }

    /// `span` ends with an HTTP status.
    pub(crate) fn respond(&mut self, span: At, end: i64, status: i64) {
        self.int(span, "http.response.status_code", status);
        if status >= 500 {
            self.spans[span.0].error = Some("");
        }
        self.end(span, end);
    }

    /// An HTTP client stops waiting for its answer.
    pub(crate) fn gives_up(&mut self, client: At, end: i64) {
        self.text(client, "error.type", "java.net.SocketTimeoutException");
        self.spans[client.0].error = Some("Read timed out");
        self.end(client, end);
    }

    /// A statement that takes `length`. Returns its span and its end.
    pub(crate) fn query(
        &mut self,
        caller: At,
        statement: &Statement,
        start: i64,
        length: i64,
    ) -> (At, i64) {
        let hop = self.hop_to(caller, statement.store, statement.name);
        let client = self.beside(caller, CLIENT, statement.name, start, hop);
        self.text(client, "db.system.name", statement.system);
        self.text(client, "db.operation.name", statement.operation);
        self.text(client, "peer.service", statement.store);
        self.end(client, start + length);
        (client, start + length)
    }

    /// A message is handed to the broker.
    pub(crate) fn publish(&mut self, caller: At, name: &'static str, start: i64, end: i64) -> At {
        let hop = self.hop_to(caller, "kafka", name);
        let producer = self.beside(caller, PRODUCER, name, start, hop);
        self.messaging(producer, "send");
        self.end(producer, end);
        producer
    }

    /// What both ends say about a message.
    pub(crate) fn messaging(&mut self, span: At, operation: &str) {
        self.text(span, "messaging.system", "kafka");
        self.text(span, "messaging.destination.name", "orders");
        self.text(span, "messaging.operation.type", operation);
    }

    /// A span inside the process of `parent`, which is no call: work, or a wait for a connection.
    pub(crate) fn inside(&mut self, parent: At, name: &'static str, start: i64, end: i64) {
        let hop = self.spans[parent.0].hop;
        let span = self.beside(parent, INTERNAL, name, start, hop);
        self.end(span, end);
    }

    /// The call that leads from the process of `caller` to `callee`.
    fn hop_to(&self, caller: At, callee: &'static str, operation: &'static str) -> Hop {
        Hop { caller: Some(self.spans[caller.0].service.name), callee, operation }
    }

    /// The time that a message needs from host to host.
    pub(crate) fn way(&mut self) -> i64 {
        self.random.micros(200, 600)
    }

    /// When `span` starts.
    pub(crate) fn start(&self, span: At) -> i64 {
        self.spans[span.0].start
    }

    /// Sets the end of `span`.
    pub(crate) fn end(&mut self, span: At, end: i64) {
        self.spans[span.0].end = end;
    }

    /// Adds an event.
    pub(crate) fn event(&mut self, span: At, name: &'static str, at: i64) {
        self.spans[span.0].events.push((name, at));
    }

    /// Marks `span` as failed, in words.
    pub(crate) fn fails(&mut self, span: At, message: &'static str) {
        self.spans[span.0].error = Some(message);
    }

    /// Adds a text attribute.
    pub(crate) fn text(&mut self, span: At, key: &str, value: &str) {
        self.attribute(span, key, &json!({ "stringValue": value }));
    }

    /// Adds a captured header: a list of one text.
    pub(crate) fn texts(&mut self, span: At, key: &str, value: &str) {
        let values = json!({ "values": [{ "stringValue": value }] });
        self.attribute(span, key, &json!({ "arrayValue": values }));
    }

    /// Adds a whole number, which OTLP JSON writes as text.
    pub(crate) fn int(&mut self, span: At, key: &str, value: i64) {
        self.attribute(span, key, &json!({ "intValue": value.to_string() }));
    }

    /// Adds an attribute.
    fn attribute(&mut self, span: At, key: &str, value: &Value) {
        self.spans[span.0].attributes.push(json!({ "key": key, "value": value }));
    }

    /// Writes down that a finding stands on the call that `span` is a half of.
    pub(crate) fn plant(&mut self, code: &'static str, span: At) {
        self.planted.finding(code, self.spans[span.0].hop);
    }

    /// The same, for what only the contract's deadline makes a finding.
    pub(crate) fn plant_by_contract(&mut self, code: &'static str, span: At) {
        self.planted.finding_by_contract(code, self.spans[span.0].hop);
    }
}

/// The path in `METHOD PATH`.
fn path(name: &str) -> &str {
    name.split_once(' ').map_or(name, |(_, path)| path)
}
