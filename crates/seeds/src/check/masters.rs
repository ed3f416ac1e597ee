//! What has begun for the masters? Read from what was committed, as the rules say: the owner's own record of an update, and marks that the
//! gate itself permitted (GATE-10, CV-1, CV-2).

use std::collections::BTreeMap;

use api::machine::names::ROLE;
use serde_json::Value;

use super::{super::stage::Kind, Checker, is_done, told};

/// Where a release writes which one it is.
pub(crate) const RELEASE_FILE: &str = "/etc/tide/release";

/// What has begun.
#[derive(Debug, Default)]
pub(super) struct Masters {
    /// The update that is under way, and one that ended a while ago, with the instant.
    update: Option<Update>,
    ended: Option<(i64, Update)>,
    /// Configurations that a master was given while the gate was open, each with the instant at which that was over: all masters have
    /// it, or another was begun.
    begun: BTreeMap<String, i64>,
    /// When an operator last wrote anything: it cannot have seen what came later.
    looked: i64,
}

impl Masters {
    /// An operator wrote something.
    pub(super) fn looked_at(&mut self, at: i64) {
        self.looked = at;
    }
}

#[derive(Clone, Debug)]
struct Update {
    release: String,
    /// What each file held that people had written for masters when it began.
    files: BTreeMap<String, String>,
}

/// The release that a `ClusterVersion` says is being installed.
fn installing(version: &Value) -> Option<&str> {
    let newest = version.pointer("/status/history/0")?;
    (newest["state"] == "Partial").then(|| newest["version"].as_str().unwrap_or_default())
}

/// Every file of a configuration, with what it holds.
fn files(config: &Value) -> BTreeMap<String, String> {
    let files = config.pointer("/spec/config/storage/files").and_then(Value::as_array);
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let each = files.into_iter().flatten();
    each.map(|file| (text(&file["path"]), text(&file["contents"]["source"]))).collect()
}

impl Checker {
    /// `ClusterVersion` was written.
    pub(super) fn version(&mut self, at: i64, old: Option<&Value>, new: &Value) {
        self.behaves(at, "ClusterVersion", &new["status"]["changeManagement"]);
        let now = installing(new);
        if now.is_none() || old.and_then(installing) == now {
            return;
        }
        let release = now.unwrap_or_default().to_owned();
        // CV-4: what was marked began then, with what was there then.
        if self.marked().as_deref() != Some(&release) {
            self.masters_update(&release);
        }
    }

    /// An update has begun: masters may get what is there now.
    pub(super) fn masters_update(&mut self, release: &str) {
        let sources = self.all(Kind::Config).filter(|(name, source)| {
            source["metadata"]["labels"][ROLE] == "master" && !name.starts_with("rendered-")
        });
        let files = sources.flat_map(|(_, source)| files(source)).collect();
        self.masters.update = Some(Update { release: release.to_owned(), files });
    }

    /// A master was given a configuration while the gate was open.
    pub(super) fn begins(&mut self, config: &str) {
        self.masters.begun.insert(config.to_owned(), i64::MAX);
    }

    /// Whatever had begun is over, because something else begins.
    pub(super) fn ends_others(&mut self, at: i64) {
        self.masters.begun.values_mut().for_each(|over| *over = at.min(*over));
    }

    /// Whether a master that had a configuration may go to another although the gate is shut.
    pub(super) fn has_begun(&self, sent: i64, before: &str, config: &str) -> bool {
        if self.masters.begun.get(config).is_some_and(|over| *over >= sent - self.slack) {
            return true;
        }
        let known = |name: &str| {
            let versions = self.recent(Kind::Config, name, sent);
            versions.into_iter().flatten().next().map(|config| files(config)).unwrap_or_default()
        };
        let (had, goes) = (known(before), known(config));
        let ended = self.masters.ended.as_ref().filter(|(at, _)| *at >= sent - self.slack);
        let updates = self.masters.update.iter().chain(ended.map(|(_, update)| update));
        updates.into_iter().any(|update| {
            goes.iter().all(|(path, holds)| {
                path == RELEASE_FILE
                    || update.files.get(path) == Some(holds)
                    || had.get(path) == Some(holds)
            })
        })
    }

    /// Where every master is, what had begun is over.
    pub(super) fn converge(&mut self, at: i64) {
        self.resume(at);
        let goes_on = self.masters.begun.values().any(|over| *over == i64::MAX);
        if !goes_on && self.masters.update.is_none() {
            return;
        }
        let masters: Vec<_> = self.members("master").collect();
        let at_rest = masters.iter().all(|(_, node)| is_done(node));
        let all = |config: &str| masters.iter().all(|(_, node)| told(node) == config);
        let over: Vec<String> =
            self.masters.begun.keys().filter(|config| all(config)).cloned().collect();
        let updated = self.masters.update.as_ref().is_some_and(|update| {
            let source = format!("data:,{}", update.release);
            at_rest
                && masters.iter().all(|(_, node)| {
                    let config = self.get(Kind::Config, told(node));
                    config.is_some_and(|config| files(config).get(RELEASE_FILE) == Some(&source))
                })
        });
        for config in over {
            self.masters.begun.entry(config).and_modify(|over| *over = at.min(*over));
        }
        if updated {
            self.masters.ended = self.masters.update.take().map(|update| (at, update));
        }
    }

    /// An update that ended goes on if a master without its release joins before anybody can have seen the end: the only one that lacked it
    /// was deleted, and its kubelet came back at once; or no operator lived. What stands in the record then is that the update is under
    /// way (GATE-10). An operator that sees the end writes the status of the pool, at least.
    fn resume(&mut self, at: i64) {
        let unseen = |ended: i64| at - ended <= self.slack || self.masters.looked < ended;
        let ended = self.masters.ended.as_ref().filter(|(ended, _)| unseen(*ended));
        let Some(release) = ended.map(|(_, update)| update.release.clone()) else { return };
        if self.masters.update.is_none() && !self.has_release(&release) {
            self.masters.update = self.masters.ended.take().map(|(_, update)| update);
        }
    }

    /// Whether all masters have what a release brings.
    pub(crate) fn has_release(&self, release: &str) -> bool {
        let source = format!("data:,{release}");
        self.members("master").all(|(_, node)| {
            let config = self.get(Kind::Config, told(node));
            is_done(node)
                && config.is_some_and(|config| files(config).get(RELEASE_FILE) == Some(&source))
        })
    }
}
