//! Who empties nodes beside the operator, and by what right?

use api::machine::names::{
    CURRENT_CONFIG, DESIRED_CONFIG, DESIRED_DRAIN, LAST_APPLIED_DRAIN, PERMIT_CHANGE,
};
use serde_json::{Value, json};

use super::super::{
    check::noted,
    stage::{By, Kind, Stage},
};

/// One who empties nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Drainer {
    /// Nobody.
    Own,
    /// One who believes every request.
    Credulous,
    /// One who does not look whether anybody else can take the pods.
    Heedless,
    /// One who looks for the record of a change, and not at whether the request names it.
    Inattentive,
}

impl Drainer {
    fn honours(self, node: &Value) -> bool {
        let asked = noted(node, DESIRED_DRAIN);
        let desired = noted(node, DESIRED_CONFIG);
        let begun = noted(node, PERMIT_CHANGE) == desired && noted(node, CURRENT_CONFIG) != desired;
        let wanted = asked.starts_with("drain-") && noted(node, LAST_APPLIED_DRAIN) != asked;
        let named = asked == format!("drain-{desired}");
        match self {
            Self::Own => false,
            Self::Credulous => wanted,
            Self::Heedless => wanted && begun && named,
            // What names the change is left to the operator.
            Self::Inattentive => wanted && begun && !named,
        }
    }

    pub(crate) fn look(self, stage: &Stage) {
        if self == Self::Own {
            return;
        }
        let asking: Vec<(String, String)> = {
            let checker = stage.checker();
            let nodes = checker.all(Kind::Node).filter(|(_, node)| self.honours(node));
            nodes.map(|(name, node)| (name.to_owned(), noted(node, DESIRED_DRAIN).into())).collect()
        };
        for (name, asked) in asking {
            let change = json!({"spec": {"unschedulable": true},
                "metadata": {"annotations": {LAST_APPLIED_DRAIN: asked}}});
            let (service, path) = (stage.by_hand(), Kind::Node.of(&name));
            let content = "application/merge-patch+json";
            if stage.ask(&service, &http::Method::PATCH, &path, content, &change).is_ok() {
                stage.note(By::Operator(0, stage.now()), Kind::Node, &name);
            }
        }
    }
}
