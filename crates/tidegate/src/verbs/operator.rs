//! `tidegate operator`: who keeps the statuses true?
//!
//! In a pod, or from a laptop by a kubeconfig. One line on standard output says where it listens; the rest is log.

use std::{io::Write as _, net::SocketAddr, path::PathBuf, sync::Arc};

use anyhow::{Context as _, bail};
use clap::{Args, FromArgMatches as _, ValueEnum};
use operator::{
    Election, Operator, Pools, Proof, Settings,
    node_config::listen::{self, Protection},
    serve,
};
use runtime::{
    client::{configuration, connect},
    clock::SystemClock,
};
use tokio::{
    net::TcpListener,
    signal::unix::{SignalKind, signal},
    sync::watch,
};
use tracing::Level;

use super::{Listed, Verb};
use crate::{edge::Edge, output::Output};

/// The name of the lease that replicas share.
const LEASE: &str = "tidegate-operator";

pub(crate) fn verb() -> Verb {
    Verb {
        name: "operator",
        about: "Run the operator: keep the status of policies and gated resources up to date",
        more: "The operator reads policies and gated resources and writes their status, conditions and events. It waits for kinds that the cluster \
               does not have yet. Replicas elect a leader by a lease, and only the leader writes. With --manage-pools the operator also renders the \
               configurations of pools and rolls them out to nodes within their windows. With --manage-updates it also starts updates of the control plane: beside \
               --manage-pools it writes the annotation that a cluster version operator which knows Tidegate waits for; without --manage-pools, on a stock OpenShift, it \
               writes spec.desiredUpdate for the release that was queued in the annotation changemanagement.openshift.io/wanted-release. With --manage-hosted it does the same for hosted clusters. With --node-config it serves new nodes their configuration \
               at /config/POOL, if the API server knows their bearer token and lets them get that path, and each agent that of its own node \
               at /own/CONFIG. SIGTERM and Ctrl-C end the operator; it gives the lease back.\n\n\
               Examples:\n  \
               tidegate operator --kubeconfig sandbox.kubeconfig\n  \
               tidegate operator --listen 0.0.0.0:8080 --log-format json\n\n\
               In a pod, POD_NAME names the replica and POD_NAMESPACE the namespace of the lease. NODE_NAME is the node that the replica runs on: \
               of the control-plane nodes it is updated last.",
        listed: Listed::Yes,
        args: Arguments::augment_args,
        run: |matches, edge| run(&Arguments::from_arg_matches(matches)?, edge),
    }
}

#[derive(Args, Debug)]
struct Arguments {
    /// Address for /metrics, /healthz and /readyz; port 0 takes a free one
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8080")]
    listen: SocketAddr,

    /// The cluster [default: KUBECONFIG, the usual file, or the pod's own account]
    #[arg(long, value_name = "PATH")]
    kubeconfig: Option<PathBuf>,

    /// Run without leader election: only for a single replica, and for trying things out
    #[arg(long)]
    alone: bool,

    /// Namespace of the leader election lease [default: that of the pod, or of the kubeconfig]
    #[arg(long, value_name = "NAME", conflicts_with = "alone")]
    lease_namespace: Option<String>,

    /// Namespace of the operator's own in which it tries whether the API server refuses what gates and freezes hold
    #[arg(long, value_name = "NAME")]
    probe_namespace: Option<String>,

    /// Record what is decided and begun, and what is in no namespace in this one
    #[arg(long, value_name = "NAME")]
    history_namespace: Option<String>,

    #[command(flatten)]
    duties: Duties,

    /// Address that serves new nodes their configuration, at /config/POOL; plain HTTP only on a loopback address
    #[arg(long, value_name = "ADDRESS", requires = "manage_pools")]
    node_config: Option<SocketAddr>,

    /// PEM certificate chain for --node-config; the operator reloads it when the file changes
    #[arg(long, value_name = "PATH", requires = "node_config", requires = "node_config_key")]
    node_config_cert: Option<PathBuf>,

    /// PEM private key for --node-config-cert
    #[arg(long, value_name = "PATH", requires = "node_config", requires = "node_config_cert")]
    node_config_key: Option<PathBuf>,

    /// Log as text for people or as JSON for programs
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = LogFormat::Text)]
    log_format: LogFormat,

    /// Lowest level that is logged
    #[arg(long, value_name = "LEVEL", value_enum, default_value_t = LogLevel::Info)]
    log_level: LogLevel,
}

/// What it does beside telling.
#[derive(Args, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "flags of a command line")]
struct Duties {
    /// Also roll out machine configurations to nodes: only where no machine-config-operator runs
    #[arg(long)]
    manage_pools: bool,

    /// Also start updates of the control plane: hold the release that is asked for, and let it begin within its windows
    #[arg(long)]
    manage_updates: bool,

    /// Also start changes of hosted clusters: hold the release that is asked for, and let it begin within their windows
    #[arg(long)]
    manage_hosted: bool,

    /// Roll out although the operator has not seen the API server refuse a change without a permit: only for trying things out
    #[arg(long, requires = "manage_pools", hide = true)]
    without_proof: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum LogFormat {
    Text,
    Json,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum LogLevel {
    Error,
    Warn,
    Info,
    Debug,
}

fn run(args: &Arguments, edge: &mut Edge) -> anyhow::Result<Output> {
    log(args);
    // One thread: a decision that never ends stops the answers of /healthz too, and then somebody notices.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(operate(args, edge))?;
    Ok(Output::done(""))
}

async fn operate(args: &Arguments, edge: &mut Edge) -> anyhow::Result<()> {
    let files = args.node_config_cert.as_deref().zip(args.node_config_key.as_deref());
    let protected =
        |address| listen::protection(address, files).map(|protection| (address, protection));
    let for_machines = args.node_config.map(protected).transpose()?;
    let client = connect(configuration(args.kubeconfig.as_deref()).await?)?;
    let variable = |name| edge.variable(name);
    let identity = variable("POD_NAME")
        .unwrap_or_else(|| format!("tidegate-{}-{}", std::process::id(), edge.now.unix()));
    let election = if args.alone {
        Election::Alone
    } else {
        let namespace = args.lease_namespace.clone().or_else(|| variable("POD_NAMESPACE"));
        let namespace = namespace.unwrap_or_else(|| client.default_namespace().to_owned());
        Election::Lease { namespace, name: LEASE.into() }
    };
    let pools = if args.duties.manage_pools { Pools::Managed } else { Pools::Watched };
    let host = variable("NODE_NAME").filter(|name| !name.is_empty());
    let proof = if args.duties.without_proof { Proof::Waived } else { Proof::Required };
    let probes = args.probe_namespace.clone();
    let history = args.history_namespace.clone();
    let settings = Settings { election, host, proof, probes, history, ..Settings::alone(identity) };
    let settings = settings.with(pools);
    let settings = match (args.duties.manage_updates, pools) {
        (false, _) => settings,
        (true, Pools::Managed) => settings.starting_updates(),
        // Where others roll the masters out, nobody would follow a mark: the cluster version operator acts on what is asked for (CV-4).
        (true, Pools::Watched) => settings.starting_queued_updates(),
    };
    let settings = if args.duties.manage_hosted { settings.starting_hosted() } else { settings };
    let operator = Operator::new(client, Arc::new(SystemClock), settings);
    let listener = TcpListener::bind(args.listen)
        .await
        .with_context(|| format!("cannot listen on {}", args.listen))?;
    let (mut interrupt, mut terminate) =
        (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
    writeln!(edge.stdout, "listening: http://{}", listener.local_addr()?)?;
    edge.stdout.flush()?;
    // Those who ask how it goes are answered until the operator has ended.
    let (end, over) = watch::channel(());
    let serving = serve::serve(listener, operator.view(), ended(over.clone()));
    let giving = node_config(for_machines, &operator, edge, ended(over)).await?;
    let mut answering = std::pin::pin!(async { tokio::join!(serving, giving) });
    let told = async {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
        tracing::info!("ending");
    };
    let ran = tokio::select! {
        _ = &mut answering => bail!("cannot answer any more"),
        ran = operator.run(told) => ran.context("the operator failed"),
    };
    drop(end);
    answering.await;
    ran
}

/// Waits until nobody holds the other end.
async fn ended(mut over: watch::Receiver<()>) {
    while over.changed().await.is_ok() {}
}

/// What answers new nodes until the end; if nobody asked for that, it only waits.
async fn node_config<F: Future<Output = ()>>(
    wanted: Option<(SocketAddr, Protection)>,
    operator: &Operator,
    edge: &mut Edge,
    ended: F,
) -> anyhow::Result<impl Future<Output = ()> + use<F>> {
    let service = operator.node_config();
    let mut open = None;
    if let Some((address, protection)) = wanted {
        let listener = TcpListener::bind(address)
            .await
            .with_context(|| format!("cannot listen on {address} for new nodes"))?;
        let (scheme, address) = (protection.scheme(), listener.local_addr()?);
        writeln!(edge.stdout, "node configurations: {scheme}://{address}/config/")?;
        edge.stdout.flush()?;
        open = Some((listener, protection));
    }
    Ok(async move {
        match open {
            Some((listener, protection)) => {
                listen::serve(listener, protection, service, ended).await;
            }
            None => ended.await,
        }
    })
}

fn log(args: &Arguments) {
    let level = match args.log_level {
        LogLevel::Error => Level::ERROR,
        LogLevel::Warn => Level::WARN,
        LogLevel::Info => Level::INFO,
        LogLevel::Debug => Level::DEBUG,
    };
    let subscriber = tracing_subscriber::fmt().with_max_level(level).with_writer(std::io::stderr);
    // Somebody who set up logs before us keeps them.
    let _ = match args.log_format {
        LogFormat::Text => {
            tracing::subscriber::set_global_default(subscriber.with_ansi(false).finish())
        }
        LogFormat::Json => tracing::subscriber::set_global_default(subscriber.json().finish()),
    };
}
