//! Who gets an answer, and which headers does it carry? Rows of requests, as strangers would send them.

use api::{crds, kinds::CHANGE_RECORD};
use serde_json::{Value, json};
use tidegate_core::history::{
    chain::hash,
    verify::{Held, Source, verify},
};

use crate::stand::Stand;

const AT: &str = "2026-11-18T09:00:00Z";

/// Without a code nobody sees anything of a cluster, on any page.
#[test]
fn strangers_see_a_door() {
    let stand = Stand::start(AT, vec![]);
    for path in [
        "/",
        "/calendar",
        "/resources",
        "/r/mcp/worker",
        "/pools",
        "/pools/worker",
        "/policies",
        "/edit?object=cmp/weekend",
        "/what-if",
        "/gates",
        "/history",
        "/history.jsonl",
        "/freeze",
        "/live",
        "/x",
    ] {
        for cookie in ["", "tidegate-1=abc", &format!("tidegate-{}=abc", stand.address.port())] {
            let answer = stand.visit(cookie, path);
            assert_eq!(answer.code, 401, "{path} {cookie}");
            assert!(answer.body.contains("Who is there?"), "{path}");
            assert!(!answer.body.contains("worker"), "{path}");
        }
    }
    let used = stand.doors.code().unwrap();
    let form = format!("code={used}");
    assert_eq!(stand.post("", "/door", &form).code, 303);
    assert_eq!(stand.post("", "/door", &form).code, 403, "a code lets one in, once");
    assert_eq!(stand.post("", "/door", "code=").code, 403);
}

#[test]
fn every_answer_keeps_to_itself() {
    let stand = Stand::start(AT, vec![]);
    let cookie = stand.enter();
    for path in [
        "/",
        "/calendar",
        "/resources",
        "/r/mcp/worker",
        "/r/mcp/gone",
        "/r/x",
        "/pools",
        "/pools/worker",
        "/pools/gone",
        "/policies",
        "/edit?object=cmp/weekend",
        "/what-if",
        "/what-if?for=10y",
        "/gates",
        "/history",
        "/history.jsonl",
        "/freeze",
        "/override",
        "/console.css",
        "/console.js",
        "/sign.svg",
        "/nowhere",
    ] {
        let answer = stand.visit(&cookie, path);
        let policy = answer.header("content-security-policy").unwrap_or_else(|| panic!("{path}"));
        assert!(
            policy.starts_with("default-src 'none'; script-src 'self'; style-src 'self'"),
            "{path}: {policy}"
        );
        assert!(
            !policy.contains("unsafe") && policy.contains("frame-ancestors 'none'"),
            "{path}: {policy}"
        );
        for (name, value) in [
            ("cache-control", "no-store"),
            ("x-content-type-options", "nosniff"),
            ("cross-origin-opener-policy", "same-origin"),
            ("cross-origin-resource-policy", "same-origin"),
            ("referrer-policy", "same-origin"),
        ] {
            assert_eq!(answer.header(name), Some(value), "{path}");
        }
        assert!(!answer.body.contains("style="), "{path}: no inline style");
        assert!(!answer.body.contains("<script>"), "{path}: no inline script");
    }
    let code = format!("code={}", stand.doors.code().unwrap());
    let entered = stand.post("", "/door", &code);
    let cookie = entered.header("set-cookie").unwrap().to_owned();
    for flag in ["httponly", "samesite=strict", "path=/"] {
        assert!(cookie.contains(flag), "{cookie}");
    }
}

/// DNS rebinding, pages of others, forms of another session: none of them writes, and none is told anything.
#[test]
fn only_our_own_pages_write() {
    let stand = Stand::start(AT, vec![]);
    let cookie = stand.enter();
    let token = stand.token(&cookie);
    let other = stand.enter();
    let host = stand.address.to_string();
    let origin = format!("http://{host}");
    let form = "application/x-www-form-urlencoded";
    let turn = format!("turn=step+3600&token={token}");
    let good = [
        ("Host", host.as_str()),
        ("Origin", origin.as_str()),
        ("Sec-Fetch-Site", "same-origin"),
        ("Content-Type", form),
        ("Cookie", cookie.as_str()),
    ];
    let but = |name: &'static str, value: &'static str| {
        good.map(|(known, was)| if known == name { (known, value) } else { (known, was) })
    };
    let before = stand.dial.clock().clone();
    let before = runtime::clock::Clock::now(&before);
    for (headers, body, expected) in [
        (but("Host", "elsewhere.example"), turn.as_str(), 403),
        (but("Origin", "http://elsewhere.example"), &turn, 403),
        (but("Origin", "null"), &turn, 403),
        (but("Sec-Fetch-Site", "same-site"), &turn, 403),
        (but("Sec-Fetch-Site", "cross-site"), &turn, 403),
        (but("Content-Type", "text/plain"), &turn, 415),
        (but("Cookie", ""), &turn, 401),
        (good, "turn=step+3600", 403),
        (good, "turn=step+3600&token=guessed", 403),
        (good, &format!("turn=step+3600&token={}", stand.token(&other)), 403),
    ] {
        let answer = stand.ask("POST /clock", &headers, body);
        assert_eq!(answer.code, expected, "{headers:?} {}", &body[..body.len().min(80)]);
    }
    let long = stand.ask("POST /clock", &good, &format!("{turn}&x={}", "x".repeat(70_000)));
    assert!([413, 0].contains(&long.code), "refused, or cut off: {}", long.code);
    for request in ["GET /clock", "PUT /clock", "DELETE /end", "POST /", "POST /nowhere"] {
        let answer = stand.ask(request, &good, &turn);
        assert!([401, 404, 405].contains(&answer.code), "{request}: {}", answer.code);
    }
    let now = runtime::clock::Clock::now(stand.dial.clock());
    assert_eq!(now, before, "nobody turned the clock");
    assert_eq!(stand.ask("POST /clock", &good, &turn).code, 303);
    let now = runtime::clock::Clock::now(stand.dial.clock());
    assert_eq!(now.unix() - before.unix(), 3_600);
    let elsewhere = format!("zone=UTC&back=//elsewhere.example&token={token}");
    let answer = stand.ask("POST /zone", &good, &elsewhere);
    assert_eq!((answer.code, answer.header("location")), (303, Some("/")));
}

/// Two people of one machine: what one chose is nothing to the other, and who left is out.
#[test]
fn sessions_are_apart() {
    let stand = Stand::start(AT, vec![]);
    let (one, other) = (stand.enter(), stand.enter());
    let token = stand.token(&one);
    let zone = format!("zone=Europe%2FBerlin&back=%2Fpolicies&token={token}");
    assert_eq!(stand.post(&one, "/zone", &zone).code, 303);
    let pressed = "value=\"Europe/Berlin\" aria-pressed=\"true\"";
    assert!(stand.visit(&one, "/").body.contains(pressed));
    assert!(!stand.visit(&other, "/").body.contains(pressed));
    assert_eq!(stand.post(&one, "/leave", &format!("token={token}")).code, 303);
    assert_eq!(stand.visit(&one, "/").code, 401);
    assert_eq!(stand.visit(&other, "/").code, 200);
}

/// OVR-4: what would be written is shown first, with its way back; what was shown is written, once.
#[test]
fn a_freeze_is_looked_at_then_written_and_ended() {
    let stand = Stand::start(AT, vec![]);
    let cookie = stand.enter();
    let token = stand.token(&cookie);
    let look = stand.post(
        &cookie,
        "/freeze",
        &format!("stage=look&for=4h&reason=latency+is+up&token={token}"),
    );
    assert_eq!(look.code, 200, "{}", look.body);
    for said in [
        "Nothing has been written yet.",
        "tidegate thaw freeze-20261118t090000z --cluster",
        "2026-11-18T13:00:00Z",
        "would take it",
        "It selects",
    ] {
        assert!(look.body.contains(said), "{said}: {}", look.body);
    }
    assert!(!stand.visit(&cookie, "/").body.contains("Frozen until"));
    let fields =
        "stage=do&name=freeze-20261118t090000z&ends=2026-11-18T13%3A00%3A00Z&reason=latency+is+up";
    let done = stand.post(&cookie, "/freeze", &format!("{fields}&token={token}"));
    assert!(
        done.body.contains("ClusterChangeFreeze/freeze-20261118t090000z is written."),
        "{}",
        done.body
    );
    let again = stand.post(&cookie, "/freeze", &format!("{fields}&token={token}"));
    assert_eq!(again.code, 409, "{}", again.body);
    let end = stand.visit(&cookie, "/end?object=ccf%2Ffreeze-20261118t090000z");
    assert!(end.body.contains("ends now"), "{}", end.body);
    let (_, uid) = end.body.split_once("name=\"uid\" value=\"").unwrap();
    let uid = uid.split('"').next().unwrap();
    let object = format!("stage=do&object=ccf%2Ffreeze-20261118t090000z&token={token}");
    // Another of the same name, which nobody looked at, stays.
    for shown in ["", "&uid=", "&uid=c0ffee00-0000-4000-8000-000000000000"] {
        let another = stand.post(&cookie, "/end", &format!("{object}{shown}"));
        assert_eq!(another.code, 409, "{shown}: {}", another.body);
        assert!(another.body.contains("is not the one that you looked at"), "{}", another.body);
    }
    let ended = stand.post(&cookie, "/end", &format!("{object}&uid={uid}"));
    assert!(ended.body.contains("is gone."), "{}", ended.body);
    let wrong = stand.post(&cookie, "/freeze", &format!("stage=look&for=4h&token={token}"));
    assert!(wrong.body.contains("spec.reason"), "{}", wrong.body);
    let opened = stand.post(
        &cookie,
        "/override",
        &format!("stage=look&object=mcp%2Fworker&for=1h&reason=CVE&token={token}"),
    );
    assert!(
        opened.body.contains("tidegate override mcp/worker --end override-20261118t090000z"),
        "{}",
        opened.body
    );
}

/// A page that says the same is sent nothing but the time; one that does not is sent what differs, and streams are few.
#[test]
fn a_page_is_told_what_became_other() {
    let stand = Stand::start(AT, vec![]);
    let cookie = stand.enter();
    let mark = || {
        let page = stand.visit(&cookie, "/").body;
        let (_, mark) = page.split_once("data-mark=\"").unwrap();
        mark.split('"').next().unwrap().to_owned()
    };
    let mut before = mark();
    loop {
        let same = stand.hear(&cookie, &format!("/live?page=%2F&mark={before}"), "event: clock");
        assert!(same.to_lowercase().contains("content-type: text/event-stream"), "{same}");
        if !same.contains("event: part") {
            break;
        }
        // The operator may still be at work: then the page itself says something else by now.
        let after = mark();
        assert_ne!(before, after, "{same}");
        before = after;
    }
    let other = stand.hear(&cookie, "/live?page=%2F&mark=another", "event: clock");
    for part in ["answer", "gates", "lower"] {
        assert!(other.contains(&format!("{{\"id\":\"{part}\"")), "{part}: {other}");
    }
    // A form that somebody fills in is left alone.
    let form = stand.hear(&cookie, "/live?page=%2Ffreeze&mark=another", "event: clock");
    assert!(!form.contains("event: part"), "{form}");
}

/// HIST-1: what is recorded is shown, and given as a file that is verified elsewhere; where nothing records it, the page says how to switch it on.
#[test]
fn a_history_is_shown_and_exported() {
    let stand = Stand::start(AT, vec![]);
    let cookie = stand.enter();
    let off = stand.visit(&cookie, "/history");
    assert_eq!(off.code, 200);
    assert!(off.body.contains("Nothing is recorded"), "{}", off.body);
    assert!(off.body.contains("history.enabled=true"), "{}", off.body);
    let stand = Stand::changed(AT, vec![], record(3));
    let cookie = stand.enter();
    let page = stand.visit(&cookie, "/history");
    assert!(page.body.contains("all three entries hold"), "{}", page.body);
    let lines = stand.visit(&cookie, "/history.jsonl");
    assert_eq!(lines.code, 200, "{}", lines.body);
    assert_eq!(lines.header("content-type"), Some("text/plain; charset=utf-8"));
    assert_eq!(lines.header("content-disposition"), Some("attachment; filename=\"history.jsonl\""));
    let read = lines.body.lines().map(|line| serde_json::from_str(line).unwrap()).enumerate();
    let verified = verify(&[Source::lines("export", Held::Kept, read)]);
    assert_eq!((verified.len(), verified[0].entries), (1, 3));
    assert_eq!(verified[0].broken, None, "whoever keeps it can verify it");
    let some = stand.visit(&cookie, "/history.jsonl?object=mcp/pool-2");
    assert_eq!(some.body.lines().count(), 1);
    assert_eq!(stand.visit(&cookie, "/history.jsonl?object=elephant").code, 404);
}

/// The kind of a history, and a page of one with so many entries.
pub(crate) fn record(count: i64) -> Vec<(&'static str, Value)> {
    let mut entries: Vec<Value> = Vec::new();
    for number in 1..=count {
        let zeros = "0".repeat(64);
        let previous = entries.last().map_or(zeros.as_str(), |last| last["hash"].as_str().unwrap());
        let mut entry = json!({"number": number, "chain": "default", "at": format!("2026-11-17T{number:02}:00:00Z"), "what": "Overridden",
            "subject": {"kind": "MachineConfigPool", "name": format!("pool-{number}")}, "change": "rendered-pool-5c27",
            "basis": "CVE-2026-1234", "by": "ada@example.com", "outcome": "opened until 2026-11-18T12:00:00Z", "previousHash": previous});
        entry["hash"] = json!(hash(&entry));
        entries.push(entry);
    }
    let page = json!({"apiVersion": CHANGE_RECORD.api_version, "kind": CHANGE_RECORD.name,
        "metadata": {"name": "history-000001", "namespace": "default"}, "spec": {"entries": entries}});
    vec![
        (
            "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
            crds::definition(&CHANGE_RECORD),
        ),
        ("/apis/changemanagement.openshift.io/v1alpha1/namespaces/default/changerecords", page),
    ]
}

/// A configuration that no node of a pool has yet.
pub(crate) fn greeting(role: &str) -> (&'static str, Value) {
    let file = json!({"path": "/etc/motd", "contents": {"source": "data:,Mind%20the%20tide"}});
    let config = json!({"apiVersion": "machineconfiguration.openshift.io/v1", "kind": "MachineConfig",
        "metadata": {"name": format!("99-{role}-greeting"), "labels": {"machineconfiguration.openshift.io/role": role}},
        "spec": {"config": {"ignition": {"version": "3.4.0"}, "storage": {"files": [file]}}}});
    ("/apis/machineconfiguration.openshift.io/v1/machineconfigs", config)
}

/// What would happen is a page like any other, and pools are told live.
#[test]
fn pools_and_what_would_happen_to_them_are_pages() {
    let stand = Stand::changed(AT, vec![], vec![greeting("worker")]);
    let cookie = stand.enter();
    // The operator renders it first; whoever looks is told when it has.
    let live = stand.hear(&cookie, "/live?page=%2Fpools%2Fworker&mark=another", "its gate, until");
    assert!(live.contains("{\"id\":\"nodes\""), "{live}");
    let pool = stand.visit(&cookie, "/pools/worker").body;
    for said in
        ["None of the six nodes of worker is done", "may be away at once", "By zone", "Next: "]
    {
        assert!(pool.contains(said), "{said}: {pool}");
    }
    let ahead = stand.visit(&cookie, "/what-if?for=90d&pool=worker").body;
    for said in ["worker", "One change needs", "Nothing is written anywhere."] {
        assert!(ahead.contains(said), "{said}: {ahead}");
    }
    assert!(
        stand.visit(&cookie, "/what-if?for=10y").body.contains("is none of 30d, 90d, 180d, 1y")
    );
    // What was worked out for whoever asked is not worked out again by itself.
    let still = stand.hear(&cookie, "/live?page=%2Fwhat-if&mark=another", "event: clock");
    assert!(!still.contains("event: part"), "{still}");
}
