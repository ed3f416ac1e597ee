//! Does every rule that we say is kept have code and a test that exists, and does every cited rule exist?
//!
//! `docs/spec-ids.txt` lists every rule. ARCHITECTURE.md lists the kept ones: in its section on invariants,
//! each table row whose first cell is an id, or a span such as `TIME-1 to TIME-15`. A rule that is planned
//! but not kept yet does not stand there.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use crate::{Finding, Tree};

mod shown;

pub use shown::check_shown;

/// Where the rules are listed.
pub const LIST: &str = "docs/spec-ids.txt";
const ARCHITECTURE: &str = "ARCHITECTURE.md";

/// The name of a rule, such as `TIME-12`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Id {
    family: String,
    number: u32,
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.family, self.number)
    }
}

/// Every line of the list that is not `ID  sentence`, out of order, or there twice.
pub fn check_list(tree: &Tree) -> Vec<Finding> {
    let Some(text) = tree.text(LIST) else {
        return vec![Finding::of(LIST, "missing")];
    };
    let mut findings = Vec::new();
    let mut last: BTreeMap<String, u32> = BTreeMap::new();
    for (number, line) in (1..).zip(text.lines()).filter(|(_, line)| is_entry(line)) {
        let entry =
            line.split_once(' ').and_then(|(id, sentence)| Some((exact(id)?, sentence.trim())));
        let Some((id, sentence)) = entry else {
            findings.push(Finding::at(LIST, number, "write `FAMILY-1  What the rule says.`"));
            continue;
        };
        if !sentence.ends_with('.') || sentence.split(' ').count() < 4 {
            findings.push(Finding::at(LIST, number, format!("{id} needs a sentence")));
        }
        let previous = last.insert(id.family.clone(), id.number).unwrap_or(0);
        if id.number != previous + 1 {
            findings.push(Finding::at(
                LIST,
                number,
                format!("{id} follows {}-{previous}: number without gaps", id.family),
            ));
        }
    }
    findings
}

/// Every id that some file cites and the list does not hold. Only families of the list are looked for:
/// `UTF-8` and `Etc/GMT-5` are not ours.
pub fn check_citations(tree: &Tree) -> Vec<Finding> {
    let known = listed(tree);
    let families: BTreeSet<&str> = known.iter().map(|id| id.family.as_str()).collect();
    let mut findings = Vec::new();
    for (path, text) in tree.ending(".rs").chain(tree.ending(".md")) {
        for (number, line) in (1..).zip(text.lines()) {
            let strangers = cited(line)
                .filter(|id| families.contains(id.family.as_str()) && !known.contains(id));
            findings.extend(
                strangers.map(|id| Finding::at(path, number, format!("{id} is not in {LIST}"))),
            );
        }
    }
    findings
}

/// Every rule that ARCHITECTURE.md says is kept but that no code or no test cites.
pub fn check_kept(tree: &Tree) -> Vec<Finding> {
    let mut in_code = BTreeSet::new();
    let mut in_tests = BTreeSet::new();
    for (path, text) in tree.ending(".rs") {
        let (code, tests) = split_tests(path, text);
        in_code.extend(code.lines().flat_map(cited));
        in_tests.extend(tests.lines().flat_map(cited));
    }
    let known = listed(tree);
    let mut findings = Vec::new();
    for (number, id) in kept(tree) {
        let mut say =
            |text: &str| findings.push(Finding::at(ARCHITECTURE, number, format!("{id} {text}")));
        if !known.contains(&id) {
            say("is not in docs/spec-ids.txt");
        }
        if !in_code.contains(&id) {
            say("is said to be kept, but no code cites it");
        }
        if !in_tests.contains(&id) {
            say("is said to be kept, but no test cites it");
        }
    }
    findings
}

/// The rules that ARCHITECTURE.md says are kept, with the line that says so.
pub fn kept(tree: &Tree) -> Vec<(usize, Id)> {
    let mut inside = false;
    let mut rules = Vec::new();
    for (number, line) in (1..).zip(tree.text(ARCHITECTURE).unwrap_or_default().lines()) {
        if let Some(heading) = line.strip_prefix("## ") {
            inside = heading.to_lowercase().contains("invariants");
        }
        let cell = line.strip_prefix('|').and_then(|row| row.split('|').next()).filter(|_| inside);
        let ids: Vec<Id> = cell.into_iter().flat_map(cited).collect();
        let is_span = cell.is_some_and(|cell| cell.contains(" to "));
        match &ids[..] {
            [first, last] if is_span && first.family == last.family => {
                let numbers = first.number..=last.number;
                rules.extend(
                    numbers.map(|n| (number, Id { family: first.family.clone(), number: n })),
                );
            }
            ids => rules.extend(ids.iter().map(|id| (number, id.clone()))),
        }
    }
    rules
}

fn listed(tree: &Tree) -> BTreeSet<Id> {
    let entries = tree.text(LIST).unwrap_or_default().lines().filter(|line| is_entry(line));
    entries.filter_map(|line| exact(line.split(' ').next()?)).collect()
}

fn is_entry(line: &str) -> bool {
    !line.trim().is_empty() && !line.starts_with('#')
}

/// The code and the tests of a source file. A test file is all test; elsewhere tests are what follows
/// `#[cfg(test)]`, which by our habit stands last.
fn split_tests<'a>(path: &str, text: &'a str) -> (&'a str, &'a str) {
    let is_test = |part: &str| part == "tests" || part == "tests.rs";
    if path.split('/').skip(2).any(is_test) {
        return ("", text);
    }
    text.split_at(text.find("#[cfg(test)]").unwrap_or(text.len()))
}

/// The ids in a line: capitals, a hyphen, digits, and no letter or digit on either side.
fn cited(line: &str) -> impl Iterator<Item = Id> + '_ {
    line.split(|c: char| !(c.is_ascii_alphanumeric() || c == '-' || c == '_')).filter_map(|word| {
        // `INV-POOL-3` is the long form of `POOL-3`.
        exact(word.strip_prefix("INV-").unwrap_or(word))
    })
}

fn exact(word: &str) -> Option<Id> {
    let (family, number) = word.split_once('-')?;
    let plausible = family.len() >= 2
        && family.starts_with(|c: char| c.is_ascii_uppercase())
        && family.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit())
        && !number.starts_with(['0', '+']);
    Some(Id { family: family.to_owned(), number: number.parse().ok().filter(|_| plausible)? })
}

#[cfg(test)]
mod tests;
