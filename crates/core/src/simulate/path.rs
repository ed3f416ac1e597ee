//! Which updates of the control plane are to come? The one that is wished for, those that somebody names, or one minor after another (CV-3).

use std::{fmt, ops::Range};

use schedule::Instant;

use crate::{cluster::snapshot::Snapshot, gate::pending::Waiting, skew::Release};

/// An update of the control plane.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Update {
    /// The release, as it was named.
    pub name: String,
    /// The minor that it is of.
    pub release: Release,
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

/// The release that the control plane has, or is being updated to.
pub fn current(cluster: &Snapshot) -> Result<Release, BadPath> {
    let Some(version) = cluster.control_plane() else {
        let detail = "there is no ClusterVersion/version, so nobody can tell which release the control plane has";
        return Err(bad(detail, "name the file that holds it with -f"));
    };
    let said = version.update.as_ref().and_then(|update| update.current.as_deref());
    let Some(said) = said else {
        let detail = "ClusterVersion/version does not say which release the control plane has";
        return Err(bad(detail, "take the object with its status: status.desired.version is read"));
    };
    said.parse().map_err(|error| {
        bad(
            format!("ClusterVersion/version: status.desired.version: {error}"),
            "take the object as the cluster has it",
        )
    })
}

/// The update that is wished for today; none if none is, or if it is named by its image alone.
pub fn wished(cluster: &Snapshot, now: Instant) -> Option<Update> {
    let waiting = &cluster.control_plane()?.pending.waiting;
    waiting.iter().find_map(|waiting| match waiting {
        Waiting::Release { to, .. } => {
            Some(Update { name: to.clone(), release: to.parse().ok()?, at: now })
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
    let first = named.peek().and_then(|(name, _)| name.parse::<Release>().ok());
    // Whoever names the release that is wished for says when.
    if let Some(wish) = wished(cluster, range.start).filter(|wish| Some(wish.release) != first) {
        before = before.max(wish.release);
        path.push(wish);
    }
    for (name, at) in named {
        let release: Release = name.parse().map_err(|error| {
            bad(format!("{error}"), "name a release and a date: 4.22@2027-03-01")
        })?;
        let is_patch = release == before && name.matches('.').count() > 1;
        if !is_patch && !before.leads_to(release) {
            return Err(misstep(before, release));
        }
        check_date(&path, name, *at, range)?;
        path.push(Update { name: name.clone(), release, at: *at });
        before = release;
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
    let mut before = path.last().map_or(current(cluster), |wish| Ok(wish.release))?;
    for at in times {
        before = before.next();
        path.push(Update { name: before.to_string(), release: before, at });
    }
    Ok(path)
}

fn misstep(before: Release, release: Release) -> BadPath {
    if release == before {
        let detail = format!("the control plane has {release} by then");
        return bad(
            detail,
            format!(
                "name the next minor, {}, or a patch release such as {release}.9",
                before.next()
            ),
        );
    }
    if release < before {
        let detail = format!(
            "the control plane has {before} by then, and an update never goes back to {release}"
        );
        return bad(detail, format!("name the next minor, {}", before.next()));
    }
    let detail = format!("{release} does not follow {before}: an update takes one minor at a time");
    bad(detail, format!("name {} before it", before.next()))
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
