//! What attributes mean (SEMANTICS §2): tests of the resolver and of the data it reads.

mod cases;
