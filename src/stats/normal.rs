//! The standard normal distribution, as far as tests need it.

use std::f64::consts::{PI, SQRT_2};

use super::proportion::last;

/// Beyond this no float tells anything of the tail.
const FAR: f64 = 40.0;

/// P(Z ≥ z).
pub(super) fn upper_tail(z: f64) -> f64 {
    libm::erfc(z / SQRT_2) / 2.0
}

/// The density at `z`.
pub(super) fn density(z: f64) -> f64 {
    (-z * z / 2.0).exp() / (2.0 * PI).sqrt()
}

/// The z beyond which lies a tail of `p`, 0 < p ≤ ½.
pub(super) fn beyond(p: f64) -> f64 {
    FAR * last(|part| upper_tail(part * FAR) > p)
}
