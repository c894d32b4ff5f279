//! `dwindle plan`.

mod measured;
mod model;
mod model_truth;
