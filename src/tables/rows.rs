//! The tables, column by column. SEMANTICS.md defines every number.

use super::schema::table;
use crate::names::names;
use crate::span::{GrantKind, Outcome, SpanId, Sym, TraceId};
use crate::units::{Nanos, UnixNanos};

names! {
    /// Where a request's deadline comes from.
    pub enum DeadlineSource {
        /// A contract, or `--deadline`.
        Contract = "contract",
        /// A grant on the root span itself.
        Declared = "declared",
        /// What requests of its class show: where they are cut off.
        Inferred = "inferred",
        /// There is none.
        None = "none",
    }
}

names! {
    /// How a request ended (SEMANTICS §10).
    pub enum TerminalOutcome {
        /// Its root ended without an error.
        Completed = "completed",
        /// Its root failed.
        Failed = "failed",
        /// It was refused.
        Rejected = "rejected",
        /// It was cancelled.
        Cancelled = "cancelled",
        /// Its deadline or a timeout passed.
        DeadlineExceeded = "deadline_exceeded",
        /// The root left while a side effect was in doubt.
        Indeterminate = "indeterminate",
    }
}

names! {
    /// What a hop was given compared with what its caller had left (SEMANTICS §6).
    pub enum Verdict {
        /// The hop that holds the root span.
        Origin = "origin",
        /// No grant was seen.
        Undeclared = "undeclared",
        /// A grant, and no deadline above it.
        NoCallerDeadline = "no_caller_deadline",
        /// More than was left by what the way in cost; honest.
        Stretched = "stretched",
        /// Honest itself, below a hop that was not.
        Inherited = "inherited",
        /// The full timeout again.
        Reset = "reset",
        /// More than was left, equal to nothing earlier.
        Overgrant = "overgrant",
        /// Nothing was left.
        Expired = "expired",
        /// Leaves less than the return reserve.
        ReserveInvading = "reserve_invading",
        /// What was left was passed on.
        Propagated = "propagated",
        /// Less than was left.
        Tightened = "tightened",
    }
}

names! {
    /// What an attempt is within its call (SEMANTICS §7).
    pub enum AttemptKind {
        /// The first.
        Initial = "initial",
        /// After a failure.
        Retry = "retry",
        /// Beside one that still ran.
        Hedge = "hedge",
        /// After a redirect or an authorization challenge.
        Resend = "resend",
    }
}

names! {
    /// Whether enough was left for an attempt when it began (SEMANTICS §7).
    pub enum Funding {
        /// No deadline, or no allowance to compare with.
        Unknown = "unknown",
        /// Nothing was left.
        Expired = "expired",
        /// Enough was left.
        Funded = "funded",
        /// Less was left than one attempt needs.
        Unfundable = "unfundable",
    }
}

names! {
    /// What time on the consumption path was spent on (SEMANTICS §8).
    pub enum Category {
        /// Waiting in a queue or for a connection.
        Queue = "queue",
        /// Between an attempt and its retry.
        Backoff = "backoff",
        /// A call whose callee is known, outside of the callee.
        Network = "network",
        /// A call whose callee was not traced.
        Downstream = "downstream",
        /// The service itself.
        Local = "local",
    }
}

names! {
    /// What is wrong (SEMANTICS §11), in that table's order.
    pub enum FindingCode {
        /// A hop was given the full timeout again.
        TimeoutReset = "timeout-reset",
        /// A hop was given more than was left.
        Overgrant = "overgrant",
        /// A grant leaves less than the return reserve.
        ReserveInvaded = "reserve-invaded",
        /// A queue held it until too little was left.
        AdmittedUnfundable = "admitted-unfundable",
        /// Execution began after the deadline.
        StartedExpired = "started-expired",
        /// Execution began after the caller had left while it queued.
        RanAfterQueueCancel = "ran-after-queue-cancel",
        /// A call ended within the return reserve.
        ReserveConsumed = "reserve-consumed",
        /// A retry began with too little left.
        RetryUnfundable = "retry-unfundable",
        /// A hedge began with too little left.
        HedgeUnfundable = "hedge-unfundable",
        /// A first attempt began with too little left.
        AttemptUnfundable = "attempt-unfundable",
        /// Two layers of one request retried.
        RetryLayered = "retry-layered",
        /// A retry of a side effect in doubt.
        BlindRetry = "blind-retry",
        /// The server went on after its client had left.
        CancelIgnored = "cancel-ignored",
        /// A cancellation was not passed on.
        CancelDropped = "cancel-dropped",
        /// The losing hedge went on.
        HedgeNotCancelled = "hedge-not-cancelled",
        /// A side effect began after the deadline.
        SideEffectLate = "side-effect-late",
        /// Expired work ran while work with time left waited.
        GraveyardFirst = "graveyard-first",
    }
}

names! {
    /// What a finding rests on.
    pub enum Evidence {
        /// A remaining time or an instant that was passed on.
        Declared = "declared",
        /// A configured timeout.
        Configured = "configured",
        /// Durations alone.
        Inferred = "inferred",
    }
}

names! {
    /// Whether a finding holds for every clock offset that the traces allow.
    pub enum Certainty {
        /// It does.
        Certain = "certain",
        /// For some.
        Possible = "possible",
    }
}

names! {
    /// Whether trouble in the input cost spans.
    pub enum Severity {
        /// Nothing was lost.
        Info = "info",
        /// Spans or evidence were lost.
        Loss = "loss",
    }
}

names! {
    /// Whose trouble it is.
    pub enum Blame {
        /// What was read.
        Input = "input",
        /// A limit of dwindle.
        Us = "us",
    }
}

names! {
    /// What the traces cannot tell. Declared in alphabetical order, which is the order in tables.
    pub enum BlindSpot {
        /// A retry says so whose first attempt is not there.
        AttemptsMissing = "attempts_missing",
        /// Times were moved before they were exported, which may have erased late work.
        ClockAdjusted = "clock_adjusted",
        /// No clock offset satisfies all edges.
        ClockConflict = "clock_conflict",
        /// A child starts before its parent on the same clock.
        ClockShift = "clock_shift",
        /// Clocks were corrected.
        ClockSkewCorrected = "clock_skew_corrected",
        /// Spans that are each other's parents.
        Cycle = "cycle",
        /// Several records with one id.
        DuplicateSpans = "duplicate_spans",
        /// Further spans without a parent.
        ExtraRoots = "extra_roots",
        /// No span without a parent.
        MissingRoot = "missing_root",
        /// Spans that end before they start, or not at all.
        NegativeDuration = "negative_duration",
        /// Nothing says what the deadline was.
        NoDeadline = "no_deadline",
        /// Spans whose parent is not there.
        Orphans = "orphans",
        /// Spans disagree on how many requests they stand for; the root's word counts.
        SamplingDisagrees = "sampling_disagrees",
        /// Times went through a floating-point number: differences below 1 µs mean nothing.
        TimesRounded = "times_rounded",
        /// Some of its spans had lost the left half of the trace's id and were joined with the rest.
        TraceJoined = "trace_joined",
    }
}

/// A set of [`BlindSpot`]s, told in alphabetical order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BlindSpots(u32);

impl BlindSpots {
    /// Adds one.
    pub fn insert(&mut self, spot: BlindSpot) {
        self.0 |= 1 << spot as u32;
    }

    /// Adds one where `condition` holds.
    pub fn insert_if(&mut self, condition: bool, spot: BlindSpot) {
        if condition {
            self.insert(spot);
        }
    }

    /// Those in either set.
    #[must_use]
    pub fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether it is in the set.
    pub fn contains(self, spot: BlindSpot) -> bool {
        self.0 & (1 << spot as u32) != 0
    }

    /// Those in the set, in alphabetical order.
    pub fn iter(self) -> impl Iterator<Item = BlindSpot> {
        BlindSpot::ALL.iter().copied().filter(move |&spot| self.contains(spot))
    }
}

table! {
    /// One row a request: what one root span asked for, and where its budget went.
    "requests" => RequestRow {
        /// The trace, 32 hexadecimal digits.
        trace_id: TraceId;
        /// The contract's class, else service and operation of the root span.
        request_class: Sym;
        /// The root span, 16 hexadecimal digits.
        root_span_id: SpanId;
        /// The root span's service.
        root_service: Sym;
        /// The root span's raw name.
        root_operation: Sym;
        /// The root span's start on its own clock, corrected by its domain's offset.
        start_unix_ns: UnixNanos;
        /// How many spans the request holds.
        spans: i32;
        /// Root end less root start.
        duration_ns: Nanos, bad = high;
        /// Root end less origin: what the deadline is compared with, and what the segments sum to.
        elapsed_ns: Nanos, bad = high;
        /// The contract that matched its root span, by name; `--deadline N` for the Nth such flag.
        contract: Option<Sym>, null = "none did";
        /// Where the deadline comes from.
        deadline_source: DeadlineSource;
        /// Deadline less origin.
        budget_at_origin_ns: Option<Nanos>, bad = low, null = "no deadline is known";
        /// What was left when the admitting span started.
        budget_at_admission_ns: Option<Nanos>, bad = low, null = "no deadline is known, or no span admitted it";
        /// Queue time on the consumption path.
        queue_ns: Nanos, bad = high;
        /// What was left when the admitting span began to execute.
        budget_at_start_ns: Option<Nanos>, bad = low, null = "no deadline is known, or no span admitted it";
        /// The admitting service's own time on the consumption path.
        local_execution_ns: Nanos, bad = high;
        /// The largest grant that the admitting span's service sent on.
        downstream_budget_sent_ns: Option<Nanos>, null = "it sent no grant";
        /// Attempts that are retries.
        retry_count: i32;
        /// Attempts that are hedges.
        hedge_count: i32;
        /// Attempts that began with less left than one needs, or with nothing.
        unfundable_attempts: i32;
        /// Whether an attempt of a call with several lies below an attempt of another such call.
        retry_layered: bool;
        /// First end of a span that left, from the origin.
        cancellation_observed_ns: Option<Nanos>, null = "no span left";
        /// Work after an ancestor had left.
        residual_work_after_cancel_ns: Nanos, bad = high;
        /// From the last child's end to the admitting span's.
        return_reserve_used_ns: Option<Nanos>, bad = high, null = "it has no child that ended by then";
        /// How it ended.
        terminal_outcome: TerminalOutcome;
        /// Completed, and its root ended by the deadline.
        completed_before_deadline: Option<bool>, null = "no deadline is known";
        /// Work after the deadline, all services.
        late_work_ns: Option<Nanos>, bad = high, null = "no deadline is known";
        /// The least that it is over all offsets that clocks may have: certain.
        late_work_min_ns: Option<Nanos>, null = "no deadline is known";
        /// The most that it is: beyond it late work is excluded.
        late_work_max_ns: Option<Nanos>, null = "no deadline is known";
        /// Calls open after the deadline whose other end was not traced.
        late_wait_ns: Option<Nanos>, bad = high, null = "no deadline is known";
        /// Calls open after an ancestor had left whose other end was not traced.
        residual_wait_ns: Nanos, bad = high;
        /// From the deadline to the last span's end.
        late_wall_ns: Option<Nanos>, bad = high, null = "no deadline is known";
        /// How many requests of the population it stands for.
        weight: Option<f64>, null = "the sampling probability is not known";
        /// The attributes by which classes were split, and their values at the root span.
        split: Option<Sym>, null = "analyzed without --by";
        /// What its trace cannot tell.
        blind_spots: BlindSpots;
    }
}

table! {
    /// One row a hop: a call from a caller to a callee, or either half of it.
    "hops" => HopRow {
        /// The trace, 32 hexadecimal digits.
        trace_id: TraceId;
        /// The request's class.
        request_class: Sym;
        /// The request's root span.
        root_span_id: SpanId;
        /// The client span's id; the server's where there is no client or several servers.
        hop_id: SpanId;
        /// The client half.
        client_span_id: Option<SpanId>, null = "it was not traced";
        /// The server half.
        server_span_id: Option<SpanId>, null = "it was not traced";
        /// The nearest hop above it.
        caller_hop_id: Option<SpanId>, null = "nothing called it";
        /// The client's service, else the parent's.
        caller_service: Option<Sym>, null = "nothing called it";
        /// The server's service, else what the client names.
        callee_service: Option<Sym>, null = "nothing names it";
        /// The server's name, else the client's.
        operation: Sym;
        /// How many hops stand above it.
        depth: i32;
        /// From the origin to the client's start.
        elapsed_at_send_ns: Option<Nanos>, bad = high, null = "there is no client half";
        /// From the origin to the server's start.
        elapsed_at_receive_ns: Option<Nanos>, bad = high, null = "there is no server half";
        /// What the caller had left when it sent.
        remaining_at_send_ns: Option<Nanos>, bad = low, null = "no deadline is known, or there is no client half";
        /// What the caller had left when the server received it.
        remaining_at_receive_ns: Option<Nanos>, bad = low, null = "no deadline is known, or there is no server half";
        /// What was left less the return reserve, not below zero, at sending, else at receipt.
        available_ns: Option<Nanos>, bad = low, null = "no deadline is known";
        /// Time that the callee was given.
        granted_ns: Option<Nanos>, bad = low, null = "no attribute says so";
        /// The attribute that said so.
        grant_key: Option<Sym>, null = "no attribute says so";
        /// What kind of number it was.
        grant_kind: Option<GrantKind>, null = "no attribute says so";
        /// The id of the row of the conventions by which it was read.
        grant_rule: Option<Sym>, null = "no attribute says so";
        /// The grant compared with what was left.
        verdict: Verdict;
        /// By how much the grant exceeds what the caller had left when it counts from.
        overgrant_ns: Option<Nanos>, bad = high, null = "no grant, or no deadline is known";
        /// From sending to receipt: network and accept queue.
        transit_ns: Option<Nanos>, bad = high, null = "one half is missing";
        /// Time in queues and waiting for connections.
        queue_ns: Nanos, bad = high;
        /// The attribute or event that told the queue before the callee.
        queue_key: Option<Sym>, null = "nothing says so";
        /// What the caller had left when execution began.
        remaining_at_start_ns: Option<Nanos>, bad = low, null = "no deadline is known, or there is no server half";
        /// The client's duration, else the server's.
        duration_ns: Nanos, bad = high;
        /// The client's outcome, else the server's.
        outcome: Outcome;
        /// How the server half ended.
        callee_outcome: Option<Outcome>, null = "there is no server half";
        /// From the server's end to the client's: the way back; negative where the server went on.
        return_ns: Option<Nanos>, null = "one half is missing";
        /// What made the spans of its callee (docs/inference.md); of its client, where there is no server
        /// half.
        stack: Option<Sym>, null = "nothing says so";
        /// Work in its subtree after the deadline.
        late_work_ns: Option<Nanos>, bad = high, null = "no deadline is known";
        /// The least that it is over all offsets that clocks may have: certain.
        late_work_min_ns: Option<Nanos>, null = "no deadline is known";
        /// The most that it is: beyond it late work is excluded.
        late_work_max_ns: Option<Nanos>, null = "no deadline is known";
        /// Work in its subtree after an ancestor had left.
        residual_work_ns: Nanos, bad = high;
        /// Calls of its subtree open after the deadline.
        late_wait_ns: Option<Nanos>, bad = high, null = "no deadline is known";
        /// Calls of its subtree open after an ancestor had left.
        residual_wait_ns: Nanos, bad = high;
        /// Whether a proxy made either half.
        proxy: bool;
        /// The least offset that the clock of its callee may have against that of the trace's root;
        /// of its client, where there is no server half.
        clock_lo_ns: Option<Nanos>, null = "nothing bounds it";
        /// The greatest offset that it may have.
        clock_hi_ns: Option<Nanos>, null = "nothing bounds it";
        /// The attributes by which classes were split, and their values at the server half, else the
        /// client half.
        split: Option<Sym>, null = "analyzed without --by";
    }
}

table! {
    /// One row an attempt: one try of a call.
    "attempts" => AttemptRow {
        /// The trace, 32 hexadecimal digits.
        trace_id: TraceId;
        /// The request's class.
        request_class: Sym;
        /// The request's root span.
        root_span_id: SpanId;
        /// The call: the first attempt's span id.
        call_id: SpanId;
        /// The attempt's span.
        span_id: SpanId;
        /// The declared number, else the position; 1 is the first.
        ordinal: i32;
        /// The attribute that declared it, or `name` where the span's name does.
        ordinal_key: Option<Sym>, null = "it is the position";
        /// How many the call has.
        attempts: i32;
        /// What it is within its call.
        kind: AttemptKind;
        /// The service that tried.
        caller_service: Option<Sym>, null = "it has no name";
        /// The service that was called.
        callee_service: Option<Sym>, null = "nothing names it";
        /// The name of its span.
        operation: Sym;
        /// From the origin to its start.
        elapsed_at_start_ns: Nanos, bad = high;
        /// From the previous attempt's end to its start; 0 for a hedge.
        backoff_ns: Option<Nanos>, bad = high, null = "it is the first";
        /// What its caller had left when it began.
        remaining_at_start_ns: Option<Nanos>, bad = low, null = "no deadline is known";
        /// The same less the return reserve, not below zero.
        available_at_start_ns: Option<Nanos>, bad = low, null = "no deadline is known";
        /// What one attempt needs.
        allowance_ns: Option<Nanos>, null = "nothing says so";
        /// The attribute that said so, or `contract` where the contract does.
        allowance_key: Option<Sym>, null = "nothing says so";
        /// Whether enough was left.
        funding: Funding;
        /// How long it took.
        duration_ns: Nanos, bad = high;
        /// How it ended.
        outcome: Outcome;
        /// How many tries its span holds that have none of their own.
        tries_inside: Option<i32>, null = "nothing says so";
    }
}

table! {
    /// Where the time from origin to root end went on the consumption path; sums to it exactly.
    "segments" => SegmentRow {
        /// The trace, 32 hexadecimal digits.
        trace_id: TraceId;
        /// The request's class.
        request_class: Sym;
        /// The request's root span.
        root_span_id: SpanId;
        /// The service of the span whose own time it is.
        service: Sym;
        /// The name of that span.
        operation: Sym;
        /// What it was spent on.
        category: Category;
        /// How long; never zero.
        duration_ns: Nanos, bad = high;
    }
}

table! {
    /// One row for each thing that is wrong with a hop, an attempt, a span or a request.
    "findings" => FindingRow {
        /// The trace, 32 hexadecimal digits.
        trace_id: TraceId;
        /// The request's class.
        request_class: Sym;
        /// The request's root span.
        root_span_id: SpanId;
        /// What is wrong.
        code: FindingCode;
        /// The hop, attempt or span that it is wrong with.
        span_id: SpanId;
        /// By how much.
        excess_ns: Nanos, bad = high;
        /// Late plus residual work below this hop, less that below the next flagged hops; told once a
        /// hop, on its first finding. Work that is both late and residual counts in both.
        wasted_ns: Option<Nanos>, bad = high, null = "it is not about a hop";
        /// What it rests on.
        evidence: Evidence;
        /// Whether it holds for every clock offset that the traces allow.
        certainty: Certainty;
    }
}

table! {
    /// One row for each kind of trouble in a file, with its first example.
    "problems" => ProblemRow {
        /// What kind of trouble.
        code: Sym;
        /// Whether spans or evidence were lost.
        severity: Severity;
        /// Whose trouble it is.
        blame: Blame;
        /// How often in this file.
        count: i64;
        /// The file.
        file: Sym;
        /// Where the first example begins, in bytes from 0 of the file as decompressed.
        byte: Option<i64>, null = "not at one place";
        /// Its line, from 1.
        line: Option<i64>, null = "not at one place, or the file has no lines";
        /// Its record, from 0: the line, frame or document.
        record: Option<i64>, null = "not at one place";
        /// What is wrong, in words.
        message: Sym;
        /// What to do about it.
        help: Sym;
    }
}
