//! Does anything refuse what a gate holds, or is the hold only said? (GATE-13)
//!
//! A gate is a verdict. Whether the cluster obeys it is another question, with an answer for each kind and each server: somebody
//! tried the first write of a change where a gate was shut and saw it refused, saw it pass, or never tried. What was not seen is not
//! claimed.

use api::{
    meta::ConditionStatus,
    schema::{Kind, Role},
};

/// What is known of who keeps a gate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Enforcement {
    /// A first write was tried without a permit, and the API server refused it.
    Proven,
    /// Nothing in this cluster asks the gate before it begins.
    Advisory,
    /// The admission policy that would refuse is not there, or nothing binds it.
    PolicyMissing,
    /// The API server is too old for the admission policy that would refuse.
    NeedsNewerServer,
    /// The admission policy is there, and a first write without a permit passed all the same.
    NotRefused,
    /// Nobody has tried yet.
    #[default]
    NotTried,
}

/// Who keeps one gate, and what is said of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kept {
    /// What is known.
    pub enforcement: Enforcement,
    /// What is said of it, if not what is said of every gate of its kind.
    pub said: Option<String>,
}

impl From<Enforcement> for Kept {
    fn from(enforcement: Enforcement) -> Self {
        Self { enforcement, said: None }
    }
}

impl Kept {
    /// What it means for a resource of a kind: the message of the condition.
    pub fn about(&self, kind: &Kind) -> String {
        self.said.clone().unwrap_or_else(|| self.enforcement.about(kind))
    }
}

impl Enforcement {
    /// The one with this reason.
    pub(crate) fn of_reason(reason: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|known| known.reason() == reason)
    }

    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::Proven,
        Self::Advisory,
        Self::PolicyMissing,
        Self::NeedsNewerServer,
        Self::NotRefused,
        Self::NotTried,
    ];

    /// One CamelCase word for programs: the reason of the condition `Enforced`.
    pub fn reason(self) -> &'static str {
        match self {
            Self::Proven => "Proven",
            Self::Advisory => "Advisory",
            Self::PolicyMissing => "PolicyMissing",
            Self::NeedsNewerServer => "NeedsNewerServer",
            Self::NotRefused => "NotRefused",
            Self::NotTried => "NotTried",
        }
    }

    /// The status of the condition `Enforced`.
    pub fn status(self) -> ConditionStatus {
        match self {
            Self::Proven => ConditionStatus::True,
            Self::NotTried => ConditionStatus::Unknown,
            Self::Advisory | Self::PolicyMissing | Self::NeedsNewerServer | Self::NotRefused => {
                ConditionStatus::False
            }
        }
    }

    /// The value of `change_management_enforced`.
    pub fn figure(self) -> i64 {
        match self.status() {
            ConditionStatus::True => 1,
            ConditionStatus::False => 0,
            ConditionStatus::Unknown => -1,
        }
    }

    /// What it means for a resource of a kind: the message of the condition.
    pub fn about(self, kind: &Kind) -> String {
        match (self, kind.role) {
            (Self::Advisory, Role::Gated { begins, .. }) => {
                format!("nothing in this cluster obeys this gate yet: {begins} without asking it")
            }
            (told, _) => told.sentence().to_owned(),
        }
    }

    /// What it means, as one sentence for people, without a full stop.
    pub fn sentence(self) -> &'static str {
        match self {
            Self::Proven => "the API server refuses what this gate holds: it was tried",
            Self::Advisory => {
                "nothing in this cluster obeys this gate yet: whoever begins these changes does not ask it"
            }
            Self::PolicyMissing => {
                "the admission policy that refuses what this gate holds is not installed or not bound: apply it again from the chart or the manifests"
            }
            Self::NeedsNewerServer => {
                "this API server cannot refuse what this gate holds: admission policies need Kubernetes 1.30"
            }
            Self::NotRefused => {
                "the API server let a change pass that this gate holds: compare the admission policy with the one in the chart"
            }
            Self::NotTried => {
                "whether the API server refuses what this gate holds has not been tried yet"
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_seen_refusing_is_enforced_and_what_was_not_tried_is_unknown() {
        let rows = [
            (Enforcement::Proven, ConditionStatus::True, "Proven"),
            (Enforcement::Advisory, ConditionStatus::False, "Advisory"),
            (Enforcement::PolicyMissing, ConditionStatus::False, "PolicyMissing"),
            (Enforcement::NeedsNewerServer, ConditionStatus::False, "NeedsNewerServer"),
            (Enforcement::NotRefused, ConditionStatus::False, "NotRefused"),
            (Enforcement::NotTried, ConditionStatus::Unknown, "NotTried"),
        ];
        assert_eq!(rows.map(|(enforcement, ..)| enforcement), Enforcement::ALL);
        for (enforcement, status, reason) in rows {
            assert_eq!((enforcement.status(), enforcement.reason()), (status, reason));
            assert!(!enforcement.sentence().ends_with('.'), "{reason} is a label");
        }
        assert_eq!(Enforcement::default(), Enforcement::NotTried, "nothing is claimed unseen");
    }
}
