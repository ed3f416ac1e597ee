//! How is a node emptied? One pass at a time: whoever notices that a node asks for it, or that a few seconds have gone by, calls
//! [`Drainer::pass`]; whether it is emptied, who leaves and who cannot is decided in `core::drain` (DRAIN-1, DRAIN-2).
//!
//! A pass judges the node as it reads it, not as it was once seen: an annotation that somebody wrote meanwhile counts. Passes over
//! several nodes go side by side, and so do the evictions of one node: a webhook that hangs at one pod keeps neither its neighbours nor
//! other nodes waiting. An eviction that has no answer yet outlives its pass, and the next one takes the answer.
//!
//! Nothing is lost with this program but the time since when a pod is blocked: the request, the cordon and what was before it stand on
//! the node. EXEC-4: an eviction is sent for one very pod, not again while it is on its way, and each pass begins with reading.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use schedule::Instant;
use serde_json::{Value, json};
use tidegate_core::{
    cluster::kinds,
    drain::{
        self, Blockage, Memory, Move, Outcome, Settings,
        node::Node,
        pod::Pod,
        request::{self, Response},
    },
    pool::seen::SeenNode,
};
use tokio::{
    task::JoinSet,
    time::{Instant as Moment, timeout_at},
};

use crate::{
    caches::{self, Caches},
    call::{CallError, Cluster, Collection, Patch},
    path::{POD, Resource},
};

/// Whoever empties nodes.
#[derive(Debug)]
pub struct Drainer {
    cluster: Cluster,
    caches: Arc<Caches>,
    settings: Settings,
    work: Mutex<BTreeMap<String, Work>>,
    /// Nodes whose pass has begun to empty them: nobody can see their cordon yet.
    under_way: Mutex<BTreeSet<String>>,
}

/// What is remembered of a node.
#[derive(Debug, Default)]
struct Work {
    memory: Memory,
    sent: JoinSet<Answer>,
}

/// What came of an eviction.
#[derive(Debug)]
struct Answer {
    uid: String,
    outcome: Outcome,
    wanted: i64,
}

/// What came of a pass.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Passed {
    /// Nothing is asked of this node.
    Nothing,
    /// What is asked is not honoured, and the node says why (DRAIN-2).
    Refused(String),
    /// Nobody else can take the pods now, and the node says so.
    Waits(String),
    /// Nobody else could ever take the pods, so they stay, and the node says so.
    Stayed(String),
    /// Not everybody has left; this is what is waited for, and when a pass is due again.
    Draining(drain::Pass),
    /// Everybody has left, and the node says so.
    Drained,
    /// Workloads may come back, and the node says so.
    Uncordoned,
}

/// How many pods one page holds.
const PAGE: u32 = 250;

/// How many evictions of one node travel at once.
const AT_ONCE: usize = 32;

/// How long a pass waits for the answers to its evictions. Most come within a hundredth of it; the rest belong to the next pass.
const ANSWERS: Duration = Duration::from_secs(2);

/// How long an eviction may take: a webhook may think for 30 seconds, and giving up earlier would undo its work each time.
const EVICTION: Duration = Duration::from_secs(35);

impl Drainer {
    /// A drainer of the nodes of a cluster, who knows the pools and the other nodes from these caches.
    pub fn new(cluster: Cluster, caches: Arc<Caches>, settings: Settings) -> Self {
        Self { cluster, caches, settings, work: Mutex::default(), under_way: Mutex::default() }
    }

    /// Forgets what is known of nodes that ask for nothing any more, or are gone.
    pub fn keep(&self, asks: impl Fn(&str) -> bool) {
        lock(&self.work).retain(|name, _| asks(name));
    }

    /// Takes one node a step further. Passes over several nodes may go side by side, over one node they may not.
    pub async fn pass(&self, name: &str, now: Instant) -> Result<Passed, CallError> {
        let path = Resource::of(&kinds::NODE).object(None, name);
        let found: Value = self.cluster.get(&path).await?;
        let node = Node::of(&found);
        let (verdict, _under_way) = self.judge(&node, &SeenNode::new(&found));
        if verdict != Response::Drain {
            lock(&self.work).remove(name);
        }
        match verdict {
            Response::Nothing => {
                if node.is_outdated() {
                    self.patch(&path, node.blocked("")).await?;
                }
                Ok(Passed::Nothing)
            }
            Response::Refused(refusal) => {
                let told = request::told(&node, &refusal);
                self.patch(&path, node.blocked(&told)).await?;
                Ok(Passed::Refused(told))
            }
            Response::Wait(told) => {
                self.patch(&path, node.waits(&told)).await?;
                Ok(Passed::Waits(told))
            }
            Response::Stay(told) => {
                self.patch(&path, Some(node.stayed(&told))).await?;
                Ok(Passed::Stayed(told))
            }
            Response::Uncordon => {
                self.patch(&path, Some(node.uncordoned())).await?;
                Ok(Passed::Uncordoned)
            }
            Response::Drain => self.drain(&path, node, now).await,
        }
    }

    /// Judges what a node asks for. Two that are judged at the same time do not each count on the other.
    fn judge(&self, node: &Node, seen: &SeenNode) -> (Response, Option<UnderWay<'_>>) {
        let store = self.caches.store();
        let home = store.snapshot().membership(seen);
        let mut under_way = lock(&self.under_way);
        let others = store.snapshot().machines().map(|machine| &machine.drain);
        let verdict = request::judge(node, &home, others, &under_way);
        let begins = (verdict == Response::Drain).then(|| {
            under_way.insert(node.name.clone());
            UnderWay { all: &self.under_way, name: node.name.clone() }
        });
        (verdict, begins)
    }

    async fn drain(&self, path: &str, node: Node, now: Instant) -> Result<Passed, CallError> {
        // The pods are read after the cordon: whoever was placed before is among them.
        let node = self.patch(path, node.cordon(now)).await?.unwrap_or(node);
        let pods = self.pods(&node.name).await?;
        let mut work = lock(&self.work).remove(&node.name).unwrap_or_default();
        work.answers(Moment::now(), now).await;
        work.memory.retain(|uid, _| pods.iter().any(|pod| pod.uid == *uid));
        let mut pass = drain::pass(&pods, &node, &work.memory, &self.settings, now);
        if pass.is_done() {
            self.patch(path, Some(node.drained())).await?;
            return Ok(Passed::Drained);
        }
        if !pass.moves.is_empty() {
            let until = Moment::now() + ANSWERS;
            for one in &pass.moves {
                if !work.has_room(until, now).await {
                    break;
                }
                drain::remember(&mut work.memory, &one.leaver().uid, Outcome::Sent, 0, now);
                work.sent.spawn(send_away(self.cluster.clone(), one.clone()));
            }
            work.answers(until, now).await;
            // What the server answered is told at once.
            let told = drain::pass(&pods, &node, &work.memory, &self.settings, now);
            (pass.waiting, pass.again) = (told.waiting, told.again);
        }
        lock(&self.work).insert(node.name.clone(), work);
        self.patch(path, node.blocked(&drain::told(&pass.waiting))).await?;
        Ok(Passed::Draining(pass))
    }

    async fn pods(&self, node: &str) -> Result<Vec<Pod>, CallError> {
        let there = Collection::of(POD.collection(None)).only("spec.nodeName", node);
        let mut pods = Vec::new();
        self.cluster.list(&there.in_pages_of(PAGE), |pod: Value| pods.push(Pod::of(&pod))).await?;
        Ok(pods)
    }

    /// Changes the node at the version it was read at, and reads it anew; nothing happens without a change. The caches know at once.
    async fn patch(&self, path: &str, change: Option<Value>) -> Result<Option<Node>, CallError> {
        let Some(change) = change else { return Ok(None) };
        let node = self.cluster.patch(path, Patch::merge("tidegate-drain", &change)).await?;
        if let Some((key, seen)) = caches::read(&kinds::NODE, &node) {
            self.caches.changed_by_us(&key, seen);
        }
        Ok(Some(Node::of(&node)))
    }
}

impl Work {
    /// Takes the answers that come until a moment.
    async fn answers(&mut self, until: Moment, now: Instant) {
        while !self.sent.is_empty() {
            let Ok(answer) = timeout_at(until, self.sent.join_next()).await else { return };
            self.take(answer, now);
        }
        // Whose task is gone without an answer is asked again.
        self.memory.retain(|_, tried| tried.outcome != Outcome::Sent);
    }

    /// Waits until one more eviction may be sent; whether that was before a moment.
    async fn has_room(&mut self, until: Moment, now: Instant) -> bool {
        while self.sent.len() >= AT_ONCE {
            let Ok(answer) = timeout_at(until, self.sent.join_next()).await else { return false };
            self.take(answer, now);
        }
        true
    }

    fn take(&mut self, answer: Option<Result<Answer, tokio::task::JoinError>>, now: Instant) {
        if let Some(Ok(Answer { uid, outcome, wanted })) = answer {
            drain::remember(&mut self.memory, &uid, outcome, wanted, now);
        }
    }
}

/// Evicts or deletes a pod. Whatever comes of it concerns that pod alone.
async fn send_away(cluster: Cluster, one: Move) -> Answer {
    let drain::Leaver { pod, uid } = one.leaver();
    let cluster = cluster.within(EVICTION);
    let answered = match one {
        Move::Evict(_) => cluster.evict(&pod.namespace, &pod.name, uid).await,
        Move::Delete(_) => {
            let path = POD.object(Some(&pod.namespace), &pod.name);
            let options = json!({"apiVersion": "v1", "kind": "DeleteOptions",
                "preconditions": {"uid": uid}});
            cluster.delete(&path, &options).await
        }
    };
    let wanted = answered.as_ref().err().map_or(Duration::ZERO, CallError::retry_after);
    let outcome = match answered {
        // 409: a namesake has taken its place, so this one has left.
        Ok(_) | Err(CallError::Refused { code: 409, .. }) => Outcome::Accepted,
        Err(CallError::Refused { code, reason, message, .. }) => {
            drain::outcome(code, &reason, &message)
        }
        Err(error) => {
            tracing::warn!(pod = %pod, %error, cause = ?error, "an eviction was not answered");
            Outcome::Blocked(Blockage::NoAnswer)
        }
    };
    let wanted = i64::try_from(wanted.as_secs()).unwrap_or(i64::MAX);
    Answer { uid: uid.clone(), outcome, wanted }
}

/// A node that is counted out by its neighbours for as long as its pass goes on.
#[derive(Debug)]
struct UnderWay<'a> {
    all: &'a Mutex<BTreeSet<String>>,
    name: String,
}

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        lock(self.all).remove(&self.name);
    }
}

/// Every change is whole before anything that could panic.
fn lock<T>(held: &Mutex<T>) -> MutexGuard<'_, T> {
    held.lock().unwrap_or_else(PoisonError::into_inner)
}
