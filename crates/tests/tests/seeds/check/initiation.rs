//! Was a machine sent away with every right? One rule after the other, at the instant of the commit.

use api::machine::names::{
    ALLOWED_CONFIG, BYPASS, DESIRED_CONFIG, DRAIN_RECORD, PERMIT_UNTIL, ROLE,
};
use serde_json::Value;

use super::{
    super::{
        cast::Clocks,
        stage::{By, Kind},
        windows,
    },
    Checker, is_cordoned, is_done, is_failing, is_healthy, is_unavailable, limit, noted, order,
    pool_of, target,
};

pub(super) const PERMIT: &str = PERMIT_UNTIL;

impl Checker {
    pub(super) fn initiation(&mut self, at: i64, by: By, name: &str, old: &Value, new: &Value) {
        self.initiations += 1;
        let pool = pool_of(new).to_owned();
        let config = noted(new, DESIRED_CONFIG).to_owned();
        let consent = noted(old, ALLOWED_CONFIG) == config;
        let mut wrong: Vec<(&'static str, String)> = Vec::new();
        if !matches!(by, By::Operator(_)) {
            wrong.push(("GATE-7", format!("{by:?} gave it to {name}, and may not")));
        }
        self.last.insert(pool.clone(), at);
        if !is_done(old) && !is_failing(old) {
            wrong.push(("POOL-1", format!("{name} was on its way, and was sent elsewhere")));
        }
        // What its own change emptied, and then failed, is given another; an administrator's cordon is kept.
        let emptied = noted(old, DRAIN_RECORD).contains(r#""cordonedBefore":false"#);
        let stuck = is_failing(old) && emptied;
        if !is_healthy(old) || is_cordoned(old) && !consent && !stuck {
            wrong.push(("POOL-2", format!("{name} was not ready for workloads, and was begun")));
        }
        self.towards(at, &pool, &config, &mut wrong);
        let paused = |pool: &Value| pool["spec"]["paused"] == true;
        let pools = self.recent(Kind::Pool, &pool, at);
        if pools.iter().all(|pool| pool.is_some_and(|pool| paused(pool))) {
            wrong.push(("POOL-1", format!("{pool} is paused, and {name} was begun")));
        }
        if !consent && !self.is_open(&pool, at) && !self.bypasses(&pool, old, &config, at) {
            let until = noted(new, PERMIT);
            let what = format!(
                "{name} was begun while the gate of {pool} was shut, with a permit until {until}"
            );
            wrong.push(("GATE-7", what));
        }
        self.budget(at, &pool, (name, old), &mut wrong);
        // A leader whose clock is ahead takes the reservations of another for over; the other reserved first all the same.
        let ledgers = match self.clocks {
            Clocks::Right => vec![self.get(Kind::Pool, &pool)],
            Clocks::Stepped => self.recent(Kind::Pool, &pool, at),
        };
        let reserves = |pool: &Value| order::ledger(pool).get(name) == Some(&config);
        if !ledgers.into_iter().flatten().any(|pool| reserves(pool)) {
            let what = format!("{name} was begun, and the ledger of {pool} did not say so before");
            wrong.push(("EXEC-1", what));
        }
        for (rule, what) in wrong {
            self.accuse(at, rule, what);
        }
    }

    /// Only to the pool's own target (POOL-4).
    fn towards(&self, at: i64, pool: &str, config: &str, wrong: &mut Vec<(&'static str, String)>) {
        let own = config.strip_prefix("rendered-").and_then(|rest| rest.strip_prefix(pool));
        if !own.is_some_and(|rest| rest.starts_with('-'))
            || self.get(Kind::Config, config).is_none()
        {
            wrong.push(("POOL-4", format!("{config} is not a configuration of {pool}")));
        }
        let pools = self.recent(Kind::Pool, pool, at);
        if !pools.iter().flatten().any(|pool| target(pool) == config) {
            wrong.push(("POOL-4", format!("{config} is not where {pool} goes")));
        }
    }

    /// Whether the gate of a pool was open at an instant, by any reading that was in force a moment before.
    pub(super) fn is_open(&self, pool: &str, at: i64) -> bool {
        self.readings(pool, at).into_iter().any(|open| open)
    }

    /// What the gate of a pool says at an instant, by every reading that was in force a moment before.
    pub(super) fn readings(&self, pool: &str, at: i64) -> Vec<bool> {
        let mut readings = Vec::new();
        for pool in self.recent(Kind::Pool, pool, at).into_iter().flatten() {
            let stanza = pool.pointer("/spec/changeManagement");
            let named = stanza.and_then(|stanza| stanza.pointer("/byPolicy/name"));
            let named = named.and_then(Value::as_str).unwrap_or_default();
            let policies = self.recent(Kind::Policy, named, at);
            let none = policies.is_empty().then_some(None);
            for policy in policies.into_iter().chain(none) {
                readings.push(windows::gate(stanza, policy.map(|policy| &**policy), at));
            }
        }
        readings
    }

    /// Whether a machine lacked what bypasses change management, and the new configuration has it (POOL-5). Sources here write one
    /// file each, so what a configuration holds of one is that file.
    fn bypasses(&self, pool: &str, old: &Value, config: &str, at: i64) -> bool {
        let before = self.get(Kind::Config, noted(old, DESIRED_CONFIG));
        let after = self.get(Kind::Config, config);
        let names: Vec<String> = self
            .all(Kind::Config)
            .filter(|(_, source)| {
                // Custom pools inherit what workers have.
                let role = &source["metadata"]["labels"][ROLE];
                *role == *pool || *role == "worker"
            })
            .map(|(name, _)| name.to_owned())
            .collect();
        names.iter().any(|name| {
            self.recent(Kind::Config, name, at).into_iter().flatten().any(|source| {
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
    /// people did to a machine counts once it could be known.
    fn budget(
        &self,
        at: i64,
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
                    && (self.begun.contains(*other)
                        || since.is_some_and(|since| since < at - self.slack))
            })
            .map(|(other, _)| other)
            .collect();
        let left = self.left.iter().filter(|(then, from)| *then >= at - self.slack && from == pool);
        let machines = self.members(pool).count() + left.count();
        let pools = self.recent(Kind::Pool, pool, at);
        let limit = pools.into_iter().flatten().map(|pool| limit(pool, machines)).max();
        let limit = limit.unwrap_or(1);
        if away.len() + 1 > limit {
            let what = format!("{name} was begun while {away:?} were away; {limit} may be");
            wrong.push(("POOL-2", what));
        }
    }
}
