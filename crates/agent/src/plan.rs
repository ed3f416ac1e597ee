//! What has to be done on the way to a configuration, besides putting it in place?
//!
//! The core says what (NDP-1). What is written is worked out by [`crate::change`], from what the host is to look like.

use api::machine::{MachineConfigSpec, disruption::Policies};
pub use tidegate_core::node::around::Drain;
use tidegate_core::node::around::{self, Around, around};

use crate::change::Deed;

/// What has to be done around a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Whether workloads have to leave first.
    pub drain: Drain,
    /// What is done once everything is in place, in order.
    pub deeds: Vec<Deed>,
}

impl Plan {
    /// What has to be done around the change from one configuration to another, under the policies that act.
    pub fn between(old: &MachineConfigSpec, new: &MachineConfigSpec, policies: &Policies) -> Self {
        let Around { drain, deeds } = around(old, new, policies);
        Self { drain, deeds: deeds.into_iter().map(Deed::from).collect() }
    }

    /// Whether workloads have to leave first.
    pub fn needs_drain(&self) -> bool {
        self.drain == Drain::Needed
    }
}

impl From<around::Deed> for Deed {
    fn from(deed: around::Deed) -> Self {
        match deed {
            around::Deed::DaemonReload => Self::ReloadUnits,
            around::Deed::Reload(name) => Self::Reload(name),
            around::Deed::Restart(name) => Self::Restart(name),
            around::Deed::Reboot => Self::Reboot,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use tidegate_core::node::disruption::defaults;

    use super::*;

    fn file(path: &str, text: &str) -> Value {
        json!({"config": {"ignition": {"version": "3.5.0"}, "storage": {"files": [
            {"path": path, "contents": {"source": format!("data:,{text}")}}]}}})
    }

    /// NDP-1
    #[test]
    fn policies_decide_what_happens_around_a_change() {
        let check = |old: Value, new: Value, drain: Drain, deeds: &[Deed]| {
            let spec = |value| serde_json::from_value::<MachineConfigSpec>(value).unwrap();
            let plan = Plan::between(&spec(old.clone()), &spec(new), &defaults());
            assert_eq!((plan.drain, plan.deeds.as_slice()), (drain, deeds), "{old}");
        };
        let around = |path: &str| (file(path, "one"), file(path, "two"));
        let (old, new) = around("/etc/anything");
        check(old.clone(), new, Drain::Needed, &[Deed::Reboot]);
        check(old.clone(), old, Drain::NotNeeded, &[]);
        let (old, new) = around("/etc/containers/policy.json");
        check(old, new, Drain::NotNeeded, &[Deed::Reload("crio.service".into())]);
        let (old, new) = around("/etc/nmstate/openshift/br-ex.yml");
        check(old, new, Drain::NotNeeded, &[]);
        let (old, new) = around("/etc/containers/registries.conf");
        check(old, new, Drain::Needed, &[Deed::Reload("crio.service".into())]);
        let (old, new) = around("/etc/kubernetes/credential-providers/x.yaml");
        check(old, new, Drain::NotNeeded, &[Deed::Restart("kubelet.service".into())]);
        check(json!({}), json!({"kernelArguments": ["quiet"]}), Drain::Needed, &[Deed::Reboot]);
    }
}
