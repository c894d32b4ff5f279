//! A span as admitted: every attribute that a convention names already resolved to what it means
//! (SEMANTICS §2), strings interned, times in nanoseconds. Nothing else of a span is kept.

use std::cmp::Ordering;
use std::fmt;
use std::num::{NonZeroU32, NonZeroU64};
use std::sync::Arc;

use rustc_hash::FxHashMap;
use serde::de::Deserializer;
use serde::ser::Serializer;
use serde::{Deserialize, Serialize};

use crate::names::names;
use crate::stats::Weight;
use crate::units::{Nanos, UnixNanos};

/// A trace id, 128 bits; shorter ids are padded with zeros on the left.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct TraceId(pub u128);

/// A span id, 64 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct SpanId(pub u64);

impl TraceId {
    /// The sort key of every table: the low 64 bits first, which samplers keep random, then the
    /// high ones.
    pub const fn sort_key(self) -> u128 {
        self.0.rotate_left(64)
    }

    /// Its right half, as an id: all that is left of it behind a service that knows ids of 64 bits alone.
    #[must_use]
    pub const fn right_half(self) -> Self {
        Self(self.0 & u64::MAX as u128)
    }
}

impl Ord for TraceId {
    fn cmp(&self, other: &Self) -> Ordering {
        self.sort_key().cmp(&other.sort_key())
    }
}

impl PartialOrd for TraceId {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl TraceId {
    /// Its 32 hexadecimal digits.
    pub fn hex(self) -> [u8; 32] {
        let mut digits = [0; 32];
        write_hex(&self.0.to_be_bytes(), &mut digits);
        digits
    }
}

impl SpanId {
    /// Its 16 hexadecimal digits.
    pub fn hex(self) -> [u8; 16] {
        let mut digits = [0; 16];
        write_hex(&self.0.to_be_bytes(), &mut digits);
        digits
    }
}

impl TraceId {
    /// The id of up to 32 hexadecimal digits.
    pub fn from_hex(digits: &str) -> Option<Self> {
        let (left, right) = match digits.len().checked_sub(16) {
            None | Some(0) => ("", digits),
            Some(left) => digits.split_at_checked(left)?,
        };
        let left = if left.is_empty() { 0 } else { read_hex(left)? };
        Some(Self(u128::from(left) << 64 | u128::from(read_hex(right)?)))
    }
}

impl SpanId {
    /// The id of up to 16 hexadecimal digits.
    pub fn from_hex(digits: &str) -> Option<Self> {
        read_hex(digits).map(Self)
    }
}

/// The number of up to 16 hexadecimal digits.
fn read_hex(digits: &str) -> Option<u64> {
    let is_whole = (1..=16).contains(&digits.len());
    let add = |number: u64, digit: &u8| {
        let value = char::from(*digit).to_digit(16)?;
        Some(number << 4 | u64::from(value))
    };
    digits.as_bytes().iter().try_fold(0, add).filter(|_| is_whole)
}

/// Two digits a byte, four bytes at once.
fn write_hex(bytes: &[u8], digits: &mut [u8]) {
    for (digits, bytes) in digits.as_chunks_mut().0.iter_mut().zip(bytes.as_chunks().0) {
        // Each half byte to a byte of its own, then those beyond nine to the letters.
        let mut spread = u64::from(u32::from_be_bytes(*bytes));
        spread = (spread | spread << 16) & 0x0000_ffff_0000_ffff;
        spread = (spread | spread << 8) & 0x00ff_00ff_00ff_00ff;
        spread = (spread | spread << 4) & 0x0f0f_0f0f_0f0f_0f0f;
        let letters = ((spread + 0x0606_0606_0606_0606) >> 4) & 0x0101_0101_0101_0101;
        let text = spread + 0x3030_3030_3030_3030 + letters * u64::from(b'a' - b'0' - 10);
        *digits = text.to_be_bytes();
    }
}

impl fmt::Display for TraceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

impl fmt::Display for SpanId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

/// A string of an [`Interner`]. Compare for equality only: numbers depend on the order of input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Sym(NonZeroU32);

/// Strings, each kept once. Those of `base` are shared with others.
#[derive(Clone, Debug, Default)]
pub struct Interner {
    base: Option<Arc<Interner>>,
    numbers: FxHashMap<Arc<str>, Sym>,
    strings: Vec<Arc<str>>,
    /// How many bytes of text there are, but for those of `base`.
    text_bytes: usize,
}

impl Interner {
    /// What a string takes beside its text: two pointers with lengths, its counts and its number.
    const BYTES_A_STRING: usize = 64;

    /// No strings yet but those of `base`, whose numbers stay.
    pub fn extending(base: Arc<Self>) -> Self {
        Self { base: Some(base), ..Self::default() }
    }

    /// The strings that it shares with others; their numbers come first.
    pub(crate) const fn shared(&self) -> Option<&Arc<Self>> {
        self.base.as_ref()
    }

    /// How many strings `base` has.
    fn base_len(&self) -> usize {
        self.base.as_ref().map_or(0, |base| base.len())
    }

    /// How many strings there are.
    pub fn len(&self) -> usize {
        self.base_len() + self.strings.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// About how much memory they take, but for those of `base`.
    pub(crate) const fn bytes(&self) -> usize {
        self.text_bytes + self.strings.len() * Self::BYTES_A_STRING
    }

    /// How long the longest of them is, in bytes.
    pub(crate) fn longest(&self) -> usize {
        let shared = self.base.as_ref().map_or(0, |base| base.longest());
        self.strings.iter().map(|text| text.len()).fold(shared, usize::max)
    }

    /// The number of `text`, if it is known.
    pub(crate) fn find(&self, text: &str) -> Option<Sym> {
        let known = self.base.as_ref().and_then(|base| base.find(text));
        known.or_else(|| self.numbers.get(text).copied())
    }

    /// The number of `text`, new or known.
    pub fn intern(&mut self, text: &str) -> Sym {
        if let Some(sym) = self.find(text) {
            return sym;
        }
        let sym = Sym::of_index(self.len());
        let text: Arc<str> = text.into();
        self.text_bytes += text.len();
        self.strings.push(Arc::clone(&text));
        self.numbers.insert(text, sym);
        sym
    }

    /// The string behind `sym`; empty for a number of another interner.
    pub fn get(&self, sym: Sym) -> &str {
        match (sym.index().checked_sub(self.base_len()), &self.base) {
            (Some(place), _) => self.strings.get(place).map_or("", |text| text),
            (None, Some(base)) => base.get(sym),
            (None, None) => "",
        }
    }

    /// The number that each string of `other`, by its number there, has here.
    pub(crate) fn extend_by(&mut self, other: &Self) -> Vec<Sym> {
        let mut numbers = other.base.as_ref().map_or_else(Vec::new, |base| self.extend_by(base));
        numbers.extend(other.strings.iter().map(|text| self.intern(text)));
        numbers
    }
}

/// As its strings, by number.
impl Serialize for Interner {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq((0..self.len()).map(|index| self.get(Sym::of_index(index))))
    }
}

impl<'de> Deserialize<'de> for Interner {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut strings = Self::default();
        for text in Vec::<String>::deserialize(deserializer)? {
            strings.intern(&text);
        }
        Ok(strings)
    }
}

impl Sym {
    /// The number of the string at a place: from 1, so that none needs no room of its own.
    fn of_index(index: usize) -> Self {
        // More than 2^32 distinct strings do not fit in memory before they overflow this.
        Self(
            u32::try_from(index)
                .map_or(NonZeroU32::MAX, |index| NonZeroU32::MIN.saturating_add(index)),
        )
    }

    /// Where its string is among those of its interner.
    pub(crate) const fn index(self) -> usize {
        self.0.get() as usize - 1
    }

    /// It, by the numbers of another interner, as [`Interner::extend_by`] gives them.
    pub(crate) fn renumbered(self, numbers: &[Self]) -> Self {
        numbers.get(self.index()).copied().unwrap_or(self)
    }
}

/// What a client called, so far as its attributes tell: a hash of that. The same bits in every run,
/// compared and never shown. Only calls below one parent are compared: if there are ten thousand,
/// all different, two of them look the same once in 10^11 such parents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Target(NonZeroU64);

impl Target {
    /// The target whose hash is `bits`.
    pub fn new(bits: u64) -> Self {
        Self(NonZeroU64::new(bits).unwrap_or(NonZeroU64::MAX))
    }

    /// The bits of the hash.
    pub const fn bits(self) -> u64 {
        self.0.get()
    }
}

names! {
    /// What a span says it is. INTERNAL and unset are one: SEMANTICS never tells them apart.
    pub enum Kind {
        /// Work inside a service, or a span whose exporter set no kind.
        Internal = "internal",
        /// The callee's half of a call.
        Server = "server",
        /// The caller's half of a call.
        Client = "client",
        /// The sending of a message.
        Producer = "producer",
        /// The receiving or processing of a message.
        Consumer = "consumer",
    }
}

impl Kind {
    /// CLIENT or PRODUCER: the half of a call that sends.
    pub const fn sends(self) -> bool {
        matches!(self, Self::Client | Self::Producer)
    }

    /// SERVER or CONSUMER: the half of a call that receives.
    pub const fn receives(self) -> bool {
        matches!(self, Self::Server | Self::Consumer)
    }
}

names! {
    /// How a span ended (SEMANTICS §2).
    #[derive(Serialize, Deserialize)]
    pub enum Outcome {
        /// Nothing says that it failed.
        Ok = "ok",
        /// It failed otherwise.
        Error = "error",
        /// Refused: rate limit, overload, unavailable.
        Rejected = "rejected",
        /// The caller went away or cancelled.
        Cancelled = "cancelled",
        /// A deadline or timeout passed.
        DeadlineExceeded = "deadline_exceeded",
    }
}

impl Outcome {
    /// Whether a span that ended so has left what it asked for still running.
    pub const fn left(self) -> bool {
        matches!(self, Self::Cancelled | Self::DeadlineExceeded)
    }
}

names! {
    /// What kind of number a grant was (SEMANTICS §2).
    pub enum GrantKind {
        /// Already reduced by the time spent upstream.
        Remaining = "remaining",
        /// A configured time that ignores what was spent.
        Full = "full",
        /// An instant on somebody's wall clock.
        Absolute = "absolute",
        /// A time after which calls of its kind are cut off, told by their durations alone.
        Inferred = "inferred",
    }
}

/// Time that a callee was given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grant {
    /// How much, from the anchor; never negative.
    pub value: Nanos,
    /// What kind of number it was.
    pub kind: GrantKind,
    /// The attribute that said so.
    pub key: Sym,
    /// The id of the row of the conventions by which it was read.
    pub rule: Sym,
    /// Counts from the span's start (a measured value), not from its arrival in a queue before.
    pub from_start: bool,
}

/// Yes-or-no facts of a span.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[expect(clippy::struct_excessive_bools, reason = "each is an independent fact of the span")]
pub struct Flags {
    /// A wait span: by name (conventions Q2) or `deadline.queue = true`.
    pub is_wait: bool,
    /// One try of a call, told so by its attributes or name: its CLIENT parent is a call span.
    pub is_attempt: bool,
    /// Carries any `rpc.*` attribute.
    pub has_rpc: bool,
    /// Carries an HTTP method.
    pub has_http_method: bool,
    /// A CLIENT that ended without a word: cancelled if its server went on (SEMANTICS §2).
    pub is_wordless: bool,
    /// Changes something at the other end.
    pub side_effect: bool,
    /// May be sent again without harm.
    pub repeat_safe: bool,
    /// A span of a proxy.
    pub is_proxy: bool,
    /// The exporter wrote an end before the start; the end was moved.
    pub negative_duration: bool,
    /// The exporter set the status to ERROR.
    pub has_error_status: bool,
    /// It receives a call whose id it may have, as in Zipkin: the sending span has it too.
    pub may_share_id: bool,
    /// What stored the span says that it moved its times to agree with other clocks.
    pub clock_adjusted: bool,
    /// Some spans of its trace had lost the left half of the trace's id.
    pub trace_joined: bool,
}

/// One span, normalised.
#[derive(Clone, Debug)]
pub struct Span {
    /// The trace.
    pub trace_id: TraceId,
    /// The span.
    pub span_id: SpanId,
    /// The parent, if one was named; it may be absent from the trace.
    pub parent_span_id: Option<SpanId>,
    /// `service.name`; empty where there is none.
    pub service: Sym,
    /// The clock the times were read from: `key=value` of the resource, or the service.
    pub clock_domain: Sym,
    /// The name.
    pub operation: Sym,
    /// `METHOD ROUTE` where the name is only an HTTP method and the route is known.
    pub route_operation: Option<Sym>,
    /// The kind, after conventions (gRPC attempt spans are CLIENT).
    pub kind: Kind,
    /// Start, on the span's own clock.
    pub start: UnixNanos,
    /// End, never before the start.
    pub end: UnixNanos,
    /// How it ended.
    pub outcome: Outcome,
    /// The HTTP status code, if there was one.
    pub http_status: Option<u16>,
    /// Time given to it or to its callee.
    pub grant: Option<Grant>,
    /// Bound of one attempt.
    pub allowance: Option<Nanos>,
    /// The attribute that said so.
    pub allowance_key: Option<Sym>,
    /// Declared attempt number, 1 the first.
    pub attempt_ordinal: Option<i32>,
    /// The attribute that said so, or the word `name` where the span's name did.
    pub ordinal_key: Option<Sym>,
    /// Time in a queue before the span started; zero where nothing says so.
    pub queued_before: Nanos,
    /// The attribute or event that said so.
    pub queued_key: Option<Sym>,
    /// From the start, how long an event says that the span waited; zero where none does.
    pub waited_inside: Nanos,
    /// What tells one call from another of the same name.
    pub target: Option<Target>,
    /// The other end, as a client names it (SEMANTICS §6, `callee_service`).
    pub peer_service: Option<Sym>,
    /// The attributes by which classes are split, and their values.
    pub split: Option<Sym>,
    /// What made it, as far as its resource tells: the language of its SDK, or a proxy.
    pub stack: Option<Sym>,
    /// How many tries it holds that have no span of their own, itself counted as the first.
    pub tries_inside: Option<i32>,
    /// How many span links it carries; counted, not followed.
    pub links: u32,
    /// How many requests of the population it stands for; `None` where nothing says so.
    pub weight: Option<Weight>,
    /// Yes-or-no facts.
    pub flags: Flags,
}

impl Span {
    /// No span: for a row that tells something else.
    pub(crate) fn of_no_trace(strings: &mut Interner) -> Self {
        let nothing = strings.intern("");
        Self {
            trace_id: TraceId(0),
            span_id: SpanId(0),
            parent_span_id: None,
            service: nothing,
            clock_domain: nothing,
            operation: nothing,
            route_operation: None,
            kind: Kind::Internal,
            start: UnixNanos::default(),
            end: UnixNanos::default(),
            outcome: Outcome::Ok,
            http_status: None,
            grant: None,
            allowance: None,
            allowance_key: None,
            attempt_ordinal: None,
            ordinal_key: None,
            queued_before: Nanos::ZERO,
            queued_key: None,
            waited_inside: Nanos::ZERO,
            target: None,
            peer_service: None,
            split: None,
            stack: None,
            tries_inside: None,
            links: 0,
            weight: None,
            flags: Flags::default(),
        }
    }

    /// End − start.
    pub fn duration(&self) -> Nanos {
        self.end - self.start
    }

    /// The instant from which a grant on this span counts (SEMANTICS §2), or at which it arrived.
    pub fn arrival(&self) -> UnixNanos {
        self.start - self.queued_before
    }

    /// The total order of spans of one trace: (start, span id), then whatever is in them, so that
    /// of two records with one id the same one is always first (SEMANTICS §2, Duplicates).
    pub fn content_order(&self, other: &Self, strings: &Interner) -> Ordering {
        let text = |sym: Option<Sym>| sym.map(|sym| strings.get(sym));
        let by_rule = |span: &Self| (span.start, span.end);
        by_rule(self)
            .cmp(&by_rule(other))
            .then_with(|| strings.get(self.service).cmp(strings.get(other.service)))
            .then_with(|| strings.get(self.operation).cmp(strings.get(other.operation)))
            .then_with(|| {
                let rest = |span: &Self| {
                    (
                        (span.parent_span_id, span.kind, span.outcome, span.http_status),
                        (span.allowance, span.attempt_ordinal, span.queued_before),
                        (span.waited_inside, span.links, span.flags, span.weight),
                        span.tries_inside,
                    )
                };
                rest(self).cmp(&rest(other))
            })
            .then_with(|| {
                let grant = |span: &Self| {
                    span.grant.map(|grant| (grant.value, grant.kind, grant.from_start))
                };
                grant(self).cmp(&grant(other))
            })
            .then_with(|| {
                let texts = |span: &Self| {
                    [
                        span.grant.map(|grant| grant.key),
                        span.grant.map(|grant| grant.rule),
                        Some(span.clock_domain),
                        span.route_operation,
                    ]
                };
                texts(self).map(text).cmp(&texts(other).map(text))
            })
            .then_with(|| self.target.cmp(&other.target))
            .then_with(|| {
                let texts = |span: &Self| {
                    [
                        span.peer_service,
                        span.allowance_key,
                        span.ordinal_key,
                        span.queued_key,
                        span.split,
                        span.stack,
                    ]
                };
                texts(self).map(text).cmp(&texts(other).map(text))
            })
    }
}

/// The spans of a partition: whole traces, with the strings they share.
#[derive(Clone, Debug, Default)]
pub struct Spans {
    /// The strings behind every [`Sym`] of `rows`.
    pub strings: Interner,
    /// The spans, in any order until [`Spans::sort`].
    pub rows: Vec<Span>,
}

impl Spans {
    /// Sorts them by (trace, start, id, content), unless they are.
    pub fn sort(&mut self) {
        let Self { strings, rows } = self;
        let order = |one: &Span, other: &Span| {
            let key = |span: &Span| (span.start, span.span_id);
            key(one).cmp(&key(other)).then_with(|| one.content_order(other, strings))
        };
        let trace = |span: &Span| span.trace_id.sort_key();
        if rows.is_sorted_by(|one, other| {
            trace(one).cmp(&trace(other)).then_with(|| order(one, other)).is_le()
        }) {
            return;
        }
        // What decides first lies together, and no span is moved but once.
        let mut by_trace: Vec<_> = rows.iter().map(|span| (trace(span), span)).collect();
        by_trace.sort_unstable_by_key(|&(trace, _)| trace);
        for spans in by_trace.chunk_by_mut(|one, other| one.0 == other.0) {
            spans.sort_unstable_by(|&(_, one), &(_, other)| order(one, other));
        }
        *rows = by_trace.into_iter().map(|(_, span)| span.clone()).collect();
    }

    /// The spans of each trace, if they are sorted.
    pub fn traces(&self) -> impl Iterator<Item = &[Span]> {
        self.rows.chunk_by(|one, other| one.trace_id == other.trace_id)
    }
}
