//! How fast and how large is the embedded server, beside a real one in the same run?
//!
//! `cargo figures` prints one table: each figure with its goal, for the embedded server inside the process, the same behind its
//! loopback port, and a real kube-apiserver with etcd, all asked by the same ordinary client. It ends with 1 if a goal is missed.
//! Memory and traces are measured in processes of their own, which are this program again.

mod memory;
mod report;
mod speed;
mod workload;

use std::{
    error::Error,
    io::Write as _,
    path::Path,
    process::{Command, ExitCode},
    time::Instant,
};

use apiserver::{RuntimeClock, Server, Settings};
use conformance::simulation;
use kube::Client;
use report::{Goal, Report};
use rig::{ControlPlane, Controllers, Embedded, Programs, User};
use speed::Speed;

type Outcome<T> = Result<T, Box<dyn Error>>;

fn main() -> Outcome<ExitCode> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["memory"] => say(&memory::measure()?),
        ["trace", seed] => say(&format!("{:016x}", simulation::storm(seed.parse()?)?.trace)),
        [] => {
            let report = measure_all()?;
            say(&report.to_string())?;
            return Ok(if report.all_met() { ExitCode::SUCCESS } else { ExitCode::FAILURE });
        }
        _ => return Err("error: unknown arguments\nhint: cargo figures takes none".into()),
    }?;
    Ok(ExitCode::SUCCESS)
}

fn measure_all() -> Outcome<Report> {
    let mut report = Report::default();
    measure_speed(&mut report)?;
    memory::report(&again(&["memory"])?, &mut report)?;

    talk("a virtual year");
    let (wall, processor) = (Instant::now(), processor_seconds());
    let changes = simulation::year()?;
    if changes != 365 * 48 {
        return Err(format!("the year saw {changes} changes of its window").into());
    }
    // One thread that never waits: on a quiet machine both are the same, on a busy one only this is ours.
    let (what, length) = match (processor, processor_seconds()) {
        (Some(start), Some(end)) => {
            ("a virtual year with one hourly window, processor time", end - start)
        }
        _ => ("a virtual year with one hourly window", wall.elapsed().as_secs_f64()),
    };
    report.one(what, Goal::AtMost(3.0), length, "s");

    let [first, second, other] =
        [again(&["trace", "7"])?, again(&["trace", "7"])?, again(&["trace", "8"])?];
    let verdict = first == second && first != other;
    let told = format!("{} {} {}", first.trim(), second.trim(), other.trim());
    report.fact(
        "traces of seeds 7, 7 and 8 in three processes, faults on",
        "same, same, another",
        told,
        verdict,
    );
    Ok(report)
}

/// The same requests to each server, in turns, so that none competes with another for the processor.
fn measure_speed(report: &mut Report) -> Outcome<()> {
    talk("speed: in the process, behind its port, and the real server");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let embedded = Embedded::start(Path::new("kubectl"))?;
    let [inside, outside, real] = runtime.block_on(async {
        let clock = RuntimeClock::starting_at(jiff::Timestamp::UNIX_EPOCH);
        let server = Server::new(clock, Settings::default());
        let programs = Programs::find(|name| std::env::var_os(name))?;
        let plane = ControlPlane::start(&programs, Controllers::Absent).await?;
        let inside = Client::new(server.service(), "default");
        let outside = embedded.cluster().client(User::Admin).await?;
        let real = plane.cluster().client(User::Admin).await?;
        speed::measure([&inside, &outside, &real]).await
    })?;
    let three = |figure: fn(&Speed) -> f64| [figure(&inside), figure(&outside), figure(&real)];
    report.rates("create", Goal::Times(8.0), three(|speed| speed.create));
    report.rates("status patch", Goal::Times(8.0), three(|speed| speed.patch));
    report.lengths(
        "list of 10,000",
        Goal::AtMost(100.0),
        three(|speed| speed.list * 1_000.0),
        "ms",
    );
    report.lengths(
        "1,000 watchers see 1,000 updates in order",
        Goal::None,
        three(|speed| speed.watch),
        "s",
    );
    Ok(())
}

/// The processor time of this thread, where Linux tells it.
fn processor_seconds() -> Option<f64> {
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    let nanoseconds: f64 = told.split_whitespace().next()?.parse().ok()?;
    Some(nanoseconds / 1e9)
}

/// Runs this program again and returns what it says.
fn again(arguments: &[&str]) -> Outcome<String> {
    talk(&arguments.join(" "));
    let output = Command::new(std::env::current_exe()?).args(arguments).output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned().into());
    }
    Ok(String::from_utf8(output.stdout)?)
}

fn say(text: &str) -> Outcome<()> {
    Ok(writeln!(std::io::stdout(), "{text}")?)
}

/// Progress, for people; nobody is hurt if it cannot be told.
fn talk(text: &str) {
    let _ = writeln!(std::io::stderr(), "figures: {text}");
}
