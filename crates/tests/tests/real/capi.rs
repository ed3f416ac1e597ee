//! Does real Cluster API do what its rooms and its model say? (HOST-3, RCH-3, RCH-5, RCH-8)
//!
//! Its manager, built from its modules, on a real kube-apiserver, with the objects that `HyperShift` makes below a `NodePool`, and with our definitions and
//! policies as they are shipped. A provider of infrastructure makes a node in an embedded server for each machine. The status of the gates is
//! written here as the operator would, and nothing of ours runs, except where it says so.

mod compared;
mod held;
mod history;
mod management;
mod model;
mod nudged;

use management::Management;
use rig::{Controllers, suite};

/// One start of both for all of it: the scenes have pools of their own, and run beside each other.
#[test]
fn real_cluster_api_waits_for_windows_and_moves_as_its_model_does() {
    suite::with_cluster_api("cluster-api", |cluster_api| {
        suite::on_real("cluster-api", Controllers::Running, async |cluster| {
            let management = Management::start(cluster_api, cluster).await;
            tokio::join!(
                held::from_a_close_to_the_next_opening(&management),
                held::while_others_scale_and_heal(&management),
                compared::with_what_it_does(&management),
            );
            nudged::by_the_operator(&management).await;
            compared::every_step_is_one_of_the_model(&management);
        });
    });
}
