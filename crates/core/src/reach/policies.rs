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
    rooms::{CUSTOM, MASTERS, ROOMS, Room, SystemNamespaces, Write},
};

pub mod custom;
pub mod divert;
pub mod freezes;
pub mod guardrails;
mod kept;
mod nudges;
mod overrides;
mod probes;
mod text;

use text::{called_in_chart, head, not_by_hand};

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

    /// The same of a room of somebody's own.
    pub fn policy_of_custom(self, name: &str) -> String {
        format!("{}-custom-{name}", self.slug())
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

/// Every policy of what people name in `holds`, in the order of the rooms, but for rooms that stand alone.
pub fn policies() -> Vec<Policy> {
    ROOMS.iter().filter(|room| !room.stands_alone()).flat_map(of_room).collect()
}

/// The policies of the rooms for a stock `HyperShift`. They stand alone, because they must not be there where whoever runs hosted clusters follows
/// marks: there a release is a wish, and whoever writes one is not refused (HOST-1).
pub fn of_stock_hosted() -> Vec<Policy> {
    ROOMS.iter().filter(|room| room.stands_alone()).flat_map(of_room).collect()
}

/// Their template of the chart.
pub fn template_of_stock_hosted() -> String {
    let alone = |policy: Policy| Policy { rendered: None, ..policy }.template();
    let policies: Vec<String> = of_stock_hosted().into_iter().map(alone).collect();
    format!(
        "{{{{- /* Generated from crates/core/src/reach/rooms/hosted.rs; edit that instead. */}}}}\n\
         {{{{- if and .Values.changeGates.enabled (not .Values.manageHosted) }}}}\n\
         # On a stock HyperShift a release of a hosted cluster or of its nodes begins with the write that asks for it, so gates and freezes hold that write.\n\
         {}{{{{- end }}}}\n",
        policies.join("---\n")
    )
}

/// The policies of a room, in the order of the parameters.
fn of_room(room: &Room) -> Vec<Policy> {
    let of = |parameter| match parameter {
        Parameter::ChangeGate | Parameter::ClusterChangeGate => {
            [Action::Deny, Action::Warn].map(|action| policy(room, parameter, action)).into()
        }
        Parameter::ChangeFreeze | Parameter::ClusterChangeFreeze => {
            vec![freezes::policy(room, parameter)]
        }
    };
    let known = PARAMETERS.into_iter().filter(|parameter| parameter.judges(room));
    known.flat_map(of).collect()
}

/// The template of the chart for the nodes of a stock control plane, which whatever holds its updates holds (CV-2). It stands alone, because it
/// must not be there where nobody notes on nodes that an update has begun (GATE-10).
pub fn template_of_masters() -> String {
    let alone = |policy: Policy| Policy { rendered: None, ..policy }.template();
    let policies: Vec<String> = of_room(MASTERS).into_iter().map(alone).collect();
    format!(
        "{{{{- /* Generated from crates/core/src/reach/rooms/masters.rs; edit that instead. */}}}}\n\
         {{{{- if and .Values.changeGates.enabled ({}) }}}}\n\
         # On a stock OpenShift the nodes of the control plane wait for whatever holds ClusterVersion, and an update that has begun takes them along: a node\n\
         # that carries begun-release, which the operator alone writes, passes gates and freezes.\n\
         {}{{{{- end }}}}\n",
        MASTERS.rendered.unwrap_or("true"),
        policies.join("---\n")
    )
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
    text.push_str(&kept::derived());
    text.push_str("---\n");
    text.push_str(&kept::guard());
    text.push_str("{{- end }}\n");
    text
}

/// The namespace of the operator, in the words of the chart.
const OPERATORS: &str = "{{ .Release.Namespace }}";

fn policy(room: &Room, parameter: Parameter, action: Action) -> Policy {
    // An expression that fails would also fail the line for the audit log, and that of a policy that refuses is a refusal: rooms of somebody's own are
    // noted by the policy that warns.
    let judged = match (action, is_custom(room)) {
        (Action::Deny, false) => "!has(params.spec.mode) || params.spec.mode != 'Warn'",
        (Action::Warn, false) => "has(params.spec.mode) && params.spec.mode == 'Warn'",
        (Action::Deny, true) => {
            "!has(params.spec.mode) || !(params.spec.mode in ['Warn', 'Audit'])"
        }
        (Action::Warn, true) => "has(params.spec.mode) && params.spec.mode in ['Warn', 'Audit']",
    };
    let notes = if is_custom(room) { Action::Warn } else { Action::Deny };
    let begins = (!is_custom(room)).then(|| ("begins", room.begins.to_owned()));
    let conditions = [
        ("not-by-hand", not_by_hand()),
        ("place", probes::place()),
        ("mode", judged.to_owned()),
        ("room", format!("params.spec.holds.exists(hold, {})", is_of(room))),
    ];
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
        conditions: begins.into_iter().chain(conditions).collect(),
        variables: variables(room, parameter),
        validations: validations(room, parameter, action),
        audit: (action == notes).then(|| {
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
    match room.marked {
        Some((key, Some(value))) => {
            let _ = writeln!(text, "    objectSelector:\n      matchLabels: {{{key}: {value}}}");
        }
        Some((key, None)) => {
            let _ = writeln!(
                text,
                "    objectSelector:\n      matchExpressions:\n      - {{key: {key}, operator: Exists}}"
            );
        }
        None => {}
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

/// Whether it is a room of somebody's own.
fn is_custom(room: &Room) -> bool {
    room.what == CUSTOM.what
}

/// Whether a `hold` is of this room. A freeze of everything names no room of somebody's own.
fn is_of(room: &Room) -> String {
    let what = format!("hold.what == '{}'", room.name_of());
    if is_custom(room) {
        return format!("{what} && (!has(hold.rooms) || '{}' in hold.rooms)", custom::NAME);
    }
    what
}

/// Whether a `hold` is of this room and chooses what is written.
fn names_of(room: &Room) -> String {
    format!(
        "{} && ((!has(hold.names) && !has(hold.selector)) || \
         (has(hold.names) && variables.name in hold.names) || \
         (has(hold.selector) && variables.labelled.exists(chosen, {})))",
        is_of(room),
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

/// What is told of a write: whether it begins something, where somebody else says so, what people name, and whose labels they choose by.
fn told(room: &Room) -> Vec<(&'static str, String)> {
    let initiates = is_custom(room).then(|| ("initiates", custom::INITIATES.to_owned()));
    let others = [("name", room.name.to_owned()), ("labelled", room.labels.to_owned())];
    initiates.into_iter().chain(others).collect()
}

/// Whether the parameter holds the write. What somebody else wrote is asked last.
fn held(room: &Room, everywhere: bool) -> String {
    let mut parts = vec!["variables.holds.size() > 0", "!variables.exempt"];
    if !everywhere {
        parts.push("variables.here");
    }
    if is_custom(room) {
        parts.reverse();
    }
    parts.join(" && ")
}

fn variables(room: &Room, parameter: Parameter) -> Vec<(&'static str, String)> {
    let way = format!("(has(hold.how) ? hold.how : '{}')", room.first_way());
    let holds = with_allows(&with_selects(&room.holds.replace("{way}", &way)), |option| {
        format!("(has(hold.allow) && '{option}' in hold.allow)")
    });
    let mut variables = told(room);
    variables.extend([
        ("holds", format!("params.spec.holds.filter(hold, {} && ({holds}))", names_of(room))),
        ("exempt", exempt()),
    ]);
    let everywhere = parameter != Parameter::ClusterChangeGate;
    if !everywhere {
        variables.push(("here", here(room.scope(), room.system)));
    }
    variables.push(("held", held(room, everywhere)));
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
    // Of rooms of somebody's own the policy that warns notes as well.
    let spared = match (action, is_custom(room)) {
        (Action::Deny, false) | (Action::Warn, true) => "variables.audits || !variables.held",
        (Action::Warn, false) | (Action::Deny, true) => "!variables.held",
    };
    // What passes anyway is not asked by somebody else's expression.
    let or_spared = |others: &str| {
        if is_custom(room) {
            format!("{others} || {spared}")
        } else {
            format!("{spared} || {others}")
        }
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
            or_spared("variables.known"),
            format!(
                "'{verb}' + {called} + ', whose windows are not known: ' + (!has(params.status) || !has(params.status.observedGeneration) ? 'nobody has written its status' : \
                 params.status.observedGeneration != params.metadata.generation ? 'its status is older than its specification' : 'it is not Ready') + \
                 '; hint: look at its conditions, and whether the operator runs'"
            ),
            "held by a gate whose windows are not known; hint: look at its conditions, and whether the operator runs",
        ),
        (
            or_spared("!variables.known || variables.always || variables.fresh.size() > 0"),
            format!("'{verb}' + {called} + ': {}'", fresh::NO_STAMP),
            fresh::NO_STAMP,
        ),
        (
            or_spared(
                "!variables.known || variables.always || variables.fresh.size() == 0 || variables.inside",
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

#[cfg(test)]
mod tests;
