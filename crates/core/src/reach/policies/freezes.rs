//! What does the API server read of freezes? For each room and each kind of freeze one admission policy that refuses (OVR-5, RCH-14).
//!
//! They read the specification, so that one write stops everything that it selects and nobody of ours has to be alive. A freeze without
//! `from` began with its creation: that it is there to be read is proof enough, and no clock of another server is asked.
//!
//! GATE-15: members of `tidegate:initiators` and what was begun pass; so does whom the freeze itself exempts, and nobody else.

use api::{machine::names::IMPOSSIBLE_CONFIG, schema::Scope};

use super::{
    Action, Parameter, Policy, called_in_chart, exempt, head, held, here, is_custom, is_of,
    looked_at, names_of, not_by_hand, probes, rules, told, with_allows, with_selects,
};
use crate::reach::{
    fresh,
    rooms::{Room, SystemNamespaces, Write},
};

/// What the name of the policy ends in by which freezes of the cluster hold nodes that the operator changes itself.
pub const NODES: &str = "cluster-freeze-nodes";

/// The policy by which a kind of freeze holds what a room knows.
pub(super) fn policy(room: &Room, parameter: Parameter) -> Policy {
    let name = room.name_of();
    let way = format!("'{}'", room.first_way());
    // OVR-1: whatever a gate would let pass, a freeze does not.
    let holds = with_selects(&room.holds.replace("{way}", &way));
    let holds = with_allows(&holds, |_| "false".to_owned());
    let mut variables = told(room);
    variables.extend([
        // Everything is one hold that chooses nothing.
        (
            "holds",
            format!(
                "(has(params.spec.holds) ? params.spec.holds : [{{'what': '{name}'}}]).filter(hold, {} && ({holds}))",
                names_of(room)
            ),
        ),
        ("exempt", exempt()),
    ]);
    let everywhere = parameter != Parameter::ClusterChangeFreeze;
    if !everywhere {
        variables.push(("here", here(room.scope(), room.system)));
    }
    variables.push(("held", held(room, everywhere)));
    let begins = (!is_custom(room)).then(|| ("begins", room.begins.to_owned()));
    let conditions = [
        ("not-by-hand", not_by_hand()),
        ("place", probes::place()),
        (
            "room",
            format!("!has(params.spec.holds) || params.spec.holds.exists(hold, {})", is_of(room)),
        ),
    ];
    let adds = room.adds.replace("{queues}", "false");
    Policy {
        suffix: parameter.policy(room),
        parameter,
        action: Action::Deny,
        rendered: room.rendered,
        rules: looked_at(room),
        conditions: begins.into_iter().chain(conditions).collect(),
        variables: with_time(variables),
        validations: validations(parameter, &adds, is_custom(room)),
        audit: None,
    }
}

/// When the write is, and whether the freeze is in force then.
fn with_time(mut variables: Vec<(&'static str, String)>) -> Vec<(&'static str, String)> {
    variables.extend(fresh::VARIABLES.map(|(name, expression)| (name, expression.to_owned())));
    let others = [
        // RCH-10: what neither begins nor ends by the clock asks for no stamp.
        ("lasting", "!has(params.spec.from) && !has(params.spec.until)"),
        // Whoever forges further stamps only adds to those that must lie outside.
        (
            "frozen",
            "variables.lasting || variables.fresh.exists(stamp, (!has(params.spec.from) || stamp >= timestamp(params.spec.from)) && \
             (!has(params.spec.until) || stamp < timestamp(params.spec.until)))",
        ),
    ];
    variables.extend(others.map(|(name, expression)| (name, expression.to_owned())));
    variables
}

/// What must be so. Where somebody else wrote what begins something, that is asked last.
fn validations(
    parameter: Parameter,
    adds: &str,
    is_custom: bool,
) -> Vec<(String, String, &'static str)> {
    let called = parameter.called();
    let or_spared = |others: &str| {
        if is_custom {
            format!("{others} || !variables.held")
        } else {
            format!("!variables.held || {others}")
        }
    };
    vec![
        (
            or_spared("variables.lasting || variables.fresh.size() > 0"),
            format!("'held by ' + {called} + ': {}'", fresh::NO_STAMP),
            fresh::NO_STAMP,
        ),
        (
            or_spared("!variables.frozen"),
            format!(
                "'held by ' + {called} + ' until ' + (has(params.spec.until) ? string(params.spec.until) : 'further notice') + \
                 (has(params.spec.by) ? ', by ' + params.spec.by : ', unsigned') + ': ' + params.spec.reason + (has(params.spec.until) ? ({adds}) : '')"
            ),
            "held by a freeze",
        ),
    ]
}

/// The template of the chart for the nodes that the operator changes itself: the permit of a mark is judged by a policy of its own, and a
/// freeze of the cluster by this one beside it (OVR-5).
pub fn template_of_nodes() -> String {
    format!(
        "{{{{- /* Generated from crates/core/src/reach/policies/freezes.rs; edit that instead. */}}}}\n\
         {{{{- if and .Values.managePools .Values.changeGates.enabled }}}}\n\
         # While a ClusterChangeFreeze lasts no node is told to change, whatever its permit says and with nothing of ours alive. What has begun\n\
         # finishes: a node of the control plane follows the change that was recorded.\n\
         {}{{{{- end }}}}\n",
        nodes().template()
    )
}

/// What a mark is, in the words of the policy on permits: that judges the same writes, and a test compares the two.
pub(super) const MARK: [(&str, &str); 9] = [
    ("noted", "has(object.metadata.annotations) ? object.metadata.annotations : {}"),
    (
        "notedBefore",
        "oldObject != null && has(oldObject.metadata.annotations) ? oldObject.metadata.annotations : {}",
    ),
    (
        "desired",
        "'machineconfiguration.openshift.io/desiredConfig' in variables.noted ? variables.noted['machineconfiguration.openshift.io/desiredConfig'] : ''",
    ),
    (
        "desiredBefore",
        "'machineconfiguration.openshift.io/desiredConfig' in variables.notedBefore ? variables.notedBefore['machineconfiguration.openshift.io/desiredConfig'] : ''",
    ),
    (
        "currentBefore",
        "'machineconfiguration.openshift.io/currentConfig' in variables.notedBefore ? variables.notedBefore['machineconfiguration.openshift.io/currentConfig'] : ''",
    ),
    (
        "change",
        "'changemanagement.openshift.io/permit-change' in variables.noted ? variables.noted['changemanagement.openshift.io/permit-change'] : ''",
    ),
    (
        "changeBefore",
        "'changemanagement.openshift.io/permit-change' in variables.notedBefore ? variables.notedBefore['changemanagement.openshift.io/permit-change'] : ''",
    ),
    (
        "adopts",
        "oldObject != null && variables.desiredBefore == '' && variables.currentBefore != '' && variables.desired == variables.currentBefore && variables.change == ''",
    ),
    (
        "records",
        "variables.changeBefore == '' && variables.desiredBefore != '' && variables.desired == variables.desiredBefore && variables.change == variables.desired && variables.desired != variables.currentBefore",
    ),
];

fn nodes() -> Policy {
    let parameter = Parameter::ClusterChangeFreeze;
    let mut variables: Vec<(&'static str, String)> =
        MARK.map(|(name, expression)| (name, expression.to_owned())).into();
    let further = [
        // GATE-10: the record of what was begun, which the operator alone writes.
        (
            "begun",
            "'changemanagement.openshift.io/permit-basis' in variables.noted && variables.noted['changemanagement.openshift.io/permit-basis'].startsWith('already initiated: ')"
                .to_owned(),
        ),
        // RCH-12
        (
            "pool",
            "variables.desired.matches('^rendered-.+-[^-]+$') ? variables.desired.substring(9, variables.desired.lastIndexOf('-')) : ''"
                .to_owned(),
        ),
        ("exempt", exempt()),
        // CV-2: the masters follow ClusterVersion.
        (
            "chosen",
            "!has(params.spec.holds) || params.spec.holds.exists(hold, variables.pool == 'master' ? hold.what == 'ClusterVersion' : \
             hold.what == 'MachineConfigPools' && (!has(hold.names) || variables.pool in hold.names))"
                .to_owned(),
        ),
        (
            "held",
            "variables.chosen && !variables.exempt && !variables.adopts && !variables.records && !variables.begun"
                .to_owned(),
        ),
    ];
    variables.extend(further);
    let write = Write {
        group: "\"\"",
        resources: &["nodes", "nodes/status"],
        operations: &["CREATE", "UPDATE"],
    };
    Policy {
        suffix: NODES.to_owned(),
        parameter,
        action: Action::Deny,
        rendered: None,
        rules: rules(&[write]),
        conditions: vec![
            (
                "orders",
                "['machineconfiguration.openshift.io/desiredConfig', 'changemanagement.openshift.io/permit-change'].exists(key, \
                 (has(object.metadata.annotations) && key in object.metadata.annotations ? [object.metadata.annotations[key]] : []) != \
                 (oldObject != null && has(oldObject.metadata.annotations) && key in oldObject.metadata.annotations ? [oldObject.metadata.annotations[key]] : []))"
                    .to_owned(),
            ),
            ("not-by-hand", not_by_hand()),
            // GATE-13: whether the policy on permits refuses is tried while things are frozen too, and this one must not answer for it.
            (
                "not-a-try",
                format!(
                    "!(has(object.metadata.annotations) && 'machineconfiguration.openshift.io/desiredConfig' in object.metadata.annotations && \
                     object.metadata.annotations['machineconfiguration.openshift.io/desiredConfig'] == '{IMPOSSIBLE_CONFIG}')"
                ),
            ),
            // RCH-13: what is in no namespace is chosen only without a selector of namespaces.
            ("cluster", "!has(params.spec.namespaceSelector)".to_owned()),
        ],
        variables: with_time(variables),
        validations: validations(parameter, "''", false),
        audit: None,
    }
}

/// The template of the chart for updates of the control plane that the operator lets begin: the permit of a mark is judged by a policy of its
/// own, and a freeze of the cluster by this one beside it (OVR-5).
pub fn template_of_updates() -> String {
    format!(
        "{{{{- /* Generated from crates/core/src/reach/policies/freezes.rs; edit that instead. */}}}}\n\
         {{{{- if and .Values.managePools .Values.manageUpdates .Values.changeGates.enabled }}}}\n\
         # While a ClusterChangeFreeze lasts no update of the control plane is let begin, whatever its permit says and with nothing of ours alive.\n\
         # What has begun finishes.\n\
         {}{{{{- end }}}}\n",
        updates().template()
    )
}

fn updates() -> Policy {
    const MARK: &str = api::names::ACCEPTED_RELEASE;
    let parameter = Parameter::ClusterChangeFreeze;
    let noted = |object: &str| {
        format!(
            "has({object}.metadata.annotations) && '{MARK}' in {object}.metadata.annotations ? [{object}.metadata.annotations['{MARK}']] : []"
        )
    };
    let variables = vec![
        ("exempt", exempt()),
        (
            "held",
            "(!has(params.spec.holds) || params.spec.holds.exists(hold, hold.what == 'ClusterVersion')) && !variables.exempt".to_owned(),
        ),
    ];
    let write = Write {
        group: "config.openshift.io",
        resources: &["clusterversions", "clusterversions/status"],
        operations: &["CREATE", "UPDATE"],
    };
    Policy {
        suffix: "cluster-freeze-marks".to_owned(),
        parameter,
        action: Action::Deny,
        rendered: None,
        rules: rules(&[write]),
        conditions: vec![
            (
                "marks",
                format!("({}) != (oldObject != null && {})", noted("object"), noted("oldObject")),
            ),
            ("not-by-hand", not_by_hand()),
            // GATE-13: whether the policy on marks refuses is tried while things are frozen too, and this one must not answer for it.
            ("not-a-try", format!("({}) != ['{IMPOSSIBLE_CONFIG}']", noted("object"))),
            // RCH-13: what is in no namespace is chosen only without a selector of namespaces.
            ("cluster", "!has(params.spec.namespaceSelector)".to_owned()),
        ],
        variables: with_time(variables),
        validations: validations(parameter, "''", false),
        audit: None,
    }
}

/// The template of the chart for changes of hosted clusters that the operator lets begin, for freezes of the platform and of the team that
/// hosts them (OVR-5).
pub fn template_of_hosted() -> String {
    format!(
        "{{{{- /* Generated from crates/core/src/reach/policies/freezes.rs; edit that instead. */}}}}\n\
         {{{{- if and .Values.manageHosted .Values.changeGates.enabled }}}}\n\
         # While a freeze lasts no change of a hosted cluster that it reaches is let begin, whatever its permit says and with nothing of ours alive.\n\
         # What has begun finishes.\n\
         {}---\n{}{{{{- end }}}}\n",
        hosted(Parameter::ChangeFreeze).template(),
        hosted(Parameter::ClusterChangeFreeze).template()
    )
}

fn hosted(parameter: Parameter) -> Policy {
    const MARKS: &str = "['changemanagement.openshift.io/accepted-release', 'changemanagement.openshift.io/accepted-config']";
    let mut held = "(!has(params.spec.holds) || params.spec.holds.exists(hold, \
                    hold.what == (request.resource.resource == 'nodepools' ? 'NodePools' : 'HostedClusters') && \
                    (!has(hold.names) || object.metadata.name in hold.names))) && !variables.exempt"
        .to_owned();
    let mut variables = vec![("exempt", exempt())];
    match parameter {
        Parameter::ClusterChangeFreeze | Parameter::ClusterChangeGate => {
            variables.push(("here", here(Scope::Namespaced, SystemNamespaces::Held)));
            held.push_str(" && variables.here");
        }
        // GATE-15: an override of the platform passes a freeze of a team, and the operator alone writes what its permit rests on.
        Parameter::ChangeFreeze | Parameter::ChangeGate => held.push_str(
            " && !(has(object.metadata.annotations) && 'changemanagement.openshift.io/permit-basis' in object.metadata.annotations && \
             object.metadata.annotations['changemanagement.openshift.io/permit-basis'].startsWith('override: ClusterChangeOverride/'))",
        ),
    }
    variables.push(("held", held));
    let write = Write {
        group: "hypershift.openshift.io",
        resources: &["hostedclusters", "hostedclusters/status", "nodepools", "nodepools/status"],
        operations: &["CREATE", "UPDATE"],
    };
    Policy {
        suffix: format!("{}-hosted-marks", parameter.slug()),
        parameter,
        action: Action::Deny,
        rules: rules(&[write]),
        conditions: vec![
            (
                "marks",
                format!(
                    "{MARKS}.exists(key, (has(object.metadata.annotations) && key in object.metadata.annotations ? [object.metadata.annotations[key]] : []) != \
                     (oldObject != null && has(oldObject.metadata.annotations) && key in oldObject.metadata.annotations ? [oldObject.metadata.annotations[key]] : []))"
                ),
            ),
            ("not-by-hand", not_by_hand()),
            // GATE-13: whether the policy on marks refuses is tried while things are frozen too, and this one must not answer for it.
            (
                "not-a-try",
                format!(
                    "!(has(object.metadata.annotations) && {MARKS}.exists(key, key in object.metadata.annotations && object.metadata.annotations[key] == '{IMPOSSIBLE_CONFIG}'))"
                ),
            ),
        ],
        variables: with_time(variables),
        validations: validations(parameter, "''", false),
        audit: None,
        rendered: None,
    }
}

/// What keeps freezes honest (OVR-3): who signs is who writes, and one that is over before it is there says so.
pub(super) fn signed() -> String {
    let head = |kind: &str| head(kind, "freezes");
    format!(
        "{}  failurePolicy: Fail\n  matchConstraints:\n    resourceRules:\n    - apiGroups: [changemanagement.openshift.io]\n      apiVersions: [\"*\"]\n      \
         operations: [CREATE, UPDATE]\n      resources: [changefreezes, clusterchangefreezes]\n  validations:\n  - expression: >-\n      \
         request.operation != 'CREATE' || !has(object.spec.by) || object.spec.by == request.userInfo.username\n    messageExpression: >-\n      \
         'spec.by: you are ' + request.userInfo.username + ', and who freezes signs with their own name; hint: leave it out, or write that'\n    message: >-\n      \
         spec.by: who freezes signs with their own name; hint: leave it out\n    reason: Forbidden\n  - expression: >-\n      \
         request.operation != 'UPDATE' || (has(object.spec.by) ? [object.spec.by] : []) == (has(oldObject.spec.by) ? [oldObject.spec.by] : [])\n    message: >-\n      \
         spec.by: who froze cannot be changed afterwards; hint: make another freeze, and delete this one\n    reason: Forbidden\n  - expression: >-\n      \
         request.operation != 'CREATE' || !has(object.spec.until) || timestamp(object.spec.until) > timestamp(object.metadata.creationTimestamp)\n    message: >-\n      \
         spec.until: it is over already, so nothing would be frozen; hint: write a later instant\n    reason: Forbidden\n---\n{}  \
         policyName: {}\n  validationActions: [Deny]\n",
        head("ValidatingAdmissionPolicy"),
        head("ValidatingAdmissionPolicyBinding"),
        called_in_chart("freezes"),
    )
}
