//! Timeouts that libraries and proxies set where nobody chose one.

use crate::units::Nanos;

/// How long, and whose default it is.
pub const DEFAULT_TIMEOUTS: &[(Nanos, &str)] = &[
    (Nanos::from_seconds(2), "kratos clients"),
    (Nanos::from_seconds(10), "OkHttp"),
    (Nanos::from_seconds(15), "Envoy routes"),
    (Nanos::from_seconds(100), ".NET HttpClient"),
];

/// Whose default a timeout is, if it is a well-known one.
pub fn whose_default(timeout: Nanos) -> Option<&'static str> {
    DEFAULT_TIMEOUTS.iter().find(|(default, _)| *default == timeout).map(|(_, whose)| *whose)
}
