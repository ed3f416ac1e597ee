//! Who plays the operator? The real one, once or twice, each with a clock of its own; it may end at any write and come back.

use std::{sync::Arc, time::Duration};

use operator::{Election, Operator, Pools, Proof, Settings, Updates};
use runtime::{
    clock::{Clock as _, SetClock},
    tempo::{LeaseTempo, Tempo},
};
use schedule::Instant;
use tidegate_core::cluster::kinds::{self, Controller, Duty};
use tokio::task::JoinHandle;

use super::{
    dice::Dice,
    stage::{OPERATOR, Stage},
    weather::{Bend, Ears, Line},
};

/// Who leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Leaders {
    /// One operator, which knows that it is alone.
    One,
    /// Two, and both believe that they lead.
    Two,
    /// Two that share a lease.
    Elected,
}

/// How an operator is made.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Make {
    /// What it decides about pools.
    pub(crate) pools: Duty,
    pub(crate) bend: Bend,
    pub(crate) ears: Ears,
    pub(crate) tempo: fn(Tempo) -> Tempo,
    pub(crate) proof: Proof,
    /// Whether it starts updates of the control plane.
    pub(crate) updates: Updates,
}

/// Slower than life where only talk is at stake: a day of a story is thousands of looks at a lease. What bounds how old knowledge may be
/// is as in life.
fn tempo() -> Tempo {
    let seconds = Duration::from_secs;
    Tempo {
        beat: seconds(30),
        stuck: seconds(120),
        lease: LeaseTempo { length: seconds(300), renewal: seconds(200), look: seconds(50) },
        ..Tempo::default()
    }
}

struct Slot {
    clock: SetClock,
    running: Option<(u32, JoinHandle<String>)>,
    /// When it comes back.
    back: i64,
}

/// All operators of a story.
pub(crate) struct Cast {
    stage: Arc<Stage>,
    dice: Dice,
    leaders: Leaders,
    make: Make,
    slots: Vec<Slot>,
    started: u32,
}

impl Cast {
    pub(crate) fn new(stage: Arc<Stage>, dice: Dice, leaders: Leaders, make: Make) -> Self {
        let count = if leaders == Leaders::One { 1 } else { 2 };
        let now = stage.now();
        let slot = |_| Slot {
            clock: SetClock::starting_at(Instant::from_unix(now).unwrap()),
            running: None,
            back: now,
        };
        let slots = (0..count).map(slot).collect();
        Self { stage, dice, leaders, make, slots, started: 0 }
    }

    /// When an operator comes back.
    pub(crate) fn due(&self) -> Option<i64> {
        self.slots.iter().filter(|slot| slot.running.is_none()).map(|slot| slot.back).min()
    }

    /// Ends those whose time has come, and starts those that come back.
    pub(crate) async fn look(&mut self) {
        let now = self.stage.now();
        let ended = self.stage.weather.ended();
        for place in 0..self.slots.len() {
            let slot = &mut self.slots[place];
            if let Some((number, task)) = &mut slot.running
                && task.is_finished()
            {
                let why = task.await.unwrap_or_else(|error| error.to_string());
                let what = format!("operator {number} ended by itself: {why}");
                self.stage.checker().accuse(now, "LIVE-3", what);
                slot.running = None;
            }
            if let Some((number, _)) = &slot.running
                && ended.contains(number)
            {
                self.end(place);
            }
            if self.slots[place].running.is_none() && self.slots[place].back <= now {
                self.start(place);
            }
        }
    }

    fn start(&mut self, place: usize) {
        self.started += 1;
        let number = self.started;
        let service = self.stage.server.service_as(OPERATOR, &["system:authenticated"]);
        let stage = Arc::clone(&self.stage);
        let clock = self.slots[place].clock.clone();
        let line = Line {
            stage,
            service,
            sender: number,
            bend: self.make.bend,
            ears: self.make.ears,
            clock: clock.clone(),
            remembered: Arc::default(),
        };
        let client = kube::Client::new(line, "default");
        let election = match self.leaders {
            Leaders::One | Leaders::Two => Election::Alone,
            Leaders::Elected => {
                Election::Lease { namespace: "default".into(), name: "tidegate-operator".into() }
            }
        };
        let settings = Settings {
            election,
            tempo: (self.make.tempo)(tempo()),
            controllers: self.make.controllers(),
            proof: self.make.proof,
            updates: self.make.updates,
            ..Settings::alone(format!("operator-{number}"))
        };
        let clock = Arc::new(clock);
        let operator = Operator::new(client, clock, settings);
        let task = tokio::spawn(async move {
            match operator.run(std::future::pending()).await {
                Ok(()) => "nobody asked it to".to_owned(),
                Err(error) => error.to_string(),
            }
        });
        self.slots[place].running = Some((number, task));
        self.tell_clock(place);
        self.stage.checker().tell(self.stage.now(), &format!("operator {number} starts"));
    }

    /// Ends an operator like a killed program; it comes back after a while.
    fn end(&mut self, place: usize) {
        let now = self.stage.now();
        let away = *self.dice.pick(&[0, 5, 60, 600]);
        let slot = &mut self.slots[place];
        if let Some((number, task)) = slot.running.take() {
            task.abort();
            self.stage.checker().tell(now, &format!("operator {number} is killed"));
        }
        slot.back = now + away;
    }

    /// The checker knows whose clock is wrong.
    fn tell_clock(&self, place: usize) {
        let slot = &self.slots[place];
        let Some((number, _)) = &slot.running else { return };
        let off = slot.clock.exact().as_second() - self.stage.now();
        self.stage.checker().clock(self.stage.now(), *number, off);
    }

    /// Something happens to an operator: it is killed, or its clock is set, ahead or back, by a little or by hours. The server refuses
    /// what comes of that.
    pub(crate) fn strike(&mut self, clocks: Clocks) {
        let place = self.dice.of(0..self.slots.len() as i64) as usize;
        if clocks == Clocks::Right || self.dice.percent(40) {
            return self.end(place);
        }
        let now = self.stage.now();
        let off = match self.dice.of(0..7) {
            0 => self.dice.of(901..12_000),
            1 => self.dice.of(8..901),
            // Under five seconds is as good as right.
            2 => self.dice.of(1..5),
            3 => -self.dice.of(1..5),
            4 => -self.dice.of(8..400),
            5 => -self.dice.of(400..12_000),
            _ => 0,
        };
        self.slots[place].clock.set(Instant::from_unix(now + off).unwrap());
        self.tell_clock(place);
        self.stage.checker().tell(now, &format!("the clock of slot {place} is off by {off} s"));
    }

    /// Everything is as it should be: right clocks, and one leader.
    pub(crate) fn mend(&mut self) {
        let now = self.stage.now();
        for slot in &self.slots {
            slot.clock.set(Instant::from_unix(now).unwrap());
        }
        (0..self.slots.len()).for_each(|place| self.tell_clock(place));
        if self.leaders == Leaders::Two {
            if let Some((number, task)) = self.slots[1].running.take() {
                task.abort();
                self.stage.checker().tell(now, &format!("operator {number} is gone for good"));
            }
            self.slots.truncate(1);
        }
    }

    /// Sets every clock wrong by so much.
    pub(crate) fn set_off(&self, seconds: i64) {
        self.slots.iter().for_each(|slot| slot.clock.step(seconds));
        (0..self.slots.len()).for_each(|place| self.tell_clock(place));
    }
}

/// Whether clocks are right.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Clocks {
    Right,
    Stepped,
}

/// What every operator of a story has in common: nothing special.
impl Make {
    /// What an operator looks at, pools as this one does.
    fn controllers(&self) -> Vec<Controller> {
        let mut controllers = kinds::controllers(Pools::Managed);
        for controller in &mut controllers {
            if controller.row.kind == kinds::MACHINE_CONFIG_POOL.kind {
                controller.duty = self.pools;
            }
        }
        match self.updates {
            Updates::Watched => controllers,
            Updates::Started => kinds::starting_updates(controllers),
            Updates::Queued => kinds::starting_queued_updates(controllers),
        }
    }

    pub(crate) fn honest() -> Self {
        Self {
            pools: super::planted::duty(),
            bend: super::weather::straight,
            ears: Ears::Honest,
            tempo: std::convert::identity,
            proof: Proof::Required,
            updates: Updates::Watched,
        }
    }
}

/// The handles of operators that still run end with the story.
impl Drop for Cast {
    fn drop(&mut self) {
        for slot in &self.slots {
            if let Some((_, task)) = &slot.running {
                task.abort();
            }
        }
    }
}
