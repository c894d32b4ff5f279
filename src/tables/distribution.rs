//! The table `distributions`: what the values in other tables' rows are together, class by class.

use super::rows::{Category, FindingCode};
use super::schema::{BadSide, table};
use crate::names::names;
use crate::span::Sym;
use crate::units::Nanos;

names! {
    /// Whose values a distribution is of.
    pub enum Scope {
        /// Those of requests.
        Request = "request",
        /// Those of the hops of one place in the call tree.
        Hop = "hop",
        /// Those of the attempts of one call and ordinal.
        Attempt = "attempt",
        /// What requests spent in one service on one category; zero for those that spent nothing.
        Segment = "segment",
        /// Those of the findings of one code at one place.
        Finding = "finding",
    }
}

table! {
    /// One row a measure of a class and place: its percentiles, each with a 95 % interval.
    "distributions" => DistributionRow {
        /// The requests' class.
        request_class: Sym;
        /// Whose values they are.
        scope: Scope;
        /// How many hops stand above, of hops and findings.
        depth: Option<i32>, null = "it is not about hops of one depth";
        /// Who calls, of hops, attempts and findings.
        caller_service: Option<Sym>, null = "nothing calls, or it is not about one caller";
        /// Who is called, of hops, attempts and findings.
        callee_service: Option<Sym>, null = "nothing names it, or it is not about one callee";
        /// What for, of hops, attempts and findings.
        operation: Option<Sym>, null = "it is not about one operation";
        /// Which try of its call, of attempts.
        ordinal: Option<i32>, null = "it is not about attempts";
        /// Whose own time, of segments.
        service: Option<Sym>, null = "it is not about segments";
        /// What time was spent on, of segments.
        category: Option<Category>, null = "it is not about segments";
        /// What is wrong, of findings.
        code: Option<FindingCode>, null = "it is not about findings";
        /// The column that the values stand in.
        measure: Sym;
        /// The side on which the measure hurts.
        bad_side: BadSide;
        /// How many values there are; of requests that stand for none, none is counted.
        n: i64;
        /// How many of them are not zero.
        nonzero: i64;
        /// Their sum.
        sum_ns: Option<i64>, null = "it does not fit into 64 bits";
        /// Whether the sampling probability of every request of the class is known. Percentiles are
        /// then those of the population, and their intervals approximate.
        weighted: bool;
        /// How many of the population the values stand for.
        weight_sum: Option<f64>, null = "it is not weighted";
        /// How many values of equal weight would tell as much; intervals are taken from it.
        effective_n: Option<f64>, null = "it is not weighted";
        /// The smallest value.
        min_ns: Nanos;
        /// At or below it lies the lowest thousandth.
        p0_1_ns: Option<Nanos>, null = "the sample is too small to bound it";
        /// The lower end of its interval.
        p0_1_lo_ns: Option<Nanos>, null = "no value is far enough out";
        /// The upper end of its interval.
        p0_1_hi_ns: Option<Nanos>, null = "no value is far enough out";
        /// At or below it lies the lowest hundredth.
        p1_ns: Option<Nanos>, null = "the sample is too small to bound it";
        /// The lower end of its interval.
        p1_lo_ns: Option<Nanos>, null = "no value is far enough out";
        /// The upper end of its interval.
        p1_hi_ns: Option<Nanos>, null = "no value is far enough out";
        /// At or below it lies the lowest twentieth.
        p5_ns: Option<Nanos>, null = "the sample is too small to bound it";
        /// The lower end of its interval.
        p5_lo_ns: Option<Nanos>, null = "no value is far enough out";
        /// The upper end of its interval.
        p5_hi_ns: Option<Nanos>, null = "no value is far enough out";
        /// At or below it lies the lowest tenth.
        p10_ns: Option<Nanos>, null = "the sample is too small to bound it";
        /// The lower end of its interval.
        p10_lo_ns: Option<Nanos>, null = "no value is far enough out";
        /// The upper end of its interval.
        p10_hi_ns: Option<Nanos>, null = "no value is far enough out";
        /// At or below it lies half of them.
        p50_ns: Option<Nanos>, null = "the sample is too small to bound it";
        /// The lower end of its interval.
        p50_lo_ns: Option<Nanos>, null = "no value is far enough out";
        /// The upper end of its interval.
        p50_hi_ns: Option<Nanos>, null = "no value is far enough out";
        /// At or below it lie all but the highest tenth.
        p90_ns: Option<Nanos>, null = "the sample is too small to bound it";
        /// The lower end of its interval.
        p90_lo_ns: Option<Nanos>, null = "no value is far enough out";
        /// The upper end of its interval.
        p90_hi_ns: Option<Nanos>, null = "no value is far enough out";
        /// At or below it lie all but the highest twentieth.
        p95_ns: Option<Nanos>, null = "the sample is too small to bound it";
        /// The lower end of its interval.
        p95_lo_ns: Option<Nanos>, null = "no value is far enough out";
        /// The upper end of its interval.
        p95_hi_ns: Option<Nanos>, null = "no value is far enough out";
        /// At or below it lie all but the highest hundredth.
        p99_ns: Option<Nanos>, null = "the sample is too small to bound it";
        /// The lower end of its interval.
        p99_lo_ns: Option<Nanos>, null = "no value is far enough out";
        /// The upper end of its interval.
        p99_hi_ns: Option<Nanos>, null = "no value is far enough out";
        /// At or below it lie all but the highest thousandth.
        p99_9_ns: Option<Nanos>, null = "the sample is too small to bound it";
        /// The lower end of its interval.
        p99_9_lo_ns: Option<Nanos>, null = "no value is far enough out";
        /// The upper end of its interval.
        p99_9_hi_ns: Option<Nanos>, null = "no value is far enough out";
        /// The largest value.
        max_ns: Nanos;
    }
}
