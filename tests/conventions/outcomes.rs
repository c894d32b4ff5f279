//! How a span ended: the signs in their order (SEMANTICS §2, conventions O rows).

use dwindle::conventions::raw::{RawSpan, Status};
use dwindle::span::Kind::{self, Client, Internal, Server};
use dwindle::span::Outcome::{self, Cancelled, DeadlineExceeded, Error, Ok, Rejected};

use crate::support::raw_span::{Build, V, resolve, span};

fn outcome(raw: &RawSpan<'_>) -> Outcome {
    resolve(raw).span.outcome
}

fn by(kind: Kind, key: &'static str, value: impl Into<V>) -> Outcome {
    outcome(&span(kind).with(key, value))
}

#[test]
fn grpc_statuses_come_in_many_spellings() {
    let keys = [
        "rpc.status_code",
        "rpc.response.status_code",
        "rpc.grpc.status_code",
        "grpc.status_code",
        "grpc.status.code",
        "grpc.code",
        "grpc.status",
        "rpc.error_code",
        "rpc.connect_rpc.error_code",
    ];
    for key in keys {
        assert_eq!(by(Server, key, 4), DeadlineExceeded, "{key}");
        assert_eq!(by(Server, key, "1"), Cancelled, "{key}");
    }
    let spelled = [
        ("DEADLINE_EXCEEDED", DeadlineExceeded),
        ("DeadlineExceeded", DeadlineExceeded),
        ("deadline_exceeded", DeadlineExceeded),
        ("StatusCode.DEADLINE_EXCEEDED", DeadlineExceeded),
        ("SERVER_TIMEOUT", DeadlineExceeded),
        ("CANCELLED", Cancelled),
        ("Canceled", Cancelled),
        ("RESOURCE_EXHAUSTED", Rejected),
        ("8", Rejected),
        ("OK", Ok),
        ("0", Ok),
        ("UNAVAILABLE", Error),
        ("14", Error),
        ("SOMETHING_NEW", Error),
    ];
    for (text, expected) in spelled {
        assert_eq!(by(Server, "rpc.response.status_code", text), expected, "{text}");
    }
}

#[test]
fn of_several_grpc_statuses_the_first_key_counts() {
    let raw = span(Client).with("grpc.status_code", "1").with("rpc.grpc.status_code", 4);
    assert_eq!(outcome(&raw), DeadlineExceeded);
    let ok = span(Client).with("grpc.status_code", "1").with("rpc.grpc.status_code", 0);
    assert_eq!(outcome(&ok), Ok);
}

#[test]
fn flags_of_envoy_may_be_several() {
    for (flags, expected) in [
        ("UT", DeadlineExceeded),
        ("UMSDR", DeadlineExceeded),
        ("DT", DeadlineExceeded),
        ("SI", DeadlineExceeded),
        ("URX,UT", DeadlineExceeded),
        ("DC", Cancelled),
        ("UO", Rejected),
        ("RL", Rejected),
        ("OM", Rejected),
        ("-", Ok),
        ("UF,URX", Ok),
    ] {
        assert_eq!(by(Client, "response_flags", flags), expected, "{flags}");
    }
}

#[test]
fn http_statuses_speak_by_code_and_side() {
    for status in [408, 498, 504, 524, 598, 599] {
        assert_eq!(by(Server, "http.response.status_code", status), DeadlineExceeded, "{status}");
    }
    for (status, expected) in [(499, Cancelled), (460, Cancelled), (429, Rejected), (503, Rejected)]
    {
        assert_eq!(by(Server, "http.status_code", status.to_string()), expected, "{status}");
    }
    let on = |kind, status: i64| by(kind, "http.response.status_code", status);
    assert_eq!([on(Server, 200), on(Server, 404), on(Server, 500)], [Ok, Ok, Error]);
    assert_eq!([on(Client, 302), on(Client, 404), on(Client, 500)], [Ok, Error, Error]);
    assert_eq!([on(Internal, 404), on(Internal, 501)], [Ok, Error]);
    let span = resolve(&span(Server).with("http.response.status_code", "404")).span;
    assert_eq!(span.http_status, Some(404));
}

#[test]
fn marks_that_libraries_leave_speak_after_the_http_status() {
    for key in ["cancelled_by_deadline", "srv/request_deadline_rejected"] {
        assert_eq!(by(Server, key, true), DeadlineExceeded, "{key}");
        assert_eq!(by(Server, key, 1), DeadlineExceeded, "{key}");
        assert_eq!(by(Server, key, false), Ok, "{key}");
    }
    assert_eq!(by(Server, "srv/request_deadline_exceeded_ms", 3), DeadlineExceeded);
    assert_eq!(by(Server, "servlet.timeout", 3_000), DeadlineExceeded);
    assert_eq!(outcome(&span(Client).event("clnt/finagle_timeout_ms", 5)), DeadlineExceeded);
    for key in [
        "grpc.canceled",
        "reactor.canceled",
        "rxjava.canceled",
        "guava.canceled",
        "jaxrs.canceled",
        "lettuce.command.cancelled",
        "db.command.cancelled",
    ] {
        assert_eq!(by(Client, key, "true"), Cancelled, "{key}");
    }
    let gone = span(Server).with("cancelled_by_deadline", true);
    assert_eq!(outcome(&gone.with("http.response.status_code", 499)), Cancelled);
}

#[test]
fn codes_of_databases_speak_for_their_own_system() {
    let coded = |system: &'static str, code: &'static str| {
        outcome(&span(Client).with("db.system.name", system).with("db.response.status_code", code))
    };
    assert_eq!(coded("postgresql", "57014"), DeadlineExceeded);
    assert_eq!(coded("mysql", "3024"), DeadlineExceeded);
    assert_eq!(coded("mariadb", "1205"), DeadlineExceeded);
    assert_eq!(coded("microsoft.sql_server", "-2"), DeadlineExceeded);
    assert_eq!(coded("mongodb", "50"), DeadlineExceeded);
    // There it is a deadlock.
    assert_eq!(coded("microsoft.sql_server", "1205"), Ok);
    assert_eq!(by(Client, "db.response.status_code", "57014"), DeadlineExceeded);
}

#[test]
fn exact_exception_types_come_before_words() {
    let typed = [
        ("java.net.SocketTimeoutException", DeadlineExceeded),
        ("httpx.PoolTimeout", DeadlineExceeded),
        ("Net::ReadTimeout", DeadlineExceeded),
        ("Timeout::Error", DeadlineExceeded),
        ("context.deadlineExceededError", DeadlineExceeded),
        // Words would say cancelled, or nothing.
        ("psycopg2.errors.QueryCanceled", DeadlineExceeded),
        ("java.lang.InterruptedException", Cancelled),
        ("com.linecorp.armeria.common.ClosedStreamException", Cancelled),
        ("Sidekiq::Shutdown", Cancelled),
        ("UND_ERR_ABORTED", Cancelled),
        ("AbortError", Cancelled),
        // The last part only.
        ("my.InterruptedException.Sorry", Error),
        ("MyClosedStreamException", Error),
    ];
    for (text, expected) in typed {
        assert_eq!(by(Client, "error.type", text), expected, "{text}");
    }
    let event = [("exception.type", "java.util.concurrent.CancellationException")];
    let raw = span(Client).status(Status::Error, "timeout").event_with("exception", &event);
    assert_eq!(outcome(&raw), Cancelled);
}

#[test]
fn words_are_matched_whatever_their_case() {
    let said = [
        ("context deadline exceeded", DeadlineExceeded),
        ("DEADLINE_EXCEEDED: too slow", DeadlineExceeded),
        ("i/o Timeout", DeadlineExceeded),
        ("request timed out", DeadlineExceeded),
        ("TIMED_OUT", DeadlineExceeded),
        ("time-out", DeadlineExceeded),
        ("connect ETIMEDOUT 10.0.0.1:443", DeadlineExceeded),
        ("ECONNABORTED", DeadlineExceeded),
        ("SoftTimeLimitExceeded()", DeadlineExceeded),
        ("context canceled", Cancelled),
        ("the operation was Cancelled", Cancelled),
        ("cancelled after a timeout", DeadlineExceeded),
        ("no time left", Error),
        ("time  out", Error),
    ];
    for (text, expected) in said {
        assert_eq!(outcome(&span(Server).status(Status::Error, text)), expected, "{text}");
        let event = [("exception.message", text)];
        let raw = span(Server).status(Status::Error, "").event_with("exception", &event);
        assert_eq!(outcome(&raw), expected, "{text}");
    }
    // An expired HttpClient.Timeout looks like a cancel, and is taken as one.
    let raw = span(Client).with("error.type", "System.Threading.Tasks.TaskCanceledException");
    assert_eq!(outcome(&raw), Cancelled);
}

#[test]
fn messages_and_exceptions_speak_only_where_the_status_is_error() {
    let event = [("exception.message", "deadline exceeded")];
    assert_eq!(outcome(&span(Server).status(Status::Unset, "timeout")), Ok);
    assert_eq!(outcome(&span(Server).status(Status::Ok, "timeout")), Ok);
    assert_eq!(outcome(&span(Server).event_with("exception", &event)), Ok);
    assert_eq!(by(Server, "error.type", "timeout"), DeadlineExceeded);
    assert_eq!(by(Server, "error.type", "_OTHER"), Error);
    assert_eq!(outcome(&span(Server).status(Status::Error, "")), Error);
    let other = [("exception.message", "deadline exceeded")];
    assert_eq!(outcome(&span(Server).status(Status::Error, "").event_with("log", &other)), Error);
}

/// Each sign is followed by all that come after it, which then say something else.
#[test]
fn the_first_sign_that_speaks_decides() {
    let words = || span(Client).with("error.type", "cancel it");
    let types = || span(Client).status(Status::Error, "cancel").with("error.type", "PoolTimeout");
    let mark = || types().with("grpc.canceled", true);
    let http = || mark().with("http.response.status_code", 504);
    let flags = || http().with("response_flags", "UO");
    let grpc = || flags().with("rpc.grpc.status_code", 13);
    assert_eq!([outcome(&words()), outcome(&types())], [Cancelled, DeadlineExceeded]);
    assert_eq!([outcome(&mark()), outcome(&http())], [Cancelled, DeadlineExceeded]);
    assert_eq!([outcome(&flags()), outcome(&grpc())], [Rejected, Error]);
    // What does not speak leaves the word to the next.
    assert_eq!(outcome(&flags().with("rpc.grpc.status_code", 0)), Rejected);
    assert_eq!(outcome(&http().with("response_flags", "-")), DeadlineExceeded);
}

#[test]
fn a_wordless_client_has_a_method_and_nothing_else_to_say() {
    let raw = |kind| span(kind).with("http.request.method", "GET");
    let is_wordless = |raw: RawSpan<'_>| resolve(&raw).span.flags.is_wordless;
    assert!(is_wordless(raw(Client)));
    assert!(is_wordless(raw(Internal).name("Sent.a.B")));
    assert!(!is_wordless(raw(Server)));
    assert!(!is_wordless(span(Client)));
    assert!(!is_wordless(raw(Client).with("http.response.status_code", 200)));
    assert!(!is_wordless(raw(Client).with("rpc.grpc.status_code", 0)));
    assert!(!is_wordless(raw(Client).with("error.type", "x")));
    assert!(!is_wordless(raw(Client).with("response_flags", "DC")));
    assert!(!is_wordless(raw(Client).status(Status::Ok, "")));
    assert!(!is_wordless(raw(Client).status(Status::Error, "")));
}
