//! Where was this measured, and against which versions?

use std::thread;

/// The rivals whose versions the lock file pins.
const CRATES: [&str; 8] =
    ["rrule", "dateutil", "recurring", "croner", "cron", "chrono", "jiff", "tidegate-schedule"];

/// Cores and model, as far as the system tells.
pub fn description() -> String {
    let cores = thread::available_parallelism().map_or(0, usize::from);
    let cpu = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = cpu
        .lines()
        .find_map(|line| line.strip_prefix("model name"))
        .and_then(|line| line.split_once(':'))
        .map_or("unknown CPU", |(_, model)| model.trim());
    format!("{cores} cores, {model}, {} {}", std::env::consts::OS, std::env::consts::ARCH)
}

/// Name and version of each Rust rival, from the lock file this program was built with.
pub fn versions() -> Vec<String> {
    let lock = include_str!("../Cargo.lock");
    let mut found = Vec::new();
    for package in lock.split("[[package]]") {
        let field = |name: &str| {
            package
                .lines()
                .find_map(|line| line.strip_prefix(name)?.strip_prefix(" = \"")?.strip_suffix('"'))
        };
        if let (Some(name), Some(version)) = (field("name"), field("version"))
            && CRATES.contains(&name)
        {
            found.push(format!("{name} {version}"));
        }
    }
    found
}
