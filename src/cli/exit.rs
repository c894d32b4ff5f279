//! Exit codes. They are part of the interface; 1 and 3 are kept for gates and for lost input.

/// Done. A reader that closed the pipe early is done too.
pub const DONE: u8 = 0;

/// A flag, a file or an input is not what it should be: nothing that was printed can be trusted.
pub const USAGE: u8 = 2;

/// What `--help` says of them.
pub(super) const HELP: &str = "Exit codes: 0 done · 2 a flag, file or input is wrong";
