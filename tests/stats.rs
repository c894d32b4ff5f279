//! Percentiles, their ranks and their intervals.
