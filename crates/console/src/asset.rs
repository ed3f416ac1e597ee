//! What does every page bring along? One stylesheet and one script, as they stand in `assets/`.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use sha2::{Digest as _, Sha256};

/// The stylesheet.
pub(crate) const STYLE: &str = include_str!("../assets/console.css");

/// The script.
pub(crate) const SCRIPT: &str = include_str!("../assets/console.js");

/// The sign of the console, for tabs.
pub(crate) const SIGN: &str = r##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24"><path fill="#0e2029" d="M2 3h4v18H2zM18 3h4v18h-4zM6 8h12v3H6z"/><path fill="#1a93a8" d="M6 15c2-2 4-2 6 0s4 2 6 0v6H6z"/></svg>"##;

/// What a file may do that is mailed: show itself, with the stylesheet that stands in it, and nothing else.
pub(crate) fn mailed_policy() -> String {
    let digest = STANDARD.encode(Sha256::digest(STYLE.as_bytes()));
    format!("default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The value of a token in light, and in dark.
    fn tokens(name: &str) -> (u32, u32) {
        let needle = format!("--{name}: #");
        let mut found = STYLE.match_indices(&needle).map(|(at, _)| {
            let hex = &STYLE[at + needle.len()..at + needle.len() + 6];
            u32::from_str_radix(hex, 16).unwrap()
        });
        (found.next().unwrap(), found.next().unwrap())
    }

    /// How bright a colour is to people (WCAG 2.2).
    fn luminance(colour: u32) -> f64 {
        let channel = |shift: u32| {
            let value = f64::from(colour >> shift & 0xff) / 255.0;
            if value <= 0.03928 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
        };
        0.2126 * channel(16) + 0.7152 * channel(8) + 0.0722 * channel(0)
    }

    fn contrast(a: u32, b: u32) -> f64 {
        let (a, b) = (luminance(a), luminance(b));
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }

    /// Text needs 4.5 to 1, what is drawn 3 to 1, in light and in dark (WCAG 1.4.3, 1.4.11).
    #[test]
    fn colours_can_be_told_from_what_they_stand_on() {
        let rows = [
            ("ink", "surface", 4.5),
            ("ink", "bg", 4.5),
            ("ink-2", "surface", 4.5),
            ("ink-2", "bg", 4.5),
            ("ink-2", "sunken", 4.5),
            ("ink-3", "surface", 4.5),
            ("ink-3", "bg", 4.5),
            ("tide-ink", "surface", 4.5),
            ("tide-ink", "tide-soft", 4.5),
            ("ink-2", "tide-soft", 4.5),
            ("on-tide", "tide", 4.5),
            ("frost", "surface", 4.5),
            ("frost", "frost-soft", 4.5),
            ("amber", "surface", 4.5),
            ("alarm", "surface", 4.5),
            ("alarm", "alarm-soft", 4.5),
            ("control", "surface", 3.0),
            ("tide-fill", "surface", 3.0),
            ("hold", "surface", 3.0),
            ("frost-fill", "surface", 3.0),
            ("frost-fill", "frost-soft", 3.0),
            ("amber-fill", "surface", 3.0),
            ("alarm-fill", "surface", 3.0),
            ("focus", "surface", 3.0),
        ];
        for (front, back, least) in rows {
            let (front_of, back_of) = (tokens(front), tokens(back));
            for (front_of, back_of, mode) in
                [(front_of.0, back_of.0, "light"), (front_of.1, back_of.1, "dark")]
            {
                let found = contrast(front_of, back_of);
                assert!(found >= least, "{front} on {back}, {mode}: {found:.2}");
            }
        }
    }

    /// A colour that stands outside the tokens is one that no test looks at.
    #[test]
    fn the_script_makes_elements_in_one_place() {
        assert_eq!(SCRIPT.matches("innerHTML").count(), 1);
        for way in ["eval(", "Function(", "document.write", "insertAdjacentHTML", "outerHTML"] {
            assert!(!SCRIPT.contains(way), "{way}");
        }
    }
}
