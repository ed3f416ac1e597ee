//! Does an unmodified `kube` controller run on the in-process service, in virtual time?

use std::{
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use apiserver::{RuntimeClock, Server, Settings};
use futures_util::StreamExt;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::{
    Api, Client, CustomResource, CustomResourceExt, ResourceExt,
    api::{DeleteParams, Patch, PatchParams, PostParams},
    runtime::{
        Controller,
        controller::Action,
        finalizer::{Event, finalizer},
        wait::await_condition,
        watcher,
    },
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

#[derive(CustomResource, Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[kube(group = "example.com", version = "v1", kind = "Gadget", namespaced, status = "GadgetStatus")]
struct GadgetSpec {
    size: i32,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
struct GadgetStatus {
    observed: i32,
}

#[derive(Debug, thiserror::Error)]
enum Failure {
    #[error("the server refused")]
    Kube(#[from] kube::Error),
    #[error("the finalizer failed")]
    Finalizer(#[source] Box<dyn std::error::Error + Send + Sync>),
}

struct World {
    client: Client,
    runs: AtomicU32,
}

async fn reconcile(gadget: Arc<Gadget>, world: Arc<World>) -> Result<Action, Failure> {
    world.runs.fetch_add(1, Ordering::Relaxed);
    let api: Api<Gadget> = Api::namespaced(world.client.clone(), "default");
    finalizer(&api, "example.com/clean", gadget, |event| async {
        if let Event::Apply(gadget) = event {
            let status = json!({"apiVersion": "example.com/v1", "kind": "Gadget",
                                "status": {"observed": gadget.spec.size}});
            let parameters = PatchParams::apply("gadgets").force();
            api.patch_status(&gadget.name_any(), &parameters, &Patch::Apply(&status)).await?;
            let child = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {
                "name": gadget.name_any(), "ownerReferences": [{"apiVersion": "example.com/v1", "kind": "Gadget",
                "name": gadget.name_any(), "uid": gadget.uid().unwrap_or_default()}]}, "data": {"made": "yes"}});
            let children: Api<ConfigMap> = Api::namespaced(world.client.clone(), "default");
            children.patch(&gadget.name_any(), &parameters, &Patch::Apply(&child)).await?;
        }
        Ok::<_, kube::Error>(Action::requeue(Duration::from_hours(1)))
    })
    .await
    .map_err(|e| Failure::Finalizer(Box::new(e)))
}

#[tokio::test(start_paused = true)]
async fn unmodified_controller_runs_a_virtual_day() {
    let clock = RuntimeClock::starting_at("2026-03-01T00:00:00Z".parse().unwrap());
    let server = Server::new(clock, Settings::default());
    let client = Client::new(server.service(), "default");
    let definitions = Api::all(client.clone());
    definitions.create(&PostParams::default(), &Gadget::crd()).await.unwrap();
    let api: Api<Gadget> = Api::namespaced(client.clone(), "default");
    let world = Arc::new(World { client: client.clone(), runs: AtomicU32::new(0) });
    let seen = Arc::clone(&world);
    let controller = Controller::new(api.clone(), watcher::Config::default())
        .owns(Api::<ConfigMap>::namespaced(client.clone(), "default"), watcher::Config::default())
        .run(reconcile, |_, _, _| Action::requeue(Duration::from_secs(5)), world)
        .for_each(|_| async {});
    let task = tokio::spawn(controller);

    api.create(&PostParams::default(), &Gadget::new("one", GadgetSpec { size: 7 })).await.unwrap();
    let ready =
        |g: Option<&Gadget>| g.and_then(|g| g.status.as_ref()).is_some_and(|s| s.observed == 7);
    tokio::time::timeout(Duration::from_mins(1), await_condition(api.clone(), "one", ready))
        .await
        .unwrap()
        .unwrap();

    tokio::time::sleep(Duration::from_hours(24)).await;
    let runs = seen.runs.load(Ordering::Relaxed);
    assert!((24..40).contains(&runs), "one run each hour, and the first few: {runs}");

    api.delete("one", &DeleteParams::default()).await.unwrap();
    let gone = |g: Option<&Gadget>| g.is_none();
    tokio::time::timeout(Duration::from_mins(1), await_condition(api.clone(), "one", gone))
        .await
        .unwrap()
        .unwrap();
    let children: Api<ConfigMap> = Api::namespaced(client, "default");
    assert!(children.get_opt("one").await.unwrap().is_none(), "the child went with its owner");
    task.abort();
}
