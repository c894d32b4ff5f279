//! `dwindle plan`.

mod model;
mod model_truth;
