//! Which nodes belong to which hosted cluster? By name, and within one namespace only (GATE-5).

use api::kinds;

use super::Snapshot;
use crate::{
    cluster::seen::{Part, Seen, SeenGated},
    document::{
        key::Key,
        problem::{Code, FieldPath, Problem, quoted},
    },
    hosted::{
        Hosted,
        hash::{self, Parts},
        pool::{SeenNodePool, Target},
        skew::{self, Skew},
    },
    release::{
        Progress,
        of::Of,
        version::{self, Version},
        wish::has_digest,
    },
};

/// The field of the release that somebody wants of nodes.
const IMAGE: &str = "spec.release.image";

/// What the nodes of a pool are to become.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Wanted {
    /// That, as far as anybody can tell.
    pub target: Option<Target>,
    /// What stands in the way of it.
    pub unmet: Vec<Problem>,
    /// How far it would be from the control plane, if that does not support it; this stands in the way too.
    pub skew: Option<Skew>,
}

/// A node pool that a release of its control plane would leave too far behind, or that is ahead of it.
#[derive(Clone, Copy, Debug)]
pub struct Apart<'a> {
    /// Which.
    pub key: &'a Key,
    /// The version that all of its nodes have.
    pub version: &'a str,
    /// How far it is from the release.
    pub skew: Skew,
}

impl Snapshot {
    /// The node pools of a hosted cluster.
    pub fn node_pools<'a>(
        &'a self,
        cluster: &'a Key,
    ) -> impl Iterator<Item = (&'a Key, &'a SeenNodePool)> {
        let all = self.of_kind(&kinds::NODE_POOL).filter_map(|(key, seen)| match seen {
            Seen::Gated(gated) => Some((key, gated.hosted.as_deref().and_then(Hosted::pool)?)),
            Seen::Policy(_) | Seen::Part(_) => None,
        });
        all.filter(|(key, pool)| {
            key.namespace == cluster.namespace && *pool.cluster == *cluster.name
        })
    }

    /// The node pools that a release of their control plane would not support: at most three minor versions behind it, and never ahead (HOST-1). One
    /// that does not tell what its nodes have stands in nobody's way.
    pub fn apart<'a>(
        &'a self,
        cluster: &'a Key,
        wanted: &'a Version,
    ) -> impl Iterator<Item = Apart<'a>> {
        self.node_pools(cluster).filter_map(move |(key, pool)| {
            let skew = skew::between(wanted, &version::read(&pool.version)?)?;
            Some(Apart { key, version: &pool.version, skew })
        })
    }

    /// The gates that were derived from an object (RCH-8).
    pub fn derived_from<'a>(&'a self, source: &'a Key) -> impl Iterator<Item = &'a Key> {
        let all = self.of_kind(&kinds::CHANGE_GATE).filter(move |(_, seen)| {
            *source.kind() == kinds::NODE_POOL
                && matches!(seen, Seen::Gated(gated)
                    if gated.gate.as_deref().and_then(|gate| gate.derived.as_ref()) == Some(source))
        });
        all.map(|(key, _)| key)
    }

    /// The namespace in which the machines of a pool are: that of its control plane.
    pub fn namespace_of_machines(&self, pool: &SeenGated) -> Option<String> {
        let own = pool.node_pool()?;
        let namespace = pool.identity.key.namespace.as_deref()?;
        Some(format!("{namespace}-{}", own.cluster.replace('.', "-")))
    }

    /// What the nodes of a pool are to become, as far as anybody can tell, and what stands in the way of it whatever the gate says.
    pub fn wanted(&self, pool: &SeenGated) -> Wanted {
        let Some(own) = pool.node_pool() else { return Wanted::default() };
        let mut unmet = Vec::new();
        let mut problem = |field: &str, code: Code, detail: String, hint: &str| {
            unmet.push(Problem::new(&FieldPath::of(field), code, detail).hint(hint));
        };
        let host =
            self.host_of(pool).and_then(|host| Some((host.plane()?, host.hosted.as_deref()?)));
        let Some((plane, Hosted::Cluster { global, .. })) = host else {
            let detail =
                format!("there is no HostedCluster {} in this namespace", quoted(&own.cluster));
            problem("spec.clusterName", Code::NotAllowed, detail, "make it first");
            return Wanted { unmet, ..Wanted::default() };
        };
        let namespace = pool.identity.key.namespace.as_deref();
        let mut texts = Vec::new();
        for name in &own.configs {
            let key = Key::new(&kinds::CONFIG_MAP, namespace, name);
            let text = match self.get(&key) {
                Some(Seen::Part(part)) => match &part.part {
                    Part::Text(text) => text.as_deref(),
                    _ => None,
                },
                _ => None,
            };
            if let Some(text) = text {
                texts.push(text);
                continue;
            }
            let detail = format!("{key} is not there, or has no key config");
            let hint = "make it, or take it out of spec.config";
            problem("spec.config", Code::NotAllowed, detail, hint);
        }
        let (mut release, mut apart) = (own.release.clone(), None);
        if release.version.is_empty() {
            let begun = plane.history.iter().map(|entry| &entry.release);
            let mut told = plane.known.iter().flatten().chain(begun).chain([&plane.accepted]);
            let named = told.find(|one| one.image == release.image && !one.version.is_empty());
            release.version = named.map(|one| one.version.clone()).unwrap_or_default();
        }
        if !has_digest(&release.image) {
            let detail = format!(
                "{} has no digest, so nobody can tell what it will be when the window opens",
                quoted(&release.image)
            );
            let hint = "name the image by its digest, as in registry/release@sha256:<64 hexadecimal digits>";
            problem(IMAGE, Code::BadFormat, detail, hint);
        } else if let Some(version) = version::read(&release.version) {
            let done = plane.history.iter().find(|entry| entry.progress == Progress::Completed);
            let has = done.map_or(&plane.accepted.version, |done| &done.release.version);
            apart = version::read(has).and_then(|has| skew::between(&has, &version));
            if let Some(skew) = apart {
                let detail = format!("{version} is {skew} {has}, which the control plane has");
                problem(IMAGE, Code::NotAllowed, detail, skew.remedy_of_nodes());
            }
        } else {
            let detail = "no release that its hosted cluster knows has this image, so nobody can tell which version it is";
            problem(IMAGE, Code::MissingField, detail.to_owned(), Of::Hosted.how_to_name());
        }
        // What cannot be told is not pinned.
        let whole = texts.len() == own.configs.len();
        let parts = Parts { release: &release.image, own: &own.own, global, configs: &texts };
        let config = hash::hash(&parts);
        let target = whole.then_some(Target { release, config });
        Wanted { target, unmet, skew: apart }
    }

    /// The hosted cluster that a node pool belongs to.
    pub fn host_of(&self, pool: &SeenGated) -> Option<&SeenGated> {
        let own = pool.hosted.as_deref().and_then(Hosted::pool)?;
        let namespace = pool.identity.key.namespace.as_deref();
        let cluster = Key::new(&kinds::HOSTED_CLUSTER, namespace, &own.cluster);
        self.resource(&cluster).map(|cluster| &**cluster)
    }
}
