//! Whether what dwindle prints is harmless, whatever names are in it. Each check panics and shows what
//! it found.

use std::fs;

use serde_json::Value;

/// Comments on GitHub may be so long, in characters; bytes are never fewer.
const COMMENT: usize = 65_000;
/// Tags that folding needs.
const TAGS: [&str; 6] = ["<details>", "</details>", "<summary>", "</summary>", "<b>", "</b>"];
/// How our own colours are written.
const COLOURS: [&str; 4] = ["\u{1b}[1m", "\u{1b}[2m", "\u{1b}[31m", "\u{1b}[0m"];

/// All names of `fixtures/hostile`.
pub fn hostile_names() -> Vec<String> {
    serde_json::from_str(&fs::read_to_string("fixtures/hostile/names.json").unwrap()).unwrap()
}

/// Nothing that a terminal obeys, that hides, or that turns what follows.
fn is_harmful(c: char) -> bool {
    let hides_or_turns = matches!(c,
        '\u{ad}' | '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{2069}' | '\u{3164}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}');
    (c.is_control() && c != '\n') || hides_or_turns
}

/// Text for people, without colours.
pub fn plain(text: &str) {
    for line in text.lines() {
        assert!(!line.contains(is_harmful), "{line:?}");
        assert!(!line.trim_start().starts_with("::"), "a workflow command: {line}");
    }
    let marks = |c: char| ('\u{300}'..='\u{36f}').contains(&c);
    let heap: Vec<char> = text.chars().collect();
    assert!(!heap.windows(5).any(|five| five.iter().all(|&c| marks(c))), "marks in a heap");
}

/// A page for a terminal, perhaps coloured.
pub fn terminal(text: &str) {
    plain(&COLOURS.iter().fold(text.to_owned(), |text, colour| text.replace(colour, "")));
}

/// Markdown whose tables, tags and fences are all our own.
pub fn markdown(text: &str) {
    assert!(text.len() < COMMENT && text.chars().count() < COMMENT, "{} bytes", text.len());
    plain(text);
    let mut fence = false;
    let mut columns = None;
    let mut open = 0_i32;
    for line in text.lines() {
        if line.starts_with("```") {
            fence = !fence;
        } else if fence {
            continue;
        }
        open += i32::from(line == "<details>") - i32::from(line == "</details>");
        assert!((0..=1).contains(&open), "folds are nested: {line}");
        let is_ours = |place: usize| {
            let rest = &line[place..];
            let is_number = rest[1..].starts_with(|c: char| c.is_ascii_digit());
            is_number || TAGS.iter().any(|tag| rest.starts_with(tag))
        };
        assert!(line.match_indices('<').all(|(place, _)| is_ours(place)), "{line}");
        let unfolded = if line.starts_with("<summary>") { String::new() } else { unescaped(line) };
        assert!(!unfolded.contains("](") && !unfolded.contains("://"), "a link: {line}");
        assert!(!line.contains('@'), "a mention: {line}");
        let pictures: Vec<&str> = unfolded.split('`').skip(1).step_by(2).collect();
        let in_picture = |c: char| "▁▂▃▄▅▆▇█┊‹›\u{a0}".contains(c);
        let is_command = |code: &str| code.starts_with("--");
        let is_fence = line.starts_with("```");
        assert!(
            is_fence || pictures.iter().all(|it| is_command(it) || it.chars().all(in_picture)),
            "code that is no picture: {line}"
        );
        let here = line.starts_with('|').then(|| unfolded.matches('|').count());
        assert!(here.is_none() || columns.is_none() || here == columns, "a torn table: {line}");
        columns = here;
    }
    assert!(!fence && open == 0, "something is left open");
}

/// Without what a backslash makes text.
fn unescaped(line: &str) -> String {
    let mut letters = line.chars();
    let mut left = String::new();
    while let Some(c) = letters.next() {
        if c == '\\' {
            letters.next();
        } else {
            left.push(c);
        }
    }
    left
}

/// CSV with as many fields in each line as there are heads, and nothing that a spreadsheet runs.
pub fn csv(text: &str) {
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    for record in reader.records() {
        for field in &record.expect("as many fields as heads") {
            let is_number = field.parse::<i128>().is_ok() || field.parse::<f64>().is_ok();
            let begins = ['=', '+', '-', '@', '\t', '\r', '\n', '＝', '＋', '－', '＠'];
            assert!(is_number || !field.starts_with(begins), "a formula: {field:?}");
        }
    }
}

/// A document, or several on a line each.
pub fn json(text: &str) -> Vec<Value> {
    let values: Result<Vec<Value>, _> =
        serde_json::Deserializer::from_str(text).into_iter().collect();
    values.expect("JSON")
}

/// Well-formed XML without anything that hides.
pub fn xml(text: &str) {
    plain(text);
    roxmltree::Document::parse(text).expect("XML");
}

/// A page whose tags, scripts and attributes are all our own: names that could begin or end one do
/// not stand in it as they are. Our attributes all stand in double quotes, so that single ones end none.
pub fn html(text: &str) {
    assert!(!text.contains(|c: char| is_harmful(c) && c != '\t'), "a control character");
    for name in hostile_names().iter().filter(|name| name.contains(['<', '"'])) {
        assert!(!text.contains(name.as_str()), "as it is: {name:?}");
    }
    let lower = text.to_lowercase();
    assert_eq!(lower.matches("<script").count(), lower.matches("</script").count());
    for attack in ["<script>alert", "<img", "=\"javascript:", "\" onmouseover=", "<!--\"", "-->\""]
    {
        assert!(!lower.contains(attack), "{attack}");
    }
}
