//! Can everybody read it? With larger letters, in their zone, by keys alone, spoken to, on paper (WCAG 2.2).

use rig::{
    browser::{Browser, Look, Tab},
    suite::{with_axe, with_browser},
};
use schedule::Instant;
use serde_json::{Value, json};
use sim::dial::Turn;

use crate::{
    browser::{HEADING, LIGHT, PAGES, enter, freeze, text},
    stand::Stand,
};

const AT: &str = "2026-11-18T09:00:00Z";

/// A cluster with something of everything: open, held, frozen and overridden.
fn stand() -> Stand {
    Stand::start(
        AT,
        vec![
            freeze("storm", "a storm", "2026-11-18T08:00:00Z", "2026-11-20T00:00:00Z"),
            json!({"apiVersion": "changemanagement.openshift.io/v1alpha1", "kind": "ClusterChangeOverride",
                "metadata": {"name": "cve"}, "spec": {"target": {"kind": "MachineConfigPool", "name": "batch"},
                    "until": "2026-11-19T12:00:00Z", "reason": "CVE-2026-1234"}}),
        ],
    )
}

/// What a page of ours does not let in, a test may: the policy of pages is looked at elsewhere.
fn let_in(browser: &mut Browser, tab: &Tab) {
    browser.of(tab, "Page.setBypassCSP", &json!({"enabled": true}));
}

const AXE: &str = "axe.run(document, {resultTypes: ['violations'], runOnly: {type: 'tag', \
    values: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22a', 'wcag22aa']}}) \
    .then((found) => found.violations.map((one) => one.id + ': ' + one.nodes.slice(0, 3).map((node) => node.target.join(' ')).join('; ')))";

/// axe-core finds nothing against WCAG 2.0 to 2.2, A and AA, on any page, in light and in dark; and it does find what is wrong.
#[test]
fn axe_finds_nothing_in_light_and_dark() {
    with_axe("console_axe", |browser, axe| {
        let stand = stand();
        let tab = enter(browser, &stand, LIGHT);
        let_in(browser, &tab);
        let every = json!({"source": axe});
        browser.of(&tab, "Page.addScriptToEvaluateOnNewDocument", &every);
        for dark in [false, true] {
            browser.look(&tab, Look { dark, ..LIGHT });
            for path in PAGES {
                browser.go(&tab, &stand.page(path));
                let found = browser.eval(&tab, AXE);
                assert_eq!(found, json!([]), "{path}, dark: {dark}");
            }
        }
        browser.go(&tab, &stand.page("/edit?object=cmp/weekend"));
        browser.eval(&tab, "document.querySelector('input[value=Friday]').click()");
        browser.until(&tab, "document.querySelector('.figures .gained')");
        assert_eq!(browser.eval(&tab, AXE), json!([]), "an edit");
        browser.eval(&tab, "document.querySelector('#zone').removeAttribute('id')");
        let found = browser.eval(&tab, AXE);
        assert!(found.to_string().contains("label: "), "a field without a name is found: {found}");
    });
}

/// What is cut: words that do not fit into what they stand in.
const CUT: &str = "(() => { const cut = []; \
    for (const e of document.querySelectorAll('main *, header *, footer *')) { \
        if (e.closest('svg, .unseen, .strip, option, select, input, textarea')) continue; \
        const style = getComputedStyle(e); \
        const hides = [style.overflowX, style.overflowY].some((o) => o === 'hidden' || o === 'clip'); \
        if (hides && (e.scrollWidth > e.clientWidth + 1 || e.scrollHeight > e.clientHeight + 1)) cut.push(e.tagName + '.' + e.className); } \
    if (document.documentElement.scrollWidth > innerWidth) cut.push('the page: ' + document.documentElement.scrollWidth); \
    return cut; })()";

/// WCAG 1.4.12 and 1.4.4: wide spacing and letters twice as large cut nothing.
#[test]
fn larger_text_is_not_cut() {
    with_browser("console_text", |browser| {
        let stand = stand();
        let tab = enter(browser, &stand, LIGHT);
        let_in(browser, &tab);
        let spaced = "(() => { const style = document.createElement('style'); \
            style.textContent = '* { line-height: 1.5 !important; letter-spacing: 0.12em !important; word-spacing: 0.16em !important; } \
                p { margin-bottom: 2em !important; }'; document.head.append(style); })()";
        let doubled = "(() => { const all = [...document.querySelectorAll('body *')].filter((e) => !e.closest('svg')); \
            const sizes = all.map((e) => parseFloat(getComputedStyle(e).fontSize)); \
            all.forEach((e, at) => e.style.setProperty('font-size', 2 * sizes[at] + 'px', 'important')); })()";
        for change in [spaced, doubled] {
            for path in PAGES {
                browser.go(&tab, &stand.page(path));
                browser.eval(&tab, change);
                assert_eq!(browser.eval(&tab, CUT), json!([]), "{path}: {}", &change[..60]);
            }
        }
        browser.eval(
            &tab,
            "document.querySelector('h1').style.cssText = 'height: 8px; overflow: hidden'",
        );
        assert_ne!(browser.eval(&tab, CUT), json!([]), "what is cut is found");
    });
}

/// Times are told in the zone that somebody chose, that of their browser among them; what they mean stays the same.
#[test]
fn a_zone_changes_words_and_not_instants() {
    with_browser("console_zones", |browser| {
        let stand = stand();
        let tab = browser.tab(LIGHT);
        browser.of(
            &tab,
            "Emulation.setTimezoneOverride",
            &json!({"timezoneId": "Pacific/Auckland"}),
        );
        browser.go(&tab, &stand.link());
        browser.until(&tab, "document.querySelector('#answer h1')");
        let instants =
            "[...document.querySelectorAll('main time[datetime]')].map((time) => time.dateTime)";
        let words = "[...document.querySelectorAll('main time[datetime]:not([data-count])')].map((time) => time.innerText)";
        let zone = "document.querySelector('#zones [aria-pressed=true]').value";
        assert_eq!(text(browser, &tab, zone), "UTC", "UTC until somebody chooses");
        let (at_first, said_first) = (browser.eval(&tab, instants), browser.eval(&tab, words));
        let mut told = vec![said_first];
        for wanted in ["Europe/Berlin", "Pacific/Auckland"] {
            browser.follow(
                &tab,
                &format!("document.querySelector('#zones button[value=\"{wanted}\"]').click()"),
            );
            browser.until(&tab, &format!("{zone} === '{wanted}'"));
            assert_eq!(
                browser.eval(&tab, instants),
                at_first,
                "{wanted}: the instants are the same"
            );
            let said = browser.eval(&tab, words);
            assert!(!told.contains(&said), "{wanted}: the words are others");
            told.push(said);
        }
        assert!(
            text(browser, &tab, "document.querySelector('#where').innerText")
                .contains("22:00 Auckland")
        );
        browser.go(&tab, &stand.page("/calendar?subject=cmp/berlin-nights"));
        let calendar = text(browser, &tab, "document.querySelector('main').innerText");
        assert!(calendar.contains("Europe/Berlin"), "the zone of the policy is named: {calendar}");
    });
}

/// Whoever listens hears one sentence when something changed, and nothing while time only passes.
#[test]
fn a_change_is_said_once_and_a_second_never() {
    with_browser("console_spoken", |browser| {
        let stand = Stand::start(AT, vec![]);
        let tab = enter(browser, &stand, LIGHT);
        browser.until(&tab, "document.querySelector('#light').innerText === 'live'");
        browser.eval(
            &tab,
            "(() => { window.spoken = []; \
             const heard = new MutationObserver((all) => all.forEach((one) => spoken.push(one.target.textContent))); \
             for (const region of document.querySelectorAll('[aria-live], [role=status], [role=alert], [role=log]')) \
                 heard.observe(region, {childList: true, characterData: true, subtree: true}); })()",
        );
        // The operator may still be reading.
        stand.dial.turn(Turn::Speed(60));
        browser.until(&tab, "document.querySelector('#where time').dateTime >= '2026-11-18T09:03'");
        let silent = browser.eval(&tab, "spoken");
        assert_eq!(silent, json!([]), "three minutes pass in silence");
        stand.dial.turn(Turn::Speed(0));
        stand.dial.turn(Turn::Set(Instant::parse("2026-11-18T21:00:00Z").unwrap()));
        browser.until(&tab, "document.title === '2 held · Tidegate'");
        let said = browser.eval(&tab, "spoken");
        assert_eq!(said, json!([text(browser, &tab, HEADING)]), "one change, one sentence");
    });
}

/// Presses Tab until something has the focus, and never more often than a page has stops.
fn tab_to(browser: &mut Browser, tab: &Tab, wanted: &str) {
    browser.drawn(tab);
    for _ in 0..60 {
        if browser
            .eval(tab, &format!("document.activeElement === document.querySelector('{wanted}')"))
            == json!(true)
        {
            return;
        }
        browser.key(tab, "Tab");
    }
    let at = browser.eval(tab, "document.activeElement.outerHTML");
    assert_eq!(at, Value::Null, "Tab never came to {wanted}");
}

/// Freeze and end it, override: by keys, from a page to the last word, and nothing traps whoever has no mouse.
#[test]
fn deeds_are_done_by_keys() {
    with_browser("console_deeds", |browser| {
        let stand = Stand::start(AT, vec![]);
        let tab = enter(browser, &stand, LIGHT);
        let word = |browser: &mut Browser, said: &str| {
            said.chars().for_each(|letter| browser.key(&tab, &letter.to_string()));
        };
        let at = |path: &str| {
            format!("location.pathname === '{path}' && document.readyState === 'complete'")
        };
        for (key, path) in [("f", "/freeze"), ("o", "/override")] {
            browser.go(&tab, &stand.page(if key == "f" { "/" } else { "/r/mcp/worker" }));
            browser.drawn(&tab);
            browser.key(&tab, key);
            browser.until(&tab, &at(path));
            tab_to(browser, &tab, "#reason");
            word(browser, "storm");
            browser.key(&tab, "Enter");
            browser.until(
                &tab,
                "document.querySelector('h1').innerText === 'Nothing has been written yet.'",
            );
            // What writes is never the first choice.
            browser.until(&tab, "document.activeElement.innerText === 'Give up'");
            tab_to(browser, &tab, "#form button.first");
            browser.key(&tab, "Enter");
            browser.until(&tab, "document.querySelector('h1').innerText.endsWith('is written.')");
        }
        browser.go(&tab, &stand.page("/"));
        browser.until(&tab, "document.querySelector('a[href^=\"/end?\"]')");
        tab_to(browser, &tab, "a[href^=\"/end?\"]");
        browser.key(&tab, "Enter");
        browser.until(&tab, &at("/end"));
        tab_to(browser, &tab, "#form button.first");
        browser.key(&tab, "Enter");
        browser.until(&tab, "document.querySelector('h1').innerText.endsWith('is gone.')");
        // A dialog gives the focus back to what opened it.
        browser.go(&tab, &stand.page("/"));
        tab_to(browser, &tab, "a.brand");
        browser.key(&tab, "?");
        browser.until(&tab, "document.querySelector('#keys').open");
        browser.key(&tab, "Escape");
        browser.until(&tab, "document.activeElement === document.querySelector('a.brand')");
    });
}

/// A year of a policy is one sheet of paper.
#[test]
fn a_calendar_is_one_sheet() {
    with_browser("console_print", |browser| {
        let stand = stand();
        let tab = enter(browser, &stand, LIGHT);
        browser.go(&tab, &stand.page("/calendar?subject=cmp/berlin-nights"));
        let sheet = json!({"preferCSSPageSize": true, "printBackground": true});
        let printed = browser.of(&tab, "Page.printToPDF", &sheet);
        let pdf = rig::browser::decoded(printed["data"].as_str().unwrap());
        let file = crate::browser::pictures().join("calendar.pdf");
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(&file, &pdf).unwrap();
        let pdf = String::from_utf8_lossy(&pdf);
        let pages = pdf.matches("/Type /Page\n").count();
        assert_eq!(pages, 1, "{}", file.display());
    });
}
