//! Writes the traces of a made-up fleet, as JSON lines and as protobuf frames.

use std::error::Error;
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use dwindle_benches::fleet::{Batches, Plan};
use prost::Message;

const USAGE: &str = "usage: generate FOLDER TRACES [OPERATIONS [FILES]]\n\
    writes FOLDER/json/N.jsonl and FOLDER/proto/N.pb";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let number = |at: usize, default: u64| match args.get(at) {
        Some(text) => text.parse().ok(),
        None => Some(default),
    };
    let (Some(folder), Some(traces @ 1..), Some(operations), Some(files @ 1..)) =
        (args.first(), number(1, 0), number(2, 6), number(3, 4))
    else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    match write(Path::new(folder), Plan { traces, operations, seed: 7 }, files) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{folder}: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Deals the batches out to the files, one after another.
fn write(folder: &Path, plan: Plan, files: u64) -> Result<(), Box<dyn Error>> {
    let create = |kind: &str, ending: &str| -> Result<Vec<BufWriter<File>>, Box<dyn Error>> {
        let folder: PathBuf = folder.join(kind);
        fs::create_dir_all(&folder)?;
        let file = |at: u64| File::create(folder.join(format!("{at}.{ending}")));
        (0..files).map(|at| Ok(BufWriter::new(file(at)?))).collect()
    };
    let (mut json, mut proto) = (create("json", "jsonl")?, create("proto", "pb")?);
    let mut outputs = json.iter_mut().zip(&mut proto).collect::<Vec<_>>();
    for (at, batch) in Batches::new(plan).enumerate() {
        let at = at % outputs.len();
        let (json, proto) = &mut outputs[at];
        serde_json::to_writer(&mut *json, &batch)?;
        json.write_all(b"\n")?;
        let message = batch.encode_to_vec();
        proto.write_all(&u32::try_from(message.len())?.to_be_bytes())?;
        proto.write_all(&message)?;
    }
    for (json, proto) in outputs {
        json.flush()?;
        proto.flush()?;
    }
    Ok(())
}
