use super::*;

/// RCH-14: one policy for each room and kind of parameter that refuses, and for gates one that warns.
#[test]
fn each_room_has_policies_for_each_kind_of_gate_and_of_freeze() {
    let suffixes: Vec<String> = policies().into_iter().map(|policy| policy.suffix).collect();
    assert_eq!(
        suffixes,
        [
            "gate-deployments",
            "gate-deployments-warn",
            "cluster-gate-deployments",
            "cluster-gate-deployments-warn",
            "freeze-deployments",
            "cluster-freeze-deployments",
            "gate-statefulsets",
            "gate-statefulsets-warn",
            "cluster-gate-statefulsets",
            "cluster-gate-statefulsets-warn",
            "freeze-statefulsets",
            "cluster-freeze-statefulsets",
            "gate-daemonsets",
            "gate-daemonsets-warn",
            "cluster-gate-daemonsets",
            "cluster-gate-daemonsets-warn",
            "freeze-daemonsets",
            "cluster-freeze-daemonsets",
            "gate-helm-releases",
            "gate-helm-releases-warn",
            "cluster-gate-helm-releases",
            "cluster-gate-helm-releases-warn",
            "freeze-helm-releases",
            "cluster-freeze-helm-releases",
            "gate-applications",
            "gate-applications-warn",
            "cluster-gate-applications",
            "cluster-gate-applications-warn",
            "freeze-applications",
            "cluster-freeze-applications",
            "gate-kured-lock",
            "gate-kured-lock-warn",
            "cluster-gate-kured-lock",
            "cluster-gate-kured-lock-warn",
            "freeze-kured-lock",
            "cluster-freeze-kured-lock",
            // RCH-13: what is in no namespace is held by the cluster alone.
            "cluster-gate-machine-config-pools",
            "cluster-gate-machine-config-pools-warn",
            "cluster-freeze-machine-config-pools",
            "cluster-gate-cluster-version",
            "cluster-gate-cluster-version-warn",
            "cluster-freeze-cluster-version",
            "gate-machinedeployments",
            "gate-machinedeployments-warn",
            "cluster-gate-machinedeployments",
            "cluster-gate-machinedeployments-warn",
            "freeze-machinedeployments",
            "cluster-freeze-machinedeployments",
            "gate-install-plans",
            "gate-install-plans-warn",
            "cluster-gate-install-plans",
            "cluster-gate-install-plans-warn",
            "freeze-install-plans",
            "cluster-freeze-install-plans",
            "gate-upgrade-plans",
            "gate-upgrade-plans-warn",
            "cluster-gate-upgrade-plans",
            "cluster-gate-upgrade-plans-warn",
            "freeze-upgrade-plans",
            "cluster-freeze-upgrade-plans",
            "gate-flux-revisions",
            "gate-flux-revisions-warn",
            "cluster-gate-flux-revisions",
            "cluster-gate-flux-revisions-warn",
            "freeze-flux-revisions",
            "cluster-freeze-flux-revisions",
            "cluster-gate-karpenter-disruption",
            "cluster-gate-karpenter-disruption-warn",
            "cluster-freeze-karpenter-disruption",
            "gate-kubeadm-control-planes",
            "gate-kubeadm-control-planes-warn",
            "cluster-gate-kubeadm-control-planes",
            "cluster-gate-kubeadm-control-planes-warn",
            "freeze-kubeadm-control-planes",
            "cluster-freeze-kubeadm-control-planes",
            "gate-cluster-topologies",
            "gate-cluster-topologies-warn",
            "cluster-gate-cluster-topologies",
            "cluster-gate-cluster-topologies-warn",
            "freeze-cluster-topologies",
            "cluster-freeze-cluster-topologies",
        ]
    );
}

/// HOST-1: where whoever runs hosted clusters follows marks, nothing stands in the way of a wish.
#[test]
fn rooms_for_a_stock_hypershift_stand_alone() {
    let alone = of_stock_hosted();
    let suffixes: Vec<&str> = alone.iter().map(|policy| policy.suffix.as_str()).collect();
    assert_eq!(
        suffixes,
        [
            "gate-hosted-clusters",
            "gate-hosted-clusters-warn",
            "cluster-gate-hosted-clusters",
            "cluster-gate-hosted-clusters-warn",
            "freeze-hosted-clusters",
            "cluster-freeze-hosted-clusters",
            "gate-node-pools",
            "gate-node-pools-warn",
            "cluster-gate-node-pools",
            "cluster-gate-node-pools-warn",
            "freeze-node-pools",
            "cluster-freeze-node-pools",
        ]
    );
    assert!(!template().contains("hypershift.openshift.io]"));
    assert!(
        template_of_stock_hosted()
            .contains("{{- if and .Values.changeGates.enabled (not .Values.manageHosted) }}")
    );
}

/// CV-2: what holds updates of the control plane holds its nodes, and what holds other pools never does.
#[test]
fn nodes_of_the_control_plane_have_policies_for_gates_and_freezes_of_the_cluster() {
    let masters = of_room(MASTERS);
    let suffixes: Vec<&str> = masters.iter().map(|policy| policy.suffix.as_str()).collect();
    assert_eq!(
        suffixes,
        [
            "cluster-gate-control-plane-nodes",
            "cluster-gate-control-plane-nodes-warn",
            "cluster-freeze-control-plane-nodes",
        ]
    );
    let holds = |policy: &Policy| {
        let found = policy.variables.iter().find(|(name, _)| *name == "holds");
        found.map(|(_, expression)| expression.clone()).unwrap_or_default()
    };
    for policy in &masters {
        let holds = holds(policy);
        assert!(holds.contains("hold.what == 'ClusterVersion'"), "{holds}");
        assert!(holds.contains("'master' in ["), "{holds}");
    }
    let pools = policies().into_iter().filter(|policy| policy.suffix.contains("config-pools"));
    for policy in pools {
        assert!(holds(&policy).contains("variables.name != 'master' && !("), "{}", policy.suffix);
    }
    // The nodes that carry the note of what has begun are those that the operator notes it on: nothing holds where it does not.
    assert!(template_of_masters().contains(
        "{{- if and .Values.changeGates.enabled (and .Values.manageUpdates (not .Values.managePools)) }}"
    ));
}

/// GATE-7: one text judges the time in all of them.
#[test]
fn every_policy_judges_by_the_one_fresh_rule() {
    for policy in policies().into_iter().chain(of_room(MASTERS)).chain(of_stock_hosted()) {
        for (name, expression) in fresh::VARIABLES {
            assert!(policy.variables.contains(&(name, expression.to_owned())), "{}", policy.suffix);
        }
        let audits = policy.action == Action::Deny && !policy.suffix.contains("freeze");
        assert_eq!(policy.audit.is_some(), audits, "{}", policy.suffix);
        assert!(
            policy.conditions.iter().any(|(_, expression)| expression.contains(names::INITIATORS))
        );
    }
}

/// RCH-7: whatever is a parameter is kept from being deleted.
#[test]
fn definitions_of_all_parameters_are_guarded() {
    for parameter in PARAMETERS {
        let name = format!("'{}.changemanagement.openshift.io'", names::plural(parameter.kind()));
        assert!(kept::guard().contains(&name), "{name}");
    }
}

/// OVR-5: what has begun, and what is adopted, is the same to a freeze as to permits.
#[test]
fn a_mark_is_to_a_freeze_what_it_is_to_permits() {
    let permits = include_str!("../../../../../deploy/chart/templates/permits.yaml");
    for (name, expression) in freezes::MARK {
        let variable = format!("  - name: {name}\n    expression: \"{expression}\"\n");
        assert!(permits.contains(&variable), "{variable}");
    }
    let order = "['machineconfiguration.openshift.io/desiredConfig', 'changemanagement.openshift.io/permit-change'].exists(key,";
    assert!(permits.contains(order) && freezes::template_of_nodes().contains(order));
}

/// Everything is written out, and nothing else is for Helm to read.
#[test]
fn template_has_no_place_left_open() {
    let text = template() + &freezes::template_of_nodes() + &template_of_masters();
    for mark in ["{way}", "{selects", "{allows", "{queues", "  \\"] {
        assert!(!text.contains(mark), "{mark}");
    }
    let includes = text.matches("{{").count();
    let known = text.matches("{{ include").count()
        + text.matches("{{- include").count()
        + text.matches("{{- if").count()
        + text.matches("{{- end").count()
        + text.matches("{{- /*").count()
        + text.matches("{{- fail").count()
        + text.matches("{{ .Release.Namespace }}").count();
    assert_eq!(includes, known);
}

/// Whoever asks about a write that is over asks what the server would.
#[test]
fn a_selection_is_what_policies_compute() {
    for room in ROOMS {
        for parameter in PARAMETERS.into_iter().filter(|parameter| parameter.judges(room)) {
            let asked = selection(room, parameter, OPERATORS);
            assert_eq!(asked.last().map(|(name, _)| *name), Some("held"));
            let of_it = |policy: &Policy| {
                policy.parameter == parameter && policy.suffix.contains(room.slug)
            };
            let policies: Vec<Policy> = policies().into_iter().chain(of_stock_hosted()).collect();
            let mut same = policies.iter().filter(|policy| of_it(policy));
            assert!(same.any(|policy| policy.variables.starts_with(&asked)), "{}", room.slug);
        }
    }
    let here = selection(&ROOMS[0], Parameter::ClusterChangeGate, "tide");
    assert!(here.iter().any(|(_, text)| text.contains("request.namespace == 'tide'")));
}
