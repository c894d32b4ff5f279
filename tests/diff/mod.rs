//! Two inputs compared: `dwindle diff`.

mod chance;
mod command;
mod constants;
mod made;
