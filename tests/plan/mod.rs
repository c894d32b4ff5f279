//! `dwindle plan`.

mod replay;
mod replay_cases;
