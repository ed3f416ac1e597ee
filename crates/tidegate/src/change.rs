//! How does a verb that changes something do it? It looks, says what would change, and changes what it saw.

use clap::Args;
use tidegate_core::cluster::snapshot::Snapshot;
use views::{
    change::{Change, Stage},
    object::{Deed, Writing},
};

use crate::{
    args::Formats,
    cluster::{Cluster, Extent, Overtaken},
    output::{self, Output},
};

/// How often the command decides anew because its object has changed meanwhile. The status of a busy pool changes all the time.
const ATTEMPTS: usize = 5;

/// Reads, decides and patches, and starts over if the API server answers with a conflict: a patch names the version that it was made from.
pub(crate) fn retry_on_conflict(
    mut change: impl FnMut() -> anyhow::Result<Output>,
) -> anyhow::Result<Output> {
    for _ in 1..ATTEMPTS {
        match change() {
            Err(error) if error.is::<Overtaken>() => {}
            settled => return settled,
        }
    }
    change()
}

/// How a change is made.
#[derive(Args, Debug)]
pub(crate) struct Manner {
    /// Print what would be sent and change nothing
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    formats: Formats,
}

impl Manner {
    /// Makes the change that somebody proposes for what a cluster holds, or not, and tells about it.
    pub(crate) fn make(
        &self,
        cluster: &Cluster,
        extent: Extent,
        proposed: impl FnOnce(&Snapshot) -> Result<Change, String>,
    ) -> anyhow::Result<Output> {
        let snapshot = cluster.snapshot(extent)?;
        let change = proposed(&snapshot).map_err(anyhow::Error::msg)?;
        let stage = self.stage();
        if stage == Stage::Made {
            cluster.patch(&change.object, &change.patch)?;
        }
        output::written(self.formats.output, || change.report(stage), |_| change.told(stage))
            .map(Output::done)
    }

    /// Writes an object that somebody proposes, or takes it away, or does not, and tells about it.
    pub(crate) fn write(&self, cluster: &Cluster, writing: &Writing) -> anyhow::Result<Output> {
        let stage = self.stage();
        match (stage, &writing.deed) {
            (Stage::Proposed, _) => {}
            (Stage::Made, Deed::Made) => cluster.create(&writing.object, &writing.document)?,
            (Stage::Made, Deed::Deleted { uid }) => cluster.delete(&writing.object, uid)?,
        }
        output::written(self.formats.output, || writing.report(stage), |_| writing.told(stage))
            .map(Output::done)
    }

    fn stage(&self) -> Stage {
        if self.dry_run { Stage::Proposed } else { Stage::Made }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overtaken_changes_are_thought_through_again_and_others_are_not() {
        let check = |overtaken: usize,
                     then: Result<&str, &str>,
                     expected: Result<&str, &str>,
                     looks: usize| {
            let mut seen = 0;
            let outcome = retry_on_conflict(|| {
                seen += 1;
                if seen <= overtaken {
                    return Err(Overtaken("changed meanwhile".into()).into());
                }
                then.map(Output::done).map_err(|said| anyhow::anyhow!(said.to_owned()))
            });
            let outcome = outcome.map(|output| output.text).map_err(|error| error.to_string());
            assert_eq!(outcome.as_deref().map_err(String::as_str), expected);
            assert_eq!(seen, looks);
        };
        check(0, Ok("done"), Ok("done"), 1);
        check(2, Ok("done"), Ok("done"), 3);
        check(0, Err("there is no such pool"), Err("there is no such pool"), 1);
        check(1, Err("there is no such pool"), Err("there is no such pool"), 2);
        check(9, Ok("done"), Err("changed meanwhile"), 5);
    }
}
