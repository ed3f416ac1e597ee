//! What are the days and months called? The closed vocabularies of a rule.

use std::fmt;

macro_rules! vocabulary {
    ($(#[$doc:meta])* $name:ident: $($variant:ident),+) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[expect(missing_docs, reason = "each name says all there is to say")]
        pub enum $name { $($variant),+ }

        impl $name {
            /// All of them, in order.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// Its name in English, as the policy spells it.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => stringify!($variant)),+ }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(self.name())
            }
        }
    };
}

vocabulary! {
    /// A day of the week. Weeks begin on Monday (TIME-5).
    Weekday: Monday, Tuesday, Wednesday, Thursday, Friday, Saturday, Sunday
}

vocabulary! {
    /// A month of the year.
    Month: January, February, March, April, May, June, July, August, September, October, November, December
}

vocabulary! {
    /// Which of the weekdays of a month. `Fifth` is not `Last`: a month without a fifth such weekday has none (TIME-6).
    Ordinal: First, Second, Third, Fourth, Fifth, Last
}
