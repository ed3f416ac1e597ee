//! How are rendered configurations called in a script? By letters, in the order in which they were first shown.

/// The names behind the letters.
#[derive(Debug, Default)]
pub(crate) struct Letters(Vec<String>);

/// `rendered-`, the pool and this many hexadecimal digits.
const DIGITS: usize = 32;

impl Letters {
    /// A text with letters for names.
    pub(crate) fn shorten(&mut self, text: &str) -> String {
        let mut shown = String::new();
        let mut rest = text;
        while let Some(start) = rest.find("rendered-") {
            let (before, found) = rest.split_at(start);
            let name: String =
                found.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '-').collect();
            shown.push_str(before);
            rest = &found[name.len()..];
            let digits = name.rsplit('-').next().unwrap_or_default();
            let hexadecimal = digits.chars().all(|c| c.is_ascii_hexdigit());
            if digits.len() != DIGITS || !hexadecimal {
                shown.push_str(&name);
                continue;
            }
            let known = self.0.iter().position(|known| *known == name);
            let place = known.unwrap_or_else(|| {
                self.0.push(name.clone());
                self.0.len() - 1
            });
            shown.push_str(&name[..name.len() - DIGITS]);
            shown.push_str(&letter(place));
        }
        shown + rest
    }

    /// A text with names for letters.
    pub(crate) fn lengthen(&self, text: &str) -> String {
        self.0.iter().enumerate().fold(text.to_owned(), |text, (place, name)| {
            let short = format!("{}{}", &name[..name.len() - DIGITS], letter(place));
            text.replace(&short, name)
        })
    }
}

fn letter(place: usize) -> String {
    let letter = u8::try_from(place).ok().filter(|place| *place < 26).map(|place| b'A' + place);
    letter.map_or_else(|| format!("Z{place}"), |letter| char::from(letter).to_string())
}
