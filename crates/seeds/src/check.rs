//! Was every promise kept? Judged from the sequence of commits alone, by code that shares nothing with what made them.
//!
//! Time is not negotiable: whatever was initiated must have been permitted at the second of its commit, by some reading of policy and
//! stanza that was in force a moment before it was sent. How long that moment is ([`Checker::slack`]) is the one allowance: seconds in
//! good weather, 65 seconds when watches fall silent (GATE-11). A hold that people commit is stricter still: at most one mark follows it.
//! What stands in the very object that is written (consent, cordon, health, the configuration a node is on its way to) has no
//! allowance at all, and neither has the ledger.

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    sync::Arc,
};

use api::machine::names::{
    CURRENT_CONFIG, DESIRED_CONFIG, DESIRED_DRAIN, DRAIN_RECORD, PERMIT_CHANGE, STATE,
};
use serde_json::Value;

use super::{
    cast::Clocks,
    stage::{By, Kind},
};

mod drains;
mod forged;
mod frozen;
mod initiation;
mod marks;
mod masters;
mod opened;
mod order;
mod status;
mod stops;

pub(crate) use masters::RELEASE_FILE;

/// For how long versions are kept: a request may be held up for twenty minutes.
const KEPT: i64 = 1_500;

/// A promise that was not kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Violation {
    pub(crate) rule: &'static str,
    pub(crate) what: String,
}

/// The notary.
#[derive(Debug)]
pub(crate) struct Checker {
    /// For so many seconds both the old and the new reading of an edit count.
    pub(crate) slack: i64,
    /// Whether somebody sets clocks.
    clocks: Clocks,
    objects: BTreeMap<(Kind, String), Past>,
    /// Nodes that operators have begun and that have not arrived, with their pool and where they go.
    begun: BTreeMap<String, (String, String)>,
    /// When a node last arrived.
    arrived: BTreeMap<String, i64>,
    /// What has begun for the masters.
    masters: masters::Masters,
    /// How far the clock of each sender is off, and since when.
    off: BTreeMap<u32, (i64, i64)>,
    /// How many commits there were.
    step: u64,
    /// When a sender last sent the mark of a node, and after how many commits.
    sent_at: BTreeMap<(u32, String), (i64, u64)>,
    /// How many marks a sender sent to a pool after a hold was committed.
    after_hold: BTreeMap<(u32, String, u64), u32>,
    /// When nodes left a pool.
    left: Vec<(i64, String)>,
    /// Marks of which a sender does not know what became.
    unknown: BTreeSet<(u32, String)>,
    story: Vec<String>,
    pub(crate) violations: Vec<Violation>,
    pub(crate) initiations: u64,
    /// How many updates of the control plane operators let begin.
    pub(crate) updates: u64,
    /// How often somebody who means harm tried something.
    pub(crate) attempts: u64,
    /// How much of that the server took.
    pub(crate) taken: u64,
    /// When a node of a pool was last begun.
    pub(crate) last: BTreeMap<String, i64>,
    /// How many objects operators wrote, leases and events apart.
    pub(crate) writes: u64,
    /// Since when nothing on the server refuses a mark.
    pub(crate) unguarded: Option<i64>,
}

/// An object as it was from a commit on: the instant, the number of the commit, and what was stored; nothing if it was gone.
type Version = (i64, u64, Option<Arc<Value>>);

/// The versions of an object, oldest first.
#[derive(Debug, Default)]
struct Past {
    versions: VecDeque<Version>,
    /// Since when workloads cannot count on it.
    unavailable: Option<i64>,
}

impl Past {
    fn now(&self) -> Option<&Arc<Value>> {
        self.versions.back()?.2.as_ref()
    }

    /// Every version that was in force at some instant since then.
    fn since(&self, then: i64) -> impl Iterator<Item = Option<&Arc<Value>>> {
        let first = self.versions.iter().rposition(|(at, ..)| *at <= then).unwrap_or(0);
        self.versions.iter().skip(first).map(|(.., version)| version.as_ref())
    }

    /// The version that stood after so many commits.
    fn stood(&self, step: u64) -> Option<&Value> {
        self.versions.iter().rfind(|(_, of, _)| *of <= step)?.2.as_deref()
    }

    fn changed(&self) -> i64 {
        self.versions.back().map_or(i64::MIN, |(at, ..)| *at)
    }
}

/// What several objects may have said since an instant, each by any of its versions since then: whether one may have said yes, and whether all may
/// have said no. An object was not there before it was there.
fn readings<'a>(
    pasts: impl Iterator<Item = &'a Past>,
    since: i64,
    says: impl Fn(&Value) -> bool,
) -> (bool, bool) {
    pasts.fold((false, true), |(may_be, may_not_be), past| {
        let mut said: Vec<bool> =
            past.since(since).map(|version| version.is_some_and(|version| says(version))).collect();
        if past.versions.front().is_some_and(|(first, ..)| *first > since) {
            said.push(false);
        }
        (may_be | said.contains(&true), may_not_be & said.contains(&false))
    })
}

/// An annotation.
pub(crate) fn noted<'a>(object: &'a Value, name: &str) -> &'a str {
    object["metadata"]["annotations"][name].as_str().unwrap_or_default()
}

/// The pool that a node belongs to: the control plane wins over everything, a custom pool over `worker`, and two of them are none.
pub(crate) fn pool_of(node: &Value) -> &str {
    let labels = node["metadata"]["labels"].as_object();
    let keys = labels.into_iter().flat_map(|labels| labels.keys());
    let roles: Vec<&str> =
        keys.filter_map(|label| label.strip_prefix("node-role.kubernetes.io/")).collect();
    if roles.contains(&"master") {
        return "master";
    }
    match &roles.iter().copied().filter(|role| *role != "worker").collect::<Vec<_>>()[..] {
        [] if roles.is_empty() => "",
        [] => "worker",
        [one] => one,
        _ => "",
    }
}

/// Whether a node rests: where it was told to be, or where it was when nobody had told it anything yet.
pub(crate) fn is_done(node: &Value) -> bool {
    let desired = noted(node, DESIRED_CONFIG);
    let there = desired.is_empty() || noted(node, CURRENT_CONFIG) == desired;
    there && noted(node, STATE) == "Done"
}

/// Where a node is to be: where it was told to go, or where it says it is while nobody has told it anything (GATE-16).
fn told(node: &Value) -> &str {
    match noted(node, DESIRED_CONFIG) {
        "" => noted(node, CURRENT_CONFIG),
        desired => desired,
    }
}

/// Whether a node was cordoned by a drain of ours and by nobody before.
fn is_cordoned_by_drain(node: &Value) -> bool {
    is_cordoned(node) && noted(node, DRAIN_RECORD).contains(r#""cordonedBefore":false"#)
}

fn is_failing(node: &Value) -> bool {
    noted(node, CURRENT_CONFIG) != noted(node, DESIRED_CONFIG)
        && matches!(noted(node, STATE), "Degraded" | "Unreconcilable")
}

pub(crate) fn is_healthy(node: &Value) -> bool {
    let conditions = node["status"]["conditions"].as_array();
    conditions.into_iter().flatten().all(|one| one["type"] != "Ready" || one["status"] == "True")
}

pub(crate) fn is_cordoned(node: &Value) -> bool {
    node["spec"]["unschedulable"] == true
}

/// A node that nobody told anything and that is at nothing, or whose agent has not spoken, takes workloads like any other: unavailable
/// are those that are cordoned, not ready, failing or on their way (POOL-2, NODE-3).
pub(crate) fn is_unavailable(node: &Value) -> bool {
    let untold = noted(node, CURRENT_CONFIG).is_empty() && noted(node, DESIRED_CONFIG).is_empty();
    let rests = is_done(node) || untold && matches!(noted(node, STATE), "" | "Done");
    !rests || !is_healthy(node) || is_cordoned(node)
}

/// Where the nodes of a pool go: what somebody chose, or else the newest (POOL-4).
pub(crate) fn target(pool: &Value) -> &str {
    let chosen = pool["spec"]["machineConfig"]["name"].as_str().filter(|name| !name.is_empty());
    chosen.or(pool["spec"]["configuration"]["name"].as_str()).unwrap_or_default()
}

/// How many nodes may be away (POOL-2).
pub(crate) fn limit(pool: &Value, machines: usize) -> usize {
    let given = &pool["spec"]["maxUnavailable"];
    let limit = match given.as_str().and_then(|text| text.strip_suffix('%')) {
        Some(percent) => percent.parse::<usize>().unwrap_or(0) * machines / 100,
        None => given.as_u64().unwrap_or(1) as usize,
    };
    limit.max(1)
}

impl Checker {
    pub(crate) fn new(slack: i64, clocks: Clocks) -> Self {
        Self {
            slack,
            clocks,
            objects: BTreeMap::new(),
            begun: BTreeMap::new(),
            arrived: BTreeMap::new(),
            masters: masters::Masters::default(),
            off: BTreeMap::new(),
            step: 0,
            sent_at: BTreeMap::new(),
            after_hold: BTreeMap::new(),
            left: Vec::new(),
            unknown: BTreeSet::new(),
            story: Vec::new(),
            violations: Vec::new(),
            initiations: 0,
            updates: 0,
            attempts: 0,
            taken: 0,
            last: BTreeMap::new(),
            writes: 0,
            unguarded: None,
        }
    }

    /// Something that people should know of when a story goes wrong.
    pub(crate) fn tell(&mut self, at: i64, line: &str) {
        // What led to the first broken promise is what people want to read.
        if !self.violations.is_empty() {
            return;
        }
        let at = jiff::Timestamp::from_second(at).unwrap_or_default();
        self.story.push(format!("{at} {line}"));
    }

    pub(crate) fn story(&self) -> Vec<String> {
        self.story.clone()
    }

    pub(crate) fn accuse(&mut self, at: i64, rule: &'static str, what: String) {
        self.tell(at, &format!("!! {rule}: {what}"));
        self.violations.push(Violation { rule, what });
    }

    /// The objects of a kind as they are stored now.
    pub(crate) fn all(&self, kind: Kind) -> impl Iterator<Item = (&str, &Arc<Value>)> {
        let from = (kind, String::new());
        let shelved = self.objects.range(from..).take_while(move |((found, _), _)| *found == kind);
        shelved.filter_map(|((_, name), past)| Some((name.as_str(), past.now()?)))
    }

    pub(crate) fn get(&self, kind: Kind, name: &str) -> Option<&Arc<Value>> {
        self.objects.get(&(kind, name.to_owned()))?.now()
    }

    /// The versions of an object that somebody who sent something at an instant may have acted on.
    fn recent(&self, kind: Kind, name: &str, sent: i64) -> Vec<Option<&Arc<Value>>> {
        let past = self.objects.get(&(kind, name.to_owned()));
        past.map_or_else(Vec::new, |past| past.since(sent - self.slack).collect())
    }

    pub(crate) fn members<'a>(
        &'a self,
        pool: &'a str,
    ) -> impl Iterator<Item = (&'a str, &'a Arc<Value>)> {
        self.all(Kind::Node).filter(move |(_, node)| pool_of(node) == pool)
    }

    /// An object was written, or is gone.
    pub(crate) fn commit(
        &mut self,
        at: i64,
        by: By,
        (kind, name): (Kind, &str),
        new: Option<Value>,
    ) {
        let key = (kind, name.to_owned());
        let old = self.objects.get(&key).and_then(Past::now).cloned();
        let version = |object: &Value| object["metadata"]["resourceVersion"].clone();
        if old.as_ref().map(|old| version(old)) == new.as_ref().map(version) {
            return;
        }
        self.step += 1;
        self.tell_commit(at, by, (kind, name), old.as_deref(), new.as_ref());
        let sent = match by {
            By::Operator(_, sent) => sent,
            By::People | By::Machine | By::Stranger(_) => at,
        };
        match by {
            By::Operator(..) => {
                self.writes += 1;
                self.masters.looked_at(at);
            }
            By::Stranger(who) => {
                self.taken += 1;
                self.forged(at, who, (kind, name), (old.as_deref(), new.as_ref()));
            }
            By::People | By::Machine => {}
        }
        if let Some(new) = &new {
            match kind {
                Kind::Node => self.node((at, sent), by, name, old.as_deref(), new),
                Kind::Pool => self.pool((at, sent), name, old.as_deref(), new),
                Kind::Policy => self.policy(at, name, new),
                Kind::Version => {
                    self.marks((at, sent), by, old.as_deref(), new);
                    self.version(at, old.as_deref(), new);
                }
                Kind::Config | Kind::Freeze | Kind::Override => {}
            }
        } else if let (Kind::Node, Some(old)) = (kind, &old) {
            self.arrive(at, name);
            self.left.push((at, pool_of(old).to_owned()));
        } else if let (Kind::Freeze | Kind::Override, Some(old)) = (kind, &old) {
            self.withdrawn(at, by, name, old);
        }
        let past = self.objects.entry(key).or_default();
        if kind == Kind::Node {
            let moved = match (&old, &new) {
                (Some(old), Some(new)) => pool_of(old) != pool_of(new),
                _ => true,
            };
            if let (true, Some(old)) = (moved && new.is_some(), &old) {
                self.left.push((at, pool_of(old).to_owned()));
            }
            let away = new.as_ref().is_some_and(is_unavailable);
            past.unavailable = away.then(|| past.unavailable.filter(|_| !moved).unwrap_or(at));
        }
        past.versions.push_back((at, self.step, new.map(Arc::new)));
        while past.versions.get(1).is_some_and(|(from, ..)| *from < at - KEPT) {
            past.versions.pop_front();
        }
        if kind == Kind::Node {
            self.converge(at);
        }
    }

    fn arrive(&mut self, at: i64, name: &str) {
        self.begun.remove(name);
        self.arrived.insert(name.to_owned(), at);
    }

    fn node(
        &mut self,
        (at, sent): (i64, i64),
        by: By,
        name: &str,
        old: Option<&Value>,
        new: &Value,
    ) {
        let (Some(old), false) = (old, matches!(by, By::Stranger(_))) else { return };
        let (before, after) = (noted(old, DESIRED_CONFIG), noted(new, DESIRED_CONFIG));
        let adopts = before.is_empty() && after == noted(old, CURRENT_CONFIG);
        match by {
            By::Operator(sender, _) if before != after && !adopts => {
                self.initiation((at, sent), sender, name, old, new);
                let whither = (pool_of(new).to_owned(), after.to_owned());
                self.begun.insert(name.to_owned(), whither);
            }
            By::Operator(..) if before != after => {
                if noted(old, PERMIT_CHANGE) != noted(new, PERMIT_CHANGE) {
                    let what = format!("{name} was adopted, and given a record of a change");
                    self.accuse(at, "GATE-16", what);
                }
            }
            By::Operator(..) => {
                if noted(old, initiation::PERMIT) != noted(new, initiation::PERMIT) {
                    let what = format!("Node/{name} was told again to go where it was told to go");
                    self.accuse(at, "EXEC-4", what);
                }
                self.cordoned(at, name, old, new);
            }
            _ if before != after => {
                self.accuse(at, "GATE-7", format!("{by:?} gave {after} to {name}, and may not"));
            }
            By::Machine => self.moves(at, name, old, new),
            By::People | By::Stranger(_) => {}
        }
        if is_done(new) && self.begun.contains_key(name) && !is_done(old) {
            self.arrive(at, name);
        }
    }

    /// A node goes only where a record says that it may (GATE-16).
    fn moves(&mut self, at: i64, name: &str, old: &Value, new: &Value) {
        let (had, has) = (noted(old, CURRENT_CONFIG), noted(new, CURRENT_CONFIG));
        let asks = noted(new, DESIRED_DRAIN);
        let asks_anew = asks != noted(old, DESIRED_DRAIN) && asks.starts_with("drain-");
        let speaks = noted(old, STATE).is_empty();
        let whither = noted(old, DESIRED_CONFIG);
        if !speaks && (had != has || asks_anew) && noted(old, PERMIT_CHANGE) != whither {
            let what = format!("{name} goes to {whither}, and no record says that this was begun");
            self.accuse(at, "GATE-16", what);
        }
    }

    /// A mark is sent.
    pub(crate) fn sent(&mut self, at: i64, sender: u32, node: &str) {
        self.sent_at.insert((sender, node.to_owned()), (at, self.step));
        self.trusted(at, sender, node);
        self.proven(at, sender, node);
        if !self.unknown.insert((sender, node.to_owned())) {
            let what = format!(
                "operator {sender} marked Node/{node} again without having looked what became of the mark before"
            );
            self.accuse(at, "EXEC-4", what);
        }
    }

    /// A mark was answered; 0 if the answer was lost.
    pub(crate) fn answered(&mut self, sender: u32, node: &str, code: u16) {
        if (200..500).contains(&code) {
            self.unknown.remove(&(sender, node.to_owned()));
        }
    }

    /// A node was read.
    pub(crate) fn read(&mut self, sender: u32, node: &str) {
        self.unknown.remove(&(sender, node.to_owned()));
    }

    fn tell_commit(
        &mut self,
        at: i64,
        by: By,
        (kind, name): (Kind, &str),
        old: Option<&Value>,
        new: Option<&Value>,
    ) {
        let by = match by {
            By::People => "people".to_owned(),
            By::Machine => "machine".to_owned(),
            By::Stranger(who) => format!("stranger {who:?}"),
            By::Operator(number, _) => format!("operator {number}"),
        };
        let what = match (kind, old, new) {
            (_, _, None) => "gone".to_owned(),
            (Kind::Node, _, Some(node)) => format!(
                "{} {} -> {} ({}) {} {}{}{}",
                pool_of(node),
                noted(node, CURRENT_CONFIG),
                noted(node, DESIRED_CONFIG),
                noted(node, PERMIT_CHANGE),
                noted(node, STATE),
                noted(node, DESIRED_DRAIN),
                if is_cordoned(node) { ", cordoned" } else { "" },
                if is_healthy(node) { "" } else { ", not ready" },
            ),
            (_, Some(old), Some(new)) if old["spec"] != new["spec"] => {
                format!("spec {}", new["spec"])
            }
            (Kind::Pool, _, Some(new))
                if noted(new, order::LEDGER) != old.map_or("", |old| noted(old, order::LEDGER)) =>
            {
                format!("ledger {}", noted(new, order::LEDGER))
            }
            (_, None, Some(new)) => format!("created {}", new["spec"]),
            _ => "status or annotations".to_owned(),
        };
        let mut line = format!("{by}: {kind:?}/{name} {what}");
        line.truncate(line.char_indices().nth(400).map_or(line.len(), |(end, _)| end));
        self.tell(at, &line);
    }
}
