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
use console::{Desk, Doors, TheirClock};
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
               tidegate console --kubeconfig sandbox.kubeconfig --port 8400",
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
}

fn run(args: &Console, edge: &mut Edge) -> anyhow::Result<Output> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let doors = Doors::new(edge.chance);
    let (listener, address, desk) = runtime.block_on(open(args))?;
    let inside = doors.clone();
    let serving = std::thread::spawn(move || {
        runtime.block_on(async {
            let watching = desk.clone();
            tokio::select! {
                () = watching.watch() => {}
                () = console::serve(listener, desk, inside, std::future::pending()) => {}
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

async fn open(args: &Console) -> anyhow::Result<(TcpListener, SocketAddr, Desk)> {
    let config = client::configuration(args.kubeconfig.as_deref()).await?;
    let place = config.cluster_url.authority().map_or("cluster", |host| host.as_str()).to_owned();
    let cluster = reached(client::connect(config)?, PATIENCE);
    let clock = TheirClock::default();
    clock.ask(&cluster).await;
    let desk = Desk::new(cluster, Arc::new(clock.clone()), place).by_their_clock(clock);
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, args.port)).await;
    let listener =
        listener.with_context(|| format!("cannot listen on port {} of 127.0.0.1", args.port))?;
    let address = listener.local_addr()?;
    Ok((listener, address, desk))
}
