//! `tidegate doctor`: what in this cluster is not held, and who could take the lock away? (RCH-6, GATE-13)

use std::path::PathBuf;

use api::reach::{Mode, What};
use clap::{Args, FromArgMatches as _};
use runtime::path::Resource;
use schedule::Instant;
use serde_json::Value;
use tidegate_core::{
    cluster::snapshot::Snapshot,
    doctor::{
        begun, doors, movers,
        probes::{self, Proof},
    },
    held::{self, Holder},
    policy::verdict::Verdict,
};
use views::doctor::{self, Findings, Tried};

use super::{Listed, Verb};
use crate::{
    args::Formats,
    cluster::{Cluster, MOVING, Reach},
    edge::Edge,
    output::{self, Exit, Output},
    source::{self, Loaded, Reads},
};

/// And where what they did, and rights, are found.
const KINDS: [(Resource<'_>, &str); 5] = [
    (Resource::new("apps/v1", "ReplicaSet"), "rollouts that began outside a window"),
    (Resource::new("rbac.authorization.k8s.io/v1", "ClusterRole"), "who may remove the lock"),
    (
        Resource::new("rbac.authorization.k8s.io/v1", "ClusterRoleBinding"),
        "who may remove the lock",
    ),
    (Resource::new("rbac.authorization.k8s.io/v1", "Role"), "who may remove the lock"),
    (Resource::new("rbac.authorization.k8s.io/v1", "RoleBinding"), "who may remove the lock"),
];

/// What is listed only where a gate holds it, to try that gate on.
const HELD: [(What, Resource<'_>, &str); 16] = [
    (
        What::Applications,
        Resource::new("argoproj.io/v1alpha1", "Application"),
        "whether syncs are refused",
    ),
    (
        What::MachineConfigPools,
        Resource::new("machineconfiguration.openshift.io/v1", "MachineConfigPool"),
        "whether nodes are held",
    ),
    (What::MachineConfigPools, Resource::new("v1", "Node"), "whether nodes are held"),
    (
        What::ClusterVersion,
        Resource::new("config.openshift.io/v1", "ClusterVersion"),
        "whether updates of the control plane are refused",
    ),
    (
        What::MachineDeployments,
        Resource::new("cluster.x-k8s.io/v1beta1", "MachineDeployment"),
        "whether rollouts of machines are refused",
    ),
    (
        What::KubeadmControlPlanes,
        Resource::new("controlplane.cluster.x-k8s.io/v1beta1", "KubeadmControlPlane"),
        "whether rollouts of control planes are refused",
    ),
    (
        What::ClusterTopologies,
        Resource::new("cluster.x-k8s.io/v1beta1", "Cluster"),
        "whether upgrades of clusters are refused",
    ),
    (
        What::HostedClusters,
        Resource::new("hypershift.openshift.io/v1beta1", "HostedCluster"),
        "whether releases of hosted clusters are refused",
    ),
    (
        What::NodePools,
        Resource::new("hypershift.openshift.io/v1beta1", "NodePool"),
        "whether releases of hosted nodes are refused",
    ),
    (
        What::InstallPlans,
        Resource::new("operators.coreos.com/v1alpha1", "InstallPlan"),
        "whether approvals are refused",
    ),
    (
        What::UpgradePlans,
        Resource::new("upgrade.cattle.io/v1", "Plan"),
        "whether upgrades of nodes are refused",
    ),
    (
        What::FluxRevisions,
        Resource::new("source.toolkit.fluxcd.io/v1", "GitRepository"),
        "whether revisions are refused",
    ),
    (
        What::FluxRevisions,
        Resource::new("source.toolkit.fluxcd.io/v1", "OCIRepository"),
        "whether revisions are refused",
    ),
    (
        What::FluxRevisions,
        Resource::new("source.toolkit.fluxcd.io/v1", "Bucket"),
        "whether revisions are refused",
    ),
    (
        What::KarpenterDisruption,
        Resource::new("karpenter.sh/v1", "NodePool"),
        "whether disruptions are refused",
    ),
    (What::KarpenterDisruption, Resource::new("v1", "Node"), "whether disruptions are refused"),
];

/// What this command does not look at, whatever it may.
const NOT_LOOKED_AT: [&str; 4] = [
    "other API servers behind the same address than the one that answered: each refuses by itself",
    "what else than rollouts of Deployments began outside a window, and who began it: `tidegate audit` reads that from an audit log",
    "other authorizers than RBAC, webhooks that change objects, and who may read Secrets with tokens",
    "what never comes to the API server: the cloud, ssh, the API of the machines",
];

pub(crate) fn verb() -> Verb {
    Verb {
        name: "doctor",
        about: "Find what nothing holds: controllers that change a cluster, gates that nothing enforces, and who may remove the lock",
        more: "The command reads the cluster that kubectl would use, with your rights, or files with -f: a folder, or the output of `kubectl get -o yaml`. It tells \
               what it could not look at. With --not-held it prints what each room does not hold, and nothing else.\n\n\
               Exit codes: 0 everything that was found is held, 1 something is not held, or only in part, or a door stands open, 2 the command cannot tell.\n\n\
               Examples:\n  \
               tidegate doctor\n  \
               tidegate doctor -o wide\n  \
               tidegate doctor -f must-gather/ -o json\n  \
               tidegate doctor --not-held",
        listed: Listed::Yes,
        args: Doctor::augment_args,
        run: |matches, edge| run(&Doctor::from_arg_matches(matches)?, edge),
    }
}

#[derive(Args, Debug)]
struct Doctor {
    /// A file of objects, a folder of them, or - for standard input, instead of a cluster; may be given several times
    #[arg(short = 'f', long = "file", value_name = "PATH")]
    files: Vec<PathBuf>,
    /// Print what each room does not hold
    #[arg(long)]
    not_held: bool,
    /// The namespace of the operator, whose rights are no open doors
    #[arg(long, value_name = "NAME", default_value = "tidegate-system")]
    operator_namespace: String,
    #[command(flatten)]
    reach: Reach,
    #[command(flatten)]
    formats: Formats,
}

fn run(args: &Doctor, edge: &mut Edge) -> anyhow::Result<Output> {
    if args.not_held {
        return Ok(Output::done(doctor::not_held()));
    }
    let Seen { documents, holders, snapshot, server, ahead, tried, unseen, loaded } =
        if args.files.is_empty() { of_cluster(args, edge)? } else { of_files(args, edge) };
    let findings = Findings {
        server,
        ahead,
        movers: movers::found(&documents, &holders),
        holders: &holders,
        tried,
        begun: begun::outside(
            &documents,
            &holders,
            |namespace| snapshot.namespace(namespace),
            &args.operator_namespace,
        ),
        doors: doors::open(&documents, &args.operator_namespace),
        unseen,
        not_looked_at: NOT_LOOKED_AT.to_vec(),
    };
    let text = output::written(
        args.formats.output,
        || findings.report(),
        |detail| findings.drawing(detail, edge.colour),
    )?;
    let exit = Exit::of([findings.verdict()]);
    Ok(Output { exit, ..Output::done(text) }.with_problems(&loaded))
}

/// What was looked at.
struct Seen {
    documents: Vec<Value>,
    holders: Vec<Holder>,
    snapshot: Snapshot,
    server: Option<String>,
    ahead: Option<i64>,
    tried: Vec<Tried>,
    unseen: Vec<String>,
    loaded: Loaded,
}

fn of_cluster(args: &Doctor, edge: &mut Edge) -> anyhow::Result<Seen> {
    let cluster = args.reach.connect()?;
    let ahead = cluster.seconds_ahead(edge);
    let (gates, snapshot, loaded) = args.reach.documents(&[], edge, edge.now)?;
    let mut seen = Seen {
        documents: Vec::new(),
        holders: held::holders(&snapshot, gates.iter().map(|(row, document)| (*row, document))),
        snapshot,
        server: Some(cluster.address()),
        ahead,
        tried: Vec::new(),
        unseen: Vec::new(),
        loaded,
    };
    for (kind, what) in MOVING.into_iter().chain(KINDS) {
        list(&cluster, kind, what, &mut seen);
    }
    for (room, kind, what) in HELD {
        let held = |holder: &Holder| holder.rooms.iter().any(|held| held.what == room);
        if seen.holders.iter().any(|holder| holder.gate().is_some() && held(holder)) {
            list(&cluster, kind, what, &mut seen);
        }
    }
    let now = cluster.now(edge);
    seen.tried = tried(&cluster, &seen, &args.operator_namespace, now);
    Ok(seen)
}

/// Tries every gate that is shut now, in each of its rooms, with the rights of whoever asks.
fn tried(cluster: &Cluster, seen: &Seen, operators: &str, now: Instant) -> Vec<Tried> {
    let enforcing = |holder: &&Holder| {
        holder.gate().is_some() && matches!(holder.mode, Mode::Enforce | Mode::Unknown)
    };
    let mut tried = Vec::new();
    for gate in seen.holders.iter().filter(enforcing) {
        let is_open = gate.at(now).verdict == Verdict::Permitted;
        for room in &gate.rooms {
            let namespace = |name: &str| seen.snapshot.namespace(name);
            let probe = probes::probe(gate, room, seen.documents.iter(), namespace, operators);
            let proof = match probe {
                _ if is_open => Proof::NotTried("it is open now".to_owned()),
                Err(why) => Proof::NotTried(why),
                Ok(probe) => match cluster.try_write(&probe) {
                    Ok(()) => probes::proof(gate, Ok(())),
                    Err(error) => probes::proof(gate, Err((error.code(), &error.told()))),
                },
            };
            tried.push(Tried { gate: gate.key.clone(), room: room.name_of(), proof });
        }
    }
    tried
}

fn list(cluster: &Cluster, kind: Resource<'_>, what: &str, seen: &mut Seen) {
    match cluster.others(kind, None) {
        Ok(items) => seen.documents.extend(items.into_iter().map(|mut item| {
            // The items of a list need not say what they are.
            if let Some(fields) = item.as_object_mut() {
                fields.insert("kind".into(), kind.kind().into());
            }
            item
        })),
        Err(error) => {
            seen.unseen.push(format!("{what}: cannot list {}: {}", kind.kind(), error.told()));
        }
    }
}

fn of_files(args: &Doctor, edge: &mut Edge) -> Seen {
    let loaded = source::load_all(&args.files, Reads::Anything, &mut edge.stdin);
    let documents: Vec<Value> = loaded.written.iter().map(|one| one.object.clone()).collect();
    let (rows, snapshot) = source::of_cluster(&loaded, &documents, edge.now);
    let holders = held::holders(&snapshot, rows);
    let missing = MOVING
        .iter()
        .chain(&KINDS)
        .filter(|(kind, _)| !documents.iter().any(|document| document["kind"] == kind.kind()))
        // A dump says what it looked at: where it found none there is none.
        .filter(|(kind, _)| !loaded.dumps.iter().any(|head| head.content(kind.kind()).is_some()));
    let missing = missing.map(|(kind, what)| format!("{what}: the files hold no {}", kind.kind()));
    let asked = |name: &str| MOVING.iter().chain(&KINDS).any(|(kind, _)| kind.kind() == name);
    let unseen = missing.chain(loaded.missing_of_dumps(asked)).collect();
    let tried = Vec::new();
    Seen { holders, snapshot, server: None, ahead: None, tried, unseen, documents, loaded }
}
