//! How is a cluster in one process put together, and held? Server, operator, nodes and pods under one clock, behind one handle.
//!
//! Dropping the handle ends everything at once. A part that ends by itself has failed, and [`Sandbox::failed`] says which.

use std::{sync::Arc, time::Duration};

use api::{
    crds, kinds, machine, names,
    schema::{FREEZES, GATED, GUARDRAILS, KINDS, OVERRIDES},
};
use apiserver::{Server, Workloads};
use kube::Client;
use operator::{Operator, Pools, View};
use runtime::{
    call::Collection,
    clock::SetClock,
    path::{CONFIG_MAP, DEFINITION, POD, Resource},
    tempo::Tempo,
};
use schedule::Instant;
use serde_json::Value;
use tidegate_core::{
    node::membership::Membership,
    pool::{
        membership::membership,
        seen::{SeenNode, SeenPool},
    },
};
use tokio::{task::JoinSet, time::timeout};

use crate::{
    control_plane::{self, Installer, plan::Follows},
    deployments::{self, Controller},
    dial::{self, Dial},
    guest::Guests,
    lengths::Lengths,
    machines::Site,
    management,
    mirror::Mirror,
    pace::Work,
    pods::Nursery,
    server_clock::ServerClock,
    shipped::{self, ACCOUNTS, OPERATOR},
    stock::{self, Item, Refused, Stocked},
};

/// How a cluster in one process is.
#[derive(Clone, Debug)]
pub struct Settings {
    /// What time it is when it starts.
    pub at: Instant,
    /// How many seconds pass in one, [`crate::dial::FASTEST`] at most; 0 stands still.
    pub speed: u32,
    /// How long things take.
    pub lengths: Lengths,
    /// How the server behaves.
    pub server: apiserver::Settings,
    /// How patient the operator is.
    pub tempo: Tempo,
    /// What is asked of hosted clusters once they are there, as objects that are merged; none if it hosts none.
    pub hosted: Option<Vec<Value>>,
    /// What whoever installs releases follows.
    pub follows: Follows,
}

impl Settings {
    /// The usual ones, from an instant on.
    pub fn starting_at(at: Instant) -> Self {
        Self {
            at,
            speed: 1,
            lengths: Lengths::default(),
            server: apiserver::Settings::default(),
            tempo: Tempo::default(),
            hosted: None,
            follows: Follows::Marks,
        }
    }

    /// The same, as a stock OpenShift is (CV-4): whoever installs releases never heard of us and begins what `spec.desiredUpdate` names at once, and
    /// the operator lets begin what was queued. Nobody rolls nodes out.
    #[must_use]
    pub fn stock(self) -> Self {
        Self { follows: Follows::Wishes, ..self }
    }

    /// The same, and the server knows the kinds of `apps/v1`, which somebody rolls out.
    #[must_use]
    pub fn with_workloads(self) -> Self {
        let server = apiserver::Settings { workloads: Workloads::Served, ..self.server };
        Self { server, ..self }
    }

    /// The same, and it hosts other clusters, of which this is asked once they are there.
    #[must_use]
    pub fn hosting(self, asked: Vec<Value>) -> Self {
        Self { hosted: Some(asked), ..self }
    }
}

/// Why there is no cluster.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The server refused what the product installs.
    #[error("the server refused what the product installs: {0}")]
    Definition(Refused),
    /// The clock could not be told.
    #[error("the server refused the clock")]
    Clock(#[source] runtime::call::CallError),
    /// The server refused some of the objects.
    #[error("{} of the objects were refused", .0.len())]
    Refused(Vec<Refused>),
}

/// A cluster in one process. Dropping it ends it.
#[derive(Debug)]
pub struct Sandbox {
    server: Server,
    dial: Dial,
    view: View,
    stocked: Stocked,
    guests: Guests,
    parts: JoinSet<&'static str>,
}

/// How long the nodes may take to join before the clock starts all the same: some may have no pool that knows them.
const JOINING: Duration = Duration::from_secs(3);

impl Sandbox {
    /// A server with our definitions in it and nothing else, and its clock, which stands still.
    pub fn server(
        at: Instant,
        settings: apiserver::Settings,
    ) -> Result<(Server, SetClock), StartError> {
        let clock = SetClock::starting_at(at);
        clock.speed(0);
        let server = Server::new(ServerClock(clock.clone()), settings);
        let ours = KINDS
            .iter()
            .chain(GATED)
            .chain(FREEZES)
            .chain(OVERRIDES)
            .chain(GUARDRAILS)
            .map(crds::definition);
        let others = [control_plane::definition()];
        for definition in ours.chain(machine::definitions::definitions()).chain(others) {
            let path = DEFINITION.collection(None);
            let body = definition.to_string();
            let (code, answer) =
                server.ask(http::Method::POST, &path, "application/json", body.as_bytes());
            if code >= 300 {
                return Err(StartError::Definition(Refused {
                    origin: "ours".into(),
                    object: definition["metadata"]["name"].to_string(),
                    message: String::from_utf8_lossy(&answer).into_owned(),
                }));
            }
        }
        Ok((server, clock))
    }

    /// Starts a cluster with these objects in it; its nodes have joined when this returns, and then the clock starts.
    pub async fn start(settings: Settings, items: Vec<Item>) -> Result<Self, StartError> {
        let Settings { at, speed, lengths, server, tempo, hosted, follows } = settings;
        let workloads = server.workloads;
        let lengths = Arc::new(lengths);
        let (server, clock) = Self::server(at, server)?;
        if hosted.is_some() {
            management::define(&server).map_err(StartError::Definition)?;
        }
        let stocked = stock::stock(&server, &clock, items).map_err(StartError::Refused)?;
        let mut parts = JoinSet::new();
        let guests = match &hosted {
            Some(asked) => {
                let played = management::run(&server, &clock, &lengths, &mut parts);
                played.settle(&server, &clock, asked).await.map_err(StartError::Refused)?
            }
            None => Guests::default(),
        };
        // After the objects, which stand for what has happened before the product was installed.
        shipped::install(&server, workloads, follows).map_err(StartError::Definition)?;
        let work = Work::default();
        let client = Client::new(work.attend(server.service_as(OPERATOR, ACCOUNTS)), "default");
        let settings = duties(&tempo, workloads, follows, hosted.as_deref());
        let operator = Operator::new(client, Arc::new(clock.clone()), settings);
        let view = operator.view();
        let site = Site {
            server: server.clone(),
            clock: Arc::new(clock.clone()),
            lengths,
            nodes: Mirror::default(),
            pools: Mirror::default(),
            operator: view.clone(),
        };
        let (pods, maps) = (Mirror::default(), Mirror::default());
        let (versions, configs, operators) =
            (Mirror::default(), Mirror::default(), Mirror::default());
        let masters = ["system:masters", "system:authenticated"];
        for (mirror, path) in [
            (&site.nodes, Resource::of(&kinds::NODE).collection(None)),
            (&site.pools, Resource::of(&kinds::MACHINE_CONFIG_POOL).collection(None)),
            (&pods, POD.collection(None)),
            (&maps, CONFIG_MAP.collection(Some(dial::NAMESPACE))),
            (&versions, Resource::of(&kinds::CLUSTER_VERSION).collection(None)),
            (&configs, Resource::of(&kinds::MACHINE_CONFIG).collection(None)),
            (&operators, control_plane::OPERATOR.collection(None)),
        ] {
            let cluster = site.cluster("tidegate-sandbox", &masters);
            let keeping = mirror.clone().keep(cluster, Collection::of(path));
            parts.spawn(ending(keeping, "a mirror"));
        }
        parts.spawn(async {
            match operator.run(std::future::pending()).await {
                Ok(()) => {}
                Err(error) => tracing::error!(%error, "the operator failed"),
            }
            "the operator"
        });
        if workloads == Workloads::Served {
            let (rolled, sets) = (Mirror::default(), Mirror::default());
            for (mirror, kind) in [(&rolled, deployments::DEPLOYMENTS), (&sets, deployments::SETS)]
            {
                let cluster = site.cluster("tidegate-sandbox", &masters);
                let keeping = mirror.clone().keep(cluster, Collection::of(kind.collection(None)));
                parts.spawn(ending(keeping, "a mirror"));
            }
            let controller = Controller {
                cluster: site.cluster(deployments::USER, &masters),
                deployments: rolled,
                sets,
                pods: pods.clone(),
            };
            parts.spawn(ending(controller.run(), "whoever rolls Deployments out"));
        }
        let nursery = Nursery {
            cluster: site.cluster("system:kube-controller-manager", &masters),
            lengths: Arc::clone(&site.lengths),
            pods,
            nodes: site.nodes.clone(),
            workloads,
        };
        parts.spawn(ending(nursery.run(), "whoever looks after pods"));
        let installer = Installer {
            cluster: site.cluster(control_plane::USER, &masters),
            lengths: Arc::clone(&site.lengths),
            follows,
            versions,
            pools: site.pools.clone(),
            nodes: site.nodes.clone(),
            configs,
            operators,
        };
        parts.spawn(ending(installer.run(), "whoever installs releases"));
        parts.spawn(ending(site.clone().run(), "the nodes"));
        // A node that cannot join keeps nobody waiting.
        let _ = timeout(JOINING, joined(&site)).await;
        let dial = Dial::new(clock, speed);
        let cluster = site.cluster("tidegate-sandbox", &masters);
        let told = dial.tell(&cluster).await.map_err(StartError::Clock)?;
        parts.spawn(ending(dial.clone().follow(cluster, maps, told), "the hand on the clock"));
        parts.spawn(ending(dial.clone().pace(work), "the pace of the clock"));
        Ok(Self { server, dial, view, stocked, guests, parts })
    }

    /// The server.
    pub fn api_server(&self) -> &Server {
        &self.server
    }

    /// A client with the rights of an administrator.
    pub fn client(&self) -> Client {
        Client::new(self.server.service(), "default")
    }

    /// The clock that everything follows. It is turned by [`Sandbox::dial`].
    pub fn clock(&self) -> &SetClock {
        self.dial.clock()
    }

    /// The hand on the clock.
    pub fn dial(&self) -> &Dial {
        &self.dial
    }

    /// What the operator knows and has counted.
    pub fn view(&self) -> &View {
        &self.view
    }

    /// What came of the objects it was started with.
    pub fn stocked(&self) -> &Stocked {
        &self.stocked
    }

    /// The clusters that it hosts.
    pub fn guests(&self) -> &Guests {
        &self.guests
    }

    /// Waits until a part fails, which none ever should, and names it.
    pub async fn failed(&mut self) -> &'static str {
        match self.parts.join_next().await {
            Some(Ok(part)) => part,
            Some(Err(_)) => "a part that panicked",
            None => "everything",
        }
    }
}

/// What the operator does there.
fn duties(
    tempo: &Tempo,
    workloads: Workloads,
    follows: Follows,
    hosted: Option<&[Value]>,
) -> operator::Settings {
    let probes = (workloads == Workloads::Served).then(|| names::PROBE.to_owned());
    let alone = operator::Settings::alone("sandbox");
    let alone = operator::Settings { tempo: *tempo, probes, ..alone };
    let settings = match follows {
        Follows::Marks => alone.with(Pools::Managed).starting_updates(),
        Follows::Wishes => alone.starting_queued_updates(),
    };
    if hosted.is_some() { settings.starting_hosted() } else { settings }
}

async fn ending(part: impl Future<Output = ()>, name: &'static str) -> &'static str {
    part.await;
    name
}

/// Waits until every node that belongs to a pool runs something.
async fn joined(site: &Site) {
    let (mut nodes, mut pools) = (site.nodes.changes(), site.pools.changes());
    loop {
        nodes.mark_seen();
        pools.mark_seen();
        let known: Vec<SeenPool> = collected(&site.pools, SeenPool::new);
        let machines: Vec<SeenNode> = collected(&site.nodes, SeenNode::new);
        let listed = !nodes.is_fresh() && !pools.is_fresh();
        let waits = |node: &SeenNode| {
            node.current.is_empty() && matches!(membership(node, &known), Membership::Of(_))
        };
        if listed && !machines.iter().any(waits) {
            return;
        }
        tokio::select! {
            biased;
            () = nodes.changed() => {}
            () = pools.changed() => {}
        }
    }
}

fn collected<T>(mirror: &Mirror, read: fn(&Value) -> T) -> Vec<T> {
    mirror.objects().values().map(|object| read(object)).collect()
}
