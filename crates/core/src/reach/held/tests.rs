use api::reach::What;
use serde_json::{Value, json};

use super::*;
use crate::reach::rooms::room;

/// RCH-11 to RCH-13: which gate selects what, as the policies in the chart judge it.
#[test]
fn a_gate_selects_by_names_labels_and_namespaces() {
    use Selects::{CannotTell, No, Yes};
    let labels: Labels = [("tier".to_owned(), "web".to_owned())].into();
    let prod: Labels = [("env".to_owned(), "prod".to_owned())].into();
    let check = |own: Option<&str>, spec: Value, (what, namespace): (What, &str), expected| {
        let gate = SeenGate::new(&json!({"spec": spec}));
        let target = Target { room: room(what).unwrap(), name: "web", labels: &labels };
        let known = (namespace != "unseen").then_some(&prod);
        let place = Place { namespace, labels: known, home: Some("tidegate-system") };
        let (found, _) = held_by(&gate, own, &target, &place);
        assert_eq!(found, expected, "{what:?} in {namespace} by {spec} of {own:?}");
    };
    let (web, db) = (What::Deployments, What::StatefulSets);
    let shop = Some("shop");
    let all = json!({"holds": [{"what": "Deployments"}]});
    check(shop, all.clone(), (web, "shop"), Yes);
    check(shop, all.clone(), (web, "lab"), No);
    check(shop, all.clone(), (db, "shop"), No);
    // A team holds in its own namespace whatever that is called.
    check(Some("kube-system"), all.clone(), (web, "kube-system"), Yes);
    for (hold, expected) in [
        (json!({"names": ["web"]}), Yes),
        (json!({"names": ["db"]}), No),
        (json!({"selector": {"matchLabels": {"tier": "web"}}}), Yes),
        (json!({"selector": {"matchLabels": {"tier": "db"}}}), No),
        (json!({"selector": {}}), Yes),
        (json!({"names": ["db"], "selector": {"matchLabels": {"tier": "web"}}}), Yes),
        (json!({"names": ["web"], "selector": {"matchLabels": {"tier": "db"}}}), Yes),
        (
            json!({"selector": {"matchExpressions": [{"key": "tier", "operator": "NotIn", "values": ["web"]}]}}),
            No,
        ),
        (
            json!({"selector": {"matchExpressions": [{"key": "team", "operator": "DoesNotExist"}]}}),
            Yes,
        ),
    ] {
        let mut hold = hold;
        hold["what"] = json!("Deployments");
        check(shop, json!({"holds": [hold]}), (web, "shop"), expected);
    }
    // RCH-13: what is in no namespace is chosen by gates of the cluster that choose none, and the masters follow ClusterVersion.
    let nodes = json!({"holds": [{"what": "MachineConfigPools"}]});
    check(None, nodes.clone(), (What::MachineConfigPools, ""), Yes);
    check(shop, nodes.clone(), (What::MachineConfigPools, ""), No);
    let mut chosen = nodes.clone();
    chosen["namespaceSelector"] = json!({});
    check(None, chosen, (What::MachineConfigPools, ""), No);
    let masters =
        Target { room: room(What::MachineConfigPools).unwrap(), name: "master", labels: &labels };
    let place = Place { namespace: "", labels: None, home: None };
    assert_eq!(held_by(&SeenGate::new(&json!({"spec": nodes})), None, &masters, &place).0, No);
    // Of the cluster.
    check(None, all.clone(), (web, "shop"), Yes);
    for spared in ["kube-system", "openshift-ingress", "tidegate-system"] {
        check(None, all.clone(), (web, spared), No);
        check(
            None,
            json!({"holds": [{"what": "Applications"}]}),
            (What::Applications, spared),
            Yes,
        );
        let named = json!({"matchLabels": {"kubernetes.io/metadata.name": spared}});
        let named = json!({"holds": [{"what": "Deployments"}], "namespaceSelector": named});
        check(None, named.clone(), (web, spared), Yes);
        check(None, named, (web, "shop"), No);
    }
    let of = |env: &str| json!({"holds": [{"what": "Deployments"}], "namespaceSelector": {"matchLabels": {"env": env}}});
    check(None, of("prod"), (web, "shop"), Yes);
    check(None, of("test"), (web, "shop"), No);
    check(None, of("prod"), (web, "kube-system"), No);
    check(None, of("prod"), (web, "unseen"), CannotTell);
    // What nobody here can read may be anything.
    check(shop, json!({"holds": [{"what": "Teapots"}]}), (web, "shop"), CannotTell);
    check(shop, json!({"holds": [{"what": "Teapots"}]}), (web, "lab"), No);
}
