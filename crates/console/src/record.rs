//! What was recorded of a cluster, and does it hold? (HIST-1) Read when somebody asks, with their rights, and kept nowhere.

use api::kinds::CHANGE_RECORD;
use runtime::{
    call::{Cluster, Collection},
    key::collection,
};
use serde_json::Value;
use tidegate_core::history::verify::{Held, Source, verify};
use views::history::Verification;

/// How many pages are read at once: each is a hundred kilobytes.
const AT_ONCE: u32 = 10;

/// What became of reading the record.
#[derive(Debug)]
pub(crate) enum Records {
    /// What is there.
    Read(Record),
    /// The cluster does not have the kind: nobody switched it on.
    Off,
    /// It cannot be read, for this reason.
    Unread(String),
}

/// Everything that is recorded.
#[derive(Debug)]
pub(crate) struct Record {
    /// The entries as they are stored.
    pub(crate) entries: Vec<Value>,
    /// Whether they are as they were written.
    pub(crate) verified: Verification,
}

impl Record {
    /// The entries of a source, looked at.
    pub(crate) fn new(source: Source) -> Self {
        let sources = [source];
        let verified = Verification { chains: verify(&sources) };
        let [source] = sources;
        Self { entries: source.entries.into_iter().map(|stored| stored.entry).collect(), verified }
    }

    /// The entries of these pages, looked at.
    pub(crate) fn of_pages(found: &[Value], held: Held) -> Self {
        Self::new(Source::pages("the cluster", held, found))
    }
}

/// Reads the record of a cluster.
pub(crate) async fn read(cluster: &Cluster) -> Records {
    let all = Collection::of(collection(&CHANGE_RECORD, None)).in_pages_of(AT_ONCE);
    let listed = match cluster.list_all::<Value>(&all).await {
        Ok(listed) => listed.items,
        Err(error) if error.code() == Some(404) => return Records::Off,
        Err(error) => return Records::Unread(error.told()),
    };
    // Thousands of hashes are made anew: not where everybody is answered.
    let looked =
        tokio::task::spawn_blocking(move || Record::of_pages(&listed, Held::ByServer)).await;
    looked.map_or_else(|error| Records::Unread(error.to_string()), Records::Read)
}
