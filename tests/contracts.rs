//! Contract files: every field is refused with file, line, key and what was expected, and limits are
//! read as docs/limits.md tells.

use std::fs;

use dwindle::contract::{ContractFile, Promise, Ratio, Suppression};
use dwindle::date::Date;
use dwindle::tables::{HopRow, RequestRow, Row};

/// The error of a file that begins with the head of a contract, as people read it.
fn refused(rest: &str) -> String {
    let text = format!("[[contract]]\nname = \"a\"\n{rest}\n");
    ContractFile::parse("c.toml", &text).unwrap_err().to_string()
}

/// Line 3 holds the key.
#[test]
fn every_field_is_refused_with_its_line_its_key_and_what_was_expected() {
    let cases: &[(&str, &str, &str)] = &[
        ("request_class = \"\"", "request_class", "a name"),
        ("request_class = 1", "request_class", "string"),
        ("match = { service = \"[\" }", "service", "bad pattern"),
        ("match = { operation = 1 }", "operation", "a pattern in quotes"),
        ("match = { route = \"/\" }", "route", "unknown field"),
        ("deadline = \"soon\"", "deadline", "800ms"),
        ("deadline = 5", "deadline", "a duration in quotes"),
        ("deadline = \"0s\"", "deadline", "cannot be met"),
        ("return_reserve = \"x\"", "return_reserve", "800ms"),
        ("return_reserve = \"1s\"\ndeadline = \"1s\"", "return_reserve", "less than the deadline"),
        ("reconciliation_reserve = 1.5", "reconciliation_reserve", "a duration in quotes"),
        (
            "reconciliation_reserve = \"1s\"\ndeadline = \"1s\"",
            "reconciliation_reserve",
            "less, with the return_reserve, than the deadline",
        ),
        ("residual_bound = \"-1ms\"", "residual_bound", "800ms"),
        ("detached = \"audit\"", "detached", "sequence"),
        ("detached = [\"[\"]", "detached", "bad pattern"),
        ("long_lived = [1]", "long_lived", "a pattern in quotes"),
        ("limits = \"x\"", "limits", "sequence"),
        ("limits = [1]", "limits", "a limit in quotes"),
        ("limits = [\"late_wrk.p99 <= 1ms\"]", "limits", "\"late_wrk\" is no measure"),
        ("retry = { owner = \"\" }", "owner", "the name of a service"),
        ("retry = { max_attempts = 0 }", "max_attempts", "1 or more"),
        ("retry = { max_attempts = -1 }", "max_attempts", "a whole number such as 3"),
        ("retry = { max_attempts = 1.5 }", "max_attempts", "a whole number such as 3"),
        ("retry = { attempt_allowance = \"0ms\" }", "attempt_allowance", "more than nothing"),
        ("retry = { attempt_allowance = 1 }", "attempt_allowance", "a duration in quotes"),
        ("retry = { backoff = [\"x\"] }", "backoff", "800ms"),
        ("retry = { budget_ratio = -0.1 }", "budget_ratio", "0 or more"),
        ("retry = { budget_ratio = \"x\" }", "budget_ratio", "a number such as 0.3"),
        ("retry = { budget_ratio = nan }", "budget_ratio", "0 or more"),
        ("retry = { retries = 3 }", "retries", "unknown field"),
        ("queue_policy = \" \"", "queue_policy", "a sentence"),
        ("owner = \"\"", "owner", "a name"),
        ("deadlin = \"1s\"", "deadlin", "unknown field"),
    ];
    for (rest, key, expected) in cases {
        let told = refused(rest);
        assert!(told.starts_with("c.toml:3: "), "{rest}: {told}");
        assert!(told.contains(&format!("key `{key}`")), "{rest}: {told}");
        assert!(told.contains(expected), "{rest}: {told}");
    }
}

#[test]
fn names_are_there_and_told_apart() {
    let parse = |text: &str| ContractFile::parse("c.toml", text).unwrap_err().to_string();
    assert!(parse("\n[[contract]]\ndeadline = \"1s\"").starts_with("c.toml:2: key `name`"));
    let twice = "[[contract]]\nname = \"a\"\n[[contract]]\ndeadline = \"1s\"\nname = \"a\"";
    assert!(parse(twice).starts_with("c.toml:5: key `name`: two contracts"));
    assert!(parse("[[contracts]]\nname = \"a\"").contains("unknown field"));
}

/// A limit stands on a line of its own.
#[test]
fn a_limit_is_refused_on_its_own_line() {
    let told = refused("limits = [\n  \"late_work.p99 <= 10ms\",\n  \"late_work <= 10ms\",\n]");
    assert!(told.starts_with("c.toml:5: key `limits`: expected a statistic"), "{told}");
}

#[test]
fn what_is_wrong_with_a_limit_is_told() {
    let cases = [
        ("", "expected a limit"),
        ("<= 1ms", "expected a limit"),
        ("late_work.p99", "expected one of <= < >= >"),
        ("late_work.p99 = 1ms", "expected one of <= < >= >"),
        ("late_work.p98 <= 1ms", "\"p98\" is no statistic: expected one of min, p0.1"),
        ("late_work.p99 <= 1", "after <=: expected a duration"),
        ("late_work.p99 <= 1ms or so", "expected a duration"),
        ("late_work.mean <= 1ms", "\"mean\" is no statistic"),
        ("remaining_at_hop.p1 >= 1ms", "expected a service, as in remaining_at_hop(payment)"),
        ("remaining_at_hop().p1 >= 1ms", "the name of a service"),
        ("remaining_at_hop(payment.p1 >= 1ms", "closing parenthesis"),
        ("remaining_at_hop([).p1 >= 1ms", "bad pattern"),
        ("elapsed(payment).p99 <= 1ms", "of requests: expected no service"),
        ("late_ratio(payment) <= 1%", "of requests: expected no service"),
        ("retry_ratio.p99 <= 1%", "expected no statistic"),
        ("retry_ratio <= 2", "a ratio from 0 to 1"),
        ("retry_ratio <= 101%", "a ratio from 0 to 1"),
        ("retry_ratio <= 10ms", "a ratio from 0 to 1"),
        ("retry_ratio <= nan", "a ratio from 0 to 1"),
        ("duration_ns.p99 <= 1ms", "no measure: expected one of requests (duration,"),
    ];
    for (text, expected) in cases {
        let told = Promise::parse(text).map(|_| ()).unwrap_err();
        assert!(told.contains(expected), "{text:?}: {told}");
    }
}

#[test]
fn limits_are_read_with_and_without_spaces() {
    for text in [
        "remaining_at_hop(payment).p1 >= 120ms",
        "remaining_at_hop( payment-* ) . p0.1>=1.5s",
        "late_work.p99<=10ms",
        "late_work.max < 1m30s",
        "unfundable_retry_ratio <= 0.01",
        "unfundable_retry_ratio(payment) <= 1%",
        "retry_ratio > 0",
    ] {
        assert!(Promise::parse(text).is_ok(), "{text}: {:?}", Promise::parse(text));
    }
}

/// A measure is added to a table, or a ratio to the grammar.
/// It can be limited, and docs/limits.md names it.
#[test]
fn every_measure_can_be_limited_and_is_documented() {
    let docs = fs::read_to_string("docs/limits.md").unwrap();
    let name = |column: &'static str| column.trim_end_matches("_ns");
    for measure in RequestRow::MEASURES {
        let name = name(measure.column);
        assert!(Promise::parse(&format!("{name}.p50 <= 1ms")).is_ok(), "{name}");
        assert!(docs.contains(&format!("`{name}`")), "docs/limits.md lacks {name}");
    }
    for measure in HopRow::MEASURES {
        let name = name(measure.column);
        assert!(Promise::parse(&format!("{name}(x).p50 <= 1ms")).is_ok(), "{name}");
        assert!(docs.contains(&format!("`{name}`")), "docs/limits.md lacks {name}");
    }
    for ratio in Ratio::ALL {
        assert!(Promise::parse(&format!("{} <= 1%", ratio.name())).is_ok());
        assert!(docs.contains(&format!("| `{}` |", ratio.name())), "{}", ratio.name());
    }
}

#[test]
fn suppressions_need_an_id_a_reason_and_a_day() {
    let whole = "[[suppress]]\nid = \"0123456789ab\"\nreason = \"r\"\nuntil = 2027-01-31\n";
    let read = Suppression::parse_file("s.toml", whole).unwrap();
    assert_eq!((read[0].until.to_string(), read[0].line), ("2027-01-31".to_owned(), 1));
    let quoted = whole.replace("2027-01-31", "\"2027-01-31\"");
    assert_eq!(Suppression::parse_file("s.toml", &quoted).unwrap(), read);
    let in_contract = ContractFile::parse("c.toml", whole).unwrap();
    assert_eq!(in_contract.suppressions, read);
    let refused = |from: &str, to: &str| {
        let text = whole.replace(from, to);
        Suppression::parse_file("s.toml", &text).unwrap_err().to_string()
    };
    assert!(refused("0123456789ab", "x").starts_with("s.toml:2: key `id`: expected an id"));
    assert!(refused("\"r\"", "\" \"").starts_with("s.toml:3: key `reason`: expected why"));
    assert!(refused("2027-01-31", "2027-02-29").contains("s.toml:4: key `until`"));
    assert!(refused("2027-01-31", "true").contains("a day such as 2027-01-31"));
    assert!(refused("until = 2027-01-31\n", "").contains("until"));
    assert!(refused("reason = \"r\"\n", "").contains("reason"));
    let twice = Suppression::parse_file("s.toml", &whole.repeat(2)).unwrap_err().to_string();
    assert!(twice.starts_with("s.toml:6: key `id`: this finding is suppressed twice"), "{twice}");
    assert!(refused("[[suppress]]", "[[contract]]").contains("contract"));
}

#[test]
fn days_are_those_of_the_calendar() {
    for day in ["2027-01-31", "2028-02-29", "2000-02-29", "0001-12-31"] {
        assert_eq!(Date::parse(day).unwrap().to_string(), day);
    }
    for none in ["2027-02-29", "1900-02-29", "2027-13-01", "2027-00-01", "2027-01-00", "27-01-01"] {
        assert!(Date::parse(none).is_err(), "{none}");
    }
    for none in ["", "2027-1-01", "2027-01-01-", "2027-01-01T00:00:00", "+027-01-01", "2027-+1-01"]
    {
        assert!(Date::parse(none).is_err(), "{none}");
    }
    assert!(Date::parse("2027-01-31") < Date::parse("2027-02-01"));
}

#[test]
fn a_contract_in_single_brackets_is_told_how_to_be_written() {
    let error =
        ContractFile::parse("c.toml", "[contract]\nname = \"x\"\n").unwrap_err().to_string();
    assert!(error.starts_with("c.toml:1: ") && error.contains("[[like this]]"), "{error}");
}
