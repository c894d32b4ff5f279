//! Progress on standard error, where that is a terminal and the work is long.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use indicatif::{HumanCount, ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::ingest::Progress;
use crate::visible::visible;

/// Work that is done sooner shows nothing.
const LONG: Duration = Duration::from_secs(1);

/// Files, bytes, spans a second and the time left.
#[derive(Debug)]
pub(super) struct ProgressLine {
    bar: ProgressBar,
    quiet: bool,
    files: AtomicU64,
    files_done: AtomicU64,
    spans: AtomicU64,
}

impl ProgressLine {
    /// A line that shows nothing yet, and never if `quiet` or where there is no terminal.
    pub(super) fn new(quiet: bool) -> Self {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
        let style = "{bytes}/{total_bytes} {wide_bar} {msg}, {eta} left";
        if let Ok(style) = ProgressStyle::with_template(style) {
            bar.set_style(style);
        }
        Self {
            bar,
            quiet,
            files: AtomicU64::new(0),
            files_done: AtomicU64::new(0),
            spans: AtomicU64::new(0),
        }
    }

    fn tell(&self) {
        let elapsed = self.bar.elapsed();
        if self.quiet || elapsed < LONG {
            return;
        }
        if self.bar.is_hidden() {
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
        }
        let spans = self.spans.load(Ordering::Relaxed);
        let per_second = spans * 1_000 / u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX);
        self.bar.set_message(format!(
            "{}/{} files, {} spans, {}/s",
            self.files_done.load(Ordering::Relaxed),
            self.files.load(Ordering::Relaxed),
            HumanCount(spans),
            HumanCount(per_second),
        ));
    }
}

impl Drop for ProgressLine {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

impl Progress for ProgressLine {
    fn begin(&self, files: usize, bytes: u64) {
        self.files.store(files as u64, Ordering::Relaxed);
        if bytes > 0 {
            self.bar.set_length(bytes);
        }
    }

    fn bytes(&self, bytes: u64) {
        self.bar.inc(bytes);
    }

    fn spans(&self, spans: u64) {
        self.spans.fetch_add(spans, Ordering::Relaxed);
        self.tell();
    }

    fn file_done(&self) {
        self.files_done.fetch_add(1, Ordering::Relaxed);
        self.tell();
    }
}

/// Which stage of a job runs, and how many of its tasks have ended.
#[derive(Debug)]
pub(super) struct StageLine {
    bar: ProgressBar,
}

impl StageLine {
    /// A line that shows nothing yet, and never if `quiet` or where there is no terminal.
    pub(super) fn new(quiet: bool) -> Self {
        let target =
            if quiet { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
        let bar = ProgressBar::with_draw_target(None, target);
        if let Ok(style) =
            ProgressStyle::with_template("{msg} {wide_bar} {pos}/{len} tasks, {elapsed}")
        {
            bar.set_style(style);
        }
        Self { bar }
    }

    /// How far a stage is. Its name is another program's.
    pub(super) fn tell(&self, stage: &str, done: u64, of: u64) {
        self.bar.set_message(visible(stage));
        self.bar.set_length(of);
        self.bar.set_position(done);
    }

    /// Says something else in the meantime.
    pub(super) fn beside(&self, say: impl FnOnce()) {
        self.bar.suspend(say);
    }

    /// Takes the line away.
    pub(super) fn clear(&self) {
        self.bar.finish_and_clear();
    }
}
