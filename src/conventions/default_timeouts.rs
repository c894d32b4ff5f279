//! Timeouts that libraries and proxies set where nobody chose one.

use crate::units::Nanos;

/// A timeout that is nobody's choice.
#[derive(Debug)]
pub struct DefaultTimeout {
    /// How long.
    pub timeout: Nanos,
    /// Whose default it is.
    pub whose: &'static str,
    /// Whether a proxy sets it; others say nothing in the headers of proxies.
    is_of_proxy: bool,
}

/// Those that are known well.
const DEFAULT_TIMEOUTS: &[DefaultTimeout] = &[
    DefaultTimeout { timeout: Nanos::from_seconds(2), whose: "kratos clients", is_of_proxy: false },
    DefaultTimeout { timeout: Nanos::from_seconds(10), whose: "OkHttp", is_of_proxy: false },
    DefaultTimeout { timeout: Nanos::from_seconds(15), whose: "Envoy routes", is_of_proxy: true },
    DefaultTimeout {
        timeout: Nanos::from_seconds(100),
        whose: ".NET HttpClient",
        is_of_proxy: false,
    },
];

/// What the keys of proxies have in common.
const PROXY_KEY: &str = "envoy";

/// A moment passes before what is left is written down.
const MOMENT: Nanos = Nanos::from_millis(1);

/// The default that a granted time is, if it is one; `key` is the attribute that told it.
pub fn default_timeout(granted: Nanos, key: &str) -> Option<&'static DefaultTimeout> {
    DEFAULT_TIMEOUTS.iter().find(|default| {
        let is_it = default.timeout - MOMENT < granted && granted <= default.timeout;
        is_it && (default.is_of_proxy || !key.contains(PROXY_KEY))
    })
}
