//! Is a fact recorded? Told by the entries alone, whoever wrote them.
//!
//! Most facts have an instant of their own, and are known by it. The others are known by where the course of their object stands: a node that was told
//! to go with a permit has begun once, whoever stamps it again; a freeze ends once after it came into force; and what somebody changed is told
//! when it differs from what was told last.

use api::{
    kinds,
    record::{Entry, Subject, What},
};
use serde_json::json;
use sha2::{Digest as _, Sha256};

use super::Chain;
use crate::history::chain::Fact;

/// Enough of a SHA-256 to tell ten thousand entries apart.
pub(super) type Digest = [u8; 16];

/// Where the course of an object stands, by what was recorded of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Course {
    /// What it said when it was last told; none if that was not told.
    terms: Option<Digest>,
    /// Whether it was told that it has ended.
    pub(super) ended: bool,
    /// The number of the last entry about it.
    pub(super) last: i64,
}

/// How a fact is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Known {
    /// By its own instant, or by who did it.
    ByItself,
    /// By what its object was told to do last.
    Begins,
    /// By what its object said last.
    Differs,
    /// By whether its object has ended.
    Ends,
}

fn known(what: What, subject: &Subject) -> Known {
    let of_node = subject.kind == kinds::NODE.name;
    match what {
        What::Initiated if of_node => Known::Begins,
        What::Finished if of_node => Known::Ends,
        What::FreezeEnded | What::OverrideEnded => Known::Ends,
        What::Changed => Known::Differs,
        What::Permitted
        | What::Held
        | What::Initiated
        | What::InitiatedOutside
        | What::Finished
        | What::Frozen
        | What::Overridden
        | What::Approved
        | What::Stands
        | What::Removed => Known::ByItself,
    }
}

/// Whether it tells what its object says from then on.
fn begins(what: What) -> bool {
    matches!(what, What::Frozen | What::Overridden | What::Initiated)
}

impl Chain {
    /// What of these facts, which are those of one object, is not recorded.
    pub fn lacking(&self, facts: impl IntoIterator<Item = Fact>) -> Vec<Fact> {
        let mut lacking: Vec<Fact> = Vec::new();
        for fact in facts.into_iter().map(Fact::fitting) {
            if self.lacks(&fact, &lacking) {
                lacking.push(fact);
            }
        }
        self.settled(lacking)
    }

    fn lacks(&self, fact: &Fact, before: &[Fact]) -> bool {
        if self.horizon.is_some_and(|horizon| fact.since < horizon) {
            return false;
        }
        let course = self.courses.get(&fact.subject);
        let terms = course.and_then(|course| course.terms);
        let mut before = before.iter().filter(|before| before.subject == fact.subject);
        match known(fact.what, &fact.subject) {
            Known::ByItself => !self.known.contains(&of_fact(fact)),
            Known::Begins => terms != Some(terms_of_fact(fact)),
            Known::Differs => match before.find(|before| begins(before.what)) {
                // That tells the same.
                Some(begun) if begun.at <= fact.at => false,
                ahead => match terms {
                    Some(told) => told != terms_of_fact(fact),
                    None => ahead.is_none(),
                },
            },
            Known::Ends => {
                course.is_some_and(|course| !course.ended)
                    || before.any(|before| begins(before.what) || before.what == What::Changed)
            }
        }
    }

    /// What ended because somebody changed it ended when that was noticed, and not by itself.
    fn settled(&self, mut lacking: Vec<Fact>) -> Vec<Fact> {
        let changed = lacking.iter().find(|fact| fact.what == What::Changed);
        let Some((subject, seen)) = changed.map(|fact| (fact.subject.clone(), fact.at)) else {
            return lacking;
        };
        let was_told = self.courses.get(&subject).is_some_and(|course| course.terms.is_some());
        for fact in &mut lacking {
            let ends = matches!(fact.what, What::FreezeEnded | What::OverrideEnded);
            if ends && fact.subject == subject && fact.at <= seen {
                if was_told {
                    fact.outcome =
                        format!("somebody changed it, and by that it ended at {}", fact.at);
                }
                fact.at = seen;
            }
        }
        lacking
    }

    /// The objects that stand, as far as entries tell.
    pub(super) fn standing(&self) -> impl Iterator<Item = (&Subject, &Course)> {
        let stands = |(subject, course): &(&Subject, &Course)| {
            !course.ended && subject.kind != kinds::NODE.name
        };
        self.courses.iter().filter(stands)
    }

    pub(super) fn learn(&mut self, entry: &Entry) {
        let Entry { what, subject, number, .. } = entry;
        self.known.insert(of_entry(entry));
        let course = |ended: bool, terms: Option<Digest>| Course { terms, ended, last: *number };
        let known = self.courses.get(subject);
        let told = known.and_then(|known| known.terms);
        let (is_known, ended) = (known.is_some(), known.is_some_and(|known| known.ended));
        let next = match (what, known_by(entry)) {
            (What::Removed, _) => {
                self.courses.remove(subject);
                return;
            }
            (_, Known::Ends) => course(true, told),
            (What::Frozen | What::Overridden | What::Changed, _) | (_, Known::Begins) => {
                course(false, Some(terms_of_entry(entry)))
            }
            (What::Stands, _) => course(false, None),
            (What::Permitted | What::Held, _) => course(false, told),
            // Who approved something, or began it, was told of before.
            (_, Known::ByItself | Known::Differs) if is_known => course(ended, told),
            (_, Known::ByItself | Known::Differs) => return,
        };
        self.courses.insert(subject.clone(), next);
    }
}

fn known_by(entry: &Entry) -> Known {
    known(entry.what, &entry.subject)
}

fn of_entry(entry: &Entry) -> Digest {
    let Entry { what, subject, at, change, basis, by, .. } = entry;
    by_itself(*what, subject, at, [change, basis, by])
}

fn of_fact(fact: &Fact) -> Digest {
    let Fact { what, subject, at, change, basis, by, .. } = fact;
    by_itself(*what, subject, &at.to_string(), [change, basis, by])
}

/// What tells a fact from others of the same kind about the same object: what changes, and when that was; of what is noticed and has no instant
/// of its own, what it rests on or who did it.
fn by_itself(
    what: What,
    subject: &Subject,
    at: &str,
    [change, basis, by]: [&Option<String>; 3],
) -> Digest {
    let keyed = match what {
        What::Finished => basis.as_deref().unwrap_or_default(),
        What::Approved => by.as_deref().unwrap_or_default(),
        _ => at,
    };
    // What began is one change, whatever its gate is found to have been.
    let what = if what == What::InitiatedOutside { What::Initiated } else { what };
    let Subject { kind, namespace, name, uid } = subject;
    digest(&json!([what.as_str(), kind, namespace, name, uid, change, keyed]).to_string())
}

fn terms_of_entry(entry: &Entry) -> Digest {
    digest(&json!([entry.change, entry.basis, entry.outcome]).to_string())
}

fn terms_of_fact(fact: &Fact) -> Digest {
    digest(&json!([fact.change, fact.basis, fact.outcome]).to_string())
}

fn digest(text: &str) -> Digest {
    let mut digest = Digest::default();
    for (place, byte) in digest.iter_mut().zip(Sha256::digest(text.as_bytes())) {
        *place = byte;
    }
    digest
}
