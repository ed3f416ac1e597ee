//! How much memory does an object take, and does it stay that way?
//!
//! Resident memory of a process that does nothing else, with no client in it.

use apiserver::{RuntimeClock, Server, Settings};
use http::Method;
use serde_json::Value;

use crate::{
    Outcome,
    report::{Goal, Report},
    workload::{DEFINITIONS, JSON, MERGE, OBJECTS, WIDGETS, definition, observed, widget},
};

const UPDATES: usize = 1_000_000;

/// Measures, and tells four numbers: the bytes of an object's JSON, and the resident bytes before the objects, with them, and after the
/// updates.
pub(crate) fn measure() -> Outcome<String> {
    let server =
        Server::new(RuntimeClock::starting_at(jiff::Timestamp::UNIX_EPOCH), Settings::default());
    ask(&server, Method::POST, DEFINITIONS, JSON, &definition())?;
    let before = resident()?;
    for index in 0..OBJECTS {
        ask(&server, Method::POST, WIDGETS, JSON, &widget(index))?;
    }
    for index in 0..OBJECTS {
        update(&server, index, index)?;
    }
    let with = resident()?;
    for index in 0..UPDATES {
        update(&server, index % OBJECTS, index + 1)?;
    }
    let after = resident()?;
    let (_, list) = server.ask(Method::GET, WIDGETS, "", b"");
    Ok(format!("{} {before} {with} {after}", list.len() / OBJECTS))
}

pub(crate) fn report(measured: &str, report: &mut Report) -> Outcome<()> {
    let numbers: Vec<f64> =
        measured.split_whitespace().map(str::parse).collect::<Result<_, _>>()?;
    let [json, before, with, after] = numbers[..] else {
        return Err(format!("not a measurement: {measured}").into());
    };
    let each = (with - before) / OBJECTS as f64;
    report.one(
        &format!("memory of an object over its {json} bytes of JSON"),
        Goal::AtMost(3.0),
        each / json,
        "times",
    );
    report.one(
        "memory after a million updates over before",
        Goal::AtMost(1.05),
        after / with,
        "times",
    );
    Ok(())
}

fn update(server: &Server, index: usize, value: usize) -> Outcome<()> {
    let (path, body) = observed(index, value);
    ask(server, Method::PATCH, &path, MERGE, &body)
}

fn ask(server: &Server, method: Method, path: &str, kind: &str, body: &Value) -> Outcome<()> {
    let (code, answer) = server.ask(method, path, kind, body.to_string().as_bytes());
    if code < 300 { Ok(()) } else { Err(format!("{path}: {code} {answer:?}").into()) }
}

/// Bytes of this process that are in memory.
fn resident() -> Outcome<u64> {
    let status = std::fs::read_to_string("/proc/self/status").map_err(|problem| {
        format!("error: resident memory is read from Linux's /proc: {problem}")
    })?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kibibytes: u64 =
        line.and_then(|line| line.split_whitespace().next()).ok_or("no VmRSS")?.parse()?;
    Ok(kibibytes * 1024)
}
