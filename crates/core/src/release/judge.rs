//! What does a wish stand for, and what stands in the way of it whatever the gate says? (CV-4)
//!
//! The same preconditions as those of the cluster version operator, as far as they can be seen from outside, and told as soon as somebody
//! wishes: a Saturday night is too late to learn that the cluster is not upgradeable. What another part of the product finds out about an
//! update (kubelets that are too old, CV-3) is joined to these in `cluster::snapshot`, in one place.

use std::collections::BTreeSet;

use super::{
    Named, Progress, SeenPlane,
    of::Of,
    version::{self, Version},
    wish::{Checks, Pin, Wish, has_digest},
};
use crate::document::problem::{Code, Problem, quoted};

/// What is found about a wish.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Judged {
    /// What it stands for, as far as anybody can tell.
    pub pin: Pin,
    /// What stands in its way.
    pub unmet: Vec<Problem>,
    /// What somebody should know of it, and does not stand in its way.
    pub remarks: Vec<String>,
}

/// How many known updates a sentence names.
const SHOWN: usize = 8;

/// Judges a wish, seen first or seen before.
pub fn judge(plane: &SeenPlane, wish: &Wish) -> Judged {
    let kept = plane.pin.as_ref().filter(|pin| pin.is_for(wish));
    if !wish.unreadable.is_empty() {
        let pin = Pin { wish: wish.clone(), ..Pin::default() };
        return Judged { pin, unmet: vec![illegible(plane.of, wish)], ..Judged::default() };
    }
    let found = resolved(plane, wish, kept);
    let pin = Pin { release: found.clone(), wish: wish.clone() };
    let mut judged = Judged { pin, ..Judged::default() };
    judged.unmet.extend(unreadable(plane.of, wish));
    judged.unmet.extend(unknown(plane, wish, &found));
    judged.unmet.extend(misnamed(plane, &wish.release));
    let against = against(plane, &found);
    match wish.checks {
        Checks::Count => judged.unmet.extend(against),
        Checks::SetAside => judged.remarks.extend(
            against
                .into_iter()
                .map(|problem| format!("{} sets aside that {}", plane.of.force(), problem.detail)),
        ),
    }
    if judged.unmet.is_empty() {
        judged.remarks.extend(gone(plane, &found));
    }
    judged
}

/// What a wish stands for: as it was written, as it was pinned before, or as the cluster knows it now.
fn resolved(plane: &SeenPlane, wish: &Wish, kept: Option<&Pin>) -> Named {
    let Named { mut version, mut image } = wish.release.clone();
    if let Some(Pin { release, .. }) = kept {
        version.clone_from(&release.version);
        image.clone_from(&release.image);
    }
    let known = plane.known.iter().flatten();
    if image.is_empty() && wish.architecture.is_empty() {
        let named = known.clone().filter(|known| known.version == version);
        let images: BTreeSet<&str> = named.map(|known| known.image.as_str()).collect();
        if let (Some(only), 1) = (images.first(), images.len()) {
            (*only).clone_into(&mut image);
        }
    }
    if version.is_empty() {
        // A hosted cluster is told an image alone, and goes back to one that it had by that too.
        let begun = plane.history.iter().map(|entry| &entry.release);
        let begun = begun.filter(|_| plane.of == Of::Hosted);
        let mut named =
            known.chain(begun).filter(|known| known.image == image && !known.version.is_empty());
        version = named.next().map(|known| known.version.clone()).unwrap_or_default();
    }
    Named { version, image }
}

fn problem(of: Of, part: &str, code: Code, detail: String, hint: &str) -> Problem {
    Problem::new(&of.path(part), code, detail).hint(hint)
}

/// A wish that nobody can read.
fn illegible(of: Of, wish: &Wish) -> Problem {
    let detail = format!("the wish cannot be read: {}", wish.unreadable);
    let hint = "write it as in {\"version\":\"4.20.7\"}, with what spec.desiredUpdate would have, or remove it";
    Problem::new(&of.whole(), Code::BadFormat, detail).hint(hint)
}

/// What is wrong with the wish itself.
fn unreadable(of: Of, wish: &Wish) -> Vec<Problem> {
    let Named { version, image } = &wish.release;
    let mut found = Vec::new();
    if !version.is_empty() && version::read(version).is_none() {
        let detail = format!("{} is not a version", quoted(version));
        found.push(problem(of, "version", Code::BadFormat, detail, "write it as in 4.20.7"));
    }
    if !image.is_empty() && !has_digest(image) {
        let detail = format!(
            "{} has no digest, so nobody can tell what it will be when the window opens",
            quoted(image)
        );
        let hint =
            "name the image by its digest, as in registry/release@sha256:<64 hexadecimal digits>";
        found.push(problem(of, "image", Code::BadFormat, detail, hint));
    }
    found
}

/// What a wish says of an image that the cluster knows better. Everything that is judged, and every override for one release, goes by the
/// version, so nobody may give an image the name of another; `force` sets this aside for nobody.
fn misnamed(plane: &SeenPlane, wish: &Named) -> Option<Problem> {
    let Named { version, image } = wish;
    // What has no digest was told of.
    if version.is_empty() || !has_digest(image) {
        return None;
    }
    let begun = plane.history.iter().map(|entry| &entry.release);
    let told = plane.known.iter().flatten().chain(begun).chain([&plane.accepted]);
    let told = || told.clone().filter(|one| !one.version.is_empty() && !one.image.is_empty());
    let hint = plane.of.how_to_rename();
    if let Some(other) = told().find(|one| one.image == *image && one.version != *version) {
        let detail = format!("{} is release {}, and not {version}", quoted(image), other.version);
        return Some(problem(plane.of, "image", Code::Conflict, detail, hint));
    }
    let mut images = told().filter(|one| one.version == *version).map(|one| one.image.as_str());
    let other = images.clone().next().filter(|_| !images.any(|known| known == image))?;
    let detail = format!("the cluster knows {version} as {}", quoted(other));
    Some(problem(plane.of, "image", Code::Conflict, detail, hint))
}

/// What nobody can tell of it.
fn unknown(plane: &SeenPlane, wish: &Wish, found: &Named) -> Option<Problem> {
    let Named { version, image } = found;
    if version.is_empty() {
        let detail = "no update that the cluster knows has this image, so nobody can tell which version it is";
        let hint = plane.of.how_to_name();
        return Some(problem(plane.of, "version", Code::MissingField, detail.into(), hint));
    }
    if !image.is_empty() {
        // What the wish itself names was judged before.
        let of_graph = wish.release.image.is_empty() && !has_digest(image);
        return of_graph.then(|| {
            let detail =
                format!("the cluster knows {version} as {}, which has no digest", quoted(image));
            let hint = format!("name the image by its digest in {}", plane.of.field("image"));
            problem(plane.of, "version", Code::BadFormat, detail, &hint)
        });
    }
    // One that cannot be read was told of.
    version::read(version)?;
    let by_digest = &format!("name the image by its digest in {}", plane.of.field("image"));
    if !wish.architecture.is_empty() {
        let detail = format!(
            "which image {version} has for {} is not known here",
            quoted(&wish.architecture)
        );
        return Some(problem(plane.of, "architecture", Code::MissingField, detail, by_digest));
    }
    let Some(known) = &plane.known else {
        let detail = format!("{version} cannot be looked up: status.availableUpdates is not there");
        let hint =
            format!("set spec.channel and wait for the updates of the cluster, or {by_digest}");
        return Some(problem(plane.of, "version", Code::NotAllowed, detail, &hint));
    };
    if known.iter().any(|known| known.version == *version) {
        let detail = format!("the cluster knows several images of {version}");
        return Some(problem(plane.of, "version", Code::Conflict, detail, by_digest));
    }
    let mut versions: Vec<&str> = known.iter().map(|known| known.version.as_str()).collect();
    versions.sort_by_key(|text| version::read(text));
    versions.dedup();
    let more = versions.len().saturating_sub(SHOWN);
    let mut shown = versions.into_iter().take(SHOWN).collect::<Vec<_>>().join(", ");
    if more > 0 {
        shown = format!("{shown} and {more} more");
    }
    let all = if shown.is_empty() { "none".to_owned() } else { shown };
    let detail = format!("{version} is none of the updates that the cluster knows: {all}");
    let hint = format!("choose one of them, set spec.channel, or {by_digest}");
    Some(problem(plane.of, "version", Code::NotAllowed, detail, &hint))
}

/// What speaks against a release where the cluster is: the preconditions of the cluster version operator.
fn against(plane: &SeenPlane, found: &Named) -> Vec<Problem> {
    let Some(target) = version::read(&found.version) else { return Vec::new() };
    let now = &plane.accepted.version;
    let Some(current) = version::read(now) else {
        let detail = format!(
            "which release the cluster has cannot be told: {} is {}",
            plane.of.release_field(),
            quoted(now)
        );
        let hint = "wait until the cluster version operator reports the release that it runs";
        return vec![problem(plane.of, "version", Code::NotAllowed, detail, hint)];
    };
    let mut against = Vec::new();
    if target < current && !is_the_one_before(plane, found, (&target, &current)) {
        let detail = format!("{target} is older than {current}, which the cluster has");
        let hint = "choose a newer release; only the release before this one, of the same minor version, can be gone back to";
        against.push(problem(plane.of, "version", Code::NotAllowed, detail, hint));
    }
    if target.major != current.major {
        let detail =
            format!("{target} is another major version than {current}, which the cluster has");
        against.push(problem(
            plane.of,
            "version",
            Code::NotAllowed,
            detail,
            "choose an update of the same major version",
        ));
    } else if target.minor > current.minor + 1 {
        let next = format!("{}.{}", current.major, current.minor + 1);
        let detail = format!(
            "{target} skips {next}: an update goes from {current} to the next minor version at most"
        );
        let hint = format!("update to a release of {next} first");
        against.push(problem(plane.of, "version", Code::NotAllowed, detail, &hint));
    }
    let higher = (target.major, target.minor) > (current.major, current.minor);
    if let Some(not) = plane.not_upgradeable.as_ref().filter(|_| higher) {
        let said =
            if not.message.is_empty() { String::new() } else { format!(": {}", not.message) };
        let reason = if not.reason.is_empty() { "no reason given" } else { &not.reason };
        let detail = format!("the cluster is not upgradeable to {target} ({reason}){said}");
        let hint =
            format!("mend that, or update within {}.{} meanwhile", current.major, current.minor);
        against.push(problem(plane.of, "version", Code::NotAllowed, detail, &hint));
    }
    against
}

/// Whether a release is the one that the cluster had before, of the same minor version: only that can be gone back to.
fn is_the_one_before(
    plane: &SeenPlane,
    found: &Named,
    (target, current): (&Version, &Version),
) -> bool {
    let mut earlier = plane.history.iter().skip(1).filter(|entry| {
        entry.progress == Progress::Completed && !entry.release.is_same(&plane.accepted)
    });
    version::are_of_one_minor(target, current)
        && earlier.next().is_some_and(|before| before.release.is_same(found))
}

/// What is said of a release that the cluster does not recommend any more.
fn gone(plane: &SeenPlane, found: &Named) -> Option<String> {
    let known = plane.known.as_ref()?;
    let is_whole = !found.version.is_empty() && !found.image.is_empty();
    let is_known = known.iter().any(|known| known.is_same(found));
    (is_whole && !is_known).then(|| {
        format!(
            "{} is none of the updates that are recommended now; its image is pinned and starts all the same",
            found.version
        )
    })
}
