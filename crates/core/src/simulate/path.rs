//! Which updates of the control plane are to come? The one that is wished for, those that somebody names, or one minor after another (CV-3).

use std::{fmt, ops::Range};

use schedule::Instant;

use crate::{
    cluster::snapshot::Snapshot,
    gate::pending::Waiting,
    skew::{Kubernetes, Plane, Release},
};

/// An update of the control plane.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Update {
    /// The release, as it was named.
    pub name: String,
    /// What the control plane is then.
    pub plane: Plane,
    /// From when on it is asked for.
    pub at: Instant,
}

/// Why updates cannot be told from what was given: what is wrong, and what to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadPath {
    /// What is wrong.
    pub detail: String,
    /// What to do.
    pub hint: String,
}

impl fmt::Display for BadPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}\n  hint: {}", self.detail, self.hint)
    }
}

fn bad(detail: impl Into<String>, hint: impl Into<String>) -> BadPath {
    BadPath { detail: detail.into(), hint: hint.into() }
}

/// What the control plane is, or is being updated to. Where there is no `ClusterVersion`, its own nodes tell (CV-3).
pub fn current(cluster: &Snapshot) -> Result<Plane, BadPath> {
    let Some(version) = cluster.control_plane() else {
        return cluster.plane().ok_or_else(|| {
            let detail = "there is no ClusterVersion/version and no node of the control plane that reports its kubelet, so nobody can tell which release the control plane has";
            bad(detail, "name the files that hold them with -f")
        });
    };
    let said = version.update.as_ref().and_then(|update| update.current.as_deref());
    let Some(said) = said else {
        let detail = "ClusterVersion/version does not say which release the control plane has";
        return Err(bad(detail, "take the object with its status: status.desired.version is read"));
    };
    said.parse().map(Plane::OpenShift).map_err(|error| {
        bad(
            format!("ClusterVersion/version: status.desired.version: {error}"),
            "take the object as the cluster has it",
        )
    })
}

/// The control plane that a name stands for, where this one is now.
fn named(before: Plane, name: &str) -> Result<Plane, BadPath> {
    before.named(name).map_err(|error| {
        let next = before.next().minor();
        let hint = format!("name a release and a date: {next}@2027-03-01");
        let is_of_kubernetes = name.parse::<Kubernetes>().is_ok();
        let other = match before {
            Plane::OpenShift(_) | Plane::Hosted(_) => is_of_kubernetes.then_some("Kubernetes"),
            Plane::Kubernetes(_) => name.parse::<Release>().ok().map(|_| "OpenShift"),
        };
        match other {
            Some(family) => bad(
                format!("{name} is a version of {family}, and the control plane is {before}"),
                hint,
            ),
            None => bad(error.to_string(), hint),
        }
    })
}

/// The update that is wished for today; none if none is, or if it is named by its image alone.
pub fn wished(cluster: &Snapshot, now: Instant) -> Option<Update> {
    let waiting = &cluster.control_plane()?.pending.waiting;
    waiting.iter().find_map(|waiting| match waiting {
        Waiting::Release { to, .. } => {
            let plane = current(cluster).ok()?.named(to).ok()?;
            Some(Update { name: to.clone(), plane, at: now })
        }
        Waiting::Machines { .. }
        | Waiting::Pinned { .. }
        | Waiting::Hosted { .. }
        | Waiting::Reached { .. } => None,
    })
}

/// Updates that somebody names, in order, after the one that is wished for.
pub fn given(
    cluster: &Snapshot,
    named: &[(String, Instant)],
    range: &Range<Instant>,
) -> Result<Vec<Update>, BadPath> {
    let mut before = current(cluster)?;
    let mut path: Vec<Update> = Vec::new();
    let mut named = named.iter().peekable();
    let first = named.peek().and_then(|(name, _)| before.named(name).ok());
    // Whoever names the release that is wished for says when.
    if let Some(wish) = wished(cluster, range.start).filter(|wish| Some(wish.plane) != first) {
        if before.is_before(wish.plane) {
            before = wish.plane;
        }
        path.push(wish);
    }
    for (name, at) in named {
        let plane = self::named(before, name)?;
        let is_patch = plane == before && name.matches('.').count() > 1;
        if !is_patch && !before.leads_to(plane) {
            return Err(misstep(before, plane));
        }
        check_date(&path, name, *at, range)?;
        path.push(Update { name: name.clone(), plane, at: *at });
        before = plane;
    }
    Ok(path)
}

/// One minor after another at these instants, after the one that is wished for.
pub fn each(
    cluster: &Snapshot,
    times: impl IntoIterator<Item = Instant>,
    now: Instant,
) -> Result<Vec<Update>, BadPath> {
    let mut path: Vec<Update> = wished(cluster, now).into_iter().collect();
    let mut before = path.last().map_or(current(cluster), |wish| Ok(wish.plane))?;
    for at in times {
        before = before.next();
        path.push(Update { name: before.minor(), plane: before, at });
    }
    Ok(path)
}

fn misstep(before: Plane, wanted: Plane) -> BadPath {
    let (has, wants, next) = (before.minor(), wanted.minor(), before.next().minor());
    if wanted == before {
        let detail = format!("the control plane has {wants} by then");
        let hint = format!("name the next minor, {next}, or a patch release such as {wants}.9");
        return bad(detail, hint);
    }
    if wanted.is_before(before) {
        let detail = format!(
            "the control plane has {has} by then, and an update never goes back to {wants}"
        );
        return bad(detail, format!("name the next minor, {next}"));
    }
    let detail = format!("{wants} does not follow {has}: an update takes one minor at a time");
    bad(detail, format!("name {next} before it"))
}

fn check_date(
    path: &[Update],
    name: &str,
    at: Instant,
    range: &Range<Instant>,
) -> Result<(), BadPath> {
    if at < range.start {
        let detail = format!(
            "{name} is asked for at {at}, which is past: the forecast begins at {}",
            range.start
        );
        return Err(bad(detail, "name a date to come, or begin earlier with --at"));
    }
    if at >= range.end {
        let detail = format!("{name} is asked for at {at}, and the forecast ends at {}", range.end);
        return Err(bad(detail, "name an earlier date, or look further ahead"));
    }
    match path.last() {
        Some(last) if at < last.at => {
            let detail =
                format!("{name} is asked for at {at}, before {} at {}", last.name, last.at);
            Err(bad(detail, "name updates in the order of their dates"))
        }
        _ => Ok(()),
    }
}
