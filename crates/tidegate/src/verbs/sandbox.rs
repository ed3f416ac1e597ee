//! `tidegate sandbox`: how does all this feel on a cluster, without one?
//!
//! One process, nothing installed: a simulated cluster on loopback whose machines run the real agent, the operator that looks after it,
//! one clock for everything, and a kubeconfig that leads there.

mod clock;
mod kubeconfig;
mod load;

use std::{
    fmt::Write as _,
    io::Write as _,
    net::{Ipv4Addr, SocketAddr},
    path::{Path, PathBuf},
};

use anyhow::{Context as _, bail};
use api::names;
use apiserver::{Listener, Server};
use clap::{Args, FromArgMatches as _, Subcommand};
use serde_json::json;
use sim::{Lengths, Sandbox, Settings, StartError, example, stock::Item};
use tidegate_core::read::Policy;
use tokio::{
    net::TcpListener,
    signal::unix::{Signal, SignalKind, signal},
};

use self::kubeconfig::Kubeconfig;
use super::{Listed, Verb};
use crate::{
    args::{At, Sources},
    edge::Edge,
    output::{self, Exit, Output},
    source::{self, Loaded},
};

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
        about: "Run a simulated cluster in this process, with the operator and agents that look after it",
        more: "Fifteen machines in four pools run the real agent on hosts that only write down what is done to them. It listens on\n\
               loopback only, has no authentication, and forgets everything when it ends. One line on standard output says that it\n\
               is ready; Ctrl-C ends it. The clock can be turned from another terminal: tidegate sandbox clock --help.\n\n\
               Examples:\n  \
               tidegate sandbox\n  \
               tidegate sandbox --at 2026-11-20T23:00:00Z --speed 600\n  \
               tidegate sandbox -f policies/\n  \
               tidegate sandbox --load must-gather/\n  \
               tidegate sandbox clock step 2d\n  \
               tidegate sandbox --empty --kubeconfig sandbox.kubeconfig --port 6080 --at 2026-12-24T12:00:00Z\n  \
               kubectl --kubeconfig sandbox.kubeconfig get changemanagementpolicies",
        listed: Listed::Yes,
        args: Arguments::augment_args,
        run: |matches, edge| run(&Arguments::from_arg_matches(matches)?, edge),
    }
}

#[derive(Args, Debug)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
struct Arguments {
    #[command(subcommand)]
    part: Option<Part>,

    #[command(flatten)]
    sources: Sources,
    #[command(flatten)]
    at: At,

    /// Start with nothing but the definitions, and without operator and machines; otherwise the policies named are loaded, or a few examples
    #[arg(long, conflicts_with_all = ["files", "paths", "load"])]
    empty: bool,

    /// Take the objects of a cluster instead of the simulated one: a must-gather, or what kubectl get -o yaml printed
    #[arg(long, value_name = "PATH")]
    load: Option<PathBuf>,

    /// How many seconds of the sandbox pass in one; 0 stands still
    #[arg(long, value_name = "N", default_value_t = 1)]
    speed: u32,

    /// What the lengths of boots and drains are drawn from
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,

    /// Where to write the kubeconfig [default: a file of its own in the folder for temporary files]
    #[arg(long, value_name = "PATH")]
    kubeconfig: Option<PathBuf>,

    /// The port to listen on [default: a free one]
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    port: u16,
}

#[derive(Subcommand, Debug)]
enum Part {
    Clock(clock::Clock),
}

fn run(args: &Arguments, edge: &mut Edge) -> anyhow::Result<Output> {
    if let Some(Part::Clock(wish)) = &args.part {
        return clock::run(wish, edge);
    }
    let loaded = match args {
        Arguments { empty: true, .. } => Loaded::default(),
        Arguments { sources, .. } if sources.are_named() => sources.load(edge)?,
        Arguments { load: Some(_), .. } => Loaded::default(),
        Arguments { .. } => examples(),
    };
    let mut talk = output::problems(&loaded.findings);
    let mut fails = loaded.has_errors();
    let policies: Vec<Policy> = loaded.policies.into_iter().map(|found| found.policy).collect();
    let mut items: Vec<Item> = policies.iter().map(item).collect();
    if let Some(path) = &args.load {
        let found = load::read(path);
        talk += &output::problems(&found.findings);
        fails |= found.has_errors();
        items.extend(load::items(found)?);
    } else if !args.empty {
        let named = |policy: &Policy| {
            policy.object.name.clone().filter(|_| policy.object.namespace.is_none())
        };
        let known: Vec<String> = policies.iter().filter_map(named).collect();
        items.extend(example::objects(args.at.instant(edge), &known));
    }
    if fails {
        return Ok(Output { text: String::new(), talk, exit: Exit::Failure });
    }
    edge.stderr.write_all(talk.as_bytes())?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        if args.empty { serve_empty(args, edge).await } else { serve(args, edge, items).await }
    })?;
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

fn item(policy: &Policy) -> Item {
    let object = &policy.object;
    let mut metadata = json!({"name": object.name});
    if let Some(namespace) = &object.namespace {
        metadata["namespace"] = json!(namespace);
    }
    let document = json!({
        "apiVersion": names::API_VERSION, "kind": object.kind, "metadata": metadata, "spec": policy.spec,
    });
    Item { origin: "the policies".into(), object: document }
}

/// A server with our definitions and nothing else.
async fn serve_empty(args: &Arguments, edge: &mut Edge) -> anyhow::Result<()> {
    let (server, clock) = Sandbox::server(args.at.instant(edge), apiserver::Settings::default())?;
    clock.speed(args.speed);
    let door = Door::open(&server, args, edge).await?;
    let mut end = End::new()?;
    door.announce(edge, &hints(&door.path, None))?;
    tokio::select! {
        ended = door.listener.run() => ended.context("cannot answer any more"),
        () = end.come() => Ok(()),
    }
}

async fn serve(args: &Arguments, edge: &mut Edge, items: Vec<Item>) -> anyhow::Result<()> {
    let settings = Settings {
        speed: args.speed,
        lengths: Lengths { seed: args.seed, ..Lengths::default() },
        ..Settings::starting_at(args.at.instant(edge))
    };
    let mut sandbox = match Sandbox::start(settings, items).await {
        Ok(sandbox) => sandbox,
        Err(StartError::Refused(refused)) => bail!(load::refusals(&refused)),
        Err(error) => return Err(error.into()),
    };
    let door = Door::open(sandbox.api_server(), args, edge).await?;
    let metrics = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await;
    let metrics = metrics.context("cannot listen for metrics on 127.0.0.1")?;
    let mut end = End::new()?;
    if args.load.is_some() {
        edge.stderr.write_all(load::summary(sandbox.stocked()).as_bytes())?;
    }
    door.announce(edge, &hints(&door.path, Some(metrics.local_addr()?)))?;
    let view = sandbox.view().clone();
    tokio::select! {
        ended = door.listener.run() => ended.context("cannot answer any more"),
        ended = operator::serve::serve(metrics, view) => ended.context("cannot answer any more"),
        part = sandbox.failed() => bail!("{part} ended by itself"),
        () = end.come() => Ok(()),
    }
}

/// Where others come in: a port, and the kubeconfig that leads there. It goes away with this.
struct Door {
    listener: Listener,
    path: PathBuf,
    _kubeconfig: Kubeconfig,
}

impl Door {
    async fn open(server: &Server, args: &Arguments, edge: &Edge) -> anyhow::Result<Self> {
        let listener = server
            .listen(args.port)
            .await
            .with_context(|| format!("cannot listen on port {} of 127.0.0.1", args.port))?;
        let port = listener.address().port();
        let path = args.kubeconfig.clone();
        let path = path.unwrap_or_else(|| kubeconfig::usual(&edge.temporary, port));
        let kubeconfig = Kubeconfig::write(&path, &listener.kubeconfig())?;
        Ok(Self { listener, path, _kubeconfig: kubeconfig })
    }

    fn announce(&self, edge: &mut Edge, hints: &str) -> anyhow::Result<()> {
        let address = self.listener.address();
        writeln!(edge.stdout, "ready: http://{address} kubeconfig={}", self.path.display())?;
        edge.stdout.flush()?;
        Ok(edge.stderr.write_all(hints.as_bytes())?)
    }
}

/// How somebody ends it.
struct End {
    interrupt: Signal,
    terminate: Signal,
}

impl End {
    fn new() -> anyhow::Result<Self> {
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
        })
    }

    async fn come(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}

/// How to look at what runs.
fn hints(kubeconfig: &Path, metrics: Option<SocketAddr>) -> String {
    let path = kubeconfig.display();
    let kubectl = format!("kubectl --kubeconfig {path}");
    let mut text = String::new();
    let mut line = |what: &str, how: &str| {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "  {what:<9}{how}");
    };
    match metrics {
        None => line("look:", &format!("{kubectl} get cmp,hcmp --all-namespaces")),
        Some(metrics) => {
            line("look:", &format!("{kubectl} get cmp,mcp,nodes"));
            line("ask:", &format!("tidegate status --kubeconfig {path}"));
            line("", &format!("tidegate worker-nodes status --kubeconfig {path}"));
            line("clock:", &format!("tidegate sandbox clock --kubeconfig {path} step 2h"));
            line("metrics:", &format!("http://{metrics}/metrics"));
        }
    }
    line("end:", "Ctrl-C");
    text
}
