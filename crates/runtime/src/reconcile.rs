//! How does a decision reach the cluster? One loop for every kind: observe, decide, execute, report.
//!
//! - Decisions are made from the caches when an object changes, when its edge comes, when the clock went back, and every few minutes
//!   anyway; none of that costs a call. Only a plan that changes something is sent (STAT-3).
//! - EXEC-1, EXEC-4: a write carries the version it was made from, has a deadline, is never sent twice by itself, and an outcome that
//!   nobody knows is read back before anything else happens.
//! - EXEC-2: nothing is remembered that is not in the cluster, so a loop that was killed after any write is carried on by the next.
//! - LIVE-1, LIVE-2: whatever failed is tried again after a while, and whoever waits for an instant is woken then.
//! - GATE-11: what starts a change is asked about again right before ([`Duty::rests_on`]); what is in the way of all of them is
//!   known before a decision is made, so that the status tells it.
//! - LIVE-3: a panic, a refusal or a pruned status delays its own object, and nobody else.
//! - Policies first: those who name a policy are decided after its status says that it was read, so that an edit of a policy never
//!   makes its gates flap.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Duration,
};

use api::schema::Kind;
use futures_util::{FutureExt as _, StreamExt as _, future::BoxFuture, stream::FuturesUnordered};
use schedule::Instant;
use tidegate_core::{
    cluster::{
        kinds::{Concerns, Controller, Duty},
        seen::Seen,
    },
    document::key::Key,
    gate::{enforced::Enforcement, plan::Plan, proof::Proofs},
};
use tokio::sync::watch;

use crate::{
    caches::Caches,
    call::Cluster,
    clock::Clock,
    lease::Leadership,
    progress::Progress,
    queue::Queue,
    report::Reports,
    store::asked_by,
    telemetry::{ReconcileOutcome, Telemetry},
    tempo::Tempo,
};

mod act;
mod decide;
mod ended;
mod execute;
mod fresh;
mod hold;
mod standing;

pub use act::send;
use decide::Panicked;
use ended::{Trouble, digest};
use execute::{Hands, Phase, Took, Unknown};
pub use hold::Proof;
use hold::Terms;
use standing::Standing;

/// The loop.
pub struct Reconciler {
    controllers: Vec<Controller>,
    cluster: Cluster,
    caches: Arc<Caches>,
    clock: Arc<dyn Clock>,
    telemetry: Arc<Telemetry>,
    progress: Arc<Progress>,
    reports: Reports,
    tempo: Tempo,
    terms: Terms,
    leadership: watch::Receiver<Leadership>,
    queue: Queue,
    troubles: BTreeMap<Key, Trouble>,
    standings: BTreeMap<Key, Standing>,
    /// What was last written of each status, as a digest: whoever wants to write the very same again was undone by somebody.
    written: BTreeMap<Key, u64>,
    /// Since when plans wait that are carried out a little apart from each other, as the instant at which each is due.
    postponed: BTreeMap<Key, tokio::time::Instant>,
    /// When plans were last carried out that are kept apart from the last of their kind.
    counted: BTreeMap<Key, tokio::time::Instant>,
    writing: FuturesUnordered<BoxFuture<'static, Took>>,
    looked: Instant,
    /// What was last seen of whether the server refuses what nobody permitted.
    enforcement: Enforcement,
    proofs: Option<Proofs>,
}

/// What a reconciler is made of.
#[derive(Clone, Debug)]
pub struct Parts {
    /// Its rows.
    pub controllers: Vec<Controller>,
    /// Where writes go.
    pub cluster: Cluster,
    /// What is known.
    pub caches: Arc<Caches>,
    /// What time it is.
    pub clock: Arc<dyn Clock>,
    /// Where it is counted.
    pub telemetry: Arc<Telemetry>,
    /// Where it shows that it is alive.
    pub progress: Arc<Progress>,
    /// Where people are told.
    pub reports: Reports,
    /// How patient it is.
    pub tempo: Tempo,
    /// Whether the server must have been seen refusing.
    pub proof: Proof,
    /// Whether it writes.
    pub leadership: watch::Receiver<Leadership>,
}

impl Reconciler {
    /// A loop that has not looked at anything yet.
    pub fn new(parts: Parts) -> Self {
        let Parts { controllers, cluster, caches, clock, telemetry, progress, reports, .. } = parts;
        let Parts { tempo, proof, leadership, .. } = parts;
        let looked = clock.now();
        Self {
            controllers,
            cluster,
            caches,
            clock,
            telemetry,
            progress,
            reports,
            tempo,
            terms: Terms { stale: tempo.stale, proof },
            leadership,
            queue: Queue::default(),
            troubles: BTreeMap::new(),
            standings: BTreeMap::new(),
            written: BTreeMap::new(),
            postponed: BTreeMap::new(),
            counted: BTreeMap::new(),
            writing: FuturesUnordered::new(),
            looked,
            enforcement: Enforcement::default(),
            proofs: None,
        }
    }

    /// Reconciles for ever, while this replica leads.
    pub async fn run(mut self) {
        let mut leadership = self.leadership.clone();
        let mut leading = false;
        // Who begins to lead decides everything anyway.
        let mut recompute = tokio::time::Instant::now();
        loop {
            self.progress.beat();
            self.telemetry.progressed(self.clock.exact());
            let leads = leadership.borrow_and_update().leads();
            if leads != leading {
                leading = leads;
                self.queue.clear();
                // EXEC-4: who leads again after a pause still has to look what became of what was sent before it.
                self.troubles.retain(|_, trouble| trouble.unknown.is_some());
                self.standings.clear();
                self.written.clear();
                self.postponed.clear();
                // DET-1: told in the order in which they came; a channel that several wait on wakes them in random order.
                self.caches.stir();
                if leading {
                    self.add_all();
                }
            }
            if leading {
                self.hear();
                if recompute <= tokio::time::Instant::now() {
                    recompute = tokio::time::Instant::now() + self.tempo.recompute;
                    self.add_all();
                }
                self.wake();
                self.look_at_held();
                self.work().await;
            }
            self.telemetry.queue_length(self.queue.len());
            self.reports.status_writes(self.queue.len() + self.writing.len());
            self.rest(&mut leadership, leading, recompute).await;
        }
    }

    /// Waits until there is something to do, and a beat at most.
    async fn rest(
        &mut self,
        leadership: &mut watch::Receiver<Leadership>,
        leading: bool,
        recompute: tokio::time::Instant,
    ) {
        let beat = tokio::time::Instant::now() + self.tempo.beat;
        let delayed = self.queue.next_delay().filter(|_| leading);
        // Only a leader recomputes: for a follower that instant lies in the past sooner or later, and it would never rest again.
        let recompute = Some(recompute).filter(|_| leading);
        let until = [Some(beat), recompute, delayed].into_iter().flatten().min();
        let edge = self.queue.next_edge().filter(|_| leading);
        let clock = Arc::clone(&self.clock);
        // With all hands full nothing can be begun before one is free.
        let more = leading && !self.queue.is_empty() && self.has_a_free_hand();
        tokio::select! {
            biased;
            Some(took) = self.writing.next(), if !self.writing.is_empty() => self.finish(took),
            () = std::future::ready(()), if more => {}
            // The sender lives as long as the elector; without one nobody changes the leadership any more.
            Ok(()) = leadership.changed() => {}
            () = self.caches.changed(), if leading => {}
            () = async { clock.wait(edge.unwrap_or(Instant::MAX)).await }, if edge.is_some() => {}
            () = tokio::time::sleep_until(until.unwrap_or(beat)) => {}
        }
    }

    /// Takes note of what changed.
    fn hear(&mut self) {
        let news = self.caches.news();
        let store = self.caches.store();
        let changed: BTreeSet<&Kind> = news.iter().map(Key::kind).collect();
        for row in self.controllers.iter().filter(|row| row.duty.concerns == Concerns::All) {
            if row.duty.reads.iter().any(|read| changed.contains(&read.kind)) {
                store.snapshot().of_kind(row.row).for_each(|(key, _)| self.queue.add(key.clone()));
            }
        }
        for key in news {
            if self.row(&key).is_none() {
                continue;
            }
            if let Some(seen) = store.snapshot().get(&key) {
                let generation = seen.identity().generation;
                let trouble = self.troubles.get(&key);
                let fresh = trouble.is_some_and(|trouble| trouble.generation != generation);
                if fresh { self.queue.hurry(key) } else { self.queue.add(key) }
            } else {
                self.queue.forget(&key);
                self.troubles.remove(&key);
                self.standings.remove(&key);
                self.written.remove(&key);
                self.postponed.remove(&key);
                self.counted.remove(&key);
                store.snapshot().naming(&key).cloned().for_each(|naming| self.queue.add(naming));
            }
        }
    }

    fn add_all(&mut self) {
        self.caches.news();
        let store = self.caches.store();
        for row in &self.controllers {
            store.snapshot().of_kind(row.row).for_each(|(key, _)| self.queue.add(key.clone()));
        }
    }

    fn row(&self, key: &Key) -> Option<Controller> {
        self.controllers.iter().copied().find(|row| row.row.kind == *key.kind())
    }

    /// Wakes those whose time has come: what waits for a window begins when it opens (LIVE-2).
    fn wake(&mut self) {
        let exact = self.clock.exact();
        let now = self.clock.now();
        while let Some(edge) = self.queue.wake_edge(now) {
            let late = jiff::Timestamp::from(edge).duration_until(exact);
            self.telemetry.woke(Duration::try_from(late).unwrap_or(Duration::ZERO));
        }
        self.queue.wake_delayed();
        if now < self.looked {
            tracing::warn!(before = %self.looked, %now, "the clock went back: deciding everything anew");
            self.add_all();
        }
        self.looked = now;
    }

    /// What was held back for another reason than there is now, or for none that is left, is decided anew; and everything is, when
    /// something else came of trying whether the server refuses (GATE-13): no object changes with that, and every status tells it.
    fn look_at_held(&mut self) {
        let enforcement = self.caches.store().enforcement();
        let proofs = self.caches.store().proofs().cloned();
        if enforcement != self.enforcement || proofs != self.proofs {
            (self.enforcement, self.proofs) = (enforcement, proofs);
            self.add_all();
        }
        let store = self.caches.store();
        let skew = self.cluster.skew();
        let differ = store.all_held_back().filter(|(key, why)| {
            let now = self
                .row(key)
                .zip(store.snapshot().get(key))
                .and_then(|(row, seen)| self.terms.held_back(&row.duty, seen, &store, skew));
            // What has to be read first is not decided before.
            let waits = self.troubles.get(key).is_some_and(|trouble| trouble.unknown.is_some());
            !waits && now.as_deref() != Some(why)
        });
        let differ: Vec<Key> = differ.map(|(key, _)| key.clone()).collect();
        drop(store);
        for key in differ {
            self.queue.hurry(key);
        }
    }

    /// Begins as much as there are hands for.
    async fn work(&mut self) {
        /// After so many decisions others have their turn: the lease must be renewed while ten thousand objects are looked at.
        const TURN: usize = 64;
        for _ in 0..TURN {
            if !self.has_a_free_hand() {
                return;
            }
            // A free hand is worth more than a full turn of decisions.
            while let Some(Some(took)) = self.writing.next().now_or_never() {
                self.finish(took);
            }
            let Some(key) = self.queue.take() else { return };
            self.begin(&key);
        }
        tokio::task::yield_now().await;
    }

    fn has_a_free_hand(&self) -> bool {
        self.writing.len() < self.tempo.writes
    }

    /// Decides about an object, and sends what was decided.
    fn begin(&mut self, key: &Key) {
        let began = tokio::time::Instant::now();
        let Some(row) = self.row(key) else { return self.queue.release(key) };
        if let Some(unknown) = self.unknown(key, row) {
            // EXEC-4: nothing else before it is known what happened.
            self.writing.push(execute::read_back(self.hands(row), key.clone(), unknown, began));
            return;
        }
        let Some((plan, seen)) = self.decide(key) else { return self.queue.release(key) };
        if let Ok(plan) = &plan
            && let Some(left) =
                self.left_of_spread(key, plan).or_else(|| self.left_until_apart(key, plan))
        {
            self.queue.release(key);
            self.queue.delay(key, left);
            return;
        }
        match plan {
            Ok(Plan { actions, status: None, wake, .. }) if actions.is_empty() => {
                tracing::debug!(object = %key, "up to date");
                self.telemetry.reconciled(
                    key.kind().name,
                    ReconcileOutcome::Unchanged,
                    began.elapsed(),
                );
                self.tell_what_was_left_untold(key, &seen);
                self.queue.wake_at(key, wake);
                self.settled(key);
            }
            Ok(plan) if self.is_undone(key, &plan) => {
                // Two replicas that both believe they lead may know different things: they must not write in a circle.
                tracing::warn!(object = %key, "somebody took back what was written of the status: writing it again after a while");
                self.written.remove(key);
                self.fail(key, self.tempo.retry_at_most, Duration::ZERO);
            }
            Ok(plan) => {
                tracing::info!(object = %key, generation = seen.identity().generation, actions = plan.actions.len(), "executing the plan");
                self.queue.wake_at(key, plan.wake);
                let doing = execute::carry_out(self.hands(row), key.clone(), seen, plan, began);
                self.writing.push(doing);
            }
            Err(Panicked) => {
                tracing::error!(object = %key, "the decision panicked: this object waits, the others do not");
                self.telemetry.reconciled(
                    key.kind().name,
                    ReconcileOutcome::Panicked,
                    began.elapsed(),
                );
                self.fail(key, self.tempo.refused_at_most, Duration::ZERO);
            }
        }
    }

    /// How long a plan still waits that is not carried out together with all others of its kind; none if it does not.
    fn left_of_spread(&mut self, key: &Key, plan: &Plan) -> Option<Duration> {
        let Some(spread) = plan.spread else {
            self.postponed.remove(key);
            return None;
        };
        let now = tokio::time::Instant::now();
        let due = *self.postponed.entry(key.clone()).or_insert(now + spread);
        if due <= now {
            self.postponed.remove(key);
            return None;
        }
        Some(due - now)
    }

    /// How long a plan still waits that is kept apart from the last of its kind; none if it does not.
    fn left_until_apart(&mut self, key: &Key, plan: &Plan) -> Option<Duration> {
        let apart = plan.apart?;
        let now = tokio::time::Instant::now();
        let due = self.counted.get(key).map(|last| *last + apart).filter(|due| *due > now);
        if due.is_none() {
            self.counted.insert(key.clone(), now);
        }
        due.map(|due| due - now)
    }

    /// What has to be read before anything else is done about an object. What could not be read before a change, and is none of those that
    /// the gate rests on any more, does not have to be (LIVE-1).
    fn unknown(&mut self, key: &Key, row: Controller) -> Option<Unknown> {
        let trouble = self.troubles.get_mut(key)?;
        let unknown = trouble.unknown.clone()?;
        let mut store = self.caches.store();
        let rests = |seen| (row.duty.rests_on)(seen, store.snapshot()).contains(&unknown.object);
        if unknown.since == Phase::Writing || store.snapshot().get(key).is_some_and(rests) {
            return Some(unknown);
        }
        store.set_read(key);
        trouble.unknown = None;
        None
    }

    fn hands(&self, row: Controller) -> Hands {
        Hands {
            cluster: self.cluster.clone(),
            caches: Arc::clone(&self.caches),
            reports: self.reports.clone(),
            duty: row.duty,
            terms: self.terms,
            led: *self.leadership.borrow(),
            leadership: self.leadership.clone(),
        }
    }

    /// What is to be done about an object; nothing if it is gone, or if its policy has to be looked at first.
    fn decide(&self, key: &Key) -> Option<(Result<Plan, Panicked>, Seen)> {
        let controller = self.row(key)?;
        let mut store = self.caches.store();
        let duty = controller.duty;
        let seen = decide::known(key, &duty, (self.terms, &self.cluster), &mut store)?;
        // Until the policies have been listed, a missing one is not known to be missing.
        let reads = duty.reads.iter().map(|row| &row.kind);
        let mut needed = asked_by(key.kind()).into_iter().chain(reads);
        if needed.any(|kind| !store.is_settled(kind)) {
            return None;
        }
        if let Some(policy) = store.snapshot().policy_of(&seen)
            && store.snapshot().policy(&policy).is_some_and(|policy| policy.ready().is_err())
            && self.queue.is_pending(&policy)
            && !self.troubles.contains_key(&policy)
        {
            return None;
        }
        Some((decide::plan(&duty, &seen, &store, self.clock.now()), seen))
    }

    /// An object reads as it should; if what others see in it is new, they are looked at next.
    fn settled(&mut self, key: &Key) {
        self.queue.release(key);
        let store = self.caches.store();
        let Some(policy) = store.snapshot().policy(key) else { return };
        let standing = Standing::of(policy);
        if self.standings.get(key) != Some(&standing) {
            self.standings.insert(key.clone(), standing);
            store.snapshot().naming(key).cloned().for_each(|naming| self.queue.add(naming));
            // Who reads every policy is told of those that nobody names for them.
            let readers = self
                .controllers
                .iter()
                .filter(|row| row.duty.reads.iter().any(|read| read.kind == *key.kind()));
            for row in readers {
                store.snapshot().of_kind(row.row).for_each(|(key, _)| self.queue.add(key.clone()));
            }
        }
    }

    /// Whether a plan is nothing but what was written last: somebody has taken it back meanwhile.
    fn is_undone(&self, key: &Key, plan: &Plan) -> bool {
        let again = plan.status.as_ref().filter(|_| plan.actions.is_empty()).map(digest);
        again.is_some() && self.written.get(key).copied() == again
    }
}
