//! Which words may a script use about updates of the control plane? And who plays its owner: the one of the sandbox, decided by the same
//! function, at the times of the script.

use std::fmt::Write as _;

use api::{
    kinds,
    machine::names::{MASTER, PERMIT_BASIS},
    names::{ACCEPTED_RELEASE, WANTED_IMAGE},
};
use schedule::Instant;
use serde_json::{Value, json};
use sim::{
    Lengths,
    control_plane::plan::{Deed, Follows, Seen, image, plan},
};

use super::live::{InstallersClock, Installing, Live};

const VERSION: &str = "clusterversion/version";

/// Runs a command; gives back what it shows.
pub(crate) async fn run(words: &[&str], live: &mut Live) -> Result<String, String> {
    match words {
        ["manage", "updates"] => live.manage_updates(),
        // It waits for marks, or it never heard of us.
        ["cvo", "plays"] => live.let_install(Follows::Marks),
        ["cvo", "plays", "unasked"] => live.let_install(Follows::Wishes),
        // Whether a source was there when an unmarked update began is told by the stamps of the server: where that matters its beginning is too.
        ["cvo", "plays", "unasked", "by", "the", "clock", "of", "the", "server"] => {
            live.let_install(Follows::Wishes);
            *live.installers_clock() = InstallersClock::Server { ahead: 0 };
        }
        // It does nothing until it goes on: a payload that hangs, an operator that is away.
        ["cvo", "is", "stuck"] => live.hang(Installing::Stuck),
        ["cvo", "goes", "on"] => live.hang(Installing::GoesOn),
        // It looks, whether or not anything was let begin.
        ["cvo", "tries"] => return tries(live).await,
        // What was installed, the release that came after it, and the updates that are known.
        ["cvo", "runs", version, "knows", known @ ..] => {
            let entry = |version: &str, started: &str| {
                json!({"state": "Completed", "version": version, "image": image(version),
                    "startedTime": started, "completionTime": started, "verified": true})
            };
            // The one before is never gone back to, and long ago nobody marked anything.
            let history =
                [entry(version, "2024-06-01T00:00:00Z"), entry("4.19.1", "2024-01-01T00:00:00Z")];
            let status = json!({"desired": {"version": version, "image": image(version)},
                "history": history, "availableUpdates": releases(known)});
            live.change(VERSION, "/status", &json!({"status": status})).await?;
        }
        ["cvo", "knows", known @ ..] => {
            let status = json!({"availableUpdates": releases(known)});
            live.change(VERSION, "/status", &json!({"status": status})).await?;
        }
        ["cvo", "says", kind, status, reason] => {
            let mut version = live.get(VERSION).await?;
            let said = json!({"type": kind, "status": status, "reason": reason,
                "lastTransitionTime": live.now().to_string()});
            let mut conditions =
                version["status"]["conditions"].take().as_array().cloned().unwrap_or_default();
            conditions.retain(|one| one["type"] != *kind);
            conditions.push(said);
            live.change(VERSION, "/status", &json!({"status": {"conditions": conditions}})).await?;
        }
        ["mark", called] => return Ok(mark(&live.get(called).await?)),
        ["history", called] => return Ok(history(&live.get(called).await?)),
        _ => return Err("no such command".into()),
    }
    Ok(String::new())
}

fn releases(versions: &[&str]) -> Vec<Value> {
    let release = |version: &&str| json!({"version": version, "image": image(version)});
    versions.iter().map(release).collect()
}

/// What is pinned, and what was let begin.
fn mark(version: &Value) -> String {
    let noted =
        |key: &str| version.pointer("/metadata/annotations").and_then(|all| all.get(key)?.as_str());
    let release = |key: &str| -> Option<String> {
        let named: Value = serde_json::from_str(noted(key)?).ok()?;
        let whole = if named["image"].is_string() { "by digest" } else { "without an image" };
        Some(format!("{} {whole}", named["version"].as_str().unwrap_or("no version")))
    };
    let mut shown = String::new();
    if let Some(pinned) = release(WANTED_IMAGE) {
        let _ = writeln!(shown, "pinned {pinned}");
    }
    let accepted =
        noted(ACCEPTED_RELEASE).and_then(|text| serde_json::from_str::<Value>(text).ok());
    let withdrawn = accepted.as_ref().and_then(|noted| noted["withdrawn"].as_str());
    if let Some(at) = withdrawn {
        let _ = writeln!(shown, "not marked: withdrawn at {at}");
        return shown;
    }
    match release(ACCEPTED_RELEASE) {
        Some(marked) => {
            let basis = noted(PERMIT_BASIS).unwrap_or_default();
            let _ = writeln!(shown, "marked {marked}, permitted: {basis}");
        }
        None => shown.push_str("not marked\n"),
    }
    shown
}

/// What whoever installs releases finds when it looks: somebody asks for a release, and nothing begins without a mark (CV-4).
async fn tries(live: &Live) -> Result<String, String> {
    let follows = live.cvo().ok_or("nobody installs releases")?;
    let version = live.get(VERSION).await?;
    let none = |_: &str| None;
    let seen =
        Seen { version: &version, masters: None, kubelets: None, config: &none, now: live.now() };
    let accepted = |follows: Follows| accepts(&plan(seen, follows, &Lengths::default()).deeds);
    Ok(match (accepted(follows), accepted(Follows::Wishes)) {
        (Some(begins), _) => format!("{begins} begins\n"),
        (None, Some(asked)) => format!("{asked} is asked for and not marked: nothing begins\n"),
        (None, None) => "nothing is asked for\n".into(),
    })
}

/// The release that these accept, if any does.
fn accepts(deeds: &[Deed]) -> Option<String> {
    deeds.iter().find_map(|deed| match deed {
        Deed::Status(change) => change["status"]["desired"]["version"].as_str().map(str::to_owned),
        Deed::Generate(_) => None,
    })
}

/// What time it is to whoever installs releases.
fn installers_now(live: &mut Live) -> Instant {
    match *live.installers_clock() {
        InstallersClock::Script => live.now(),
        InstallersClock::Server { ahead } => live.now().saturating_add(ahead),
    }
}

/// Every update that was begun, newest first, but for those of long ago.
fn history(version: &Value) -> String {
    let mut shown = String::new();
    for entry in version["status"]["history"].as_array().into_iter().flatten() {
        let text = |field: &str| entry[field].as_str().unwrap_or("-");
        let started = text("startedTime");
        if started > "2025" {
            let (release, state, ended) = (text("version"), text("state"), text("completionTime"));
            let _ = writeln!(shown, "{release} {state} from {started} until {ended}");
        }
    }
    if shown.is_empty() { "nothing has begun\n".into() } else { shown }
}

/// Whoever installs releases does what is to be done, if somebody plays it.
pub(crate) async fn turn(live: &mut Live) {
    /// An update has fewer steps than that.
    const STEPS: usize = 50;
    let Some(follows) = live.cvo() else { return };
    if live.installing() == Installing::Stuck {
        return;
    }
    for _ in 0..STEPS {
        let Ok(version) = live.get(VERSION).await else { return };
        let masters = live.get(&format!("mcp/{MASTER}")).await.ok();
        let configs = live.list(&kinds::MACHINE_CONFIG).await;
        let config =
            |name: &str| configs.iter().find(|config| config["metadata"]["name"] == name).cloned();
        let planned = |now: Instant| {
            let seen = Seen {
                version: &version,
                masters: masters.as_ref(),
                kubelets: None,
                config: &config,
                now,
            };
            plan(seen, follows, &Lengths::default()).deeds
        };
        let mut deeds = planned(installers_now(live));
        let begins = accepts(&deeds).is_some();
        if begins && *live.installers_clock() != InstallersClock::Script {
            // What is written in the very second waits for the gate, so a second passes first, and another one afterwards.
            live.later_than(&live.stamp().await).await;
            let began = Instant::parse(&live.stamp().await).unwrap();
            let ahead = began.unix() - live.now().unix();
            *live.installers_clock() = InstallersClock::Server { ahead };
            deeds = planned(began);
        }
        if deeds.is_empty() {
            return;
        }
        for deed in deeds {
            match deed {
                Deed::Status(change) => {
                    let written = live.change(VERSION, "/status", &change).await;
                    // The operator was faster: what is there then is looked at anew.
                    assert!(
                        written.as_ref().err().is_none_or(|why| why.contains("modified")),
                        "{written:?}"
                    );
                    if begins && *live.installers_clock() != InstallersClock::Script {
                        live.later_than(&live.stamp().await).await;
                    }
                }
                Deed::Generate(mut config) => {
                    live.second_passes().await;
                    config["metadata"]["managedFields"] = Value::Null;
                    live.apply(&config).await.unwrap();
                }
            }
        }
    }
    panic!("whoever installs releases never rests");
}
