//! Exit codes. They are part of the interface.

use crate::tables::Severity;

/// Done. A reader that closed the pipe early is done too.
pub const DONE: u8 = 0;

/// Done, but what `check` judged, or `diff --fail-on` found, fails. It goes before [`INPUT_LOST`]: what was lost could only have
/// added to what fails.
pub const GATE_FAILED: u8 = 1;

/// A flag, a file or an input is not what it should be: nothing that was printed can be trusted.
pub const USAGE: u8 = 2;

/// Done, but spans or evidence were lost, and `--strict` was set.
pub const INPUT_LOST: u8 = 3;

/// What `--help` says of them.
pub(super) const HELP: &str = "\
Exit codes: 0 done · 1 done, and what check or diff judged fails · 2 a flag, file or input is wrong · 3 done, but input \
was lost under --strict";

/// The code of a command that is done, by how severe the trouble in its input was.
pub(super) fn done(strict: bool, mut problems: impl Iterator<Item = Severity>) -> u8 {
    if strict && problems.any(|severity| severity == Severity::Loss) { INPUT_LOST } else { DONE }
}
