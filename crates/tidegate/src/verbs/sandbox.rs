//! `tidegate sandbox`: how does all this feel on a cluster, without one?
//!
//! One process, nothing installed: the embedded API server on loopback with our kinds in it, the operator that looks after them, one
//! clock for both, and a kubeconfig that leads there.

#[allow(dead_code)]
mod live;
#[allow(dead_code)]
mod tour;

use std::{
    fmt::Write as _,
    fs,
    io::Write as _,
    path::{Path, PathBuf},
    sync::Arc,
};

use anyhow::{Context as _, bail};
use api::{
    crds, machine, names,
    schema::{GATED, KINDS},
};
use apiserver::{Server, Settings};
use clap::{Args, FromArgMatches as _};
use http_body_util::{BodyExt as _, Full};
use kube::Client;
use operator::run::{Operator, Pools};
use runtime::clock::{Clock as _, SetClock};
use serde_json::{Value, json};
use tidegate_core::read::Policy;
use tokio::signal::unix::{SignalKind, signal};
use tower::ServiceExt as _;

use super::{Listed, Verb};
use crate::{
    args::{At, Sources},
    edge::Edge,
    output::{self, Exit, Output},
    source::{self, Loaded},
};

/// The first line of every kubeconfig this verb writes: what it may overwrite and take away again.
const MARK: &str = "# Written by tidegate sandbox; it is taken away when the sandbox ends.\n";

const EXAMPLES: &[(&str, &str)] = &[
    ("berlin-nights.yaml", include_str!("../../../../examples/berlin-nights.yaml")),
    ("freeze.yaml", include_str!("../../../../examples/freeze.yaml")),
    ("hosted.yaml", include_str!("../../../../examples/hosted.yaml")),
    (
        "monthly-first-saturday.yaml",
        include_str!("../../../../examples/monthly-first-saturday.yaml"),
    ),
    ("weekend.yaml", include_str!("../../../../examples/weekend.yaml")),
];

pub(crate) fn verb() -> Verb {
    Verb {
        name: "sandbox",
        about: "Run a small cluster in this process, with policies and the operator that looks after them",
        more: "It listens on loopback only, has no authentication, and forgets everything when it ends. One line on standard\n\
               output says that it is ready; Ctrl-C ends it.\n\n\
               Examples:\n  \
               tidegate sandbox\n  \
               tidegate sandbox -f policies/\n  \
               tidegate sandbox --empty --kubeconfig sandbox.kubeconfig --port 6080 --at 2026-12-24T12:00:00Z\n  \
               kubectl --kubeconfig sandbox.kubeconfig get changemanagementpolicies",
        listed: Listed::Yes,
        args: Sandbox::augment_args,
        run: |matches, edge| run(&Sandbox::from_arg_matches(matches)?, edge),
    }
}

#[derive(Args, Debug)]
struct Sandbox {
    #[command(flatten)]
    sources: Sources,
    #[command(flatten)]
    at: At,

    /// Start without any policy and without the operator; otherwise the policies named are loaded, or a few examples
    #[arg(long, conflicts_with_all = ["files", "paths"])]
    empty: bool,

    /// How many seconds of the sandbox pass in one; 0 stands still
    #[arg(long, value_name = "N", default_value_t = 1)]
    speed: u32,

    /// Where to write the kubeconfig [default: a file of its own in the folder for temporary files]
    #[arg(long, value_name = "PATH")]
    kubeconfig: Option<PathBuf>,

    /// The port to listen on [default: a free one]
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    port: u16,
}

fn run(args: &Sandbox, edge: &mut Edge) -> anyhow::Result<Output> {
    let loaded = match args {
        Sandbox { empty: true, .. } => Loaded::default(),
        Sandbox { sources, .. } if sources.are_named() => sources.load(edge)?,
        Sandbox { .. } => examples(),
    };
    let talk = output::problems(&loaded.findings);
    if loaded.has_errors() {
        return Ok(Output { text: String::new(), talk, exit: Exit::Failure });
    }
    let policies: Vec<Policy> = loaded.policies.into_iter().map(|found| found.policy).collect();
    edge.stderr.write_all(talk.as_bytes())?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(serve(args, edge, &policies))?;
    Ok(Output::done(""))
}

/// The policies of the examples, for a sandbox that was asked for nothing else.
fn examples() -> Loaded {
    let mut loaded = Loaded::default();
    for (name, text) in EXAMPLES {
        source::of_text(name, text, &mut loaded);
    }
    loaded
}

async fn serve(args: &Sandbox, edge: &mut Edge, policies: &[Policy]) -> anyhow::Result<()> {
    // From the one clock on, or from the instant asked for; the server and the operator share it.
    let clock = SetClock::starting_at(args.at.instant(edge));
    clock.speed(args.speed);
    let cluster = Server::new(ServerClock(clock.clone()), Settings::default());
    let ours = KINDS.iter().chain(GATED).map(crds::definition);
    for definition in ours.chain(machine::definitions::definitions()) {
        let path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
        create(&cluster, path, &definition).await?;
    }
    for policy in policies {
        load(&cluster, policy).await?;
    }
    let listener = cluster
        .listen(args.port)
        .await
        .with_context(|| format!("cannot listen on port {} of 127.0.0.1", args.port))?;
    let path = args.kubeconfig.clone().unwrap_or_else(|| {
        edge.temporary.join(format!("tidegate-sandbox-{}.kubeconfig", listener.address().port()))
    });
    let kubeconfig = Kubeconfig::write(&path, &listener.kubeconfig())?;
    let (mut interrupt, mut terminate) =
        (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
    writeln!(edge.stdout, "ready: http://{} kubeconfig={}", listener.address(), path.display())?;
    edge.stdout.flush()?;
    edge.stderr.write_all(hints(&path, policies).as_bytes())?;
    let operating = async {
        if args.empty {
            return std::future::pending().await;
        }
        let client =
            Client::new(cluster.service_as(OPERATOR, &["system:authenticated"]), "default");
        // Nobody else is here to do it.
        let settings = operator::run::Settings::alone("sandbox").with(Pools::Managed);
        Operator::new(client, Arc::new(clock), settings).run(std::future::pending()).await
    };
    tokio::select! {
        served = listener.run() => served?,
        operated = operating => operated?,
        _ = interrupt.recv() => {}
        _ = terminate.recv() => {}
    }
    drop(kubeconfig);
    Ok(())
}

/// Who the operator is to the server.
const OPERATOR: &str = "system:serviceaccount:tidegate:tidegate-operator";

/// The sandbox's clock, as the server asks it.
struct ServerClock(SetClock);

impl apiserver::Clock for ServerClock {
    fn now(&self) -> jiff::Timestamp {
        self.0.exact()
    }
}

/// How to look at what runs.
fn hints(kubeconfig: &Path, policies: &[Policy]) -> String {
    let kubectl = format!("kubectl --kubeconfig {}", kubeconfig.display());
    let mut text = format!("  look:  {kubectl} get cmp,hcmp --all-namespaces\n");
    let named =
        |policy: &Policy| policy.object.name.clone().filter(|_| policy.object.namespace.is_none());
    if let Some(name) = policies.iter().find_map(named) {
        let get = format!("get cmp {name} -o yaml");
        let _ = writeln!(text, "  ask:   {kubectl} {get} | tidegate explain -f -");
    }
    text + "  end:   Ctrl-C\n"
}

/// Creates a policy, and first the namespace it lives in.
async fn load(server: &Server, policy: &Policy) -> anyhow::Result<()> {
    let object = &policy.object;
    let plural = names::plural(&object.kind);
    let mut metadata = json!({"name": object.name});
    let mut path = format!("/apis/{}/{plural}", names::API_VERSION);
    if let Some(namespace) = &object.namespace {
        metadata["namespace"] = json!(namespace);
        path = format!("/apis/{}/namespaces/{namespace}/{plural}", names::API_VERSION);
        let wanted =
            json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}});
        if let Err(refused) = create(server, "/api/v1/namespaces", &wanted).await
            && refused.downcast_ref::<Refused>().is_none_or(|refused| refused.code != 409)
        {
            return Err(refused);
        }
    }
    let document = json!({
        "apiVersion": names::API_VERSION, "kind": object.kind, "metadata": metadata, "spec": policy.spec,
    });
    create(server, &path, &document).await.with_context(|| format!("cannot create {object}"))
}

/// The server said no.
#[derive(Debug)]
struct Refused {
    code: u16,
    message: String,
}

impl std::fmt::Display for Refused {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Refused {}

async fn create(server: &Server, path: &str, object: &Value) -> anyhow::Result<()> {
    let request = http::Request::post(path)
        .header(http::header::CONTENT_TYPE, "application/json")
        .body(Full::new(bytes::Bytes::from(serde_json::to_vec(object)?)))?;
    let answer = server.service().oneshot(request).await?;
    let code = answer.status().as_u16();
    if answer.status().is_success() {
        return Ok(());
    }
    let body = answer
        .into_body()
        .collect()
        .await
        .map(http_body_util::Collected::to_bytes)
        .unwrap_or_default();
    let status: Value = serde_json::from_slice(&body).unwrap_or_default();
    let message = status["message"].as_str().unwrap_or("the server gave no reason").to_owned();
    bail!(Refused { code, message })
}

/// A kubeconfig that goes away with the sandbox, because it leads nowhere afterwards.
struct Kubeconfig(PathBuf);

impl Kubeconfig {
    /// Writes it, but never over a file that is not ours: `--kubeconfig ~/.kube/config` must not cost anybody their clusters.
    fn write(path: &Path, text: &str) -> anyhow::Result<Self> {
        match fs::read_to_string(path) {
            Ok(there) if !there.starts_with(MARK) => bail!(
                "{} is there already and was not written by a sandbox\n  hint: name another file",
                path.display()
            ),
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(error).with_context(|| format!("cannot read {}", path.display()));
            }
            Ok(_) | Err(_) => {}
        }
        fs::write(path, format!("{MARK}{text}"))
            .with_context(|| format!("cannot write {}", path.display()))?;
        Ok(Self(path.to_owned()))
    }
}

impl Drop for Kubeconfig {
    fn drop(&mut self) {
        // Somebody may have taken it away already.
        let _ = fs::remove_file(&self.0);
    }
}
