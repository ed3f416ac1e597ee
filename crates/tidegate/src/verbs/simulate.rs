//! `tidegate simulate`: when would each change start and finish, and which pool never gets there?

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::PathBuf,
};

use anyhow::{Context as _, bail};
use clap::{Args, FromArgMatches as _, ValueEnum};
use schedule::Instant;
use tidegate_core::{
    cluster::snapshot::Snapshot,
    simulate::{Lengths, Settings, simulate},
};
use views::{
    drawing::Detail,
    simulation::{items, picture, table},
};

use super::{Listed, Verb};
use crate::{
    args::{self, Ahead, At},
    cluster::{Extent, Reach},
    edge::Edge,
    output::{self, Exit, Output},
    updates::Updates,
};

/// How many changes may arrive. Ten years of one every day fit.
const MOST_CHANGES: usize = 4_000;

/// How many times a node may take a change: each is kept until it is shown, in some hundred bytes.
const MOST_RUNS: usize = 1_000_000;

/// How many nodes a pool may be made to have: as many as the largest clusters have in all.
const MOST_MACHINES: usize = 5_000;

/// How far anybody looks ahead, in seconds.
const LONGEST: i64 = 10 * 366 * 86_400;

pub(crate) fn verb() -> Verb {
    Verb {
        name: "simulate",
        about: "Simulate the months ahead: when each change would start and finish, and which pool never converges",
        more: "The command reads the cluster that kubectl would use, or files with -f: a folder, a must-gather, or the output of `kubectl get -o \
               yaml` for policies, pools, nodes, machine configurations and cluster version. It writes nothing there. It simulates what is \
               pending, and what --change and --change-every add. Every change drains and reboots nodes, in times drawn around --drain and \
               --reboot. An update of the control plane starts when its gate is open, takes its masters along and brings every pool another \
               configuration: the one that ClusterVersion asks for, and those of --update and --update-every. Without a ClusterVersion the nodes of \
               the control plane tell which Kubernetes it is, nothing holds it, and kubelets may be three minors behind. The command warns of the first \
               one that a pool will be in the way of, because its kubelets are too far behind by then, with the day and the last window that \
               helps. -o wide shows every node, -o svg draws them.\n\n\
               Exit codes: 0 done, 2 usage or failure; with --exit-code, 1 if a pool does not converge or will be in the way of an update.\n\n\
               Examples:\n  \
               tidegate simulate\n  \
               tidegate simulate -f docs/examples/cluster --for 1y --change-every 2w\n  \
               tidegate simulate -f policies/ --nodes worker=12,infra=3 --change worker\n  \
               tidegate simulate --update 4.22@2027-03-01 --update 4.23@2027-07-01\n  \
               tidegate simulate --for 2y --update-every 120d\n  \
               tidegate simulate --update 1.37@2027-03-01\n  \
               tidegate simulate -f must-gather/ --svg year.svg",
        listed: Listed::Yes,
        args: Simulate::augment_args,
        run: |matches, edge| run(&Simulate::from_arg_matches(matches)?, edge),
    }
}

#[derive(Args, Debug)]
struct Simulate {
    /// A file of objects, a folder of them, or - for standard input, instead of a cluster; may be given several times
    #[arg(short = 'f', long = "file", value_name = "PATH")]
    files: Vec<PathBuf>,
    #[command(flatten)]
    reach: Reach,
    #[command(flatten)]
    at: At,
    /// How much time to simulate, such as 30d, 12h, 2w, 6mo or 1y [default: 1y]
    #[arg(long = "for", id = "length", value_name = "LENGTH", value_parser = args::ahead)]
    length: Option<Ahead>,
    /// Add a change to this pool at the start; may be given several times
    #[arg(long, value_name = "POOL", value_delimiter = ',')]
    change: Vec<String>,
    /// Add a change at this interval, to all pools or to those of --change
    #[arg(long, value_name = "LENGTH", value_parser = args::ahead)]
    change_every: Option<Ahead>,
    /// Simulate these pools with COUNT nodes instead of the nodes that were read
    #[arg(long, value_name = "POOL=COUNT", value_delimiter = ',', value_parser = machines)]
    nodes: Vec<(String, usize)>,
    /// Typical time that a node takes to drain
    #[arg(long, value_name = "LENGTH", value_parser = args::seconds, default_value = "5m")]
    drain: i64,
    /// Typical time that a drained node takes to apply its configuration and to be ready again
    #[arg(long, value_name = "LENGTH", value_parser = args::seconds, default_value = "8m")]
    reboot: i64,
    /// Typical time that a release takes to be applied before the masters follow
    #[arg(long, value_name = "LENGTH", value_parser = args::seconds, default_value = "1h")]
    payload: i64,
    #[command(flatten)]
    updates: Updates,
    /// Random seed: the same seed gives the same result
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    seed: u64,
    /// How to write the output
    #[arg(short = 'o', long, value_name = "FORMAT", value_enum, default_value_t = ForecastFormat::Table)]
    output: ForecastFormat,
    /// Draw the timeline into this file as well
    #[arg(long, value_name = "PATH")]
    svg: Option<PathBuf>,
    /// Exit with 1 if a pool does not converge or will be in the way of an update
    #[arg(long)]
    exit_code: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ForecastFormat {
    Table,
    Wide,
    Json,
    Yaml,
    Svg,
}

fn run(args: &Simulate, edge: &mut Edge) -> anyhow::Result<Output> {
    let at = args.reach.instant(&args.at, &args.files, edge)?;
    let mut settings = settings(args, at)?;
    let (cluster, loaded) = args.reach.snapshot(Extent::Everything, &args.files, edge, at)?;
    if cluster.gated().next().is_none() && !loaded.has_errors() {
        bail!(
            "there is nothing that could change: no MachineConfigPool, ClusterVersion, HostedCluster or NodePool\n  \
             hint: name the files that hold them with -f"
        );
    }
    check_pools(&cluster, &settings)?;
    settings.arrivals = arrivals(args, &settings)?;
    settings.updates = args.updates.path(&cluster, &settings.range)?;
    let machines = cluster.machines().count() + settings.machines.values().sum::<usize>();
    let changes = settings.arrivals.len() + settings.updates.len();
    if machines.saturating_mul(changes) > MOST_RUNS {
        bail!(
            "--change-every: {changes} changes to {machines} nodes are more than can be kept\n  hint: let them arrive less often, or look less far ahead"
        );
    }
    let forecast = simulate(&cluster, &settings);
    if let Some(path) = &args.svg {
        let picture = picture::picture(&forecast, &settings);
        fs::write(path, picture)
            .with_context(|| format!("--svg: {} cannot be written", path.display()))?;
    }
    let text = match args.output {
        ForecastFormat::Json => output::json(&items::report(&forecast, &settings))?,
        ForecastFormat::Yaml => output::yaml(&items::report(&forecast, &settings))?,
        ForecastFormat::Svg => picture::picture(&forecast, &settings),
        ForecastFormat::Table => table::overview(&forecast, &settings, edge.colour, Detail::Short),
        ForecastFormat::Wide => {
            table::overview(&forecast, &settings, edge.colour, Detail::Full)
                + &table::machines(&forecast, &settings, edge.colour)
        }
    };
    let mut output = Output::done(text).with_problems(&loaded);
    let blocked = forecast.updates.as_ref().is_some_and(|updates| updates.blocked().is_some());
    let stopped = forecast.others.iter().any(|single| single.is_stopped);
    let fine = !blocked && !stopped && forecast.pools.iter().all(|course| course.verdict.is_fine());
    if args.exit_code && output.exit == Exit::Done && !fine {
        output.exit = Exit::No;
    }
    Ok(output)
}

fn settings(args: &Simulate, start: Instant) -> anyhow::Result<Settings> {
    let end = args.length.unwrap_or(Ahead::months(12)).after(start);
    if end.unix() - start.unix() > LONGEST {
        bail!("--for: the period until {end} is longer than 10 years\n  hint: ask for less");
    }
    Ok(Settings {
        range: start..end,
        seed: args.seed,
        lengths: Lengths { drain: args.drain, reboot: args.reboot, payload: args.payload },
        machines: args.nodes.iter().cloned().collect::<BTreeMap<_, _>>(),
        arrivals: Vec::new(),
        pools: args.change.iter().cloned().collect::<BTreeSet<_>>(),
        updates: Vec::new(),
    })
}

/// When make-believe changes arrive.
fn arrivals(args: &Simulate, settings: &Settings) -> anyhow::Result<Vec<Instant>> {
    let start = settings.range.start;
    let Some(every) = args.change_every else {
        return Ok(if args.change.is_empty() { Vec::new() } else { vec![start] });
    };
    let inside = |at: &Instant| *at < settings.range.end;
    // From the start each time, so that a change on the 31st comes back to the 31st.
    let times = (0..).map(|count| every.times(count).after(start)).take_while(inside);
    let arrivals: Vec<_> = times.take(MOST_CHANGES + 1).collect();
    if arrivals.len() > MOST_CHANGES {
        bail!(
            "--change-every: more than {MOST_CHANGES} changes would arrive\n  hint: let them arrive less often, or look less far ahead"
        );
    }
    Ok(arrivals)
}

/// Every pool that was named must be there.
fn check_pools(cluster: &Snapshot, settings: &Settings) -> anyhow::Result<()> {
    let known: Vec<&str> = cluster.pools().map(|pool| pool.name.as_str()).collect();
    let named = settings.pools.iter().map(|name| ("--change", name));
    for (argument, name) in named.chain(settings.machines.keys().map(|name| ("--nodes", name))) {
        if !known.contains(&name.as_str()) {
            let hint = match known.as_slice() {
                [] => "there is no pool at all".to_owned(),
                some => format!("the pools are {}", some.join(", ")),
            };
            bail!("{argument}: there is no MachineConfigPool {name:?}\n  hint: {hint}");
        }
    }
    Ok(())
}

fn machines(text: &str) -> Result<(String, usize), String> {
    let parts = text.split_once('=').and_then(|(pool, count)| {
        let count = count.parse().ok().filter(|count| (1..=MOST_MACHINES).contains(count))?;
        (!pool.is_empty()).then(|| (pool.to_owned(), count))
    });
    parts.ok_or_else(|| {
        format!(
            "{text:?} is not POOL=COUNT with a count from 1 to {MOST_MACHINES}: expected worker=12"
        )
    })
}
