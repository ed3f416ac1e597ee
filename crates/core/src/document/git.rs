//! Does somebody else write this object from a repository? Whoever edits such an object in the cluster sees it put back.

use serde_json::Value;

/// What keeps objects as a repository says: by the label or annotation that it leaves, or by the name it writes under.
const TOOLS: &[(&str, &[&str], &[&str])] = &[
    (
        "Argo CD",
        &["argocd.argoproj.io/tracking-id", "argocd.argoproj.io/instance"],
        &["argocd-controller", "argocd-application-controller"],
    ),
    (
        "Flux",
        &["kustomize.toolkit.fluxcd.io/name", "helm.toolkit.fluxcd.io/name"],
        &["kustomize-controller", "helm-controller"],
    ),
];

/// The tool that writes an object from a repository, and how that shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Owner {
    /// What it is called.
    pub tool: &'static str,
    /// The field that says so.
    pub shown_by: String,
}

/// Who writes an object from a repository, as its labels, annotations and managed fields tell.
pub fn owner(document: &Value) -> Option<Owner> {
    let metadata = document.get("metadata")?;
    let managers = || {
        let all = metadata.get("managedFields").and_then(Value::as_array);
        all.into_iter().flatten().filter(|entry| entry.get("subresource").is_none())
    };
    TOOLS.iter().find_map(|(tool, marks, names)| {
        let mark = ["annotations", "labels"].iter().find_map(|field| {
            let found = metadata.get(field)?.as_object()?;
            let mark = marks.iter().find(|mark| found.contains_key(**mark))?;
            Some(format!("metadata.{field}[{mark:?}]"))
        });
        let by_name = || {
            let wrote = |entry: &Value| {
                let name = entry.get("manager").and_then(Value::as_str);
                name.filter(|name| names.contains(name))
                    .map(|name| format!("metadata.managedFields: {name}"))
            };
            managers().find_map(wrote)
        };
        Some(Owner { tool, shown_by: mark.or_else(by_name)? })
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn who_writes_from_a_repository_is_told_by_what_they_leave() {
        let check = |metadata: Value, expected: Option<(&str, &str)>| {
            let found = owner(&json!({"metadata": metadata}));
            let found = found.as_ref().map(|owner| (owner.tool, owner.shown_by.as_str()));
            assert_eq!(found, expected, "{metadata}");
        };
        check(json!({"name": "a"}), None);
        check(json!({"managedFields": [{"manager": "kubectl"}, {"manager": "tidegate"}]}), None);
        check(
            json!({"managedFields": [{"manager": "argocd-controller"}]}),
            Some(("Argo CD", "metadata.managedFields: argocd-controller")),
        );
        check(
            json!({"labels": {"kustomize.toolkit.fluxcd.io/name": "policies"}}),
            Some(("Flux", r#"metadata.labels["kustomize.toolkit.fluxcd.io/name"]"#)),
        );
        check(
            json!({"annotations": {"argocd.argoproj.io/tracking-id": "x"}}),
            Some(("Argo CD", r#"metadata.annotations["argocd.argoproj.io/tracking-id"]"#)),
        );
        // Whoever writes the status only says how it is.
        let status = json!([{"manager": "argocd-controller", "subresource": "status"}]);
        check(json!({"managedFields": status}), None);
        check(json!({"labels": "garbled", "managedFields": {}}), None);
    }
}
