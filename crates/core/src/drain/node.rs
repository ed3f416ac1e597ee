//! What is asked of whoever drains a node, and what does the node remember of it?
//!
//! The agent asks by an annotation; the answer is a copy of it. Whether an administrator had cordoned the node before is written down
//! together with the cordon, in one patch, so that no crash can come between them; the end of the drain leaves such a cordon alone.

use std::collections::BTreeSet;

use api::machine::names::{
    CURRENT_CONFIG, DESIRED_CONFIG, DESIRED_DRAIN, DRAIN_BLOCKED, DRAIN_RECORD, LAST_APPLIED_DRAIN,
    OPERATING_SYSTEM, PERMIT_CHANGE,
};
use schedule::Instant;
use serde_json::{Map, Value, json};

/// What of a node a drain looks at.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Node {
    /// Its name.
    pub name: String,
    /// Which very node.
    pub uid: String,
    /// The version that was read.
    pub version: String,
    /// Whether it takes no new pods.
    pub is_cordoned: bool,
    /// Whether its kubelet has not been heard of.
    pub is_unreachable: bool,
    /// Whether its kubelet says that it is ready, or nobody says otherwise.
    pub is_ready: bool,
    /// By what the cluster itself keeps pods away from it for now, if it does: short of disk, for example.
    pub pressure: Option<String>,
    /// What keeps pods away from it that do not tolerate it, by somebody's will.
    pub taints: BTreeSet<String>,
    /// Its operating system, if anybody says.
    pub system: String,
    /// The configuration that it runs; empty if nobody says.
    pub current: String,
    /// The configuration that it is told to go to; empty if nobody told it.
    pub desired: String,
    /// The configuration that a permitted write has begun there (GATE-10).
    pub begun: String,
    asked: String,
    answered: String,
    blocked: String,
    record: Option<Record>,
}

/// What was written down with the cordon.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Record {
    since: Option<Instant>,
    before: Before,
}

/// How the node was before the drain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Before {
    /// An administrator had cordoned it.
    Cordoned,
    /// It took pods.
    Open,
}

/// What is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Request {
    /// Nothing, or nothing new.
    Nothing,
    /// Workloads have to leave.
    Drain,
    /// Workloads may come back.
    Uncordon,
    /// Something that nobody here understands.
    Unknown(String),
}

impl Node {
    /// Reads a node.
    pub fn of(node: &Value) -> Self {
        let text = |pointer: &str| {
            node.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned()
        };
        let annotation = |key: &str| {
            let annotations = node.pointer("/metadata/annotations");
            let found = annotations.and_then(|annotations| annotations.get(key));
            found.and_then(Value::as_str).unwrap_or_default().to_owned()
        };
        let list =
            |pointer: &str| node.pointer(pointer).and_then(Value::as_array).into_iter().flatten();
        let ready = list("/status/conditions")
            .find(|one| one.get("type").is_some_and(|kind| kind == "Ready"))
            .and_then(|one| one.get("status"));
        let (fleeting, taints): (Vec<String>, Vec<String>) =
            list("/spec/taints").filter_map(taint).partition(|taint| is_one_of(taint, FLEETING));
        Self {
            name: text("/metadata/name"),
            uid: text("/metadata/uid"),
            version: text("/metadata/resourceVersion"),
            is_cordoned: node.pointer("/spec/unschedulable") == Some(&Value::Bool(true)),
            is_unreachable: ready.is_some_and(|status| status == "Unknown"),
            is_ready: ready.is_none_or(|status| status == "True"),
            pressure: fleeting.into_iter().find(|taint| !is_one_of(taint, SAID_ELSEWHERE)),
            taints: taints.into_iter().collect(),
            system: node
                .pointer("/metadata/labels")
                .and_then(|labels| labels.get(OPERATING_SYSTEM))
                .and_then(Value::as_str)
                .unwrap_or_default()
                .to_owned(),
            current: annotation(CURRENT_CONFIG),
            desired: annotation(DESIRED_CONFIG),
            begun: annotation(PERMIT_CHANGE),
            asked: annotation(DESIRED_DRAIN),
            answered: annotation(LAST_APPLIED_DRAIN),
            blocked: annotation(DRAIN_BLOCKED),
            record: Record::parse(&annotation(DRAIN_RECORD)),
        }
    }

    /// What is asked and not yet done.
    pub fn request(&self) -> Request {
        if self.asked.is_empty() || self.asked == self.answered {
            return Request::Nothing;
        }
        match self.asked.split_once('-').map(|(verb, _)| verb) {
            Some("drain") => Request::Drain,
            Some("uncordon") => Request::Uncordon,
            _ => Request::Unknown(self.asked.clone()),
        }
    }

    /// The request, as it was written.
    pub fn asked(&self) -> &str {
        &self.asked
    }

    /// The configuration that the request names.
    pub fn asked_for(&self) -> &str {
        self.asked.split_once('-').map_or("", |(_, config)| config)
    }

    /// Whether it asks for something, or has to be told something: most nodes never do.
    pub fn is_concerned(&self) -> bool {
        self.request() != Request::Nothing || self.is_outdated()
    }

    /// Whether it says what blocks a drain that nobody asks for any more.
    pub fn is_outdated(&self) -> bool {
        !self.blocked.is_empty() && self.asked.is_empty()
    }

    /// What cannot leave, why and since when, as it was last told.
    pub fn blockage(&self) -> Option<&str> {
        Some(self.blocked.as_str()).filter(|blocked| !blocked.is_empty())
    }

    /// Since when it is cordoned for the drain.
    pub fn since(&self) -> Option<Instant> {
        self.record.and_then(|record| record.since)
    }

    /// Whether its cordon is the drain's own: it took pods before.
    pub fn is_cordoned_by_drain(&self) -> bool {
        self.is_cordoned && self.record.is_some_and(|record| record.before == Before::Open)
    }

    /// The change that cordons it for a drain; none if that is done. A cordon that somebody took back is put back, and is the drain's own
    /// from then on: an administrator who took theirs back wants the node open when the drain is over.
    pub fn cordon(&self, now: Instant) -> Option<Value> {
        let record = match (self.record, self.is_cordoned) {
            (Some(_), true) => return None,
            (Some(record), false) => Record { before: Before::Open, ..record },
            (None, true) => Record { since: Some(now), before: Before::Cordoned },
            (None, false) => Record { since: Some(now), before: Before::Open },
        };
        Some(self.patch(Some(true), &[(DRAIN_RECORD, Some(&record.to_string()))]))
    }

    /// The change that answers a drain.
    pub fn drained(&self) -> Value {
        self.patch(None, &[(LAST_APPLIED_DRAIN, Some(&self.asked)), (DRAIN_BLOCKED, None)])
    }

    /// The change that answers a drain without one, because nobody else could take the pods: what is told, and a cordon that the drain
    /// made is taken away, so that whoever left before can come back.
    pub fn stayed(&self, told: &str) -> Value {
        self.patch(
            self.opens(),
            &[
                (LAST_APPLIED_DRAIN, Some(&self.asked)),
                (DRAIN_RECORD, None),
                (DRAIN_BLOCKED, Some(told)),
            ],
        )
    }

    /// The change that lets a drain wait until somebody else can take the pods; none if the node says so already. A cordon that the
    /// drain made is taken away: two nodes that wait for each other would otherwise both stay shut.
    pub fn waits(&self, told: &str) -> Option<Value> {
        if self.blocked == told && self.record.is_none() {
            return None;
        }
        Some(self.patch(self.opens(), &[(DRAIN_RECORD, None), (DRAIN_BLOCKED, Some(told))]))
    }

    /// The change that says what blocks; none if the node says so already.
    pub fn blocked(&self, told: &str) -> Option<Value> {
        if self.blocked == told {
            return None;
        }
        let told = (!told.is_empty()).then_some(told);
        Some(self.patch(None, &[(DRAIN_BLOCKED, told)]))
    }

    /// The change that lets workloads in again and answers the request. Only a cordon that the drain made is taken away.
    pub fn uncordoned(&self) -> Value {
        self.patch(
            self.opens(),
            &[(LAST_APPLIED_DRAIN, Some(&self.asked)), (DRAIN_RECORD, None), (DRAIN_BLOCKED, None)],
        )
    }

    /// What becomes of the cordon when a drain is over: one that the drain made goes, an administrator's is left alone.
    fn opens(&self) -> Option<bool> {
        self.record.is_some_and(|record| record.before == Before::Open).then_some(false)
    }

    /// A merge patch of this very node at this very version: an administrator who was faster is not overruled (EXEC-1).
    fn patch(&self, unschedulable: Option<bool>, annotations: &[(&str, Option<&str>)]) -> Value {
        let annotations: Map<String, Value> = annotations
            .iter()
            .map(|(key, value)| ((*key).to_owned(), value.map_or(Value::Null, Value::from)))
            .collect();
        let metadata =
            json!({"uid": self.uid, "resourceVersion": self.version, "annotations": annotations});
        match unschedulable {
            None => json!({"metadata": metadata}),
            Some(unschedulable) => {
                json!({"metadata": metadata, "spec": {"unschedulable": unschedulable}})
            }
        }
    }
}

/// Taints that come and go with the state of a node: the cluster's own, and those of networks and of whoever adds and removes nodes.
/// Each node that has just started anew bears some for a while, and is no stranger for that to what ran there.
const FLEETING: &[&str] = &[
    "node.kubernetes.io/",
    "node.cloudprovider.kubernetes.io/",
    "node.cilium.io/",
    "karpenter.sh/",
    "ToBeDeletedByClusterAutoscaler=",
    "DeletionCandidateOfClusterAutoscaler=",
];

/// Those of them that repeat what the specification and the condition `Ready` say.
const SAID_ELSEWHERE: &[&str] = &[
    "node.kubernetes.io/unschedulable=",
    "node.kubernetes.io/not-ready=",
    "node.kubernetes.io/unreachable=",
];

fn is_one_of(taint: &str, starts: &[&str]) -> bool {
    starts.iter().any(|start| taint.starts_with(start))
}

/// A taint that keeps pods away, as one text.
fn taint(taint: &Value) -> Option<String> {
    let text = |key: &str| taint.get(key).and_then(Value::as_str).unwrap_or_default();
    let repels = matches!(text("effect"), "NoSchedule" | "NoExecute");
    repels.then(|| format!("{}={}:{}", text("key"), text("value"), text("effect")))
}

impl Record {
    fn parse(text: &str) -> Option<Self> {
        let record: Value = serde_json::from_str(text).ok()?;
        let since = record.get("since").and_then(Value::as_str);
        let cordoned = record.get("cordonedBefore")?.as_bool()?;
        let before = if cordoned { Before::Cordoned } else { Before::Open };
        Some(Self { since: since.and_then(|since| Instant::parse(since).ok()), before })
    }
}

impl std::fmt::Display for Record {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let since = self.since.map(|since| since.to_string());
        let record = json!({"since": since, "cordonedBefore": self.before == Before::Cordoned});
        write!(f, "{record}")
    }
}
