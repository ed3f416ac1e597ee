//! What differs from one run to the next, though nothing is wrong?
//!
//! Identifiers, instants, ages, resource versions, ports, and the names of temporary files. Each becomes a word in angle brackets. A
//! mask hides as little as it can: a value of the wrong shape stays visible.

use std::path::Path;

use regex::Regex;

/// The masks, compiled once.
#[derive(Debug)]
pub struct Mask {
    rows: Vec<(Regex, &'static str)>,
    diary: Regex,
    folder: String,
}

/// Pattern and replacement, in the order in which they are tried. `$1`, `$2` keep what stands around.
const ROWS: &[(&str, &str)] = &[
    (r"\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b", "<uid>"),
    (r"\b20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)", "<time>"),
    (r"\b20\d\d-\d\d-\d\d \d\d:\d\d:\d\d(\.\d+)? [+-]\d{4}", "<time>"),
    (r"\b(Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d\d \w{3} 20\d\d \d\d:\d\d:\d\d [+-]\d{4}", "<time>"),
    (r#"(?i)(resource ?version"?: +"?)([2-9]|[1-9]\d+)\b"#, "$1<rv>"),
    (r#"("resourceVersion":")([2-9]|[1-9]\d+)\b"#, "$1<rv>"),
    (r"https?://127\.0\.0\.1:\d+", "<server>"),
    (r"\b127\.0\.0\.1:\d+", "<server>"),
    // Ages in tables and descriptions. The spaces after an age depend on its length, and go with it.
    (r"(^|  +)(\d+[dhms](\d+[hms])?) *$", "$1<age>"),
    (r"(^|  +)(\d+[dhms](\d+[hms])?)  +", "$1<age>   "),
    (r"\b(\d+[dhms](\d+[hms])?) \(x(\d+) over \d+[dhms](\d+[hms])?\)", "<age> (x$3 over <age>)"),
    // Names that the server made: letters and digits without vowels.
    (r"-[bcdfghjklmnpqrstvwxz2456789]{5}\b", "-<made>"),
    (r"(kubectl-edit-|LIVE-|MERGED-)\d+", "$1<n>"),
];

/// The head of a line in kubectl's diary: level, date, time.
const DIARY: &str = r"^[IWEF]\d{4} \d\d:\d\d:\d\d\.\d+ ";

impl Mask {
    /// Masks for a script that runs in `folder`.
    ///
    /// # Panics
    /// Never: the patterns are constants, compiled by this module's tests.
    pub fn new(folder: &Path) -> Mask {
        let compiled = |pattern| Regex::new(pattern).expect("the patterns above are well formed");
        let rows = ROWS.iter().map(|&(pattern, word)| (compiled(pattern), word)).collect();
        Mask { rows, diary: compiled(DIARY), folder: folder.display().to_string() }
    }

    /// Whether kubectl wrote the line to its own diary. What it notes there when its time is up depends on which of its parts hears of it
    /// first, and is no answer.
    pub fn is_diary(&self, line: &str) -> bool {
        self.diary.is_match(line)
    }

    /// One line with everything transient put away, and without spaces at its end: kubectl pads its tables.
    pub fn line(&self, line: &str) -> String {
        let mut text = line.replace(&self.folder, "<folder>");
        for (pattern, word) in &self.rows {
            text = pattern.replace_all(&text, *word).into_owned();
        }
        text.trim_end().to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transient_values_are_hidden_and_others_are_not() {
        let mask = Mask::new(Path::new("/scratch/x"));
        for (line, expected) in [
            ("  uid: 6e1a8d0c-1f1b-4a8e-9b1e-0d6f0a3c2b1a", "  uid: <uid>"),
            ("  uid: not-a-uid", "  uid: not-a-uid"),
            ("  creationTimestamp: \"2026-11-15T11:00:00Z\"", "  creationTimestamp: \"<time>\""),
            ("eventTime: 2026-11-15T11:00:00.123456Z", "eventTime: <time>"),
            ("  resourceVersion: \"417\"", "  resourceVersion: \"<rv>\""),
            ("\"resourceVersion\":\"417\",\"x\":1", "\"resourceVersion\":\"<rv>\",\"x\":1"),
            ("  resourceVersion: \"\"", "  resourceVersion: \"\""),
            ("  Resource Version:  417", "  Resource Version:  <rv>"),
            ("dover   7   12s  ", "dover   7   <age>"),
            ("3m5s        Normal   Rising", "<age>   Normal   Rising"),
            ("height is 12s", "height is 12s"),
            ("2m (x3 over 5m)", "<age> (x3 over <age>)"),
            ("tide/dover-x7k2p created", "tide/dover-<made> created"),
            ("tide/dover-harbour created", "tide/dover-harbour created"),
            ("Get \"https://127.0.0.1:40123/api\"", "Get \"<server>/api\""),
            ("--- /scratch/x/MERGED-1234/a", "--- <folder>/MERGED-<n>/a"),
        ] {
            assert_eq!(mask.line(line), expected);
        }
    }
    #[test]
    fn diary_of_kubectl_is_known_by_its_head() {
        let mask = Mask::new(Path::new("/scratch/x"));
        assert!(
            mask.is_diary("E1115 12:45:42.169418    1554 reflector.go:227] \"Failed to watch\"")
        );
        assert!(!mask.is_diary("Error from server (NotFound): tides.example.com \"a\" not found"));
    }
}
