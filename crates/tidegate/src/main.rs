//! The one command people install: `tidegate <verb>`.
//!
//! This file is the edge. The clock, chance, the environment, the terminal and the exit code are read and written here and nowhere else;
//! the verbs are functions from arguments and an [`edge::Edge`] to an [`output::Output`].

mod args;
mod change;
mod cluster;
mod edge;
mod output;
mod source;
mod updates;
mod values;
mod verbs;

use std::{
    io::{self, IsTerminal as _, Write},
    process::ExitCode,
    time::{SystemTime, UNIX_EPOCH},
};

use clap::ArgMatches;
use edge::{Edge, Seat};
use output::{Exit, Output};
use ring::rand::{SecureRandom as _, SystemRandom};
use schedule::Instant;
use views::{drawing::Colour, safe::printable_lines};

fn main() -> ExitCode {
    let matches = match verbs::command().try_get_matches() {
        Ok(matches) => matches,
        Err(error) => {
            // Help asked for is output, anything else is talk; the parser knows which, and a closed pipe is nobody's failure.
            let _ = error.print();
            return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2));
        }
    };
    let mut edge = Edge {
        now: now(),
        clock: now,
        colour: colour(&matches),
        seat: seat(),
        stdin: Box::new(io::stdin().lock()),
        stdout: Box::new(io::stdout()),
        stderr: Box::new(io::stderr()),
        user: rustix::process::geteuid().as_raw(),
        chance,
        variables: |name| std::env::var_os(name),
    };
    let output = verbs::run(&matches, &mut edge).unwrap_or_else(|error| Output {
        text: String::new(),
        talk: printable_lines(&format!("tidegate: {error:#}\n")),
        exit: Exit::Failure,
    });
    // What was found wrong comes first, so that it is not lost behind a page of output.
    let _ = io::stderr().lock().write_all(output.talk.as_bytes());
    match print(&output.text) {
        Ok(()) => ExitCode::from(output.exit.code()),
        // The reader has seen enough: `tidegate next | head -1` is a success.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(io::stderr(), "tidegate: cannot write to standard output: {error}");
            ExitCode::from(Exit::Failure.code())
        }
    }
}

fn print(text: &str) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(text.as_bytes())?;
    stdout.flush()
}

/// The only clock.
fn now() -> Instant {
    let seconds = match SystemTime::now().duration_since(UNIX_EPOCH) {
        Ok(since) => i64::try_from(since.as_secs()).unwrap_or(i64::MAX),
        Err(before) => -i64::try_from(before.duration().as_secs()).unwrap_or(i64::MAX),
    };
    Instant::EPOCH.saturating_add(seconds)
}

/// The only chance.
fn chance(place: &mut [u8]) -> io::Result<()> {
    SystemRandom::new().fill(place).map_err(|_| io::Error::other("the system gives none"))
}

fn seat() -> Seat {
    if io::stdin().is_terminal() && io::stdout().is_terminal() {
        Seat::Terminal
    } else {
        Seat::Elsewhere
    }
}

/// Colour only where a person looks, and not if they said no (<https://no-color.org>).
fn colour(matches: &ArgMatches) -> Colour {
    let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    match matches.get_one::<args::ColourChoice>("color") {
        Some(args::ColourChoice::Always) => Colour::On,
        Some(args::ColourChoice::Never) => Colour::Off,
        Some(args::ColourChoice::Auto) | None => {
            let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
            if io::stdout().is_terminal() && !set("NO_COLOR") && !dumb {
                Colour::On
            } else {
                Colour::Off
            }
        }
    }
}
