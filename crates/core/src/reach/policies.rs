//! What does the API server read? For each room and each kind of gate one admission policy that refuses and one that warns, and for each kind
//! of freeze one that refuses (RCH-14).
//!
//! They are static: what a gate says is read from the gate, as the parameter, by the server itself. All gates of the kind that stand in the
//! namespace of the write (or in the cluster) are asked, and each must permit (RCH-1); a write that no gate selects is never refused (RCH-2).
//! Nothing here looks at a label that only a live operator would set.
//!
//! Freezes are read from `spec` instead of `status` ([`freezes`], OVR-5).

use std::fmt::Write as _;

use api::{
    names,
    schema::{Kind, Scope},
};

use super::{
    fresh,
    rooms::{ROOMS, Room, SystemNamespaces, Write},
};

pub mod divert;
pub mod freezes;
pub mod guardrails;
mod nudges;
mod overrides;
mod probes;

/// A kind of object that policies take as their parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parameter {
    /// The gates of the namespace of the write.
    ChangeGate,
    /// The gates of the cluster.
    ClusterChangeGate,
    /// The freezes of the namespace of the write.
    ChangeFreeze,
    /// The freezes of the cluster.
    ClusterChangeFreeze,
}

/// Every kind of parameter.
pub const PARAMETERS: [Parameter; 4] = [
    Parameter::ChangeGate,
    Parameter::ClusterChangeGate,
    Parameter::ChangeFreeze,
    Parameter::ClusterChangeFreeze,
];

/// What a policy does with a first write that a gate does not permit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// It refuses, for gates that enforce, and notes it for the audit log, for gates that audit.
    Deny,
    /// It warns, for gates that warn.
    Warn,
}

/// An admission policy with its binding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Policy {
    /// What its name ends in, after that of the release.
    pub suffix: String,
    /// Whose windows it reads.
    pub parameter: Parameter,
    /// What it does.
    pub action: Action,
    /// The condition of the chart under which it is rendered; wherever gates are, if none.
    pub rendered: Option<&'static str>,
    /// The rules of its resources, as text of the chart.
    rules: String,
    /// What must be so for it to look: name and expression.
    pub conditions: Vec<(&'static str, String)>,
    /// What it computes: name and expression.
    pub variables: Vec<(&'static str, String)>,
    /// What must be so: expression, expression of the message, and the message if that fails.
    pub validations: Vec<(String, String, &'static str)>,
    /// What is noted for the audit log: an expression with a text, empty if nothing is.
    pub audit: Option<String>,
}

impl Parameter {
    /// Its kind.
    pub fn kind(self) -> &'static str {
        match self {
            Self::ChangeGate => names::CHANGE_GATE,
            Self::ClusterChangeGate => names::CLUSTER_CHANGE_GATE,
            Self::ChangeFreeze => names::CHANGE_FREEZE,
            Self::ClusterChangeFreeze => names::CLUSTER_CHANGE_FREEZE,
        }
    }

    /// The parameter of a kind.
    pub fn of_kind(kind: &Kind) -> Option<Self> {
        PARAMETERS.into_iter().find(|parameter| parameter.kind() == kind.name)
    }

    /// What the name of the policy ends in by which objects of this kind hold a room.
    pub fn policy(self, room: &Room) -> String {
        format!("{}-{}", self.slug(), room.slug)
    }

    /// The first part of what the names of its policies end in.
    pub fn slug(self) -> &'static str {
        match self {
            Self::ChangeGate => "gate",
            Self::ClusterChangeGate => "cluster-gate",
            Self::ChangeFreeze => "freeze",
            Self::ClusterChangeFreeze => "cluster-freeze",
        }
    }

    /// What a refusal calls the object.
    fn called(self) -> &'static str {
        match self {
            Self::ChangeGate => {
                "'ChangeGate ' + params.metadata.namespace + '/' + params.metadata.name"
            }
            Self::ClusterChangeGate => "'ClusterChangeGate ' + params.metadata.name",
            Self::ChangeFreeze => {
                "'ChangeFreeze ' + params.metadata.namespace + '/' + params.metadata.name"
            }
            Self::ClusterChangeFreeze => "'ClusterChangeFreeze ' + params.metadata.name",
        }
    }

    /// Whether it belongs to the whole cluster.
    fn is_of_cluster(self) -> bool {
        matches!(self, Self::ClusterChangeGate | Self::ClusterChangeFreeze)
    }

    /// Whether it holds anything of a room. A parameter that lives in a namespace is looked for in that of the write, and what is in none would
    /// be refused to everybody.
    pub fn judges(self, room: &Room) -> bool {
        self.is_of_cluster() || room.scope() == Scope::Namespaced
    }
}

/// Every policy, in the order of the rooms.
pub fn policies() -> Vec<Policy> {
    let each = |room: &Room| {
        let of = |parameter| match parameter {
            Parameter::ChangeGate | Parameter::ClusterChangeGate => {
                [Action::Deny, Action::Warn].map(|action| policy(room, parameter, action)).into()
            }
            Parameter::ChangeFreeze | Parameter::ClusterChangeFreeze => {
                vec![freezes::policy(room, parameter)]
            }
        };
        let known = PARAMETERS.into_iter().filter(|parameter| parameter.judges(room));
        known.flat_map(of).collect::<Vec<_>>()
    };
    ROOMS.iter().flat_map(each).collect()
}

/// The expressions by which a kind of parameter selects a first write of a room, whenever it is: `name` is what people name, `held` whether
/// the parameter selects it. For whoever asks about a write that is over; a policy judges the time as well.
pub fn selection(
    room: &Room,
    parameter: Parameter,
    operators: &str,
) -> Vec<(&'static str, String)> {
    let variables = match parameter {
        Parameter::ChangeGate | Parameter::ClusterChangeGate => variables(room, parameter),
        Parameter::ChangeFreeze | Parameter::ClusterChangeFreeze => {
            freezes::policy(room, parameter).variables
        }
    };
    let last = variables.iter().position(|(name, _)| *name == "held");
    let wanted = variables.into_iter().take(last.map_or(0, |last| last + 1));
    wanted.map(|(name, expression)| (name, expression.replace(OPERATORS, operators))).collect()
}

/// The template of the chart.
pub fn template() -> String {
    let mut text = String::from(
        "{{- /* Generated from the table of rooms in crates/core/src/reach; edit that instead. */}}\n\
         {{- if .Values.changeGates.enabled }}\n\
         {{- /* A policy whose parameters no definition defines refuses every write that it looks at, for everybody. */}}\n\
         {{- if not (or .Values.crds.install (.Capabilities.APIVersions.Has \"changemanagement.openshift.io/v1alpha1/ChangeFreeze\")) }}\n\
         {{- fail \"changeGates.enabled: install the definitions of gates and freezes first, or set crds.install\" }}\n\
         {{- end }}\n\
         # The server itself holds what gates select, outside their windows, by its own clock and with nothing of ours alive (RCH-4). A write that no\n\
         # gate and no freeze selects passes. Members of the group tidegate:initiators pass every gate and every freeze.\n",
    );
    let policies: Vec<String> = policies().iter().map(Policy::template).collect();
    text.push_str(&policies.join("---\n"));
    text.push_str("---\n");
    text.push_str(&freezes::signed());
    text.push_str("---\n");
    text.push_str(&overrides::signed());
    text.push_str("---\n");
    text.push_str(&nudges::kept());
    text.push_str("---\n");
    text.push_str(&probes::kept());
    text.push_str("---\n");
    text.push_str(&derived());
    text.push_str("---\n");
    text.push_str(&guard());
    text.push_str("{{- end }}\n");
    text
}

/// What keeps gates that were derived (RCH-8): whoever could write one would open it by an object of theirs. Its status is what the server
/// goes by, an owner that is not there has it collected, and without it nothing holds until it is derived again. With its namespace it may go.
fn derived() -> String {
    let head = |kind: &str| head(kind, "derived-gates");
    let operator =
        "'system:serviceaccount:{{ .Release.Namespace }}:{{ include \"tidegate.account\" . }}'";
    let is_derived = |object: &str| {
        format!("({object} != null && has({object}.spec) && has({object}.spec.derivedFrom))")
    };
    let differs = |part: &str| {
        format!(
            "(has(object.{part}) ? [object.{part}] : []) != (has(oldObject.{part}) ? [oldObject.{part}] : [])"
        )
    };
    format!(
        "{}  failurePolicy: Fail\n  matchConstraints:\n    resourceRules:\n    - apiGroups: [changemanagement.openshift.io]\n      apiVersions: [\"*\"]\n      \
         operations: [CREATE, UPDATE, DELETE]\n      resources: [changegates, changegates/status]\n  matchConditions:\n  - name: derived\n    expression: >-\n      \
         {} || {}\n  - name: changes\n    expression: >-\n      object == null || oldObject == null || {} || {} || {}\n  \
         - name: not-by-hand\n    expression: >-\n      {}\n  validations:\n  - expression: >-\n      \
         request.userInfo.username == {operator} || (object == null && namespaceObject != null && has(namespaceObject.metadata.deletionTimestamp))\n    message: >-\n      \
         spec.derivedFrom: only the operator derives gates, changes and deletes them; hint: edit the object that it was derived from, or make a gate of your own beside it\n    \
         reason: Forbidden\n---\n{}  policyName: {}\n  validationActions: [Deny]\n",
        head("ValidatingAdmissionPolicy"),
        is_derived("object"),
        is_derived("oldObject"),
        differs("spec"),
        differs("status"),
        differs("metadata.ownerReferences"),
        not_by_hand(),
        head("ValidatingAdmissionPolicyBinding"),
        called_in_chart("derived-gates"),
    )
}

/// What keeps the definitions of the parameters while policies read them (RCH-7): without one, the API server would admit everything for
/// seconds, and after its next start refuse every write that the policies look at, whoever sends it.
fn guard() -> String {
    let definitions: Vec<String> = PARAMETERS
        .iter()
        .map(|parameter| format!("'{}.{}'", names::plural(parameter.kind()), names::GROUP))
        .collect();
    let head = |kind: &str| head(kind, "gate-definitions");
    format!(
        "{}  failurePolicy: Fail\n  matchConstraints:\n    resourceRules:\n    - apiGroups: [apiextensions.k8s.io]\n      apiVersions: [\"*\"]\n      \
         operations: [DELETE]\n      resources: [customresourcedefinitions]\n  matchConditions:\n  - name: ours\n    expression: >-\n      \
         oldObject != null && oldObject.metadata.name in [{}]\n  - name: not-by-hand\n    expression: >-\n      {}\n  validations:\n  - expression: \"false\"\n    message: >-\n      \
         admission policies read this definition, and without it the server would refuse every write that they look at; hint: remove the policies \
         first, by changeGates.enabled=false or by kubectl delete -f deploy/manifests/change-gates/change-gates.yaml\n    reason: Forbidden\n---\n{}  \
         policyName: {}\n  validationActions: [Deny]\n",
        head("ValidatingAdmissionPolicy"),
        definitions.join(", "),
        not_by_hand(),
        head("ValidatingAdmissionPolicyBinding"),
        called_in_chart("gate-definitions"),
    )
}

fn not_by_hand() -> String {
    format!("!('{}' in request.userInfo.groups)", names::INITIATORS)
}

fn called_in_chart(suffix: &str) -> String {
    format!("{{{{ include \"tidegate.name\" . }}}}-{suffix}")
}

fn head(kind: &str, suffix: &str) -> String {
    format!(
        "apiVersion: admissionregistration.k8s.io/v1\nkind: {kind}\nmetadata:\n  name: {}\n  labels:\n    \
         {{{{- include \"tidegate.labels\" . | nindent 4 }}}}\nspec:\n",
        called_in_chart(suffix)
    )
}

/// The namespace of the operator, in the words of the chart.
const OPERATORS: &str = "{{ .Release.Namespace }}";

fn policy(room: &Room, parameter: Parameter, action: Action) -> Policy {
    let judged = match action {
        Action::Deny => "!has(params.spec.mode) || params.spec.mode != 'Warn'",
        Action::Warn => "has(params.spec.mode) && params.spec.mode == 'Warn'",
    };
    let suffix = match action {
        Action::Deny => parameter.policy(room),
        Action::Warn => format!("{}-warn", parameter.policy(room)),
    };
    Policy {
        suffix,
        parameter,
        action,
        rendered: room.rendered,
        rules: looked_at(room),
        conditions: vec![
            ("begins", room.begins.to_owned()),
            ("not-by-hand", not_by_hand()),
            ("place", probes::place()),
            ("mode", judged.to_owned()),
            ("room", format!("params.spec.holds.exists(hold, hold.what == '{}')", room.name_of())),
        ],
        variables: variables(room, parameter),
        validations: validations(room, parameter, action),
        audit: (action == Action::Deny).then(|| {
            format!(
                "variables.audits && variables.held && !variables.open ? 'would be held by ' + {} : ''",
                parameter.called()
            )
        }),
    }
}

/// What the server looks at.
fn looked_at(room: &Room) -> String {
    let mut text = rules(room.writes);
    if let Some((key, value)) = room.marked {
        let _ = writeln!(text, "    objectSelector:\n      matchLabels: {{{key}: {value}}}");
    }
    text
}

/// The same of changes of what is there.
fn looked_at_updates(room: &Room) -> String {
    let changes = |write: &Write| Write { operations: &["UPDATE"], ..*write };
    rules(&room.writes.iter().map(changes).collect::<Vec<_>>())
}

fn rules(writes: &[Write]) -> String {
    let rule = |write: &Write| {
        format!(
            "    - apiGroups: [{}]\n      apiVersions: [\"*\"]\n      operations: [{}]\n      resources: [{}]\n",
            write.group,
            write.operations.join(", "),
            write.resources.join(", ")
        )
    };
    writes.iter().map(rule).collect()
}

/// Whether a `hold` is of this room and chooses what is written.
fn names_of(room: &Room) -> String {
    format!(
        "hold.what == '{}' && ((!has(hold.names) && !has(hold.selector)) || \
         (has(hold.names) && variables.name in hold.names) || \
         (has(hold.selector) && variables.labelled.exists(chosen, {})))",
        room.name_of(),
        selects("hold.selector", "chosen"),
    )
}

/// Whether the parameter lets whoever writes pass.
fn exempt() -> String {
    "has(params.spec.exempt) && ((has(params.spec.exempt.groups) && params.spec.exempt.groups.exists(group, group in request.userInfo.groups)) || \
     (has(params.spec.exempt.users) && request.userInfo.username in params.spec.exempt.users) || \
     (has(params.spec.exempt.serviceAccounts) && params.spec.exempt.serviceAccounts.exists(account, 'system:serviceaccount:' + account == request.userInfo.username)))"
        .to_owned()
}

fn variables(room: &Room, parameter: Parameter) -> Vec<(&'static str, String)> {
    let way = format!("(has(hold.how) ? hold.how : '{}')", room.first_way());
    let holds = with_allows(&with_selects(&room.holds.replace("{way}", &way)), |option| {
        format!("(has(hold.allow) && '{option}' in hold.allow)")
    });
    let mut variables = vec![
        ("name", room.name.to_owned()),
        ("labelled", room.labels.to_owned()),
        ("holds", format!("params.spec.holds.filter(hold, {} && ({holds}))", names_of(room))),
        ("exempt", exempt()),
    ];
    let mut held = "variables.holds.size() > 0 && !variables.exempt".to_owned();
    if parameter == Parameter::ClusterChangeGate {
        variables.push(("here", here(room.scope(), room.system)));
        held.push_str(" && variables.here");
    }
    variables.push(("held", held));
    variables.push(("audits", "has(params.spec.mode) && params.spec.mode == 'Audit'".to_owned()));
    variables.extend(fresh::VARIABLES.map(|(name, expression)| (name, expression.to_owned())));
    let others = [
        // RCH-2: without a status, not ready, lagging: closed.
        (
            "known",
            "has(params.status) && has(params.status.observedGeneration) && params.status.observedGeneration == params.metadata.generation && \
             has(params.status.conditions) && params.status.conditions.exists(condition, condition.type == 'Ready' && condition.status == 'True')",
        ),
        (
            "windows",
            "has(params.status) && has(params.status.windows) ? params.status.windows : []",
        ),
        // RCH-10: windows that cover all time ask for no stamp.
        (
            "always",
            "variables.known && variables.windows.exists(window, !has(window.startTime) && !has(window.endTime))",
        ),
        (
            "inside",
            "variables.fresh.all(stamp, variables.windows.exists(window, (!has(window.startTime) || stamp >= timestamp(window.startTime)) && \
             (!has(window.endTime) || stamp < timestamp(window.endTime)))) && \
             (!has(params.status) || !has(params.status.computedUntil) || variables.fresh.all(stamp, stamp < timestamp(params.status.computedUntil)))",
        ),
        (
            "open",
            "variables.always || (variables.known && variables.fresh.size() > 0 && variables.inside)",
        ),
        (
            "ahead",
            "variables.windows.filter(window, has(window.startTime) && variables.fresh.all(stamp, timestamp(window.startTime) > stamp)).map(window, string(window.startTime))",
        ),
    ];
    variables.extend(others.map(|(name, expression)| (name, expression.to_owned())));
    variables
}

/// RCH-13: where a gate of the cluster holds.
fn here(scope: Scope, system: SystemNamespaces) -> String {
    let selector = "params.spec.namespaceSelector";
    // What is in no namespace is chosen only without a selector of namespaces.
    if scope == Scope::Cluster {
        return format!("!has({selector})");
    }
    let selected =
        format!("(!has({selector}) || {})", selects(selector, "namespaceObject.metadata"));
    if system == SystemNamespaces::Held {
        return selected;
    }
    format!(
        "{selected} && (!(request.namespace.startsWith('kube-') || request.namespace.startsWith('openshift-') || request.namespace == '{OPERATORS}') || \
         (has({selector}) && ((has({selector}.matchLabels) && '{LABEL}' in {selector}.matchLabels) || \
         (has({selector}.matchExpressions) && {selector}.matchExpressions.exists(named, named.key == '{LABEL}' && named.operator == 'In')))))"
    )
}

/// The label by which a namespace is named.
const LABEL: &str = "kubernetes.io/metadata.name";

fn validations(
    room: &Room,
    parameter: Parameter,
    action: Action,
) -> Vec<(String, String, &'static str)> {
    let spared = match action {
        Action::Deny => "variables.audits || !variables.held",
        Action::Warn => "!variables.held",
    };
    let called = parameter.called();
    let way = format!("(has(hold.how) ? hold.how : '{}')", room.first_way());
    let queues = format!("variables.holds.exists(hold, {way} == 'Queue')");
    let adds = room.adds.replace("{queues}", &queues);
    let verb = match action {
        Action::Deny => "held by ",
        Action::Warn => "would be held by ",
    };
    vec![
        (
            format!("{spared} || variables.known"),
            format!(
                "'{verb}' + {called} + ', whose windows are not known: ' + (!has(params.status) || !has(params.status.observedGeneration) ? 'nobody has written its status' : \
                 params.status.observedGeneration != params.metadata.generation ? 'its status is older than its specification' : 'it is not Ready') + \
                 '; hint: look at its conditions, and whether the operator runs'"
            ),
            "held by a gate whose windows are not known; hint: look at its conditions, and whether the operator runs",
        ),
        (
            format!(
                "{spared} || !variables.known || variables.always || variables.fresh.size() > 0"
            ),
            format!("'{verb}' + {called} + ': {}'", fresh::NO_STAMP),
            fresh::NO_STAMP,
        ),
        (
            format!(
                "{spared} || !variables.known || variables.always || variables.fresh.size() == 0 || variables.inside"
            ),
            format!(
                "'{verb}' + {called} + (variables.ahead.size() > 0 ? ', which opens at ' + variables.ahead[0] : ', for which no opening is known') + \
                 (variables.ahead.size() > 0 ? ({adds}) : '')"
            ),
            "held by a gate that is shut",
        ),
    ]
}

/// Whether a selector matches the labels of some metadata, as Kubernetes reads selectors.
fn selects(selector: &str, metadata: &str) -> String {
    let has = |key: &str| format!("(has({metadata}.labels) && {key} in {metadata}.labels)");
    let value = |key: &str| format!("{metadata}.labels[{key}]");
    format!(
        "((!has({selector}.matchLabels) || {selector}.matchLabels.all(label, {} && {} == {selector}.matchLabels[label])) && \
         (!has({selector}.matchExpressions) || {selector}.matchExpressions.all(asked, asked.operator == 'In' ? {} && {} in asked.values : \
         asked.operator == 'NotIn' ? !{} || !({} in asked.values) : asked.operator == 'Exists' ? {} : !{})))",
        has("label"),
        value("label"),
        has("asked.key"),
        value("asked.key"),
        has("asked.key"),
        value("asked.key"),
        has("asked.key"),
        has("asked.key"),
    )
}

/// Each `{selects:x}` in an expression of a room, written out.
fn with_selects(expression: &str) -> String {
    written_out(expression, "{selects:", |metadata| selects("hold.selector", metadata))
}

/// Each `{allows:x}` in an expression of a room, written out.
fn with_allows(expression: &str, allows: impl Fn(&str) -> String) -> String {
    written_out(expression, "{allows:", allows)
}

fn written_out(expression: &str, mark: &str, meant: impl Fn(&str) -> String) -> String {
    let mut parts = expression.split(mark);
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (what, rest) = part.split_once('}').unwrap_or((part, ""));
        text.push_str(&meant(what));
        text.push_str(rest);
    }
    text
}

impl Policy {
    fn template(&self) -> String {
        let Self { suffix, rules, .. } = self;
        let name = called_in_chart(suffix);
        let mut text = String::new();
        if let Some(condition) = self.rendered {
            let _ = writeln!(text, "{{{{- if {condition} }}}}");
        }
        text.push_str(&head("ValidatingAdmissionPolicy", suffix));
        let (failure, actions) = match self.action {
            Action::Deny => ("Fail", "Deny"),
            // A warning stands in nobody's way.
            Action::Warn => ("Ignore", "Warn"),
        };
        let version = names::API_VERSION;
        let kind = self.parameter.kind();
        let _ = write!(
            text,
            "  failurePolicy: {failure}\n  paramKind:\n    apiVersion: {version}\n    kind: {kind}\n  matchConstraints:\n    resourceRules:\n{rules}"
        );
        for (part, items) in [("matchConditions", &self.conditions), ("variables", &self.variables)]
        {
            let _ = writeln!(text, "  {part}:");
            for (name, expression) in items {
                let _ = writeln!(text, "  - name: {name}\n    expression: >-\n      {expression}");
            }
        }
        let _ = writeln!(text, "  validations:");
        for (expression, said, otherwise) in &self.validations {
            let _ = writeln!(
                text,
                "  - expression: >-\n      {expression}\n    messageExpression: >-\n      {said}\n    message: >-\n      {otherwise}\n    reason: Forbidden"
            );
        }
        if let Some(noted) = &self.audit {
            let _ = writeln!(
                text,
                "  auditAnnotations:\n  - key: held\n    valueExpression: >-\n      {noted}"
            );
        }
        text.push_str("---\n");
        text.push_str(&head("ValidatingAdmissionPolicyBinding", suffix));
        // Without a gate nothing is held, and nobody else's writes are refused.
        let _ = writeln!(
            text,
            "  policyName: {name}\n  validationActions: [{actions}]\n  paramRef:\n    selector: {{}}\n    parameterNotFoundAction: Allow"
        );
        if self.rendered.is_some() {
            text.push_str("{{- end }}\n");
        }
        text
    }
}

#[cfg(test)]
mod tests;
