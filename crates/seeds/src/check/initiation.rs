//! Was a node sent away with every right? One rule after the other, at the instant of the commit.

use api::machine::names::{
    ALLOWED_CONFIG, BYPASS, DESIRED_CONFIG, PERMIT_BASIS, PERMIT_CHANGE, PERMIT_UNTIL, ROLE,
};
use serde_json::Value;

use super::{
    super::{stage::Kind, windows},
    Checker, is_cordoned, is_cordoned_by_drain, is_done, is_failing, is_healthy, is_unavailable,
    limit, noted, order, pool_of, target, told,
};

pub(super) const PERMIT: &str = PERMIT_UNTIL;

impl Checker {
    pub(super) fn initiation(
        &mut self,
        (at, sent): (i64, i64),
        sender: u32,
        name: &str,
        old: &Value,
        new: &Value,
    ) {
        self.initiations += 1;
        let known = self.sent_at.get(&(sender, name.to_owned())).copied();
        let (sent, step) = known.unwrap_or((sent, self.step));
        let pool = pool_of(new).to_owned();
        let config = noted(new, DESIRED_CONFIG).to_owned();
        let consent = noted(old, ALLOWED_CONFIG) == config;
        let mut wrong: Vec<(&'static str, String)> = Vec::new();
        self.last.insert(pool.clone(), at);
        if noted(new, PERMIT_CHANGE) != config || noted(new, PERMIT_BASIS).is_empty() {
            wrong.push(("GATE-16", format!("{name} was begun without a record of the change")));
        }
        if !is_done(old) && !is_failing(old) {
            wrong.push(("POOL-1", format!("{name} was on its way, and was sent elsewhere")));
        }
        let emptied = is_failing(old) && is_cordoned_by_drain(old);
        if !is_healthy(old) || is_cordoned(old) && !consent && !emptied {
            wrong.push(("POOL-2", format!("{name} was not ready for workloads, and was begun")));
        }
        let open = self.readings((&pool, &config), (at, sent)).contains(&true);
        let began = pool == "master" && self.has_begun(sent, told(old), &config);
        self.towards(sent, (&pool, &config), began, &mut wrong);
        let paused = |pool: &Value| pool["spec"]["paused"] == true;
        let pools = self.recent(Kind::Pool, &pool, sent);
        if pools.iter().all(|pool| pool.is_some_and(|pool| paused(pool))) {
            wrong.push(("POOL-1", format!("{pool} is paused, and {name} was begun")));
        }
        let bypass = self.bypasses(&pool, old, &config, sent);
        let despite = consent || began || bypass;
        let (may_be_frozen, may_not_be) = self.frozen_readings(&pool, (at, sent));
        if !may_not_be && !began {
            let basis = noted(new, PERMIT_BASIS);
            wrong.push(("OVR-1", format!("{name} was begun ({basis}) while {pool} was frozen")));
        }
        if !despite && !open {
            let (until, basis) = (noted(new, PERMIT), noted(new, PERMIT_BASIS));
            let what = format!(
                "{name} was begun while the gate of {pool} was shut, with a permit until {until} ({basis})"
            );
            // An override that has ended, is for another change, or was never there.
            let claimed = basis.starts_with("override: ");
            let rule = if claimed { "OVR-2" } else { "GATE-7" };
            wrong.push((if self.is_misspelt(&pool) { "GATE-14" } else { rule }, what));
        }
        self.budget(sent, &pool, (name, old), &mut wrong);
        let reserves = |pool: &Value| order::ledger(pool).get(name) == Some(&config);
        if !self.get(Kind::Pool, &pool).is_some_and(|pool| reserves(pool)) {
            let what = format!("{name} was begun, and the ledger of {pool} did not say so before");
            wrong.push(("EXEC-1", what));
        }
        for (rule, what) in wrong {
            self.accuse(at, rule, what);
        }
        if !despite {
            self.stops((at, step), sender, (&pool, &config), name);
        }
        // Consent and a bypass speak for nobody else (GATE-10); an open gate does, also where a node has consent. Where a reading of the
        // gate is shut, nobody can tell which of them let a node go, and then the change that was under way may go on too.
        if pool == "master" && open && may_not_be {
            let readings = self.readings((&pool, &config), (at, sent));
            let shut = may_be_frozen || readings.into_iter().any(|open| !open);
            if !((bypass || consent) && shut) {
                self.ends_others(at);
            }
            self.begins(&config);
        }
    }

    /// Whether the gate of a pool is shut because somebody misspelt something (GATE-14).
    fn is_misspelt(&self, pool: &str) -> bool {
        let (kind, name) = self.holder(pool);
        let Some(holder) = self.get(kind, &name) else { return false };
        let stanza = &holder["spec"]["changeManagement"];
        let named = stanza["byPolicy"]["name"].as_str().unwrap_or_default();
        let policy = self.get(Kind::Policy, named);
        windows::is_misspelt_stanza(stanza)
            || policy.is_some_and(|policy| windows::is_misspelt_policy(&policy["spec"]))
    }

    /// Only to the pool's own target (POOL-4).
    fn towards(
        &self,
        sent: i64,
        (pool, config): (&str, &str),
        began: bool,
        wrong: &mut Vec<(&'static str, String)>,
    ) {
        let own = config.strip_prefix("rendered-").and_then(|rest| rest.strip_prefix(pool));
        if !own.is_some_and(|rest| rest.starts_with('-'))
            || self.get(Kind::Config, config).is_none()
        {
            wrong.push(("POOL-4", format!("{config} is not a configuration of {pool}")));
        }
        // What has begun is finished, whatever is newest by now (CV-2).
        let pools = self.recent(Kind::Pool, pool, sent);
        if !began && !pools.iter().flatten().any(|pool| target(pool) == config) {
            wrong.push(("POOL-4", format!("{config} is not where {pool} goes")));
        }
    }

    /// What the gate of a pool says at an instant to who goes there, by every reading that was in force a moment before something was
    /// sent. Freezes are read beside that.
    pub(super) fn readings(
        &self,
        (pool, config): (&str, &str),
        (at, sent): (i64, i64),
    ) -> Vec<bool> {
        let mut readings = Vec::new();
        let (may_be_opened, may_not_be) = self.opened_readings((pool, config), (at, sent));
        let (kind, name) = self.holder(pool);
        for holder in self.recent(kind, &name, sent).into_iter().flatten() {
            let stanza = holder.pointer("/spec/changeManagement");
            let named = stanza.and_then(|stanza| stanza.pointer("/byPolicy/name"));
            let named = named.and_then(Value::as_str).unwrap_or_default();
            let policies = self.recent(Kind::Policy, named, sent);
            let none = policies.is_empty().then_some(None);
            for policy in policies.into_iter().chain(none) {
                let open = windows::gate(stanza, policy.map(|policy| &**policy), at);
                let readable = windows::is_readable(stanza);
                readings.extend((may_not_be || !readable).then_some(open));
                readings.extend((may_be_opened && readable).then_some(true));
            }
        }
        readings
    }

    /// Whether a node lacked what bypasses change management, and the new configuration has it (POOL-5). Sources here write one
    /// file each, so what a configuration holds of one is that file.
    fn bypasses(&self, pool: &str, old: &Value, config: &str, sent: i64) -> bool {
        let before = self.get(Kind::Config, told(old));
        let after = self.get(Kind::Config, config);
        let names: Vec<String> = self
            .all(Kind::Config)
            .filter(|(_, source)| {
                // Custom pools inherit what workers have.
                let role = &source["metadata"]["labels"][ROLE];
                *role == *pool || *role == "worker" && pool != "master"
            })
            .map(|(name, _)| name.to_owned())
            .collect();
        names.iter().any(|name| {
            self.recent(Kind::Config, name, sent).into_iter().flatten().any(|source| {
                let file = &source["spec"]["config"]["storage"]["files"][0];
                let has = |config: Option<&std::sync::Arc<Value>>| {
                    let files = config.and_then(|config| {
                        config.pointer("/spec/config/storage/files")?.as_array()
                    });
                    files.into_iter().flatten().any(|found| {
                        found["path"] == file["path"]
                            && found["contents"]["source"] == file["contents"]["source"]
                    })
                };
                !noted(source, BYPASS).is_empty() && !has(before) && has(after)
            })
        })
    }

    /// In flight plus unavailable, each once, never more than the limit (POOL-2). What operators have begun counts at once; what
    /// people did to a node counts once it could be known.
    fn budget(
        &self,
        sent: i64,
        pool: &str,
        (name, old): (&str, &Value),
        wrong: &mut Vec<(&'static str, String)>,
    ) {
        if is_unavailable(old) {
            // It took its room already.
            return;
        }
        let away: Vec<&str> = self
            .members(pool)
            .filter(|(other, node)| {
                let since = self.objects[&(Kind::Node, (*other).to_owned())].unavailable;
                *other != name
                    && is_unavailable(node)
                    && (self.begun.get(*other).is_some_and(|(from, _)| from == pool)
                        || since.is_some_and(|since| since < sent - self.slack))
            })
            .map(|(other, _)| other)
            .collect();
        let left =
            self.left.iter().filter(|(then, from)| *then >= sent - self.slack && from == pool);
        let machines = self.members(pool).count() + left.count();
        let pools = self.recent(Kind::Pool, pool, sent);
        let limit = pools.into_iter().flatten().map(|pool| limit(pool, machines)).max();
        let limit = limit.unwrap_or(1);
        if away.len() + 1 > limit {
            let what = format!("{name} was begun while {away:?} were away; {limit} may be");
            wrong.push(("POOL-2", what));
        }
    }
}
