//! Rows of clusters, and the pages that are made from them; without a socket and without a browser.

use schedule::{Instant, Zone};
use serde_json::{Value, json};
use tidegate_core::cluster::{kinds, snapshot::Snapshot};
use views::{now::Now, status::Rows};

use super::{calendar, frame, gates, now, policies, pool, resource, resources};
use crate::{
    asked::Asked,
    page::Page,
    view::{Reading, View},
};

mod history;
mod pools;
mod what_if;

const NOW: &str = "2026-11-18T09:00:00Z";

fn at(text: &str) -> Instant {
    Instant::parse(text).unwrap()
}

fn policy(name: &str, day: &str) -> Value {
    json!({"apiVersion": "changemanagement.openshift.io/v1alpha1", "kind": "ChangeManagementPolicy",
        "metadata": {"name": name}, "spec": {"strategy": "MaintenanceSchedule", "maintenanceSchedule": {
            "timeZone": "Europe/Berlin",
            "permit": {"recurrence": {"frequency": "Weekly", "weekly": {"daysOfWeek": [day]}},
                "startTime": "20:00", "duration": "8h"},
            "exclude": [{"fromDate": "2026-12-19", "untilDate": "2027-01-04", "reason": "year-end <b>freeze</b>"}]}}})
}

fn pool(name: &str, policy: &str) -> Value {
    json!({"metadata": {"name": name}, "spec": {"changeManagement":
        {"strategy": "ByPolicy", "byPolicy": {"name": policy}}}})
}

fn cluster(pools: usize, policies: usize) -> Snapshot {
    const DAYS: [&str; 7] =
        ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];
    let mut cluster = Snapshot::default();
    for place in 0..policies {
        let policy = policy(&format!("policy-{place}"), DAYS[place % 7]);
        cluster.add_written(&kinds::CHANGE_MANAGEMENT_POLICY, &policy, at(NOW));
    }
    for place in 0..pools {
        let named = format!("policy-{}", place % policies.max(1));
        cluster.add(&kinds::MACHINE_CONFIG_POOL, &pool(&format!("pool-{place}"), &named));
    }
    cluster
}

/// So many node pools in a namespace, over so many policies.
fn fleet(pools: usize, policies: usize) -> Snapshot {
    const DAYS: [&str; 7] =
        ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];
    let mut fleet = Snapshot::default();
    for place in 0..policies {
        let mut policy = policy(&format!("policy-{place}"), DAYS[place % 7]);
        policy["kind"] = json!("HostedChangeManagementPolicy");
        policy["metadata"]["namespace"] = json!("clusters");
        fleet.add_written(&kinds::HOSTED_CHANGE_MANAGEMENT_POLICY, &policy, at(NOW));
    }
    for place in 0..pools {
        let mut pool = pool(&format!("pool-{place}"), &format!("policy-{}", place % policies));
        pool["metadata"]["namespace"] = json!("clusters");
        fleet.add(&kinds::NODE_POOL, &pool);
    }
    fleet
}

/// What makes a page.
type Made = fn(&View<'_>, &Asked) -> Page;

/// A cluster, and what that comes to.
struct World {
    cluster: Snapshot,
    rows: Rows,
    now: Now,
}

impl From<Snapshot> for World {
    fn from(cluster: Snapshot) -> Self {
        let rows = Rows::new(&cluster, at(NOW));
        let now = Now::new(&rows, &cluster, at(NOW));
        Self { cluster, rows, now }
    }
}

/// A page of a cluster, whole.
fn shown(world: &World, target: &str, page: Made) -> String {
    shown_with(world, target, page, &Reading::default())
}

fn shown_with(world: &World, target: &str, page: Made, reading: &Reading) -> String {
    let zones = [Zone::utc(), Zone::named("Europe/Berlin").unwrap()];
    let view = View {
        at: at(NOW),
        zone: &zones[0],
        zones: &zones,
        snapshot: &world.cluster,
        rows: &world.rows,
        now: &world.now,
        place: "a <cluster>",
        reading,
        speed: None,
        token: "the-token",
    };
    let asked = Asked::new(target);
    let page = page(&view, &asked);
    frame::whole(&view, &asked, page).into_string()
}

#[track_caller]
fn says(page: &str, expected: &str) {
    assert!(page.contains(expected), "no {expected:?} in {page}");
}

/// The states of a page: nothing there, not read yet, no right, silence.
#[test]
fn doubt_is_shown_as_doubt() {
    let empty = World::from(Snapshot::default());
    let page = shown(&empty, "/", now::page);
    says(&page, "<h1>Nothing is gated yet.</h1>");
    says(&page, "A policy says when; three lines in a resource name it");
    let reading = Reading { unread: vec!["NodePool"], ..Reading::default() };
    let page = shown_with(&empty, "/", now::page, &reading);
    says(&page, "<h1>Not everything has been read yet.</h1>");
    says(&page, "Not everything has been read yet: NodePool.");
    let reading = Reading {
        refused: vec!["HostedCluster", "NodePool"],
        stale_since: Some(at("2026-11-18T08:58:12Z")),
        ..Reading::default()
    };
    let page = shown_with(&cluster(1, 1).into(), "/", now::page, &reading);
    says(&page, "You may not list HostedCluster, NodePool, so nothing of them is shown.");
    says(&page, "The cluster has not answered since today 08:58. What you see was true then.");
}

/// GATE-9: a page says what `tidegate status` and `tidegate explain` say, word for word.
#[test]
fn words_are_those_of_the_command() {
    let world = World::from(cluster(1, 1));
    let World { cluster, rows, .. } = &world;
    let reason = rows.resources[0].behavior.current.reason.clone();
    let own = reason.split_once(": ").unwrap().1;
    says(&shown(&world, "/", now::page), own);
    let page = shown(&world, "/r/mcp/pool-0", resource::page);
    says(&page, &reason);
    let key = &rows.resources[0].object;
    let answer = views::explain::of_object(key, cluster, at(NOW)).unwrap();
    for node in [&answer.reason, &answer.reason.because[0]] {
        says(&page, &node.text(&answer.zone));
    }
    let later = shown(&world, "/r/mcp/pool-0?when=2026-12-21T22:00:00Z", resource::page);
    says(&later, "excluded: year-end &lt;b&gt;freeze&lt;/b&gt;");
    says(&shown(&world, "/r/mcp/pool-0?when=soon", resource::page), "is no instant");
    says(
        &shown(&world, "/r/mcp/gone", resource::page),
        "there is no MachineConfigPool/gone in this cluster",
    );
}

/// What others wrote is text, wherever it stands: in names, in reasons, in what was asked for.
#[test]
fn text_of_others_makes_no_elements() {
    let hostile = "<script>alert(1)</script>\"'>\u{202e}";
    let mut cluster = cluster(2, 2);
    cluster.add(&kinds::MACHINE_CONFIG_POOL, &pool(hostile, hostile));
    let freeze = json!({"metadata": {"name": "stop"}, "spec": {"reason": format!("{hostile}{}", "x".repeat(10_000)),
        "from": "2026-11-18T08:00:00Z", "until": "2026-11-19T00:00:00Z",
        "holds": [{"what": "MachineConfigPools", "names": ["pool-0"]}]}});
    cluster.add(&kinds::CLUSTER_CHANGE_FREEZE, &freeze);
    let world = World::from(cluster);
    let encoded = crate::asked::encoded(hostile);
    let pages: &[(&str, Made)] = &[
        ("/", now::page),
        (&format!("/resources?q={encoded}&state={encoded}"), resources::page),
        ("/resources", resources::page),
        (&format!("/r/mcp/{encoded}"), resource::page),
        (&format!("/r/{encoded}/x"), resource::page),
        (&format!("/calendar?subject=mcp/pool-0&day={encoded}&from={encoded}"), calendar::page),
        ("/policies", policies::page),
        ("/gates", gates::page),
        ("/pools", pool::page),
        (&format!("/pools/{encoded}"), pool::page),
        (&format!("/pools/{encoded}/x"), pool::page),
        (&format!("/history?object={encoded}&from={encoded}"), history::hostile),
        (&format!("/what-if?for={encoded}&pool={encoded}"), what_if::asked),
        ("/what-if", what_if::asked),
    ];
    for (target, page) in pages {
        let page = shown(&world, target, *page);
        assert!(!page.contains("<script>alert"), "{target}: {page}");
        assert!(!page.contains('\u{202e}'), "{target}");
        assert!(!page.contains("style="), "{target}");
        assert!(!page.contains("javascript:"), "{target}");
        assert!(!page.contains(&"x".repeat(600)), "{target}: long text is cut");
        let scripts = page.matches("<script").count();
        assert_eq!(scripts, 1, "{target}: our own script and no other");
        // Every way out of a page is one of ours.
        for (place, _) in page.match_indices("href=\"") {
            assert!(
                ["/", "#"].contains(&&page[place + 6..place + 7]),
                "{target}: {}",
                &page[place..place + 40]
            );
        }
    }
}

/// 10,000 resources over 1,000 policies are a few causes, and no page is longer than a browser likes.
#[test]
fn thousands_are_grouped_by_cause() {
    let world = World::from(fleet(10_000, 1_000));
    let page = shown(&world, "/", now::page);
    says(&page, "by cause");
    says(&page, "10,000");
    says(&page, "Everything is held. The next gates open in 10 hours.");
    let longest = 120 * 1024;
    assert!(page.len() < longest, "{}", page.len());
    assert!(page.matches("<tr").count() < 20, "{}", page.matches("<tr").count());
    let pages: &[(&str, Made)] = &[
        ("/?by=none", now::page),
        ("/resources", resources::page),
        ("/resources?q=pool-99", resources::page),
        ("/policies", policies::page),
    ];
    for (target, page) in pages {
        let page = shown(&world, target, *page);
        assert!(page.len() < 2 * longest, "{target}: {}", page.len());
        assert!(page.matches("<tr").count() <= 101, "{target}");
    }
    // The next page begins where this one ends.
    let first = shown(&world, "/resources?q=pool-99", resources::page);
    says(&first, "111 of 10,000 resources");
    let (_, next) = first.rsplit_once("after=").unwrap();
    let next = next.split('"').next().unwrap();
    let second = shown(&world, &format!("/resources?q=pool-99&after={next}"), resources::page);
    assert_eq!(second.matches("<tr id=").count(), 11);
}

/// TIME-9: every day of a year as `tidegate calendar` has it, days of 23 and 25 hours among them.
#[test]
fn a_calendar_is_that_of_the_command() {
    let world = World::from(cluster(1, 1));
    let cluster = &world.cluster;
    let page = shown(&world, "/calendar?subject=cmp/policy-0&from=2026-10", calendar::page);
    let seen = cluster.policies().next().unwrap();
    let lowered = &seen.judged.policy.as_ref().unwrap().lowered;
    let (from, to) = ("2026-10-01", "2027-09-30");
    let date = |text: &str| schedule::Date::parse(text).unwrap();
    let months = tidegate_core::policy::calendar::months(lowered, date(from), date(to));
    let mut days = 0;
    for day in months.iter().flat_map(|month| &month.days) {
        let (_, rest) = page.split_once(&format!("data-day=\"{}\"", day.date)).unwrap();
        let (_, label) = rest.split_once("aria-label=\"").unwrap();
        let label = label.split('"').next().unwrap();
        let words = label.split_once(": ").unwrap().1;
        assert_eq!(words.matches("open from").count(), day.open.len(), "{}: {label}", day.date);
        assert_eq!(words.contains("frozen"), day.excluded.is_some(), "{}: {label}", day.date);
        days += 1;
    }
    assert_eq!(days, 365);
    says(&page, "<i data-turn=\"+1\">");
    says(&page, "<i data-turn=\"-1\">");
    let spring = shown(&world, "/calendar?subject=cmp/policy-0&day=2027-03-28", calendar::page);
    says(&spring, "This day has 23 hours: the clocks change.");
}
