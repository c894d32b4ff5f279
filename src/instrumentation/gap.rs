//! Something that spans could tell and do not.

use std::collections::BTreeMap;

use crate::distributions::{Name, merged};
use crate::names::names;

names! {
    /// What is missing.
    pub enum Missing {
        /// The deadline of requests, where they come in.
        Deadline = "deadline",
        /// The spans of a service for what it is asked.
        CalleeSpan = "callee_span",
        /// Whom a service calls.
        CalleeName = "callee_name",
        /// How much time a service was given.
        Grant = "grant",
        /// How long requests stood in a queue before a service.
        Queue = "queue",
        /// Which try of a call an attempt is.
        Ordinal = "ordinal",
        /// Whose clock timed the spans of a service.
        Clock = "clock",
    }
}

names! {
    /// How a service is asked.
    pub enum Way {
        /// By a remote procedure of gRPC or Connect.
        Grpc = "grpc",
        /// By HTTP.
        Http = "http",
        /// By a message.
        Messaging = "messaging",
        /// Nothing tells.
        Unknown = "unknown",
    }
}

/// What is missing at which service.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Gap {
    /// What.
    pub missing: Missing,
    /// Where: the service that would have to tell it; `None` where it has no name.
    pub service: Option<Name>,
}

merged! {
    /// How much something that is missing would decide.
    pub struct GapSeen {
        /// In how many requests it is missing.
        pub requests: u64,
        /// How much time of these is undecided without it.
        pub undecided_ns: i128,
        /// What makes the spans of the service, and of how many hops; `None` where nothing tells.
        pub stacks: BTreeMap<Option<Name>, u64>,
        /// How it is asked, and of how many hops.
        pub ways: BTreeMap<Way, u64>,
    }
}

impl GapSeen {
    /// What makes most of the spans, as far as anything tells.
    pub fn stack(&self) -> Option<&Name> {
        let known = self.stacks.iter().filter_map(|(stack, hops)| Some((stack.as_ref()?, *hops)));
        most(known)
    }

    /// How it is mostly asked.
    pub fn way(&self) -> Way {
        let known = self.ways.iter().filter(|(way, _)| **way != Way::Unknown);
        most(known.map(|(way, hops)| (*way, *hops))).unwrap_or(Way::Unknown)
    }
}

/// The first of those that are most frequent.
fn most<T>(all: impl Iterator<Item = (T, u64)>) -> Option<T> {
    let mut most: Option<(T, u64)> = None;
    for (one, count) in all {
        if most.as_ref().is_none_or(|(_, known)| count > *known) {
            most = Some((one, count));
        }
    }
    most.map(|(one, _)| one)
}

/// How HTTP servers and clients call their spans.
const METHODS: [&str; 10] =
    ["CONNECT", "DELETE", "GET", "HEAD", "HTTP", "OPTIONS", "PATCH", "POST", "PUT", "TRACE"];

/// How messages are told.
const MESSAGE_WORDS: [&str; 7] =
    ["publish", "send", "create", "receive", "process", "settle", "deliver"];

impl Way {
    /// How a span of this name was asked, by how instrumentation calls them: `POST /orders`,
    /// `shop.Cart/Get`, `orders process`.
    pub(super) fn of(name: &str) -> Self {
        let mut words = name.split_whitespace();
        let (first, last) = (words.next().unwrap_or_default(), words.next_back());
        if METHODS.iter().any(|method| first.eq_ignore_ascii_case(method)) {
            return Self::Http;
        }
        if let Some(last) = last {
            let is_message = MESSAGE_WORDS.contains(&last) || MESSAGE_WORDS.contains(&first);
            return if is_message { Self::Messaging } else { Self::Unknown };
        }
        let path = first.strip_prefix('/');
        let procedure = path.unwrap_or(first).split_once('/').filter(|(service, method)| {
            let has_package = service.contains('.') || path.is_none();
            has_package && !service.is_empty() && !method.is_empty() && !method.contains('/')
        });
        // Envoy tells host, port and path.
        let has_port = first.split('/').next().is_some_and(|host| host.contains(':'));
        if has_port {
            Self::Http
        } else if procedure.is_some() || first.starts_with("Recv.") {
            Self::Grpc
        } else if path.is_some() {
            Self::Http
        } else {
            Self::Unknown
        }
    }
}
