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
        ]
    );
}

/// GATE-7: one text judges the time in all of them.
#[test]
fn every_policy_judges_by_the_one_fresh_rule() {
    for policy in policies() {
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
        assert!(guard().contains(&name), "{name}");
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
    let text = template() + &freezes::template_of_nodes();
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
            let policies = policies();
            let mut same = policies.iter().filter(|policy| of_it(policy));
            assert!(same.any(|policy| policy.variables.starts_with(&asked)), "{}", room.slug);
        }
    }
    let here = selection(&ROOMS[0], Parameter::ClusterChangeGate, "tide");
    assert!(here.iter().any(|(_, text)| text.contains("request.namespace == 'tide'")));
}
