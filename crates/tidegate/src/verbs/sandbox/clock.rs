//! `tidegate sandbox clock`: how is the clock of a running sandbox turned from another terminal?
//!
//! By writing what is wanted into the `ConfigMap` that the sandbox follows, and waiting until it has been taken off again.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use anyhow::{Context as _, bail};
use clap::{Args, Subcommand};
use kube::{Client, Config};
use runtime::{
    call::{CallError, Cluster, Patch},
    client,
};
use schedule::Instant;
use serde_json::{Value, json};
use sim::dial::{
    FASTEST, NAME, NAMESPACE, REFUSED, RESUME, SET, SPEED, STEP, TURNS, path, seconds,
};

use super::kubeconfig::{self, Found};
use crate::{
    args::{Moment, moment},
    cluster::reached,
    edge::Edge,
    output::Output,
};

/// Turn the clock of a running sandbox, or ask what it says
#[derive(Args, Debug)]
pub(super) struct Clock {
    /// The kubeconfig of the sandbox [default: KUBECONFIG, or that of the sandbox started last]
    #[arg(long, value_name = "PATH", global = true)]
    kubeconfig: Option<PathBuf>,

    #[command(subcommand)]
    wish: Wish,
}

#[derive(Subcommand, Debug)]
enum Wish {
    /// Say what time it is there
    Show,
    /// Make it this instant there: RFC 3339, or a date for its midnight in UTC
    Set {
        #[arg(value_name = "TIME", value_parser = moment)]
        at: Moment,
    },
    /// Jump by a length of time, such as 2h, 1d12h or -30m
    Step {
        #[arg(value_name = "LENGTH", value_parser = length, allow_hyphen_values = true)]
        length: String,
    },
    /// Let so many seconds pass in one, 3600 at most; 0 stands still
    Speed {
        #[arg(value_name = "N", value_parser = clap::value_parser!(u32).range(..=i64::from(FASTEST)))]
        speed: u32,
    },
    /// Stop the clock
    Pause,
    /// Let it go on as fast as before
    Resume,
}

fn length(text: &str) -> Result<String, String> {
    match seconds(text) {
        Some(_) => Ok(text.to_owned()),
        None => Err("it is no length of time such as 2h, 1d12h or -30m".into()),
    }
}

/// How long a sandbox may take to follow; it follows at once unless it is gone.
const PATIENCE: Duration = Duration::from_secs(5);

pub(super) fn run(args: &Clock, edge: &Edge) -> anyhow::Result<Output> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let sandbox = Remote::connect(args, edge).await?;
        let before = sandbox.setting().await?;
        let wanted = match &args.wish {
            Wish::Show => None,
            Wish::Set { at } => Some((SET, at.instant.to_string())),
            Wish::Step { length } => Some((STEP, length.clone())),
            Wish::Speed { speed } => Some((SPEED, speed.to_string())),
            Wish::Pause => Some((SPEED, "0".to_owned())),
            Wish::Resume if before[SPEED] != "0" => None,
            Wish::Resume => Some((SPEED, before[RESUME].as_str().unwrap_or("1").to_owned())),
        };
        // Asking for what is so already is no wish.
        if let Some((key, value)) = wanted.filter(|(key, value)| before[key] != **value) {
            sandbox.turn(key, &value).await?;
        }
        let speed = sandbox.setting().await?[SPEED].as_str().unwrap_or("1").to_owned();
        let now = sandbox.now().await?;
        let pace = match &*speed {
            "0" => "stands still".to_owned(),
            "1" => "goes on at one second a second".to_owned(),
            speed => format!("goes on at {speed} seconds a second"),
        };
        Ok(Output::done(format!("{now}, {pace}\n")))
    })
}

/// A sandbox in another process.
struct Remote {
    cluster: Cluster,
}

impl Remote {
    async fn connect(args: &Clock, edge: &Edge) -> anyhow::Result<Self> {
        let named = args.kubeconfig.clone();
        if let Some(path) = named.or_else(|| edge.variable("KUBECONFIG").map(PathBuf::from)) {
            return Self::behind(&path).await;
        }
        let (found, refused) = kubeconfig::found(edge)?;
        for one in found {
            let sandbox = Self::at(&one)?;
            // One that was killed left its kubeconfig behind.
            if sandbox.now().await.is_ok() {
                return Ok(sandbox);
            }
        }
        let refused = refused.iter().fold(String::new(), |told, line| told + "\n  " + line);
        bail!(
            "no sandbox runs here{refused}\n  hint: start one, or name its kubeconfig by --kubeconfig"
        )
    }

    /// A sandbox that was found, not named: it gets an address and a token, and no say in anything else.
    fn at(found: &Found) -> anyhow::Result<Self> {
        Ok(Self::of(client::connect(Config::new(found.url.parse()?))?))
    }

    async fn behind(path: &Path) -> anyhow::Result<Self> {
        let config = client::configuration(Some(path)).await;
        let config = config.with_context(|| format!("cannot use {}", path.display()))?;
        Ok(Self::of(client::connect(config)?))
    }

    fn of(client: Client) -> Self {
        Self { cluster: reached(client, PATIENCE) }
    }

    /// What the sandbox's clock was last set to.
    async fn setting(&self) -> anyhow::Result<Value> {
        match self.cluster.get::<Value>(&path()).await {
            Ok(found) => Ok(found.get("data").cloned().unwrap_or_else(|| json!({}))),
            Err(error) if error.code() == Some(404) => bail!(
                "this cluster is no sandbox: it has no ConfigMap {NAME} in the namespace {NAMESPACE}\n  hint: name the kubeconfig of a sandbox by --kubeconfig; one that was started with --empty has no clock to turn"
            ),
            Err(error) => {
                bail!("cannot ask the sandbox: {}\n  hint: does it still run?", error.told())
            }
        }
    }

    /// Writes a wish, and waits until it is taken off.
    async fn turn(&self, key: &str, value: &str) -> anyhow::Result<()> {
        let change = json!({"data": {(key): value, (REFUSED): null}});
        let written = self.cluster.patch(&path(), Patch::merge("tidegate", &change)).await;
        let written = written.context("the sandbox refused")?;
        let taken = async {
            loop {
                let found: Value = self.cluster.get(&path()).await?;
                let answered = &found["data"];
                if answered[TURNS] != written["data"][TURNS] || answered[REFUSED].is_string() {
                    return Ok::<Value, CallError>(found);
                }
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        let found = tokio::time::timeout(PATIENCE, taken).await;
        let found = found.context("the sandbox does not follow\n  hint: does it still run?")??;
        match found["data"][REFUSED].as_str() {
            Some(why) => bail!("the sandbox refused: {why}"),
            None => Ok(()),
        }
    }

    /// What time it is there: answers are dated by the sandbox's clock.
    async fn now(&self) -> anyhow::Result<Instant> {
        let now = self.cluster.time().await?.and_then(|now| Instant::try_from(now).ok());
        now.context("the sandbox does not say what time it is")
    }
}
