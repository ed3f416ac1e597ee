//! What stands in the way of a hosted control plane, or of its nodes, when their gate opens? (HOST-1, CV-3)
//!
//! Nodes are at most three minor versions behind their control plane, and never ahead of it. `HyperShift` stops no control plane for its nodes, so it is
//! told here before it would let one through: with the pool, and with when that is to be updated itself. How long hosted nodes and control
//! planes take nobody here knows, so nothing is said to start after them.

use schedule::Instant;

use super::{Settings, opens};
use crate::{
    cluster::{
        seen::SeenGated,
        snapshot::{Apart, Snapshot},
    },
    document::key::Key,
    hosted::{
        Hosted,
        skew::{self, Skew},
    },
    release::{
        SeenPlane,
        judge::judge,
        version::{self, Version},
        wish::Checks,
    },
};

/// Each reason why a hosted control plane, or its nodes, would not change although the gate is open; none if nothing is in the way.
pub(super) fn in_the_way(
    cluster: &Snapshot,
    gated: &SeenGated,
    settings: &Settings,
) -> Vec<String> {
    match gated.hosted.as_deref() {
        Some(Hosted::Cluster { plane, .. }) => of_plane(cluster, gated, plane, settings),
        Some(Hosted::Pool(_)) => of_nodes(cluster, gated, settings).into_iter().collect(),
        None => Vec::new(),
    }
}

/// The release that is wanted of a control plane and has not begun; none if nobody can tell, or if what speaks against it was set aside.
fn wanted_of(plane: &SeenPlane) -> Option<Version> {
    let wish = plane.waiting().filter(|wish| wish.checks == Checks::Count)?;
    version::read(&judge(plane, wish).pin.release.version)
}

fn of_plane(
    cluster: &Snapshot,
    gated: &SeenGated,
    plane: &SeenPlane,
    settings: &Settings,
) -> Vec<String> {
    let Some(wanted) = wanted_of(plane) else { return Vec::new() };
    let apart = cluster.apart(&gated.identity.key, &wanted);
    let told = apart.map(|Apart { key, version, skew }| {
        let own = match skew {
            Skew::Behind(_) => own_update(cluster, key, &wanted, settings),
            Skew::Ahead | Skew::Unknown => String::new(),
        };
        format!("{key} is at {version}, {skew} {wanted} ({}){own}", skew.remedy())
    });
    told.collect()
}

/// What is asked of a pool that is too far behind, and from when on.
fn own_update(cluster: &Snapshot, key: &Key, plane: &Version, settings: &Settings) -> String {
    let pool = cluster.resource(key);
    let target = pool.and_then(|pool| Some((pool, cluster.wanted(pool).target?)));
    let goes = target.and_then(|(pool, target)| {
        let to = version::read(&target.release.version)?;
        let helps = skew::between(plane, &to).is_none();
        helps.then(|| (to, opens(&cluster.gate(pool), settings)))
    });
    match goes {
        None => "; nothing is asked of it that would help".to_owned(),
        Some((to, Some(at))) => {
            format!("; it may go to {to} from {at} on, and nobody can tell how long that takes")
        }
        Some((to, None)) => {
            format!("; it is to go to {to}, and its gate does not open in the period")
        }
    }
}

/// Why the nodes of a pool would not get what is wanted of them.
fn of_nodes(cluster: &Snapshot, gated: &SeenGated, settings: &Settings) -> Option<String> {
    let wanted = cluster.wanted(gated);
    let (skew, target) = (wanted.skew?, wanted.target?);
    let host = cluster.host_of(gated)?;
    let to = version::read(&target.release.version)?;
    let first =
        host.plane().and_then(wanted_of).filter(|plane| skew::between(plane, &to).is_none());
    let goes = first.map(|plane| (plane, opens(&cluster.gate(host), settings)));
    let first = match goes {
        None => String::new(),
        Some((plane, Some(at))) => first_goes(host, &plane, at),
        Some((plane, None)) => format!(
            "; {} is to go to {plane}, and its gate does not open in the period",
            host.identity.key
        ),
    };
    let has = host.plane().map(|plane| plane.accepted.version.clone()).unwrap_or_default();
    Some(format!(
        "{to} is {skew} {has}, which {} has ({}){first}",
        host.identity.key,
        skew.remedy_of_nodes()
    ))
}

fn first_goes(host: &SeenGated, plane: &Version, at: Instant) -> String {
    format!(
        "; {} may go to {plane} from {at} on, and nobody can tell how long that takes",
        host.identity.key
    )
}
