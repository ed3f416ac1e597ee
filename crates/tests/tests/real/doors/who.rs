//! Who comes to the doors?

use kube::Client;

use super::super::rollout::writers::{INITIATORS, OPERATOR, RIGHTS, Writer};

const AGENT: &str = "system:serviceaccount:tidegate-system:tidegate-agent";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Who {
    /// Somebody with plain `patch nodes`.
    Stranger,
    /// Somebody who was given `nodes/status`, as a detector of problems is.
    StatusWriter,
    /// Somebody who runs a namespace, with a token of one of its pods.
    NamespaceAdmin,
    /// Who may do everything.
    Administrator,
    /// The kubelet of the node that is written.
    Kubelet,
    /// That of another node.
    KubeletElsewhere,
    /// The agent on the node that is written.
    Agent,
    /// That of another node.
    AgentElsewhere,
    /// The agent's account, with a token that was not given to a pod.
    AgentNowhere,
    Operator,
    /// Somebody who acts by hand, with the right to it.
    Initiator,
}

impl Who {
    pub(crate) const ALL: [Self; 11] = [
        Self::Stranger,
        Self::StatusWriter,
        Self::NamespaceAdmin,
        Self::Administrator,
        Self::Kubelet,
        Self::KubeletElsewhere,
        Self::Agent,
        Self::AgentElsewhere,
        Self::AgentNowhere,
        Self::Operator,
        Self::Initiator,
    ];

    /// Those who may start nothing, whatever they write.
    pub(crate) fn is_hostile(self) -> bool {
        !matches!(self, Self::Operator | Self::Initiator)
    }

    pub(crate) fn is_agent(self) -> bool {
        matches!(self, Self::Agent | Self::AgentElsewhere | Self::AgentNowhere)
    }

    pub(crate) fn is_kubelet(self) -> bool {
        matches!(self, Self::Kubelet | Self::KubeletElsewhere)
    }

    /// This one, about to write the node of this name.
    pub(crate) fn at(self, client: &Client, node: &str) -> Writer {
        let kubelet = |node: &str| {
            Writer::new(client, &format!("system:node:{node}"), &[RIGHTS, "system:nodes"], None)
        };
        let account = ["system:serviceaccounts", "system:serviceaccounts:tidegate-system", RIGHTS];
        match self {
            Self::Stranger => Writer::new(client, "joe", &[RIGHTS], None),
            Self::StatusWriter => Writer::new(client, "detector", &[RIGHTS], Some(node)),
            Self::NamespaceAdmin => {
                let name = "system:serviceaccount:team:deployer";
                let groups = ["system:serviceaccounts", "system:serviceaccounts:team", RIGHTS];
                Writer::new(client, name, &groups, Some(node))
            }
            Self::Administrator => Writer::new(client, "admin", &[RIGHTS], None),
            Self::Kubelet => kubelet(node),
            Self::KubeletElsewhere => kubelet("elsewhere"),
            Self::Agent => Writer::new(client, AGENT, &account, Some(node)),
            Self::AgentElsewhere => Writer::new(client, AGENT, &account, Some("elsewhere")),
            Self::AgentNowhere => Writer::new(client, AGENT, &account, None),
            Self::Operator => Writer::new(client, OPERATOR, &account, Some("elsewhere")),
            Self::Initiator => Writer::new(client, "jane", &[RIGHTS, INITIATORS], None),
        }
    }
}
