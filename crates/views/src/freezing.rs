//! What can somebody stop, and let go again? The freeze that would do it, before anybody sends it; or why there is none (OVR-4).

use api::kinds;
use schedule::Instant;
use serde_json::{Value, json};
use tidegate_core::{
    cluster::snapshot::Snapshot,
    document::key::Key,
    policy::freezing::{self, WantedFreeze},
};

use crate::object::{Deed, Writing};

/// Lets nothing start that somebody wants frozen.
pub fn freeze(wanted: &WantedFreeze<'_>, now: Instant) -> Result<Writing, String> {
    let (object, document) = wanted.written(now)?;
    let scope = match wanted.namespace {
        Some(namespace) => format!("-n {namespace}"),
        None => "--cluster".to_owned(),
    };
    let way_back = format!("tidegate thaw {} {scope}", wanted.name);
    Ok(Writing { object, meaning: wanted.meaning(), document, deed: Deed::Made, way_back })
}

/// Holds one object of the cluster, whatever its policy says.
pub fn hold(
    snapshot: &Snapshot,
    object: &Key,
    wanted: &WantedFreeze<'_>,
    now: Instant,
) -> Result<Writing, String> {
    let holds = Some(freezing::holding(object)?);
    if snapshot.resource(object).is_none() {
        return Err(format!("there is no {object} in this cluster"));
    }
    freeze(&WantedFreeze { holds, ..wanted.clone() }, now)
}

/// Lets the next window of an object pass unused: as long a freeze of it alone.
pub fn skip_next(
    snapshot: &Snapshot,
    object: &Key,
    wanted: &WantedFreeze<'_>,
    now: Instant,
) -> Result<Writing, String> {
    let Some(seen) = snapshot.resource(object) else {
        return Err(format!("there is no {object} in this cluster"));
    };
    let gate = snapshot.gate(seen);
    if let Some(doubt) = gate.doubt_at(now) {
        return Err(format!("nobody can tell which window of {object} is next: {}", doubt.message));
    }
    // The windows of its own: a freeze in the middle of one makes no two of it.
    let Some((from, Some(until))) = freezing::next_window(gate.own_set(), now) else {
        return Err(format!(
            "{object} has no next window to skip, or one that never ends\n  hint: `tidegate explain` says what decides about it"
        ));
    };
    let wanted = WantedFreeze { from: Some(from), until: Some(until), ..wanted.clone() };
    hold(snapshot, object, &wanted, now)
}

/// Ends a freeze before its time.
pub fn thaw(object: Key, found: &Value) -> Writing {
    let meaning = format!("{object} ends now, and what gates permit may start");
    Writing::deleted(object, found, meaning)
}

/// The freeze of a name, in a namespace or of the cluster.
pub fn named(namespace: Option<&str>, name: &str) -> Key {
    let kind = match namespace {
        Some(_) => &kinds::CHANGE_FREEZE,
        None => &kinds::CLUSTER_CHANGE_FREEZE,
    };
    Key::new(kind, namespace, name)
}

/// What somebody wants frozen in words such as `Deployments` or `MachineConfigPools=worker,infra`, as the field `holds`; none if nothing
/// is said, which is everything.
pub fn holds(what: &[String]) -> Option<Value> {
    let hold = |text: &String| match text.split_once('=') {
        None => json!({"what": text}),
        Some((what, names)) => json!({"what": what, "names": names.split(',').collect::<Vec<_>>()}),
    };
    (!what.is_empty()).then(|| what.iter().map(hold).collect())
}

/// A name that no freeze of another second has.
pub fn stamped(stem: &str, now: Instant) -> String {
    let at: String = now.to_string().chars().filter(char::is_ascii_alphanumeric).collect();
    format!("{stem}-{}", at.to_lowercase())
}

#[cfg(test)]
mod tests {
    use tidegate_core::cluster::kinds;

    use super::*;
    use crate::{change::Stage, proposal::tests::saturdays};

    fn at(text: &str) -> Instant {
        Instant::parse(text).unwrap()
    }

    fn wanted<'a>(namespace: Option<&'a str>, name: &'a str) -> WantedFreeze<'a> {
        let (from, until, by, holds) = (None, None, None, None);
        WantedFreeze { namespace, name, from, until, reason: "a storm", by, holds }
    }

    /// A pool whose policy permits Saturdays.
    fn cluster(now: Instant) -> Snapshot {
        let mut cluster = Snapshot::default();
        cluster.add_written(&kinds::CHANGE_MANAGEMENT_POLICY, &saturdays(), now);
        let stanza = json!({"strategy": "ByPolicy", "byPolicy": {"name": "weekend"}});
        for (name, stanza) in [("worker", stanza), ("open", json!({"strategy": "Permissive"}))] {
            let pool = json!({"metadata": {"name": name}, "spec": {"changeManagement": stanza}});
            cluster.add(&kinds::MACHINE_CONFIG_POOL, &pool);
        }
        cluster
    }

    fn pool(name: &str) -> Key {
        Key::new(&kinds::MACHINE_CONFIG_POOL, None, name)
    }

    /// OVR-2, OVR-4
    #[test]
    fn the_next_window_is_skipped_by_a_freeze_as_long_as_it() {
        // A Saturday: the window that is open goes on.
        let now = at("2026-11-14T12:00:00Z");
        let cluster = cluster(now);
        let skip = skip_next(&cluster, &pool("worker"), &wanted(None, "skip"), now).unwrap();
        assert_eq!(
            skip.document["spec"],
            json!({"from": "2026-11-21T00:00:00Z", "until": "2026-11-22T00:00:00Z", "reason": "a storm",
                "holds": [{"what": "MachineConfigPools", "names": ["worker"]}]})
        );
        assert_eq!(skip.way_back, "tidegate thaw skip --cluster");
        let mut frozen = cluster.clone();
        frozen.add(&kinds::CLUSTER_CHANGE_FREEZE, &skip.document);
        let gate = frozen.gate(frozen.resource(&pool("worker")).unwrap());
        assert!(gate.set().contains(now));
        let next = gate.set().next_change(at("2026-11-15T00:00:00Z"));
        assert_eq!(next, Some(at("2026-11-28T00:00:00Z")));
        let open = skip_next(&cluster, &pool("open"), &wanted(None, "skip"), now).unwrap_err();
        assert!(open.starts_with("MachineConfigPool/open has no next window"), "{open}");
    }

    #[test]
    fn what_is_not_there_is_not_held() {
        let now = at("2026-11-14T12:00:00Z");
        let gone = hold(&cluster(now), &pool("gone"), &wanted(None, "hold"), now);
        assert_eq!(gone, Err("there is no MachineConfigPool/gone in this cluster".to_owned()));
        let held = hold(&cluster(now), &pool("worker"), &wanted(None, "hold"), now).unwrap();
        assert!(held.told(Stage::Proposed).starts_with(
            "nothing was changed; with this object nothing of MachineConfigPools worker starts in the cluster until further notice"
        ));
    }

    /// A window that never ends is none to skip, and one that a freeze interrupts is one window.
    #[test]
    fn only_a_whole_window_is_skipped() {
        let now = at("2026-11-14T09:00:00Z");
        let mut cluster = cluster(now);
        let lunch = json!({"metadata": {"name": "lunch"}, "spec": {"reason": "lunch",
            "from": "2026-11-14T10:00:00Z", "until": "2026-11-14T11:00:00Z"}});
        cluster.add(&kinds::CLUSTER_CHANGE_FREEZE, &lunch);
        let skip = skip_next(&cluster, &pool("worker"), &wanted(None, "skip"), now).unwrap();
        assert_eq!(skip.document["spec"]["from"], "2026-11-21T00:00:00Z");
        let until =
            json!({"strategy": "RestrictiveUntil", "restrictiveUntil": "2026-11-20T00:00:00Z"});
        let later = json!({"metadata": {"name": "later"}, "spec": {"changeManagement": until}});
        cluster.add(&kinds::MACHINE_CONFIG_POOL, &later);
        let endless = skip_next(&cluster, &pool("later"), &wanted(None, "skip"), now).unwrap_err();
        assert!(endless.starts_with("MachineConfigPool/later has no next window"), "{endless}");
    }

    /// What the server added is no part of what somebody wrote, and can be written again.
    #[test]
    fn a_thaw_tells_what_was_there() {
        let found = json!({"metadata": {"name": "stop", "namespace": "shop", "uid": "u"},
            "spec": {"reason": "a storm"}});
        let thawed = thaw(named(Some("shop"), "stop"), &found);
        assert_eq!(thawed.document["metadata"], json!({"name": "stop", "namespace": "shop"}));
        assert!(thawed.told(Stage::Made).starts_with("ChangeFreeze/shop/stop ends now"));
    }

    #[test]
    fn what_is_frozen_is_said_by_room_and_names() {
        let said = |texts: &[&str]| {
            holds(&texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>())
        };
        assert_eq!(said(&[]), None);
        assert_eq!(
            said(&["KuredLock", "Deployments=web,api"]),
            Some(json!([{"what": "KuredLock"}, {"what": "Deployments", "names": ["web", "api"]}]))
        );
        assert_eq!(stamped("freeze", at("2026-11-16T12:00:00Z")), "freeze-20261116t120000z");
    }
}
