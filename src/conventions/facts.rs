//! The single facts that a span's attributes may tell, each under several keys.

use serde::Deserialize;

/// A fact; what it is good for is told where it is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Fact {
    /// A gRPC status, code or name.
    GrpcStatus,
    /// An HTTP status code.
    HttpStatus,
    /// What kind of error it was.
    ErrorType,
    /// Whether the span only waits.
    Wait,
    /// A header that makes sending again safe.
    IdempotencyKey,
    /// An HTTP method.
    HttpMethod,
    /// The route of an HTTP server.
    HttpRoute,
    /// A whole URL.
    Url,
    /// A URL from its path on, perhaps with its query.
    UrlPath,
    /// The query of a URL.
    UrlQuery,
    /// The address of the other end, by name if it has one.
    ServerAddress,
    /// Its port.
    ServerPort,
    /// The address of the other end on the network.
    PeerAddress,
    /// The name of the service called.
    PeerService,
    /// The same, as Envoy says it.
    UpstreamCluster,
    /// The service of a remote procedure.
    RpcService,
    /// Its method, with or without the service.
    RpcMethod,
    /// Which database it is.
    DatabaseSystem,
    /// What is done there.
    DatabaseOperation,
    /// The statement.
    QueryText,
    /// Which message broker it is.
    MessagingSystem,
    /// The queue or topic.
    Destination,
    /// What wrote the span.
    Component,
    /// Anything that only proxies write.
    Proxy,
    /// What Jaeger remarks on the span.
    Warnings,
}

impl Fact {
    /// How many there are.
    pub(super) const COUNT: usize = Self::Warnings as usize + 1;
}
