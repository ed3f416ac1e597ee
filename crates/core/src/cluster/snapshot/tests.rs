//! Rows about what follows from a whole cluster.

use api::schema::Role;
use schedule::Instant;
use serde_json::{Value, json};

use super::*;
use crate::{
    cluster::{
        kinds::{self, Row},
        overview,
    },
    policy::verdict::Verdict,
    simulate,
};

fn now() -> Instant {
    Instant::parse("2026-11-15T12:00:00Z").unwrap()
}

fn stanza(strategy: &str) -> Value {
    json!({"strategy": strategy})
}

fn add(cluster: &mut Snapshot, kind: &'static Row, name: &str, spec: &Value) {
    let document = json!({"apiVersion": kind.api_version, "kind": kind.name,
        "metadata": {"name": name, "generation": 1}, "spec": spec});
    cluster.add_written(kind, &document, now());
}

fn pool(name: &str) -> Key {
    Key::new(&kinds::MACHINE_CONFIG_POOL, None, name)
}

#[test]
fn a_policy_that_was_only_written_down_counts_as_read() {
    let policy = json!({"apiVersion": api::names::API_VERSION, "kind": "ChangeManagementPolicy",
        "metadata": {"name": "p"}, "spec": {"strategy": "Permissive"}});
    let pool = json!({"metadata": {"name": "worker"},
        "spec": {"changeManagement": {"strategy": "ByPolicy", "byPolicy": {"name": "p"}}}});
    let gate = |cluster: &Snapshot| cluster.gate(cluster.gated().next().unwrap()).set().is_always();
    let mut cluster = Snapshot::default();
    cluster.add_written(&kinds::CHANGE_MANAGEMENT_POLICY, &policy, now());
    cluster.add_written(&kinds::MACHINE_CONFIG_POOL, &pool, now());
    assert!(gate(&cluster));
    // In a cluster it is a controller that says so (POL-6).
    cluster.add(&kinds::CHANGE_MANAGEMENT_POLICY, &policy);
    assert!(!gate(&cluster));
}

/// CV-2, GATE-12: what decides about the masters is the stanza of `ClusterVersion`, whoever asks and whatever their pool has.
#[test]
fn everybody_tells_the_gate_of_the_cluster_version_for_the_masters() {
    let settings = simulate::Settings {
        range: now()..now().saturating_add(86_400),
        seed: 1,
        lengths: simulate::Lengths { drain: 60, reboot: 60, payload: 3600 },
        machines: BTreeMap::new(),
        arrivals: Vec::new(),
        pools: BTreeSet::new(),
        updates: Vec::new(),
    };
    for (version, own, expected) in [
        (stanza("Restrictive"), stanza("Permissive"), Verdict::Held),
        (stanza("Permissive"), stanza("Restrictive"), Verdict::Permitted),
        (Value::Null, stanza("Restrictive"), Verdict::Permitted),
        (stanza("Sometimes"), Value::Null, Verdict::CannotTell),
    ] {
        let mut cluster = Snapshot::default();
        let managed = |stanza: &Value| json!({"changeManagement": stanza});
        add(&mut cluster, &kinds::CLUSTER_VERSION, "version", &managed(&version));
        add(&mut cluster, &kinds::MACHINE_CONFIG_POOL, "master", &managed(&own));
        add(&mut cluster, &kinds::MACHINE_CONFIG_POOL, "worker", &managed(&stanza("Restrictive")));
        let masters = cluster.resource(&pool("master")).unwrap();
        let row = format!("{version} for {own}");
        assert_eq!(cluster.gate(masters).verdict(now()), expected, "{row}");
        assert_eq!(overview::resource(&cluster, masters, now()).verdict, expected, "status: {row}");
        let reason = cluster.explain(masters, now());
        assert_eq!(reason.verdict, expected, "explain: {row}");
        assert_eq!(reason.because[0].text(&schedule::Zone::utc()), "ClusterVersion/version");
        let forecast = simulate::simulate(&cluster, &settings);
        assert_eq!(forecast.pools[0].gate.verdict(now()), expected, "simulate: {row}");
        let workers = cluster.resource(&pool("worker")).unwrap();
        assert_eq!(cluster.gate(workers).verdict(now()), Verdict::Held, "others have their own");
    }
}

/// CV-2, GATE-11
#[test]
fn gate_of_the_masters_rests_on_the_cluster_version_and_its_policy() {
    let by = |name: &str| json!({"changeManagement": {"strategy": "ByPolicy", "byPolicy": {"name": name}}});
    let rests_on = |cluster: &Snapshot, name: &str| {
        let resting = cluster.rests_on(cluster.get(&pool(name)).unwrap());
        resting.iter().map(Key::to_string).collect::<Vec<_>>()
    };
    let policy = |name: &str| Key::new(&kinds::CHANGE_MANAGEMENT_POLICY, None, name);
    let mut cluster = Snapshot::default();
    add(&mut cluster, &kinds::MACHINE_CONFIG_POOL, "master", &by("a"));
    add(&mut cluster, &kinds::MACHINE_CONFIG_POOL, "worker", &by("b"));
    let (own, version) = ("MachineConfigPool/master", "ClusterVersion/version");
    // Every freeze, also one that nobody knows yet (OVR-1).
    let all = "ClusterChangeFreeze";
    assert_eq!(rests_on(&cluster, "master"), [own, version, "ChangeManagementPolicy/a", all]);
    add(&mut cluster, &kinds::CLUSTER_VERSION, "version", &by("c"));
    assert_eq!(rests_on(&cluster, "master"), [own, version, "ChangeManagementPolicy/c", all]);
    assert_eq!(
        rests_on(&cluster, "worker"),
        ["MachineConfigPool/worker", version, "ChangeManagementPolicy/b", all],
        "a cluster may say when its pools may change (D4-1)"
    );
    // Whoever looks at those who name a policy looks at the masters too.
    let naming: Vec<_> = cluster.naming(&policy("c")).map(Key::to_string).collect();
    assert_eq!(naming, [version, own]);
    add(&mut cluster, &kinds::MACHINE_CONFIG_POOL, "master", &by("c"));
    assert_eq!(cluster.naming(&policy("c")).count(), 2, "and once");
    assert_eq!(cluster.naming(&policy("a")).count(), 0);
    cluster.remove(&Key::new(&kinds::CLUSTER_VERSION, None, "version"));
    assert_eq!(cluster.naming(&policy("c")).count(), 1);
}

/// GATE-3, GATE-11: a policy that is named and set aside is not asked, so nobody waits until it can be read.
#[test]
fn gate_rests_on_a_policy_only_while_it_is_asked() {
    for (strategy, until, rests) in [
        ("ByPolicy", None, true),
        ("Permissive", None, false),
        ("Restrictive", None, false),
        ("PermissiveUntil", Some("permissiveUntil"), true),
        ("RestrictiveUntil", Some("restrictiveUntil"), true),
    ] {
        let mut cluster = Snapshot::default();
        let mut stanza = json!({"strategy": strategy, "byPolicy": {"name": "a"}});
        if let Some(until) = until {
            stanza[until] = "2026-11-16T00:00:00Z".into();
        }
        let spec = json!({"changeManagement": stanza});
        add(&mut cluster, &kinds::MACHINE_CONFIG_POOL, "worker", &spec);
        let resting = cluster.rests_on(cluster.get(&pool("worker")).unwrap());
        let policy = Key::new(&kinds::CHANGE_MANAGEMENT_POLICY, None, "a");
        assert_eq!(resting.contains(&policy), rests, "{strategy}");
        assert_eq!(cluster.naming(&policy).count(), 1, "and it is still named");
    }
}

/// Whatever changes, in whatever order, the index says what a new one would.
#[test]
fn members_are_those_that_a_fresh_look_would_find() {
    let role = |role: &str| json!({format!("node-role.kubernetes.io/{role}"): ""});
    let node = |cluster: &mut Snapshot, name: &str, labels: &Value| {
        cluster.add(&kinds::NODE, &json!({"metadata": {"name": name, "labels": labels}}));
    };
    let claims = |labels: &Value| json!({"nodeSelector": {"matchLabels": labels}});
    let check = |cluster: &Snapshot, expected: [&[&str]; 2]| {
        let mut fresh = Snapshot::default();
        cluster.all().for_each(|(_, seen)| drop(fresh.put(seen.clone())));
        for (pool, expected) in ["infra", "worker"].into_iter().zip(expected) {
            let names = |cluster: &Snapshot| -> Vec<String> {
                cluster.members(pool).iter().map(|node| node.name.clone()).collect()
            };
            assert_eq!(names(cluster), names(&fresh), "{pool}");
            assert_eq!(names(cluster), expected, "{pool}");
        }
    };
    let mut cluster = Snapshot::default();
    node(&mut cluster, "n1", &role("worker"));
    check(&cluster, [&[], &[]]);
    add(&mut cluster, &kinds::MACHINE_CONFIG_POOL, "worker", &claims(&role("worker")));
    check(&cluster, [&[], &["n1"]]);
    node(&mut cluster, "n0", &role("worker"));
    check(&cluster, [&[], &["n0", "n1"]]);
    add(&mut cluster, &kinds::MACHINE_CONFIG_POOL, "infra", &claims(&role("infra")));
    node(&mut cluster, "n1", &role("infra"));
    check(&cluster, [&["n1"], &["n0"]]);
    add(&mut cluster, &kinds::MACHINE_CONFIG_POOL, "infra", &claims(&role("worker")));
    check(&cluster, [&["n0"], &[]]);
    cluster.remove(&pool("infra"));
    check(&cluster, [&[], &["n0"]]);
    cluster.remove(&Key::new(&kinds::NODE, None, "n0"));
    check(&cluster, [&[], &[]]);
    // What is new of a node is seen by way of its pool too.
    node(&mut cluster, "n1", &role("worker"));
    check(&cluster, [&[], &["n1"]]);
    cluster.add(
        &kinds::NODE,
        &json!({"metadata": {"name": "n1", "labels": role("worker"), "resourceVersion": "9"}}),
    );
    assert_eq!(cluster.members("worker")[0].resource_version, "9");
}

/// GATE-12: who belongs to nobody is named by each pool that claims it, or may, for as long as that is so.
#[test]
fn machine_that_belongs_to_nobody_is_named_by_those_who_claim_it() {
    let role = |role: &str| format!("node-role.kubernetes.io/{role}");
    let node = |cluster: &mut Snapshot, roles: &[&str]| {
        let labels: Value = roles.iter().map(|name| (role(name), json!(""))).collect();
        cluster.add(&kinds::NODE, &json!({"metadata": {"name": "n1", "labels": labels}}));
    };
    let claims = |name: &str| json!({"nodeSelector": {"matchLabels": {role(name): ""}}});
    let said = |cluster: &Snapshot| {
        ["gpu", "infra", "worker"].map(|name| {
            let base = crate::pool::merge::Base::default();
            let pool = cluster.pool(name).unwrap();
            let rendering = cluster.rendering(pool, &base);
            let view = cluster.view(pool, &rendering, &base);
            let gate = cluster.gate(cluster.resource(&super::tests::pool(name)).unwrap());
            let plan = crate::pool::decide(&view, &gate, now());
            let said = plan.problems.iter().map(|problem| problem.detail.as_str());
            said.filter(|said| said.contains("Node/")).collect::<Vec<_>>().join("; ")
        })
    };
    let mut cluster = Snapshot::default();
    for name in ["gpu", "infra", "worker"] {
        add(&mut cluster, &kinds::MACHINE_CONFIG_POOL, name, &claims(name));
    }
    node(&mut cluster, &["worker", "infra"]);
    assert_eq!(said(&cluster), ["", "", ""]);
    node(&mut cluster, &["worker", "infra", "gpu"]);
    let nobodys = "Node/n1 belongs to no pool, and nothing is begun there: it";
    let both = format!("{nobodys} is claimed by MachineConfigPool/gpu and MachineConfigPool/infra");
    assert_eq!(said(&cluster), [&*both, &*both, ""]);
    node(&mut cluster, &["worker"]);
    assert_eq!(said(&cluster), ["", "", ""]);
    let typo = json!({"nodeSelector": {"matchExpressions": [{"key": "x", "operator": "exists"}]}});
    add(&mut cluster, &kinds::MACHINE_CONFIG_POOL, "infra", &typo);
    let unread = "MachineConfigPool/infra, whose nodeSelector cannot be read";
    let may = format!("{nobodys} is claimed by MachineConfigPool/worker and may be by {unread}");
    assert_eq!(said(&cluster), ["", &*may, &*may]);
    node(&mut cluster, &[]);
    assert_eq!(said(&cluster), ["", &*format!("{nobodys} may be claimed by {unread}"), ""]);
    cluster.remove(&Key::new(&kinds::NODE, None, "n1"));
    assert_eq!(said(&cluster), ["", "", ""]);
}

/// Names are no identity: what is called alike and is of another kind is another object.
#[test]
fn kinds_do_not_get_in_each_others_way() {
    let mut cluster = Snapshot::default();
    for row in kinds::ALL {
        add(&mut cluster, row, "one", &json!({}));
    }
    let of = |role: fn(Role) -> bool| kinds::ALL.iter().filter(|row| role(row.role)).count();
    let policies = of(|role| role == Role::Policy);
    let gated = of(|role| matches!(role, Role::Gated { .. }));
    assert_eq!((cluster.policies().count(), cluster.gated().count()), (policies, gated));
    assert_eq!(cluster.pools().count() + cluster.machines().count(), 2);
    let found: Vec<&Kind> = cluster.all().map(|(key, _)| key.kind()).collect();
    assert_eq!(found, kinds::ALL.iter().map(|row| &row.kind).collect::<Vec<_>>());
}
