//! How long does a virtual year take? One controller, one object, a reconcile each half hour with a status write:
//! `cargo run --release --example year`.

use std::{io::Write as _, sync::Arc, time::Duration};

use apiserver::{RuntimeClock, Server, Settings};
use futures_util::StreamExt;
use kube::{
    Api, Client, CustomResource, CustomResourceExt, ResourceExt,
    api::{Patch, PatchParams, PostParams},
    runtime::{Controller, controller::Action, watcher},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

#[derive(CustomResource, Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[kube(group = "example.com", version = "v1", kind = "Window", namespaced, status = "WindowStatus")]
struct WindowSpec {
    minutes: i32,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
struct WindowStatus {
    changes: i64,
}

struct World {
    client: Client,
    start: tokio::time::Instant,
}

async fn reconcile(window: Arc<Window>, world: Arc<World>) -> Result<Action, kube::Error> {
    let half_hours = world.start.elapsed().as_secs() / 1_800;
    let api: Api<Window> = Api::namespaced(world.client.clone(), "default");
    let status = json!({"status": {"changes": half_hours}});
    api.patch_status(&window.name_any(), &PatchParams::default(), &Patch::Merge(&status)).await?;
    let next = (half_hours + 1) * 1_800 - world.start.elapsed().as_secs();
    Ok(Action::requeue(Duration::from_secs(next)))
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let real = std::time::Instant::now();
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build()?;
    let changes = runtime.block_on(async {
        let clock = RuntimeClock::starting_at("2026-01-01T00:00:00Z".parse()?);
        let settings = Settings { bookmarks: None, watch_limit: None, ..Settings::default() };
        let client = Client::new(Server::new(clock, settings).service(), "default");
        Api::all(client.clone()).create(&PostParams::default(), &Window::crd()).await?;
        let api: Api<Window> = Api::namespaced(client.clone(), "default");
        api.create(&PostParams::default(), &Window::new("hourly", WindowSpec { minutes: 30 }))
            .await?;
        let world = Arc::new(World { client, start: tokio::time::Instant::now() });
        let watching = watcher::Config::default().timeout(0);
        let controller = Controller::new(api.clone(), watching)
            .run(reconcile, |_, _, _| Action::requeue(Duration::from_secs(5)), world)
            .for_each(|_| async {});
        let task = tokio::spawn(controller);
        tokio::time::sleep(Duration::from_hours(24 * 365)).await;
        task.abort();
        let changes = api.get("hourly").await?.status.unwrap_or_default().changes;
        Ok::<_, Box<dyn std::error::Error>>(changes)
    })?;
    writeln!(std::io::stdout(), "a virtual year, {changes} changes: {:?}", real.elapsed())?;
    Ok(())
}
