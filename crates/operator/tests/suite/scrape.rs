//! Do the metrics say what is so at the moment of the scrape?

use std::time::Duration;

use http::Method;
use http_body_util::BodyExt as _;
use operator::serve;
use serde_json::json;

use super::common::{POLICIES, POOLS, World, by_policy, pass, pool, settle, weekend};

/// METR-1, METR-2, TIME-2
#[tokio::test(start_paused = true)]
async fn countdowns_are_computed_when_they_are_asked_for() {
    let world = World::new();
    world.create(POLICIES, &weekend("weekend"));
    world.create(POOLS, &pool("master", &by_policy("weekend")));
    world.create(POOLS, &pool("worker", &json!({"strategy": "Permissive"})));
    let operator = world.start();
    settle().await;
    let value = |start: &str| {
        let page = operator::metrics::page(&operator.view);
        let line = page.lines().find(|line| line.starts_with(start)).map(str::to_owned);
        line.and_then(|line| line.rsplit(' ').next()?.parse::<f64>().ok()).unwrap_or(f64::NAN)
    };
    let of = |metric: &str, object: &str, system: &str| {
        value(&format!(
            "change_management_{metric}{{kind=\"MachineConfigPool\",object=\"{object}\",system=\"{system}\"}} "
        ))
    };
    let near = |found: f64, wanted: f64| assert!((found - wanted).abs() < 0.1, "{found} {wanted}");
    near(of("next_change_eta", "master", "control-plane"), 3599.0);
    near(of("permissive_remaining", "master", "control-plane"), 0.0);
    near(of("next_change_eta", "worker", "worker-nodes"), 0.0);
    near(of("permissive_remaining", "worker", "worker-nodes"), -1.0);
    world.writes();
    pass(Duration::from_mins(10)).await;
    near(of("next_change_eta", "master", "control-plane"), 2999.0);
    assert_eq!(world.writes(), [""; 0], "the countdown costs no write");
    pass(Duration::from_mins(50)).await;
    near(of("next_change_eta", "master", "control-plane"), 0.0);
    near(of("permissive_remaining", "master", "control-plane"), 2.0 * 86400.0 - 1.0);

    let page = operator::metrics::page(&operator.view);
    let strategies = page.lines().filter(|line| {
        line.starts_with("change_management_strategy_enabled{") && line.contains("\"master\"")
    });
    let on: Vec<&str> = strategies.filter(|line| line.ends_with(" 1")).collect();
    assert_eq!(on.len(), 1, "{on:?}");
    assert!(on[0].contains("strategy=\"MaintenanceSchedule\""), "{on:?}");
    assert!(
        value("tidegate_policy_ready{kind=\"ChangeManagementPolicy\",object=\"weekend\"} ") > 0.5
    );
    assert!(value("tidegate_leader ") > 0.5);
    assert!(value("tidegate_cache_age_seconds{kind=\"MachineConfigPool\"} ") < 66.0);
    assert!(value("tidegate_edge_lateness_seconds_count ") >= 2.0);
    assert!(value("tidegate_edge_lateness_seconds_sum ") < 0.1, "awake on the second");
}

/// Every metric of the table is served, and nothing else is.
#[tokio::test(start_paused = true)]
async fn the_page_holds_the_metrics_of_the_table_in_its_order() {
    let world = World::new();
    let operator = world.start();
    settle().await;
    let page = operator::metrics::page(&operator.view);
    let begun: Vec<&str> =
        page.lines().filter_map(|line| line.strip_prefix("# TYPE ")?.split(' ').next()).collect();
    let table: Vec<&str> = api::metrics::METRICS.iter().map(|metric| metric.name).collect();
    assert_eq!(begun, table);
}

#[tokio::test(start_paused = true)]
async fn probes_answer_with_codes_and_words() {
    let world = World::new();
    let operator = world.start();
    let ask = async |method: Method, path: &str| {
        let answer = serve::answer(&method, path, &operator.view);
        let code = answer.status().as_u16();
        let body = answer.into_body().collect().await.unwrap().to_bytes();
        (code, String::from_utf8(body.to_vec()).unwrap())
    };
    let (code, why) = ask(Method::GET, "/readyz").await;
    assert_eq!((code, why.as_str()), (503, "ChangeManagementPolicy has not been listed yet\n"));
    settle().await;
    assert_eq!(ask(Method::GET, "/readyz").await, (200, "ok\n".into()));
    assert_eq!(ask(Method::GET, "/healthz").await, (200, "ok\n".into()));
    assert_eq!(ask(Method::GET, "/metrics").await.0, 200);
    assert_eq!(ask(Method::GET, "/").await.0, 404);
    assert_eq!(ask(Method::POST, "/metrics").await.0, 405);
}
