//! Who acts in a cluster that hosts others? Whoever runs hosted clusters, whoever moves their machines, and whoever keeps what is inside them.

use std::{sync::Arc, time::Duration};

use apiserver::Server;
use http::Method;
use kube::Client;
use runtime::{
    call::{Cluster, Collection},
    clock::{Clock as _, SetClock},
    path::{DEFINITION, Resource},
};
use serde_json::Value;
use tidegate_core::hosted::pool::SeenNodePool;
use tokio::task::JoinSet;

use crate::{
    guest::{Guests, Insides, PATIENCE},
    hosted::{self, Host},
    lengths::Lengths,
    machine_api::{self, DEPLOYMENTS, MACHINES, Mover, SECRETS, SETS},
    mirror::{Mirror, text},
    stock::Refused,
};

/// How long the pools of hosted clusters may take to be created, in seconds of the clock, and how far the clock goes at a time meanwhile.
const CREATING: i64 = 7_200;
const STEP: i64 = 30;

/// How long everybody has to notice that it went on.
const NOTICING: Duration = Duration::from_millis(5);

/// Tells a server the kinds of Cluster API.
pub(crate) fn define(server: &Server) -> Result<(), Refused> {
    for definition in machine_api::definitions() {
        let (code, answer) = server.ask(
            Method::POST,
            &DEFINITION.collection(None),
            "application/json",
            definition.to_string().as_bytes(),
        );
        if code >= 300 {
            return Err(Refused {
                origin: "Cluster API".into(),
                object: definition["metadata"]["name"].to_string(),
                message: String::from_utf8_lossy(&answer).into_owned(),
            });
        }
    }
    Ok(())
}

/// Those who run hosted clusters, once they are started.
pub(crate) struct Played {
    pub(crate) guests: Guests,
    pools: Mirror,
}

impl Played {
    /// Has every pool created, in what is the past when this returns, and then asked for what somebody wants.
    pub(crate) async fn settle(
        self,
        server: &Server,
        clock: &SetClock,
        asked: &[Value],
    ) -> Result<Guests, Vec<Refused>> {
        let at = clock.now();
        clock.set(at.saturating_add(-CREATING));
        let mut changes = self.pools.changes();
        while clock.now() < at {
            changes.mark_seen();
            let created = |pool: &Value| !SeenNodePool::new(pool).current.is_empty();
            let pools = self.pools.objects();
            if !changes.is_fresh() && !pools.is_empty() && pools.values().all(|pool| created(pool))
            {
                break;
            }
            clock.step(STEP);
            tokio::time::sleep(NOTICING).await;
        }
        clock.set(at);
        let refused: Vec<Refused> =
            asked.iter().filter_map(|wish| merged(server, wish).err()).collect();
        if refused.is_empty() { Ok(self.guests) } else { Err(refused) }
    }
}

/// Merges what somebody asks of an object into it.
fn merged(server: &Server, wish: &Value) -> Result<(), Refused> {
    let (kind, name) = (text(wish, "/kind"), text(wish, "/metadata/name"));
    let resource = Resource::new(text(wish, "/apiVersion"), kind);
    let at = resource.object(Some(text(wish, "/metadata/namespace")), name);
    let content = "application/merge-patch+json";
    let (code, answer) = server.ask(Method::PATCH, &at, content, wish.to_string().as_bytes());
    if code < 300 {
        return Ok(());
    }
    let message = String::from_utf8_lossy(&answer).into_owned();
    Err(Refused { origin: "what is asked for".into(), object: format!("{kind}/{name}"), message })
}

/// Starts whoever runs hosted clusters, whoever moves their machines, and whoever keeps what is inside them.
pub(crate) fn run(
    server: &Server,
    clock: &SetClock,
    lengths: &Arc<Lengths>,
    parts: &mut JoinSet<&'static str>,
) -> Played {
    let masters = ["system:masters", "system:authenticated"];
    let cluster = |user: &str| {
        let client = Client::new(server.service_as(user, &masters), "default");
        Cluster::new(client, Arc::new(clock.clone()), Arc::default(), PATIENCE)
    };
    let mut mirror = |path: String| {
        let mirror = Mirror::default();
        let keeping = mirror.clone().keep(cluster("tidegate-sandbox"), Collection::of(path));
        parts.spawn(async {
            keeping.await;
            "a mirror"
        });
        mirror
    };
    let [clusters, pools, maps] = hosted::collections().map(&mut mirror);
    let [deployments, sets, machines, secrets] =
        [DEPLOYMENTS, SETS, MACHINES, SECRETS].map(|kind| mirror(kind.collection(None)));
    let guests = Guests::default();
    let insides = Insides {
        guests: guests.clone(),
        clock: clock.clone(),
        clusters: clusters.clone(),
        pools: pools.clone(),
        machines: machines.clone(),
    };
    let host = Host {
        cluster: cluster(hosted::USER),
        lengths: Arc::clone(lengths),
        clusters,
        pools: pools.clone(),
        maps,
        deployments: deployments.clone(),
        sets: sets.clone(),
        secrets: secrets.clone(),
    };
    let mover = Mover {
        cluster: cluster(machine_api::USER),
        lengths: Arc::clone(lengths),
        deployments,
        sets,
        machines,
        secrets,
    };
    parts.spawn(async {
        host.run().await;
        "whoever runs hosted clusters"
    });
    parts.spawn(async {
        mover.run().await;
        "whoever moves machines"
    });
    parts.spawn(async {
        insides.run().await;
        "whoever keeps what is inside"
    });
    Played { guests, pools }
}
