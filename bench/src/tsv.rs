//! What do peers in other languages read? The same rules and instants, as tab-separated files.

use std::fmt::Write as _;
use std::path::Path;
use std::{fs, io};

use crate::rule::{Cover, Rule};
use crate::seed;

/// Writes every file into `folder`.
pub fn write(folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    fs::write(folder.join("shapes.tsv"), table(&seed::shapes()))?;
    fs::write(folder.join("rules.tsv"), table(&seed::rules()))?;
    fs::write(folder.join("policies.tsv"), table(&seed::policies(seed::POLICIES)))?;
    let pairs: Vec<_> =
        seed::pairs().into_iter().flat_map(|(worker, control)| [worker, control]).collect();
    fs::write(folder.join("pairs.tsv"), table(&pairs))?;
    let instants: Vec<_> = seed::instants().iter().map(i64::to_string).collect();
    fs::write(folder.join("instants.tsv"), instants.join("\n") + "\n")
}

/// Columns: id, RRULE, start and length in seconds, cover, exclusions as `from:until` day numbers.
fn table(rules: &[Rule]) -> String {
    let mut text = String::new();
    for rule in rules {
        let cover = match rule.cover {
            Cover::Always => "always",
            Cover::Never => "never",
            Cover::Sometimes => "sometimes",
        };
        let exclusions: Vec<_> =
            rule.exclusions.iter().map(|(from, until)| format!("{from}:{until}")).collect();
        writeln!(
            text,
            "{}\t{}\t{}\t{}\t{cover}\t{}",
            rule.id,
            rule.rrule(),
            rule.start,
            rule.length,
            exclusions.join(",")
        )
        .expect("writing to a String cannot fail");
    }
    text
}
