//! The fleet: services, their hosts with clocks that are right or wrong, and what they call.

use super::MILLI;

/// A machine.
pub(crate) struct Host {
    /// Its name.
    pub(crate) name: &'static str,
    /// By how much its clock is ahead, in nanoseconds.
    pub(crate) ahead: i64,
}

/// How a service's telemetry names the time that a call was given.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dialect {
    /// The OpenTelemetry Java agent with metadata capture.
    Java,
    /// otelconnect-go: underscores.
    Go,
    /// An Envoy sidecar writes the spans.
    Envoy,
    /// Nothing is captured.
    Silent,
}

/// A service.
pub(crate) struct Service {
    /// `service.name`.
    pub(crate) name: &'static str,
    /// Which file its collector writes.
    pub(crate) file: usize,
    /// The resource attribute that names its hosts.
    pub(crate) host_key: &'static str,
    /// The instrumentation scope of its spans.
    pub(crate) scope: &'static str,
    /// How it captures timeouts.
    pub(crate) dialect: Dialect,
    /// Where it runs: a clock that is right, one that is behind (a storefront's: the others are
    /// then behind it), one that is ahead.
    pub(crate) hosts: [Host; 3],
}

/// Which hosts the requests of a scenario may meet, so that what SEMANTICS §4 can know of the
/// offsets is enough for the verdicts that are planted.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Clocks {
    /// Only right clocks: long ways in, or long queues, leave the offset open.
    Right,
    /// Also clocks that are behind: a caller that left leaves the offset bounded on one side.
    Behind,
    /// All: every call of the request is answered, and quickly carried.
    Any,
}

impl Clocks {
    /// How many of a service's hosts may be met.
    pub(crate) fn hosts(self) -> usize {
        match self {
            Self::Right => 1,
            Self::Behind => 2,
            Self::Any => 3,
        }
    }
}

/// The files, by what their collector is next to.
pub(crate) const FILES: [&str; 3] = ["edge.jsonl.zst", "core.jsonl.zst", "money.jsonl.zst"];

const fn host(name: &'static str, ahead_ms: i64) -> Host {
    Host { name, ahead: ahead_ms * MILLI }
}

macro_rules! services {
    ($($name:ident = $text:literal, $file:literal, $key:literal, $scope:literal, $dialect:ident, [$($host:literal: $ahead:literal),+];)+) => { $(
        pub(crate) static $name: Service = Service {
            name: $text,
            file: $file,
            host_key: $key,
            scope: $scope,
            dialect: Dialect::$dialect,
            hosts: [$(host($host, $ahead)),+],
        };
    )+ };
}

services! {
    STOREFRONT = "storefront", 0, "host.name", "io.opentelemetry.netty-4.1", Java,
        ["web-01": 0, "web-02": 9, "web-03": 0];
    CART = "cart", 0, "k8s.node.name", "connectrpc.com/otelconnect", Go,
        ["node-a4": 0, "node-b1": -7, "node-b9": 21];
    CATALOG = "catalog", 1, "k8s.node.name", "io.opentelemetry.grpc-1.6", Java,
        ["node-a1": 0, "node-a2": -12, "node-c5": 37];
    PRICING = "pricing", 1, "k8s.node.name", "io.opentelemetry.grpc-1.6", Java,
        ["node-a3": 0, "node-c1": -23, "node-c2": 14];
    INVENTORY = "inventory", 1, "host.name", "envoy", Envoy,
        ["stock-1": 0, "stock-2": -40, "stock-3": 26];
    PAYMENTS = "payments", 2, "host.name", "io.opentelemetry.grpc-1.6", Java,
        ["pay-1": 0, "pay-2": -18, "pay-3": 33];
    FRAUD = "fraud", 2, "host.name", "opentelemetry.instrumentation.fastapi", Silent,
        ["risk-1": 0, "risk-2": -5, "risk-3": 18];
    FULFILMENT = "fulfilment", 2, "host.name", "io.opentelemetry.kafka-clients-2.6", Java,
        ["ship-1": 0, "ship-2": -31, "ship-3": 11];
}

/// A gRPC method.
pub(crate) struct Rpc {
    /// Who serves it.
    pub(crate) callee: &'static Service,
    /// `SERVICE/METHOD`, the name of both spans.
    pub(crate) name: &'static str,
}

/// A statement sent to a data store that is not traced.
pub(crate) struct Statement {
    /// `peer.service`.
    pub(crate) store: &'static str,
    /// `db.system.name`.
    pub(crate) system: &'static str,
    /// `db.operation.name`.
    pub(crate) operation: &'static str,
    /// The span's name.
    pub(crate) name: &'static str,
}

pub(crate) static GET_ITEM: Rpc = Rpc { callee: &CATALOG, name: "shop.Catalog/GetItem" };
pub(crate) static SEARCH: Rpc = Rpc { callee: &CATALOG, name: "shop.Catalog/Search" };
pub(crate) static QUOTE: Rpc = Rpc { callee: &PRICING, name: "shop.Pricing/Quote" };
pub(crate) static QUOTE_MANY: Rpc = Rpc { callee: &PRICING, name: "shop.Pricing/QuoteMany" };
pub(crate) static LEVEL: Rpc = Rpc { callee: &INVENTORY, name: "shop.Inventory/Level" };
pub(crate) static RESERVE: Rpc = Rpc { callee: &INVENTORY, name: "shop.Inventory/Reserve" };
pub(crate) static ADD_LINE: Rpc = Rpc { callee: &CART, name: "shop.Cart/AddLine" };
pub(crate) static GET_CART: Rpc = Rpc { callee: &CART, name: "shop.Cart/GetCart" };
pub(crate) static AUTHORIZE: Rpc = Rpc { callee: &PAYMENTS, name: "shop.Payments/Authorize" };

const fn postgres(store: &'static str, operation: &'static str, name: &'static str) -> Statement {
    Statement { store, system: "postgresql", operation, name }
}

pub(crate) static SELECT_ITEM: Statement = postgres("catalog-db", "SELECT", "SELECT items");
pub(crate) static SEARCH_INDEX: Statement = Statement {
    store: "search-index",
    system: "elasticsearch",
    operation: "search",
    name: "search items",
};
pub(crate) static SELECT_CART: Statement = postgres("cart-db", "SELECT", "SELECT lines");
pub(crate) static INSERT_LINE: Statement = postgres("cart-db", "INSERT", "INSERT lines");
pub(crate) static INSERT_POSTING: Statement = postgres("ledger-db", "INSERT", "INSERT postings");
pub(crate) static INSERT_SHIPMENT: Statement = postgres("orders-db", "INSERT", "INSERT shipments");
