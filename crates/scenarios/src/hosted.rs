//! Which words may a script use about hosted clusters? And who plays HyperShift: the one of the sandbox, decided by the same function, at the
//! times of the script.
//!
//! A script has its own time and its server another, so what refuses steps of machines is not installed here. `capi steps` asks what the server would
//! read instead: the windows in the status of the derived gate (RCH-2, RCH-8). Sandbox and real servers have the policy itself.

use std::fmt::Write as _;

use api::{kinds, names};
use schedule::Zone;
use serde_json::{Value, json};
use sim::{
    Lengths,
    control_plane::plan::image,
    hosted::plan::{self, Around},
};
use tidegate_core::{
    document::key::Key,
    hosted::project::{Projected, project},
};

use super::{
    live::{Deployments, Live},
    resources::{resource, stanza_of},
};

/// Runs a command; gives back what it shows.
pub(crate) async fn run(words: &[&str], live: &mut Live) -> Result<String, String> {
    match words {
        ["manage", "hosted"] => live.manage_hosted(),
        ["hypershift", "plays"] => *live.hypershift() = Some(Deployments::new()),
        ["hosted", "cluster", called, "at", version, stanza @ ..] => {
            let name = called.replace('/', "-");
            let made = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}});
            // One that an earlier script made is as good.
            let _ = live.ask("POST", "/api/v1/namespaces", &made).await;
            let mut host = resource(&format!("hc/{called}"), &stanza_of(stanza)?)?;
            host["spec"]["release"] = json!({"image": tagged(version)});
            live.apply(&host).await?;
        }
        [
            "hosted",
            "pool",
            called,
            "of",
            cluster,
            "with",
            count,
            "nodes",
            "at",
            version,
            stanza @ ..,
        ] => {
            let mut pool = resource(&format!("np/{called}"), &stanza_of(stanza)?)?;
            pool["spec"]["clusterName"] = json!(cluster);
            pool["spec"]["replicas"] = json!(count.parse::<i64>().map_err(|e| e.to_string())?);
            pool["spec"]["release"] = json!({"image": tagged(version)});
            live.apply(&pool).await?;
        }
        ["want", called, version] => {
            let change = json!({"spec": {"release": {"image": tagged(version)}}});
            live.change(called, "", &change).await?;
        }
        ["projected", called] => return projected(called, live).await,
        ["capi", "steps", called, count] => {
            return steps(called, count.parse().map_err(|_| "how many?")?, live).await;
        }
        _ => return Err("no such command".into()),
    }
    Ok(String::new())
}

/// An image by digest, with its version beside it.
fn tagged(version: &str) -> String {
    image(version).replacen('@', &format!(":{version}@"), 1)
}

/// What whoever is inside sees (HOST-2).
async fn projected(called: &str, live: &Live) -> Result<String, String> {
    let host = live.get(&format!("hc/{called}")).await?;
    let mut pools = live.list(&kinds::NODE_POOL).await;
    for pool in &mut pools {
        // The items of a list need not say what they are.
        pool["kind"] = json!(names::NODE_POOL);
    }
    let document = project(&host, &pools);
    let mut shown = String::new();
    let desired = document["status"]["desired"]["version"].as_str().unwrap_or("-");
    let _ = writeln!(shown, "desired {desired}");
    for condition in document["status"]["conditions"].as_array().into_iter().flatten() {
        let text = |field: &str| condition[field].as_str().unwrap_or("-");
        let _ = writeln!(
            shown,
            "{}={} {}: {}",
            text("type"),
            text("status"),
            text("reason"),
            text("message")
        );
    }
    let told = Projected::read(&document).ok_or("it is no projection")?;
    let key = Key::new(&kinds::CLUSTER_VERSION, None, names::THE_CLUSTER);
    let reason = told.explain(key.object(), live.now());
    for gate in reason.because.iter().flat_map(|from| &from.because) {
        let until = gate.until.map_or_else(String::new, |until| format!(" until {until}"));
        let _ = writeln!(shown, "{}{until}: {}", gate.verdict.as_str(), gate.text(&Zone::utc()));
    }
    Ok(shown)
}

/// Cluster API replaces machines, one step at a time, for as long as the server would let it.
async fn steps(called: &str, count: usize, live: &mut Live) -> Result<String, String> {
    let pool = live.get(&format!("np/{called}")).await?;
    let cluster = pool["spec"]["clusterName"].as_str().unwrap_or_default();
    let namespace = pool["metadata"]["namespace"].as_str().unwrap_or_default();
    let name = pool["metadata"]["name"].as_str().unwrap_or_default();
    let gate = Key::new(&kinds::CHANGE_GATE, Some(&format!("{namespace}-{cluster}")), name);
    let world = live.snapshot().await;
    let seen = world.resource(&gate).ok_or("nothing holds its steps")?;
    let opens = seen.window_of_the_server(live.now()).is_some();
    let deployments = live.hypershift().as_mut().ok_or("nobody plays HyperShift")?;
    let deployment = deployments.get_mut(called).ok_or("nothing was handed over")?;
    let wanted = deployment["spec"]["replicas"].as_u64().unwrap_or_default();
    let mut updated = deployment["status"]["updatedReplicas"].as_u64().unwrap_or_default();
    for _ in 0..count {
        if updated == wanted {
            break;
        }
        if !opens {
            return Ok(format!("refused, held by {gate}: {updated} of {wanted} have it\n"));
        }
        updated += 1;
        deployment["status"]["updatedReplicas"] = json!(updated);
    }
    Ok(format!("{updated} of {wanted} have it\n"))
}

/// Whoever runs hosted clusters does what is to be done, if somebody plays it.
pub(crate) async fn turn(live: &mut Live) {
    /// A release has fewer steps than that.
    const STEPS: usize = 20;
    for _ in 0..STEPS {
        if live.hypershift().is_none() || !once(live).await {
            return;
        }
    }
    panic!("whoever runs hosted clusters never rests");
}

/// One look at everything; whether anything was done.
async fn once(live: &mut Live) -> bool {
    let mut acted = false;
    let hosts = live.list(&kinds::HOSTED_CLUSTER).await;
    for host in &hosts {
        if let (Some(status), _) = plan::cluster(host, live.now(), &Lengths::default()) {
            write(live, &format!("hc/{}", place(host)), "/status", &status).await;
            acted = true;
        }
    }
    for pool in live.list(&kinds::NODE_POOL).await {
        let at = place(&pool);
        let namespace = &pool["metadata"]["namespace"];
        let host = hosts.iter().find(|host| {
            host["metadata"]["name"] == pool["spec"]["clusterName"]
                && host["metadata"]["namespace"] == *namespace
        });
        let Some(host) = host else { continue };
        let known = live.hypershift().as_ref().and_then(|all| all.get(&at).cloned());
        let around = Around { host, configs: Some(&[]), deployment: known.as_ref() };
        let plan = plan::pool(&pool, around);
        let handed = plan.create.or_else(|| Some(handed(known?, &plan.patch?)));
        if let Some(mut deployment) = handed {
            if deployment["status"].is_null() {
                // Creation is not held: all are there.
                told(&mut deployment, true);
            }
            acted = true;
            if let Some(all) = live.hypershift() {
                all.insert(at.clone(), deployment);
            }
        }
        for (part, change) in [("", plan.noted), ("/status", plan.status)] {
            if let Some(change) = change {
                write(live, &format!("np/{at}"), part, &change).await;
                acted = true;
            }
        }
    }
    acted
}

fn place(object: &Value) -> String {
    let text = |field: &str| object["metadata"][field].as_str().unwrap_or_default();
    format!("{}/{}", text("namespace"), text("name"))
}

/// A deployment with what HyperShift changes of it: another template is another machine.
fn handed(mut deployment: Value, change: &Value) -> Value {
    let before = deployment["spec"]["template"].clone();
    for field in ["replicas", "strategy", "template"] {
        if let Some(wanted) = change["spec"].get(field) {
            deployment["spec"][field] = wanted.clone();
        }
    }
    let same = deployment["spec"]["template"] == before;
    told(&mut deployment, same);
    deployment
}

/// What Cluster API tells: all machines are there, with the template or without it.
fn told(deployment: &mut Value, updated: bool) {
    let wanted = deployment["spec"]["replicas"].clone();
    let updated = if updated { wanted.clone() } else { json!(0) };
    // It has looked at what it tells of.
    deployment["metadata"]["generation"] = json!(1);
    deployment["status"] = json!({"replicas": wanted, "availableReplicas": wanted, "updatedReplicas": updated,
        "observedGeneration": 1});
}

async fn write(live: &mut Live, called: &str, part: &str, change: &Value) {
    let written = live.change(called, part, change).await;
    // The operator was faster: what is there then is looked at anew.
    assert!(written.as_ref().err().is_none_or(|why| why.contains("modified")), "{written:?}");
}
