//! How is a policy written in the chart?

use std::fmt::Write as _;

use api::names;

use super::{Action, Policy, custom};

/// Whether somebody else than who may pass everything writes.
pub(super) fn not_by_hand() -> String {
    format!("!('{}' in request.userInfo.groups)", names::INITIATORS)
}

/// What something of ours is called there.
pub(super) fn called_in_chart(suffix: &str) -> String {
    format!("{{{{ include \"tidegate.name\" . }}}}-{suffix}")
}

/// How each object begins.
pub(super) fn head(kind: &str, suffix: &str) -> String {
    format!(
        "apiVersion: admissionregistration.k8s.io/v1\nkind: {kind}\nmetadata:\n  name: {}\n  labels:\n    \
         {{{{- include \"tidegate.labels\" . | nindent 4 }}}}\nspec:\n",
        called_in_chart(suffix)
    )
}

impl Policy {
    /// The policy, and what binds it.
    pub(super) fn template(&self) -> String {
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
                // What somebody else wrote is one line of JSON, with whatever breaks and remarks it has.
                let folded = if expression == custom::INITIATES { "" } else { ">-\n      " };
                let _ = writeln!(text, "  - name: {name}\n    expression: {folded}{expression}");
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
