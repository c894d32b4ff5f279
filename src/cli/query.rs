//! `dwindle query`: SQL over the tables.

use std::fs::{self, File};
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::thread;

use arrow_schema::SchemaRef;

use super::analyze::write_tables;
use super::exit;
use super::folders::Folders;
use super::input::{Inputs, Rules, read, refuse_late};
use super::manifest::{Manifest, VERSION};
use super::memory::MemoryFlag;
use super::output::{self, Fatal, Page};
use super::selection::Subject;
use super::writing::Writing;
use crate::query::{NAMED, Named, Rows, Sql};
use crate::report::{Answer, Format};
use crate::span::Interner;
use crate::tables::folder::{Folder, FolderError, FolderWriter};
use crate::tables::format::FormatError;
use crate::tables::result_file::ResultFile;
use crate::tables::{Kept, ProblemRow, Severity, StoredTable, Tables};

/// Ask the tables by SQL.
///
/// The last argument names a query that comes along, unless -q or -e gives one. What is before it is
/// folders that `dwindle analyze` wrote, or exported traces, which are analyzed first. SQL is one
/// SELECT, or WITH, over the tables of `dwindle schema`; it reaches nothing else. Of tables in
/// Parquet only the columns in use are read, a few rows at a time; JSON lines and CSV are read
/// whole. What a query keeps (groups, sorted rows) has to fit into --memory.
#[derive(Debug, clap::Args)]
#[command(
    mut_arg("quiet", |quiet| quiet.short(None)),
    override_usage = "dwindle query [OPTIONS] <INPUT>... <NAME | -q <FILE> | -e <SQL>>",
    after_help = "\
Examples:
  dwindle query tables/ class_summary
  dwindle query traces.jsonl.gz -e 'SELECT count(*) AS hops FROM hops'
  dwindle query tables/ -q mine.sql --format csv --out mine.csv
  dwindle query --list"
)]
pub(super) struct Args {
    #[command(flatten)]
    inputs: Inputs,

    /// A file with the query
    #[arg(long, short, value_name = "FILE", conflicts_with = "sql")]
    query: Option<String>,

    /// The query itself
    #[arg(long = "execute", short = 'e', value_name = "SQL", allow_hyphen_values = true)]
    sql: Option<String>,

    /// Tell the queries that come along, and end
    #[arg(long, exclusive = true)]
    list: bool,

    /// Print the SQL of one of them, and end
    #[arg(long, value_name = "NAME", exclusive = true, value_parser = named)]
    show: Option<&'static Named>,

    #[command(flatten)]
    rules: Rules,

    #[command(flatten)]
    memory: MemoryFlag,

    #[command(flatten)]
    subject: Subject,

    /// How to print it
    #[arg(long, value_enum, value_name = "FORMAT", default_value = "terminal")]
    format: AnswerFormat,

    /// The file to write, in place of standard output
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,

    #[command(flatten)]
    page: Page,
}

/// How an answer is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum AnswerFormat {
    /// For a terminal or a plain-text file
    Terminal,
    /// For a review or a ticket
    Markdown,
    /// With a header
    Csv,
    /// One document, a row a line
    Json,
    /// For other tools
    Parquet,
}

fn named(name: &str) -> Result<&'static Named, String> {
    Named::find(name).ok_or_else(|| "no such query; dwindle query --list tells them".to_owned())
}

/// Room for the engine, which walks what a query nests or chains by recursion. Only what is used of it
/// is taken.
const STACK_BYTES: usize = 256 << 20;

/// Runs it.
pub(super) fn run(args: Args) -> Result<u8, Fatal> {
    thread::scope(|scope| {
        let builder = thread::Builder::new().stack_size(STACK_BYTES);
        let answering = builder
            .spawn_scoped(scope, || answer(args))
            .map_err(|error| Fatal::Usage(format!("no thread can be started: {error}")))?;
        answering.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

fn answer(mut args: Args) -> Result<u8, Fatal> {
    if args.list {
        return output::print(&list()).map(|()| exit::DONE);
    }
    if let Some(query) = args.show {
        return output::print(query.text).map(|()| exit::DONE);
    }
    let (title, sql) = chosen(&mut args)?;
    let is_binary = args.format == AnswerFormat::Parquet;
    if is_binary && args.out.is_none() && io::stdout().is_terminal() {
        return Err(Fatal::Usage("Parquet is not for terminals: name a file by --out".to_owned()));
    }
    // What is wrong with it is told before any trace is read.
    crate::query::check(&sql)?;
    let (tables, severities) = args.tables()?;
    let rows = crate::query::run(sql, tables, args.memory.memory().bytes)?;
    match &args.out {
        None => args.write(&title, rows, &mut io::stdout(), Fatal::Output)?,
        Some(path) => args.write_file(&title, rows, path)?,
    }
    Ok(exit::done(args.inputs.strict, severities.into_iter()))
}

/// The queries and what each is for.
fn list() -> String {
    let width = NAMED.iter().map(|query| query.name.len()).max().unwrap_or(0);
    let line = |query: &Named| format!("{:width$}  {}\n", query.name, query.purpose());
    NAMED.iter().map(line).collect()
}

/// The query, and a title for what it gives. The name of one that comes along is the last of what
/// stands where inputs do.
fn chosen(args: &mut Args) -> Result<(String, Sql), Fatal> {
    if let Some(file) = &args.query {
        return Ok((file.clone(), Sql { text: read("--query", file)?, file: file.clone() }));
    }
    if let Some(text) = &args.sql {
        let file = "-e".to_owned();
        return Ok(("Answer".to_owned(), Sql { file, text: text.clone() }));
    }
    let name = args.inputs.paths.pop().unwrap_or_default();
    let query = Named::find(&name).ok_or_else(|| {
        Fatal::Usage(format!(
            "{name} is not the name of a query, which stands last unless -q or -e gives one: dwindle \
             query --list tells them"
        ))
    })?;
    if args.inputs.paths.is_empty() {
        return Err(Fatal::Usage(format!("before {name} stands what to ask: a folder, or traces")));
    }
    let title = format!("{name}: {}", query.purpose().trim_end_matches('.'));
    Ok((title, Sql { file: query.file(), text: query.text.to_owned() }))
}

impl Args {
    /// The tables to ask, and how severe the trouble in their input was.
    fn tables(&self) -> Result<(Vec<StoredTable>, Vec<Severity>), Fatal> {
        let Self { inputs, rules, memory, subject, .. } = self;
        let folders = inputs.only_folders()?;
        if let Some(first) = folders.first() {
            let given = rules.first_given(false).or_else(|| inputs.first_given());
            let given = given.or_else(|| subject.first_given());
            refuse_late(given, &first.display().to_string())?;
            return self.of_folders(&folders);
        }
        let mut stored = Vec::new();
        let (writer, run, _) = write_tables(inputs, rules, memory, subject, || {
            unnamed(&memory.memory().folder, &mut stored)
        })?;
        writer.end()?;
        Ok((stored, severities(&run.ingested.problems)))
    }

    /// Those of one folder as they are; several are written anew, as if their traces had been analyzed
    /// together.
    fn of_folders(&self, dirs: &[&Path]) -> Result<(Vec<StoredTable>, Vec<Severity>), Fatal> {
        if let [dir] = dirs {
            let (folder, _): (Folder, Manifest) = Folder::open(dir)?;
            let mut problems = Vec::new();
            folder.read_all(&mut problems, &mut Interner::default())?;
            return Ok((folder.stored(), severities(&problems)));
        }
        let folders = Folders::open(dirs)?;
        let memory = self.memory.memory();
        let place = memory.folder.clone();
        let mut stored = Vec::new();
        let mut writing = Writing::new(memory, || unnamed(&place, &mut stored));
        folders.read(|tables| writing.add(&mut [tables]))?;
        let Kept { rows: problems, strings } = folders.problems()?;
        let late = Tables::default();
        writing.finish(late, (&problems, &strings), folders.are_chosen())?.end()?;
        Ok((stored, severities(&problems)))
    }

    /// Writes the answer into a file, of which nothing stays unless all of it is there. What is no
    /// file, such as a pipe, is written into.
    fn write_file(&self, title: &str, rows: Rows, path: &Path) -> Result<(), Fatal> {
        let failed = |error| Fatal::Written { path: path.to_owned(), error };
        if fs::symlink_metadata(path).is_ok_and(|there| !there.is_file()) {
            let mut there =
                File::options().write(true).truncate(true).open(path).map_err(failed)?;
            return self.write(title, rows, &mut there, failed);
        }
        let mut partial = path.as_os_str().to_owned();
        partial.push(".partial");
        let partial = PathBuf::from(partial);
        let mut file = File::create(&partial).map_err(failed)?;
        let written = self.write(title, rows, &mut file, failed);
        let written = written.and_then(|()| fs::rename(&partial, path).map_err(failed));
        written.inspect_err(|_| {
            // Why it could not be written is told already.
            let _ = fs::remove_file(&partial);
        })
    }

    fn write(
        &self,
        title: &str,
        rows: Rows,
        out: &mut (dyn Write + Send),
        failed: impl Fn(io::Error) -> Fatal,
    ) -> Result<(), Fatal> {
        let schema = rows.schema();
        let (format, width) = match self.format {
            AnswerFormat::Csv => return machine_rows(rows, out, failed, ResultFile::csv),
            AnswerFormat::Json => return machine_rows(rows, out, failed, ResultFile::json),
            AnswerFormat::Parquet => return machine_rows(rows, out, failed, ResultFile::parquet),
            AnswerFormat::Terminal => (Format::Terminal, Some(self.page.width())),
            AnswerFormat::Markdown => (Format::Markdown, None),
        };
        let mut answer = Answer::new(title, &schema);
        for batch in rows {
            answer.add(&batch?);
        }
        let page = answer.page(VERSION, width);
        let text = page.render(format, self.page.width(), self.page.is_coloured());
        out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(failed)
    }
}

/// Begins tables in `dir` that are read only here, from what `stored` then holds.
fn unnamed(dir: &Path, stored: &mut Vec<StoredTable>) -> Result<FolderWriter, FolderError> {
    let (writer, tables) = FolderWriter::unnamed(dir)?;
    *stored = tables;
    Ok(writer)
}

fn severities(problems: &[ProblemRow]) -> Vec<Severity> {
    problems.iter().map(|row| row.severity).collect()
}

/// A file for machines that begins with the columns.
type Begin<'a> =
    fn(BufWriter<&'a mut (dyn Write + Send)>, &SchemaRef) -> Result<Machine<'a>, FormatError>;
type Machine<'a> = ResultFile<BufWriter<&'a mut (dyn Write + Send)>>;

fn machine_rows<'a>(
    rows: Rows,
    out: &'a mut (dyn Write + Send),
    failed: impl Fn(io::Error) -> Fatal,
    begin: Begin<'a>,
) -> Result<(), Fatal> {
    let failed = |error: FormatError| failed(error.into());
    let mut file = begin(BufWriter::new(out), &rows.schema()).map_err(&failed)?;
    for batch in rows {
        file.write(&batch?).map_err(&failed)?;
    }
    file.finish().map_err(&failed)
}
