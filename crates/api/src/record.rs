//! What does a page of the history look like? `ChangeRecord`: entries that are added and never changed, each with the hash of the one before
//! (HIST-1).
//!
//! The server itself keeps pages append-only: an entry that is there stays there, and stays as it is. Whoever may remove that rule may rewrite
//! history, but not without its hashes telling everybody who kept one.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::meta::ObjectMeta;

/// How many entries a page holds at most. An entry takes about 600 bytes, so a full page is a tenth of the largest object that a server takes,
/// and is read and compared in a moment.
pub const MOST_ENTRIES: usize = 200;

/// How many pages a history has at most: ten thousand entries. The oldest page goes when one more begins.
pub const MOST_PAGES: usize = 50;

/// The longest text of an entry, in bytes. What is longer is cut: an entry is a line that people read.
pub const LONGEST_TEXT: usize = 512;

/// One page of the history of a namespace: what was decided, frozen, overridden and begun. Written by the operator alone, and only added to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
pub struct ChangeRecord {
    /// The group and version: `changemanagement.openshift.io/v1alpha1`.
    pub api_version: String,
    /// `ChangeRecord`.
    pub kind: String,
    /// Standard object metadata. What is in no namespace is recorded in that of the operator.
    pub metadata: ObjectMeta,
    /// What happened.
    pub spec: RecordSpec,
}

/// What happened, in the order in which it was recorded.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
pub struct RecordSpec {
    /// The entries of this page. They are only added, at most 200.
    #[schemars(length(min = 1, max = 200))]
    #[schemars(extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["number"], "x-tidegate-rules" = page_rules()))]
    pub entries: Vec<Entry>,
}

/// Something that happened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
#[schemars(extend("x-tidegate-rules" = entry_rules()))]
pub struct Entry {
    /// Its place in the history: 1 for the first, then one more for each, without a gap.
    #[schemars(range(min = 1))]
    pub number: i64,
    /// The namespace whose history this is.
    #[schemars(length(max = 63))]
    pub chain: String,
    /// When it happened, which may be before the entry above it: what is noticed late is recorded late.
    #[schemars(length(max = 64), extend("format" = "date-time"))]
    pub at: String,
    /// What happened.
    pub what: What,
    /// To which object.
    pub subject: Subject,
    /// What it changes to, or what it opens, where that can be told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 512))]
    pub change: Option<String>,
    /// By what right, or why, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 512))]
    pub basis: Option<String>,
    /// Who, as far as the API server says: who signed an override or a freeze. Absent where nobody can tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 512))]
    pub by: Option<String>,
    /// What came of it, in words.
    #[schemars(length(max = 512))]
    pub outcome: String,
    /// The hash of the entry before; 64 zeros before the first.
    #[schemars(extend("pattern" = HASH, "maxLength" = 64))]
    pub previous_hash: String,
    /// The SHA-256 of this entry as JSON without this field, its keys in order and nothing between them, in lower-case hexadecimal.
    #[schemars(extend("pattern" = HASH, "maxLength" = 64))]
    pub hash: String,
}

/// What can happen.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
pub enum What {
    /// From then on its gate permitted changes.
    Permitted,
    /// From then on its gate held changes.
    Held,
    /// A change began.
    Initiated,
    /// A change began while the gate was shut, and no permit let it.
    InitiatedOutside,
    /// What began has ended.
    Finished,
    /// A freeze came into force.
    Frozen,
    /// A freeze ended by itself.
    FreezeEnded,
    /// An override came into force.
    Overridden,
    /// Somebody approved an override.
    Approved,
    /// An override ended by itself.
    OverrideEnded,
    /// Somebody changed what a gate, a freeze or an override says: this is what it says now. Of a gate the first one tells what it says.
    Changed,
    /// The object is still there, and older entries about it go with the oldest page.
    Stands,
    /// The object is gone.
    Removed,
}

/// Which object.
#[derive(
    Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
pub struct Subject {
    /// Its kind.
    #[schemars(length(max = 63))]
    pub kind: String,
    /// Its namespace, if it is in one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 63))]
    pub namespace: Option<String>,
    /// Its name.
    #[schemars(length(max = 253))]
    pub name: String,
    /// Its identity: one of the same name that came later is another.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 63))]
    pub uid: Option<String>,
}

/// A SHA-256.
const HASH: &str = "^[0-9a-f]{64}$";

/// Nothing that was there goes.
fn page_rules() -> Value {
    json!([{
        "rule": "oldSelf.all(before, self.exists(now, now.number == before.number))",
        "message": "entries are added, and never taken away; hint: a correction is another entry",
    }])
}

/// Nothing that was there changes.
fn entry_rules() -> Value {
    json!([{
        "rule": "self == oldSelf",
        "message": "an entry stays as it was written; hint: a correction is another entry",
    }])
}

impl What {
    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Permitted => "Permitted",
            Self::Held => "Held",
            Self::Initiated => "Initiated",
            Self::InitiatedOutside => "InitiatedOutside",
            Self::Finished => "Finished",
            Self::Frozen => "Frozen",
            Self::FreezeEnded => "FreezeEnded",
            Self::Overridden => "Overridden",
            Self::Approved => "Approved",
            Self::OverrideEnded => "OverrideEnded",
            Self::Changed => "Changed",
            Self::Stands => "Stands",
            Self::Removed => "Removed",
        }
    }
}
