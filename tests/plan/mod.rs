//! `dwindle plan`.

mod made;
mod replay;
mod replay_cases;
mod replay_command;
