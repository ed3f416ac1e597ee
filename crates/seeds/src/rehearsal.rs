//! Does it matter when an operator is killed? One small rollout, played again and again, with a kill after another write each time
//! (EXEC-2).

use std::sync::Arc;

use api::machine::names::{CURRENT_CONFIG, DESIRED_CONFIG, LEDGER, STATE};
use serde_json::{Value, json};

use super::{
    cast::{Cast, Clocks, Leaders, Make},
    check::{Checker, Violation, is_cordoned, noted},
    dice::Dice,
    intent,
    machines::{Agents, Machines},
    people::People,
    planted::Drainer,
    stage::{By, Kind, Stage, installed},
    story::{Bad, Forecast, Story, in_virtual_time},
    weather::Weather,
};

/// 2026-11-13T20:00:00Z.
const START: i64 = 1_794_600_000;

/// What a rehearsal left behind.
#[derive(Debug)]
pub(crate) struct Rehearsed {
    /// What is stored in the end, without the instants at which it came about.
    pub(crate) state: Vec<String>,
    pub(crate) violations: Vec<Violation>,
    /// How many objects the operator wrote.
    pub(crate) writes: u64,
}

/// A pool of four nodes gets a new configuration in a window that opens after half an hour; the operator is killed after a write.
pub(crate) fn rehearse(killed_after: Option<u64>) -> Rehearsed {
    in_virtual_time(async move {
        let weather = Weather::new(Dice::new(1));
        let stage = Arc::new(Stage::new(1, START, weather, Checker::new(10, Clocks::Right)));
        stage.furnish(installed);
        if let Some(write) = killed_after {
            stage.weather.end_after(write);
        }
        let minute = (START / 60 + 30) % 1_440;
        let policy = intent::policy(
            "nightly",
            &json!({"strategy": "MaintenanceSchedule", "maintenanceSchedule": {"permit": {
                "startTime": format!("{:02}:{:02}", minute / 60, minute % 60), "duration": "180m"}}}),
        );
        stage.create(By::People, Kind::Policy, &policy).unwrap();
        let people = People::small(&stage, "nightly");
        let make = Make::honest();
        let mut story = Story {
            seed: 1,
            dice: Dice::new(2),
            start: START,
            cast: Cast::new(Arc::clone(&stage), Dice::new(3), Leaders::One, make),
            machines: Machines::new(Dice::new(4), Agents::Careful),
            people,
            bad: Bad { weather: Forecast::Fair, clocks: Clocks::Right },
            strangers: None,
            drainer: Drainer::Own,
            sought: None,
            stage,
        };
        story.machines.calm();
        // Longer than a killed operator stays away.
        story.live(START + 900, None).await;
        story.people.grow(&story.stage, 4);
        story.live(START + 1_000, None).await;
        story.people.reconfigure(&story.stage);
        story.live(START + 5 * 3_600, None).await;
        let checker = story.stage.checker();
        Rehearsed {
            state: state(&checker),
            violations: checker.violations.clone(),
            writes: checker.writes,
        }
    })
}

fn state(checker: &Checker) -> Vec<String> {
    let mut state = Vec::new();
    for (name, node) in checker.all(Kind::Node) {
        let told = [CURRENT_CONFIG, DESIRED_CONFIG, STATE].map(|key| noted(node, key));
        state.push(format!("{name}: {told:?}, cordoned {}", is_cordoned(node)));
    }
    let conditions = |status: &Value| -> Vec<String> {
        let all = status["conditions"].as_array();
        let said = all.into_iter().flatten();
        said.map(|one| format!("{} {} {}", one["type"], one["status"], one["message"])).collect()
    };
    for (name, pool) in checker.all(Kind::Pool) {
        let status = &pool["status"];
        let current = &status["changeManagement"]["behavior"]["current"];
        let (ledger, told) = (noted(pool, LEDGER), conditions(status));
        let updated = &status["updatedMachineCount"];
        state.push(format!(
            "{name}: {} {ledger} {updated} {told:?} {current} {}",
            pool["spec"], status["configuration"]["name"]
        ));
    }
    for (name, policy) in checker.all(Kind::Policy) {
        let status = &policy["status"];
        state.push(format!("{name}: {:?} {}", conditions(status), status["behavior"]["current"]));
    }
    let configs = checker.all(Kind::Config);
    state.extend(configs.map(|(name, config)| format!("{name}: {}", config["spec"])));
    state
}
