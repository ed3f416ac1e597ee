//! Where does the embedded server answer otherwise, and why?
//!
//! The list names each command with the reason on the line below. An entry that no longer differs is an error: the
//! list can only tell the truth.
//!
//! ```text
//! explain.txt: kubectl get --raw /livez
//!   why: the embedded server has no health checks of its own.
//! ```

use std::collections::BTreeMap;

/// The known differences.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Differences {
    /// Script and command, and why the answer differs.
    reasons: BTreeMap<(String, String), String>,
}

impl Differences {
    /// Reads the list; the problem names the line.
    pub fn parse(text: &str) -> Result<Differences, String> {
        let mut reasons = BTreeMap::new();
        let mut open: Option<(String, String)> = None;
        for (number, line) in text.lines().enumerate() {
            let problem = |what: &str| Err(format!("line {}: {what}: {line}", number + 1));
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            match (line.strip_prefix("  why: "), open.take()) {
                (Some(why), Some(key)) => {
                    reasons.insert(key, why.to_owned());
                }
                (None, None) => match line.split_once(": ") {
                    Some((script, command)) => open = Some((script.to_owned(), command.to_owned())),
                    None => return problem("script and command are missing"),
                },
                (Some(_), None) => return problem("a reason without a command"),
                (None, Some(_)) => return problem("the command above has no reason"),
            }
        }
        match open {
            Some((script, command)) => Err(format!("{script}: {command}: no reason is given")),
            None => Ok(Differences { reasons }),
        }
    }

    /// Whether a command of a script is known to answer otherwise.
    pub fn known(&self, script: &str, command: &str) -> bool {
        self.reasons.contains_key(&(script.to_owned(), command.to_owned()))
    }

    /// The entries of one script.
    pub fn of<'a>(&'a self, script: &'a str) -> impl Iterator<Item = &'a str> {
        let entries = self.reasons.keys().filter(move |(name, _)| name == script);
        entries.map(|(_, command)| command.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_entry_has_its_reason() {
        let list = Differences::parse("# a\n\na.txt: kubectl get x: y\n  why: because\n").unwrap();
        assert!(list.known("a.txt", "kubectl get x: y"));
        assert!(!list.known("b.txt", "kubectl get x: y"));
        assert_eq!(list.of("a.txt").collect::<Vec<_>>(), ["kubectl get x: y"]);
        for (text, expected) in [
            ("a.txt: x", "a.txt: x: no reason is given"),
            ("a.txt: x\nb.txt: y", "line 2: the command above has no reason: b.txt: y"),
            ("  why: because", "line 1: a reason without a command:   why: because"),
            ("nonsense", "line 1: script and command are missing: nonsense"),
        ] {
            assert_eq!(Differences::parse(text).unwrap_err(), expected);
        }
    }
}
