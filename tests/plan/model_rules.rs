//! The rules of the chain model, each by hand on a request or two.

use dwindle::plan::model::{Model, Row, Scenario, Truth, run};

/// A scenario of services `front` (own share 10 ms), `mid` and `leaf`.
fn scenario(arms: &str, rest: &str, configuration: &str) -> Scenario {
    let text = format!(
        "name = \"by hand\"\n{rest}\n\
         [[service]]\nname = \"front\"\nown = \"10ms\"\narms = {arms}\n\
         [[service]]\nname = \"mid\"\nown = \"5ms\"\ntransit = \"2ms\"\narms = [[\"leaf\", \"leaf\", \"leaf\"]]\n\
         [[service]]\nname = \"leaf\"\n\
         [[regime]]\nname = \"r\"\n{configuration}"
    );
    Scenario::parse("by hand", &text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn row(scenario: &Scenario) -> Row {
    run(scenario).unwrap().remove(0)
}

fn truth(scenario: &Scenario) -> Truth {
    let model = Model::of(scenario).unwrap();
    let runs = model.runs();
    runs[0].requests().next().unwrap().truth()
}

/// Start, end and outcome of each attempt, in ms.
fn attempts(truth: &Truth) -> Vec<(i64, i64, &str)> {
    let ms = |ns: i64| ns / 1_000_000;
    let one = |it: &dwindle::plan::model::AttemptTruth| {
        (ms(it.elapsed_at_start_ns), ms(it.elapsed_at_start_ns + it.duration_ns), it.outcome)
    };
    truth.attempts.iter().map(one).collect()
}

const MS: i64 = 1_000_000;

#[test]
fn the_first_attempt_that_is_ok_wins_and_the_other_is_cancelled_then() {
    let rest = "requests = 1\nthreshold = \"55ms\"";
    let hedged = "cycle = [\"80ms\", \"20ms\"]\n[[configuration]]\nname = \"c\"\ntimeout = \"200ms\"\n\
                  max_attempts = 2\nhedge_after = \"30ms\"\n";
    let told = truth(&scenario("[[\"leaf\"]]", rest, hedged));
    assert_eq!(attempts(&told), [(0, 50, "cancelled"), (30, 50, "ok")]);
    assert_eq!(told.attempts[1].kind, "hedge");
    assert_eq!(told.request.duration_ns, 60 * MS);
    // The loser's server goes on until 80: 25 of it are late, as are 5 of the front's own share.
    assert_eq!(told.request.late_work_ns, 30 * MS);
    assert_eq!(told.request.residual_work_after_cancel_ns, 30 * MS);

    let stopped =
        truth(&scenario("[[\"leaf\"]]", rest, &format!("{hedged}stop_on_cancel = true\n")));
    assert_eq!(attempts(&stopped), attempts(&told));
    assert_eq!(stopped.request.late_work_ns, 5 * MS);
    assert_eq!(stopped.request.residual_work_after_cancel_ns, 0);
}

/// The most attempts that one request may make, in two calls, so that each is compared with few others.
/// Were it with all before, this would not come to an end.
#[test]
fn the_most_attempts_of_a_request_take_time_in_their_number() {
    let rest = "requests = 2\nthreshold = \"55ms\"";
    let configuration = "cycle = [\"60ms\"]\n[[configuration]]\nname = \"c\"\ntimeout = \"50ms\"\n\
                         max_attempts = 50000\n\
                         [[configuration.call]]\noperation = \"step 2.1\"\ntimeout = \"40ms\"\n";
    let scenario = scenario("[[\"leaf\"], [\"leaf\"]]", rest, configuration);
    assert_eq!(row(&scenario).attempts, 200_000);
    let told = truth(&scenario);
    assert_eq!((told.attempts.len(), told.hops.len()), (100_000, 100_001));
}

#[test]
fn attempts_wait_for_the_backoff_whose_last_holds_for_all_further_ones() {
    let told = truth(&scenario(
        "[[\"leaf\"]]",
        "requests = 1\nthreshold = \"500ms\"",
        "cycle = [\"50ms\"]\n[[configuration]]\nname = \"c\"\ntimeout = \"20ms\"\nmax_attempts = 4\n\
         backoff = [\"5ms\", \"7ms\"]\n",
    ));
    let late = "deadline_exceeded";
    assert_eq!(attempts(&told), [(0, 20, late), (25, 45, late), (52, 72, late), (79, 99, late)]);
    assert_eq!((told.request.duration_ns, told.request.terminal_outcome), (109 * MS, "failed"));
}

#[test]
fn what_is_left_is_passed_on_less_the_reserve_and_counted_from_receipt() {
    let told = truth(&scenario(
        "[[\"mid\"]]",
        "requests = 1\nthreshold = \"100ms\"",
        "cycle = [\"8ms\"]\n[[configuration]]\nname = \"c\"\ntimeout = \"500ms\"\npropagate = true\n",
    ));
    let told: Vec<(i64, i64)> = told
        .hops
        .iter()
        .filter_map(|hop| Some((hop.remaining_at_send_ns? / MS, hop.granted_ns / MS)))
        .collect();
    // Callees come before their callers. Mid was given 90 at 0, begins at 2, and believes to have 90.
    assert_eq!(told, [(88, 80), (80, 72), (72, 64), (100, 90)]);
}

#[test]
fn a_retry_is_made_while_there_were_fewer_than_the_ratio_of_first_tries() {
    let told = row(&scenario(
        "[[\"leaf\"]]",
        "requests = 4\nthreshold = \"500ms\"",
        "cycle = [\"50ms\"]\n[[configuration]]\nname = \"c\"\ntimeout = \"20ms\"\nmax_attempts = 2\n\
         retry_budget = 0.5\n",
    ));
    // 0 < 0.5 · 1 in the first request, 1 < 0.5 · 3 in the third.
    assert_eq!((told.attempts, told.dropped), (6, 4));
}

#[test]
fn a_callee_that_stops_with_its_caller_asks_for_no_more() {
    let rest = "requests = 1\nthreshold = \"500ms\"";
    let regime = "cycle = [\"20ms\"]\n[[configuration]]\nname = \"c\"\ntimeout = \"35ms\"\n";
    let goes_on = truth(&scenario("[[\"mid\"]]", rest, regime));
    assert_eq!(
        attempts(&goes_on),
        [(0, 35, "deadline_exceeded"), (2, 22, "ok"), (22, 42, "ok"), (42, 62, "ok")]
    );
    let stops = truth(&scenario("[[\"mid\"]]", rest, &format!("{regime}stop_on_cancel = true\n")));
    assert_eq!(
        attempts(&stops),
        [(0, 35, "deadline_exceeded"), (2, 22, "ok"), (22, 35, "cancelled")]
    );
}

#[test]
fn an_attempt_that_does_not_fit_is_not_made_and_other_arms_still_run() {
    let told = truth(&scenario(
        "[[\"leaf\"], [\"mid\"]]",
        "requests = 1\nthreshold = \"100ms\"",
        "cycle = [\"6ms\"]\n[[configuration]]\nname = \"c\"\ntimeout = \"60ms\"\n\
         reject_unfundable = true\nreturn_reserve = \"20ms\"\n\
         [[configuration.call]]\ncaller = \"front\"\ncallee = \"leaf\"\ntimeout = \"81ms\"\n\
         [[configuration.call]]\ncaller = \"mid\"\ntimeout = \"30ms\"\n",
    ));
    // 100 − 20 are less than 81; mid has 60 from 2 on, of which the third of its calls would need
    // 30 + 20 at 14, when 48 are left.
    let [mid, first, second] = attempts(&told)[..] else { panic!("{:?}", attempts(&told)) };
    assert_eq!([mid, first, second], [(0, 21, "error"), (2, 8, "ok"), (8, 14, "ok")]);
    assert_eq!(told.request.duration_ns, 31 * MS);
}

/// Guarantee: what is drawn hangs on the seed and the regime alone, so that configurations are compared
/// on the same durations.
#[test]
fn all_configurations_draw_the_same_durations() {
    let text = "between = [\"1ms\", \"90ms\"]\n[[configuration]]\nname = \"one\"\ntimeout = \"200ms\"\n\
                [[configuration]]\nname = \"two\"\ntimeout = \"300ms\"\npropagate = true\n";
    let rest = "requests = 50\nthreshold = \"1s\"\nseed = 3";
    let rows = run(&scenario("[[\"leaf\"]]", rest, text)).unwrap();
    assert_eq!((rows[0].median, rows[0].worst), (rows[1].median, rows[1].worst));
    assert!(rows[0].median < rows[0].worst);
}
