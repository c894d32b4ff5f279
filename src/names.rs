//! Closed sets of names as they appear in tables: an enum, its text and the way back, once.

/// Declares an enum whose variants have the given names in tables.
macro_rules! names {
    ($(#[$meta:meta])* pub enum $name:ident { $($(#[$doc:meta])* $variant:ident = $text:literal,)+ }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name { $($(#[$doc])* $variant,)+ }

        impl $name {
            /// All of them, in declaration order.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];

            /// The name in tables.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $text,)+ }
            }

            /// The value of that name.
            pub fn from_name(name: &str) -> Option<Self> {
                match name { $($text => Some(Self::$variant),)+ _ => None }
            }
        }
    };
}

pub(crate) use names;
