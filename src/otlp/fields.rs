//! The fields of OTLP messages that matter, declared once: number in protobuf, name in JSON (the
//! `lowerCamelCase` of the specification and the `snake_case` that some exporters write).

/// Declares the fields of one message.
macro_rules! message {
    ($(#[$meta:meta])* $name:ident { $($(#[$doc:meta])* $field:ident = $number:literal, $($text:literal)|+;)+ }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u32)]
        pub enum $name { $($(#[$doc])* $field = $number,)+ }

        impl $name {
            /// Its number in protobuf.
            pub const fn number(self) -> u32 {
                self as u32
            }

            /// The field of a number in protobuf.
            pub const fn from_number(number: u32) -> Option<Self> {
                match number { $($number => Some(Self::$field),)+ _ => None }
            }

            /// The field of a name in JSON.
            pub fn from_name(name: &str) -> Option<Self> {
                match name { $($($text)|+ => Some(Self::$field),)+ _ => None }
            }
        }
    };
}

message! {
    /// `TracesData` and `ExportTraceServiceRequest`, which are the same on the wire.
    TracesField {
        /// Spans by resource.
        ResourceSpans = 1, "resourceSpans" | "resource_spans";
    }
}

message! {
    /// `ResourceSpans`.
    ResourceSpansField {
        /// Who made the spans.
        Resource = 1, "resource";
        /// The spans by instrumentation scope.
        ScopeSpans = 2, "scopeSpans" | "scope_spans";
        /// The same before OTLP 0.15.
        LibrarySpans = 1000, "instrumentationLibrarySpans" | "instrumentation_library_spans";
    }
}

message! {
    /// `Resource`.
    ResourceField {
        /// What it says of itself.
        Attributes = 1, "attributes";
    }
}

message! {
    /// `ScopeSpans` and `InstrumentationLibrarySpans`.
    ScopeSpansField {
        /// What made them.
        Scope = 1, "scope" | "instrumentationLibrary" | "instrumentation_library";
        /// The spans.
        Spans = 2, "spans";
    }
}

message! {
    /// `InstrumentationScope`.
    ScopeField {
        /// What it says of itself.
        Attributes = 3, "attributes";
    }
}

message! {
    /// `Span`.
    SpanField {
        /// The trace, 16 bytes.
        TraceId = 1, "traceId" | "trace_id";
        /// The span, 8 bytes.
        SpanId = 2, "spanId" | "span_id";
        /// What samplers and others passed on, as W3C has it.
        TraceState = 3, "traceState" | "trace_state";
        /// The parent, 8 bytes or none.
        ParentSpanId = 4, "parentSpanId" | "parent_span_id";
        /// The name.
        Name = 5, "name";
        /// The kind.
        Kind = 6, "kind";
        /// Start, in nanoseconds since the epoch.
        Start = 7, "startTimeUnixNano" | "start_time_unix_nano";
        /// End, in nanoseconds since the epoch.
        End = 8, "endTimeUnixNano" | "end_time_unix_nano";
        /// What it says of itself.
        Attributes = 9, "attributes";
        /// What happened within.
        Events = 11, "events";
        /// Other spans it has to do with.
        Links = 13, "links";
        /// How it ended.
        Status = 15, "status";
    }
}

message! {
    /// `Span.Event`.
    EventField {
        /// When, in nanoseconds since the epoch.
        Time = 1, "timeUnixNano" | "time_unix_nano";
        /// Its name.
        Name = 2, "name";
        /// What else it says.
        Attributes = 3, "attributes";
    }
}

message! {
    /// `Status`.
    StatusField {
        /// A sentence.
        Message = 2, "message";
        /// The code.
        Code = 3, "code";
    }
}

message! {
    /// `KeyValue`.
    KeyValueField {
        /// The key.
        Key = 1, "key";
        /// The value.
        Value = 2, "value";
    }
}

message! {
    /// `AnyValue`.
    ValueField {
        /// Text.
        Text = 1, "stringValue" | "string_value";
        /// True or false.
        Bool = 2, "boolValue" | "bool_value";
        /// A whole number.
        Int = 3, "intValue" | "int_value";
        /// Any other number.
        Double = 4, "doubleValue" | "double_value";
        /// A list.
        Array = 5, "arrayValue" | "array_value";
    }
}

message! {
    /// `ArrayValue`.
    ArrayField {
        /// The elements.
        Values = 1, "values";
    }
}
