//! What several tests share.

pub(crate) mod naive;
pub(crate) mod random;
pub(crate) mod rows;
