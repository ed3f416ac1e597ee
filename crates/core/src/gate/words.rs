//! What is said of a change that waits, is under way, or does not start? The only place with words for it.
//!
//! People read these words, in a status, a table or JSON; no decision does.

use std::{collections::BTreeSet, fmt};

use crate::{
    document::problem::problem_text,
    gate::{
        Basis,
        change::ChangeId,
        pending::{Course, Differences, Edit, Machines, Stop, UnderWay, Waiting},
    },
};

/// How many sources, and how many fields, a sentence names.
const SHOWN: usize = 5;

/// Each of them in a few words.
pub fn each<T: fmt::Display>(told: &[T]) -> Vec<String> {
    told.iter().map(ToString::to_string).collect()
}

/// All of them in one line.
pub fn joined<T: fmt::Display>(told: &[T]) -> String {
    each(told).join("; ")
}

impl fmt::Display for ChangeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Release(name) => write!(f, "release {name}"),
            Self::Rendered(name) => f.write_str(name),
            Self::Revision => f.write_str("a new configuration"),
            Self::Template => f.write_str("a new machine template"),
        }
    }
}

impl fmt::Display for Machines {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { count, of } = self;
        write!(f, "on {count} of {of} nodes")
    }
}

impl fmt::Display for Waiting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Release { to, now, remarks } => {
                write!(f, "release {to}")?;
                now.as_ref().map_or(Ok(()), |now| write!(f, " (now {now})"))?;
                remarks.iter().try_for_each(|remark| write!(f, ", {remark}"))
            }
            Self::Machines { to, machines, differences } => {
                write!(f, "{to} {machines}{differences}")
            }
            Self::Pinned { to, chosen } => {
                write!(f, "{to}, while spec.machineConfig names {chosen}")
            }
            Self::Hosted { to, said } => {
                match to {
                    // Its image would say less than what its controller says.
                    ChangeId::Release(_) => f.write_str("a new release")?,
                    ChangeId::Rendered(_) | ChangeId::Revision | ChangeId::Template => {
                        write!(f, "{to}")?;
                    }
                }
                said.as_ref().map_or(Ok(()), |said| write!(f, ": {said}"))
            }
            Self::Reached { what, names, count } => {
                write!(f, "{count} of {what}")?;
                let shown = names.len().min(SHOWN);
                let more = count.saturating_sub(i64::try_from(shown).unwrap_or(i64::MAX));
                if let Some(names) = names.get(..shown).filter(|names| !names.is_empty()) {
                    write!(f, ": {}", names.join(", "))?;
                    if more > 0 {
                        write!(f, ", and {more} more")?;
                    }
                }
                Ok(())
            }
        }
    }
}

impl fmt::Display for UnderWay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { change, machines } = self;
        match machines {
            None => write!(f, "{change}"),
            Some(machines) => write!(f, "{change} {machines}"),
        }
    }
}

impl fmt::Display for Differences {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sources = listed(self.sources.iter().map(|(name, edit)| {
            let done = match edit {
                Edit::Added => "added",
                Edit::Changed => "changed",
                Edit::Removed => "removed",
            };
            format!("{name} {done}")
        }));
        let fields = listed(self.fields.iter().cloned());
        match (sources.is_empty(), fields.is_empty()) {
            (true, true) => Ok(()),
            (false, true) => write!(f, ": {sources}"),
            (true, false) => write!(f, ": {fields}"),
            (false, false) => write!(f, ": {sources} ({fields})"),
        }
    }
}

impl fmt::Display for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Paused => f.write_str("spec.paused is true"),
            Self::Blocked(problems) => f.write_str(&problem_text(problems)),
            Self::Unmet(problems) => {
                let each = problems.iter().map(|problem| {
                    let said = problem_text(std::slice::from_ref(problem));
                    match &problem.hint {
                        Some(hint) => format!("{said} (hint: {hint})"),
                        None => said,
                    }
                });
                f.write_str(&each.collect::<Vec<_>>().join("; "))
            }
            Self::After(pool) => write!(f, "MachineConfigPool/{pool} must settle first"),
            Self::Pinned(config) => write!(f, "spec.machineConfig names {config}"),
        }
    }
}

impl Course {
    /// The rights by which something goes on, in one line.
    pub(crate) fn rights(bases: &BTreeSet<Basis>) -> String {
        each(&bases.iter().collect::<Vec<_>>()).join(", ")
    }
}

/// The first few, and how many more.
pub(crate) fn listed(names: impl ExactSizeIterator<Item = String>) -> String {
    let count = names.len();
    let mut shown: Vec<String> = names.take(SHOWN).collect();
    if count > SHOWN {
        shown.push(format!("and {} more", count - SHOWN));
    }
    shown.join(", ")
}
