//! How fast the whole analysis is, as ratios to what cannot be avoided: `benches/speed` makes the
//! inputs and runs this. All is measured in one run, in turns, each pinned to its cores; the medians
//! of five are told.

#![expect(clippy::disallowed_methods, reason = "time is what is measured here")]

use std::error::Error;
use std::fs;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::thread::sleep;
use std::time::{Duration, Instant};

use dwindle::clocks::Offsets;
use dwindle::conventions::Conventions;
use dwindle::ingest::ingest;
use dwindle::reconstruct::{Policy, reconstruct};
use dwindle::survey::{call_bounds, survey};
use dwindle::tables::folder::FolderWriter;
use dwindle::tables::format::Format;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use prost::Message;
use serde::de::IgnoredAny;

const USAGE: &str = "\
usage: speed ratios DWINDLE SMALL LARGE VARIED OUT
                                       all ratios; the folders as `generate` writes them: LARGE holds
                                       ten times as many spans as SMALL, VARIED as many as LARGE,
                                       with 100,000 names
       speed memory DWINDLE ONE TEN OUT
                                       peak memory under a limit, of 1 and 10 GB of JSON, and
                                       whether the tables are those of a run without one
       speed skim FOLDER               seconds to skim its JSON lines in memory
       speed decode FOLDER             seconds to decode its protobuf frames in memory
       speed stages FOLDER OUT         seconds of each stage of an analysis";

/// How often each is measured.
const ROUNDS: usize = 5;

/// More than any input takes here.
const UNLIMITED: &str = "1TiB";

/// What an analysis is to get by with.
const LIMIT: &str = "1GiB";

/// How often the memory of a running analysis is looked at.
const LOOK: Duration = Duration::from_millis(10);

type Outcome<T> = Result<T, Box<dyn Error>>;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let done = match args.as_slice() {
        ["ratios", dwindle, small, large, varied, out] => {
            ratios(dwindle, [small, large, varied], out)
        }
        ["memory", dwindle, one, ten, out] => memory(dwindle, one, ten, out),
        ["skim", folder] => skim(folder).map(|seconds| println!("{seconds}")),
        ["decode", folder] => decode(folder).map(|seconds| println!("{seconds}")),
        ["stages", folder, out] => stages(folder, out),
        _ => {
            eprintln!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("speed: {error}");
            ExitCode::FAILURE
        }
    }
}

/// The contents of a folder's files.
fn contents(folder: &str) -> Outcome<Vec<Vec<u8>>> {
    let mut paths: Vec<PathBuf> =
        fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<Outcome<_>>()?;
    paths.sort();
    paths.iter().map(|path| Ok(fs::read(path)?)).collect()
}

fn skim(folder: &str) -> Outcome<f64> {
    let contents = contents(folder)?;
    // Where lines end is known before the clock runs.
    let lines = contents.iter().flat_map(|content| content.split(|&byte| byte == b'\n'));
    let lines: Vec<&[u8]> = lines.filter(|line| !line.is_empty()).collect();
    let begun = Instant::now();
    for line in lines {
        black_box(serde_json::from_slice::<IgnoredAny>(line)?);
    }
    Ok(begun.elapsed().as_secs_f64())
}

fn decode(folder: &str) -> Outcome<f64> {
    let contents = contents(folder)?;
    let begun = Instant::now();
    for content in &contents {
        let mut rest = content.as_slice();
        while let Some((header, behind)) = rest.split_first_chunk() {
            let len = u32::from_be_bytes(*header) as usize;
            let (frame, next) = behind.split_at_checked(len).ok_or("a frame is cut off")?;
            black_box(ExportTraceServiceRequest::decode(frame)?);
            rest = next;
        }
    }
    Ok(begun.elapsed().as_secs_f64())
}

fn stages(folder: &str, out: &str) -> Outcome<()> {
    let conventions = Conventions::embedded()?;
    let policy = Policy::default();
    let begun = Instant::now();
    let read = ingest(&[folder.to_owned()], &conventions, &())?;
    let read_by = begun.elapsed().as_secs_f64();
    let (mut surveyed, mut reconstructed, mut written) = (0.0, 0.0, 0.0);
    let mut writer = FolderWriter::create(Path::new(out), Format::Parquet)?;
    for spans in read.partitions {
        surveyed += timed(|| black_box((survey(&spans), call_bounds(&spans)))).1;
        let (tables, seconds) = timed(|| reconstruct(spans, &policy, &Offsets::default()));
        reconstructed += seconds;
        let (outcome, seconds) = timed(|| writer.write(&[tables]));
        outcome?;
        written += seconds;
    }
    let (outcome, seconds) = timed(|| writer.finish(&serde_json::json!({ "dwindle_version": 0 })));
    outcome?;
    written += seconds;
    let all = read_by + surveyed + reconstructed + written;
    for (stage, seconds) in [
        ("read and admit", read_by),
        ("survey", surveyed),
        ("reconstruct", reconstructed),
        ("write", written),
    ] {
        println!("{stage:<16} {seconds:8.3} s {:5.1} %", 100.0 * seconds / all);
    }
    Ok(())
}

fn timed<T>(work: impl FnOnce() -> T) -> (T, f64) {
    let begun = Instant::now();
    let done = work();
    (done, begun.elapsed().as_secs_f64())
}

/// One thing to measure.
struct Measured {
    name: &'static str,
    run: Box<dyn Fn() -> Outcome<f64>>,
    seconds: Vec<f64>,
}

impl Measured {
    fn median(&self) -> f64 {
        let mut sorted = self.seconds.clone();
        sorted.sort_by(f64::total_cmp);
        sorted.get(sorted.len() / 2).copied().unwrap_or(f64::NAN)
    }
}

fn ratios(dwindle: &str, [small, large, varied]: [&str; 3], out: &str) -> Outcome<()> {
    let analysis = |input: String, cores: &'static str| -> Box<dyn Fn() -> Outcome<f64>> {
        let (dwindle, out) = (dwindle.to_owned(), out.to_owned());
        Box::new(move || Ok(analyze(&dwindle, &input, &out, cores, UNLIMITED)?.seconds))
    };
    let this = std::env::current_exe()?;
    let reference = |verb: &'static str, input: String| -> Box<dyn Fn() -> Outcome<f64>> {
        let this = this.clone();
        Box::new(move || {
            let ran = pinned("0", &this).args([verb, &input]).output()?;
            Ok(String::from_utf8(ran.stdout)?.trim().parse()?)
        })
    };
    let mut all: Vec<Measured> = [
        ("skim of JSON", reference("skim", format!("{small}/json"))),
        ("analyze JSON", analysis(format!("{small}/json"), "0")),
        ("decoding of protobuf", reference("decode", format!("{small}/proto"))),
        ("analyze protobuf", analysis(format!("{small}/proto"), "0")),
        ("analyze 10 x JSON", analysis(format!("{large}/json"), "0")),
        ("analyze 10 x JSON, two cores", analysis(format!("{large}/json"), "0,1")),
        ("analyze 10 x JSON, 100,000 names", analysis(format!("{varied}/json"), "0")),
    ]
    .into_iter()
    .map(|(name, run)| Measured { name, run, seconds: Vec::new() })
    .collect();
    for _ in 0..ROUNDS {
        for measured in &mut all {
            measured.seconds.push((measured.run)()?);
        }
    }
    for measured in &all {
        let each: Vec<String> = measured.seconds.iter().map(|s| format!("{s:.3}")).collect();
        println!("{:<34} {:8.3} s   of {}", measured.name, measured.median(), each.join(" "));
    }
    let of = |at: usize| all.get(at).map_or(f64::NAN, Measured::median);
    println!();
    println!("(a) JSON: analyze / skim             {:6.2}   at most 2.0", of(1) / of(0));
    println!("(b) protobuf: analyze / prost        {:6.2}   at most 0.8", of(3) / of(2));
    println!("(c) two cores / one                  {:6.2}   at most 0.58", of(5) / of(4));
    println!("(d) 10 x the spans / 1 x             {:6.2}   at most 10.5", of(4) / of(1));
    println!("    100,000 names / 72               {:6.2}   at most 1.5", of(6) / of(4));
    Ok(())
}

fn memory(dwindle: &str, one: &str, ten: &str, out: &str) -> Outcome<()> {
    let limited = format!("{out}/limited");
    for (name, input) in [("1 GB", one), ("10 GB", ten)] {
        let ran = analyze(dwindle, &format!("{input}/json"), &limited, "0,1", LIMIT)?;
        let (peak, seconds) = (ran.peak_kib / 1024, ran.seconds);
        println!("(e) {name} under {LIMIT}: peak {peak} MiB, {seconds:.1} s   at most 1331 MiB");
    }
    let unlimited = format!("{out}/unlimited");
    let ran = analyze(dwindle, &format!("{ten}/json"), &unlimited, "0,1", UNLIMITED)?;
    println!("    10 GB without: peak {} MiB, {:.1} s", ran.peak_kib / 1024, ran.seconds);
    let same = contents(&limited)? == contents(&unlimited)?;
    println!("    tables the same to the byte: {}", if same { "yes" } else { "NO" });
    Ok(())
}

/// A command on some cores.
fn pinned(cores: &str, program: &Path) -> Command {
    let mut command = Command::new("taskset");
    command.args(["-c", cores]).arg(program);
    command
}

/// What an analysis took.
struct Ran {
    seconds: f64,
    peak_kib: u64,
}

/// Runs an analysis on some cores.
fn analyze(dwindle: &str, input: &str, out: &str, cores: &str, memory: &str) -> Outcome<Ran> {
    let threads = cores.split(',').count().to_string();
    let begun = Instant::now();
    let mut child = pinned(cores, Path::new(dwindle))
        .args(["analyze", input, "--out", out, "--format", "parquet", "--quiet"])
        .args(["--threads", &threads, "--memory", memory])
        .spawn()?;
    let mut peak_kib = 0;
    loop {
        let status = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kib = line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok());
        peak_kib = kib.unwrap_or(0).max(peak_kib);
        if let Some(status) = child.try_wait()? {
            let seconds = begun.elapsed().as_secs_f64();
            return if status.success() {
                Ok(Ran { seconds, peak_kib })
            } else {
                Err(format!("{dwindle}: {status}").into())
            };
        }
        sleep(LOOK);
    }
}
