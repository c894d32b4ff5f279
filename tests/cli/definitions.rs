//! Completions and manual pages come from the definitions of the command line.

use std::fs;
use std::process::{Command, Stdio};

use crate::support::command::{run, run_with_input, scratch};

/// The verbs as the help lists them.
fn verbs() -> Vec<String> {
    let help = run(&["--help"]).out;
    let listed = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let listed = listed.take_while(|line| !line.is_empty());
    let verbs = listed.filter_map(|line| line.strip_prefix("  ")?.split_whitespace().next());
    // Of help wrapped lines begin further right.
    let verbs: Vec<String> = verbs.map(str::to_owned).filter(|verb| verb != "help").collect();
    assert!(verbs.len() >= 9, "{help}");
    verbs
}

#[test]
fn a_manual_page_is_there_for_each_verb_and_tells_its_flags() {
    let dir = scratch("man");
    let out = dir.join("made/man1");
    assert_eq!(run(&["man", "--out", out.to_str().unwrap()]).code, 0);
    let page = |name: &str| fs::read_to_string(out.join(name)).expect(name);
    for verb in verbs() {
        let page = page(&format!("dwindle-{verb}.1"));
        assert!(page.contains(".SH SYNOPSIS") && page.contains("xample"), "{verb}:\n{page}");
    }
    assert!(page("dwindle-report.1").contains("\\-\\-deadline"));
    // What plan plans has pages of its own.
    assert!(page("dwindle-plan-retries.1").contains("\\-\\-max\\-attempts"));
    let names =
        fs::read_dir(&out).unwrap().map(|it| it.unwrap().file_name().into_string().unwrap());
    let others = names.filter(|name| !name.starts_with("dwindle-plan-"));
    assert_eq!(others.count(), verbs().len() + 1);
    assert_eq!(page("dwindle.1"), run(&["man"]).out);
    for file in fs::read_dir(&out).unwrap() {
        let text = fs::read_to_string(file.unwrap().path()).unwrap();
        assert!(!text.contains(env!("CARGO_MANIFEST_DIR")), "a path of this machine:\n{text}");
    }
}

#[test]
fn a_folder_that_cannot_be_made_is_named() {
    let file = scratch("man-file").join("file");
    fs::write(&file, "mine").unwrap();
    let ran = run(&["man", "--out", file.to_str().unwrap()]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("--out") && ran.err.contains(file.to_str().unwrap()), "{}", ran.err);
}

#[test]
fn completions_know_each_verb() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let ran = run(&["completions", shell]);
        assert_eq!(ran.code, 0, "{}", ran.err);
        for verb in verbs() {
            assert!(ran.out.contains(&verb), "{shell} does not know {verb}");
        }
        assert!(ran.out.contains("deadline"), "{shell}");
        assert!(!ran.out.contains(env!("CARGO_MANIFEST_DIR")), "{shell}");
    }
    assert_eq!(run_with_input(&["completions", "tcsh"], b"").code, 2);
}

#[test]
fn bash_takes_its_completions() {
    let script = scratch("completions").join("dwindle.bash");
    fs::write(&script, run(&["completions", "bash"]).out).unwrap();
    let checked = Command::new("bash").arg("-n").arg(&script).stderr(Stdio::piped()).output();
    if let Ok(checked) = checked {
        assert!(checked.status.success(), "{}", String::from_utf8_lossy(&checked.stderr));
    }
}
