//! `tidegate sandbox`: how does all this feel on a cluster, without one?
//!
//! One process, nothing installed: a simulated cluster on loopback whose nodes run the real agent, the operator that looks after it,
//! one clock for everything, and a kubeconfig that leads there.

mod clock;
mod guests;
mod kubeconfig;
mod live;
mod load;
mod tour;

use std::{
    fmt::Write as _,
    io::Write as _,
    net::{Ipv4Addr, SocketAddr},
    path::{Path, PathBuf},
    sync::mpsc,
};

use anyhow::{Context as _, bail};
use api::names;
use apiserver::{Listener, Server};
use clap::{Args, FromArgMatches as _, Subcommand};
use console::Doors;
use front::Protection;
use schedule::Instant;
use serde_json::json;
use sim::{
    Lengths, Sandbox, Settings, StartError,
    dial::{Dial, FASTEST},
    example,
    stock::Item,
};
use tidegate_core::policy::read::Policy;
use tokio::{
    net::TcpListener,
    signal::unix::{Signal, SignalKind, signal},
    sync::oneshot,
};

use self::{
    guests::Inside,
    kubeconfig::{Kubeconfig, Wanted},
};
use super::{Listed, Verb};
use crate::{
    args::{At, Sources},
    edge::{Edge, Seat},
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
        more: "Fifteen nodes in four pools run the real agent, on hosts that only record what the agent does to them. Deployments are rolled out as in any \
               cluster, and in the namespace shop a gate holds that. The sandbox listens on loopback \
               only, for whoever has its kubeconfig, and keeps nothing when it ends. It prints one line to standard output when it is ready; \
               Ctrl-C ends it. You can set its clock from another terminal: tidegate sandbox clock --help.\n\n\
               Examples:\n  \
               tidegate sandbox\n  \
               tidegate sandbox --tour\n  \
               tidegate sandbox --at 2026-11-20T23:00:00Z --speed 600\n  \
               tidegate sandbox -f policies/\n  \
               tidegate sandbox --load must-gather/\n  \
               tidegate sandbox --hosted --tour\n  \
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
#[expect(clippy::struct_excessive_bools, reason = "flags of a command line")]
struct Arguments {
    #[command(subcommand)]
    part: Option<Part>,

    #[command(flatten)]
    sources: Sources,
    #[command(flatten)]
    at: At,

    /// Start with the definitions only, without operator and nodes; otherwise the sandbox loads the policies named, or a few examples
    #[arg(long, conflicts_with_all = ["files", "paths", "load"])]
    empty: bool,

    /// Take the objects of a cluster instead of the simulated one: a must-gather, or what kubectl get -o yaml printed
    #[arg(long, value_name = "PATH")]
    load: Option<PathBuf>,

    /// Host clusters of two teams instead: control planes, pools of nodes, and policies of each team
    #[arg(long, conflicts_with_all = ["empty", "load", "files", "paths"])]
    hosted: bool,

    /// Lead through the product in five minutes: a window, a change that waits for it, a Deployment that does, a freeze, an override, and the way back
    #[arg(long, conflicts_with_all = ["empty", "load", "files", "paths", "speed"])]
    tour: bool,

    /// Print lines, also on a terminal, where otherwise a live view is shown
    #[arg(long, conflicts_with = "tour")]
    plain: bool,

    /// Sandbox seconds per real second, 3600 at most; 0 stops the clock
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(..=i64::from(FASTEST)))]
    speed: u32,

    /// Random seed of the lengths of boots and drains
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,

    /// Where to write the kubeconfig [default: a file in a folder of your own]
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
        Arguments { load: Some(_), .. } | Arguments { hosted: true, .. } => Loaded::default(),
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
    } else if args.hosted {
        items.extend(example::hosted::objects(begins(args, edge)));
    } else if !args.empty {
        let named = |policy: &Policy| {
            policy.object.name.clone().filter(|_| policy.object.namespace.is_none())
        };
        let known: Vec<String> = policies.iter().filter_map(named).collect();
        let at = begins(args, edge);
        items.extend(example::objects(at, &known));
        items.extend(example::owners(at, &known));
    }
    if fails {
        return Ok(Output { text: String::new(), talk, exit: Exit::Failure });
    }
    edge.stderr.write_all(talk.as_bytes())?;
    if args.empty {
        runtime()?.block_on(serve_empty(args, edge))?;
    } else if args.tour {
        beside(args, edge, items, if args.hosted { tour::lead_hosted } else { tour::lead })?;
    } else if edge.seat == Seat::Terminal && !args.plain {
        beside(args, edge, items, live::show)?;
    } else {
        let setting = Setting::of(args, edge)?;
        let told = |open: Open| open.announce(edge);
        runtime()?.block_on(serve(setting, items, told, std::future::pending()))?;
    }
    Ok(Output::done(""))
}

fn runtime() -> std::io::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_current_thread().enable_all().build()
}

/// When a sandbox begins.
fn begins(args: &Arguments, edge: &Edge) -> Instant {
    let usual = if args.tour { Instant::parse(tour::BEGINS).ok() } else { None };
    args.at.given().or(usual).unwrap_or(edge.now)
}

/// Runs the sandbox on a thread of its own, and beside it what a person sits at, which waits as people do.
fn beside(
    args: &Arguments,
    edge: &mut Edge,
    items: Vec<Item>,
    sit: fn(&Open, &mut Edge) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let setting = Setting::of(args, edge)?;
    let (tell, told) = mpsc::channel();
    let (end, ended) = oneshot::channel::<()>();
    let serving = std::thread::spawn(move || -> anyhow::Result<()> {
        // Whoever listens is there until this thread ends.
        let tell = |open: Open| tell.send(open).context("nobody listens");
        let ended = async {
            // One who is gone wants what one who has spoken wants.
            let _ = ended.await;
        };
        runtime()?.block_on(serve(setting, items, tell, ended))
    });
    // Nothing is told if it failed before it was open; then there is a reason below.
    let sat = match told.recv() {
        Ok(open) => open.announce(edge).and_then(|()| sit(&open, edge)),
        Err(_) => Ok(()),
    };
    // Nobody listens if it has ended already.
    let gone = end.send(()).is_err();
    let Ok(served) = serving.join() else { bail!("the sandbox panicked") };
    served?;
    // Whoever sat there saw it go when somebody ended it by a signal: that is no failure.
    if gone { Ok(()) } else { sat }
}

/// What a sandbox is started with.
struct Setting {
    settings: Settings,
    port: u16,
    kubeconfig: Wanted,
    loads: bool,
    doors: Doors,
}

impl Setting {
    fn of(args: &Arguments, edge: &Edge) -> anyhow::Result<Self> {
        let settings = Settings {
            speed: args.speed,
            lengths: Lengths { seed: args.seed, ..Lengths::default() },
            ..Settings::starting_at(begins(args, edge))
        };
        // Somebody's own objects may be pods without what they belong to: where the server knew such kinds, it would collect them as garbage.
        let settings = match args {
            Arguments { load: Some(_), .. } => settings,
            Arguments { hosted: true, .. } => {
                settings.with_workloads().hosting(example::hosted::asked())
            }
            Arguments { .. } => settings.with_workloads(),
        };
        Ok(Self {
            settings,
            port: args.port,
            kubeconfig: Wanted::of(args.kubeconfig.as_deref(), edge)?,
            loads: args.load.is_some(),
            doors: Doors::new(edge.chance),
        })
    }
}

/// A sandbox that runs, as those see it who come in.
struct Open {
    /// Where it listens.
    address: SocketAddr,
    /// The kubeconfig that leads there.
    kubeconfig: PathBuf,
    /// Where metrics are served.
    metrics: SocketAddr,
    /// Where the console is.
    console: Entrance,
    /// The hand on its clock.
    dial: Dial,
    /// What was loaded, for people.
    summary: String,
    /// The clusters that it hosts.
    guests: Vec<Inside>,
}

impl Open {
    fn announce(&self, edge: &mut Edge) -> anyhow::Result<()> {
        edge.stderr.write_all(self.summary.as_bytes())?;
        let ways =
            Ways { metrics: self.metrics, console: &self.console.link()?, guests: &self.guests };
        announce(self.address, &self.kubeconfig, &hints(&self.kubeconfig, Some(&ways)), edge)
    }
}

/// Where the console of a sandbox is, and who lets people in.
struct Entrance {
    address: SocketAddr,
    doors: Doors,
}

impl Entrance {
    /// An address that lets one in, once.
    fn link(&self) -> anyhow::Result<String> {
        let code = self.doors.code().context("the system gives no chance")?;
        Ok(format!("http://{}/#{code}", self.address))
    }
}

/// Says that a sandbox is there, and how to look at it.
fn announce(
    address: SocketAddr,
    kubeconfig: &Path,
    hints: &str,
    edge: &mut Edge,
) -> anyhow::Result<()> {
    writeln!(edge.stdout, "ready: http://{address} kubeconfig={}", kubeconfig.display())?;
    edge.stdout.flush()?;
    Ok(edge.stderr.write_all(hints.as_bytes())?)
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
    let wanted = Wanted::of(args.kubeconfig.as_deref(), edge)?;
    let door = Door::open(&server, args.port, &wanted).await?;
    let mut end = End::new()?;
    let path = door.kubeconfig.path();
    announce(door.listener.address(), path, &hints(path, None), edge)?;
    tokio::select! {
        ended = door.listener.run() => ended.context("cannot answer any more"),
        () = end.come() => Ok(()),
    }
}

/// Runs a simulated cluster until somebody ends it, and tells once when it is there.
async fn serve(
    setting: Setting,
    items: Vec<Item>,
    tell: impl FnOnce(Open) -> anyhow::Result<()>,
    ended: impl Future<Output = ()>,
) -> anyhow::Result<()> {
    let Setting { settings, port, kubeconfig, loads, doors } = setting;
    let mut sandbox = match Sandbox::start(settings, items).await {
        Ok(sandbox) => sandbox,
        Err(StartError::Refused(refused)) => bail!(load::refusals(&refused)),
        Err(error) => return Err(error.into()),
    };
    let door = Door::open(sandbox.api_server(), port, &kubeconfig).await?;
    // They are open for as long as this is there.
    let (_inner, guests) = guests::Doors::open(sandbox.guests(), &kubeconfig).await?;
    let metrics = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await;
    let metrics = metrics.context("cannot listen for metrics on 127.0.0.1")?;
    let console = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await;
    let console = console.context("cannot listen for browsers on 127.0.0.1")?;
    let desk = sim::desk::desk(&sandbox);
    let mut end = End::new()?;
    tell(Open {
        address: door.listener.address(),
        kubeconfig: door.kubeconfig.path().to_owned(),
        metrics: metrics.local_addr()?,
        console: Entrance { address: console.local_addr()?, doors: doors.clone() },
        dial: sandbox.dial().clone(),
        summary: if loads { load::summary(sandbox.stocked()) } else { String::new() },
        guests,
    })?;
    let view = sandbox.view().clone();
    let metrics = apiserver::answer_locally(metrics, move |request| {
        operator::serve::answer(request.method(), request.uri().path(), &view)
    });
    let watching = desk.clone();
    let showing = console::serve(
        console,
        Protection::Clear,
        console::Entrance::Loopback,
        (desk, doors),
        std::future::pending(),
    );
    tokio::select! {
        () = watching.watch() => bail!("the console knows nothing any more"),
        () = showing => bail!("the console ended by itself"),
        ended = door.listener.run() => ended.context("cannot answer any more"),
        ended = metrics => ended.context("cannot answer any more"),
        part = sandbox.failed() => bail!("{part} ended by itself"),
        () = end.come() => Ok(()),
        () = ended => Ok(()),
    }
}

/// Where others come in: a port, and the kubeconfig that leads there. It goes away with this.
struct Door {
    listener: Listener,
    kubeconfig: Kubeconfig,
}

impl Door {
    async fn open(server: &Server, port: u16, wanted: &Wanted) -> anyhow::Result<Self> {
        let listener = server
            .listen(port, wanted.access())
            .await
            .with_context(|| format!("cannot listen on port {port} of 127.0.0.1"))?;
        let kubeconfig = wanted.write(listener.address())?;
        Ok(Self { listener, kubeconfig })
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

/// Where a sandbox is seen beside its API.
struct Ways<'a> {
    metrics: SocketAddr,
    console: &'a str,
    guests: &'a [Inside],
}

/// What is worth a look by kubectl.
fn look(guests: &[Inside]) -> &'static str {
    if guests.is_empty() {
        "cmp,mcp,nodes"
    } else {
        "hcmp,hostedclusters,nodepools --all-namespaces"
    }
}

/// How to look at what runs.
fn hints(kubeconfig: &Path, ways: Option<&Ways<'_>>) -> String {
    let path = kubeconfig.display();
    let kubectl = format!("kubectl --kubeconfig {path}");
    let mut text = String::new();
    let mut line = |what: &str, how: &str| {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "  {what:<9}{how}");
    };
    match ways {
        None => line("look:", &format!("{kubectl} get cmp,hcmp --all-namespaces")),
        Some(Ways { metrics, console, guests }) => {
            line("console:", console);
            line("look:", &format!("{kubectl} get {}", look(guests)));
            line("ask:", &format!("tidegate status --kubeconfig {path}"));
            if guests.is_empty() {
                line("", &format!("tidegate worker-nodes status --kubeconfig {path}"));
            }
            for (number, Inside { kubeconfig, .. }) in guests.iter().enumerate() {
                let what = if number == 0 { "inside:" } else { "" };
                line(what, &format!("tidegate status --kubeconfig {}", kubeconfig.display()));
            }
            line("clock:", &format!("tidegate sandbox clock --kubeconfig {path} step 2h"));
            line("metrics:", &format!("http://{metrics}/metrics"));
        }
    }
    line("end:", "Ctrl-C");
    text
}
