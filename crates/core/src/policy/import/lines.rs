//! How does a calendar file say something? Content lines of RFC 5545: unfolded, with their name, their parameters and the line they begin on.
//!
//! Total and linear: whatever is no content line is given back as one that nobody understands.

/// The longest content line that is read. The longest useful one is a description, which nobody reads here.
const LONGEST: usize = 64 * 1024;

/// A content line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Line {
    /// Where it begins, counted from one.
    pub(super) number: usize,
    /// Its name, in capitals.
    pub(super) name: String,
    /// Its parameters, names in capitals.
    pub(super) parameters: Vec<(String, String)>,
    /// What it says; none if there is no value, or more of it than is read.
    pub(super) value: Option<String>,
}

impl Line {
    /// What a parameter says.
    pub(super) fn parameter(&self, name: &str) -> Option<&str> {
        self.parameters.iter().find(|(given, _)| given == name).map(|(_, value)| value.as_str())
    }
}

/// The content lines of a text.
pub(super) fn lines(text: &str) -> impl Iterator<Item = Line> {
    let mut physical = text.split('\n').enumerate().peekable();
    std::iter::from_fn(move || {
        let (place, first) = physical.find(|(_, line)| !line.trim().is_empty())?;
        let mut whole = first.trim_end_matches('\r').to_owned();
        // A folded line goes on after one blank; what is too long is passed over and not kept.
        while let Some((_, more)) = physical.next_if(|(_, line)| line.starts_with([' ', '\t'])) {
            if whole.len() <= LONGEST {
                whole.push_str(more.get(1..).unwrap_or_default().trim_end_matches('\r'));
            }
        }
        Some(read(place + 1, &whole))
    })
}

fn read(number: usize, whole: &str) -> Line {
    let mut quoted = false;
    let mut cuts = Vec::new();
    let mut colon = None;
    for (place, byte) in whole.bytes().enumerate().take(LONGEST) {
        match byte {
            b'"' => quoted = !quoted,
            b';' if !quoted => cuts.push(place),
            b':' if !quoted => {
                colon = Some(place);
                break;
            }
            _ => {}
        }
    }
    let head = whole.get(..colon.unwrap_or(0)).unwrap_or_default();
    let mut edges = cuts.into_iter().chain([head.len()]);
    let name_end = edges.next().unwrap_or_default();
    let mut parameters = Vec::new();
    let mut from = name_end + 1;
    for edge in edges {
        let (name, value) =
            head.get(from..edge).and_then(|one| one.split_once('=')).unwrap_or_default();
        parameters.push((name.to_ascii_uppercase(), value.trim_matches('"').to_owned()));
        from = edge + 1;
    }
    let value = colon.and_then(|colon| whole.get(colon + 1..)).filter(|_| whole.len() <= LONGEST);
    let name =
        if colon.is_some() { head.get(..name_end) } else { whole.get(..whole.len().min(20)) };
    Line {
        number,
        name: name.unwrap_or("a line").to_ascii_uppercase(),
        parameters,
        value: value.map(str::to_owned),
    }
}

/// A text value (section 3.3.11) on one line.
pub(super) fn text(value: &str) -> String {
    let mut plain = String::new();
    let mut signs = value.chars();
    while let Some(sign) = signs.next() {
        match sign {
            '\\' => match signs.next() {
                Some('n' | 'N') | None => plain.push(' '),
                Some(other) => plain.push(other),
            },
            sign if sign.is_control() => plain.push(' '),
            sign => plain.push(sign),
        }
    }
    plain.trim().chars().take(1024).collect()
}
