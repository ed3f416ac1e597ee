//! How does an unmodified kube controller run on the embedded server, in virtual time?
//!
//! Two runs, both on one thread with a paused clock: a [`year`] without faults, for its length, and a [`storm`] with all of them, whose
//! trace two processes can compare (DET-1).
//!
//! kube-runtime iterates over hash maps whose seeds the standard library draws anew in each process, and its backoff has jitter. The
//! storm keeps clear of both without touching the process: each controller has one object, so there is no order to be drawn, and waits
//! for a fixed time after an error.

use std::{sync::Arc, time::Duration};

use apiserver::{Profile, RuntimeClock, Server, Settings};
use futures_util::StreamExt as _;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::{
    Api, Client, ResourceExt as _,
    api::{DynamicObject, Patch, PatchParams, PostParams},
    core::{ApiResource, GroupVersionKind},
    runtime::{Controller, controller::Action, utils::Backoff, watcher},
};
use serde_json::json;
use tokio::{runtime::Runtime, time::Instant};

/// Why a simulation did not run.
#[derive(Debug, thiserror::Error)]
pub enum SimulationError {
    /// There is no runtime to be had.
    #[error("no runtime could be built")]
    Runtime(#[from] std::io::Error),
    /// The server refused what the simulation begins with.
    #[error("the embedded server refused the setup")]
    Refused(#[from] kube::Error),
    /// The setup is not what its types say.
    #[error("the setup is malformed")]
    Malformed(#[from] serde_json::Error),
}

/// What a storm left behind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Aftermath {
    /// A hash over every request, answer, commit and fault.
    pub trace: u64,
    /// How many commits the store counts.
    pub commits: u64,
    /// The last lines of the trace, for people.
    pub tail: Vec<String>,
}

/// Runs a controller with one hourly window for a virtual year, and tells how often the window's state was written.
pub fn year() -> Result<i64, SimulationError> {
    let settings = Settings { bookmarks: None, watch_limit: None, ..Settings::default() };
    paused()?.block_on(async {
        let world = World::new(settings);
        world.create("hourly").await?;
        let watching = watcher::Config::default().timeout(0);
        let controller = tokio::spawn(world.controller(watching));
        // A second more, so that the last change is written.
        tokio::time::sleep(Duration::from_hours(24 * 365) + Duration::from_secs(1)).await;
        controller.abort();
        let window = world.windows.get("hourly").await?;
        Ok(window.data["status"]["changes"].as_i64().unwrap_or_default())
    })
}

/// Runs four controllers and somebody who edits under them, for a virtual day, with every random fault on.
pub fn storm(seed: u64) -> Result<Aftermath, SimulationError> {
    let settings = Settings { seed, history: 50, ..Settings::default() };
    paused()?.block_on(async {
        let world = World::new(settings);
        let names = ["north", "east", "south", "west"];
        for name in names {
            world.create(name).await?;
        }
        world.server.draw_faults(foul_weather(), seed);
        let mut tasks = Vec::new();
        for name in names {
            let one = watcher::Config::default().fields(&format!("metadata.name={name}"));
            tasks.push(tokio::spawn(world.controller(one)));
        }
        for round in 0..200_u32 {
            tokio::time::sleep(Duration::from_secs(431)).await;
            let name = names[round as usize % names.len()];
            let edit = json!({ "spec": { "minutes": round % 59 } });
            // Half of the point is that this may fail.
            let _ = world.windows.patch(name, &PatchParams::default(), &Patch::Merge(&edit)).await;
        }
        for task in tasks {
            task.abort();
        }
        Ok(Aftermath {
            trace: world.server.trace_hash(),
            commits: world.server.resource_version(),
            tail: world.server.trace_tail(),
        })
    })
}

/// Every fault that can be drawn, often enough that a short storm meets all of them.
fn foul_weather() -> Profile {
    Profile {
        latency: Duration::from_millis(300),
        lose_answer: 0.03,
        conflict: 0.03,
        too_many_requests: 0.03,
        server_error: 0.03,
        cut_watch: 0.1,
        silence_watch: 0.05,
        stale_list: 0.1,
        compact: 0.01,
    }
}

fn paused() -> Result<Runtime, std::io::Error> {
    tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build()
}

/// A server with one kind, and what its controllers need.
struct World {
    server: Server,
    windows: Api<DynamicObject>,
    client: Client,
    kind: ApiResource,
    start: Instant,
}

impl World {
    fn new(settings: Settings) -> World {
        let start = jiff::Timestamp::UNIX_EPOCH;
        let server = Server::new(RuntimeClock::starting_at(start), settings);
        let client = Client::new(server.service(), "default");
        let kind = ApiResource::from_gvk(&GroupVersionKind::gvk("example.com", "v1", "Window"));
        let windows = Api::default_namespaced_with(client.clone(), &kind);
        World { server, windows, client, kind, start: Instant::now() }
    }

    /// Creates a window, and its kind before the first.
    async fn create(&self, name: &str) -> Result<(), SimulationError> {
        let definitions: Api<CustomResourceDefinition> = Api::all(self.client.clone());
        if definitions.get_opt("windows.example.com").await?.is_none() {
            definitions.create(&PostParams::default(), &definition()?).await?;
        }
        let mut window = DynamicObject::new(name, &self.kind);
        window.data = json!({ "spec": { "minutes": 30 } });
        self.windows.create(&PostParams::default(), &window).await?;
        Ok(())
    }

    fn controller(&self, watching: watcher::Config) -> impl Future<Output = ()> + use<> {
        let scene = Arc::new(Scene { windows: self.windows.clone(), start: self.start });
        Controller::new_with(self.windows.clone(), watching, self.kind.clone())
            .trigger_backoff(Steady)
            .run(reconcile, |_, _, _| Action::requeue(Duration::from_secs(5)), scene)
            .for_each(async |_| {})
    }
}

struct Scene {
    windows: Api<DynamicObject>,
    start: Instant,
}

/// Writes how often the window changed its state, and comes back when it does so again.
async fn reconcile(window: Arc<DynamicObject>, scene: Arc<Scene>) -> Result<Action, kube::Error> {
    let elapsed = scene.start.elapsed().as_secs();
    let changes = elapsed / 1_800;
    let status = json!({ "status": { "changes": changes } });
    let patch = Patch::Merge(&status);
    scene.windows.patch_status(&window.name_any(), &PatchParams::default(), &patch).await?;
    Ok(Action::requeue(Duration::from_secs((changes + 1) * 1_800 - elapsed)))
}

/// A backoff without jitter.
struct Steady;

impl Iterator for Steady {
    type Item = Duration;

    fn next(&mut self) -> Option<Duration> {
        Some(Duration::from_secs(2))
    }
}

impl Backoff for Steady {
    fn reset(&mut self) {}
}

fn definition() -> Result<CustomResourceDefinition, serde_json::Error> {
    let number = |least: i32| json!({ "type": "integer", "minimum": least });
    let fields =
        |name: &str, least| json!({ "type": "object", "properties": { name: number(least) } });
    let schema = json!({
        "type": "object", "properties": { "spec": fields("minutes", 0), "status": fields("changes", 0) },
    });
    serde_json::from_value(json!({
        "metadata": { "name": "windows.example.com" },
        "spec": {
            "group": "example.com", "scope": "Namespaced",
            "names": { "plural": "windows", "kind": "Window" },
            "versions": [{
                "name": "v1", "served": true, "storage": true, "subresources": { "status": {} },
                "schema": { "openAPIV3Schema": schema },
            }],
        },
    }))
}
