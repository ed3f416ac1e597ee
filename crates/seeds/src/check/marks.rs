//! Was an update of the control plane let begin with every right? Judged at the instant of the commit (CV-4, GATE-7, GATE-16).

use api::names::ACCEPTED_RELEASE;
use serde_json::Value;

use super::{
    super::stage::{By, Kind},
    Checker, noted,
};

/// The release that a `ClusterVersion` says was let begin, and the text that says so.
fn mark(version: &Value) -> Option<(String, String)> {
    let text = noted(version, ACCEPTED_RELEASE);
    let mark: Value = serde_json::from_str(text).ok()?;
    Some((mark["version"].as_str()?.to_owned(), text.to_owned()))
}

impl Checker {
    /// The release that was let begin last.
    pub(crate) fn marked(&self) -> Option<String> {
        mark(self.get(Kind::Version, "version")?).map(|(release, _)| release)
    }

    /// `ClusterVersion` was written.
    pub(super) fn marks(
        &mut self,
        (at, sent): (i64, i64),
        by: By,
        old: Option<&Value>,
        new: &Value,
    ) {
        let Some((release, text)) = mark(new) else { return };
        if old.and_then(mark).is_some_and(|(_, before)| before == text) {
            return;
        }
        self.initiations += 1;
        self.updates += 1;
        let mut wrong: Vec<(&'static str, String)> = Vec::new();
        if !matches!(by, By::Operator(..)) {
            wrong.push(("GATE-16", format!("release {release} was marked by somebody else")));
        }
        if !text.contains("@sha256:") {
            wrong.push(("CV-4", format!("release {release} was marked without a digest")));
        }
        if !self.readings(("master", ""), (at, sent)).contains(&true) {
            let what = format!("release {release} was let begin while its gate was shut");
            wrong.push(("GATE-7", what));
        }
        let (_, may_not_be_frozen) = self.frozen_readings("master", (at, sent));
        if !may_not_be_frozen {
            wrong.push(("OVR-1", format!("release {release} was let begin while frozen")));
        }
        let wanted = |version: &Value| version["spec"]["desiredUpdate"]["version"] == release;
        let versions = self.recent(Kind::Version, "version", sent);
        if !versions.into_iter().flatten().any(|version| wanted(version)) {
            wrong.push(("CV-4", format!("nobody wanted release {release}, which was let begin")));
        }
        for (rule, what) in wrong {
            self.accuse(at, rule, what);
        }
        self.masters_update(&release);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::cast::Clocks;

    /// Each rule is broken once, by a write that no honest operator makes.
    #[test]
    fn a_mark_that_has_no_right_is_noticed() {
        let version = |resource_version: &str, strategy: &str, wish: &str, mark: &str| {
            json!({"metadata": {"name": "version", "resourceVersion": resource_version,
                "annotations": {ACCEPTED_RELEASE: mark}},
                "spec": {"changeManagement": {"strategy": strategy},
                    "desiredUpdate": {"version": wish}}, "status": {}})
        };
        let whole = r#"{"version":"4.1.0","image":"r@sha256:0"}"#;
        let tagged = r#"{"version":"4.1.0","image":"r:latest"}"#;
        let operator = By::Operator(1, 1_000);
        for (strategy, wish, mark, by, expected) in [
            ("Permissive", "4.1.0", whole, operator, &[][..]),
            ("Restrictive", "4.1.0", whole, operator, &["GATE-7"]),
            ("Permissive", "4.2.0", whole, operator, &["CV-4"]),
            ("Permissive", "4.1.0", tagged, operator, &["CV-4"]),
            ("Permissive", "4.1.0", whole, By::People, &["GATE-16"]),
        ] {
            let mut checker = Checker::new(10, Clocks::Right);
            let key = (Kind::Version, "version");
            checker.commit(0, By::People, key, Some(version("1", strategy, wish, "")));
            checker.commit(1_000, by, key, Some(version("2", strategy, wish, mark)));
            let broken: Vec<&str> = checker.violations.iter().map(|one| one.rule).collect();
            assert_eq!(broken, expected, "{strategy} {wish} {mark} {by:?}");
        }
    }
}
