//! May the control plane be updated to the next minor, as its kubelets stand today? One class for each node, and the worst speaks (CV-3).
//!
//! Classes, reasons and their order are those of the operator of `OpenShift`'s API server, so whoever knows its condition
//! `KubeletMinorVersionUpgradeable` reads the same here. It stops updates to a higher minor; patch releases pass.

use super::{
    limit::Plane,
    version::{Kubernetes, NoVersion},
};

/// How a kubelet stands with its API server; the worst comes last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    /// Of the same minor.
    Synced,
    /// Behind, and supported after the next minor update too.
    Supported,
    /// Behind as far as may be: after the next minor update it would not be supported.
    AtLimit,
    /// Of a version that cannot be read.
    Unknown,
    /// Ahead of the API server, which nobody supports.
    Ahead,
    /// Behind further than is supported today.
    Unsupported,
}

/// Whether something holds, as conditions say it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// It does.
    True,
    /// It does not.
    False,
    /// Nobody can say.
    Unknown,
}

/// How the kubelets of a cluster stand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// The worst class of all nodes.
    pub class: Class,
    /// The nodes of that class, each with the version it reports.
    pub nodes: Vec<(String, String)>,
    /// All of it in a sentence.
    pub message: String,
}

impl Class {
    /// The class of a kubelet under a control plane.
    pub fn of(kubelet: Kubernetes, plane: Plane) -> Self {
        let behind = kubelet.behind(plane.kubernetes());
        if behind == 0 {
            Self::Synced
        } else if behind < 0 {
            Self::Ahead
        } else if behind > i32::from(plane.limit()) {
            Self::Unsupported
        } else if behind + 1 > i32::from(plane.next_limit()) {
            Self::AtLimit
        } else {
            Self::Supported
        }
    }

    /// One CamelCase word for programs: the reason of the condition.
    pub fn reason(self) -> &'static str {
        match self {
            Self::Synced => "KubeletMinorVersionsSynced",
            Self::Supported => "KubeletMinorVersionSupportedNextUpgrade",
            Self::AtLimit => "KubeletMinorVersionUnsupportedNextUpgrade",
            Self::Unknown => "KubeletVersionUnknown",
            Self::Ahead => "KubeletMinorVersionAhead",
            Self::Unsupported => "KubeletMinorVersionUnsupported",
        }
    }

    /// Whether the control plane may be updated to the next minor.
    pub fn upgradeable(self) -> Answer {
        match self {
            Self::Synced | Self::Supported => Answer::True,
            Self::Unknown | Self::Ahead => Answer::Unknown,
            Self::AtLimit | Self::Unsupported => Answer::False,
        }
    }
}

impl Answer {
    /// The status of a condition.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::True => "True",
            Self::False => "False",
            Self::Unknown => "Unknown",
        }
    }
}

/// Judges nodes, each with the version that its kubelet reports.
pub fn judge<'a>(plane: Plane, nodes: impl IntoIterator<Item = (&'a str, &'a str)>) -> Verdict {
    let class = |version: &str| match version.parse() {
        Ok(kubelet) => Class::of(kubelet, plane),
        Err(NoVersion { .. }) => Class::Unknown,
    };
    let judged: Vec<(Class, &str, &str)> =
        nodes.into_iter().map(|(node, version)| (class(version), node, version)).collect();
    let worst = judged.iter().map(|(class, ..)| *class).max().unwrap_or(Class::Synced);
    let of_it = judged.iter().filter(|(class, ..)| *class == worst);
    let nodes: Vec<_> =
        of_it.map(|(_, node, version)| ((*node).to_owned(), (*version).to_owned())).collect();
    let message = message(plane, worst, &nodes);
    Verdict { class: worst, nodes, message }
}

fn message(plane: Plane, class: Class, nodes: &[(String, String)]) -> String {
    let next = "the next minor update of the control plane";
    match class {
        Class::Synced => format!("every kubelet is of the minor of {plane}"),
        Class::Supported => {
            format!("{} behind {plane}, and {next} still supports that", kubelets(nodes))
        }
        Class::AtLimit => format!(
            "{} as far behind {plane} as is supported, so {next} has to wait for an update of the nodes",
            kubelets(nodes)
        ),
        Class::Unknown => format!(
            "{} of a version that cannot be read, so nobody can tell whether {plane} supports that",
            kubelets(nodes)
        ),
        Class::Ahead => format!("{} ahead of {plane}, which is not supported", kubelets(nodes)),
        Class::Unsupported => format!(
            "{} further behind {plane} than is supported, so {next} has to wait for an update of the nodes",
            kubelets(nodes)
        ),
    }
}

/// One node with its version, two or three by name, more by their number.
fn kubelets(nodes: &[(String, String)]) -> String {
    match nodes {
        [(node, version)] if version.is_empty() => {
            format!("the kubelet of Node/{node} (which reports no version) is")
        }
        [(node, version)] => format!("the kubelet of Node/{node} ({version}) is"),
        [(one, _), (other, _)] => format!("the kubelets of Node/{one} and Node/{other} are"),
        [(one, _), (other, _), (third, _)] => {
            format!("the kubelets of Node/{one}, Node/{other} and Node/{third} are")
        }
        nodes => format!("the kubelets of {} nodes are", nodes.len()),
    }
}

#[cfg(test)]
mod tests {
    use super::{super::version::Release, *};

    fn four(minor: u16) -> Plane {
        Plane::OpenShift(Release::four(minor))
    }

    /// CV-3: every row of the table.
    #[test]
    fn kubelets_are_classed_by_their_distance_and_both_limits() {
        let check = |plane: Plane, kubelet: u16, expected: Class| {
            assert_eq!(
                Class::of(Kubernetes::new(kubelet), plane),
                expected,
                "1.{kubelet} under {plane}"
            );
        };
        // An odd release, one behind: the even one that follows takes two.
        check(four(21), 34, Class::Synced);
        check(four(21), 33, Class::Supported);
        check(four(21), 32, Class::Unsupported);
        check(four(21), 35, Class::Ahead);
        // An even release, one and two behind: the odd one that follows takes one.
        check(four(22), 35, Class::Synced);
        check(four(22), 34, Class::AtLimit);
        check(four(22), 33, Class::AtLimit);
        check(four(22), 32, Class::Unsupported);
        // From one even release to the next with workers that stay, and no further.
        check(four(20), 33, Class::Synced);
        check(four(21), 33, Class::Supported);
        check(four(22), 33, Class::AtLimit);
        check(four(23), 33, Class::Unsupported);
        // Looks at a 4.24 that there is not, so it lets pass what 5.0 would not take if it brought a newer Kubernetes.
        check(four(23), 35, Class::Supported);
        let five = |minor| Plane::OpenShift(Release::five(minor));
        check(five(0), 35, Class::Supported);
        check(five(1), 36, Class::Supported);
        check(five(1), 35, Class::Supported);
        check(five(2), 37, Class::AtLimit);
        check(five(2), 35, Class::AtLimit);
        check(five(2), 34, Class::Unsupported);
        // Kubernetes' own rule.
        let kubernetes = |minor| Plane::Kubernetes(Kubernetes::new(minor));
        check(kubernetes(36), 34, Class::Supported);
        check(kubernetes(36), 33, Class::AtLimit);
        check(kubernetes(36), 32, Class::Unsupported);
        check(kubernetes(27), 25, Class::Supported);
        check(kubernetes(26), 24, Class::AtLimit);
        // Hosted nodes.
        let hosted = Plane::Hosted(Release::four(22));
        check(hosted, 33, Class::Supported);
        check(hosted, 32, Class::AtLimit);
        check(hosted, 31, Class::Unsupported);
        check(hosted, 36, Class::Ahead);
    }

    /// CV-3
    #[test]
    fn reasons_and_answers_are_those_of_the_operator_of_the_api_server() {
        let check = |class: Class, reason: &str, upgradeable: &str| {
            assert_eq!((class.reason(), class.upgradeable().as_str()), (reason, upgradeable));
        };
        check(Class::Synced, "KubeletMinorVersionsSynced", "True");
        check(Class::Supported, "KubeletMinorVersionSupportedNextUpgrade", "True");
        check(Class::AtLimit, "KubeletMinorVersionUnsupportedNextUpgrade", "False");
        check(Class::Unknown, "KubeletVersionUnknown", "Unknown");
        check(Class::Ahead, "KubeletMinorVersionAhead", "Unknown");
        check(Class::Unsupported, "KubeletMinorVersionUnsupported", "False");
    }

    /// CV-3: in the order unsupported, ahead, unreadable, at the limit, supported, synced.
    #[test]
    fn worst_class_speaks() {
        let rows = [
            (("a", "v1.35.1"), Class::Synced),
            (("b", "v1.34.1"), Class::AtLimit),
            (("c", "latest"), Class::Unknown),
            (("d", "v1.36.0"), Class::Ahead),
            (("e", "v1.31.9"), Class::Unsupported),
        ];
        for end in 1..=rows.len() {
            let (node, expected) = rows[end - 1];
            // Whatever stands where.
            let verdict = judge(four(22), rows[..end].iter().rev().map(|(node, _)| *node));
            assert_eq!(verdict.class, expected, "{verdict:?}");
            assert_eq!(verdict.nodes, [(node.0.to_owned(), node.1.to_owned())]);
        }
        let two = [("a", "v1.34.0"), ("b", "v1.33.0")];
        assert_eq!(judge(four(21), two).class, Class::Supported);
        assert_eq!(judge(four(21), []).class, Class::Synced);
    }

    /// CV-3: one node is named with its version, two or three by name, more by their number.
    #[test]
    fn messages_name_who_is_meant() {
        let check = |plane: Plane, nodes: &[(&str, &str)], expected: &str| {
            assert_eq!(judge(plane, nodes.iter().copied()).message, expected);
        };
        let old = "v1.34.2";
        check(
            four(22),
            &[("w1", "v1.35.0")],
            "every kubelet is of the minor of OpenShift 4.22 (Kubernetes 1.35)",
        );
        check(
            four(21),
            &[("w1", "v1.33.9")],
            "the kubelet of Node/w1 (v1.33.9) is behind OpenShift 4.21 (Kubernetes 1.34), and the next minor update of the control plane still supports that",
        );
        check(
            four(22),
            &[("w1", old), ("w2", old)],
            "the kubelets of Node/w1 and Node/w2 are as far behind OpenShift 4.22 (Kubernetes 1.35) as is supported, so the next minor update of the control plane has to wait for an update of the nodes",
        );
        check(
            four(23),
            &[("w1", old), ("w2", old), ("w3", old)],
            "the kubelets of Node/w1, Node/w2 and Node/w3 are further behind OpenShift 4.23 (Kubernetes 1.36) than is supported, so the next minor update of the control plane has to wait for an update of the nodes",
        );
        check(
            Plane::Kubernetes(Kubernetes::new(33)),
            &[("w1", old), ("w2", old), ("w3", old), ("w4", old)],
            "the kubelets of 4 nodes are ahead of Kubernetes 1.33, which is not supported",
        );
        check(
            four(21),
            &[("w1", "unknown")],
            "the kubelet of Node/w1 (unknown) is of a version that cannot be read, so nobody can tell whether OpenShift 4.21 (Kubernetes 1.34) supports that",
        );
        check(
            four(21),
            &[("w1", "")],
            "the kubelet of Node/w1 (which reports no version) is of a version that cannot be read, so nobody can tell whether OpenShift 4.21 (Kubernetes 1.34) supports that",
        );
    }
}
