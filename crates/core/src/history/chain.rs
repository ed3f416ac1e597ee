//! What does an entry's hash say? That its content, and with it everything before, is as it was (HIST-1).
//!
//! The bytes are those of RFC 8785 for what an entry holds, texts and whole numbers: JSON without blanks, keys in order. Anybody can make
//! them without this program: `jq -jcS 'del(.hash)' | sha256sum`.

use api::record::{Entry, Subject, What};
use schedule::Instant;
use serde_json::Value;

use crate::document::{
    sha256::sha256,
    terms::{cut, in_order},
};

/// What the first entry of all carries as the hash of the one before.
pub const GENESIS: &str = "0000000000000000000000000000000000000000000000000000000000000000";

/// Something that happened, before it has a place in a history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fact {
    /// When.
    pub at: Instant,
    /// When began what this is about: something that is noticed later than it happened is as old as that.
    pub since: Instant,
    /// What.
    pub what: What,
    /// To which object.
    pub subject: Subject,
    /// What that changes to, or what it opens.
    pub change: Option<String>,
    /// By what right, or why.
    pub basis: Option<String>,
    /// Who, as far as the server says.
    pub by: Option<String>,
    /// What came of it.
    pub outcome: String,
}

impl Fact {
    /// A fact of which no more is told.
    pub fn about(subject: Subject, what: What, at: Instant, outcome: &str) -> Self {
        let (change, basis, by) = (None, None, None);
        Self { at, since: at, what, subject, change, basis, by, outcome: outcome.to_owned() }
    }

    /// The same with texts that fit into an entry: what is compared with entries has to be as they are.
    pub(super) fn fitting(self) -> Self {
        let Self { at, since, what, subject, change, basis, by, outcome } = self;
        let (change, basis, by) = (change.map(cut), basis.map(cut), by.map(cut));
        Self { at, since, what, subject, change, basis, by, outcome: cut(outcome) }
    }
}

/// The last entry of a chain, by what the next one needs of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tip {
    /// Its number.
    pub number: i64,
    /// Its hash.
    pub hash: String,
}

impl Default for Tip {
    /// Before the first entry.
    fn default() -> Self {
        Self { number: 0, hash: GENESIS.to_owned() }
    }
}

impl Tip {
    /// The entry of a fact that comes next in the chain of a namespace.
    pub fn next(&self, chain: &str, fact: Fact) -> Entry {
        let Fact { at, since: _, what, subject, change, basis, by, outcome } = fact.fitting();
        let mut entry = Entry {
            number: self.number + 1,
            chain: chain.to_owned(),
            at: at.to_string(),
            what,
            subject,
            change,
            basis,
            by,
            outcome,
            previous_hash: self.hash.clone(),
            hash: String::new(),
        };
        entry.hash = hash(&written(&entry));
        entry
    }
}

impl From<&Entry> for Tip {
    fn from(entry: &Entry) -> Self {
        Self { number: entry.number, hash: entry.hash.clone() }
    }
}

/// An entry as it is stored.
///
/// # Panics
///
/// Never: an entry holds texts and whole numbers.
pub fn written(entry: &Entry) -> Value {
    serde_json::to_value(entry)
        .expect("an entry holds texts and whole numbers, so it can be written")
}

/// The hash of an entry as it is stored, whatever hash it carries. Fields that this build does not know count: whoever adds one changes the
/// entry.
pub fn hash(entry: &Value) -> String {
    let mut content = entry.clone();
    if let Some(fields) = content.as_object_mut() {
        fields.remove("hash");
    }
    sha256(in_order(content).to_string().as_bytes())
}
