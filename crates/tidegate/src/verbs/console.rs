//! `tidegate console`: what does a cluster look like in a browser?

use std::{
    io::{BufRead as _, BufReader, Write as _},
    net::{Ipv4Addr, SocketAddr},
    path::PathBuf,
    sync::Arc,
    time::Duration,
};

use anyhow::{Context as _, bail};
use clap::{Args, FromArgMatches as _};
use console::{AsSomebody, Desk, Doors, Entrance, TheirClock};
use front::{Certificate, Protection};
use runtime::client;
use tokio::net::TcpListener;

use super::{Listed, Verb};
use crate::{cluster::reached, edge::Edge, output::Output};

/// How long the server may think about one request. A person waits.
const PATIENCE: Duration = Duration::from_secs(30);

pub(crate) fn verb() -> Verb {
    Verb {
        name: "console",
        about: "Show the cluster in a browser: what is open, what is held, until when and why; freeze and override there",
        more: "The console listens on loopback only and reads the cluster that kubectl would use, with your own rights; what you do there is done as you. The \
               address that it prints ends in a code that lets one in, once, within ten minutes; press Enter for another. Ctrl-C ends it.\n\n\
               Examples:\n  \
               tidegate console\n  \
               tidegate console --kubeconfig sandbox.kubeconfig --port 8400\n\n\
               With --in-cluster it runs in a pod for many people, each with a token of the cluster: what somebody may not list they do not see, and what they \
               do is sent with their token. It listens on all addresses with a certificate (--tls-cert, --tls-key), where people paste a token, or on loopback \
               for a proxy in the same pod that hands tokens on as X-Forwarded-Access-Token (--behind-proxy).",
        listed: Listed::Yes,
        args: Console::augment_args,
        run: |matches, edge| run(&Console::from_arg_matches(matches)?, edge),
    }
}

#[derive(Args, Debug)]
struct Console {
    /// The kubeconfig of the cluster [default: as kubectl finds it]
    #[arg(long, value_name = "PATH")]
    kubeconfig: Option<PathBuf>,
    /// The port to listen on [default: a free one]
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    port: u16,
    /// Serve many people in a cluster, each with their own token
    #[arg(long, requires = "name")]
    in_cluster: bool,
    /// A name by which browsers ask for it, with the port if that is not 443; may be given several times
    #[arg(long, value_name = "HOST", requires = "in_cluster")]
    name: Vec<String>,
    /// The certificate to show, a file in PEM
    #[arg(long, value_name = "PATH", requires = "in_cluster", requires = "tls_key")]
    tls_cert: Option<PathBuf>,
    /// Its key
    #[arg(long, value_name = "PATH", requires = "tls_cert")]
    tls_key: Option<PathBuf>,
    /// Listen on loopback, for a proxy in the same pod that hands on the token of whoever signed in there
    #[arg(long, requires = "in_cluster", conflicts_with = "tls_cert")]
    behind_proxy: bool,
}

fn run(args: &Console, edge: &mut Edge) -> anyhow::Result<Output> {
    if args.in_cluster {
        return serve_in_cluster(args, edge);
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let doors = Doors::new(edge.chance);
    let (listener, address, desk) = runtime.block_on(open(args))?;
    let inside = doors.clone();
    let serving = std::thread::spawn(move || {
        runtime.block_on(async {
            let watching = desk.clone();
            tokio::select! {
                () = watching.watch() => {}
                () = console::serve(listener, Protection::Clear, Entrance::Loopback, (desk, inside), std::future::pending()) => {}
            }
        });
    });
    tell(address, &doors, edge)?;
    // Whoever sits there gets another address with each Enter; a pipe that ends asks for none.
    let mut typed = BufReader::new(std::mem::replace(&mut edge.stdin, Box::new(std::io::empty())));
    let mut line = String::new();
    while typed.read_line(&mut line)? > 0 {
        line.clear();
        tell(address, &doors, edge)?;
    }
    if serving.join().is_err() {
        bail!("the console panicked");
    }
    Ok(Output::done(""))
}

/// Says where the console is.
fn tell(address: SocketAddr, doors: &Doors, edge: &mut Edge) -> anyhow::Result<()> {
    let code = doors.code().context("the system gives no chance")?;
    writeln!(edge.stdout, "console: http://{address}/#{code}")?;
    Ok(edge.stdout.flush()?)
}

/// How a console in a cluster is reached, or why not: nothing that shows a cluster is answered in the clear beyond loopback.
fn entrance(args: &Console) -> anyhow::Result<(Ipv4Addr, Protection, Entrance)> {
    let names = args.name.clone();
    match (&args.tls_cert, &args.tls_key, args.behind_proxy) {
        (Some(chain), Some(key), false) => {
            let certificate = Certificate::read(chain, key)?;
            Ok((Ipv4Addr::UNSPECIFIED, Protection::Tls(certificate), Entrance::Tokens(names)))
        }
        (None, None, true) => Ok((Ipv4Addr::LOCALHOST, Protection::Clear, Entrance::Proxy(names))),
        _ => bail!(
            "a console in a cluster needs a certificate, or a proxy in front of it
               hint: give --tls-cert and --tls-key, or --behind-proxy where one runs in the same pod"
        ),
    }
}

fn serve_in_cluster(args: &Console, edge: &mut Edge) -> anyhow::Result<Output> {
    let (address, protection, entrance) = entrance(args)?;
    let doors = Doors::in_cluster(edge.chance);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let config = client::configuration(args.kubeconfig.as_deref()).await?;
        let (listener, address, desk) = at_desk(config.clone(), (address, args.port)).await?;
        let desk = desk.for_people(as_somebody(config));
        writeln!(edge.stdout, "console: {address}, for {}", args.name.join(", "))?;
        edge.stdout.flush()?;
        let watching = desk.clone();
        tokio::select! {
            () = watching.watch() => {}
            () = console::serve(listener, protection, entrance, (desk, doors), asked_to_end()) => {}
        }
        Ok(Output::done(""))
    })
}

/// The end of a pod.
async fn asked_to_end() {
    use tokio::signal::unix::{SignalKind, signal};
    match signal(SignalKind::terminate()) {
        Ok(mut signals) => drop(signals.recv().await),
        Err(_) => std::future::pending().await,
    }
}

/// The cluster, asked with somebody's token and with nothing of our own.
fn as_somebody(config: kube::Config) -> AsSomebody {
    AsSomebody(Arc::new(move |token| {
        let mut theirs = config.clone();
        theirs.auth_info =
            kube::config::AuthInfo { token: Some(token.to_owned().into()), ..Default::default() };
        let client = client::connect(theirs).ok()?;
        Some(reached(client, PATIENCE))
    }))
}

async fn open(args: &Console) -> anyhow::Result<(TcpListener, SocketAddr, Desk)> {
    let config = client::configuration(args.kubeconfig.as_deref()).await?;
    at_desk(config, (Ipv4Addr::LOCALHOST, args.port)).await
}

async fn at_desk(
    config: kube::Config,
    (host, port): (Ipv4Addr, u16),
) -> anyhow::Result<(TcpListener, SocketAddr, Desk)> {
    let place = config.cluster_url.authority().map_or("cluster", |host| host.as_str()).to_owned();
    let cluster = reached(client::connect(config)?, PATIENCE);
    let clock = TheirClock::default();
    clock.ask(&cluster).await;
    let desk = Desk::new(cluster, Arc::new(clock.clone()), place).by_their_clock(clock);
    let listener = TcpListener::bind((host, port)).await;
    let listener = listener.with_context(|| format!("cannot listen on port {port} of {host}"))?;
    let address = listener.local_addr()?;
    Ok((listener, address, desk))
}
