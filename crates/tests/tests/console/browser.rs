//! What does a person see, and what can they do without a mouse, without a script, without colour?

use std::path::PathBuf;

use rig::{
    browser::{Browser, Look, Tab},
    suite::with_browser,
};
use serde_json::{Value, json};

use crate::{
    http::{greeting, record},
    stand::Stand,
};

const AT: &str = "2026-11-18T09:00:00Z";

pub(crate) const LIGHT: Look = Look { width: 1280, height: 900, dark: false };

pub(crate) const PAGES: &[&str] = &[
    "/",
    "/calendar",
    "/resources",
    "/r/mcp/worker",
    "/r/cmp/weekend",
    "/pools",
    "/pools/worker",
    "/policies",
    "/edit?object=cmp/weekend",
    "/what-if?every=30d",
    "/gates",
    "/history",
    "/freeze",
    "/override?object=mcp/worker",
];

pub(crate) fn freeze(name: &str, reason: &str, from: &str, until: &str) -> Value {
    json!({"apiVersion": "changemanagement.openshift.io/v1alpha1", "kind": "ClusterChangeFreeze",
        "metadata": {"name": name}, "spec": {"reason": reason, "from": from, "until": until,
            "holds": [{"what": "MachineConfigPools", "names": ["infra"]}]}})
}

pub(crate) fn enter(browser: &mut Browser, stand: &Stand, look: Look) -> Tab {
    let tab = browser.tab(look);
    browser.go(&tab, &stand.link());
    browser.until(&tab, "document.querySelector('#answer h1')");
    tab
}

pub(crate) fn text(browser: &mut Browser, tab: &Tab, expression: &str) -> String {
    browser.eval(tab, expression).as_str().unwrap_or_default().to_owned()
}

pub(crate) const HEADING: &str = "document.querySelector('h1').innerText";

/// The link lets one in and leaves no code behind; an edge turns the page without a load; the clock is in people's hands.
#[test]
fn now_is_true_and_stays_true() {
    with_browser("console_now", |browser| {
        let stand = Stand::start(AT, vec![]);
        let tab = enter(browser, &stand, LIGHT);
        assert_eq!(text(browser, &tab, "location.href"), stand.page("/"));
        let said = text(browser, &tab, HEADING);
        assert_eq!(said, "Everything is held. The next gates open in 12 hours.");
        assert_eq!(text(browser, &tab, "document.title"), "5 held · Tidegate");
        browser.until(&tab, "document.querySelector('#light').innerText === 'live'");
        browser.eval(&tab, "window.here = 'the same page'");
        // One second before the edge, at it, and after.
        let edge = schedule::Instant::parse("2026-11-18T21:00:00Z").unwrap();
        stand.dial.turn(sim::dial::Turn::Set(edge.saturating_add(-1)));
        browser
            .until(&tab, "document.querySelector('h1').innerText.includes('less than a minute')");
        stand.dial.turn(sim::dial::Turn::Set(edge));
        browser.until(
            &tab,
            "document.querySelector('#row-cv--version .state').innerText.includes('open until')",
        );
        assert_eq!(text(browser, &tab, "window.here"), "the same page", "no load");
        browser.until(&tab, "document.title === '2 held · Tidegate'");
        stand.dial.turn(sim::dial::Turn::Step(-2 * 86_400));
        browser.until(&tab, "document.querySelector('#where').innerText.includes('16 Nov')");
        // By the buttons of the sandbox.
        browser.eval(&tab, "document.querySelector('#bar button[value=\"edge\"]').click()");
        browser.until(&tab, "window.here === undefined && document.querySelector('#where')");
        browser.eval(&tab, "document.querySelector('#bar button[value=\"speed 60\"]').click()");
        browser.until(
            &tab,
            "document.querySelector('#bar button[value=\"speed 60\"][aria-pressed=\"true\"]')",
        );
        assert_eq!(stand.dial.speed(), 60);
        // The door itself is answered with 401.
        let errors = browser.errors(&tab);
        assert!(errors.iter().all(|error| error.contains("401")), "{errors:?}");
    });
}

/// Names and reasons are anybody's text: they are shown, and do nothing.
#[test]
fn hostile_text_is_only_text() {
    with_browser("console_hostile", |browser| {
        let reason = "<script>window.owned=1</script><img src=x onerror=window.owned=1> javascript:window.owned=1 \u{202e}abc \u{1f600}";
        let long = format!("{}{}", "long ".repeat(60), "word".repeat(40));
        let stand = Stand::start(
            AT,
            vec![
                freeze("hostile", reason, "2026-11-18T08:00:00Z", "2026-11-20T00:00:00Z"),
                freeze("long", &long, "2026-11-18T08:00:00Z", "2026-11-19T00:00:00Z"),
            ],
        );
        let tab = enter(browser, &stand, LIGHT);
        for path in PAGES.iter().chain(&[
            "/r/mcp/infra",
            "/resources?q=%3Cscript%3Ealert(1)%3C/script%3E",
            "/r/%3Cscript%3E/x",
        ]) {
            browser.go(&tab, &stand.page(path));
            browser.until(&tab, "document.querySelector('h1')");
            assert_eq!(browser.eval(&tab, "window.owned === undefined"), json!(true), "{path}");
            let errors = browser.errors(&tab);
            let refused: Vec<&String> =
                errors.iter().filter(|error| !error.contains("404")).collect();
            assert!(refused.is_empty(), "{path}: {refused:?}");
            assert_eq!(
                browser.eval(&tab, "document.querySelectorAll('main img, main script').length"),
                json!(0)
            );
            let wide = browser.eval(&tab, "document.documentElement.scrollWidth <= innerWidth");
            assert_eq!(wide, json!(true), "{path}: the layout holds");
        }
        browser.go(&tab, &stand.page("/r/mcp/infra"));
        let shown = text(browser, &tab, "document.querySelector('main').innerText");
        assert!(shown.contains("<script>window.owned=1</script>"), "{shown}");
        // A script that a page was tricked into is refused, and that is told.
        browser.eval(
            &tab,
            "new Promise((done) => { addEventListener('securitypolicyviolation', (event) => done(event.violatedDirective)); \
             const script = document.createElement('script'); try { script.text = 'window.owned = 1'; } catch (_) { done('trusted-types'); } \
             document.head.append(script); setTimeout(() => done('nothing'), 5000); })",
        );
        assert_eq!(browser.eval(&tab, "window.owned === undefined"), json!(true));
    });
}

/// WCAG 1.4.10, 2.3.3: at 320 and 640 pixels nothing is cut, and nothing moves where people want nothing to move.
#[test]
fn pages_fit_narrow_windows_and_stand_still() {
    with_browser("console_narrow", |browser| {
        let stand = Stand::start(
            AT,
            vec![freeze("storm", "a storm", "2026-11-18T08:00:00Z", "2026-11-20T00:00:00Z")],
        );
        let tab = enter(browser, &stand, LIGHT);
        for width in [320, 640, 1280] {
            browser.look(&tab, Look { width, height: 900, dark: false });
            for path in PAGES {
                browser.go(&tab, &stand.page(path));
                let fits = browser.eval(&tab, "[document.documentElement.scrollWidth, innerWidth]");
                assert!(fits[0].as_i64() <= fits[1].as_i64(), "{path} at {width}: {fits}");
            }
        }
        let still = json!({"features": [{"name": "prefers-reduced-motion", "value": "reduce"}]});
        browser.of(&tab, "Emulation.setEmulatedMedia", &still);
        browser.go(&tab, &stand.page("/"));
        assert_eq!(browser.eval(&tab, "document.getAnimations().length"), json!(0));
    });
}

/// Without a script every page is whole, and a form is a form.
#[test]
fn everything_works_without_a_script() {
    with_browser("console_scriptless", |browser| {
        let stand = Stand::start(AT, vec![]);
        let tab = browser.tab(LIGHT);
        browser.of(&tab, "Emulation.setScriptExecutionDisabled", &json!({"value": true}));
        browser.go(&tab, &stand.page("/"));
        assert_eq!(text(browser, &tab, HEADING), "Who is there?");
        let code = stand.doors.code().unwrap();
        browser.eval(&tab, &format!("document.querySelector('#code').value = '{code}'"));
        browser.follow(&tab, "document.querySelector('form button').click()");
        for path in PAGES {
            browser.go(&tab, &stand.page(path));
            assert!(!text(browser, &tab, HEADING).is_empty(), "{path}");
        }
        browser.go(&tab, &stand.page("/override?object=mcp/worker"));
        browser.eval(&tab, "document.querySelector('#reason').value = 'CVE-2026-1'");
        browser.follow(&tab, "document.querySelector('#form button').click()");
        assert_eq!(text(browser, &tab, HEADING), "Nothing has been written yet.");
        browser.follow(&tab, "document.querySelector('#form button.first').click()");
        assert!(text(browser, &tab, HEADING).ends_with("is written."));
    });
}

/// Keys lead everywhere: to the search, to pages, through the days of a calendar; a dialog gives the focus back.
#[test]
fn keys_are_enough() {
    with_browser("console_keys", |browser| {
        let stand = Stand::start(AT, vec![]);
        let tab = enter(browser, &stand, LIGHT);
        browser.key(&tab, "/");
        browser.until(&tab, "document.activeElement.name === 'q'");
        browser.eval(&tab, "document.activeElement.blur()");
        browser.key(&tab, "?");
        browser.until(&tab, "document.querySelector('#keys').open");
        browser.key(&tab, "Escape");
        browser.until(&tab, "!document.querySelector('#keys').open");
        browser.key(&tab, "g");
        browser.key(&tab, "c");
        browser
            .until(&tab, "location.pathname === '/calendar' && document.readyState === 'complete'");
        browser.eval(&tab, "document.querySelector('.week a[tabindex=\"0\"]').focus()");
        let day = "document.activeElement.dataset.day";
        for (key, expected) in [
            ("ArrowRight", "2026-11-19"),
            ("ArrowDown", "2026-11-26"),
            ("Home", "2026-11-23"),
            ("End", "2026-11-29"),
            ("PageDown", "2026-12-29"),
            ("ArrowUp", "2026-12-22"),
        ] {
            browser.key(&tab, key);
            assert_eq!(text(browser, &tab, day), expected, "{key}");
        }
        browser.key(&tab, "Enter");
        browser.until(&tab, "document.querySelector('#day-title').innerText.includes('22 Dec')");
        // From the address bar to the end, Tab is never trapped.
        browser.go(&tab, &stand.page("/"));
        browser.key(&tab, "Tab");
        assert_eq!(text(browser, &tab, "document.activeElement.className"), "skip");
    });
}

/// Every control has a name, every page one heading, landmarks and a language.
#[test]
fn everything_has_a_name() {
    with_browser("console_names", |browser| {
        let stand = Stand::start(
            AT,
            vec![freeze("storm", "a storm", "2026-11-18T08:00:00Z", "2026-11-20T00:00:00Z")],
        );
        let tab = enter(browser, &stand, LIGHT);
        for path in PAGES {
            browser.go(&tab, &stand.page(path));
            let tree = browser.of(&tab, "Accessibility.getFullAXTree", &json!({}));
            let nodes: Vec<&Value> = tree["nodes"]
                .as_array()
                .unwrap()
                .iter()
                .filter(|node| node["ignored"] != true)
                .collect();
            let role = |node: &Value| node["role"]["value"].as_str().unwrap_or_default().to_owned();
            for node in &nodes {
                if ["button", "link", "textbox", "searchbox", "combobox", "image", "navigation"]
                    .contains(&role(node).as_str())
                {
                    assert!(
                        !node["name"]["value"].as_str().unwrap_or_default().trim().is_empty(),
                        "{path}: {node}"
                    );
                }
            }
            let main = nodes.iter().filter(|node| role(node) == "main").count();
            let headings = browser.eval(&tab, "document.querySelectorAll('h1').length");
            let ids = browser.eval(&tab, "(() => { const all = [...document.querySelectorAll('[id]')].map((e) => e.id); return all.length - new Set(all).size; })()");
            assert_eq!((main, headings, ids), (1, json!(1), json!(0)), "{path}");
            assert_eq!(browser.eval(&tab, "document.documentElement.lang"), json!("en"));
        }
    });
}

/// A stream that is lost is said in words, and comes back by itself.
#[test]
fn a_lost_connection_is_said() {
    with_browser("console_lost", |browser| {
        let stand = Stand::start(AT, vec![]);
        let tab = enter(browser, &stand, LIGHT);
        browser.until(&tab, "document.querySelector('#light').innerText === 'live'");
        let link = stand.page("/");
        drop(stand);
        browser.until(&tab, "document.querySelector('#light').innerText.startsWith('not connected; what you see was true at')");
        assert!(text(browser, &tab, "location.href").starts_with(&link));
    });
}

/// A rollout is seen to its end without a load: nodes leave those who wait, one after another, and the budget is kept.
#[test]
fn a_pool_is_watched_to_its_end() {
    with_browser("console_pool", |browser| {
        let stand = Stand::changed(AT, vec![], vec![greeting("worker")]);
        let tab = enter(browser, &stand, LIGHT);
        browser.go(&tab, &stand.page("/pools/worker"));
        browser.until(&tab, "document.querySelector('#light').innerText === 'live'");
        browser.until(&tab, "document.querySelector('h1').innerText.includes('wait until')");
        let said = text(browser, &tab, HEADING);
        assert!(said.starts_with("None of the"), "{said}");
        browser.eval(&tab, "window.here = 'the same page'");
        stand
            .dial
            .turn(sim::dial::Turn::Set(schedule::Instant::parse("2026-11-21T10:00:00Z").unwrap()));
        stand.dial.turn(sim::dial::Turn::Speed(600));
        browser.until(&tab, "document.querySelector('#nodes .machine.moving')");
        let away = "(() => document.querySelectorAll('#nodes .machine.moving').length)()";
        assert!(browser.eval(&tab, away).as_i64() <= Some(2), "as many as the budget lets");
        browser.until(&tab, "document.querySelector('h1').innerText.startsWith('All ')");
        assert_eq!(text(browser, &tab, "window.here"), "the same page", "no load");
    });
}

/// Pictures of every page, for people: light and dark, wide and narrow, in `target/test-logs/console`.
#[test]
fn pictures_are_taken() {
    with_browser("console_pictures", |browser| {
        let stand = Stand::changed(
            AT,
            vec![
                freeze("storm", "Black Friday", "2026-11-20T00:00:00Z", "2026-12-01T00:00:00Z"),
                json!({"apiVersion": "changemanagement.openshift.io/v1alpha1", "kind": "ClusterChangeOverride",
                    "metadata": {"name": "cve"}, "spec": {"target": {"kind": "MachineConfigPool", "name": "batch"},
                        "until": "2026-11-19T12:00:00Z", "reason": "CVE-2026-1234", "ticket": "SEC-12"}}),
                json!({"apiVersion": "machineconfiguration.openshift.io/v1", "kind": "MachineConfigPool",
                    "metadata": {"name": "gpu"}, "spec": {"changeManagement": {"strategy": "ByPolicy", "byPolicy": {"name": "gone"}},
                        "machineConfigSelector": {"matchLabels": {"a": "b"}}, "nodeSelector": {"matchLabels": {"a": "b"}}}}),
            ],
            [greeting("worker")].into_iter().chain(record(5)).collect(),
        );
        let tab = enter(browser, &stand, LIGHT);
        for (name, look) in [
            ("light-1280", LIGHT),
            ("dark-1280", Look { dark: true, ..LIGHT }),
            ("light-400", Look { width: 400, ..LIGHT }),
            ("dark-400", Look { width: 400, height: 900, dark: true }),
        ] {
            browser.look(&tab, look);
            for path in PAGES {
                browser.go(&tab, &stand.page(path));
                browser.until(&tab, "document.querySelector('#light')");
                let page = path.split('?').next().unwrap().trim_matches('/').replace('/', "-");
                let page = if page.is_empty() { "now" } else { &page };
                let file = pictures().join(format!("{page}-{name}.png"));
                browser.picture(&tab, &file);
                assert!(std::fs::metadata(&file).unwrap().len() > 10_000, "{}", file.display());
            }
            // An edit while it is made: other days, and a length that is none.
            browser.go(&tab, &stand.page("/edit?object=cmp/weekend"));
            browser.eval(&tab, "document.querySelector('input[value=Friday]').click()");
            browser.until(&tab, "document.querySelector('.figures .gained')");
            browser.picture(&tab, &pictures().join(format!("edited-{name}.png")));
        }
    });
}

pub(crate) fn pictures() -> PathBuf {
    let program = std::env::current_exe().unwrap();
    program.ancestors().nth(3).unwrap().join("test-logs/console")
}
