//! Closed sets of names as they appear in tables: an enum, its text and the way back, once.

/// Declares an enum whose variants have the given names in tables.
macro_rules! names {
    ($(#[$meta:meta])* $vis:vis enum $name:ident { $($(#[$doc:meta])* $variant:ident = $text:literal,)+ }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        $vis enum $name { $($(#[$doc])* $variant,)+ }

        impl $name {
            /// All of them, in declaration order.
            $vis const ALL: &'static [Self] = &[$(Self::$variant,)+];

            /// The name in tables.
            $vis const fn name(self) -> &'static str {
                match self { $(Self::$variant => $text,)+ }
            }

            /// The value of that name.
            $vis fn from_name(name: &str) -> Option<Self> {
                match name { $($text => Some(Self::$variant),)+ _ => None }
            }
        }
    };
}

pub(crate) use names;
