//! Which kubelets does a control plane support? What it is decides by whose rule.
//!
//! Kubernetes supports kubelets that are three minors behind, two before 1.28. `OpenShift` supports fewer ([`Release::limit`]). The nodes of
//! a hosted cluster may be three minors behind, which its controller knows of nodes and nobody asks when the control plane is updated.

use std::fmt;

use super::version::{Kubernetes, NoVersion, Release};

/// How far nodes of a hosted cluster may be behind their control plane.
const HOSTED: u16 = 3;

/// The first Kubernetes that supports kubelets three minors behind.
const WIDER_SINCE: u16 = 28;

/// What a control plane is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Plane {
    /// `OpenShift`, with an operator that keeps the rule.
    OpenShift(Release),
    /// The control plane of a hosted cluster.
    Hosted(Release),
    /// Kubernetes of anybody else.
    Kubernetes(Kubernetes),
}

impl Plane {
    /// The control plane that a version names, of the same family as this one; patch releases count as their minor.
    pub fn named(self, version: &str) -> Result<Self, NoVersion> {
        match self {
            Self::OpenShift(_) => version.parse().map(Self::OpenShift),
            Self::Hosted(_) => version.parse().map(Self::Hosted),
            Self::Kubernetes(_) => version.parse().map(Self::Kubernetes),
        }
    }

    /// Its minor version, as people write it: `4.21`, or `1.36`.
    pub fn minor(self) -> String {
        match self {
            Self::OpenShift(release) | Self::Hosted(release) => release.to_string(),
            Self::Kubernetes(version) => version.to_string(),
        }
    }

    /// The one that comes after it.
    #[must_use]
    pub fn next(self) -> Self {
        match self {
            Self::OpenShift(release) => Self::OpenShift(release.next()),
            Self::Hosted(release) => Self::Hosted(release.next()),
            Self::Kubernetes(version) => Self::Kubernetes(version.next()),
        }
    }

    /// Whether another is of a later minor.
    pub fn is_before(self, other: Self) -> bool {
        match (self, other) {
            (
                Self::OpenShift(one) | Self::Hosted(one),
                Self::OpenShift(other) | Self::Hosted(other),
            ) => one < other,
            _ => self.kubernetes() < other.kubernetes(),
        }
    }

    /// Whether an update may go from it to another in one step. No API server skips a minor, whose ever it is.
    pub fn leads_to(self, other: Self) -> bool {
        match (self, other) {
            (
                Self::OpenShift(one) | Self::Hosted(one),
                Self::OpenShift(other) | Self::Hosted(other),
            ) => one.leads_to(other),
            _ => self.kubernetes().behind(other.kubernetes()) == 1,
        }
    }

    /// The Kubernetes of its API server.
    pub fn kubernetes(self) -> Kubernetes {
        match self {
            Self::OpenShift(release) | Self::Hosted(release) => release.kubernetes(),
            Self::Kubernetes(version) => version,
        }
    }

    /// How many minors kubelets may be behind.
    pub fn limit(self) -> u16 {
        match self {
            Self::OpenShift(release) => release.limit(),
            Self::Hosted(_) => HOSTED,
            Self::Kubernetes(version) if version.minor() < WIDER_SINCE => 2,
            Self::Kubernetes(_) => 3,
        }
    }

    /// How many minors kubelets may be behind after the next minor update, as whoever judges today looks at it.
    pub(super) fn next_limit(self) -> u16 {
        match self {
            Self::OpenShift(release) => release.next_number().limit(),
            Self::Hosted(_) => HOSTED,
            Self::Kubernetes(version) => Self::Kubernetes(version.next()).limit(),
        }
    }

    /// The oldest kubelet that it supports.
    pub fn oldest(self) -> Kubernetes {
        Kubernetes::new(self.kubernetes().minor().saturating_sub(self.limit()))
    }

    /// Whether it supports a kubelet.
    pub fn supports(self, kubelet: Kubernetes) -> bool {
        (0..=i32::from(self.limit())).contains(&kubelet.behind(self.kubernetes()))
    }
}

impl fmt::Display for Plane {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OpenShift(release) | Self::Hosted(release) => {
                write!(f, "OpenShift {release} (Kubernetes {})", release.kubernetes())
            }
            Self::Kubernetes(version) => write!(f, "Kubernetes {version}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_control_plane_supports_what_its_own_rule_says() {
        let check = |plane: Plane, oldest: u16, newest: u16| {
            let supported = |minor: u16| plane.supports(Kubernetes::new(minor));
            assert!(supported(oldest) && supported(newest), "{plane}");
            assert_eq!(plane.oldest(), Kubernetes::new(oldest), "{plane}");
            assert!(!supported(oldest - 1) && !supported(newest + 1), "{plane}");
        };
        let four = |minor| Plane::OpenShift(Release::four(minor));
        let five = |minor| Plane::OpenShift(Release::five(minor));
        check(four(20), 31, 33);
        check(four(21), 33, 34);
        check(four(22), 33, 35);
        check(four(23), 35, 36);
        check(five(0), 35, 36);
        check(five(1), 35, 37);
        check(five(2), 35, 38);
        check(five(3), 38, 39);
        let kubernetes = |minor| Plane::Kubernetes(Kubernetes::new(minor));
        check(kubernetes(27), 25, 27);
        check(kubernetes(28), 25, 28);
        check(kubernetes(36), 33, 36);
        // The nodes of a hosted cluster: three behind whatever the release, never ahead, and 5.0 counts as 4.23.
        check(Plane::Hosted(Release::four(21)), 31, 34);
        check(Plane::Hosted(Release::four(22)), 32, 35);
        check(Plane::Hosted(Release::five(0)), 33, 36);
    }

    #[test]
    fn what_comes_next_is_looked_at_as_the_operator_of_the_api_server_does() {
        let check = |plane: Plane, next: u16| assert_eq!(plane.next_limit(), next, "{plane}");
        let four = |minor| Plane::OpenShift(Release::four(minor));
        check(four(20), 1);
        check(four(21), 2);
        check(four(22), 1);
        // It asks what 4.24 would allow. There is none, and 5.0, which comes instead, allows one.
        check(four(23), 2);
        assert_eq!(Release::four(23).next().limit(), 1);
        check(Plane::OpenShift(Release::five(2)), 1);
        check(Plane::Kubernetes(Kubernetes::new(26)), 2);
        check(Plane::Kubernetes(Kubernetes::new(27)), 3);
        check(Plane::Hosted(Release::four(21)), 3);
    }

    /// One minor at a time, by the rule of its own family.
    #[test]
    fn each_control_plane_goes_on_by_its_own_family() {
        let check = |from: Plane, to: &str, expected: bool| {
            let to = from.named(to).unwrap();
            assert_eq!(from.leads_to(to), expected, "{from} to {to}");
        };
        let kubernetes = Plane::Kubernetes(Kubernetes::new(36));
        check(kubernetes, "1.37", true);
        check(kubernetes, "v1.37.2", true);
        check(kubernetes, "1.36.4", false);
        check(kubernetes, "1.38", false);
        check(kubernetes, "1.35", false);
        assert_eq!(kubernetes.next().minor(), "1.37");
        let openshift = Plane::OpenShift(Release::four(23));
        check(openshift, "5.0", true);
        check(openshift, "4.22", false);
        assert_eq!(openshift.next().minor(), "5.0");
        assert!(openshift.is_before(openshift.next()) && !openshift.next().is_before(openshift));
        // Hosted: 5.0 counts as 4.23.
        let hosted = Plane::Hosted(Release::four(22));
        check(hosted, "5.0", true);
        assert!(kubernetes.named("4.22").is_err() && openshift.named("1.37").is_err());
    }
}
