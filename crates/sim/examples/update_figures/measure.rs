//! What is measured about updates of the control plane? (CV-1, CV-4, GATE-7, POL-7)
//!
//! Everything runs under the virtual clock of the sandbox: real operator, real agents, the admission policies that are shipped. A delay is
//! one by that clock, so a busy computer shows in none of them.

use std::time::Duration;

use http::{Method, Request};
use jiff::Timestamp;
use kube::Client;
use runtime::clock::{Clock as _, SetClock};
use schedule::Instant;
use serde_json::{Value, json};
use sim::{Sandbox, Settings, example, stock::Item};

const VERSION: &str = "/apis/config.openshift.io/v1/clusterversions/version";
const MARK: &str = "changemanagement.openshift.io/accepted-release";
const PERMIT_CHANGE: &str = "changemanagement.openshift.io/permit-change";
const PERMIT_FROM: &str = "changemanagement.openshift.io/permit-from";
const PERMIT_UNTIL: &str = "changemanagement.openshift.io/permit-until";

/// How many seconds pass in one where hours have to.
const SPEED: u32 = 600;

/// Random numbers: the same seed gives the same.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: i64) -> i64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        i64::try_from(self.0 >> 33).unwrap_or(0) % limit
    }
}

/// The example, which changes on Saturdays and Sundays.
async fn weekend(at: &str, seed: u64, pace: u32) -> Sandbox {
    let at = Instant::parse(at).unwrap();
    let policy = json!({"apiVersion": "changemanagement.openshift.io/v1alpha1",
        "kind": "ChangeManagementPolicy", "metadata": {"name": "weekend"},
        "spec": {"strategy": "MaintenanceSchedule", "maintenanceSchedule": {"permit": {"recurrence": {
            "frequency": "Weekly", "weekly": {"daysOfWeek": ["Saturday", "Sunday"]}}}}}});
    let mut items = vec![Item { origin: "figures".into(), object: policy }];
    items.extend(example::objects(at, &["weekend".to_owned()]));
    let lengths = sim::Lengths { seed, ..sim::Lengths::default() };
    let settings = Settings { speed: pace, lengths, ..Settings::starting_at(at) };
    Sandbox::start(settings, items).await.unwrap()
}

fn get(sandbox: &Sandbox) -> Value {
    let (_, answer) = sandbox.api_server().ask(Method::GET, VERSION, "", &[]);
    serde_json::from_slice(&answer).unwrap()
}

fn wish(sandbox: &Sandbox, version: &str) {
    let wish = json!({"spec": {"desiredUpdate": {"version": version}}}).to_string();
    let content = "application/merge-patch+json";
    let (code, answer) = sandbox.api_server().ask(Method::PATCH, VERSION, content, wish.as_bytes());
    assert!(code < 300, "{}", String::from_utf8_lossy(&answer));
}

/// How long after its window opened each of so many marks was there.
pub(crate) async fn delays(rounds: u64) -> Vec<Duration> {
    let opening: Timestamp = "2026-11-21T00:00:00Z".parse().unwrap();
    let mut delays = Vec::new();
    for seed in 1..=rounds {
        let sandbox = weekend("2026-11-20T23:59:00Z", seed, 1).await;
        wish(&sandbox, "4.20.10");
        while get(&sandbox)["metadata"]["annotations"][MARK].is_null() {
            tokio::time::sleep(Duration::from_millis(10)).await;
            assert!(sandbox.clock().exact() < opening + Duration::from_mins(5), "no mark: {seed}");
        }
        let delay = opening.duration_until(sandbox.clock().exact());
        delays.push(Duration::try_from(delay).expect("no mark comes before its window"));
    }
    delays.sort();
    delays
}

/// What came of marks that somebody tried to write.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tries {
    /// Those that had every right.
    pub(crate) rightful: u64,
    /// Those of them that the server took.
    pub(crate) taken: u64,
    /// Those that it took although they had no right.
    pub(crate) outside: u64,
}

/// So many marks, by the operator and by others, with permits that are live, over, early, too long, for another change or none, and marks that end
/// in time or not.
pub(crate) async fn tries(count: u64) -> Tries {
    let sandbox = weekend("2026-11-18T09:00:00Z", 1, 0).await;
    let accounts = [
        "system:serviceaccounts",
        "system:serviceaccounts:tidegate-system",
        "system:authenticated",
    ];
    let operator = "system:serviceaccount:tidegate-system:tidegate";
    let masters = ["system:masters", "system:authenticated"];
    let server = sandbox.api_server();
    let clients = [
        Client::new(server.service_as(operator, &accounts), "default"),
        Client::new(server.service_as("root", &masters), "default"),
    ];
    let (mut dice, mut found) = (Dice(88_172_645_463_325_252), Tries::default());
    let clock: &SetClock = sandbox.clock();
    for serial in 0..count {
        clock.step(1 + dice.below(4));
        let now = clock.now();
        let by_operator = dice.below(4) > 0;
        let honest = dice.below(2) == 0;
        let at = |seconds: i64| now.saturating_add(seconds);
        let (from, until, ends) = if honest {
            (at(-dice.below(600)), at(1 + dice.below(900)), at(1 + dice.below(3600)))
        } else {
            (at(600 - dice.below(1200)), at(900 - dice.below(1800)), at(5400 - dice.below(7200)))
        };
        let has_permit = honest || dice.below(4) > 0;
        let is_its_own = honest || dice.below(4) > 0;
        let mark =
            json!({"version": format!("4.20.{serial}"), "image": "r@sha256:00", "uid": "nobody",
            "after": "", "until": ends.to_string()})
            .to_string();
        let mut noted = json!({MARK: mark, PERMIT_FROM: from.to_string(),
            PERMIT_CHANGE: if is_its_own { mark.as_str() } else { "another" }});
        if has_permit {
            noted[PERMIT_UNTIL] = json!(until.to_string());
        }
        let whole = json!({"apiVersion": "config.openshift.io/v1", "kind": "ClusterVersion",
            "metadata": {"name": "version", "annotations": noted}});
        let path = format!("{VERSION}?fieldManager=tidegate-rollout&force=true");
        let request = Request::builder()
            .method(Method::PATCH)
            .uri(path)
            .header("content-type", "application/apply-patch+yaml")
            .body(whole.to_string().into_bytes())
            .unwrap();
        let [own, other] = &clients;
        let client = if by_operator { own } else { other };
        let is_taken = client.request::<Value>(request).await.is_ok();
        // Judged by numbers alone, and by nothing that the policy is made of.
        let (now, from, until, ends) = (now.unix(), from.unix(), until.unix(), ends.unix());
        let is_live = has_permit && from <= now && now < until && until - now <= 900;
        let is_right = by_operator && is_its_own && is_live && ends - now <= 3900;
        found.rightful += u64::from(is_right);
        found.taken += u64::from(is_right && is_taken);
        found.outside += u64::from(!is_right && is_taken);
    }
    found
}

/// How many writes the operator makes in so long, while nothing happens and no window opens or closes.
pub(crate) async fn idle(length: Duration) -> u64 {
    let sandbox = weekend("2026-11-17T00:00:00Z", 1, SPEED).await;
    let written = || {
        let page = operator::metrics::page(sandbox.view());
        let lines = page.lines().filter(|line| line.starts_with("tidegate_api_requests_total{"));
        let writes = ["patch", "create", "update", "delete"].map(|verb| format!("verb=\"{verb}\""));
        let counted = lines.filter(|line| writes.iter().any(|verb| line.contains(verb)));
        counted.filter_map(|line| line.rsplit(' ').next()?.parse::<u64>().ok()).sum::<u64>()
    };
    pass(Duration::from_hours(1)).await;
    let before = written();
    pass(length).await;
    written() - before
}

/// How many updates come to their end, masters and workers included, with one a month asked for.
pub(crate) async fn months(count: u32) -> u32 {
    let sandbox = weekend("2026-01-02T22:00:00Z", 1, SPEED).await;
    let mut done = 0;
    for _ in 0..count {
        let version = get(&sandbox);
        let next = version["status"]["availableUpdates"][0]["version"].as_str().unwrap().to_owned();
        wish(&sandbox, &next);
        for _ in 0..60 {
            pass(Duration::from_mins(30)).await;
            let version = get(&sandbox);
            let newest = &version["status"]["history"][0];
            if newest["version"] == *next && newest["state"] == "Completed" {
                done += 1;
                break;
            }
        }
        // Workers follow in what is left of the weekend; the next wish comes on a Friday four weeks later.
        pass(Duration::from_hours(6)).await;
        let now = sandbox.clock().now().unix();
        let month = 4 * 7 * 86_400;
        let friday = Instant::parse("2026-01-02T22:00:00Z").unwrap().unix();
        let left = month - (now - friday).rem_euclid(month);
        sandbox.clock().step(left);
    }
    done
}

/// So long by the clock of the sandbox.
async fn pass(length: Duration) {
    tokio::time::sleep(length / SPEED).await;
}
