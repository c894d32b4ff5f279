//! What counts as cut off and as paid, and that counts are of all where percentiles are of a sample.

use dwindle::calibrate::{Calibration, Chosen, Observed, contract_text, document};
use dwindle::distributions::Summary;
use dwindle::exemplars::Exemplars;
use dwindle::report::{self, Format, Options, RunFacts};
use dwindle::span::Outcome;
use dwindle::stats::Proportion;
use dwindle::tables::{DeadlineSource, RequestRow, Tables, TerminalOutcome};
use dwindle::units::Nanos;
use serde_json::json;

use super::told::{Told, count, of};
use crate::support::made_spans::line;
use crate::support::made_tables::{Shape, partition};

/// Of a second the first call has 900 ms left, the second 100, the third none: all end well, the first
/// in time.
#[test]
fn what_is_answered_after_the_deadline_does_not_pay() {
    let times = [[100, 300], [900, 1_100], [1_500, 1_600]];
    let spans = (1..).zip(times).map(|(trace, times)| {
        line((trace, 1, 0, "web", "GET /x", "server", [0, 2_000]), &json!({}))
            + &line((trace, 2, 1, "web", "ask", "client", times), &json!({}))
    });
    let spans: String = spans.collect();
    let told = Told::of("calibrate-paid", &spans, &["--deadline", "1s"]);
    let row = told.row("needs", &[("operation", "ask")]);
    assert_eq!(count(&row, "measured"), 3);
    assert_eq!(of(&row, "paid"), (1, 3));
    let by_left = told.rows("paid_by_left");
    let paid: Vec<(i64, i64)> = by_left.iter().map(|row| of(row, "paid")).collect();
    assert_eq!(paid, [(0, 1), (0, 1), (1, 1)]);
    // Of three nobody tells what most need, nor who began with less.
    for absent in ["with_less_than_p95", "with_less_than_p5", "paid_with_less_than_p5"] {
        assert!(row[absent]["value"].is_null(), "{absent}: {row:#}");
    }
}

/// A call that is hedged after 200 ms and given up after 500, or answered by then.
fn hedged(trace: u64, is_answered: bool) -> String {
    let attempt = |span, number, start, code| {
        let times = [start, 505];
        let told = json!({
            "rpc.system": "grpc", "rpc.grpc.status_code": code, "previous-rpc-attempts": number,
        });
        line((trace, span, 2, "web", "Attempt.shop.A/B", "client", times), &told)
    };
    let code = u8::from(!is_answered);
    let call = json!({"rpc.system": "grpc", "rpc.grpc.status_code": code});
    [
        line((trace, 1, 0, "web", "GET /x", "server", [0, 510]), &json!({})),
        line((trace, 2, 1, "web", "Sent.shop.A/B", "client", [5, 505]), &call),
        attempt(3, 0, 5, 1),
        attempt(4, 1, 205, code),
    ]
    .concat()
}

#[test]
fn hedged_attempts_are_cut_off_where_nobody_was_answered() {
    let told = |name: &str, answered: u64| {
        let spans: String = (1..=12).map(|trace| hedged(trace, trace <= answered)).collect();
        let told = Told::of(name, &spans, &[]);
        let row = told.rows("timeouts").remove(0);
        (count(&row, "attempts"), count(&row, "cut_off"))
    };
    assert_eq!(told("calibrate-hedges", 0), (24, 24));
    assert_eq!(told("calibrate-hedges-won", 10), (10 + 4, 4));
}

/// 20,000 requests: of as many attempts that ended well, and 5,000 that timed out.
fn many() -> Tables {
    let mut tables = partition(&Shape::checkout(), 20_000, 1);
    for (number, row) in (0..).zip(&mut tables.requests) {
        row.deadline_source = DeadlineSource::Declared;
        row.budget_at_origin_ns = Some(Nanos::from_nanos(1_000_000_000 + number));
    }
    tables
}

fn calibrated(tables: &Tables) -> Calibration {
    let mut observed = Observed::default();
    observed.add(tables);
    observed.calibrate(Chosen::default())
}

#[test]
fn counts_are_of_all_and_what_is_of_a_sample_says_so() {
    let tables = many();
    let calibration = calibrated(&tables);
    let (call, class) = (&calibration.calls[0], &calibration.classes[0]);
    let attempts = &tables.attempts;
    let ended = |outcome| attempts.iter().filter(|row| row.outcome == outcome).count() as u64;
    assert_eq!((call.attempts, ended(Outcome::Ok)), (25_000, 20_000));
    assert_eq!(call.limit.cut, ended(Outcome::DeadlineExceeded));
    assert_eq!((call.limit.cut, call.limit.kept()), (5_000, 4_096));
    assert_eq!(call.succeeded.0, 20_000);
    assert_eq!(call.allowance.map(|it| it.n), Some(8_192));
    let paid = attempts.iter().filter(|row| {
        row.outcome == Outcome::Ok && row.duration_ns <= row.remaining_at_start_ns.unwrap()
    });
    let all = Proportion { part: paid.count() as u64, whole: 25_000 };
    assert_eq!((call.funding.all, call.funding.kept()), (all, 8_192));
    let is_whole = |row: &&RequestRow| row.terminal_outcome == TerminalOutcome::Completed;
    let returned = tables.requests.iter().filter(is_whole).count() as u64;
    assert!(returned < 20_000, "who was cut off returned nothing");
    assert_eq!((class.returned, class.reserve.map(|it| it.n)), (returned, Some(8_192)));
    let ends = (1_000_000_000, 1_000_019_999);
    let ends = (Nanos::from_nanos(ends.0), Nanos::from_nanos(ends.1));
    assert_eq!(class.declared, (20_000, Some(ends)));

    let json = document(&calibration, "");
    let call = &json["calls"][0];
    assert_eq!((&call["limit"]["cut_off"], &call["limit"]["kept"]), (&5_000.into(), &4_096.into()));
    assert_eq!((&call["succeeded"], &call["had_deadline"]), (&20_000.into(), &25_000.into()));
    assert_eq!(call["paid"], all.part);

    let text = contract_text(&calibration).replace("\n# ", " ");
    assert!(text.contains("20,000 attempts that succeeded, by a sample of 8,192: "), "{text}");
    assert!(
        text.contains("5,000 of 25,000 attempts were cut off, by a sample of 4,096, at"),
        "{text}"
    );
}

#[test]
fn pages_speak_of_a_sample_only_where_there_is_one() {
    let page = |tables: &Tables| {
        let mut summary = Summary::default();
        summary.add(&partition(&Shape::checkout(), 40, 1));
        let options = Options::for_format(Format::Terminal);
        let (facts, calibration) = (RunFacts::default(), calibrated(tables));
        let report = report::build(&summary, &Exemplars::default(), &calibration, &facts, &options);
        report.render(Format::Terminal, 1_000, false)
    };
    let sampled = page(&many());
    for sentence in
        ["cut off, after and of them are of a sample of 4,096.", "of a sample of 8,192."]
    {
        assert!(sampled.contains(sentence), "{sampled}");
    }
    assert!(!page(&partition(&Shape::checkout(), 400, 1)).contains("of a sample"));
}
