//! How are people told? Kubernetes events, on transitions only, after the statuses.
//!
//! A status is the truth and an event a courtesy, so events wait while statuses are written, are bounded in number, and are given up
//! after a few attempts. The name of an event is made from what it is about: saying the same twice, even by two replicas, leaves one.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use api::names;
use futures_util::future::join_all;
use jiff::Timestamp;
use serde_json::{Value, json};
use tidegate_core::{
    document::{identity::Identity, key::Key},
    gate::note::Note,
};
use tokio::{
    sync::{Notify, watch},
    time::{sleep, timeout},
};

use crate::{backoff, call::Cluster, path::EVENT};

/// Beyond this many the oldest are dropped: two edges of ten thousand resources.
const WAITING: usize = 20_000;
/// Statuses that never end must not silence everybody.
const PATIENCE: Duration = Duration::from_secs(30);
/// So many at once: less than statuses, which matter more.
const AT_ONCE: usize = 8;
const ATTEMPTS: u32 = 3;

/// What is to be said. Clones are one list.
#[derive(Clone, Debug, Default)]
pub struct Reports {
    waiting: Arc<Mutex<VecDeque<Report>>>,
    more: Arc<Notify>,
    writes: Arc<watch::Sender<usize>>,
}

#[derive(Clone, Debug)]
struct Report {
    key: Key,
    uid: String,
    version: String,
    note: Note,
    at: Timestamp,
}

/// Who speaks.
#[derive(Clone, Debug)]
pub struct Speaker {
    /// Where events go.
    pub cluster: Cluster,
    /// The name of this replica.
    pub identity: String,
}

impl Reports {
    /// Says something about an object in the state that it had before the change.
    pub fn say(&self, key: &Key, before: &Identity, notes: Vec<Note>, at: Timestamp) {
        if notes.is_empty() {
            return;
        }
        let mut waiting = self.lock();
        for note in notes {
            if waiting.len() >= WAITING {
                waiting.pop_front();
                tracing::warn!("too many events wait: the oldest is dropped");
            }
            waiting.push_back(Report {
                key: key.clone(),
                uid: before.uid.clone(),
                version: before.resource_version.clone(),
                note,
                at,
            });
        }
        self.more.notify_one();
    }

    /// How many statuses are being written or wait for it.
    pub fn status_writes(&self, count: usize) {
        self.writes.send_if_modified(|before| std::mem::replace(before, count) != count);
    }

    /// Says everything, for ever.
    pub async fn run(self, speaker: Speaker) {
        let mut writes = self.writes.subscribe();
        loop {
            if self.lock().is_empty() {
                self.more.notified().await;
                continue;
            }
            // The sender is held here, so the channel stays open; impatience is no error.
            let _ = timeout(PATIENCE, writes.wait_for(|count| *count == 0)).await;
            let batch: Vec<Report> = {
                let mut waiting = self.lock();
                let count = waiting.len().min(AT_ONCE);
                waiting.drain(..count).collect()
            };
            join_all(batch.iter().map(|report| speaker.say(report))).await;
        }
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<Report>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Speaker {
    async fn say(&self, report: &Report) {
        let event = self.event(report);
        let namespace = report.key.namespace.as_deref().unwrap_or("default");
        let events = EVENT.collection(Some(namespace));
        for attempt in 0..ATTEMPTS {
            match self.cluster.create(&events, &event).await {
                Ok(_) => return,
                // Said before, by us or by another replica.
                Err(error) if error.code() == Some(409) => return,
                Err(error) if error.code().is_some_and(|code| (400..429).contains(&code)) => {
                    tracing::warn!(object = %report.key, %error, "an event was refused");
                    return;
                }
                Err(error) => {
                    let first = Duration::from_secs(1);
                    let delay = backoff::delay(first, PATIENCE, attempt, u64::from(attempt));
                    sleep(delay.max(error.retry_after())).await;
                }
            }
        }
        tracing::warn!(object = %report.key, reason = report.note.reason, "an event was given up");
    }

    fn event(&self, report: &Report) -> Value {
        /// What the server takes.
        const LONGEST: usize = 1024;
        let Report { key, uid, version, note, at } = report;
        let about = format!("{uid}/{version}/{}/{}", note.reason, note.message);
        let name: String = key.name.chars().take(200).collect();
        json!({
            "apiVersion": "events.k8s.io/v1",
            "kind": "Event",
            "metadata": {
                "name": format!("{name}.{:016x}", backoff::spread(about.as_bytes())),
                "namespace": key.namespace.as_deref().unwrap_or("default"),
            },
            "eventTime": micro_time(*at),
            "reportingController": format!("{}/tidegate", names::GROUP),
            "reportingInstance": self.identity,
            "action": "Decide",
            "reason": note.reason,
            "type": note.weight.as_str(),
            "note": cut(&note.message, LONGEST),
            "regarding": {
                "apiVersion": key.kind().api_version,
                "kind": key.kind().name,
                "namespace": key.namespace.as_deref().unwrap_or_default(),
                "name": &*key.name,
                "uid": uid,
                "resourceVersion": version,
            },
        })
    }
}

/// An instant as leases and events write it.
pub(crate) fn micro_time(at: Timestamp) -> String {
    at.strftime("%Y-%m-%dT%H:%M:%S%.6fZ").to_string()
}

fn cut(text: &str, longest: usize) -> &str {
    let mut end = text.len().min(longest);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or_default()
}
