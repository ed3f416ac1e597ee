//! Rows of clusters, and what would happen to them.

use tidegate_core::{cluster::kinds, simulate::simulate};

use super::{World, at, cluster, pool, pools, says, shown};
use crate::{
    asked::Asked,
    forecast::{self, Outcome},
    page::{Page, what_if},
    view::View,
};

/// The page of what is asked, made as the console makes it, but here.
pub(super) fn asked(view: &View<'_>, asked: &Asked) -> Page {
    let outcome = match forecast::settings(view.snapshot, view.at, asked) {
        Ok(settings) => Outcome::Told(Box::new((simulate(view.snapshot, &settings), settings))),
        Err(why) => Outcome::Untold(why),
    };
    what_if::page(view, asked, &outcome)
}

/// DET-1: the same cluster, instant and question give the same page, and it says what `tidegate simulate` says.
#[test]
fn what_would_happen_is_told_as_the_command_tells_it() {
    let example = pools::waiting(2);
    let world = World::from(example);
    let page = shown(&world, "/what-if", asked);
    says(&page, "Everything gets there, the last today at");
    assert_eq!(page, shown(&world, "/what-if", asked));
    let settings =
        forecast::settings(&world.cluster, at(super::NOW), &Asked::new("/what-if")).unwrap();
    let forecast = simulate(&world.cluster, &settings);
    let course = &forecast.pools[0];
    says(&page, &views::simulation::words::result(course));
    let finished = course.changes[0].finished.unwrap().to_string();
    says(&page, &format!("datetime=\"{finished}\""));
    // What is supposed to arrive does.
    let busy = shown(&world, "/what-if?every=7d&for=90d", asked);
    assert_eq!(busy.matches("c-arrives").count() - 1, 13, "each that arrives, and a sign");
    says(&busy, "<option value=\"7d\" selected>");
}

#[test]
fn a_pool_that_does_not_get_there_is_named() {
    let mut example = pools::waiting(2);
    let mut pool = pool("worker", "gone");
    pool["spec"]["nodeSelector"] =
        serde_json::json!({"matchLabels": {"node-role.kubernetes.io/worker": ""}});
    pool["spec"]["configuration"] = serde_json::json!({"name": "rendered-b"});
    example.add(&kinds::MACHINE_CONFIG_POOL, &pool);
    let page = shown(&World::from(example), "/what-if", asked);
    says(&page, "MachineConfigPool/worker does not get there within 365 days.");
    says(&page, "the gate does not open");
}

/// The work is bounded, and whoever asks for more is told so.
#[test]
fn what_is_too_much_is_told() {
    let world = World::from(cluster(1, 1));
    for (target, expected) in [
        ("/what-if?for=10y", "for: &quot;10y&quot; is none of 30d, 90d, 180d, 1y"),
        ("/what-if?every=1s", "every: &quot;1s&quot; is none of"),
        ("/what-if?pool=gone", "there is no MachineConfigPool/gone"),
    ] {
        let page = shown(&world, target, asked);
        says(&page, expected);
        says(&page, "This is not told here.");
    }
    says(&shown(&world, "/what-if?for=30d", asked), "Nothing is pending, and nothing arrives.");
    let large = World::from(pools::waiting(5_000));
    let page = shown(&large, "/what-if?every=7d", asked);
    says(&page, "5000 nodes would take 54 changes, and a page tells 100000 at most");
}
