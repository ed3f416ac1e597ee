//! `tidegate gate check`: would the API server take rooms of somebody's own? (RCH-14)
//!
//! The policies of each room are created as dry runs, under names that nothing else has, so that a wrong expression is found before an installation
//! breaks off at it. Types are judged so; what an expression costs the server counts while it judges a write.

use std::path::PathBuf;

use clap::Args;
use runtime::path::{ADMISSION_POLICY, Resource};
use tidegate_core::reach::{custom::CustomRoom, policies::custom::rendered};
use views::custom::{Checked, Rooms};

use crate::{
    args::Formats,
    cluster::{Cluster, Reach},
    output::{self, Exit, Output},
    values::{parsed, rooms_of},
};

#[derive(Args, Debug)]
pub(super) struct Check {
    /// A file with values of the chart
    #[arg(long, value_name = "PATH")]
    values: PathBuf,
    #[command(flatten)]
    reach: Reach,
    #[command(flatten)]
    formats: Formats,
}

/// Under which name is tried.
const RELEASE: &str = "tidegate-check";

pub(super) fn run(args: &Check) -> anyhow::Result<Output> {
    let rooms = rooms_of(&args.values)?;
    let cluster = args.reach.connect()?;
    let checked = rooms.iter().map(|room| {
        let said = tried(&cluster, room)?;
        Ok(Checked { name: room.name.clone(), said })
    });
    let rooms = Rooms(checked.collect::<anyhow::Result<_>>()?);
    let text = output::written(args.formats.output, || rooms.report(), |_| rooms.drawing())?;
    let exit = if rooms.all_taken() { Exit::Done } else { Exit::No };
    Ok(Output { exit, ..Output::done(text) })
}

/// Why the server would not take the policies of a room; none if it would.
fn tried(cluster: &Cluster, room: &CustomRoom) -> anyhow::Result<Option<String>> {
    for text in rendered(room, RELEASE, RELEASE).split("---\n") {
        let object = parsed(text)?;
        if object["kind"] != ADMISSION_POLICY.kind() {
            continue;
        }
        let kind: Resource<'_> = ADMISSION_POLICY;
        match cluster.try_object(&kind.collection(None), &object) {
            Ok(()) => {}
            Err(error) if matches!(error.code(), Some(400 | 422)) => {
                return Ok(Some(error.told()));
            }
            Err(error) => anyhow::bail!("the API server cannot be asked: {}", error.told()),
        }
    }
    Ok(None)
}
