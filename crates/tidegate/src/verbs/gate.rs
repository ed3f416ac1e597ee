//! `tidegate gate`: how does somebody hold what others own, and see what holds it?

mod check;

use std::path::PathBuf;

use anyhow::Context as _;
use api::schema::Scope;
use clap::{ArgGroup, Args, FromArgMatches as _, Subcommand, ValueEnum};
use runtime::path::Resource;
use serde_json::Value;
use tidegate_core::{
    cluster::snapshot::Snapshot,
    held,
    policy::gating::WantedGate,
    reach::{
        called::{self, Called},
        rooms,
        selector::{Labels, Selects},
        selects::{self, Asked},
    },
};
use views::{
    change::Stage,
    gates::{Gates, Why},
    gating::{self, Targets},
    yaml,
};

use super::{Listed, Verb};
use crate::{
    args::{At, Formats, GateMode},
    cluster::{Cluster, Reach},
    edge::Edge,
    output::{self, Exit, Output},
    source::{self, Loaded, Reads},
};

pub(crate) fn verb() -> Verb {
    Verb {
        name: "gate",
        about: "Hold what others own: make a gate, list gates, and say which hold an object",
        more: "`gate add` asks the API server whether it would take the gate, and prints the object, what it would hold now and how to undo it; with --yes it makes \
               the gate. `gate why` answers in the order in which things count: freezes, then every gate; its exit code is 0 if the object may change, 1 \
               if something holds it, 2 if the command cannot tell. `gate check` asks the API server, by dry runs, whether it takes the policies of the \
               rooms in changeGates.custom of the values of the chart; its exit code is 0 if it takes them all, 1 if not, 2 if the command cannot tell.\n\n\
               Examples:\n  \
               tidegate gate add deployments -n shop --selector tier=web --policy weekend --mode audit\n  \
               tidegate gate add kuredlock --platform --policy nights --yes\n  \
               tidegate gate list\n  \
               tidegate gate list -f gates/ --at 2026-12-24T12:00:00Z -o json\n  \
               tidegate gate why deployment/web -n shop\n  \
               tidegate gate check --values values.yaml",
        listed: Listed::Yes,
        args: Gate::augment_args,
        run: |matches, edge| run(&Gate::from_arg_matches(matches)?, edge),
    }
}

#[derive(Args, Debug)]
struct Gate {
    #[command(subcommand)]
    step: GateVerb,
}

#[derive(Subcommand, Debug)]
enum GateVerb {
    /// Make a gate for what you name, or show what it would be
    Add(Add),
    /// Show every gate: what it holds, by which policy, open or held, when it opens and closes, what is pending
    List(List),
    /// Say which gates and freezes hold an object, and when each opens
    Why(WhyArgs),
    /// Try rooms of your own before you install them: whether the API server takes their expressions
    Check(check::Check),
}

#[derive(Args, Debug)]
#[command(group = ArgGroup::new("scope").required(true).multiple(false).args(["platform", "namespace"]))]
struct Add {
    /// What to hold: a room such as deployments, statefulsets, daemonsets, helmreleases, applications, fluxrevisions, kuredlock, installplans, upgradeplans, karpenterdisruption, machinedeployments, kubeadmcontrolplanes, clustertopologies, hostedclusters, nodepools, machineconfigpools or clusterversion
    #[arg(value_name = "ROOM")]
    room: String,
    /// The policy that says when
    #[arg(long, value_name = "NAME")]
    policy: String,
    /// Hold only what has these labels, such as tier=web [default: all]
    #[arg(long, value_name = "LABELS")]
    selector: Option<String>,
    /// Hold only these, by name; may be given several times [default: all]
    #[arg(long = "only", value_name = "NAME", value_delimiter = ',')]
    only: Vec<String>,
    /// How to hold it: queue or refuse [default: what the room does first]
    #[arg(long, value_name = "WAY", value_enum)]
    how: Option<How>,
    /// What becomes of a first write that the gate does not permit
    #[arg(long, value_name = "MODE", value_enum, ignore_case = true, default_value = "enforce")]
    mode: GateMode,
    /// What the gate is called [default: the room]
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// Make it a gate of the platform, over all namespaces
    #[arg(long)]
    platform: bool,
    /// Of the platform, hold only in namespaces with these labels
    #[arg(long, value_name = "LABELS", conflicts_with = "namespace")]
    namespaces: Option<String>,
    /// Make the gate; without it the command changes nothing
    #[arg(long)]
    yes: bool,
    /// The namespace of the operator, which gates of the platform leave alone
    #[arg(long, value_name = "NAME", default_value = "tidegate-system")]
    operator_namespace: String,
    #[command(flatten)]
    reach: Reach,
    #[command(flatten)]
    formats: Formats,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum How {
    Queue,
    Refuse,
}

#[derive(Args, Debug)]
struct List {
    /// A file of objects, a folder of them, or - for standard input, instead of a cluster; may be given several times
    #[arg(short = 'f', long = "file", value_name = "PATH")]
    files: Vec<PathBuf>,
    #[command(flatten)]
    reach: Reach,
    #[command(flatten)]
    at: At,
    #[command(flatten)]
    formats: Formats,
}

#[derive(Args, Debug)]
struct WhyArgs {
    /// The object: KIND/NAME, such as deployment/web
    #[arg(value_name = "OBJECT")]
    object: String,
    /// A file of objects, a folder of them, or - for standard input, instead of a cluster; may be given several times
    #[arg(short = 'f', long = "file", value_name = "PATH")]
    files: Vec<PathBuf>,
    /// The namespace of the operator, which gates of the platform leave alone
    #[arg(long, value_name = "NAME", default_value = "tidegate-system")]
    operator_namespace: String,
    #[command(flatten)]
    reach: Reach,
    #[command(flatten)]
    at: At,
    #[command(flatten)]
    formats: Formats,
}

fn run(args: &Gate, edge: &mut Edge) -> anyhow::Result<Output> {
    match &args.step {
        GateVerb::Add(args) => add(args, edge),
        GateVerb::List(args) => list(args, edge),
        GateVerb::Why(args) => why(args, edge),
        GateVerb::Check(args) => check::run(args),
    }
}

fn list(args: &List, edge: &mut Edge) -> anyhow::Result<Output> {
    let at = args.reach.instant(&args.at, &args.files, edge)?;
    let (documents, snapshot, loaded) = args.reach.documents(&args.files, edge, at)?;
    let documents = documents.iter().map(|(row, document)| (*row, document));
    let mut holders = held::holders(&snapshot, documents);
    if let Some(namespace) = args.reach.namespace() {
        holders.retain(|one| one.key.namespace.as_deref().is_none_or(|own| own == namespace));
    }
    let gates = Gates::new(&holders, at);
    let text = output::written(
        args.formats.output,
        || gates.items(),
        |detail| gates.drawing(at, detail, edge.colour),
    )?;
    Ok(Output::done(text).with_problems(&loaded))
}

fn why(args: &WhyArgs, edge: &mut Edge) -> anyhow::Result<Output> {
    let (kind, namespace, name) = named(&args.object, args.reach.namespace())?;
    let at = args.reach.instant(&args.at, &args.files, edge)?;
    let found = if args.files.is_empty() {
        let found = read(&args.reach.connect()?, kind, namespace, name)?;
        Some(found).filter(|_| kind.labels.is_some())
    } else {
        written(&args.files, kind, namespace, name, edge)
    };
    let (documents, snapshot, loaded) = args.reach.documents(&args.files, edge, at)?;
    let documents = documents.iter().map(|(row, document)| (*row, document));
    let holders = held::holders(&snapshot, documents);
    let labels = found.as_ref().and_then(|document| kind.labels_of(document));
    let targets = kind.rooms.iter().filter_map(|what| {
        Some(Asked {
            room: rooms::room(*what)?,
            name,
            labels: labels.as_ref(),
            namespace,
            namespace_labels: namespace.and_then(|namespace| snapshot.namespace(namespace)),
            operators: &args.operator_namespace,
        })
    });
    let targets: Vec<Asked<'_>> = targets.collect();
    let object = shown(kind, namespace, name);
    let why = Why::new(&holders, object, &targets, at);
    let text =
        output::written(args.formats.output, || why.report(at), |_| why.drawing(at, edge.colour))?;
    let exit = Exit::of([why.verdict()]);
    Ok(Output { exit, ..Output::done(text) }.with_problems(&loaded))
}

fn shown(kind: &Called, namespace: Option<&str>, name: &str) -> String {
    match namespace {
        Some(namespace) => format!("{}/{namespace}/{name}", kind.kind),
        None => format!("{}/{name}", kind.kind),
    }
}

/// What somebody calls an object that rooms hold: `KIND/NAME` or `KIND/NAMESPACE/NAME`.
fn named<'a>(
    text: &'a str,
    namespace: Option<&'a str>,
) -> anyhow::Result<(&'static Called, Option<&'a str>, &'a str)> {
    let parts: Vec<&str> = text.split('/').collect();
    let (kind, own, name) = match parts.as_slice() {
        [kind, name] => (*kind, None, *name),
        [kind, own, name] => (*kind, Some(*own), *name),
        _ => anyhow::bail!("{text:?} is not KIND/NAME"),
    };
    let kind = called::called(kind).map_err(anyhow::Error::msg)?;
    if kind.scope == Scope::Cluster {
        if own.is_some() {
            anyhow::bail!("{} is in no namespace\n  hint: write KIND/NAME", kind.kind);
        }
        return Ok((kind, None, name));
    }
    let Some(namespace) = own.or(namespace).filter(|namespace| !namespace.is_empty()) else {
        anyhow::bail!(
            "{} lives in a namespace\n  hint: give it by -n, or write KIND/NAMESPACE/NAME",
            kind.kind
        );
    };
    if name.is_empty() {
        anyhow::bail!("{text:?} names no object");
    }
    Ok((kind, Some(namespace), name))
}

/// An object of the cluster. A release of Helm is none: it is a name.
fn read(
    cluster: &Cluster,
    kind: &Called,
    namespace: Option<&str>,
    name: &str,
) -> anyhow::Result<Value> {
    if kind.labels.is_none() {
        return Ok(Value::Null);
    }
    let found = cluster.other(Resource::new(kind.api_version, kind.kind), namespace, name)?;
    found.with_context(|| format!("there is no {} in this cluster", shown(kind, namespace, name)))
}

/// The same in files, where it may be missing: then its labels are not known. What comes by standard input is read once, for gates.
fn written(
    files: &[PathBuf],
    kind: &Called,
    namespace: Option<&str>,
    name: &str,
    edge: &mut Edge,
) -> Option<Value> {
    let files: Vec<PathBuf> =
        files.iter().filter(|file| file.as_os_str() != "-").cloned().collect();
    let loaded: Loaded = source::load_all(&files, Reads::Anything, &mut edge.stdin);
    let is_it = |object: &Value| {
        object["kind"] == kind.kind
            && object["apiVersion"] == kind.api_version
            && object["metadata"]["name"] == name
            && object["metadata"]["namespace"].as_str() == namespace
    };
    loaded.written.into_iter().map(|written| written.object).find(is_it)
}

fn add(args: &Add, edge: &mut Edge) -> anyhow::Result<Output> {
    let room = called::room_called(&args.room).map_err(anyhow::Error::msg)?;
    let name = args.name.clone().unwrap_or_else(|| room.slug.to_owned());
    let cluster = args.reach.connect()?;
    let now = cluster.now(edge);
    let mut snapshot = Snapshot::default();
    for (row, document) in &cluster.documents()? {
        snapshot.add(row, document);
    }
    let namespace = args.reach.namespace();
    let policy_kind =
        gating::policy(&snapshot, namespace, &args.policy).map_err(anyhow::Error::msg)?;
    let wanted = WantedGate {
        namespace,
        name: &name,
        room,
        how: args.how.map(|how| match how {
            How::Queue => "Queue",
            How::Refuse => "Refuse",
        }),
        names: &args.only,
        selector: args.selector.as_deref(),
        namespaces: args.namespaces.as_deref(),
        policy_kind,
        policy: &args.policy,
        mode: args.mode.into(),
    };
    let (key, document) = wanted.written().map_err(anyhow::Error::msg)?;
    let targets = targets(&cluster, args, &wanted, &document, &snapshot);
    let gating = gating::gate(&snapshot, &wanted, targets, now).map_err(anyhow::Error::msg)?;
    cluster.try_create(&key, &document)?;
    let stage = if args.yes {
        cluster.create(&key, &document)?;
        Stage::Made
    } else {
        Stage::Proposed
    };
    let text = output::written(
        args.formats.output,
        || gating.report(stage),
        |_| gating.told(stage, &yaml::write(&document)),
    )?;
    Ok(Output::done(text))
}

/// What a gate would hold now, as far as the person may look.
fn targets(
    cluster: &Cluster,
    args: &Add,
    wanted: &WantedGate<'_>,
    document: &Value,
    snapshot: &Snapshot,
) -> Targets {
    let unknown = |why: &str| Targets::Unknown(why.to_owned());
    let mut found: Vec<(&Called, Value)> = Vec::new();
    let mut missing: Vec<&str> = Vec::new();
    let kinds: Vec<&Called> = Called::all_of_room(wanted.room.what).collect();
    for kind in &kinds {
        if kind.labels.is_none() {
            return unknown(
                "a release is held when Helm stores it, in a Secret, which this command does not read",
            );
        }
        let resource = Resource::new(kind.api_version, kind.kind);
        match cluster.others(resource, wanted.namespace) {
            Ok(items) => found.extend(items.into_iter().map(|item| (*kind, item))),
            Err(error) if error.code() == Some(404) => missing.push(kind.kind),
            Err(error) => {
                return Targets::Unknown(format!("cannot list {}: {}", kind.kind, error.told()));
            }
        }
    }
    if missing.len() == kinds.len() {
        return Targets::Unknown(format!("this cluster has no kind {}", missing.join(", ")));
    }
    let spec = document.get("spec").unwrap_or(&Value::Null);
    let mut names = Vec::new();
    let mut unclear = false;
    for (kind, object) in &found {
        let text = |path: &str| object.pointer(path).and_then(Value::as_str).unwrap_or_default();
        let (namespace, name) = (text("/metadata/namespace"), text("/metadata/name"));
        let labels: Option<Labels> = kind.labels_of(object);
        let target = Asked {
            room: wanted.room,
            name,
            labels: labels.as_ref(),
            namespace: Some(namespace).filter(|_| kind.scope == Scope::Namespaced),
            namespace_labels: snapshot.namespace(namespace),
            operators: &args.operator_namespace,
        };
        match selects::selects(spec, wanted.namespace, &target) {
            Selects::Yes if namespace.is_empty() => names.push(name.to_owned()),
            Selects::Yes => names.push(format!("{namespace}/{name}")),
            Selects::CannotTell => unclear = true,
            Selects::No => {}
        }
    }
    if unclear {
        return unknown("the labels of some namespaces may not be read");
    }
    Targets::Known(names)
}
