//! What does the API server read of rooms of somebody's own? The same policies as of any other room, with what the values of the chart say in the places
//! of what a room knows (RCH-14).
//!
//! They are text of the chart; [`rendered`] is the same text for one room, so that a room can be tried before anybody installs it.

use api::{names, schema::Scope};
use serde::Serialize;

use super::{Action, Parameter, Policy, freezes, here, policy};
use crate::reach::{
    custom::CustomRoom,
    rooms::{CUSTOM, SystemNamespaces},
};

/// What stands in the text for a part of a room.
pub(super) const NAME: &str = "{{ $room.name }}";
pub(super) const INITIATES: &str = "{{ $room.initiates | toJson }}";
const TEXT: &str = "{{ with $room.text }}'; ' + {{ . | toJson }}{{ else }}''{{ end }}";
const GROUPS: &str = "{{ $room.apiGroups | toJson }}";
const VERSIONS: &str = "{{ $room.apiVersions | default (list \"*\") | toJson }}";
const OPERATIONS: &str = "{{ $room.operations | toJson }}";
const RESOURCES: &str = "{{ $room.resources | toJson }}";

/// What is looked at.
pub(super) fn rules(scope: Scope) -> String {
    let scope = match scope {
        Scope::Namespaced => "Namespaced",
        Scope::Cluster => "Cluster",
    };
    format!(
        "    - apiGroups: {GROUPS}\n      apiVersions: {VERSIONS}\n      operations: {OPERATIONS}\n      resources: {RESOURCES}\n      scope: {scope}\n"
    )
}

/// The policies of a room of this scope. A freeze of a team is asked in its namespace, and what is in none would be refused to everybody.
pub fn policies(scope: Scope) -> Vec<Policy> {
    let gates = [Action::Deny, Action::Warn]
        .map(|action| policy(CUSTOM, Parameter::ClusterChangeGate, action));
    let team = (scope == Scope::Namespaced).then_some(Parameter::ChangeFreeze);
    let freezes = team.into_iter().chain([Parameter::ClusterChangeFreeze]);
    let all = gates.into_iter().chain(freezes.map(|kind| freezes::policy(CUSTOM, kind)));
    let scoped = |mut policy: Policy| {
        policy.rules = rules(scope);
        for (name, expression) in &mut policy.variables {
            if *name == "here" {
                *expression = here(scope, SystemNamespaces::LeftAlone);
            }
        }
        policy
    };
    all.map(scoped).collect()
}

fn text(scope: Scope) -> String {
    let policies: Vec<String> = policies(scope).iter().map(Policy::template).collect();
    policies.join("---\n")
}

/// The template of the chart.
pub fn template() -> String {
    format!(
        "{{{{- /* Generated from crates/core/src/reach/policies/custom.rs; edit that instead. */}}}}\n\
         {{{{- if .Values.changeGates.enabled }}}}\n\
         {{{{- $taken := dict }}}}\n\
         {{{{- range $room := .Values.changeGates.custom }}}}\n\
         {{{{- if hasKey $taken $room.name }}}}\n\
         {{{{- fail (printf \"changeGates.custom: the name %s is there twice; hint: give each room a name of its own\" $room.name) }}}}\n\
         {{{{- end }}}}\n\
         {{{{- $_ := set $taken $room.name true }}}}\n\
         {{{{- with $ }}}}\n\
         ---\n\
         # A room of your own. Its expression is asked last, where a gate or a freeze chose a write and is shut: one that fails holds nothing else.\n\
         {{{{- if eq ($room.scope | default \"Namespaced\") \"Cluster\" }}}}\n\
         {}{{{{- else }}}}\n\
         {}{{{{- end }}}}\n\
         {{{{- end }}}}\n\
         {{{{- end }}}}\n\
         {{{{- end }}}}\n",
        text(Scope::Cluster),
        text(Scope::Namespaced)
    )
}

/// The expressions by which a kind of parameter selects a write of a room, whenever it is: as of any other room, with what this one says.
pub fn selection(
    room: &CustomRoom,
    parameter: Parameter,
    operators: &str,
) -> Vec<(&'static str, String)> {
    let here = here(room.scope, SystemNamespaces::LeftAlone).replace(super::OPERATORS, operators);
    let filled = |(name, expression): (&'static str, String)| match name {
        "initiates" => (name, room.initiates.clone()),
        "here" => (name, here.clone()),
        _ => (name, expression.replace(NAME, &room.name)),
    };
    super::selection(CUSTOM, parameter, operators).into_iter().map(filled).collect()
}

/// The objects of one room as text, as the chart renders them for a release of this name in this namespace.
pub fn rendered(room: &CustomRoom, release: &str, operators: &str) -> String {
    let added = room.text.as_ref().filter(|text| !text.is_empty());
    let added = added.map_or_else(|| "''".to_owned(), |text| format!("'; ' + {}", json(text)));
    let labels = "app.kubernetes.io/name: tidegate";
    let places = [
        (TEXT, added),
        (INITIATES, json(&room.initiates)),
        (GROUPS, json(&room.api_groups)),
        (VERSIONS, json(&room.api_versions)),
        (OPERATIONS, json(&room.operations)),
        (RESOURCES, json(&room.resources)),
        (NAME, room.name.clone()),
        ("{{- include \"tidegate.labels\" . | nindent 4 }}", labels.to_owned()),
        ("{{ include \"tidegate.name\" . }}", release.to_owned()),
        ("{{ include \"tidegate.probes\" . }}", names::PROBE.to_owned()),
        (super::OPERATORS, operators.to_owned()),
    ];
    places.iter().fold(text(room.scope), |text, (place, part)| text.replace(place, part))
}

/// A part as JSON, which YAML and expressions read alike.
fn json<T: Serialize + ?Sized>(part: &T) -> String {
    // A text that was read can be written.
    serde_json::to_string(part).unwrap_or_default()
}
