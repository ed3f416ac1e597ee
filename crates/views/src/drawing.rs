//! How is something drawn for people? Colour never carries meaning alone: every coloured thing also has a sign or a word.
//!
//! Only the sixteen colours of the terminal's own palette are used, so dark and light terminals both work. A drawing is a text; who
//! prints it is the shell's business.

/// How much of something is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// What fits: the first and the last of many, without reasons.
    Short,
    /// Everything.
    Full,
}

/// Whether output is coloured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Colour {
    /// It is.
    On,
    /// It is not.
    Off,
}

/// What a piece of output is, for its colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// Nothing in particular.
    Plain,
    /// A heading.
    Strong,
    /// Something of less weight.
    Faint,
    /// Permitted.
    Open,
    /// A day that is permitted as a whole.
    OpenDay,
    /// Excluded.
    Excluded,
    /// Paused.
    Paused,
    /// Today.
    Today,
}

impl Colour {
    /// A piece of output in its colour.
    pub fn paint(self, style: Style, text: &str) -> String {
        let code = match style {
            Style::Plain => return text.to_owned(),
            Style::Strong => "1",
            Style::Faint => "2",
            Style::Open => "32",
            Style::OpenDay => "1;32",
            // Not yellow, which a light terminal swallows.
            Style::Excluded => "35",
            Style::Paused => "31",
            Style::Today => "1;7",
        };
        match self {
            Self::On if !text.is_empty() => format!("\x1b[{code}m{text}\x1b[0m"),
            Self::On | Self::Off => text.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colour_changes_no_word() {
        assert_eq!(Colour::Off.paint(Style::Open, "open"), "open");
        assert_eq!(Colour::On.paint(Style::Open, "open"), "\x1b[32mopen\x1b[0m");
        assert_eq!(Colour::On.paint(Style::Plain, "open"), "open");
        assert_eq!(Colour::On.paint(Style::Open, ""), "", "nothing has no colour");
    }
}
