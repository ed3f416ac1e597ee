//! Did somebody who means harm get anything? Judged at each commit of theirs (GATE-7, GATE-16).

use api::machine::names::{
    ALLOWED_CONFIG, BEGUN_RELEASE, CURRENT_CONFIG, DESIRED_CONFIG, DESIRED_DRAIN, DRAIN_BLOCKED,
    DRAIN_RECORD, LAST_APPLIED_DRAIN, LEDGER, PERMIT_BASIS, PERMIT_CHANGE, PERMIT_FROM,
    PERMIT_UNTIL, REASON, STATE,
};
use serde_json::Value;

use super::{
    super::stage::{Kind, Who},
    Checker, noted,
};

/// What only the operator and those who act by hand write on a node.
const RECORDS: [&str; 9] = [
    DESIRED_CONFIG,
    PERMIT_UNTIL,
    PERMIT_FROM,
    PERMIT_BASIS,
    PERMIT_CHANGE,
    BEGUN_RELEASE,
    LAST_APPLIED_DRAIN,
    DRAIN_RECORD,
    DRAIN_BLOCKED,
];
/// What the node's own agent writes beside these.
const REPORTS: [&str; 4] = [CURRENT_CONFIG, STATE, REASON, DESIRED_DRAIN];

impl Checker {
    pub(super) fn forged(
        &mut self,
        at: i64,
        who: Who,
        (kind, name): (Kind, &str),
        (old, new): (Option<&Value>, Option<&Value>),
    ) {
        // A kubelet may remove its node; what was on it is gone with it.
        let Some(new) = new else { return };
        let mut kept: Vec<&str> = match kind {
            Kind::Node => RECORDS.to_vec(),
            Kind::Pool => vec![LEDGER],
            Kind::Version => vec![BEGUN_RELEASE],
            Kind::Policy | Kind::Freeze | Kind::Override | Kind::Config => Vec::new(),
        };
        if kind == Kind::Node && who != Who::Agent {
            kept.extend(REPORTS);
        }
        if who == Who::Kubelet || who == Who::Agent {
            kept.push(ALLOWED_CONFIG);
        }
        let written = kept.into_iter().find(|key| {
            let before = old.map_or("", |old| noted(old, key));
            noted(new, key) != before
        });
        if let Some(key) = written {
            let door = if old.is_some() { "changed" } else { "created with" };
            let what = format!("{who:?}: {kind:?}/{name} {door} {key}={:?}", noted(new, key));
            let rule = if key == DESIRED_CONFIG { "GATE-7" } else { "GATE-16" };
            self.accuse(at, rule, what);
        }
    }
}
