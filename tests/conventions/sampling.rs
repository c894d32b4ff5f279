//! How many requests a span stands for (conventions §5, S rows).

use dwindle::span::Kind::Server;

use crate::support::raw_span::{Build, V, resolve, span};

fn of_trace_state(member: &'static str) -> Option<f64> {
    let mut raw = span(Server);
    raw.trace_state = member.into();
    resolve(&raw).span.weight.map(dwindle::stats::Weight::requests)
}

fn of(attributes: &[(&'static str, V)]) -> Option<f64> {
    let with = |raw, (key, value): &(&'static str, V)| Build::with(raw, key, value.clone());
    let raw = attributes.iter().fold(span(Server), with);
    resolve(&raw).span.weight.map(dwindle::stats::Weight::requests)
}

#[test]
fn a_threshold_is_padded_and_tells_what_was_rejected() {
    for (member, weight) in [
        ("th:0", 1.0),
        ("th:8", 2.0),
        ("th:c", 4.0),
        ("rv:ffffffffffffff;th:e6666666666668", 10.0),
        ("th:fff", 4_096.0),
    ] {
        assert_eq!(of_trace_state(member), Some(weight), "{member}");
    }
    // Unknown is not 1.
    for member in
        ["", "rv:ffffffffffffff", "th:", "th:x", "th:000000000000000", "th:ffffffffffffff"]
    {
        assert_eq!(of_trace_state(member), None, "{member}");
    }
}

#[test]
fn the_older_exponent_tells_a_power_of_two_and_63_stands_for_none() {
    for (member, weight) in [("p:0", 1.0), ("p:3;r:9", 8.0), ("r:9;p:63", 0.0)] {
        assert_eq!(of_trace_state(member), Some(weight), "{member}");
    }
    assert_eq!(of_trace_state("p:64"), None);
}

#[test]
fn samplers_say_it_in_attributes() {
    type Attributes<'a> = &'a [(&'static str, V)];
    let cases: [(Attributes<'_>, Option<f64>); 14] = [
        (&[("w3c.tracestate", "vendor=x,ot=th:8".into())], Some(2.0)),
        (&[("w3c.tracestate", "vendor=ot".into())], None),
        (&[("sampler.type", "probabilistic".into()), ("sampler.param", 0.1.into())], Some(10.0)),
        (&[("sampler.type", "const".into()), ("sampler.param", true.into())], Some(1.0)),
        (&[("sampler.type", "ratelimiting".into()), ("sampler.param", 2.0.into())], None),
        (&[("SampleRate", 20.into())], Some(20.0)),
        (&[("sampleRate", "4".into())], Some(4.0)),
        (&[("SampleRate", 0.into())], Some(1.0)),
        (&[("_dd.rule_psr", 0.5.into()), ("_dd.limit_psr", 0.5.into())], Some(4.0)),
        (&[("_dd.agent_psr", 0.25.into())], Some(4.0)),
        (&[("_dd.p.ksr", "0.2".into())], Some(5.0)),
        (
            &[("sentry.client_sample_rate", 0.5.into()), ("sentry.server_sample_rate", 0.2.into())],
            Some(10.0),
        ),
        (&[("sentry.server_sample_rate", 0.2.into())], Some(5.0)),
        (&[("http.route", "/".into())], None),
    ];
    for (attributes, weight) in cases {
        assert_eq!(of(attributes), weight, "{attributes:?}");
    }
}

#[test]
fn a_rate_that_is_none_is_counted_and_gives_no_weight() {
    for (key, value) in [("_dd.agent_psr", V::from(0.0)), ("_dd.agent_psr", V::from(1.5))] {
        let resolved = resolve(&span(Server).with(key, value));
        assert_eq!(resolved.span.weight, None);
        assert_eq!(resolved.unparsed(key), 1);
    }
}

#[test]
fn the_trace_state_is_asked_first() {
    let mut raw = span(Server).with("SampleRate", 20);
    raw.trace_state = "th:8".into();
    assert_eq!(resolve(&raw).span.weight.map(dwindle::stats::Weight::requests), Some(2.0));
}
