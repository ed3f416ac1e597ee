//! Which updates of the control plane does a person ask about? (CV-3)

use clap::Args;
use schedule::Instant;
use tidegate_core::{
    cluster::snapshot::Snapshot,
    simulate::path::{self, Update},
    skew::{Kubernetes, Release},
};

use crate::args::{self, Ahead};

/// How many updates are looked at: more than anybody plans.
const MOST_UPDATES: usize = 40;

/// The updates to come.
#[derive(Args, Debug)]
pub(crate) struct Updates {
    /// Update the control plane to this release once its gate is open from then on, after what it is asked to do already; may be given several times
    #[arg(long, value_name = "RELEASE@TIME", value_parser = update)]
    update: Vec<(String, Instant)>,
    /// Update the control plane to the next minor at this interval
    #[arg(long, value_name = "LENGTH", value_parser = args::ahead, conflicts_with = "update")]
    update_every: Option<Ahead>,
}

impl Updates {
    /// Whether the person asks for any.
    pub(crate) fn are_given(&self) -> bool {
        !self.update.is_empty() || self.update_every.is_some()
    }

    /// The latest instant that was named.
    pub(crate) fn last(&self) -> Option<Instant> {
        self.update.iter().map(|(_, at)| *at).max()
    }

    /// What the control plane is asked to do in a period: what the person says, and else what is wished for in the cluster.
    pub(crate) fn path(
        &self,
        cluster: &Snapshot,
        range: &std::ops::Range<Instant>,
    ) -> anyhow::Result<Vec<Update>> {
        if let Some(every) = self.update_every {
            let times = (1..).map(|count| every.times(count).after(range.start));
            let times: Vec<_> =
                times.take_while(|at| *at < range.end).take(MOST_UPDATES + 1).collect();
            if times.len() > MOST_UPDATES {
                anyhow::bail!(
                    "--update-every: more than {MOST_UPDATES} updates would come\n  hint: let them come less often, or look less far ahead"
                );
            }
            return path::each(cluster, times, range.start)
                .map_err(|error| anyhow::anyhow!("--update-every: {error}"));
        }
        if self.update.is_empty() {
            return Ok(path::wished(cluster, range.start).into_iter().collect());
        }
        path::given(cluster, &self.update, range)
            .map_err(|error| anyhow::anyhow!("--update: {error}"))
    }
}

fn update(text: &str) -> Result<(String, Instant), String> {
    let Some((release, at)) = text.split_once('@') else {
        return Err(format!("{text:?} is not RELEASE@TIME: expected 4.22@2027-03-01"));
    };
    // Which of them the cluster has is known once it is read.
    if release.parse::<Release>().is_err() && release.parse::<Kubernetes>().is_err() {
        return Err(format!(
            "{release:?} is not a version: expected a release of OpenShift, such as 4.22, or of Kubernetes, such as 1.37"
        ));
    }
    Ok((release.to_owned(), args::moment(at)?.instant))
}
