//! What does an operator do whose clock is not the server's, or who cannot tell? (GATE-11)

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use http::header::DATE;
use operator::View;
use runtime::clock::{Clock as _, SetClock};

use super::{
    common::{POOLS, World, managing, pass},
    rollout::{blocked, marked, marks, waiting},
};

/// GATE-7: who knows that its clock is ahead waits until the server's says that the window is open.
#[tokio::test(start_paused = true)]
async fn a_clock_that_is_known_to_be_ahead_opens_no_window_early() {
    let (world, right) = waiting().await;
    drop(right);
    let ahead = SetClock::starting_at(world.clock.now().saturating_add(4));
    let _wrong = world.start_by(&ahead, managing("two"));
    pass(Duration::from_secs(59 * 60 + 56)).await;
    let writes = world.writes();
    assert!(writes.iter().any(|line| line.contains("/worker?")), "it reserves room: {writes:?}");
    assert!(!writes.iter().any(|line| line.contains("tidegate-rollout")), "and yet it waits");
    pass(Duration::from_secs(10)).await;
    assert_eq!(marked(&world), ["n1"]);
}

/// GATE-11: who knows that its clock is off initiates nothing at all, says so, and goes on when it is right again.
#[tokio::test(start_paused = true)]
async fn a_clock_that_is_off_initiates_nothing_and_says_so() {
    for (off, side) in [(300, "ahead of"), (-300, "behind")] {
        let (world, right) = waiting().await;
        drop(right);
        let wrong = SetClock::starting_at(world.clock.now().saturating_add(off));
        let operator = world.start_by(&wrong, managing("two"));
        pass(Duration::from_mins(70)).await;
        assert_eq!(marks(&world), 0, "{off}");
        let told = blocked(&world.get(&format!("{POOLS}/worker")));
        assert_eq!(told[0]["status"], "True", "{told:?}");
        let message = told[0]["message"].as_str().unwrap();
        assert!(message.contains(&format!("more than 5 s {side} the API server's")), "{message}");
        world.writes();
        let before = decisions(&operator.view, "MachineConfigPool");
        pass(Duration::from_mins(20)).await;
        assert_eq!(world.writes(), [""; 0], "what is told stays the same");
        let since = decisions(&operator.view, "MachineConfigPool") - before;
        assert!((4.0..40.0).contains(&since), "and is not decided all the time: {since}");
        wrong.step(-off);
        pass(Duration::from_mins(1)).await;
        assert_eq!(marked(&world), ["n1"], "{off}");
        assert_eq!(blocked(&world.get(&format!("{POOLS}/worker")))[0]["status"], "False");
    }
}

/// How often it was decided about objects of a kind.
fn decisions(view: &View, kind: &str) -> f64 {
    let page = operator::metrics::page(view);
    let of_kind = format!("tidegate_reconciles_total{{kind=\"{kind}\"");
    let lines = page.lines().filter(|line| line.starts_with(&of_kind));
    lines.map(|line| line.rsplit(' ').next().unwrap().parse::<f64>().unwrap()).sum()
}

/// GATE-11: who was never told the server's time initiates nothing, says so, and begins when it is told.
#[tokio::test(start_paused = true)]
async fn who_was_never_told_the_time_initiates_nothing_and_says_so() {
    let (world, told) = waiting().await;
    drop(told);
    let dates = Arc::new(AtomicBool::new(false));
    let passing = Arc::clone(&dates);
    let client = world.client_hearing(move |mut answer| {
        if !passing.load(Ordering::SeqCst) {
            answer.headers_mut().remove(DATE).unwrap();
        }
        answer
    });
    let _untold = World::start_on(client, &world.clock, managing("two"));
    pass(Duration::from_mins(70)).await;
    assert_eq!(marks(&world), 0);
    let why = blocked(&world.get(&format!("{POOLS}/worker")));
    assert_eq!(why[0]["status"], "True", "{why:?}");
    let message = why[0]["message"].as_str().unwrap();
    assert!(message.contains("the API server has not told what time it is"), "{message}");
    world.writes();
    pass(Duration::from_mins(20)).await;
    assert_eq!(world.writes(), [""; 0], "what is told stays the same");

    dates.store(true, Ordering::SeqCst);
    pass(Duration::from_mins(1)).await;
    assert_eq!(marked(&world), ["n1"]);
    assert_eq!(blocked(&world.get(&format!("{POOLS}/worker")))[0]["status"], "False");
}
