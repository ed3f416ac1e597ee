//! A pool is held, and what is not a step goes on.

use api::reach::Window;
use jiff::{Timestamp, ToSpan as _};
use serde_json::json;

use super::{
    compared,
    history::Step,
    management::{Management, NEW, OLD, Pool, of, until},
};

fn window(start: Timestamp, end: Timestamp) -> Window {
    Window { start_time: Some(start.to_string()), end_time: Some(end.to_string()) }
}

fn tomorrow(now: Timestamp) -> Window {
    window(now + 24.hours(), now + 28.hours())
}

fn sets(of: &[(&str, i64)]) -> Vec<(String, i64)> {
    of.iter().map(|(release, replicas)| ((*release).to_owned(), *replicas)).collect()
}

/// HOST-3, RCH-5: the controller is refused before it began, stopped in the middle by the clock of the server, and goes on in the next window. Nothing of
/// ours is alive from before the close to after the next opening.
pub(super) async fn from_a_close_to_the_next_opening(management: &Management) {
    let pool = management.pool("edges", 3, (1, 0)).await;
    pool.gate(&[tomorrow(management.server_time().await)]).await;
    pool.hand_over(NEW).await;
    until("the first step is refused", async || pool.refusals().await > 0).await;
    assert_eq!(pool.sets().await, sets(&[(OLD, 3)]));

    // The machine that the first window lets begin boots after that window.
    management.machines.keep_from_booting("edges");
    let now = management.server_time().await;
    // A machine may take twenty seconds to arrive on a busy computer, and has to arrive in between.
    let (close, again) = (now + 12.seconds(), now + 72.seconds());
    pool.open(&[window(now - 1.hour(), close), window(again, again + 5.hours())]).await;
    pool.touch().await;
    let half = sets(&[(OLD, 3), (NEW, 1)]);
    until("the rollout begins", async || pool.sets().await == half).await;
    let refused = pool.refusals().await;
    until("the window is over", async || management.server_time().await >= close).await;
    management.machines.let_boot("edges");
    until("the next step is refused", async || pool.refusals().await > refused).await;
    assert_eq!((pool.sets().await, pool.machines().await.len()), (half, 4));

    until("the next window", async || management.server_time().await >= again).await;
    pool.touch().await;
    pool.runs(NEW, 3).await;
    let steps = management.history.steps("edges");
    let moved: Vec<(i64, i64)> = steps.iter().map(|step| (step.revision, step.replicas)).collect();
    assert_eq!(moved, [(1, 3), (2, 1), (1, 2), (2, 2), (1, 1), (2, 3), (1, 0)]);
    let outside = |step: &&Step| step.moves && !(step.at < close || step.at >= again);
    assert_eq!(steps.iter().find(outside), None, "from {close} to {again}");
    let resumed = steps.iter().find(|step| step.at >= again).unwrap();
    let after = resumed.at.duration_since(again);
    println!("cluster-api: resumed {after} after its opening");
    assert!(after.as_secs() <= 10, "{after}");
}

/// HOST-3: for as long as it takes.
pub(super) async fn while_others_scale_and_heal(management: &Management) {
    let pool = management.pool("scaled", 3, (1, 0)).await;
    let shut = tomorrow(management.server_time().await);
    pool.gate(std::slice::from_ref(&shut)).await;
    check_health(&pool).await;
    pool.hand_over(NEW).await;
    until("the first step is refused", async || pool.refusals().await > 0).await;
    // A machine that failed is replaced by one of the release that runs.
    is_replaced(&pool, OLD).await;
    assert_eq!(pool.sets().await, sets(&[(OLD, 3)]));
    // The controller makes the new set before anything else, so that scaling waits with it.
    pool.scale(4).await;
    pool.is_refused_again().await;
    assert_eq!(pool.sets().await, sets(&[(OLD, 3)]));
    pool.scale(3).await;

    // It is shut in the middle, and the machine under way arrives.
    management.machines.keep_from_booting("scaled");
    let now = management.server_time().await;
    pool.open(&[window(now - 1.hour(), now + 5.hours())]).await;
    pool.touch().await;
    until("the rollout begins", async || pool.sets().await.len() == 2).await;
    pool.open(std::slice::from_ref(&shut)).await;
    pool.holds().await;
    management.machines.let_boot("scaled");
    until("the machine under way arrives", async || pool.available().await == 4).await;
    // Out goes to the new release. That it stays so is shown by what follows: each is decided by a look at all sets.
    pool.scale(5).await;
    until("it grows", async || pool.sets().await == sets(&[(OLD, 3), (NEW, 3)])).await;
    until("all arrive", async || pool.available().await == 6).await;
    assert_eq!((pool.wanted().await, pool.machines().await.len()), (json!("5"), 6));
    // In takes the old first, and with them what was there beyond those wanted.
    pool.scale(4).await;
    until("it shrinks", async || pool.sets().await == sets(&[(OLD, 1), (NEW, 3)])).await;
    until("they go", async || pool.machines().await.len() == 4).await;
    // What fails of the new release is replaced. What fails of the old is not: Cluster API leaves it to the rollout. What somebody deletes is.
    is_replaced(&pool, NEW).await;
    is_left_to_the_rollout(&pool).await;
    let old = named(&pool, OLD).await;
    pool.delete_machine(&old).await;
    until("it is replaced", async || {
        let now = pool.machines().await;
        now.len() == 4 && now.iter().any(|(name, release)| release == OLD && *name != old)
    })
    .await;
    assert_eq!(pool.sets().await, sets(&[(OLD, 1), (NEW, 3)]));

    let now = management.server_time().await;
    pool.open(&[window(now - 1.hour(), now + 5.hours())]).await;
    pool.touch().await;
    pool.runs(NEW, 4).await;
    assert_eq!(compared::steps(management, "scaled"), compared::held_and_scaled());
}

async fn check_health(pool: &Pool<'_>) {
    let check = json!({"apiVersion": "cluster.x-k8s.io/v1beta1", "kind": "MachineHealthCheck", "metadata": {"name": pool.name},
        "spec": {"clusterName": "demo", "selector": {"matchLabels": {"resourcesName": format!("demo-{}", pool.name)}},
            "maxUnhealthy": "100%", "nodeStartupTimeout": "20m",
            "unhealthyConditions": [{"type": "Ready", "status": "False", "timeout": "1s"}]}});
    pool.management.admin.create(&of("machinehealthchecks"), &check).await;
}

/// The name of a machine of this release.
async fn named(pool: &Pool<'_>, release: &str) -> String {
    let mut machines = pool.machines().await.into_iter();
    machines.find(|(_, of)| of == release).unwrap().0
}

/// A node fails, and another machine of the same release takes its place.
async fn is_replaced(pool: &Pool<'_>, release: &str) {
    let before = pool.machines().await;
    let failed = named(pool, release).await;
    pool.management.fail_node(&failed).await;
    until(&format!("{failed} is replaced"), async || {
        let now = pool.machines().await;
        let new = now.iter().find(|machine| !before.contains(machine));
        now.len() == before.len() && new.is_some_and(|(_, of)| of == release)
    })
    .await;
    let wanted = i64::try_from(before.len()).unwrap();
    until("it arrives", async || pool.available().await == wanted).await;
}

/// A machine whose set is not the newest: its owner does not remediate it.
async fn is_left_to_the_rollout(pool: &Pool<'_>) {
    let failed = named(pool, OLD).await;
    pool.management.fail_node(&failed).await;
    until("its owner leaves it alone", async || {
        let machine = pool.machine(&failed).await;
        machine["status"].to_string().contains("pending removal due to rollout")
    })
    .await;
}
