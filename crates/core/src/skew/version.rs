//! Which minor is a version of? Of Kubernetes as kubelets report it, of `OpenShift` as `ClusterVersion` names it.
//!
//! Total: a text that is no version is told as such, and nothing here panics on a number that nobody has released yet.

use std::{fmt, str::FromStr};

/// The last minor of `OpenShift` 4, after which 5.0 comes.
const LAST_OF_FOUR: u16 = 23;

/// A minor of Kubernetes: the 34 of 1.34.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Kubernetes(u16);

/// A minor of `OpenShift`, such as 4.21. Patch releases have the kubelets of their minor, so they count as it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Release {
    major: Major,
    minor: u16,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Major {
    Four,
    Five,
}

/// A text that is no version, with what was expected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoVersion {
    text: String,
    expected: &'static str,
}

impl fmt::Display for NoVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { text, expected } = self;
        // Others wrote it, so it may be of any length.
        let shown: String = text.chars().take(64).collect();
        write!(f, "{shown:?} is not a version: expected {expected}")
    }
}

impl Kubernetes {
    /// 1.`minor`.
    pub const fn new(minor: u16) -> Self {
        Self(minor)
    }

    /// How many minors another is ahead of it; less than nothing if it is behind.
    pub fn behind(self, other: Self) -> i32 {
        i32::from(other.0) - i32::from(self.0)
    }

    /// The minor after it.
    #[must_use]
    pub fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }

    pub(super) fn minor(self) -> u16 {
        self.0
    }
}

impl FromStr for Kubernetes {
    type Err = NoVersion;

    /// As a kubelet reports it: `v1.34.2`, with whatever its builder adds.
    fn from_str(text: &str) -> Result<Self, NoVersion> {
        match numbers(text) {
            Some((1, minor)) => Ok(Self(minor)),
            _ => Err(NoVersion {
                text: text.to_owned(),
                expected: "one of Kubernetes, such as v1.34.2",
            }),
        }
    }
}

impl fmt::Display for Kubernetes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "1.{}", self.0)
    }
}

impl Release {
    /// 4.`minor`.
    pub const fn four(minor: u16) -> Self {
        Self { major: Major::Four, minor }
    }

    /// 5.`minor`.
    pub const fn five(minor: u16) -> Self {
        Self { major: Major::Five, minor }
    }

    /// The Kubernetes in it: 4.20 brings 1.33, and 5.0 the same as 4.23.
    pub fn kubernetes(self) -> Kubernetes {
        let ahead = match self.major {
            Major::Four => 13,
            Major::Five => 36,
        };
        Kubernetes(self.minor.saturating_add(ahead))
    }

    /// How many minors kubelets may be behind it. Of 4 the odd ones allow one and the even ones, which are supported longer, two, so that
    /// workers can skip one; of 5 every third one begins anew.
    pub fn limit(self) -> u16 {
        match self.major {
            Major::Four if self.minor % 2 == 1 => 1,
            Major::Four => 2,
            Major::Five => self.minor % 3 + 1,
        }
    }

    /// The release that comes after it: after the last of 4 comes 5.0.
    #[must_use]
    pub fn next(self) -> Self {
        match self.major {
            Major::Four if self.minor >= LAST_OF_FOUR => Self::five(0),
            Major::Four | Major::Five => self.next_number(),
        }
    }

    /// The next minor by number alone, which the operator of the API server looks at: of 4.23 it asks what a 4.24 would allow, which there
    /// is not, and not what 5.0 allows, which is less.
    #[must_use]
    pub(super) fn next_number(self) -> Self {
        Self { minor: self.minor.saturating_add(1), ..self }
    }

    /// Whether an update may go from it to another in one step: to the next Kubernetes, or to a later release with the same.
    pub fn leads_to(self, other: Self) -> bool {
        other > self && (0..=1).contains(&self.kubernetes().behind(other.kubernetes()))
    }
}

impl FromStr for Release {
    type Err = NoVersion;

    /// As `ClusterVersion` names it: `4.21.3`, or the minor alone.
    fn from_str(text: &str) -> Result<Self, NoVersion> {
        match numbers(text) {
            Some((4, minor)) => Ok(Self::four(minor)),
            Some((5, minor)) => Ok(Self::five(minor)),
            _ => Err(NoVersion {
                text: text.to_owned(),
                expected: "a release of OpenShift 4 or 5, such as 4.21",
            }),
        }
    }
}

impl fmt::Display for Release {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let major = match self.major {
            Major::Four => 4,
            Major::Five => 5,
        };
        write!(f, "{major}.{}", self.minor)
    }
}

/// The first two numbers of a version.
fn numbers(text: &str) -> Option<(u16, u16)> {
    let text = text.strip_prefix('v').unwrap_or(text);
    let (major, rest) = text.split_once('.')?;
    let end = rest.find(|sign: char| !sign.is_ascii_digit()).unwrap_or(rest.len());
    let (minor, after) = rest.split_at(end);
    let goes_on = after.is_empty() || after.starts_with(['.', '-', '+']);
    let number =
        |text: &str| text.bytes().all(|sign| sign.is_ascii_digit()).then(|| text.parse().ok())?;
    Some((number(major)?, number(minor).filter(|_| goes_on)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kubelets_say_which_kubernetes_they_are_of() {
        let check = |text: &str, expected: Option<u16>| {
            assert_eq!(text.parse::<Kubernetes>().ok(), expected.map(Kubernetes), "{text:?}");
        };
        check("v1.34.2", Some(34));
        check("1.34", Some(34));
        check("v1.33.5+a1b2c3d", Some(33));
        check("v1.30.1-gke.1329000", Some(30));
        check("v1.31.0-rc.1", Some(31));
        check("v1.9.11", Some(9));
        for text in [
            "",
            "v",
            "v1",
            "v1.",
            "v1.x",
            "1.34x",
            "v2.1.0",
            "34",
            "v1.-3",
            "v1.+3",
            "+1.3",
            "v1.99999999999",
            "v1.34 ",
        ] {
            check(text, None);
        }
    }

    #[test]
    fn what_is_no_version_is_told() {
        let told = "soon".parse::<Kubernetes>().unwrap_err().to_string();
        assert_eq!(told, r#""soon" is not a version: expected one of Kubernetes, such as v1.34.2"#);
        let told = "3.11".parse::<Release>().unwrap_err().to_string();
        assert_eq!(
            told,
            r#""3.11" is not a version: expected a release of OpenShift 4 or 5, such as 4.21"#
        );
        let long = "x".repeat(1000).parse::<Release>().unwrap_err().to_string();
        assert!(long.len() < 200, "{long}");
    }

    /// Every row of the table: which Kubernetes a release brings, how far kubelets may be behind, and what comes next.
    #[test]
    fn releases_bring_their_kubernetes_and_their_limit() {
        let check = |text: &str, kubernetes: u16, limit: u16, next: &str| {
            let release: Release = text.parse().unwrap();
            assert_eq!(release.to_string(), text.split('.').take(2).collect::<Vec<_>>().join("."));
            assert_eq!(release.kubernetes(), Kubernetes(kubernetes), "{text}");
            assert_eq!(release.limit(), limit, "{text}");
            assert_eq!(release.next().to_string(), next, "{text}");
        };
        check("4.18", 31, 2, "4.19");
        check("4.19", 32, 1, "4.20");
        check("4.20.17", 33, 2, "4.21");
        check("4.21.0-rc.3", 34, 1, "4.22");
        check("4.22", 35, 2, "4.23");
        check("4.23", 36, 1, "5.0");
        check("5.0", 36, 1, "5.1");
        check("5.1.4", 37, 2, "5.2");
        check("5.2", 38, 3, "5.3");
        check("5.3", 39, 1, "5.4");
        check("5.65535", 65535, 1, "5.65535");
    }

    #[test]
    fn an_update_takes_one_kubernetes_at_a_time_and_never_goes_back() {
        let check = |from: &str, to: &str, expected: bool| {
            let (from, to): (Release, Release) = (from.parse().unwrap(), to.parse().unwrap());
            assert_eq!(from.leads_to(to), expected, "{from} to {to}");
        };
        check("4.20", "4.21", true);
        check("4.20", "4.20", false);
        check("4.20", "4.22", false);
        check("4.21", "4.20", false);
        check("4.22", "5.0", true);
        check("4.23", "5.0", true);
        check("4.23", "5.1", true);
        check("4.21", "5.0", false);
        check("5.0", "4.23", false);
        check("5.0", "5.1", true);
    }
}
