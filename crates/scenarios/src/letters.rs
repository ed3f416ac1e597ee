//! How are rendered configurations called in a script? By letters, for each pool in the order in which they were first shown.

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
            if !self.0.contains(&name) {
                self.0.push(name.clone());
            }
            shown.push_str(&self.short(&name));
        }
        shown + rest
    }

    /// A text with letters for names, of which none is remembered. To sort by: hashes tell nothing, and change with every release.
    pub(crate) fn plain(&self, text: &str) -> String {
        Self(self.0.clone()).shorten(text)
    }

    /// A text with names for letters.
    pub(crate) fn lengthen(&self, text: &str) -> String {
        self.0.iter().fold(text.to_owned(), |text, name| text.replace(&self.short(name), name))
    }

    fn short(&self, name: &str) -> String {
        let pool = &name[..name.len() - DIGITS];
        let of_pool =
            self.0.iter().filter(|known| known.len() == name.len() && known.starts_with(pool));
        let place = of_pool.take_while(|known| *known != name).count();
        format!("{pool}{}", letter(place))
    }
}

fn letter(place: usize) -> String {
    let letter = u8::try_from(place).ok().filter(|place| *place < 26).map(|place| b'A' + place);
    letter.map_or_else(|| format!("Z{place}"), |letter| char::from(letter).to_string())
}
