//! Instants, and stretches of time between two.

use crate::units::UnixNanos;

/// An instant, and the span whose clock told it.
pub(super) type Moment = (UnixNanos, usize);

/// A stretch of time: from, to.
pub(super) type Stretch = (UnixNanos, UnixNanos);
