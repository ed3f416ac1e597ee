//! Who writes? One replica at a time, as long as it can: leader election over a Lease.
//!
//! An optimisation and no lock: nobody's safety rests on there being one leader, because every write carries the version it was made
//! from (EXEC-1). What it gives is quiet.
//!
//! - A lease is taken and renewed by replacing it under the version that was read, so of two who try one fails.
//! - Whether it has run out is judged by how long *this* replica has seen no change of it, by a clock that only goes forwards: the
//!   times in the lease were written by other clocks and are for people.
//! - The epoch, `leaseTransitions`, grows with every change of hands.
//! - It is renewed only while the loop turns: a leader that is stuck makes way.
//! - The lease is written every few seconds, so it is also the first to show that the store behind the server went back in time.

use std::{sync::Arc, time::Duration};

use serde_json::{Value, json};
use tokio::{
    sync::watch,
    time::{Instant, sleep, timeout, timeout_at},
};

use crate::{
    caches::Caches,
    call::{CallError, Cluster},
    freshness::HighWater,
    path::LEASE,
    progress::Progress,
    report::micro_time,
    tempo::{LeaseTempo, Tempo},
};

/// Whether this replica writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leadership {
    /// It keeps its caches warm and writes nothing.
    Following,
    /// It writes.
    Leading {
        /// How often the lease has changed hands.
        epoch: u64,
    },
}

impl Leadership {
    /// Whether this replica writes.
    pub fn leads(self) -> bool {
        matches!(self, Self::Leading { .. })
    }
}

/// Which lease, and who wants it.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// The namespace of the lease.
    pub namespace: String,
    /// The name of the lease.
    pub name: String,
    /// The name of this replica: no two may have the same.
    pub identity: String,
}

/// One candidate's view of the lease.
pub struct Elector {
    candidate: Candidate,
    cluster: Cluster,
    caches: Arc<Caches>,
    progress: Arc<Progress>,
    tempo: LeaseTempo,
    stuck: Duration,
    leadership: watch::Sender<Leadership>,
    lease: Option<Value>,
    /// When a change of the lease was last seen here.
    changed: Instant,
    /// When the lease was last renewed by us: the moment before the request, because the server counts from later.
    renewed: Instant,
    highest: HighWater,
    /// The last refusal that was logged: one line for each reason, not one for each look.
    refusal: Option<String>,
}

/// What a look at the lease showed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Look {
    Ours { epoch: u64 },
    Theirs,
}

impl Elector {
    /// A candidate that has not looked yet.
    pub fn new(
        candidate: Candidate,
        cluster: Cluster,
        caches: Arc<Caches>,
        progress: Arc<Progress>,
        tempo: &Tempo,
        leadership: watch::Sender<Leadership>,
    ) -> Self {
        let now = Instant::now();
        Self {
            candidate,
            cluster,
            caches,
            progress,
            tempo: tempo.lease,
            stuck: tempo.stuck,
            leadership,
            lease: None,
            changed: now,
            renewed: now,
            highest: HighWater::default(),
            refusal: None,
        }
    }

    /// Stands for election until `ended`, then gives the lease back if it is ours.
    pub async fn run(mut self, ended: impl Future<Output = ()>) {
        let mut ended = std::pin::pin!(ended);
        loop {
            tokio::select! {
                biased;
                () = &mut ended => break,
                () = self.turn() => {}
            }
        }
        self.release().await;
    }

    /// One look at the lease, and the time until the next.
    async fn turn(&mut self) {
        let leading = self.leadership.borrow().leads();
        let began = Instant::now();
        let patience = if leading { self.renewed } else { began } + self.tempo.renewal;
        let stuck = self.progress.silence() > self.stuck;
        let looked = match timeout_at(patience, self.look(stuck)).await {
            Ok(looked) => looked,
            Err(_) => Err(CallError::Late(self.tempo.renewal)),
        };
        match looked {
            Ok(Look::Ours { epoch }) => {
                self.renewed = began;
                self.refusal = None;
                self.set(Leadership::Leading { epoch });
            }
            Ok(Look::Theirs) => {
                self.refusal = None;
                self.set(Leadership::Following);
            }
            Err(error) => {
                let refusal = Some(error.to_string());
                if self.refusal != refusal {
                    let Candidate { namespace, name, .. } = &self.candidate;
                    tracing::warn!(%namespace, %name, %error, cause = ?error, "cannot look after the lease");
                    self.refusal = refusal;
                }
            }
        }
        let mut pause = self.tempo.look;
        if self.leadership.borrow().leads() {
            if self.renewed.elapsed() >= self.tempo.renewal {
                tracing::warn!("the lease could not be renewed in time");
                self.set(Leadership::Following);
            }
        } else {
            // Not a moment later than the lease runs out.
            let left = self.tempo.length.saturating_sub(self.changed.elapsed());
            pause = pause.min(left.max(Duration::from_millis(100)));
        }
        sleep(pause).await;
    }

    fn set(&self, leadership: Leadership) {
        self.leadership.send_if_modified(|before| {
            let changed = *before != leadership;
            if changed {
                tracing::info!(
                    identity = self.candidate.identity,
                    ?leadership,
                    "leadership changed"
                );
            }
            *before = leadership;
            changed
        });
    }

    /// Renews the lease, takes it, or leaves it with whoever has it.
    async fn look(&mut self, stuck: bool) -> Result<Look, CallError> {
        // The holder tries with what it wrote last; everybody else has to read first.
        if self.holder() != Some(&self.candidate.identity) {
            self.read().await?;
        }
        let holder = self.holder().filter(|holder| !holder.is_empty());
        let ours = holder == Some(&self.candidate.identity);
        let free = holder.is_none() || self.changed.elapsed() >= self.tempo.length;
        if stuck || !(ours || free) {
            return Ok(Look::Theirs);
        }
        let before = self.epoch();
        let epoch = if ours || self.lease.is_none() { before } else { before + 1 };
        match self.write(&self.candidate.identity.clone(), epoch, self.tempo.length).await {
            Ok(()) => Ok(Look::Ours { epoch }),
            Err(error) => {
                // Somebody was faster, or nobody knows who it was: the next look reads first.
                self.lease = None;
                match error.code() {
                    Some(409 | 404) => {
                        self.read().await?;
                        let still = ours && self.holder() == Some(&self.candidate.identity);
                        if still { Err(error) } else { Ok(Look::Theirs) }
                    }
                    _ => Err(error),
                }
            }
        }
    }

    async fn read(&mut self) -> Result<(), CallError> {
        let cluster = self.cluster.within(self.tempo.renewal / 2);
        let found = match cluster.get(&self.path()).await {
            Ok(lease) => Some(lease),
            Err(error) if error.code() == Some(404) => None,
            Err(error) => return Err(error),
        };
        self.note(found);
        Ok(())
    }

    async fn write(&mut self, holder: &str, epoch: u64, length: Duration) -> Result<(), CallError> {
        let now = micro_time(self.cluster.clock().exact());
        let ours = self.holder() == Some(holder);
        let since = self.field("acquireTime").filter(|_| ours).cloned();
        let spec = json!({
            "holderIdentity": holder,
            "leaseDurationSeconds": length.as_secs().max(1),
            "leaseTransitions": epoch,
            "acquireTime": since.unwrap_or_else(|| json!(now)),
            "renewTime": now,
        });
        let cluster = self.cluster.within(self.tempo.renewal / 2);
        let written = if let Some(lease) = &self.lease {
            let mut lease = lease.clone();
            lease["spec"] = spec;
            cluster.update(&self.path(), &lease).await?
        } else {
            let Candidate { namespace, name, .. } = &self.candidate;
            let lease = json!({
                "apiVersion": "coordination.k8s.io/v1",
                "kind": "Lease",
                "metadata": {"name": name, "namespace": namespace},
                "spec": spec,
            });
            cluster.create(&LEASE.collection(Some(namespace)), &lease).await?
        };
        self.note(Some(written));
        Ok(())
    }

    fn note(&mut self, lease: Option<Value>) {
        let version = |lease: &Option<Value>| {
            let found = lease.as_ref().and_then(|lease| lease.pointer("/metadata/resourceVersion"));
            found.and_then(Value::as_str).map(str::to_owned)
        };
        let (before, after) = (version(&self.lease), version(&lease));
        if before != after {
            self.changed = Instant::now();
        }
        if after.is_some_and(|after| self.highest.went_back(&after)) {
            tracing::error!("the lease went back in time: learning everything anew");
            self.caches.went_back();
        }
        self.lease = lease;
    }

    /// Gives the lease back, so that another need not wait for its end.
    async fn release(&mut self) {
        if !self.leadership.borrow().leads() {
            return;
        }
        self.set(Leadership::Following);
        let (epoch, patience) = (self.epoch(), self.tempo.look);
        let given = self.write("", epoch, Duration::from_secs(1));
        if let Ok(Ok(())) = timeout(patience, given).await {
            tracing::info!("the lease is given back");
        } else {
            // It runs out by itself.
            tracing::info!("the lease could not be given back");
        }
    }

    fn field(&self, name: &str) -> Option<&Value> {
        self.lease.as_ref()?.pointer("/spec")?.get(name)
    }

    fn holder(&self) -> Option<&str> {
        self.field("holderIdentity")?.as_str()
    }

    fn epoch(&self) -> u64 {
        self.field("leaseTransitions").and_then(Value::as_u64).unwrap_or(0)
    }

    fn path(&self) -> String {
        LEASE.object(Some(&self.candidate.namespace), &self.candidate.name)
    }
}

impl std::fmt::Debug for Elector {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Elector").field("candidate", &self.candidate).finish_non_exhaustive()
    }
}
