//! The single facts that a span's attributes may tell, each under several keys.

use serde::Deserialize;

/// A fact; what it is good for is told where it is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Fact {
    GrpcStatus,
    HttpStatus,
    ErrorType,
    Wait,
    IdempotencyKey,
    HttpMethod,
    HttpRoute,
    Url,
    UrlPath,
    UrlQuery,
    ServerAddress,
    ServerPort,
    PeerAddress,
    PeerService,
    UpstreamCluster,
    RpcService,
    RpcMethod,
    DatabaseSystem,
    DatabaseOperation,
    QueryText,
    MessagingSystem,
    Destination,
    Component,
    Proxy,
}

impl Fact {
    /// How many there are.
    pub(super) const COUNT: usize = Self::Proxy as usize + 1;
}
