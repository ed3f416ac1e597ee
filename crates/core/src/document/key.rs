//! Which object? A kind with its group, a namespace and a name, in the order in which objects are worked on: policies first.
//!
//! The bare name of a kind identifies nothing, because others have kinds of the same name: Karpenter has a `NodePool` too.

use std::{fmt, sync::Arc};

use api::schema::{GATED, KINDS, Kind, Role, Scope};

use crate::document::problem::Object;

/// Which object. The order of keys is the order of work: policies, then those who name them, then what those are made of.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key {
    kind: &'static Kind,
    /// Its namespace, if the kind has them.
    pub namespace: Option<Arc<str>>,
    /// Its name; empty if whoever wrote the object gave it none.
    pub name: Arc<str>,
}

impl Key {
    /// The key of an object.
    pub fn new(kind: &'static Kind, namespace: Option<&str>, name: &str) -> Self {
        Self { kind, namespace: namespace.map(Arc::from), name: Arc::from(name) }
    }

    /// The key of all objects of a kind together: whatever rests on there being no others (GATE-11).
    pub fn all(kind: &'static Kind) -> Self {
        Self::new(kind, None, "")
    }

    /// Whether it means all objects of its kind.
    pub fn is_of_all(&self) -> bool {
        self.name.is_empty()
    }

    /// Its kind.
    pub fn kind(&self) -> &'static Kind {
        self.kind
    }

    /// Policies are worked on before those who name them.
    pub fn is_policy(&self) -> bool {
        self.kind().role == Role::Policy
    }

    /// The object as a problem names it.
    pub fn object(&self) -> Object {
        Object {
            kind: self.kind().name.to_owned(),
            namespace: self.namespace.as_deref().map(str::to_owned),
            name: Some(&*self.name).filter(|name| !name.is_empty()).map(str::to_owned),
        }
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.object().fmt(f)
    }
}

/// What somebody calls an object on the command line: `KIND/NAME` or `KIND/NAMESPACE/NAME`, the kind by its name, its plural, its
/// short name, in any case.
pub fn named(text: &str, namespace: Option<&str>) -> Result<Key, String> {
    let parts: Vec<&str> = text.split('/').collect();
    let (kind, own, name) = match parts.as_slice() {
        [kind, name] => (*kind, None, *name),
        [kind, own, name] => (*kind, Some(*own), *name),
        _ => return Err(format!("{text:?} is not KIND/NAME")),
    };
    let Some(kind) = kind_called(kind) else {
        let kinds = KINDS.iter().chain(GATED).map(|row| row.short_name).collect::<Vec<_>>();
        return Err(format!("there is no kind {kind:?} here; the kinds are {}", kinds.join(", ")));
    };
    let namespace = match (kind.scope, own.or(namespace)) {
        (Scope::Cluster, _) if own.is_some() => {
            return Err(format!(
                "{} has no namespace: write {}/{name}",
                kind.name, kind.short_name
            ));
        }
        (Scope::Cluster, _) => None,
        (Scope::Namespaced, Some(namespace)) => Some(namespace),
        (Scope::Namespaced, None) => {
            let hint = format!("write {}/NAMESPACE/{name}", kind.short_name);
            return Err(format!("{} lives in a namespace: {hint}", kind.name));
        }
    };
    if name.is_empty() {
        return Err(format!("{text:?} names no object"));
    }
    Ok(Key::new(kind, namespace, name))
}

/// The kind that somebody means.
pub fn kind_called(text: &str) -> Option<&'static Kind> {
    let text = text.to_lowercase();
    // `nodepools.hypershift.openshift.io` is how kubectl says it in full.
    let (word, group) =
        text.split_once('.').map_or((text.as_str(), None), |(word, group)| (word, Some(group)));
    KINDS.iter().chain(GATED).find(|kind| {
        let singular = kind.name.to_lowercase();
        let called =
            [singular.as_str(), &api::names::plural(kind.name), kind.short_name].contains(&word);
        called && group.is_none_or(|group| group == kind.group())
    })
}

#[cfg(test)]
mod tests {
    use api::{
        kinds,
        schema::{FREEZES, GUARDRAILS, MACHINES, NAMESPACES, OVERRIDES, TARGETS},
    };

    use super::*;

    #[test]
    fn keys_are_in_the_order_of_the_lists_of_kinds() {
        let lists = KINDS.iter().chain(GATED).chain(FREEZES).chain(OVERRIDES).chain(GUARDRAILS);
        let lists = lists.chain(MACHINES).chain(NAMESPACES).chain(TARGETS);
        let keys: Vec<Key> = lists.map(|kind| Key::new(kind, Some("z"), "z")).collect();
        assert!(keys.is_sorted());
        assert!(
            Key::new(&kinds::NODE_POOL, None, "b") < Key::new(&kinds::NODE_POOL, Some("a"), "a")
        );
    }

    #[test]
    fn an_object_is_called_as_people_call_it() {
        let check = |key: Key, expected: &str| assert_eq!(key.to_string(), expected);
        check(Key::new(&kinds::NODE_POOL, Some("clusters"), "a"), "NodePool/clusters/a");
        check(Key::new(&kinds::MACHINE_CONFIG_POOL, None, "worker"), "MachineConfigPool/worker");
        check(Key::new(&kinds::MACHINE_CONFIG_POOL, None, ""), "MachineConfigPool");
    }

    #[test]
    fn objects_are_called_as_people_call_them() {
        let check = |text: &str, namespace: Option<&str>, expected: &str| {
            let found = named(text, namespace);
            let found = found.map_or_else(|wrong| wrong, |key| key.to_string());
            assert_eq!(found, expected, "{text}");
        };
        let kinds = KINDS.iter().chain(GATED).map(|row| row.short_name).collect::<Vec<_>>();
        let unknown = |kind: &str| {
            format!("there is no kind {kind:?} here; the kinds are {}", kinds.join(", "))
        };
        check("mcp/worker", None, "MachineConfigPool/worker");
        check("MachineConfigPool/worker", Some("ignored"), "MachineConfigPool/worker");
        check(
            "machineconfigpools.machineconfiguration.openshift.io/worker",
            None,
            "MachineConfigPool/worker",
        );
        check("clusterversion/version", None, "ClusterVersion/version");
        check("np/clusters/pool-1", None, "NodePool/clusters/pool-1");
        check("nodepools/pool-1", Some("clusters"), "NodePool/clusters/pool-1");
        check("cmp/weekend", None, "ChangeManagementPolicy/weekend");
        // What Karpenter calls by the same name is none of ours.
        check(
            "nodepools.karpenter.sh/pool-1",
            Some("clusters"),
            &unknown("nodepools.karpenter.sh"),
        );
        check("np/pool-1", None, "NodePool lives in a namespace: write np/NAMESPACE/pool-1");
        check("mcp/x/worker", None, "MachineConfigPool has no namespace: write mcp/worker");
        check("worker", None, "\"worker\" is not KIND/NAME");
        check("mcp/", None, "\"mcp/\" names no object");
        check("pod/x", None, &unknown("pod"));
        check(
            "machineconfigpools.example.com/worker",
            None,
            &unknown("machineconfigpools.example.com"),
        );
    }
}
