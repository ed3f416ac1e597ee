//! Who records what happens? Whoever leads, from what the cluster remembers, a page at a time (HIST-1).
//!
//! Nothing waits for it: what it records has happened, and an entry that cannot be written is written later, from the same objects. It looks when
//! something that is known changes, and a minute after at the latest, because a freeze may end without anybody else being concerned; it
//! writes to each history once a second at most, and not at all while nothing happens.
//!
//! EXEC-1, EXEC-4: each write carries the version it was made from, or the name that only one can create, and whatever fails in a way that
//! nobody knows is read before anything else is written.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Duration,
};

use api::{kinds::CHANGE_RECORD, schema::Kind};
use runtime::{
    caches::Caches,
    call::{CallError, Cluster, Collection},
    key::collection,
    lease::Leadership,
    reconcile::send,
};
use schedule::Instant;
use serde_json::Value;
use tidegate_core::{
    cluster::kinds::Pools,
    history::{
        chain::Fact,
        due::Histories,
        pages::{self, Chain},
    },
};
use tokio::{
    sync::watch,
    time::{sleep, timeout},
};

/// How far apart two writes to one history are.
const APART: Duration = Duration::from_secs(1);

/// How long it rests while nothing that is known changes.
const REST: Duration = Duration::from_mins(1);

/// How long it waits after something failed.
const RETRY: Duration = Duration::from_secs(5);

/// For how many seconds it leaves a history alone that the server does not let it write, as in a namespace that is going.
const REFUSED: i64 = 600;

/// How many pages are read at once: each is a hundred kilobytes, and as much again of who owns which field. No more of them are held at any time, however many
/// histories there are.
const AT_ONCE: u32 = 10;

/// What is told where less is left than is known to have been written.
const GONE: &str = "a page of the history is gone: whoever verifies it sees what is missing";

/// Whoever records.
#[derive(Debug)]
pub struct Recorder {
    /// Where it writes.
    pub cluster: Cluster,
    /// What is known.
    pub caches: Arc<Caches>,
    /// Whether it writes.
    pub leadership: watch::Receiver<Leadership>,
    /// The namespace in which is recorded what is in none.
    pub home: String,
    /// Whether this operator rolls pools out.
    pub pools: Pools,
}

/// What it remembers from one look to the next, beside the histories.
#[derive(Debug, Default)]
struct Known {
    /// The namespaces in which the server lets it write nothing, and since when.
    refused: BTreeMap<String, Instant>,
    /// The namespaces whose history has to be read again before anything is written there.
    lost: BTreeSet<String>,
    /// Why the history could not be read, as it was told.
    told: String,
}

/// What came of writing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Round {
    /// All is recorded that can be.
    Done,
    /// There is more than a page took.
    More,
    /// Somebody else wrote, or nobody knows what became of a write.
    Lost,
}

impl Recorder {
    /// Records for ever, while this replica leads.
    pub async fn run(self) {
        let mut changes = self.caches.changes();
        let mut histories: Option<Histories> = None;
        let mut known = Known::default();
        loop {
            changes.mark_seen();
            let leads = self.leadership.borrow().leads();
            if !leads {
                // Whoever leads meanwhile writes.
                histories = None;
                known.lost.clear();
            } else if histories.is_none() {
                let chains = self.read(None, &mut known.told).await;
                histories = chains.map(|chains| Histories::new(chains, self.pools));
            }
            let round = match &mut histories {
                Some(histories) => self.record(histories, &mut known).await,
                None if leads => Round::Lost,
                None => Round::Done,
            };
            sleep(APART).await;
            match round {
                Round::More => {}
                // Impatience is no error.
                Round::Done => drop(timeout(REST, changes.changed()).await),
                Round::Lost => sleep(RETRY).await,
            }
        }
    }

    /// What is recorded, in one namespace or in all; none if that cannot be read, which is told once.
    async fn read(
        &self,
        namespace: Option<&str>,
        told: &mut String,
    ) -> Option<BTreeMap<String, Chain>> {
        let all = Collection::of(collection(&CHANGE_RECORD, namespace)).in_pages_of(AT_ONCE);
        let mut chains = BTreeMap::new();
        let listed = self.cluster.list(&all, |page: Value| pages::read(&mut chains, &page)).await;
        match listed {
            Ok(_) => {
                told.clear();
                Some(chains)
            }
            Err(error) => {
                let why = error.to_string();
                if *told != why {
                    tracing::warn!(%error, "the history cannot be read: nothing is recorded until it can");
                    *told = why;
                }
                None
            }
        }
    }

    /// Reads again what somebody else wrote to, and nothing but that.
    async fn read_lost(&self, histories: &mut Histories, known: &mut Known) {
        for namespace in known.lost.clone() {
            let Some(mut chains) = self.read(Some(&namespace), &mut known.told).await else {
                continue;
            };
            let mut chain = chains.remove(&namespace).unwrap_or_default();
            if let Some(before) = histories.chains.get(&namespace)
                && chain.follow(before.tip())
            {
                let last = before.tip().number;
                tracing::warn!(namespace, last, "{GONE}");
            }
            known.lost.remove(&namespace);
            histories.chains.insert(namespace, chain);
        }
    }

    /// Appends to each history what it lacks, by one write.
    async fn record(&self, histories: &mut Histories, known: &mut Known) -> Round {
        self.read_lost(histories, known).await;
        let now = self.cluster.clock().now();
        known.refused.retain(|_, since| now < since.saturating_add(REFUSED) && *since <= now);
        let due = {
            let store = self.caches.store();
            let is_settled = |kind: &'static Kind| store.is_settled(kind);
            histories.due(store.snapshot(), is_settled, &self.home, now)
        };
        let mut round = if known.lost.is_empty() { Round::Done } else { Round::Lost };
        for (namespace, facts) in due {
            if known.refused.contains_key(&namespace) || known.lost.contains(&namespace) {
                continue;
            }
            let count = facts.len();
            let chain = histories.chains.entry(namespace.clone()).or_default();
            match self.append(&namespace, chain, facts).await {
                Ok(written) if written < count && round == Round::Done => round = Round::More,
                Ok(_) => {}
                Err(error) if error.is_not_found() && chain.forget_last() => {
                    // The namespace may be there, and somebody deleted the page: whoever goes on from the tip that is known leaves a gap that shows it.
                    let last = chain.tip().number;
                    tracing::warn!(namespace, last, %error, "{GONE}");
                    if round == Round::Done {
                        round = Round::More;
                    }
                }
                Err(error) if error.is_not_found() => {
                    // With its namespace the history went.
                    histories.chains.remove(&namespace);
                    known.refused.insert(namespace, now);
                }
                Err(error) if matches!(error.code(), Some(400 | 403 | 422)) => {
                    tracing::warn!(namespace, %error, "the API server refuses an entry of the history");
                    known.refused.insert(namespace, now);
                }
                Err(error) => {
                    // LIVE-3: the others are recorded all the same.
                    tracing::info!(namespace, %error, "the history is read again");
                    known.lost.insert(namespace);
                    round = Round::Lost;
                }
            }
        }
        round
    }

    /// Appends what the last page takes, or begins the next; how much that was.
    async fn append(
        &self,
        namespace: &str,
        chain: &mut Chain,
        facts: Vec<Fact>,
    ) -> Result<usize, CallError> {
        let before = chain.tip().number;
        if !self.leadership.borrow().leads() {
            return Ok(facts.len());
        }
        if let Some(action) = chain.append(namespace, facts) {
            let page = send(&self.cluster, &action.target, &action.write).await?;
            chain.answered(&page);
        }
        if let Some(oldest) = chain.dropped(namespace) {
            match send(&self.cluster, &oldest.target, &oldest.write).await {
                Ok(_) => {}
                Err(error) if error.is_not_found() => {}
                Err(error) => return Err(error),
            }
            chain.forget_oldest();
        }
        Ok(usize::try_from(chain.tip().number - before).unwrap_or_default())
    }
}
