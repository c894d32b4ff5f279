//! What `inspect` says of a file beyond counts, and that it never quotes what was read.

use dwindle::ingest::problems::Code;
use dwindle::ingest::{FileInspection, inspect};
use dwindle::report::missing;

use super::reference::{Value, attribute, span, to_json, traces};
use super::support::{Folder, conventions, problems, read};

fn inspected(message: &super::reference::TracesData) -> FileInspection {
    let folder = Folder::new();
    let path = folder.write("a", to_json(message).to_string());
    inspect(&[path], conventions(), &()).unwrap().files.remove(0)
}

fn says(file: &FileInspection, start: &str) -> bool {
    missing(&file.counts).iter().any(|sentence| sentence.starts_with(start))
}

#[test]
fn without_grants_it_says_how_deadlines_can_become_known() {
    let file = inspected(&traces("shop", vec![span(1, 0), span(2, 1)]));
    assert!(says(&file, "no span says how much time it was given"));
    assert!(says(&file, "no span says how long one attempt may take"));
    assert!(says(&file, "no span says which attempt it is"));
    assert!(says(&file, "no span says how long it waited"));
    assert_eq!(missing(&file.counts).len(), 4);
}

#[test]
fn grants_below_the_root_alone_do_not_make_the_deadline_known() {
    let mut child = span(2, 1);
    child.attributes = vec![
        attribute("deadline.remaining_ms", Value::Int(80)),
        attribute("deadline.queue_ms", Value::Int(3)),
        attribute("deadline.attempt_timeout_ms", Value::Text("20".to_owned())),
    ];
    let file = inspected(&traces("", vec![span(1, 0), child, span(3, 7)]));
    assert!(says(&file, "1 of 3 spans say how much time was given, but no root span does"));
    assert!(says(&file, "1 of 3 spans name a parent that is not there"));
    assert!(says(&file, "3 of 3 spans have no service.name"));
    assert!(!says(&file, "no span says how much time it was given"));
    assert!(!says(&file, "no span says how long"));
    let keys: Vec<(&str, u64)> =
        file.facts.seen.keys.iter().map(|(key, seen)| (key.as_str(), seen.count)).collect();
    assert!(keys.contains(&("deadline.remaining_ms", 1)), "{keys:?}");
}

#[test]
fn a_value_that_does_not_parse_is_a_problem_that_names_the_key_and_not_the_value() {
    let mut root = span(1, 0);
    root.attributes = vec![attribute("deadline.remaining_ms", Value::Text("secret".to_owned()))];
    let folder = Folder::new();
    let read = read(&[&folder.write("a", to_json(&traces("shop", vec![root])).to_string())]);
    assert_eq!(problems(&read), ["value-unparsed 1 @125:1:0"]);
    let message = read.problem_strings.get(read.problems[0].message);
    assert_eq!(message, "a value of deadline.remaining_ms does not parse and was ignored");
}

#[test]
fn every_kind_of_trouble_has_its_own_name_and_says_what_to_do() {
    let mut names: Vec<&str> = Code::ALL.iter().map(|code| code.name()).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), Code::ALL.len());
    for code in Code::ALL {
        let sentences = [code.message(), code.help()];
        assert!(sentences.iter().all(|sentence| sentence.len() > 10 && !sentence.ends_with('.')));
    }
}

#[test]
fn what_one_file_lacks_another_may_hold() {
    let folder = Folder::new();
    let write = |name: &str, service: &str, spans| {
        folder.write(name, to_json(&traces(service, spans)).to_string())
    };
    let paths =
        [write("a", "shop", vec![span(1, 0), span(3, 9)]), write("b", "bank", vec![span(2, 1)])];
    let inspection = inspect(&paths, conventions(), &()).unwrap();
    let orphans: Vec<u64> = inspection.files.iter().map(|file| file.counts.orphans).collect();
    assert_eq!(orphans, [1, 1]);
    let together = inspection.together.unwrap();
    assert_eq!((together.spans, together.traces, together.roots, together.orphans), (3, 1, 1, 1));
    assert_eq!(together.services.into_iter().collect::<Vec<_>>(), ["bank", "shop"]);
    let one = inspect(&paths[..1], conventions(), &()).unwrap();
    assert!(one.together.is_none(), "one file is told once");
}
