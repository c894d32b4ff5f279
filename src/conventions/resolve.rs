//! From a span as written to a span as understood.

use super::facts::Fact;
use super::found::{Found, Hit, HitValue};
use super::index::Place;
use super::raw::{Attribute, RawSpan, Status, Value};
use super::reading::{
    Reading, Unparsed, is_true, length, read, sdk_attempt, text_of, whole_number,
};
use super::rows::{
    Anchor, GrantRow, NameMeaning, OrdinalGrammar, OrdinalRow, QueueRow, TimeKind, TriesRow,
};
use super::{Conventions, Resource, Tally, identity, outcome, sampling};
use crate::span::{Flags, Grant, GrantKind, Interner, Kind, Outcome, Span, Sym};
use crate::stats::Weight;
use crate::units::{Nanos, UnixNanos};

/// A queue longer than this is a wrong clock.
const MAX_QUEUE: Nanos = Nanos::from_seconds(3_600);
/// The number of a first try.
const FIRST_ORDINAL: i32 = 1;
/// What stands for the key of an ordinal that the span's name tells.
const NAME_KEY: &str = "name";
/// In a warning of Jaeger's: it has moved a span's times. Its warnings that speak of skew adjustment
/// tell why it did not.
pub(super) const TIMES_MOVED: &str = "timestamps were adjusted";
/// A generic name whose value is longer (over three years) holds a date, not a length.
const MAX_HEURISTIC: Nanos = Nanos::from_seconds(100_000_000);

impl Conventions {
    /// What `raw`, a span of `resource`, means. Counts the keys met in `tally`.
    pub fn resolve(
        &self,
        raw: &RawSpan<'_>,
        resource: &Resource,
        strings: &mut Interner,
        tally: &mut Tally,
    ) -> Span {
        let found = self.index.find(raw, tally);
        let name = self.index.name(&raw.name);
        let is_try = self.is_try(raw, name.map(|(means, _)| means), &found);
        let kind = kind_of(raw.kind, name.map(|(means, _)| means), is_try);
        let end = raw.end.max(raw.start);
        let queued = self.queued_before(raw, &found, tally);
        let queued_before = queued.map_or(Nanos::ZERO, |(_, queued)| queued);
        let asked = Asked { conventions: self, raw, kind, arrival: raw.start - queued_before };
        let grant = asked.grant(&found, strings, tally);
        let allowance = asked.allowance(&found, tally);
        let number_in_name = name.and_then(|(_, number)| number);
        let ordinal = self.ordinal(raw, number_in_name, &found, tally);
        let outcome = outcome::outcome(&self.index, raw, kind, &found);
        let target = (kind == Kind::Client).then(|| identity::target(&found)).flatten();
        let peer_service = kind.sends().then(|| identity::peer_service(&found)).flatten();
        let route_operation = identity::route_operation(&raw.name, &found);
        Span {
            trace_id: raw.trace_id,
            span_id: raw.span_id,
            parent_span_id: raw.parent_span_id,
            service: resource.service,
            clock_domain: resource.clock_domain,
            operation: strings.intern(&raw.name),
            route_operation: route_operation.map(|route| strings.intern(&route)),
            kind,
            start: raw.start,
            end,
            outcome,
            http_status: outcome::http_status(&found),
            grant,
            allowance: allowance.map(|(_, time)| time),
            allowance_key: allowance.map(|(key, _)| strings.intern(key)),
            attempt_ordinal: ordinal.map(|(_, number)| number),
            ordinal_key: ordinal.map(|(key, _)| strings.intern(key)),
            queued_before,
            queued_key: queued.map(|(key, _)| strings.intern(key)),
            waited_inside: found
                .waited_until
                .map_or(Nanos::ZERO, |until| (until.min(end) - raw.start).at_least_zero()),
            target,
            peer_service: peer_service.map(|peer| strings.intern(&peer)),
            split: self.split.of_span(&resource.split, &raw.attributes, strings),
            stack: self.stack(resource, &found, strings),
            // Of one that is itself a try of a call there is nothing to ask.
            tries_inside: if is_try { None } else { self.tries(raw, outcome, &found, tally) },
            links: raw.links,
            weight: self.weight(raw, &found, tally),
            flags: flags(raw, kind, outcome, name.map(|(means, _)| means), is_try, &found),
        }
    }

    /// Whether attributes or the name tell the span to be one try of a call.
    fn is_try(&self, raw: &RawSpan<'_>, name: Option<NameMeaning>, found: &Found<'_>) -> bool {
        let is_named = matches!(name, Some(NameMeaning::Attempt | NameMeaning::NumberedAttempt));
        is_named
            || found.ordinals.iter().any(|hit| {
                let row = self.index.ordinals.get(hit.place.row);
                row.is_some_and(|row| row.attempt && is_of_name(row, raw))
            })
    }

    /// The declared number of this try, 1 the first, after the key that told it.
    fn ordinal<'f>(
        &self,
        raw: &RawSpan<'_>,
        number_in_name: Option<i32>,
        found: &Found<'f>,
        tally: &mut Tally,
    ) -> Option<(&'f str, i32)> {
        let declared = found.ordinals.iter().find_map(|hit| {
            let row = self.index.ordinals.get(hit.place.row).filter(|row| is_of_name(row, raw))?;
            let HitValue::Attribute(value) = hit.value else { return None };
            Some((hit.key, counting_unparsed(ordinal_of(row, value), hit, tally)?))
        });
        declared.or(number_in_name.map(|number| (NAME_KEY, number)))
    }

    /// How many tries the span hides, itself counted as the first: a total, or as many as events tell.
    fn tries(
        &self,
        raw: &RawSpan<'_>,
        outcome: Outcome,
        found: &Found<'_>,
        tally: &mut Tally,
    ) -> Option<i32> {
        let mut by_row = found.tries.chunk_by(|one, next| one.place.row == next.place.row);
        by_row.find_map(|hits| {
            let row = self.index.tries.get(hits.first()?.place.row)?;
            let is_met = (self.heuristics || !row.heuristic)
                && (row.beside.is_empty()
                    || row.beside.iter().any(|key| raw.value_of(key).is_some()));
            if !is_met {
                return None;
            }
            let mut events = 0;
            let told = hits.iter().find_map(|hit| match hit.value {
                HitValue::Attribute(value) => counting_unparsed(total_of(row, value), hit, tally),
                HitValue::Event(_) => {
                    events += 1;
                    None
                }
            });
            // The last failure is the end of a span that did not succeed.
            let add = if row.failures && outcome != Outcome::Ok { 0 } else { row.add };
            told.or_else(|| if events > 0 { tries_of(events, add) } else { None })
        })
    }

    /// What made a span: of its own word and that of its resource the one that is tried first.
    fn stack(&self, resource: &Resource, found: &Found<'_>, strings: &mut Interner) -> Option<Sym> {
        let own = found.stacks.iter().find_map(|hit| match hit.value {
            HitValue::Attribute(value) => self.told_stack(hit.place, value, strings),
            HitValue::Event(_) => None,
        });
        let first = own.into_iter().chain(resource.stack).min_by_key(|(place, _)| *place);
        first.map(|(_, stack)| stack)
    }

    /// What made the spans of a resource, after where that is told.
    pub(super) fn stack_of_resource(
        &self,
        attributes: &[Attribute<'_>],
        strings: &mut Interner,
    ) -> Option<(Place, Sym)> {
        let told = attributes.iter().flat_map(|(key, value)| {
            self.index.stack_places(key.as_bytes()).iter().map(move |place| (*place, value))
        });
        let told = told.filter_map(|(place, value)| self.told_stack(place, value, strings));
        told.min_by_key(|(place, _)| *place)
    }

    fn told_stack(
        &self,
        place: Place,
        value: &Value<'_>,
        strings: &mut Interner,
    ) -> Option<(Place, Sym)> {
        let row = self.index.stacks.get(place.row)?;
        let value = text_of(value).unwrap_or_default();
        Some((place, strings.intern(row.stack_of(&value)?)))
    }

    /// How many requests the span stands for: its trace state tells before any attribute.
    fn weight(&self, raw: &RawSpan<'_>, found: &Found<'_>, tally: &mut Tally) -> Option<Weight> {
        sampling::of_member(&raw.trace_state).or_else(|| {
            found.samplings.iter().find_map(|hit| {
                let row = self.index.samplings.get(hit.place.row)?;
                let HitValue::Attribute(value) = hit.value else { return None };
                counting_unparsed(sampling::of_attribute(row, value, raw), hit, tally)
            })
        })
    }

    /// How long the span's request stood in a queue before the span started, after the key or event
    /// that told it.
    fn queued_before<'f>(
        &self,
        raw: &RawSpan<'_>,
        found: &Found<'f>,
        tally: &mut Tally,
    ) -> Option<(&'f str, Nanos)> {
        found.queues.iter().find_map(|hit| {
            let queued = match hit.value {
                HitValue::Event(time) => {
                    time.map(|time| raw.start - time).filter(|&queued| Nanos::ZERO < queued)
                }
                HitValue::Attribute(value) => {
                    let row = self.index.queues.get(hit.place.row)?;
                    counting_unparsed(queue_of(row, value, raw.start), hit, tally)
                }
            };
            Some((hit.key, queued?))
        })
    }
}

/// The kind that a span without one has by its name or its attributes.
fn kind_of(kind: Kind, name: Option<NameMeaning>, is_try: bool) -> Kind {
    match (kind, name) {
        (Kind::Internal, _) if is_try => Kind::Client,
        (Kind::Internal, Some(NameMeaning::Client)) => Kind::Client,
        (Kind::Internal, Some(NameMeaning::Server)) => Kind::Server,
        (kind, _) => kind,
    }
}

/// The yes-or-no facts.
fn flags(
    raw: &RawSpan<'_>,
    kind: Kind,
    outcome: Outcome,
    name: Option<NameMeaning>,
    is_try: bool,
    found: &Found<'_>,
) -> Flags {
    let effect = identity::effect(kind, found);
    let has_http_method = found.fact(Fact::HttpMethod).is_some();
    let has_code = found.fact(Fact::HttpStatus).or(found.fact(Fact::GrpcStatus)).is_some();
    Flags {
        is_wait: name == Some(NameMeaning::Wait) || found.fact(Fact::Wait).is_some_and(is_true),
        is_attempt: is_try && kind == Kind::Client,
        has_rpc: found.has_rpc,
        has_http_method,
        // An error of any kind would have given another outcome.
        is_wordless: kind == Kind::Client
            && has_http_method
            && !has_code
            && outcome == Outcome::Ok
            && raw.status == Status::Unset,
        side_effect: effect.is_side_effect,
        repeat_safe: effect.is_repeat_safe,
        is_proxy: identity::is_proxy(found),
        negative_duration: raw.end < raw.start,
        has_error_status: raw.status == Status::Error,
        may_share_id: raw.may_share_id,
        clock_adjusted: found.fact(Fact::Warnings).is_some_and(tells_of_moved_times),
        trace_joined: false,
    }
}

/// Whether a warning of Jaeger's, or one of several, says that times were moved.
pub fn tells_of_moved_times(warnings: &Value<'_>) -> bool {
    match warnings {
        Value::List(warnings) => warnings.iter().any(tells_of_moved_times),
        warning => text_of(warning)
            .is_some_and(|warning| warning.to_ascii_lowercase().contains(TIMES_MOVED)),
    }
}

/// Whether the row counts on spans of this name.
fn is_of_name(row: &OrdinalRow, raw: &RawSpan<'_>) -> bool {
    row.name.as_ref().is_none_or(|name| *name == raw.name)
}

/// The number of the try that `value` tells.
fn ordinal_of(row: &OrdinalRow, value: &Value<'_>) -> Result<Option<i32>, Unparsed> {
    let number = match row.read {
        OrdinalGrammar::Count => Some(whole_number(value).ok_or(Unparsed)?),
        OrdinalGrammar::SdkRequest => sdk_attempt(value)?,
    };
    let Some(number) = number else { return Ok(None) };
    let ordinal = i32::try_from(number).ok().and_then(|number| number.checked_add(row.add));
    ordinal.filter(|&ordinal| FIRST_ORDINAL <= ordinal).map(Some).ok_or(Unparsed)
}

/// How many tries a total tells.
fn total_of(row: &TriesRow, value: &Value<'_>) -> Result<Option<i32>, Unparsed> {
    let number = whole_number(value).ok_or(Unparsed)?;
    tries_of(number, row.add).map(Some).ok_or(Unparsed)
}

/// So many, and those that are not counted; there is one at least.
fn tries_of(number: i64, add: i32) -> Option<i32> {
    let tries = i32::try_from(number).ok()?.checked_add(add)?;
    (FIRST_ORDINAL <= tries).then_some(tries)
}

/// The time in a queue that `value` tells.
fn queue_of(
    row: &QueueRow,
    value: &Value<'_>,
    start: UnixNanos,
) -> Result<Option<Nanos>, Unparsed> {
    let queued = match read(row.read, value)? {
        None => return Ok(None),
        Some(Reading::Instant(since)) => {
            let queued = start - since;
            // Out of range it is a wrong clock rather than a value badly written.
            return Ok((Nanos::ZERO..=MAX_QUEUE).contains(&queued).then_some(queued));
        }
        Some(Reading::Number(nanos)) => length(nanos),
        Some(Reading::Length(queued)) => Some(queued),
    };
    queued.filter(|&queued| Nanos::ZERO <= queued).map(Some).ok_or(Unparsed)
}

/// The value; a failure is counted under the key of `hit`.
fn counting_unparsed<T>(
    value: Result<Option<T>, Unparsed>,
    hit: &Hit<'_>,
    tally: &mut Tally,
) -> Option<T> {
    value.unwrap_or_else(|Unparsed| {
        tally.unparsed(hit.meaning.number);
        None
    })
}

/// A span of which times are asked, with what their conditions depend on.
struct Asked<'a> {
    conventions: &'a Conventions,
    raw: &'a RawSpan<'a>,
    /// The kind after conventions.
    kind: Kind,
    /// The start less the time queued before.
    arrival: UnixNanos,
}

impl Asked<'_> {
    /// Time that was given.
    fn grant(&self, found: &Found<'_>, strings: &mut Interner, tally: &mut Tally) -> Option<Grant> {
        self.first(found, tally, |row| row.kind != TimeKind::PerTry).map(|(row, key, time)| Grant {
            value: time.0,
            kind: time.1,
            key: strings.intern(key),
            rule: strings.intern(&row.id),
            from_start: row.anchor == Anchor::Start,
        })
    }

    /// The bound of one try, after the key that told it.
    fn allowance<'f>(&self, found: &Found<'f>, tally: &mut Tally) -> Option<(&'f str, Nanos)> {
        let first = self.first(found, tally, |row| row.kind == TimeKind::PerTry);
        first.map(|(_, key, (time, _))| (key, time))
    }

    /// The first hit of the rows wanted whose conditions hold and whose value parses.
    fn first<'f>(
        &self,
        found: &Found<'f>,
        tally: &mut Tally,
        is_wanted: impl Fn(&GrantRow) -> bool,
    ) -> Option<(&GrantRow, &'f str, (Nanos, GrantKind))> {
        let mut failed: Vec<usize> = Vec::new();
        // Hits of one row stand together. Its conditions are looked at once, however often a key
        // comes.
        let mut by_row = found.grants.chunk_by(|one, next| one.place.row == next.place.row);
        let first = by_row.find_map(|hits| {
            let row = self.conventions.index.grants.get(hits.first()?.place.row)?;
            if !is_wanted(row) || !self.holds(row) {
                return None;
            }
            hits.iter().find_map(|hit| {
                let HitValue::Attribute(value) = hit.value else { return None };
                let time = self.time(row, value).unwrap_or_else(|Unparsed| {
                    failed.push(hit.meaning.number);
                    None
                })?;
                Some((row, hit.key, time))
            })
        });
        // Several rows may have asked for one value; it is one failure.
        failed.sort_unstable();
        failed.dedup();
        for number in failed {
            tally.unparsed(number);
        }
        first
    }

    /// Whether the conditions of a row hold on this span.
    fn holds(&self, row: &GrantRow) -> bool {
        let value_of = |key: &String| self.raw.value_of(key);
        (self.conventions.heuristics || !row.heuristic)
            && row.side.is_met_by(self.kind)
            && row.beside.iter().all(|keys| keys.iter().any(|key| value_of(key).is_some()))
            && row.single_try.as_ref().and_then(value_of).is_none_or(|tries| {
                whole_number(tries).is_some_and(|tries| tries <= i64::from(FIRST_ORDINAL))
            })
    }

    /// The time that a value gives, and what kind of number it was.
    fn time(
        &self,
        row: &GrantRow,
        value: &Value<'_>,
    ) -> Result<Option<(Nanos, GrantKind)>, Unparsed> {
        let anchor = if row.anchor == Anchor::Start { self.raw.start } else { self.arrival };
        let Some(reading) = read(row.read, value)? else { return Ok(None) };
        let until = |instant: UnixNanos| length((instant - anchor).as_nanos());
        let (time, kind) = match (reading, row.kind) {
            (Reading::Instant(instant), _) => (until(instant), GrantKind::Absolute),
            (Reading::Number(nanos), TimeKind::Absolute) => {
                (until(UnixNanos::from_nanos(nanos)), GrantKind::Absolute)
            }
            (Reading::Length(_), TimeKind::Absolute) => return Err(Unparsed),
            (Reading::Number(nanos), kind) => (length(nanos), grant_kind(kind)),
            (Reading::Length(time), kind) => (Some(time), grant_kind(kind)),
        };
        let least = if kind == GrantKind::Full { Nanos::ZERO } else { -Nanos::MAX };
        let most = if row.heuristic { MAX_HEURISTIC } else { Nanos::MAX };
        let time = time.filter(|time| (least..=most).contains(time)).ok_or(Unparsed)?;
        // A timeout configured as nothing is none: what has no time at all needs no call.
        let is_none = kind == GrantKind::Full && time == Nanos::ZERO;
        Ok((!is_none).then_some((time.at_least_zero(), kind)))
    }
}

/// The kind of a length; the bound of a try is a configured time.
fn grant_kind(kind: TimeKind) -> GrantKind {
    match kind {
        TimeKind::Remaining => GrantKind::Remaining,
        TimeKind::Full | TimeKind::PerTry => GrantKind::Full,
        TimeKind::Absolute => GrantKind::Absolute,
    }
}
