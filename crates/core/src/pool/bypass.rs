//! Which nodes lack what bypasses change management? Those go, and no others, until every node has it (POOL-5).
//!
//! A source bypasses by its annotation. Whether a rendered configuration has its current content is told by the digests written on it.
//! Nodes go to the pool's target as a whole, so other changes ride along; they are named. A pinned target that lacks the content
//! wins, and that is reported.

use std::{collections::BTreeSet, sync::Arc};

use super::{
    source::{Rendered, Source},
    target::Target,
};
use crate::{
    document::problem::{Code, FieldPath, Problem},
    gate::{Basis, Proof},
};

/// Proof that a configuration lacks what bypasses change management, and that the target has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lacking(Arc<str>);

impl Lacking {
    /// The source that is lacking.
    pub(crate) fn source(&self) -> &Arc<str> {
        &self.0
    }
}

impl Proof for Lacking {
    fn basis(&self) -> Basis {
        Basis::Bypass(self.0.clone())
    }
}

/// The sources that bypass change management and whose content the target has.
#[derive(Debug, Default)]
pub(crate) struct Bypass<'a> {
    sources: Vec<&'a Source>,
    target: Option<&'a Rendered>,
}

impl<'a> Bypass<'a> {
    /// What bypasses, given the sources of a pool and its target.
    pub(crate) fn new(
        sources: &[&'a Source],
        target: Option<&Target<'a>>,
        problems: &mut Vec<Problem>,
    ) -> Self {
        let Some(target) = target else { return Self::default() };
        let marked = sources.iter().copied().filter(|source| source.bypass.is_some());
        let (contained, lost): (Vec<_>, Vec<_>) =
            marked.partition(|source| target.config.contains(source));
        // A target that was not chosen lacks it only until the next rendering, which reports its own faults.
        if target.is_pinned() {
            problems.extend(lost.into_iter().map(|source| conflict(source, target.config)));
        }
        Self { sources: contained, target: Some(target.config) }
    }

    /// The proof that a configuration lacks something that bypasses; none is a node without any, which lacks everything.
    pub(crate) fn lacking(&self, config: Option<&Rendered>) -> Option<Lacking> {
        let lacks = |source: &&&Source| config.is_none_or(|config| !config.contains(source));
        self.sources.iter().find(lacks).map(|source| Lacking(source.name.as_str().into()))
    }

    /// What else changes on a node that goes from a configuration to the target: the sources that differ and do not bypass.
    pub(crate) fn riding<'b>(&'b self, config: &'b Rendered) -> BTreeSet<&'b str> {
        let Some(target) = self.target else { return BTreeSet::new() };
        let names = config.digests.keys().chain(target.digests.keys()).map(String::as_str);
        names
            .filter(|name| config.digests.get(*name) != target.digests.get(*name))
            .filter(|name| self.sources.iter().all(|source| source.name != *name))
            .collect()
    }
}

fn conflict(source: &Source, pinned: &Rendered) -> Problem {
    let path = FieldPath::of("spec.machineConfig.name");
    let detail = format!(
        "{} asks to bypass change management, but the chosen {} lacks its content",
        source.object(),
        pinned.name
    );
    Problem::new(&path, Code::Conflict, detail)
        .hint("choose a newer configuration, or remove spec.machineConfig")
}
