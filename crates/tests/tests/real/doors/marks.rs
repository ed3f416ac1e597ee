//! Who lets an update of the control plane begin, or a change of what is hosted, by which path, under which permit? (CV-4, HOST-1, GATE-7,
//! GATE-16)
//!
//! Rows are products of who, path and what stands beside the mark; what each must come to follows from a rule of a few lines that shares
//! nothing with the policy.

use api::{
    machine::names::{PERMIT_CHANGE, PERMIT_FROM, PERMIT_UNTIL},
    names::{ACCEPTED_CONFIG, ACCEPTED_RELEASE},
};
use jiff::{Timestamp, ToSpan as _};
use kube::Client;
use serde_json::{Value, json};
use tidy::permits;

use super::{
    super::rollout::writers::{Writer, until},
    orders::{planted, shown},
    who::Who,
};

/// What bears a mark.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bearer {
    collection: &'static str,
    api_version: &'static str,
    kind: &'static str,
    namespace: Option<&'static str>,
    mark: &'static str,
    /// What refuses it.
    policy: &'static str,
    shipped: fn() -> Vec<(&'static str, Value)>,
    /// What somebody asks for by.
    wish: fn() -> Value,
    /// Whether its mark ends where nobody follows it.
    ends: bool,
}

pub(crate) const CLUSTER_VERSION: Bearer = Bearer {
    collection: "/apis/config.openshift.io/v1/clusterversions",
    api_version: "config.openshift.io/v1",
    kind: "ClusterVersion",
    namespace: None,
    mark: ACCEPTED_RELEASE,
    policy: "tidegate-updates",
    shipped: permits::shipped_for_updates,
    wish: || json!({"desiredUpdate": {"version": "4.20.7"}, "channel": "fast"}),
    ends: true,
};

pub(crate) const HOSTED_CLUSTER: Bearer = Bearer {
    collection: "/apis/hypershift.openshift.io/v1beta1/namespaces/tenants/hostedclusters",
    api_version: "hypershift.openshift.io/v1beta1",
    kind: "HostedCluster",
    namespace: Some("tenants"),
    mark: ACCEPTED_RELEASE,
    policy: "tidegate-hosted",
    shipped: permits::shipped_for_hosted,
    wish: || json!({"release": {"image": "r@sha256:01"}, "pausedUntil": "true"}),
    ends: true,
};

pub(crate) const NODE_POOL: Bearer = Bearer {
    collection: "/apis/hypershift.openshift.io/v1beta1/namespaces/tenants/nodepools",
    kind: "NodePool",
    mark: ACCEPTED_CONFIG,
    wish: || json!({"release": {"image": "r@sha256:01"}, "replicas": 7}),
    ends: false,
    ..HOSTED_CLUSTER
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Path {
    Merge,
    Json,
    Put,
    Apply,
    /// As the owner whose name the operator uses.
    ApplyInItsName,
    Status,
    StatusPut,
    Create,
    CreateByApply,
    /// A whole object with one stamp more, at which the permit was good.
    ForgedInside,
    /// With no stamps at all.
    Wiped,
}

impl Path {
    const ALL: [Self; 11] = [
        Self::Merge,
        Self::Json,
        Self::Put,
        Self::Apply,
        Self::ApplyInItsName,
        Self::Status,
        Self::StatusPut,
        Self::Create,
        Self::CreateByApply,
        Self::ForgedInside,
        Self::Wiped,
    ];
}

/// What stands beside the mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Beside {
    Nothing,
    Early,
    Live,
    Ended,
    TooLong,
    ForAnother,
    WithoutRecord,
    /// Live, for an image that can be another tomorrow.
    WithoutDigest,
    /// Live, and the mark goes.
    TakenAway,
    /// Live, for a mark that never ends.
    WithoutEnd,
    /// Live, for a mark that ends too late.
    EndsTooLate,
    /// Live, and what says that the mark is withdrawn, although it has not ended.
    Withdrawn,
}

impl Beside {
    const ALL: [Self; 12] = [
        Self::Nothing,
        Self::Early,
        Self::Live,
        Self::Ended,
        Self::TooLong,
        Self::ForAnother,
        Self::WithoutRecord,
        Self::WithoutDigest,
        Self::TakenAway,
        Self::WithoutEnd,
        Self::EndsTooLate,
        Self::Withdrawn,
    ];

    /// From when until when, and an instant in between.
    fn span(self) -> Option<(Timestamp, Timestamp, Timestamp)> {
        let now = Timestamp::now();
        let (from, until) = match self {
            Self::Nothing => return None,
            Self::Early => (now + 5.minutes(), now + 10.minutes()),
            Self::Ended => (now - 20.minutes(), now - 5.minutes()),
            Self::TooLong => (now - 1.minutes(), now + 16.minutes()),
            _ => (now - 1.minutes(), now + 10.minutes()),
        };
        Some((from, until, until - 1.minutes()))
    }

    fn annotations(self, mark_key: &str, serial: usize) -> Value {
        let digest = if self == Self::WithoutDigest { ":latest" } else { "@sha256:00" };
        let ends =
            Timestamp::now() + if self == Self::EndsTooLate { 70.minutes() } else { 60.minutes() };
        let mut mark = json!({"version": format!("4.20.{serial}"), "image": format!("r{digest}")});
        match self {
            Self::WithoutEnd => {}
            Self::Withdrawn => mark = json!({"withdrawn": shown(ends), "serial": serial}),
            _ => mark["until"] = json!(shown(ends)),
        }
        let mark = mark.to_string();
        let mut noted = json!({mark_key: mark, PERMIT_CHANGE: mark});
        match self {
            Self::ForAnother => noted[PERMIT_CHANGE] = json!("another"),
            Self::WithoutRecord => noted[PERMIT_CHANGE] = Value::Null,
            Self::TakenAway => noted[mark_key] = Value::Null,
            _ => {}
        }
        if let Some((from, until, _)) = self.span() {
            noted[PERMIT_FROM] = json!(shown(from));
            noted[PERMIT_UNTIL] = json!(shown(until));
        }
        noted
    }
}

/// The whole rule. A status carries no annotation of such a kind, whoever writes it.
fn may(bearer: Bearer, who: Who, path: Path, beside: Beside) -> bool {
    let without_an_end = matches!(beside, Beside::WithoutEnd | Beside::EndsTooLate);
    let live = beside == Beside::Live || (without_an_end && !bearer.ends);
    let carries = !matches!(path, Path::Status | Path::StatusPut);
    let anew = matches!(path, Path::Create | Path::CreateByApply);
    match who {
        Who::Initiator => carries,
        Who::Operator => carries && !anew && path != Path::Wiped && live,
        _ => false,
    }
}

impl Bearer {
    fn object(&self, name: &str, annotations: &Value) -> Value {
        let mut object = json!({"apiVersion": self.api_version, "kind": self.kind,
            "metadata": {"name": name, "annotations": annotations},
            "spec": {"clusterID": "c0ffee00-0000-4000-8000-000000000000"}});
        if let Some(namespace) = self.namespace {
            object["metadata"]["namespace"] = json!(namespace);
        }
        object
    }
}

/// Every row, on an object whose mark is put back after each that moved it.
pub(crate) async fn are_judged(client: &Client, bearer: Bearer) {
    let Bearer { collection: all, mark: key, .. } = bearer;
    let by_hand = Who::Initiator.at(client, "version");
    if let Some(namespace) = bearer.namespace {
        let made =
            json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}});
        by_hand.create("/api/v1/namespaces", &made).await;
    }
    for (collection, document) in (bearer.shipped)() {
        by_hand.create(collection, &document).await;
    }
    let before = "{\"version\":\"4.20.6\",\"image\":\"r@sha256:00\"}";
    let whole = bearer.object("version", &json!({key: before}));
    by_hand.create(&format!("{all}?fieldManager=setup"), &whole).await;
    let at = format!("{all}/version");
    // The records keep it from everybody else already: the operator without a permit tells whether this policy stands.
    let operator = Who::Operator.at(client, "version");
    let forged = json!({"metadata": {"annotations": {key: "x"}}});
    until(bearer.policy, async || {
        operator.merge(&format!("{at}?dryRun=All"), &forged).await.is_err()
    })
    .await;
    let (mut wrong, mut count) = (Vec::new(), 0);
    let marked = async |name: &str| {
        let found = by_hand.send("GET", &format!("{all}/{name}"), "", &Value::Null).await;
        found.unwrap_or_default()["metadata"]["annotations"][key].clone()
    };
    for who in Who::ALL {
        let beside: &[Beside] = match who {
            Who::Operator | Who::Administrator => &Beside::ALL,
            _ => &[Beside::Nothing, Beside::Live, Beside::TakenAway],
        };
        for (beside, path) in beside.iter().flat_map(|beside| Path::ALL.map(|path| (*beside, path)))
        {
            let anew = matches!(path, Path::Create | Path::CreateByApply);
            // What is not there cannot be taken away, nor by an apply of somebody who does not own it.
            let idle = anew || matches!(path, Path::Apply | Path::ApplyInItsName);
            if beside == Beside::TakenAway && idle {
                continue;
            }
            count += 1;
            let name = if anew { "other" } else { "version" };
            let was = if anew { Value::Null } else { json!(before) };
            let writer = who.at(client, "version");
            let answer = attempt(&writer, bearer, (who, path, beside), count).await;
            let moved = marked(name).await != was;
            let may = may(bearer, who, path, beside);
            // A status that is not moved may be taken all the same.
            let refused = answer.is_err() || matches!(path, Path::Status | Path::StatusPut);
            if moved != may || !may && !refused {
                wrong.push(format!(
                    "{who:?} by {path:?} beside {beside:?}: may: {may}, moved: {moved}, the server said {answer:?}"
                ));
            }
            if moved {
                drop(by_hand.send("DELETE", &format!("{all}/{name}"), "", &Value::Null).await);
                if !anew {
                    by_hand.create(&format!("{all}?fieldManager=setup"), &whole).await;
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {count} rows:\n{}", wrong.len(), wrong.join("\n"));
    assert!(count > 400, "{count}");
    wishes_are_free(client, bearer).await;
    if bearer.ends {
        ended_marks_are_withdrawn(client, bearer).await;
    }
}

/// A mark that nobody has followed is taken away by the operator once the end that it names has come by the clock of the server, and by nobody
/// else; an administrator may not, and nothing that names an image passes for a withdrawal.
async fn ended_marks_are_withdrawn(client: &Client, bearer: Bearer) {
    let by_hand = Who::Initiator.at(client, "version");
    let object = format!("{}/version", bearer.collection);
    let at = format!("{object}?fieldManager=tidegate-rollout&force=true");
    let sent = async |who: Who, mark: Value| {
        let whole = bearer.object("version", &json!({bearer.mark: mark.to_string()}));
        let writer = who.at(client, "version");
        writer.send("PATCH", &at, "application/apply-patch+yaml", &whole).await
    };
    let mark = |until: Timestamp| json!({"version": "4.20.9", "image": "r@sha256:00", "until": shown(until)});
    let withdrawn = json!({"after": "", "uid": "u", "withdrawn": shown(Timestamp::now())});
    let rows = [
        (Timestamp::now() - 1.minutes(), Who::Administrator, withdrawn.clone(), false),
        (Timestamp::now() - 1.minutes(), Who::Operator, withdrawn.clone(), true),
        (Timestamp::now() + 5.minutes(), Who::Operator, withdrawn.clone(), false),
        // With an image it is a mark, and a mark needs a permit.
        (
            Timestamp::now() - 1.minutes(),
            Who::Operator,
            json!({"version": "4.20.8", "image": "r@sha256:00", "withdrawn": "x", "until": shown(Timestamp::now())}),
            false,
        ),
    ];
    for (until, who, after, expected) in rows {
        let before = mark(until);
        let planted = json!({"metadata": {"annotations": {bearer.mark: before.to_string()}}});
        by_hand.merge(&object, &planted).await.unwrap();
        let answer = sent(who, after.clone()).await;
        assert_eq!(answer.is_ok(), expected, "{who:?} writes {after} over {before}: {answer:?}");
    }
}

async fn attempt(
    writer: &Writer,
    bearer: Bearer,
    (who, path, beside): (Who, Path, Beside),
    serial: usize,
) -> Result<Value, String> {
    let Bearer { collection: all, mark: mark_key, .. } = bearer;
    let noted = beside.annotations(mark_key, serial);
    let owner = format!("{who:?}").to_lowercase();
    let at = format!("{all}/version");
    let change = json!({"metadata": {"annotations": noted}});
    let apply = async |name: &str, owner: &str| {
        let mut set = noted.clone();
        set.as_object_mut().unwrap().retain(|_, value| !value.is_null());
        let at = format!("{all}/{name}?fieldManager={owner}&force=true");
        let applied = bearer.object(name, &set);
        writer.send("PATCH", &at, "application/apply-patch+yaml", &applied).await
    };
    let replaced = async |at: String, managed: Option<Value>| {
        let mut whole = writer.send("GET", &format!("{all}/version"), "", &Value::Null).await?;
        for (key, value) in noted.as_object().unwrap() {
            let all = whole["metadata"]["annotations"].as_object_mut().unwrap();
            if value.is_null() {
                all.remove(key);
            } else {
                all.insert(key.clone(), value.clone());
            }
        }
        match managed {
            Some(wiped) if wiped == json!([{}]) => whole["metadata"]["managedFields"] = wiped,
            Some(more) => {
                let known = whole["metadata"]["managedFields"].as_array_mut().unwrap();
                known.push(more);
            }
            None => {}
        }
        writer.send("PUT", &format!("{at}?fieldManager={owner}"), "application/json", &whole).await
    };
    match path {
        Path::Merge => writer.merge(&format!("{at}?fieldManager={owner}"), &change).await,
        Path::Status => writer.merge(&format!("{at}/status?fieldManager={owner}"), &change).await,
        Path::Json => {
            let operations: Vec<Value> = noted
                .as_object()
                .unwrap()
                .iter()
                .map(|(key, value)| {
                    let path = format!("/metadata/annotations/{}", key.replace('/', "~1"));
                    match value {
                        Value::Null if key == mark_key => {
                            json!({"op": "remove", "path": path})
                        }
                        // What is to be absent is not there.
                        Value::Null => {
                            json!({"op": "test", "path": "/kind", "value": bearer.kind})
                        }
                        value => json!({"op": "add", "path": path, "value": value}),
                    }
                })
                .collect();
            let at = format!("{at}?fieldManager={owner}");
            writer.send("PATCH", &at, "application/json-patch+json", &json!(operations)).await
        }
        Path::Put => replaced(at, None).await,
        Path::StatusPut => replaced(format!("{at}/status"), None).await,
        Path::Wiped => replaced(at, Some(json!([{}]))).await,
        Path::ForgedInside => {
            let inside = beside.span().map_or_else(Timestamp::now, |(_, _, inside)| inside);
            let mut stamp = planted("forger", &shown(inside));
            // One of another version would have the server forget all of them.
            stamp["apiVersion"] = json!(bearer.api_version);
            replaced(at, Some(stamp)).await
        }
        Path::Apply => apply("version", &owner).await,
        Path::ApplyInItsName => apply("version", "tidegate-rollout").await,
        Path::CreateByApply => apply("other", &owner).await,
        Path::Create => {
            let mut set = noted.clone();
            set.as_object_mut().unwrap().retain(|_, value| !value.is_null());
            writer.send("POST", all, "application/json", &bearer.object("other", &set)).await
        }
    }
}

/// CV-4: a wish is anybody's who may write the object, and so is everything else of it.
async fn wishes_are_free(client: &Client, bearer: Bearer) {
    for who in [Who::Administrator, Who::Stranger, Who::NamespaceAdmin] {
        let writer = who.at(client, "version");
        let wish = (bearer.wish)();
        let taken_back: Value =
            wish.as_object().unwrap().keys().map(|key| (key.clone(), Value::Null)).collect();
        for change in [
            json!({"spec": wish}),
            json!({"spec": taken_back}),
            json!({"metadata": {"labels": {"a": format!("{who:?}")}}}),
            json!({"metadata": {"annotations": {"example.com/a": format!("{who:?}")}}}),
        ] {
            let taken = writer.merge(&format!("{}/version", bearer.collection), &change).await;
            assert!(taken.is_ok(), "{who:?} {change}: {taken:?}");
        }
    }
}
