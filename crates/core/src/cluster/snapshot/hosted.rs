//! Which nodes belong to which hosted cluster? By name, and within one namespace only (GATE-5).

use api::kinds;

use super::Snapshot;
use crate::{
    cluster::seen::{Seen, SeenGated},
    document::key::Key,
    hosted::{Hosted, pool::SeenNodePool},
};

impl Snapshot {
    /// The node pools of a hosted cluster.
    pub fn node_pools<'a>(
        &'a self,
        cluster: &'a Key,
    ) -> impl Iterator<Item = (&'a Key, &'a SeenNodePool)> {
        let all = self.of_kind(&kinds::NODE_POOL).filter_map(|(key, seen)| match seen {
            Seen::Gated(gated) => Some((key, gated.hosted.as_deref().and_then(Hosted::pool)?)),
            Seen::Policy(_) | Seen::Part(_) => None,
        });
        all.filter(|(key, pool)| {
            key.namespace == cluster.namespace && *pool.cluster == *cluster.name
        })
    }

    /// The hosted cluster that a node pool belongs to.
    pub fn host_of(&self, pool: &SeenGated) -> Option<&SeenGated> {
        let own = pool.hosted.as_deref().and_then(Hosted::pool)?;
        let namespace = pool.identity.key.namespace.as_deref();
        let cluster = Key::new(&kinds::HOSTED_CLUSTER, namespace, &own.cluster);
        self.resource(&cluster).map(|cluster| &**cluster)
    }
}
