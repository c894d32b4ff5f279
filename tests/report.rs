//! Reports.

use dwindle::distributions::Summary;
use dwindle::report::{self, Format, Options, Problem, RunFacts};
use dwindle::tables::Severity;
use dwindle::units::UnixNanos;

use crate::support::case_tables;
use crate::support::made_tables::{Shape, partition};

fn facts() -> RunFacts {
    RunFacts {
        version: "0.0.0 (test)".to_owned(),
        inputs: vec!["traces.json".to_owned()],
        files: 1,
        spans_read: 12_034,
        spans_admitted: 12_030,
        spans_rejected: 4,
        traces: 3_000,
        window: Some((
            UnixNanos::from_nanos(1_700_000_000_000_000_000),
            UnixNanos::from_nanos(1_700_000_060_500_000_000),
        )),
        wordless_clients: 12,
        clients: 3_750,
        span_links: 7,
        problems: vec![Problem {
            severity: Severity::Loss,
            code: "bad-span-id".to_owned(),
            count: 4,
            file: "traces.json".to_owned(),
            message: "span id is not 16 hexadecimal digits".to_owned(),
            help: "fix the exporter: ids are 8 bytes, as hexadecimal or base64".to_owned(),
        }],
    }
}

fn shop() -> Summary {
    let mut summary = Summary::default();
    summary.add(&partition(&Shape::checkout(), 2_400, 1));
    summary.add(&partition(&Shape::checkout().named("gateway GET /items/{id}"), 500, 2));
    summary.add(&partition(&Shape::checkout().without_deadline().named("nightly report"), 100, 3));
    summary
}

#[test]
fn look() {
    let mut cases = Summary::default();
    for name in case_tables::names() {
        cases.add(&case_tables::load(&name));
    }
    for (name, summary) in [("shop", shop()), ("cases", cases)] {
        let report = report::build(&summary, &facts(), &Options::for_format(Format::Terminal));
        for width in [80, 100, 120] {
            std::fs::write(
                format!("/tmp/look-{name}-{width}.txt"),
                report.render(Format::Terminal, width, false),
            )
            .unwrap();
        }
        std::fs::write(format!("/tmp/look-{name}.md"), report.render(Format::Markdown, 0, false))
            .unwrap();
        std::fs::write(format!("/tmp/look-{name}.csv"), report.render(Format::Csv, 0, false))
            .unwrap();
        std::fs::write(format!("/tmp/look-{name}.json"), report.render(Format::Json, 0, false))
            .unwrap();
    }
}
