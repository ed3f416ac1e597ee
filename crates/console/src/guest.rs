//! Whose rights does somebody have who came with a token of the cluster? Their own, as the API server says, and as long as it says so.
//!
//! What is read comes from watches that everybody shares, so what somebody may not list is taken out before they see anything. What is kept is an
//! answer of the API server, never more than half a minute; a token is kept in memory, for one session, and shown to nobody but that server.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use api::{
    names,
    schema::{Kind, Scope},
};
use futures_util::future::join_all;
use runtime::{
    call::Cluster,
    person::{Person, Unproven},
};
use serde_json::json;
use tidegate_core::{
    cluster::{kinds::Row, snapshot::Snapshot},
    document::key::Key,
};
use tokio::time::Instant;

use crate::guard::same;

/// For so long an answer of the API server about somebody's rights is kept.
const KEPT: Duration = Duration::from_secs(30);

/// In so many namespaces somebody is asked about who may not list a kind everywhere; what is in others they do not see.
const NAMESPACES: usize = 100;

/// Somebody who came with a token.
pub(crate) struct Guest {
    /// What the cluster calls them.
    pub(crate) name: String,
    /// The cluster, with their token.
    pub(crate) cluster: Cluster,
    token: String,
    known: Mutex<Option<(Instant, Arc<Rights>)>>,
}

impl fmt::Debug for Guest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Never the token.
        f.debug_struct("Guest").field("name", &self.name).finish_non_exhaustive()
    }
}

/// Why somebody is not let in, or not any more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Lost {
    /// The cluster does not know the token, or not any more.
    Unknown,
    /// The cluster did not answer.
    Unanswered,
}

/// What somebody may list: kinds everywhere, and kinds in namespaces.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Rights {
    everywhere: BTreeSet<(&'static str, &'static str)>,
    within: BTreeSet<(&'static str, &'static str, String)>,
}

fn called(kind: &Kind) -> (&'static str, &'static str) {
    (kind.api_version, kind.name)
}

impl Rights {
    /// Whether they may see an object.
    pub(crate) fn may_see(&self, key: &Key) -> bool {
        let (version, name) = called(key.kind());
        let within = |namespace: &String| self.within.contains(&(version, name, namespace.clone()));
        self.everywhere.contains(&(version, name))
            || key.namespace.as_ref().map(ToString::to_string).as_ref().is_some_and(within)
    }

    /// Whether they may list all of a kind.
    pub(crate) fn may_list(&self, kind: &Kind) -> bool {
        self.everywhere.contains(&called(kind))
    }

    /// What they may see of a cluster.
    pub(crate) fn of(&self, all: &Snapshot) -> Snapshot {
        let hidden: Vec<Key> =
            all.all().map(|(key, _)| key).filter(|key| !self.may_see(key)).cloned().collect();
        let mut seen = all.clone();
        for key in &hidden {
            seen.remove(key);
        }
        seen
    }
}

impl Guest {
    /// Whoever a token belongs to, with a cluster that is asked with it.
    pub(crate) async fn of(own: &Cluster, token: &str, cluster: Cluster) -> Result<Self, Lost> {
        let person = Person::of(own, token, None).await.map_err(|why| lost(&why))?;
        Ok(Self { name: person.name, cluster, token: token.to_owned(), known: Mutex::default() })
    }

    /// Whether a token is theirs.
    pub(crate) fn shows(&self, token: &str) -> bool {
        same(self.token.as_bytes(), token.as_bytes())
    }

    /// What they may see, as it was last asked.
    pub(crate) fn rights(&self) -> Arc<Rights> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.as_ref().map(|(_, rights)| Arc::clone(rights)).unwrap_or_default()
    }

    /// Asks the cluster again who they are and what they may see, if that is some time ago.
    pub(crate) async fn renew(
        &self,
        own: &Cluster,
        observed: &[&'static Row],
        places: &BTreeMap<&'static str, BTreeSet<String>>,
    ) -> Result<(), Lost> {
        let fresh = |known: &Option<(Instant, Arc<Rights>)>| {
            known.as_ref().is_some_and(|(at, _)| at.elapsed() < KEPT)
        };
        if fresh(&self.known.lock().unwrap_or_else(PoisonError::into_inner)) {
            return Ok(());
        }
        let found = self.asked(own, observed, places).await;
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        match found {
            Ok(rights) => {
                *known = Some((Instant::now(), Arc::new(rights)));
                Ok(())
            }
            Err(lost) => {
                // No answer is no right.
                *known = None;
                Err(lost)
            }
        }
    }

    async fn asked(
        &self,
        own: &Cluster,
        observed: &[&'static Row],
        places: &BTreeMap<&'static str, BTreeSet<String>>,
    ) -> Result<Rights, Lost> {
        let person = Person::of(own, &self.token, None).await.map_err(|why| lost(&why))?;
        if person.name != self.name {
            return Err(Lost::Unknown);
        }
        let may = |kind: &'static Kind, namespace: Option<String>| {
            let mut attributes = json!({"verb": "list", "group": kind.group(), "resource": names::plural(kind.name)});
            if let Some(namespace) = &namespace {
                attributes["namespace"] = json!(namespace);
            }
            let person = &person;
            async move {
                let asked = json!({"resourceAttributes": attributes});
                (kind, namespace, person.may(own, &asked).await)
            }
        };
        let everywhere = observed.iter().map(|row| may(&row.kind, None));
        let mut rights = Rights::default();
        let mut refused = Vec::new();
        for (kind, _, answer) in join_all(everywhere).await {
            if answer.map_err(|_| Lost::Unanswered)? {
                rights.everywhere.insert(called(kind));
            } else if kind.scope == Scope::Namespaced {
                refused.push(kind);
            }
        }
        let within = refused.iter().flat_map(|kind| {
            let namespaces = places.get(kind.name).into_iter().flatten().take(NAMESPACES);
            namespaces.map(|namespace| may(kind, Some(namespace.clone())))
        });
        for (kind, namespace, answer) in join_all(within).await {
            if answer.map_err(|_| Lost::Unanswered)? {
                let (version, name) = called(kind);
                rights.within.extend(namespace.map(|namespace| (version, name, namespace)));
            }
        }
        Ok(rights)
    }
}

/// Why; what the cluster said may quote the token, so its code alone is told.
fn lost(why: &Unproven) -> Lost {
    match why {
        Unproven::Unknown | Unproven::Elsewhere => Lost::Unknown,
        Unproven::Unanswered(error) => {
            tracing::warn!(code = error.code(), "the cluster did not say whose token was shown");
            Lost::Unanswered
        }
    }
}

#[cfg(test)]
mod tests {
    use api::kinds;
    use tidegate_core::cluster::kinds as rows;

    use super::*;

    #[test]
    fn only_what_somebody_may_list_is_seen() {
        let mut all = Snapshot::default();
        for namespace in ["a", "b"] {
            let pool = json!({"metadata": {"name": "pool", "namespace": namespace}, "spec": {}});
            all.add(&rows::NODE_POOL, &pool);
        }
        all.add(&rows::MACHINE_CONFIG_POOL, &json!({"metadata": {"name": "worker"}, "spec": {}}));
        let seen = |rights: &Rights| -> Vec<String> {
            rights.of(&all).all().map(|(key, _)| key.to_string()).collect()
        };
        let mut rights = Rights::default();
        assert!(seen(&rights).is_empty(), "nobody sees anything unasked");
        let (version, name) = called(&kinds::NODE_POOL);
        rights.within.insert((version, name, "b".into()));
        assert_eq!(seen(&rights), ["NodePool/b/pool"]);
        assert!(!rights.may_list(&kinds::NODE_POOL));
        rights.everywhere.insert(called(&kinds::NODE_POOL));
        assert_eq!(seen(&rights).len(), 2);
        rights.everywhere.insert(called(&kinds::MACHINE_CONFIG_POOL));
        assert_eq!(seen(&rights).len(), 3);
    }
}
