//! `dwindle cluster`, with a spark-submit of the test's own: what is submitted, what is told of what the
//! job says, and what is told where something is missing. No Spark is needed.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::command::{Ran, dwindle, finished, run, scratch};

const INPUT: &str = "fixtures/cases/untidy.json";

const DONE: &str =
    r#"{"event":"done","requests":7,"traces":5,"spans_admitted":30,"spans_rejected":1,"losses":0}"#;

/// A machine with what a test puts there, and nothing else.
struct Machine {
    dir: PathBuf,
}

impl Machine {
    /// One with Java 17, Python, and a Spark whose jobs do what `job`, a shell script, says.
    fn new(name: &str, job: &str) -> Self {
        let machine = Self { dir: scratch(&format!("cluster-{name}")) };
        for folder in ["bin", "tmp", "work"] {
            fs::create_dir(machine.dir.join(folder)).unwrap();
        }
        for tool in ["sh", "cat", "rm", "mkdir", "sleep"] {
            let known = ["/bin", "/usr/bin"].map(|folder| Path::new(folder).join(tool));
            let real = known.iter().find(|path| path.exists()).unwrap();
            symlink(real, machine.dir.join("bin").join(tool)).unwrap();
        }
        machine.put("java", "echo 'openjdk version \"17.0.9\" 2023-10-17' >&2");
        machine.put("python3", "case $2 in *find_spec*) exit 0;; esac\nexit 1");
        let record = machine.dir.join("record");
        machine.put(
            "spark-submit",
            &format!(
                "for word; do printf '%s\\n' \"$word\"; done > '{}'\n\
                 out={}\nmkdir -p \"$out\"\n{job}",
                record.display(),
                machine.out()
            ),
        );
        machine
    }

    fn put(&self, name: &str, script: &str) {
        let path = self.dir.join("bin").join(name);
        fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn out(&self) -> String {
        self.dir.join("work/out").to_str().unwrap().to_owned()
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = dwindle();
        for name in ["SPARK_HOME", "JAVA_HOME", "PYSPARK_PYTHON", "PYSPARK_DRIVER_PYTHON"] {
            command.env_remove(name);
        }
        command.env("PATH", self.dir.join("bin")).env("TMPDIR", self.dir.join("tmp"));
        command.arg("cluster").args(args);
        command
    }

    fn cluster(&self, args: &[&str]) -> Ran {
        finished(&mut self.command(args))
    }

    /// An ordinary run, with further arguments.
    fn run(&self, more: &[&str]) -> Ran {
        self.cluster(&[&[INPUT, "--out", &self.out()], more].concat())
    }

    /// What spark-submit was given, if it was started.
    fn submitted(&self) -> Vec<String> {
        let record = fs::read_to_string(self.dir.join("record")).unwrap_or_default();
        record.lines().map(str::to_owned).collect()
    }

    /// What is left in the temporary folder.
    fn left(&self) -> Vec<PathBuf> {
        fs::read_dir(self.dir.join("tmp")).unwrap().map(|entry| entry.unwrap().path()).collect()
    }
}

/// A job that is done.
fn job() -> String {
    format!("echo '{{\"dwindle_version\":\"x\"}}' > \"$out/manifest.json\"\necho '{DONE}'")
}

/// What follows a flag.
fn value<'a>(words: &'a [String], flag: &str) -> &'a str {
    let at = words
        .iter()
        .position(|word| word == flag)
        .unwrap_or_else(|| panic!("no {flag}: {words:?}"));
    &words[at + 1]
}

#[test]
fn the_job_is_submitted_with_this_program_and_all_that_the_flags_say() {
    // What is shipped is there while the job runs.
    let look = "for word; do case $word in */dwindle,*) shipped=${word%%,*};; */job.py) job=$word;; esac; done\n\
                \"$shipped\" --version > \"$out/../version\"\ncat \"$job\" > \"$out/../job\"\n\
                cat \"${shipped%/*}/contract.toml\" > \"$out/../contract\"";
    let machine = Machine::new("passed", &format!("{look}\n{}", job()));
    let (contract, conventions) = (machine.dir.join("a,b.toml"), machine.dir.join("b.toml"));
    fs::write(&contract, "").unwrap();
    fs::write(&conventions, "").unwrap();
    let ran = machine.run(
        &[
            &[
                "fixtures/cases/random-60.json",
                "--master",
                "spark://host:7077",
                "--partitions",
                "12",
            ][..],
            &[
                "--contract",
                contract.to_str().unwrap(),
                "--conventions",
                conventions.to_str().unwrap(),
            ],
            &[
                "--deadline",
                "GET /a=b=1s",
                "--deadline",
                "80ms",
                "--tolerance",
                "2ms",
                "--clock",
                "per-trace",
            ],
            &["--scope", "service=pay ments", "--by", "service.version,region", "--heuristics"],
            &[
                "--max-record",
                "3",
                "--max-expansion",
                "70",
                "--sketch",
                "--keep-spans",
                "kept",
                "--table",
            ],
            &["--", "--executor-memory", "4g", "--conf=spark.a=b=c", "--verbose", "--files", "x,y"],
        ]
        .concat(),
    );
    assert_eq!(ran.code, 0, "{}", ran.err);
    let words = machine.submitted();
    assert_eq!(value(&words, "--master"), "spark://host:7077");
    let files: Vec<&str> = value(&words, "--files").split(',').collect();
    let names: Vec<&str> = files.iter().map(|file| file.rsplit('/').next().unwrap()).collect();
    assert_eq!(names, ["dwindle", "contract.toml", "conventions.toml", "x", "y"]);
    let script = words.iter().position(|word| word.ends_with("/job.py")).unwrap();
    let (before, job) = words.split_at(script);
    assert_eq!(
        before[4..],
        ["--executor-memory", "4g", "--conf", "spark.a=b=c", "--verbose"].map(str::to_owned)
    );
    assert_eq!(value(job, "--dwindle"), files[0]);
    assert_eq!(value(job, "--contract"), files[1]);
    assert_eq!(value(job, "--conventions"), files[2]);
    assert_eq!(value(job, "--partitions"), "12");
    assert_eq!(value(job, "--out"), machine.out());
    let kept = Path::new(env!("CARGO_MANIFEST_DIR")).join("kept");
    assert_eq!(Path::new(value(job, "--keep-spans")), kept);
    assert!(["--sketch", "--table"].iter().all(|flag| job.iter().any(|word| word == flag)));
    let end = job.iter().position(|word| word == "--").unwrap();
    assert_eq!(job[end + 1..], [INPUT, "fixtures/cases/random-60.json"].map(str::to_owned));
    let judging = [
        "--deadline=GET /a=b=1000000000ns",
        "--deadline=80000000ns",
        "--tolerance=2000000ns",
        "--clock=per-trace",
        "--scope=service=pay ments",
        "--by=service.version",
        "--by=region",
    ];
    let flags: Value = serde_json::from_str(value(job, "--step-flags")).unwrap();
    assert_eq!(
        flags,
        json!({
            "ingest": ["--max-record=3", "--max-expansion=70", "--heuristics", "--by=service.version", "--by=region"],
            "survey": ["--clock=per-trace"],
            "observe": ["--tolerance=2000000ns", "--clock=per-trace"],
            "calibrate": [],
            "reconstruct": judging,
            "manifest": judging,
        })
    );
    let seen = |name: &str| fs::read_to_string(machine.dir.join("work").join(name)).unwrap();
    assert_eq!(seen("version"), run(&["--version"]).out);
    assert!(seen("job") == fs::read_to_string("src/cluster/job.py").unwrap());
    assert_eq!(seen("contract"), "");
    assert!(machine.left().is_empty(), "{:?}", machine.left());
}

/// Whoever adds a flag to analyze has to say what becomes of it on a cluster.
#[test]
fn every_flag_of_analyze_is_passed_on_or_refused() {
    let passed = [
        "--conventions",
        "--heuristics",
        "--max-record",
        "--max-expansion",
        "--contract",
        "--deadline",
        "--tolerance",
        "--clock",
        "--scope",
        "--by",
    ];
    let heeded_here = ["--out", "--strict", "--quiet", "--help"];
    let refused = [("--threads", "2"), ("--memory", "1GiB"), ("--format", "csv")];
    let help = run(&["analyze", "--help"]).out;
    let flags = help.lines().filter_map(|line| {
        let line = line.trim_start();
        let line = line.strip_prefix("-").filter(|_| line.starts_with('-'))?;
        line.split("--").nth(usize::from(!line.starts_with('-'))).or_else(|| line.strip_prefix('-'))
    });
    let flags: BTreeSet<String> = flags
        .filter_map(|text| text.split([' ', '[', ',']).next())
        .map(|name| format!("--{}", name.trim_start_matches('-')))
        .collect();
    let known = passed.iter().chain(&heeded_here).copied().chain(refused.iter().map(|it| it.0));
    assert_eq!(flags, known.map(str::to_owned).collect::<BTreeSet<_>>());
    let machine = Machine::new("refused", &job());
    for (flag, value) in refused {
        let ran = machine.run(&[flag, value]);
        assert!(ran.code == 2 && ran.err.contains(flag), "{flag}: {}", ran.err);
    }
    assert!(machine.submitted().is_empty());
}

#[test]
fn what_the_job_counted_is_told_and_strict_heeds_what_was_lost() {
    let machine = Machine::new("done", &format!("echo 'log4j:WARN' >&2\necho not ours\n{}", job()));
    let ran = machine.run(&[]);
    let told = format!("7 requests of 5 traces, 30 spans (1 rejected) -> {}\n", machine.out());
    assert_eq!((ran.code, ran.out.as_str()), (0, ""));
    assert_eq!(ran.err, format!("dwindle: {told}"));
    let left = |name: &str| Path::new(&machine.out()).join(name).exists();
    assert!(left("manifest.json") && !left("manifest.json.partial"));
    assert_eq!(machine.run(&["--quiet"]).err, "");
    assert_eq!(machine.run(&["--strict"]).code, 0);
    let losing = job().replace("\"losses\":0", "\"losses\":2");
    for (strict, code) in [(&["--strict"][..], 3), (&[], 0)] {
        assert_eq!(Machine::new("losing", &losing).run(strict).code, code);
    }
}

#[test]
fn what_the_job_says_obeys_nobody_and_leaves_nothing_out() {
    let say = r#"printf '%s\n' '{"event":"stage","name":"\u001b[2Jingest","done":1,"of":3}'
printf '%s\n' '{"event":"note","text":"warning: \u001b]0;mine\u0007 matches nothing"}'
echo 'java.lang.Exception: secret' >&2
printf '%s\n' '{"event":"error","text":"ingest of \u001b[31ma\u202e.json: no trace"}'
exit 1"#;
    let machine = Machine::new("hostile", say);
    let ran = machine.run(&[]);
    assert_eq!(ran.code, 2);
    assert!(!ran.err.contains(['\u{1b}', '\u{7}', '\u{202e}']), "{:?}", ran.err);
    assert!(ran.err.contains("warning: \\u{1b}]0;mine\\u{7} matches nothing\n"), "{}", ran.err);
    assert!(
        ran.err.contains("error: ingest of \\u{1b}[31ma\\u{202e}.json: no trace\n"),
        "{}",
        ran.err
    );
    // The log, and nothing else, is kept.
    let [log] = &machine.left()[..] else { panic!("{:?}", machine.left()) };
    assert!(ran.err.ends_with(&format!("the whole log: {}\n", log.display())), "{}", ran.err);
    assert!(fs::read_to_string(log).unwrap().contains("secret"));
}

#[test]
fn a_job_that_fails_without_a_word_is_told_by_the_lines_of_its_log_that_tell_why() {
    let say = "echo 'Traceback (most recent call last):'\necho 'ImportError: no module x'\n\
               echo 'INFO all is fine' >&2\necho 'Caused by: disk full' >&2\necho '  at x.y.Error' >&2\nexit 7";
    let ran = Machine::new("wordless", say).run(&[]);
    assert_eq!(ran.code, 2);
    // What comes by one way and by the other comes in any order.
    let (head, rest) = ran.err.split_once('\n').unwrap();
    assert_eq!(head, "dwindle: error: the job failed (exit status: 7)");
    let told: BTreeSet<&str> = rest.lines().take(2).collect();
    assert_eq!(told, BTreeSet::from(["Caused by: disk full", "ImportError: no module x"]));
    assert!(rest.lines().nth(2).is_some_and(|line| line.starts_with("the whole log: ")), "{rest}");
    for (name, say) in [("nothing", "exit 0"), ("half", "echo '{\"event\":\"done\"'")] {
        let ran = Machine::new(name, say).run(&[]);
        assert!(ran.code == 2 && ran.err.contains("without a word"), "{name}: {}", ran.err);
    }
    // A job may say that it is done and not be.
    let ran = Machine::new("late", &format!("echo '{DONE}'\nexit 1")).run(&[]);
    assert!(ran.code == 2 && ran.err.contains("exit status: 1"), "{}", ran.err);
    let ran = Machine::new("elsewhere", &format!("echo '{DONE}'")).run(&[]);
    assert!(ran.code == 2 && ran.err.contains("tables are not here"), "{}", ran.err);
}

#[test]
fn what_is_missing_is_told_with_what_to_do() {
    let told =
        |name: &str, without: &dyn Fn(&Machine), environment: &[(&str, &str)], words: &[&str]| {
            let machine = Machine::new(name, &job());
            without(&machine);
            let mut command = machine.command(&[INPUT, "--out", &machine.out()]);
            let ran = finished(command.envs(environment.iter().copied()));
            assert_eq!(ran.code, 2, "{name}: {}", ran.err);
            assert!(words.iter().all(|word| ran.err.contains(word)), "{name}: {}", ran.err);
            assert!(machine.submitted().is_empty());
            assert!(!Path::new(&machine.out()).exists(), "{name} made a folder");
        };
    let remove = |tool: &'static str| {
        move |machine: &Machine| fs::remove_file(machine.dir.join("bin").join(tool)).unwrap()
    };
    told(
        "no-spark",
        &remove("spark-submit"),
        &[],
        &["no Spark", "SPARK_HOME", "pip install 'pyspark[sql]'"],
    );
    told("no-home", &|_| {}, &[("SPARK_HOME", "/nowhere")], &["/nowhere", "bin/spark-submit"]);
    told("no-java", &remove("java"), &[], &["no Java", "JAVA_HOME", "17", "apt-get install"]);
    told("no-java-home", &|_| {}, &[("JAVA_HOME", "/nowhere")], &["/nowhere/bin/java", "17"]);
    told("no-python", &remove("python3"), &[], &["no Python", "PYSPARK_DRIVER_PYTHON"]);
    let lacking = |machine: &Machine| machine.put("python3", "echo pyarrow");
    told("no-pyarrow", &lacking, &[], &["python3 lacks pyarrow", "pip install pyarrow"]);
    let old = |machine: &Machine| {
        machine.put("java", "echo 'openjdk version \"1.8.0_392\"' >&2");
        fs::create_dir(machine.dir.join("jars")).unwrap();
        fs::write(machine.dir.join("jars/spark-core_2.13-4.3.0.jar"), "").unwrap();
    };
    told("old-java", &old, &[], &["Java 8, too old for Spark 4", "17"]);
}

#[test]
fn spark_is_found_where_spark_home_says_and_in_an_installed_pyspark() {
    let machine = Machine::new("pyspark", &job());
    let home = machine.dir.join("pyspark");
    fs::create_dir_all(home.join("bin")).unwrap();
    let submit = home.join("bin/spark-submit");
    fs::rename(machine.dir.join("bin/spark-submit"), &submit).unwrap();
    let answer = format!("case $2 in *pyspark*) echo '{}';; esac", submit.display());
    machine.put("python3", &answer);
    assert_eq!(machine.run(&[]).code, 0);
    machine.put("spark-submit", "exit 9");
    assert_eq!(machine.run(&[]).code, 2, "PATH goes before");
    let mut command = machine.command(&[INPUT, "--out", &machine.out()]);
    assert_eq!(finished(command.env("SPARK_HOME", &home)).code, 0);
}

#[test]
fn what_does_not_go_together_is_refused_before_anything_is_started() {
    let machine = Machine::new("conflicts", &job());
    let out = machine.out();
    let tables = machine.dir.join("tables");
    let tables = tables.to_str().unwrap();
    assert_eq!(run(&["analyze", INPUT, "--out", tables]).code, 0);
    let there = machine.dir.join("there.toml");
    fs::write(&there, "").unwrap();
    let there = there.to_str().unwrap();
    let elsewhere = ["--", "--deploy-mode", "cluster"];
    let cases: &[(&[&str], &str)] = &[
        (&["-", "--out", &out], "standard input"),
        (&[tables, "--out", &out], "analyzed already"),
        (&[INPUT], "--out DIR, or --calibrate FILE"),
        (&[INPUT, "--calibrate", "c.toml", "--sketch"], "--sketch"),
        (&[INPUT, "--calibrate", "c.toml", "--scope", "service=a"], "--scope"),
        (&[INPUT, "--calibrate", "c.toml", "--deadline", "1s"], "--deadline"),
        (&[INPUT, "--calibrate", "c.toml", "--out", &out, "--contract", there], "give one"),
        (&[INPUT, "--calibrate", "c.toml", "--out", &out, "--by", "a"], "--by"),
        (&[INPUT, "--calibrate", there], "already there"),
        (&[INPUT, "--calibrate", "s3a://b/c.toml"], "not to a URL"),
        (&[INPUT, "--out", &out, "--contract", "/nowhere.toml"], "/nowhere.toml"),
        (&[INPUT, "--out", &out, "--conventions", "/nowhere.toml"], "/nowhere.toml"),
        (&[INPUT, "--out", &out, "--by", "a,b,c,d,e"], "--by takes"),
        (&["/nowhere.json", "--out", &out], "/nowhere.json"),
        (&[INPUT, "--out", &out, "--partitions", "0"], "--partitions"),
        (&[INPUT, "--out", &out, "--", "s3a://more"], "s3a://more: behind --"),
        (&[INPUT, "--out", &out, "--", "--conf"], "--conf has no value"),
        (&[INPUT, "--out", &out, "--", "--master", "yarn"], "give it before --"),
        (&[&[INPUT, "--out", &out], &elsewhere[..]].concat(), "INPUT"),
        (&[&["/a.json", "--out", "out"], &elsewhere[..]].concat(), "out: with --deploy-mode"),
        (&[&["/a.json", "--out", &out, "--strict"], &elsewhere[..]].concat(), "--strict"),
    ];
    for (args, told) in cases {
        let ran = machine.cluster(args);
        assert_eq!(ran.code, 2, "{args:?}");
        let told = if *told == "INPUT" { "untidy.json: with --deploy-mode" } else { told };
        assert!(ran.err.contains(told), "{args:?}: {}", ran.err);
    }
    assert!(machine.submitted().is_empty() && !Path::new(&out).exists());
}

#[test]
fn a_driver_elsewhere_is_given_names_and_tells_nothing() {
    let machine = Machine::new("deploy", "exit 0");
    let ran = machine.cluster(
        &[
            &["hdfs://n/in", "--out", "hdfs://n/out", "--contract", "fixtures/shop.contract.toml"]
                [..],
            &["--", "--deploy-mode", "cluster"],
        ]
        .concat(),
    );
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.err.contains("log of its driver"), "{}", ran.err);
    let words = machine.submitted();
    assert_eq!(value(&words, "--dwindle"), "dwindle");
    assert_eq!(value(&words, "--out"), "hdfs://n/out");
    assert_eq!(value(&words, "--partitions"), "200", "nobody here knows how large the inputs are");
}

#[test]
fn a_contract_is_calibrated_into_a_file_of_this_folder() {
    let machine = Machine::new("calibrate", &format!("echo '{DONE}'"));
    let ran = machine.cluster(&[INPUT, "--calibrate", "target/not-there.toml"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.err.contains("5 traces do not declare -> target/not-there.toml"), "{}", ran.err);
    let words = machine.submitted();
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/not-there.toml");
    assert_eq!(Path::new(value(&words, "--calibrate")), file);
    assert!(!words.iter().any(|word| word == "--out"));
}

#[test]
fn partitions_go_by_the_size_of_the_input_and_by_the_cores() {
    let of = |input: &str, more: &[&str]| {
        let machine = Machine::new("partitions", &job());
        assert_eq!(machine.cluster(&[&[input, "--out", &machine.out()], more].concat()).code, 0);
        value(&machine.submitted(), "--partitions").to_owned()
    };
    assert_eq!(of(INPUT, &["--master", "local[3]"]), "6");
    assert_eq!(of(INPUT, &["--master", "local-cluster[2,4,1200]"]), "16");
    assert_eq!(of(INPUT, &["--", "--num-executors", "10", "--executor-cores=5"]), "100");
    let large = scratch("cluster-large").join("large.json");
    fs::File::create(&large).unwrap().set_len(40 * (32 << 20) + 1).unwrap();
    assert_eq!(of(large.to_str().unwrap(), &["--master", "local"]), "41");
}

#[test]
fn a_folder_with_files_of_others_is_refused_and_tables_stay_until_the_job_replaces_them() {
    let machine = Machine::new("replaced", &job());
    let out = PathBuf::from(machine.out());
    fs::create_dir(&out).unwrap();
    fs::write(out.join("hops.parquet"), "mine").unwrap();
    let ran = machine.run(&[]);
    assert!(ran.code == 2 && ran.err.contains("hops.parquet"), "{}", ran.err);
    assert!(machine.submitted().is_empty());
    assert_eq!(fs::read_to_string(out.join("hops.parquet")).unwrap(), "mine");
    fs::remove_file(out.join("hops.parquet")).unwrap();
    assert_eq!(run(&["analyze", INPUT, "--out", out.to_str().unwrap()]).code, 0);
    let broken = Machine::new("broken", "exit 1");
    assert_eq!(broken.cluster(&[INPUT, "--out", out.to_str().unwrap()]).code, 2);
    assert_eq!(run(&["report", out.to_str().unwrap()]).code, 0, "the job never came to write");
}

#[test]
fn the_job_ends_with_the_command() {
    let machine = Machine::new("killed", "echo $$ > \"$out/pid\"\nexec sleep 600");
    let mut child =
        machine.command(&[INPUT, "--out", &machine.out()]).stderr(Stdio::null()).spawn().unwrap();
    let pid = PathBuf::from(machine.out()).join("pid");
    let until = |what: &str, is_so: &dyn Fn() -> bool| {
        assert!(
            (0..600).any(|_| is_so() || {
                sleep(Duration::from_millis(50));
                false
            }),
            "{what}"
        );
    };
    until("it is submitted", &|| fs::read_to_string(&pid).is_ok_and(|pid| pid.ends_with('\n')));
    let job = PathBuf::from("/proc").join(fs::read_to_string(&pid).unwrap().trim());
    assert!(job.exists());
    // In the way that leaves a process no time.
    child.kill().unwrap();
    child.wait().unwrap();
    until("the job has ended", &|| !job.exists());
    until("what was shipped is gone", &|| machine.left().iter().all(|path| path.is_file()));
}

#[test]
fn the_job_is_printed_for_those_who_run_it_themselves() {
    let ran = run(&["cluster", "--print-job"]);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    assert!(ran.out == fs::read_to_string("src/cluster/job.py").unwrap());
}
