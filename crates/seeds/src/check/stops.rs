//! Does stopping stop, and does nobody act by a clock that is wrong, or where nothing refuses? (GATE-11, GATE-13)

use serde_json::Value;

use super::{
    super::{stage::Kind, windows},
    Checker,
};

/// More than this against the server, in seconds, and nothing is initiated; the stamps of answers are cut to the second at both ends.
const SKEW: i64 = 5 + 2;
/// A clock that was set a moment ago is seen with the next answer, and no call takes longer than this.
const NOTICED: i64 = 10;
/// Whether the server refuses is tried every five minutes, and a try that is under way may take some seconds.
const TRIED: i64 = 300 + 2 * NOTICED;

impl Checker {
    /// The object that holds the stanza of a pool: for masters it is `ClusterVersion` (CV-2).
    pub(crate) fn holder(&self, pool: &str) -> (Kind, String) {
        if pool == "master" && self.get(Kind::Version, "version").is_some() {
            return (Kind::Version, "version".to_owned());
        }
        (Kind::Pool, pool.to_owned())
    }

    /// The version of an object that was in force after so many commits.
    fn after(&self, step: u64, kind: Kind, name: &str) -> Option<&Value> {
        let past = self.objects.get(&(kind, name.to_owned()))?;
        past.versions.iter().rfind(|(_, of, _)| *of <= step)?.2.as_deref()
    }

    /// Whether the gate of a pool, as it stood after so many commits, is open at an instant for who goes there.
    fn stood(&self, (pool, config): (&str, &str), step: u64, at: i64) -> bool {
        let (kind, name) = self.holder(pool);
        let Some(holder) = self.after(step, kind, &name) else { return false };
        let stanza = holder.pointer("/spec/changeManagement");
        let named = stanza.and_then(|stanza| stanza.pointer("/byPolicy/name"));
        let policy = self.after(step, Kind::Policy, named.and_then(Value::as_str).unwrap_or(""));
        let opened = || self.was_opened((pool, config), step, at) && windows::is_readable(stanza);
        (windows::gate(stanza, policy, at) || opened()) && !self.was_frozen(pool, step, at)
    }

    /// After a hold is committed at most the one mark follows that was already decided: what is sent later was not asked about.
    pub(super) fn stops(
        &mut self,
        (at, sent): (i64, u64),
        sender: u32,
        (pool, config): (&str, &str),
        name: &str,
    ) {
        let stood = |step: u64| self.stood((pool, config), step, at);
        if stood(self.step) || stood(sent) {
            return;
        }
        let (kind, holder) = self.holder(pool);
        let mut edits: Vec<u64> = self
            .objects
            .iter()
            .filter(|((of, name), _)| (*of, name) == (kind, &holder) || *of == Kind::Policy)
            .flat_map(|(_, past)| past.versions.iter().map(|(_, step, _)| *step))
            .chain(self.freeze_edits())
            .chain(self.override_edits())
            .filter(|step| *step <= sent)
            .collect();
        edits.sort_unstable();
        // The last edit before the mark was sent that closed what would be open now.
        let held = edits.into_iter().rev().find(|step| stood(*step - 1) && !stood(*step));
        let Some(held) = held else { return };
        let count = self.after_hold.entry((sender, pool.to_owned(), held)).or_default();
        *count += 1;
        if *count > 1 {
            let count = *count;
            let what = format!(
                "{pool} had been held, and {name} is node {count} that operator {sender} began all the same"
            );
            self.accuse(at, "GATE-11", what);
        }
    }

    /// The clock of a sender was set.
    pub(crate) fn clock(&mut self, at: i64, sender: u32, off: i64) {
        let known = self.off.get(&sender).copied();
        if known.is_none_or(|(known, _)| known != off) {
            self.off.insert(sender, (off, at));
        }
    }

    /// Nobody initiates where the server would let anybody.
    pub(super) fn proven(&mut self, at: i64, sender: u32, node: &str) {
        if let Some(since) = self.unguarded.filter(|since| *since < at - TRIED) {
            let what = format!(
                "operator {sender} marks {node}, and nothing on the server has refused for {} s",
                at - since
            );
            self.accuse(at, "GATE-13", what);
        }
    }

    /// Nobody initiates by a clock that is wrong.
    pub(super) fn trusted(&mut self, at: i64, sender: u32, node: &str) {
        let Some((off, since)) = self.off.get(&sender).copied() else { return };
        if off.abs() > SKEW && since < at - NOTICED {
            let what = format!("operator {sender} marks {node} by a clock that is {off} s off");
            self.accuse(at, "GATE-11", what);
        }
    }
}
