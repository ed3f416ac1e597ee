//! The program: one agent for one host, until it is ended.

use std::{
    env,
    ffi::OsString,
    io::{self, Write as _},
    path::PathBuf,
    process::ExitCode,
    sync::Arc,
    time::Duration,
};

use agent::{
    beat::{self, Beat},
    host::linux::{Linux, within},
    rehearse::rehearse,
    run::Agent,
    slow::Teller,
    supply::Supply,
};
use anyhow::{Context as _, bail};
use runtime::{call::Cluster, chain::chain, client, clock::SystemClock, telemetry::Telemetry};
use tracing_subscriber::{
    filter::{LevelFilter, Targets},
    layer::SubscriberExt as _,
    util::SubscriberInitExt as _,
};

const HELP: &str = "\
Makes this host what the desired configuration of its node says.

Usage: tidegate-agent [--node NAME] [--root PATH] [--kubeconfig PATH] [--beat PATH] [--rehearse]
                      [--config-server URL --config-authority PATH --config-token PATH]

  --node NAME        the node this host is; NODE_NAME in the environment, if not said
  --root PATH        where the host's root is mounted; / if not said
  --kubeconfig PATH  how to reach the cluster; as a pod does, if not said
  --config-server URL
                     where the operator gives configurations; from the API server, with one's own rights, if not said
  --config-authority PATH
                     whom to trust there: PEM, read again each time
  --config-token PATH
                     the token to show there, read again each time
  --beat PATH        a file in which to show, again and again, that the agent lives
  --alive PATH       say whether the agent that shows it there lives: exit 0 if it does, 1 if it does not
  --rehearse         print what would be done, and do nothing
  --within PATH PROGRAM [ARGUMENT]...
                     become a program of the host whose root is mounted there; the agent calls itself so
  --version          print the version
  --help             print this
";

/// How long one request may take.
const PATIENCE: Duration = Duration::from_secs(10);

struct Arguments {
    node: Option<String>,
    root: PathBuf,
    kubeconfig: Option<PathBuf>,
    server: Option<String>,
    authority: Option<PathBuf>,
    token: Option<PathBuf>,
    beat: Beat,
    work: Work,
}

enum Work {
    Run,
    Rehearse,
    Judge(PathBuf),
    Print(String),
    Become { root: PathBuf, words: Vec<OsString> },
}

fn main() -> ExitCode {
    match start() {
        Ok(code) => code,
        Err(error) => {
            // Nobody is left to tell if standard error is closed.
            let _ = writeln!(io::stderr(), "error: {}", chain(error.as_ref()));
            ExitCode::from(2)
        }
    }
}

fn start() -> anyhow::Result<ExitCode> {
    let arguments = read(env::args_os().skip(1))?;
    if let Work::Print(text) = &arguments.work {
        io::stdout().write_all(text.as_bytes())?;
        return Ok(ExitCode::SUCCESS);
    }
    if let Work::Judge(path) = &arguments.work {
        let silent = beat::silent_for(path);
        let silent = silent.with_context(|| format!("{} cannot be read", path.display()))?;
        let Some(seconds) = silent else { return Ok(ExitCode::SUCCESS) };
        writeln!(io::stdout(), "the agent has shown no sign of life for {seconds} s")?;
        return Ok(ExitCode::from(1));
    }
    if let Work::Become { root, words } = &arguments.work {
        let (program, rest) = words.split_first().context("which program?")?;
        let error = within::become_program(root, program, rest);
        return Err(error).with_context(|| {
            format!("{} cannot be run within {}", program.display(), root.display())
        });
    }
    let node = arguments.node.or_else(|| env::var("NODE_NAME").ok());
    let node = node.filter(|node| !node.is_empty());
    let node = node.context("which node is this?\n  hint: say --node NAME, or set NODE_NAME")?;
    let supply = Supply::of(arguments.server, arguments.authority, arguments.token);
    let supply = supply.map_err(anyhow::Error::msg)?;
    // The client's own line about a failed request says what ours says.
    let heard = Targets::new().with_default(LevelFilter::INFO);
    let heard = heard.with_target("kube_client", LevelFilter::OFF);
    let lines = tracing_subscriber::fmt::layer().with_writer(io::stderr).with_target(false);
    tracing_subscriber::registry().with(lines).with(heard).init();
    // One thread: the agent does one thing at a time, and waits for most of its life.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let host = Linux::at(&arguments.root)
            .with_context(|| format!("the root {} cannot be opened", arguments.root.display()))?;
        let config = client::configuration(arguments.kubeconfig.as_deref()).await?;
        let client = client::connect(config)?;
        let telemetry = Arc::new(Telemetry::default());
        let cluster = Cluster::new(client, Arc::new(SystemClock), telemetry, PATIENCE);
        if let Work::Rehearse = arguments.work {
            let lines = rehearse(host, cluster, supply, &node).await?;
            let mut stdout = io::stdout();
            for line in lines {
                writeln!(stdout, "{line}")?;
            }
            return Ok(ExitCode::SUCCESS);
        }
        let teller = Teller::new(&node, arguments.kubeconfig);
        let host = host.beating(arguments.beat).telling(move |wait| teller.tell(wait));
        Agent::new(host, cluster, &node).supplied_by(supply).run().await;
        Ok(ExitCode::SUCCESS)
    })
}

fn read(mut words: impl Iterator<Item = OsString>) -> anyhow::Result<Arguments> {
    let mut arguments = Arguments {
        node: None,
        root: "/".into(),
        kubeconfig: None,
        server: None,
        authority: None,
        token: None,
        beat: Beat::default(),
        work: Work::Run,
    };
    while let Some(word) = words.next() {
        let mut value =
            || words.next().with_context(|| format!("{} needs a value", word.display()));
        match word.to_str() {
            Some("--node") => {
                let name = value()?.into_string();
                let Ok(name) = name else { bail!("the name of a node is text") };
                arguments.node = Some(name);
            }
            Some("--root") => arguments.root = value()?.into(),
            Some("--kubeconfig") => arguments.kubeconfig = Some(value()?.into()),
            Some("--config-server") => {
                let Ok(url) = value()?.into_string() else {
                    bail!("the address of a server is text")
                };
                arguments.server = Some(url);
            }
            Some("--config-authority") => arguments.authority = Some(value()?.into()),
            Some("--config-token") => arguments.token = Some(value()?.into()),
            Some("--beat") => arguments.beat = Beat::at(value()?.into()),
            Some("--alive") => arguments.work = Work::Judge(value()?.into()),
            Some("--rehearse") => arguments.work = Work::Rehearse,
            Some(within::ARGUMENT) => {
                let root = value()?.into();
                // All of the rest is the program's.
                arguments.work = Work::Become { root, words: words.by_ref().collect() };
            }
            Some("--help" | "-h") => arguments.work = Work::Print(HELP.to_owned()),
            Some("--version") => {
                let text = concat!("tidegate-agent ", env!("CARGO_PKG_VERSION"), "\n");
                arguments.work = Work::Print(text.to_owned());
            }
            _ => bail!(
                "there is no argument {}\n  hint: tidegate-agent --help lists them",
                word.display()
            ),
        }
    }
    Ok(arguments)
}
