//! The whole report: every table, then every goal, as Markdown and on request as JSON.

use std::io::{self, Write};
use std::path::Path;

use serde_json::json;

use crate::clock::Effort;
use crate::external::{self, Outcome};
use crate::goals::{self, Goal};
use crate::grid::{Grid, times};
use crate::memory::{self, Memory};
use crate::peers::{MATERIALISED, ON_CHRONO, RRULE_ALIGNED, RRULE_AS_IS};
use crate::workloads::fleet::Fleet;
use crate::workloads::worst::Spread;
use crate::workloads::{Setting, fleet, list, meet, next, worst, zoned};
use crate::{machine, tsv};

struct Found {
    next: Grid,
    lists: [Grid; 2],
    meet: Grid,
    fleet: Fleet,
    spreads: [Spread; 2],
    zoned: Grid,
    memory: Memory,
}

/// Measures and prints as it goes, so that a long run shows where it is.
pub fn print(effort: Effort, json: Option<&Path>, out: &mut impl Write) -> io::Result<()> {
    let files = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/tsv");
    tsv::write(&files)?;
    let setting = Setting { effort, external: external::run(&files, effort) };
    let mut versions = machine::versions();
    versions.extend(setting.external.iter().flat_map(Outcome::versions));
    writeln!(out, "Machine: {}.\n\nVersions: {}.\n", machine::description(), versions.join(", "))?;
    writeln!(
        out,
        "CPU time of one thread, best of several samples. A ratio is the peer's time over ours, the geometric mean \
         over the columns it can answer (corners left out). A dash: the rule cannot be expressed. WRONG: the answers \
         differ from ours, so no time is shown.\n"
    )?;
    let next = shown(next::grid(&setting), out)?;
    let [year, decade] = list::grids(&setting);
    let lists = [shown(year, out)?, shown(decade, out)?];
    let meet = shown(meet::grid(&setting), out)?;
    let fleet = fleet::fleet(&setting);
    writeln!(out, "{}", fleet.grid.markdown())?;
    let corners = shown(worst::corners(&next), out)?;
    let spreads = worst::spreads(&setting);
    writeln!(out, "{}", worst::markdown(&spreads))?;
    let zoned = shown(zoned::grid(&setting), out)?;
    let memory = memory::measure();
    writeln!(out, "{}", memory.text)?;
    let found = Found { next, lists, meet, fleet, spreads, zoned, memory };
    let goals = judge(&found);
    writeln!(out, "### Goals\n\n{}", goals::markdown(&goals))?;
    writeln!(
        out,
        "Instruction goals (P3, part of P6): `bench ir`. Correctness (P8): `bench check --full`."
    )?;
    if let Some(path) = json {
        let grids = [
            &found.next,
            &found.lists[0],
            &found.lists[1],
            &found.meet,
            &found.fleet.grid,
            &corners,
            &found.zoned,
        ];
        let tables: Vec<_> = grids.iter().map(|grid| grid.json()).collect();
        let report = json!({
            "machine": machine::description(),
            "versions": versions,
            "tables": tables,
            "goals": goals::json(&goals),
        });
        std::fs::write(path, format!("{report:#}\n"))?;
    }
    Ok(())
}

fn shown(grid: Grid, out: &mut impl Write) -> io::Result<Grid> {
    writeln!(out, "{}", grid.markdown())?;
    out.flush()?;
    Ok(grid)
}

fn judge(found: &Found) -> Vec<Goal> {
    let mut goals = Vec::new();
    let wanted = [
        (RRULE_AS_IS, 5_000.0),
        (RRULE_ALIGNED, 100.0),
        ("cron", 8.0),
        ("croner", 30.0),
        ("recurring", 30.0),
        (external::RRULE_TEMPORAL, 150.0),
        (external::LIBICAL, 1_000.0),
        (external::DATEUTIL_AS_IS, 100_000.0),
        (external::RRULE_GO_AS_IS, 5_000.0),
        (external::ROBFIG, 50.0),
    ];
    for (peer, ratio) in wanted {
        let measured = found.next.ratio(peer);
        goals.push(Goal::at_least("P1", &format!("W1, {peer},"), measured, ratio, times));
    }
    let calendar = next::calendar_columns();
    let on_chrono = found.next.ratio_over(ON_CHRONO, &calendar);
    goals.push(Goal::at_least(
        "P2",
        "W1 monthly and yearly, hand-written on chrono,",
        on_chrono,
        1.0,
        times,
    ));
    let materialised = found.next.ratio(MATERIALISED).map(|ratio| 1.0 / ratio);
    goals.push(Goal::at_most(
        "P2",
        "W1, ours over the materialised list,",
        materialised,
        2.0,
        times,
    ));
    goals.push(Goal::at_most(
        "P3",
        "allocations per query",
        Some(found.memory.calls),
        0.0,
        goals::count,
    ));
    for (peer, ratio) in [(RRULE_ALIGNED, 25.0), (RRULE_AS_IS, 150.0)] {
        let what = format!("W2 ten years, {peer},");
        goals.push(Goal::at_least("P4", &what, found.lists[1].ratio(peer), ratio, times));
    }
    for (peer, ratio) in
        [(RRULE_ALIGNED, 25.0), (RRULE_AS_IS, 150.0), (external::DATEUTIL_AS_IS, 3_000.0)]
    {
        let what = format!("W3 dense, {peer},");
        goals.push(Goal::at_least("P5", &what, found.meet.ratio_over(peer, &[0]), ratio, times));
    }
    for (peer, ratio) in [(RRULE_ALIGNED, 60.0), (RRULE_AS_IS, 5_000.0), (MATERIALISED, 1.0)] {
        let what = format!("W4, {peer},");
        goals.push(Goal::at_least("P6", &what, found.fleet.grid.ratio(peer), ratio, times));
    }
    let milliseconds = |ms: f64| format!("{ms:.1} ms");
    goals.push(Goal::at_most(
        "P6",
        "W4, 100,000 policies",
        Some(found.fleet.milliseconds),
        10.0,
        milliseconds,
    ));
    goals.push(Goal::at_most(
        "P6",
        "bytes per policy",
        Some(found.memory.bytes),
        80.0,
        goals::count,
    ));
    for spread in &found.spreads {
        let what = format!("W5, worst rule over median, {},", spread.question);
        goals.push(Goal::at_most("P7", &what, Some(spread.ratio()), 10.0, times));
    }
    let zoned = found.zoned.ratio(zoned::BERLIN);
    goals.push(Goal::at_most("zones", "Europe/Berlin over UTC", zoned, 5.0, times));
    goals
}
