//! Which words may a script use? One arm for each command.

use schedule::Instant;
use serde_json::{Value, json};
use tidegate_core::{
    cluster::overriding::{self, WantedStanza},
    document::key,
};

use super::{
    control_plane, git, hosted,
    live::Live,
    machines,
    resources::{capital, resource, stanza_of},
    schedules, show, verbs, workloads,
};

/// Runs a command; gives back what it shows.
pub(crate) async fn run(
    command: &str,
    block: &str,
    expected: &str,
    live: &mut Live,
) -> Result<String, String> {
    let words: Vec<&str> = command.split_whitespace().collect();
    let nothing = String::new();
    match words.as_slice() {
        ["at", instant] => live.at(parsed(instant)?).await,
        ["advance", length] => live.advance(seconds(length)?).await,
        ["apply"] => {
            for document in
                serde_saphyr::from_multiple::<Value>(block).map_err(|e| e.to_string())?
            {
                live.apply(&document).await?;
            }
        }
        ["apply", "as", owner] => return git::apply(block, owner, live).await,
        ["owners", called] => return git::owners(called, live).await,
        ["refused"] => {
            let document: Value = serde_saphyr::from_str(block).map_err(|e| e.to_string())?;
            return match live.apply(&document).await {
                Ok(()) => Err("the server took it".into()),
                Err(refusal) => Ok(refusal),
            };
        }
        ["policy", name, strategy @ ("permissive" | "restrictive")] => {
            live.apply(&schedules::policy(name, &json!({"strategy": capital(strategy)}))).await?;
        }
        ["policy", name, "permits", rest @ ..] => {
            live.apply(&schedules::policy(name, &schedules::scheduled(rest)?)).await?;
        }
        ["resource", called, stanza @ ..] => {
            live.apply(&resource(called, &stanza_of(stanza)?)?).await?;
        }
        ["spec", called] => live.change(called, "", &json!({"spec": yaml(block)?})).await?,
        ["status", called] => {
            live.change(called, "/status", &json!({"status": yaml(block)?})).await?;
        }
        ["override", called, rest @ ..] => overridden(called, rest, live).await?,
        ["delete", called] => live.delete(called).await?,
        ["stop"] => live.stop(),
        ["start"] => live.start().await,
        ["show", called] => return Ok(show::object(&live.get(called).await?)),
        ["status"] => return show::overview(live).await,
        ["windows", called, "for", length] => {
            return show::windows(live, called, seconds(length)?).await;
        }
        ["explain", called] => return show::reasons(live, called).await,
        ["metrics", called] => return show::metrics(live, called),
        ["metric", name] => return Ok(show::metric(live, name)),
        ["forget", "writes"] => live.forget_writes(),
        ["writes"] => return Ok(live.writes(expected).await),
        ["events"] => return Ok(live.events(expected).await),
        ["worker-nodes" | "node" | "prune", ..] if verbs::is_one(&words) => {
            return verbs::run(&words, live).await;
        }
        ["pod" | "budget" | "ends" | "asks" | "drain" | "pods", ..] => {
            return workloads::run(&words, expected, live).await;
        }
        ["manage", "hosted"] | ["hypershift" | "hosted" | "want" | "projected" | "capi", ..] => {
            return hosted::run(&words, live).await;
        }
        ["manage", "updates"]
        | ["cvo", "runs" | "plays" | "knows" | "says" | "is" | "goes" | "tries", ..]
        | ["mark" | "history", ..] => {
            return control_plane::run(&words, live).await;
        }
        words => return machines::run(words, live).await,
    }
    Ok(nothing)
}

fn parsed(text: &str) -> Result<Instant, String> {
    Instant::parse(text).map_err(|error| error.to_string())
}

/// `90s`, `5m`, `2h`, `3d`, and `-5m` for a clock that goes back.
fn seconds(text: &str) -> Result<i64, String> {
    let (sign, text) = text.strip_prefix('-').map_or((1, text), |text| (-1, text));
    let (count, unit) = text.split_at_checked(text.len().saturating_sub(1)).unwrap_or_default();
    let unit = match unit {
        "s" => 1,
        "m" => 60,
        "h" => 3600,
        "d" => 86_400,
        _ => return Err(format!("{text} is no length of time")),
    };
    count.parse::<i64>().map(|count| sign * count * unit).map_err(|error| error.to_string())
}

fn yaml(block: &str) -> Result<Value, String> {
    serde_saphyr::from_str(block).map_err(|error| error.to_string())
}

/// What `tidegate override` does.
async fn overridden(called: &str, words: &[&str], live: &mut Live) -> Result<(), String> {
    let (words, reason) = match words {
        [words @ .., "because", reason] => (words, Some(*reason)),
        words => (words, None),
    };
    let wanted = match words {
        ["permissive"] => WantedStanza::Permissive,
        ["restrictive"] => WantedStanza::Restrictive,
        ["permissive", "until", instant] => WantedStanza::PermissiveUntil(parsed(instant)?),
        ["restrictive", "until", instant] => WantedStanza::RestrictiveUntil(parsed(instant)?),
        ["clear"] => WantedStanza::Clear,
        _ => return Err(format!("{words:?} is no override")),
    };
    let world = live.snapshot().await;
    let object = key::named(called, None)?;
    let seen = world.resource(&object).ok_or("there is no such resource")?;
    let policy = seen.policy().and_then(|named| world.policy(&named).cloned());
    let change = overriding::change(seen, policy.as_ref(), wanted, reason, live.now())?;
    live.change(called, "", &change.patch).await
}
