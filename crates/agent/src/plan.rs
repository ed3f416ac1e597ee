//! What has to be done on the way to a configuration, besides putting it in place?
//!
//! The core says which steps there are and in which order (NDP-1). What is written is worked out by [`crate::change`], from what the
//! host is to look like; here is only what happens around it.

use api::machine::{MachineConfigSpec, disruption::Policies};
use tidegate_core::node::steps::{Step, steps};

use crate::change::Deed;

/// What has to be done around a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Whether workloads have to leave first.
    pub drain: Drain,
    /// What is done once everything is in place, in order.
    pub deeds: Vec<Deed>,
}

/// Whether workloads have to leave first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Drain {
    /// They have to.
    Needed,
    /// They need not notice.
    NotNeeded,
}

impl Plan {
    /// What has to be done around the change from one configuration to another, under the policies that act.
    pub fn between(old: &MachineConfigSpec, new: &MachineConfigSpec, policies: &Policies) -> Self {
        let mut plan = Self { drain: Drain::NotNeeded, deeds: Vec::new() };
        for step in steps(old, new, policies).list {
            match step {
                Step::Drain => plan.drain = Drain::Needed,
                Step::DaemonReload => plan.deeds.push(Deed::ReloadUnits),
                Step::Reload(name) => plan.deeds.push(Deed::Reload(name)),
                Step::Restart(name) => plan.deeds.push(Deed::Restart(name)),
                Step::Reboot => plan.deeds.push(Deed::Reboot),
                // What is put in place is worked out from the layouts; what is remembered and who is let in again is decided by
                // the journal and the node.
                Step::WriteFile(_)
                | Step::RemoveFile(_)
                | Step::WriteUnit { .. }
                | Step::RemoveUnit(_)
                | Step::WriteUsers(_)
                | Step::OsImage(_)
                | Step::KernelArguments(_)
                | Step::KernelType(_)
                | Step::Extensions(_)
                | Step::RecordCurrent
                | Step::Uncordon => {}
            }
        }
        plan
    }

    /// Whether workloads have to leave first.
    pub fn needs_drain(&self) -> bool {
        self.drain == Drain::Needed
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
