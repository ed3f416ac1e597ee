//! What does the API server judge of guardrails by itself? (GRD-1, GRD-3, GRD-6)
//!
//! For each subject (policies, stanzas, overrides, freezes, bypass, consent) one admission policy that refuses, for guardrails that are
//! enforced, and notes it for the audit log, for those that audit; and one that warns. They judge writes that change something of the subject,
//! so what was there before stays as it is (GRD-5). Members of the group tidegate:initiators pass, and so does the operator, which only ever
//! copies what somebody wrote.

use std::fmt::Write as _;

use api::{kinds, machine::names as machine, names, schema::Kind};

use super::{called_in_chart, head, not_by_hand, selects};
use crate::reach::fresh;

/// What is judged together.
struct Subject {
    /// What its names end in.
    slug: &'static str,
    /// Group and resources that are looked at.
    looked_at: &'static [(&'static str, &'static [&'static str])],
    /// Whether a write changes anything of the subject.
    changes: String,
    /// What it computes: name and expression.
    variables: Vec<(&'static str, String)>,
    /// Each demand: what must be so, what is said where it is not, and the same in plain words.
    demands: Vec<(String, String, &'static str)>,
}

const OURS: &str = "changemanagement.openshift.io";
const CALLED: &str = "'ChangeGuardrail ' + params.metadata.name";

fn subjects() -> Vec<Subject> {
    vec![policies(), stanzas(), overrides(), freezes(), bypass(), consent()]
}

fn policies() -> Subject {
    let exclude = "object.spec.maintenanceSchedule.exclude";
    // Of what recurs one run is judged; whether runs touch, and become one, takes the whole of the schedule.
    let length = "(has(entry.fromDate) ? (has(entry.untilDate) ? timestamp(entry.untilDate + 'T00:00:00Z') - timestamp(entry.fromDate + 'T00:00:00Z') : duration('24h')) : \
                  has(entry.from) ? timestamp(entry.until) - timestamp(entry.from) : \
                  has(entry.duration) ? duration(entry.duration) : duration('0s'))";
    let called = "(has(entry.fromDate) ? 'from ' + entry.fromDate : has(entry.from) ? 'from ' + string(entry.from) : 'what recurs for ' + entry.duration)";
    Subject {
        slug: "policies",
        looked_at: &[(OURS, &["changemanagementpolicies", "hostedchangemanagementpolicies"])],
        changes: "request.operation == 'CREATE' || object.spec != oldObject.spec".into(),
        variables: vec![(
            "long",
            format!(
                "has(params.spec.longestExclusion) && object.spec.strategy == 'MaintenanceSchedule' && has(object.spec.maintenanceSchedule) && has({exclude}) ? \
                 {exclude}.filter(entry, {length} > duration(params.spec.longestExclusion)).map(entry, {called}) : []"
            ),
        )],
        demands: vec![
            (
                "!has(params.spec.strategies) || object.spec.strategy in params.spec.strategies"
                    .into(),
                format!(
                    "'spec.strategy: ' + {CALLED} + ' allows ' + params.spec.strategies.join(', ') + ', and this is ' + object.spec.strategy"
                ),
                "spec.strategy: a ChangeGuardrail does not allow it",
            ),
            (
                "variables.long.size() == 0".into(),
                format!(
                    "'spec.maintenanceSchedule.exclude: ' + {CALLED} + ' allows ' + params.spec.longestExclusion + ' at most, and these are longer: ' + variables.long.join(', ')"
                ),
                "spec.maintenanceSchedule.exclude: an exclusion is longer than a ChangeGuardrail allows",
            ),
        ],
    }
}

/// A stanza that goes leaves its object as `Permissive` would.
fn stanzas() -> Subject {
    let stanza = |object: &str| {
        format!(
            "(has({object}.spec) && has({object}.spec.changeManagement) ? [{object}.spec.changeManagement] : [])"
        )
    };
    let (new, old) = (stanza("object"), stanza("oldObject"));
    let until = "object.spec.changeManagement.permissiveUntil";
    let overrides = "variables.strategy != 'PermissiveUntil'";
    Subject {
        slug: "stanzas",
        looked_at: &[
            ("config.openshift.io", &["clusterversions"]),
            ("machineconfiguration.openshift.io", &["machineconfigpools"]),
            ("hypershift.openshift.io", &["hostedclusters", "nodepools"]),
            (OURS, &["changegates", "clusterchangegates"]),
        ],
        changes: format!("{new} != (oldObject == null ? [] : {old})"),
        variables: [(
            "strategy",
            "has(object.spec.changeManagement) ? (has(object.spec.changeManagement.strategy) ? object.spec.changeManagement.strategy : '') : 'Permissive'",
        )]
        .into_iter()
        .chain(fresh::VARIABLES)
        .map(|(name, expression)| (name, expression.to_owned()))
        .collect(),
        demands: vec![
            (
                "!has(params.spec.strategies) || variables.strategy in params.spec.strategies".into(),
                format!(
                    "'spec.changeManagement.strategy: ' + {CALLED} + ' allows ' + params.spec.strategies.join(', ') + ', and this is ' + \
                     (has(object.spec.changeManagement) ? variables.strategy : 'none, which is as Permissive')"
                ),
                "spec.changeManagement.strategy: a ChangeGuardrail does not allow it",
            ),
            // What opens by a stanza must not last longer than what opens by an override: they are two ways to write one thing.
            (
                format!(
                    "{overrides} || !has(params.spec.longestOverride) || (has({until}) && variables.fresh.size() > 0 && \
                     variables.fresh.all(stamp, timestamp({until}) - stamp <= duration(params.spec.longestOverride)))"
                ),
                format!(
                    "'spec.changeManagement.permissiveUntil: ' + {CALLED} + ' allows ' + params.spec.longestOverride + ' at most' + \
                     (variables.fresh.size() > 0 && has({until}) ? ', and this lasts ' + string(timestamp({until}) - variables.fresh.min()) : ', and {}')",
                    fresh::NO_STAMP
                ),
                "spec.changeManagement.permissiveUntil: it lasts longer than a ChangeGuardrail allows an override to",
            ),
            (
                format!("{overrides} || !has(params.spec.approvals) || params.spec.approvals == 0"),
                format!(
                    "'spec.changeManagement.strategy: ' + {CALLED} + ' demands an approval, and nobody can approve PermissiveUntil; hint: write an override instead, and let somebody else approve it'"
                ),
                "spec.changeManagement.strategy: a ChangeGuardrail demands an approval, and nobody can approve PermissiveUntil",
            ),
            writers("override", "spec.changeManagement", "override", Some(overrides)),
        ],
    }
}

fn overrides() -> Subject {
    let lasts = "timestamp(object.spec.until) - timestamp(object.metadata.creationTimestamp)";
    Subject {
        slug: "overrides",
        looked_at: &[(OURS, &["changeoverrides", "clusterchangeoverrides"])],
        // Once written it can only end earlier, and be approved.
        changes: "request.operation == 'CREATE'".into(),
        variables: Vec::new(),
        demands: vec![
            (
                format!(
                    "!has(params.spec.longestOverride) || {lasts} <= duration(params.spec.longestOverride)"
                ),
                format!(
                    "'spec.until: ' + {CALLED} + ' allows ' + params.spec.longestOverride + ' at most, and this lasts ' + string({lasts})"
                ),
                "spec.until: the override lasts longer than a ChangeGuardrail allows",
            ),
            (
                "!has(params.spec.approvals) || params.spec.approvals == 0 || has(object.spec.by)"
                    .into(),
                format!(
                    "'spec.by: ' + {CALLED} + ' demands an approval, and nobody can approve what is unsigned; hint: write ' + request.userInfo.username"
                ),
                "spec.by: a ChangeGuardrail demands an approval, and nobody can approve what is unsigned",
            ),
            writers("override", "spec", "override", None),
        ],
    }
}

fn freezes() -> Subject {
    let from = "(has(object.spec.from) ? timestamp(object.spec.from) : timestamp(object.metadata.creationTimestamp))";
    Subject {
        slug: "freezes",
        looked_at: &[(OURS, &["changefreezes", "clusterchangefreezes"])],
        changes: "request.operation == 'CREATE' || object.spec != oldObject.spec".into(),
        variables: Vec::new(),
        demands: vec![
            (
                format!(
                    "!has(params.spec.longestFreeze) || (has(object.spec.until) && timestamp(object.spec.until) - {from} <= duration(params.spec.longestFreeze))"
                ),
                format!(
                    "'spec.until: ' + {CALLED} + ' allows ' + params.spec.longestFreeze + ' at most, and this ' + \
                     (has(object.spec.until) ? 'lasts ' + string(timestamp(object.spec.until) - {from}) : 'has no end')"
                ),
                "spec.until: the freeze lasts longer than a ChangeGuardrail allows",
            ),
            writers("freeze", "spec", "freeze", None),
        ],
    }
}

/// Whoever edits what bypasses already, or has it go to other pools, bypasses too: machines get what it says now (POOL-5).
fn bypass() -> Subject {
    let key = machine::BYPASS;
    let part =
        |object: &str, part: &str| format!("(has({object}.{part}) ? [{object}.{part}] : [])");
    let differs = |path: &str| format!("{} != {}", part("object", path), part("oldObject", path));
    Subject {
        slug: "bypass",
        looked_at: &[("machineconfiguration.openshift.io", &["machineconfigs"])],
        changes: format!(
            "{} && (oldObject == null || {} || {} || {})",
            annotated(key),
            is_annotated_otherwise(key),
            differs("spec"),
            differs("metadata.labels")
        ),
        variables: Vec::new(),
        demands: vec![writers(
            "bypass",
            "metadata.annotations",
            "let a configuration bypass change management",
            None,
        )],
    }
}

fn consent() -> Subject {
    let key = machine::ALLOWED_CONFIG;
    Subject {
        slug: "consent",
        looked_at: &[("\"\"", &["nodes", "nodes/status"])],
        changes: format!(
            "{} && (oldObject == null || {})",
            annotated(key),
            is_annotated_otherwise(key)
        ),
        variables: Vec::new(),
        demands: vec![writers(
            "consent",
            "metadata.annotations",
            "consent to the change of a node",
            None,
        )],
    }
}

/// What an annotation says, as a list.
fn noted(object: &str, key: &str) -> String {
    format!(
        "(has({object}.metadata.annotations) && '{key}' in {object}.metadata.annotations ? [{object}.metadata.annotations['{key}']] : [])"
    )
}

/// Whether an annotation is there.
fn annotated(key: &str) -> String {
    format!("{}.size() > 0", noted("object", key))
}

/// Whether an annotation was not there before, or was another.
fn is_annotated_otherwise(key: &str) -> String {
    format!("{} != {}", noted("object", key), noted("oldObject", key))
}

/// Who may write something, unless it is something else.
fn writers(
    field: &'static str,
    path: &str,
    does: &str,
    unless: Option<&str>,
) -> (String, String, &'static str) {
    let groups = format!("params.spec.writers.{field}");
    let unless = unless.map_or_else(String::new, |unless| format!("{unless} || "));
    (
        format!(
            "{unless}!has(params.spec.writers) || !has({groups}) || {groups}.exists(group, group in request.userInfo.groups)"
        ),
        format!(
            "'{path}: ' + {CALLED} + ' lets ' + {groups}.join(', ') + ' {does}, and ' + request.userInfo.username + ' is in none of these groups'"
        ),
        "a ChangeGuardrail says who may do this, by their groups",
    )
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Action {
    Deny,
    Warn,
}

/// The template of the chart.
pub fn template() -> String {
    let mut text = String::from(
        "{{- /* Generated from crates/core/src/reach/policies/guardrails.rs; edit that instead. */}}\n\
         {{- if .Values.guardrails.enabled }}\n\
         {{- /* A policy whose parameters no definition defines refuses every write that it looks at, for everybody. */}}\n\
         {{- if not (or .Values.crds.install (.Capabilities.APIVersions.Has \"changemanagement.openshift.io/v1alpha1/ChangeGuardrail\")) }}\n\
         {{- fail \"guardrails.enabled: install the definition of guardrails first, or set crds.install\" }}\n\
         {{- end }}\n\
         # The server itself judges what people write by the guardrails, where one look at the write is enough; the operator judges the rest. A write\n\
         # that no guardrail selects passes. Members of the group tidegate:initiators pass every guardrail.\n",
    );
    for subject in subjects() {
        for action in [Action::Deny, Action::Warn] {
            text.push_str(&subject.template(action));
            text.push_str("---\n");
        }
    }
    text.push_str(&guard());
    text.push_str("---\n");
    text.push_str(&seen_by_all());
    text.push_str("{{- end }}\n");
    text
}

impl Subject {
    fn template(&self, action: Action) -> String {
        let (judged, ending, failure, actions) = match action {
            // A mode that nobody knows is enforced.
            Action::Deny => {
                ("has(params.spec.mode) && params.spec.mode != 'Warn'", "", "Fail", "Deny")
            }
            // A warning stands in nobody's way.
            Action::Warn => {
                ("!has(params.spec.mode) || params.spec.mode == 'Warn'", "-warn", "Ignore", "Warn")
            }
        };
        let suffix = format!("guardrail-{}{ending}", self.slug);
        let mut text = head("ValidatingAdmissionPolicy", &suffix);
        let kind = names::CHANGE_GUARDRAIL;
        let _ = write!(
            text,
            "  failurePolicy: {failure}\n  paramKind:\n    apiVersion: {}\n    kind: {kind}\n  matchConstraints:\n    resourceRules:\n",
            names::API_VERSION
        );
        for (group, resources) in self.looked_at {
            let _ = writeln!(
                text,
                "    - apiGroups: [{group}]\n      apiVersions: [\"*\"]\n      operations: [CREATE, UPDATE]\n      resources: [{}]",
                resources.join(", ")
            );
        }
        let selector = "params.spec.selector";
        let conditions = [
            ("changes", self.changes.clone()),
            ("not-by-hand", not_by_hand()),
            (
                "not-a-copy",
                "request.userInfo.username != 'system:serviceaccount:{{ .Release.Namespace }}:{{ include \"tidegate.account\" . }}'".to_owned(),
            ),
            ("mode", judged.to_owned()),
            ("kind", format!("!has({selector}) || !has({selector}.kinds) || request.kind.kind in {selector}.kinds")),
        ];
        text.push_str("  matchConditions:\n");
        for (name, expression) in conditions {
            let _ = writeln!(text, "  - name: {name}\n    expression: >-\n      {expression}");
        }
        text.push_str("  variables:\n");
        // Conditions of a match do not see the namespace.
        let namespaces = format!("{selector}.namespaceSelector");
        let here = format!(
            "!has({selector}) || !has({namespaces}) || (namespaceObject != null && {})",
            selects(&namespaces, "namespaceObject.metadata")
        );
        let audits = ("audits", "has(params.spec.mode) && params.spec.mode == 'Audit'".to_owned());
        let met: Vec<String> =
            self.demands.iter().map(|(demand, ..)| format!("({demand})")).collect();
        let met = ("met", met.join(" && "));
        for (name, expression) in
            self.variables.iter().cloned().chain([("here", here), audits, met])
        {
            let _ = writeln!(text, "  - name: {name}\n    expression: >-\n      {expression}");
        }
        text.push_str("  validations:\n");
        for (demand, said, otherwise) in &self.demands {
            let _ = writeln!(
                text,
                "  - expression: >-\n      variables.audits || !variables.here || ({demand})\n    messageExpression: >-\n      {said}\n    message: >-\n      {otherwise}\n    reason: Forbidden"
            );
        }
        if action == Action::Deny {
            let _ = writeln!(
                text,
                "  auditAnnotations:\n  - key: guardrail\n    valueExpression: >-\n      variables.audits && variables.here && !variables.met ? 'not met: ' + {CALLED} : ''"
            );
        }
        text.push_str("---\n");
        text.push_str(&head("ValidatingAdmissionPolicyBinding", &suffix));
        let _ = writeln!(
            text,
            "  policyName: {}\n  validationActions: [{actions}]\n  paramRef:\n    selector: {{}}\n    parameterNotFoundAction: Allow",
            called_in_chart(&suffix)
        );
        text
    }
}

/// What keeps the definition while policies read it (RCH-7).
fn guard() -> String {
    let definition = name_of(&kinds::CHANGE_GUARDRAIL);
    let head = |kind: &str| head(kind, "guardrail-definition");
    format!(
        "{}  failurePolicy: Fail\n  matchConstraints:\n    resourceRules:\n    - apiGroups: [apiextensions.k8s.io]\n      apiVersions: [\"*\"]\n      \
         operations: [DELETE]\n      resources: [customresourcedefinitions]\n  matchConditions:\n  - name: ours\n    expression: >-\n      \
         oldObject != null && oldObject.metadata.name == '{definition}'\n  - name: not-by-hand\n    expression: >-\n      {}\n  validations:\n  - expression: \"false\"\n    message: >-\n      \
         admission policies read this definition, and without it the server would refuse every write that they look at; hint: remove the policies \
         first, by guardrails.enabled=false or by kubectl delete -f deploy/manifests/guardrails/guardrails.yaml\n    reason: Forbidden\n---\n{}  \
         policyName: {}\n  validationActions: [Deny]\n",
        head("ValidatingAdmissionPolicy"),
        not_by_hand(),
        head("ValidatingAdmissionPolicyBinding"),
        called_in_chart("guardrail-definition"),
    )
}

/// Everybody may see what is demanded of them; nobody but the platform gets a right to change it.
fn seen_by_all() -> String {
    let name = called_in_chart("guardrails-view");
    let head = |kind: &str| {
        format!(
            "apiVersion: rbac.authorization.k8s.io/v1\nkind: {kind}\nmetadata:\n  name: {name}\n  labels:\n    {{{{- include \"tidegate.labels\" . | nindent 4 }}}}\n"
        )
    };
    format!(
        "# Everybody may see what is demanded of them.\n{}rules:\n- apiGroups: [{OURS}]\n  resources: [{}]\n  verbs: [get, list, watch]\n---\n{}roleRef:\n  \
         apiGroup: rbac.authorization.k8s.io\n  kind: ClusterRole\n  name: {name}\nsubjects:\n- apiGroup: rbac.authorization.k8s.io\n  kind: Group\n  \
         name: system:authenticated\n",
        head("ClusterRole"),
        names::plural(names::CHANGE_GUARDRAIL),
        head("ClusterRoleBinding"),
    )
}

fn name_of(kind: &Kind) -> String {
    format!("{}.{}", names::plural(kind.name), kind.group())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is refused here is what an API server can tell from one write: hours and windows are the operator's.
    #[test]
    fn each_subject_is_refused_warned_and_noted() {
        let text = template();
        for subject in subjects() {
            let slug = subject.slug;
            assert!(text.contains(&format!("-guardrail-{slug}\n")), "{slug}");
            assert!(text.contains(&format!("-guardrail-{slug}-warn\n")), "{slug}");
        }
        for demand in [
            "strategies",
            "longestExclusion",
            "longestOverride",
            "longestFreeze",
            "approvals",
            "writers.bypass",
            "writers.consent",
            "writers.override",
            "writers.freeze",
        ] {
            assert!(text.contains(&format!("params.spec.{demand}")), "{demand}");
        }
        assert!(!text.contains("minimumHours") && !text.contains("spec.within"));
        assert_eq!(
            text.matches("kind: ValidatingAdmissionPolicyBinding").count(),
            2 * subjects().len() + 1
        );
    }
}
