//! OTLP JSON as exporters write it is read by matching what is always the same in it. It has to say
//! what it says with white space in between, which is read piece by piece.

use super::support::{Folder, everything, problems, read};

/// A line that makes a file of lines of whatever follows.
const FIRST_LINE: &[u8] = b"{\"resourceSpans\":[]}\n";

/// What stands before and behind the spans of [`SPAN`].
const HEAD: &str = r#"{"resourceSpans":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"shop"}}]},"scopeSpans":[{"scope":{},"spans":["#;
const TAIL: &str = "]}]}]}";

/// A span with all that exporters write.
const SPAN: &str = r#"{"traceId":"5b8efff798038103d269b633813fc60c","spanId":"eee19b7ec3c1b174","traceState":"a=b","parentSpanId":"EEE19B7EC3C1B173","flags":257,"name":"GET","kind":3,"startTimeUnixNano":"1788600000001609346","endTimeUnixNano":"1788600000523081549","attributes":[{"key":"http.request.method","value":{"stringValue":"GET"}},{"key":"http.route","value":{"stringValue":"/a"}},{"key":"thread.name","value":{"stringValue":"x"}},{"key":"http.response.status_code","value":{"intValue":"503"}},{"key":"server.port","value":{"intValue":80}},{"key":"deadline.queue","value":{"boolValue":true}},{"key":"deadline.remaining_ms","value":{"doubleValue":1.5}},{"key":"rpc.grpc.request.metadata.grpc-timeout","value":{"stringValue":"80m"}}],"droppedAttributesCount":1,"events":[{"timeUnixNano":"1788600000001609347","name":"exception","attributes":[{"key":"exception.type","value":{"stringValue":"TimeoutException"}}]}],"droppedEventsCount":0,"links":[],"droppedLinksCount":0,"status":{"message":"m","code":2}}"#;

/// Other ways to write parts of it, right and wrong.
const CHANGES: &[(&str, &str)] = &[
    ("\"traceId\":\"5b8efff798038103d269b633813fc60c\",", ""),
    ("5b8efff798038103d269b633813fc60c", "5b8efff798038103d269b633813fc60g"),
    ("5b8efff798038103d269b633813fc60c", "W47/95gDgQPSabYzgT/GDA=="),
    ("5b8efff798038103d269b633813fc60c", "5b8efff7"),
    ("5b8efff798038103d269b633813fc60c", "00000000000000000000000000000000"),
    ("{\"traceId\"", "{\"name\":\"first\",\"traceId\""),
    ("{\"traceId\"", "{,\"traceId\""),
    ("\"traceId\"", "\"trace\\u0049d\""),
    ("\"spanId\"", "\"span_id\""),
    ("EEE19B7EC3C1B173", ""),
    ("\"EEE19B7EC3C1B173\"", "null"),
    ("\"flags\":257", "\"flags\":2.57e2"),
    ("\"flags\":257", "\"flags\":025"),
    ("\"name\":\"GET\"", "\"name\":\"G\\u0045T\""),
    ("\"name\":\"GET\"", "\"name\":\"é \\\"\\\\ 日本\""),
    ("\"name\":\"GET\"", "\"name\":\"G\u{1}T\""),
    ("\"name\":\"GET\"", "\"name\":\"GET\",\"name\":\"PUT\""),
    ("\"name\":\"GET\"", "\"name\":7"),
    ("\"kind\":3", "\"kind\":\"SPAN_KIND_SERVER\""),
    ("\"kind\":3", "\"kind\":\"2\""),
    ("\"kind\":3", "\"kind\":\"no kind\""),
    ("\"kind\":3", "\"kind\":3.0"),
    ("\"1788600000001609346\"", "1788600000001609346"),
    ("\"1788600000001609346\"", "\"0\""),
    ("\"1788600000001609346\"", "\"\""),
    ("\"1788600000001609346\"", "\"01788600000001609346\""),
    ("\"1788600000001609346\"", "\"17886000000016093460\""),
    ("\"1788600000001609346\"", "\"9788600000001609346\""),
    ("\"1788600000001609346\"", "\"-5\""),
    ("\"endTimeUnixNano\":\"1788600000523081549\",", ""),
    (
        "\"attributes\":[{\"key\":\"http.request",
        "\"attributes\":null,\"attributes\":[{\"key\":\"http.request",
    ),
    ("{\"key\":\"http.request.method\",", "{\"key\":\"HTTP.Request.Method\","),
    ("{\"key\":\"http.request.method\",", "{\"key\":\"x\",\"key\":\"http.request.method\","),
    ("{\"key\":\"http.request.method\",", "{"),
    (
        "\"key\":\"http.request.method\",\"value\":{\"stringValue\":\"GET\"}",
        "\"value\":{\"stringValue\":\"GET\"},\"key\":\"http.request.method\"",
    ),
    ("{\"key\":\"thread.name\",\"value\":{\"stringValue\":\"x\"}}", "{\"key\":\"thread.name\"}"),
    ("{\"stringValue\":\"x\"}", "{\"stringValue\":5}"),
    ("{\"stringValue\":\"x\"}", "{\"stringValue\":\"x\",\"intValue\":5}"),
    ("{\"stringValue\":\"x\"}", "{\"arrayValue\":{\"values\":[{\"intValue\":5},7]}}"),
    ("{\"stringValue\":\"x\"}", "{}"),
    ("{\"stringValue\":\"x\"}", "\"x\""),
    ("{\"stringValue\":\"GET\"}", "{\"stringValue\":\"\\u0050UT\"}"),
    ("{\"intValue\":\"503\"}", "{\"intValue\":\"0503\"}"),
    ("{\"intValue\":\"503\"}", "{\"intValue\":\"503.0\"}"),
    ("{\"intValue\":\"503\"}", "{\"intValue\":\"x\"}"),
    ("{\"intValue\":80}", "{\"intValue\":-80}"),
    ("{\"intValue\":80}", "{\"intValue\":80.5}"),
    ("{\"intValue\":80}", "{\"intValue\":080}"),
    ("{\"boolValue\":true}", "{\"boolValue\":false}"),
    ("{\"boolValue\":true}", "{\"boolValue\":\"true\"}"),
    ("{\"doubleValue\":1.5}", "{\"doubleValue\":\"1.5\"}"),
    ("{\"doubleValue\":1.5}", "{\"doubleValue\":NaN}"),
    ("{\"doubleValue\":1.5}", "{\"doubleValue\":1.}"),
    ("{\"key\":\"http.route\"", "5,{\"key\":\"http.route\""),
    (
        "{\"key\":\"http.route\"",
        "{\"key\":\"http.route\",\"value\":{\"stringValue\":\"/a\"}}{\"key\":\"http.route\"",
    ),
    ("\"events\":[{", "\"events\":[],\"events\":[{"),
    ("\"links\":[]", "\"links\":[{\"traceId\":\"1\"},{}]"),
    ("\"status\":{\"message\":\"m\",\"code\":2}", "\"status\":{\"code\":2}"),
    ("\"status\":{\"message\":\"m\",\"code\":2}", "\"status\":{}"),
    (
        "\"status\":{\"message\":\"m\",\"code\":2}",
        "\"status\":{\"code\":2,\"message\":\"timeout\"}",
    ),
    (
        "\"status\":{\"message\":\"m\",\"code\":2}",
        "\"status\":{\"code\":\"STATUS_CODE_ERROR\"},\"more\":[]",
    ),
    ("\"code\":2}}", "\"code\":2},\"status\":{\"code\":1}}"),
];

/// `text` with spaces wherever there may be any, and how far each byte of it has moved.
fn spaced(text: &[u8]) -> (Vec<u8>, Vec<usize>) {
    let (mut spaced, mut places) = (Vec::new(), Vec::new());
    let (mut in_text, mut is_escaped) = (false, false);
    for &byte in text {
        if !in_text && b"}],:".contains(&byte) {
            spaced.push(b' ');
        }
        places.push(spaced.len());
        spaced.push(byte);
        if !in_text && b"{[,:".contains(&byte) {
            spaced.push(b' ');
        }
        in_text ^= byte == b'"' && !is_escaped;
        is_escaped = in_text && byte == b'\\' && !is_escaped;
    }
    places.push(spaced.len());
    (spaced, places)
}

/// All spans in a line, and what is wrong with it but for its place in the line.
fn told(folder: &Folder, line: &[u8]) -> (Vec<String>, Vec<String>) {
    let read = read(&[&folder.write("lines.json", [FIRST_LINE, line].concat())]);
    let place = |problem: String| problem.split('@').next().map(str::to_owned);
    (everything(&read), problems(&read).into_iter().filter_map(place).collect())
}

fn line_of(spans: &[u8]) -> Vec<u8> {
    [HEAD.as_bytes(), spans, TAIL.as_bytes()].concat()
}

#[test]
fn each_way_to_write_a_part_of_a_span_says_the_same_with_white_space() {
    let folder = Folder::new();
    let (spans, problems) = told(&folder, &line_of(SPAN.as_bytes()));
    assert_eq!((spans.len(), problems), (1, Vec::new()), "{spans:?}");
    for (part, other) in CHANGES {
        assert!(SPAN.contains(part), "{part}");
        let line = line_of([SPAN, &SPAN.replacen(part, other, 1), SPAN].join(",").as_bytes());
        assert_eq!(told(&folder, &line), told(&folder, &spaced(&line).0), "{other}");
    }
    // Any letter anywhere in an id or a time.
    for letter in (b' '..=b'~').chain(*b"\x10\x1a\xff").filter(|letter| !b"\"\\".contains(letter)) {
        for (at, part) in
            [(3, "EEE19B7EC3C1B173"), (21, "60c\""), (4, "1609346"), (0, "8600000001")]
        {
            let mut span = SPAN.as_bytes().to_vec();
            let start = SPAN.find(part).unwrap();
            span[start + at % part.len()] = letter;
            let line = line_of(&span);
            assert_eq!(told(&folder, &line), told(&folder, &spaced(&line).0), "{letter}");
        }
    }
    // Of a line that is no UTF-8 each text is looked at by itself.
    let (before, behind) = SPAN.split_once("\"x\"").unwrap();
    let broken = [before.as_bytes(), b"\"\xff\"", behind.as_bytes()].concat();
    let broken = line_of(&broken);
    let (spans, problems) = told(&folder, &broken);
    assert_eq!((spans.len(), &problems[..]), (1, &["text-not-utf8 1 ".to_owned()][..]));
    assert_eq!((spans, problems), told(&folder, &spaced(&broken).0));
}

#[test]
fn wherever_a_span_is_cut_off_it_says_the_same_with_white_space() {
    let folder = Folder::new();
    let line = line_of(SPAN.as_bytes());
    let (other, places) = spaced(&line);
    for (cut, &place) in places.iter().enumerate() {
        let whole = String::from_utf8_lossy(&line[..cut]);
        assert_eq!(told(&folder, &line[..cut]), told(&folder, &other[..place]), "{whole}");
    }
}
