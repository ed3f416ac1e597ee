//! What does an edit of a policy do, and is that what is written? (OVR-4)

use std::process::Command;

use rig::suite::with_browser;
use runtime::call::Patch;
use schedule::Instant;
use serde_json::{Value, json};
use tidegate_core::policy::read;
use views::{
    diff,
    drawing::{Colour, Detail},
};

use crate::{
    browser::{HEADING, LIGHT, enter, text},
    stand::{Answer, Stand, encoded},
};

const AT: &str = "2026-11-18T09:00:00Z";

const WEEKEND: &str =
    "/apis/changemanagement.openshift.io/v1alpha1/changemanagementpolicies/weekend";

fn object(stand: &Stand) -> Value {
    stand.run(|cluster| async move { cluster.get::<Value>(WEEKEND).await.unwrap() })
}

fn fields(pairs: &[(&str, &str)]) -> String {
    let pairs = pairs.iter().map(|(name, value)| format!("{name}={}", encoded(value)));
    pairs.collect::<Vec<_>>().join("&")
}

/// Sends a specification as text.
fn send(stand: &Stand, cookie: &str, spec: &Value, more: &[(&str, &str)]) -> Answer {
    let token = stand.token(cookie);
    let spec = spec.to_string();
    let own = [
        ("token", token.as_str()),
        ("object", "cmp/weekend"),
        ("mode", "text"),
        ("text", spec.as_str()),
    ];
    stand.post(cookie, "/edit", &fields(&[&own, more].concat()))
}

fn version(object: &Value) -> String {
    object.pointer("/metadata/resourceVersion").unwrap().as_str().unwrap().to_owned()
}

/// The text of an element, as a browser reads it.
fn element(page: &str, start: &str) -> String {
    assert!(page.contains(start), "no {start} in {page}");
    let (_, rest) = page.split_once(start).unwrap();
    let (_, rest) = rest.split_once("<bdi>").unwrap();
    let (text, _) = rest.split_once("</bdi>").unwrap();
    text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&amp;", "&")
}

fn fridays(object: &Value) -> Value {
    let mut spec = object["spec"].clone();
    spec["maintenanceSchedule"]["permit"]["recurrence"]["weekly"]["daysOfWeek"] =
        json!(["Friday", "Saturday"]);
    spec["maintenanceSchedule"]["timeZone"] = json!("Europe/Berlin");
    spec["maintenanceSchedule"].as_object_mut().unwrap().remove("exclude");
    spec
}

/// What is shown is what `tidegate diff` tells, what is sent is what was shown, and what a shell makes of the command is the same.
#[test]
fn an_edit_is_looked_at_then_written_once() {
    let stand = Stand::start(AT, vec![]);
    let cookie = stand.enter();
    let form = stand.visit(&cookie, "/edit?object=cmp/weekend");
    assert!(form.body.contains("Nothing of weekend has been edited yet."), "{}", form.body);
    let before = object(&stand);
    let spec = fridays(&before);
    let look = send(&stand, &cookie, &spec, &[("version", &version(&before))]);
    assert_eq!(look.code, 200, "{}", look.body);
    assert_eq!(object(&stand)["spec"], before["spec"], "nothing is written by looking");
    // As the command tells it.
    let policy = |spec: &Value| {
        let document = json!({"apiVersion": before["apiVersion"], "kind": before["kind"],
            "metadata": {"name": "weekend"}, "spec": spec});
        read::policy(&document).policy.unwrap()
    };
    let start = Instant::parse(AT).unwrap();
    let range = start..start.saturating_add(365 * 86_400);
    let (old, new) = (policy(&before["spec"]), policy(&spec));
    let pairs = diff::compare(&[&old], &[&new], &range, &|_| Vec::new());
    let told = diff::table(&pairs[0], &range, Detail::Short, Colour::Off);
    assert_eq!(element(&look.body, "id=\"told\""), told);
    assert!(look.body.contains("would take it"), "{}", look.body);
    // As a shell reads the command.
    let command = element(&look.body, "id=\"patch\"");
    let script = format!("kubectl() {{ for word; do printf '%s\\n' \"$word\"; done; }}; {command}");
    let said = Command::new("sh").args(["-c", &script]).output().unwrap();
    let said = String::from_utf8(said.stdout).unwrap();
    let words: Vec<&str> = said.lines().collect();
    let expected = ["patch", "changemanagementpolicies", "weekend", "--type", "merge", "-p"];
    assert_eq!(words[..6], expected);
    let patch: Value = serde_json::from_str(words[6]).unwrap();
    let other = Stand::start(AT, vec![]);
    let by_hand = other.run(|cluster| async move {
        let mut patch = patch;
        patch.as_object_mut().unwrap().remove("metadata");
        cluster.patch(WEEKEND, Patch::merge("kubectl", &patch)).await.unwrap()
    });
    // What was looked at is written, once.
    let done = [("version", version(&before)), ("stage", "do".to_owned())];
    let done: Vec<(&str, &str)> =
        done.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let written = send(&stand, &cookie, &spec, &done);
    assert!(
        written.body.contains("ChangeManagementPolicy/weekend is changed."),
        "{}",
        written.body
    );
    assert_eq!(object(&stand)["spec"], spec);
    assert_eq!(by_hand["spec"], spec, "the command does the same");
    let late = send(&stand, &cookie, &before["spec"], &done);
    assert_eq!(late.code, 409);
    assert!(late.body.contains("Somebody changed "), "{}", late.body);
    assert_eq!(object(&stand)["spec"], spec, "whoever is late writes nothing");
}

/// An edit that opens something at once is applied by whoever types the name.
#[test]
fn what_opens_at_once_asks_for_the_name() {
    let stand = Stand::start(AT, vec![]);
    let cookie = stand.enter();
    let before = object(&stand);
    let mut spec = before["spec"].clone();
    spec["strategy"] = json!("Permissive");
    let version = version(&before);
    let done = [("version", version.as_str()), ("stage", "do")];
    for named in [vec![], vec![("named", "")], vec![("named", "Weekend")]] {
        let refused = send(&stand, &cookie, &spec, &[&done[..], &named].concat());
        assert!(refused.body.contains("at once"), "{}", refused.body);
        assert!(refused.body.contains("type weekend to apply this edit"), "{}", refused.body);
    }
    assert_eq!(object(&stand)["spec"], before["spec"]);
    let taken = send(&stand, &cookie, &spec, &[&done[..], &[("named", "weekend")]].concat());
    assert!(taken.body.contains("is changed."), "{}", taken.body);
}

/// Where a repository writes the object, the console gives a file and does not write.
#[test]
fn what_git_owns_is_changed_in_git() {
    let stand = Stand::start(AT, vec![]);
    let cookie = stand.enter();
    let owned =
        json!({"metadata": {"annotations": {"argocd.argoproj.io/tracking-id": "policies:x"}}});
    let before = stand.run(|cluster| async move {
        cluster.patch(WEEKEND, Patch::merge("argocd-controller", &owned)).await.unwrap()
    });
    let (spec, version) = (fridays(&before), version(&before));
    let look = send(&stand, &cookie, &spec, &[("version", &version)]);
    assert!(look.body.contains("Argo CD writes this object from a repository"), "{}", look.body);
    assert!(!look.body.contains("Apply it"), "{}", look.body);
    send(&stand, &cookie, &spec, &[("version", &version), ("stage", "do")]);
    assert_eq!(object(&stand)["spec"], before["spec"], "nothing is written");
    let file = send(&stand, &cookie, &spec, &[("version", &version), ("stage", "file")]);
    assert_eq!(file.header("content-disposition"), Some("attachment; filename=\"policy.yaml\""));
    let document: Value = serde_saphyr::from_str(&file.body).unwrap();
    assert_eq!((&document["spec"], &document["metadata"]["name"]), (&spec, &json!("weekend")));
}

/// Each problem of `tidegate validate` stands at the field that it is about, and what cannot be read changes nothing.
#[test]
fn every_problem_stands_at_its_field() {
    let stand = Stand::start(AT, vec![]);
    let cookie = stand.enter();
    let before = object(&stand);
    let (token, base) = (stand.token(&cookie), before["spec"].to_string());
    let typed = |name: &str, value: &str| {
        let mut all = vec![
            ("token", token.as_str()),
            ("object", "cmp/weekend"),
            ("mode", "form"),
            ("base", base.as_str()),
            ("strategy", "MaintenanceSchedule"),
            ("recurs", "weekly"),
            ("day", "Saturday"),
            ("rows", "3"),
            ("from-0", "2026-11-28"),
            ("until-0", "2026-11-30"),
            ("reason-0", "Black Friday weekend"),
            ("from-1", "2026-12-19"),
            ("until-1", "2027-01-04"),
            ("reason-1", "year-end freeze"),
        ];
        all.retain(|(known, _)| *known != name);
        all.push((name, value));
        stand.post(&cookie, "/edit", &fields(&all))
    };
    for (name, value, place, said) in [
        ("strategy", "Sometimes", "strategy", "\"Sometimes\" is not allowed"),
        ("zone", "Europe/Atlantis", "zone", "Europe/Atlantis"),
        ("day", "Caturday", "recurs", "Caturday"),
        ("start", "25:00", "start", "25:00"),
        ("lasts", "1d", "lasts", "1d"),
        ("ends", "noon", "ends", "noon"),
        ("from-0", "2026-13-01", "from-0", "2026-13-01"),
        ("until-1", "2026-12-19", "until-1", "2026-12-19"),
        ("until-1", "soon", "until-1", "soon"),
        ("from-2", "tomorrow", "from-2", "tomorrow"),
    ] {
        let page = typed(name, value).body;
        let (_, rest) = page.split_once(&format!("id=\"wrong-{place}\"")).unwrap();
        let (wrong, _) = rest.split_once("</div>").unwrap();
        let said = said.replace('"', "&quot;");
        assert!(wrong.contains(&said), "{name}={value}: {wrong}");
        assert!(page.contains("data-unreadable"), "{name}={value}");
        assert!(page.contains("keeps this edit from being used."), "{name}={value}");
    }
    let unread = stand.post(
        &cookie,
        "/edit",
        &fields(&[
            ("token", &token),
            ("object", "cmp/weekend"),
            ("mode", "text"),
            ("text", "a: ["),
        ]),
    );
    assert!(unread.body.contains("This text cannot be read."), "{}", unread.body);
    for wrong in ["", "mcp/worker", "cmp/gone", "elephant/x"] {
        let answer = stand.visit(&cookie, &format!("/edit?object={wrong}"));
        assert_eq!(answer.code, 400, "{wrong}");
    }
    assert_eq!(object(&stand)["spec"], before["spec"]);
}

/// While somebody types the page shows what that would do, without a load; what cannot be used leaves the last preview and says so.
#[test]
fn an_edit_is_shown_while_it_is_typed() {
    with_browser("console_editor", |browser| {
        let stand = Stand::start(AT, vec![]);
        let tab = enter(browser, &stand, LIGHT);
        browser.go(&tab, &stand.page("/edit?object=cmp/weekend"));
        browser.eval(&tab, "window.here = 'the same page'");
        browser.eval(&tab, "document.querySelector('input[value=Friday]').click()");
        browser.until(&tab, "document.querySelector('.figures .gained')");
        let said = text(browser, &tab, HEADING);
        assert!(said.starts_with("This edit gains"), "{said}");
        browser.eval(&tab, "document.querySelector('#lasts').focus()");
        for key in ["1", "d"] {
            browser.key(&tab, key);
        }
        browser.until(
            &tab,
            "document.querySelector('#lasts').getAttribute('aria-invalid') === 'true'",
        );
        assert!(
            text(browser, &tab, "document.querySelector('#wrong-lasts').innerText").contains("1d")
        );
        assert!(
            text(browser, &tab, "document.querySelector('#preview-note').innerText")
                .contains("the last one that could")
        );
        assert_eq!(
            browser.eval(&tab, "document.querySelector('#preview form button').disabled"),
            json!(true)
        );
        browser.eval(&tab, "document.querySelector('#lasts').value = '12h'");
        browser.key(&tab, "ArrowLeft");
        browser.eval(
            &tab,
            "document.querySelector('#lasts').dispatchEvent(new Event('input', {bubbles: true}))",
        );
        browser.until(&tab, "document.querySelector('#preview-note').hidden");
        browser.until(&tab, "!document.querySelector('#lasts').hasAttribute('aria-invalid')");
        assert_eq!(text(browser, &tab, "window.here"), "the same page", "no load");
        // As text, and back.
        browser.follow(&tab, "document.querySelector('button[name=to][value=text]').click()");
        let yaml = text(browser, &tab, "document.querySelector('#text').value");
        assert!(yaml.contains("- Friday") && yaml.contains("duration: \"12h\""), "{yaml}");
        browser.follow(&tab, "document.querySelector('button[name=to][value=form]').click()");
        assert_eq!(
            browser.eval(&tab, "document.querySelector('input[value=Friday]').checked"),
            json!(true)
        );
        browser.follow(&tab, "document.querySelector('#preview button.first').click()");
        assert_eq!(text(browser, &tab, HEADING), "ChangeManagementPolicy/weekend is changed.");
    });
}
