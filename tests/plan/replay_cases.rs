//! Replays worked out by hand.
