//! Exit codes. They are part of the interface.

/// Done. A reader that closed the pipe early is done too.
pub const DONE: u8 = 0;

/// Done, and a gate that was asked for failed.
pub const GATE_FAILED: u8 = 1;

/// A flag, a file or an input is not what it should be: nothing that was printed can be trusted.
pub const USAGE: u8 = 2;

/// Done, but spans were lost and `--strict` was set.
pub const INPUT_LOST: u8 = 3;

/// What `--help` says of them.
pub(super) const HELP: &str = "\
Exit codes: 0 done · 1 done, and a requested gate failed · 2 a flag, file or input is wrong · \
3 done, but input was lost under --strict";
