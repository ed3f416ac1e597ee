//! Which rules and instants are measured? The same ones on every machine, from a fixed seed.

use crate::rule::{DAY, Rule, Shape};

/// 2026-01-01T00:00:00Z: the year all queries fall in.
pub const FROM: i64 = 1_767_225_600;
/// 2027-01-01T00:00:00Z.
pub const UNTIL: i64 = FROM + 365 * DAY;
/// 2036-01-01T00:00:00Z: the end of ten years.
pub const UNTIL_10: i64 = FROM + 3652 * DAY;
/// 2026-06-17T10:30:00Z: the one instant at which a fleet is judged.
pub const NOW: i64 = FROM + 167 * DAY + 37_800;

/// How many of each.
pub const INSTANTS: usize = 65_536;
pub const RULES: usize = 4_000;
pub const POLICIES: usize = 100_000;

/// Shapes whose cost is a corner of its own: shown, but left out of the geometric mean.
pub const CORNERS: [&str; 2] = ["5th Mon Feb", "Feb 30"];

/// A small generator (SplitMix64): a benchmark needs repeatable numbers, not unguessable ones.
pub struct Dice(u64);

impl Dice {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A number in `low..=high`.
    pub fn between(&mut self, low: i64, high: i64) -> i64 {
        low + (self.roll() % (high - low + 1) as u64) as i64
    }

    /// Between one and `most` different numbers of `low..=high`, sorted.
    fn some(&mut self, low: i64, high: i64, most: i64) -> Vec<u8> {
        let count = self.between(1, most);
        let mut picked: Vec<u8> = (0..count).map(|_| self.between(low, high) as u8).collect();
        picked.sort_unstable();
        picked.dedup();
        picked
    }

    fn ordinals(&mut self) -> Vec<(i8, u8)> {
        let count = self.between(1, 3);
        let mut picked: Vec<(i8, u8)> = (0..count)
            .map(|_| {
                let ordinal = self.between(1, 6) as i8;
                (if ordinal == 6 { -1 } else { ordinal }, self.between(0, 6) as u8)
            })
            .collect();
        picked.sort_unstable();
        picked.dedup();
        picked
    }

    fn shape(&mut self) -> Shape {
        match self.between(0, 5) {
            0 => Shape::Daily { every: self.between(1, 730) as u16 },
            1 => Shape::Weekly { every: self.between(1, 26) as u8, days: self.some(0, 6, 4) },
            2 => Shape::MonthlyByDate {
                every: self.between(1, 11) as u8,
                dates: self.some(1, 31, 4),
            },
            3 => Shape::MonthlyByDay { every: self.between(1, 11) as u8, days: self.ordinals() },
            4 => {
                Shape::YearlyByDate { month: self.between(1, 12) as u8, dates: self.some(1, 31, 4) }
            }
            _ => Shape::YearlyByDay { month: self.between(1, 12) as u8, days: self.ordinals() },
        }
    }

    fn rule(&mut self, id: &str) -> Rule {
        let mut shape = self.shape();
        // One rule in sixty is as frequent as can be and long: these are the ones that cover all time.
        let dense = self.between(0, 59) == 0;
        let mut length = self.between(1, 144) * 1_800;
        if dense {
            shape = Shape::Daily { every: self.between(1, 3) as u16 };
            length = 72 * 3_600;
        }
        let start = self.between(0, 1_439) * 60;
        Rule::new(id, shape, start as u32, length as u32)
    }

    fn exclusions(&mut self, count: i64, first: i64, span: i64, longest: i64) -> Vec<(i32, i32)> {
        let mut ranges: Vec<(i32, i32)> = (0..count)
            .map(|_| {
                let from = first + self.between(0, span);
                (from as i32, (from + self.between(1, longest)) as i32)
            })
            .collect();
        ranges.sort_unstable();
        let mut apart: Vec<(i32, i32)> = Vec::new();
        for (from, until) in ranges {
            match apart.last_mut() {
                Some(last) if from <= last.1 => last.1 = last.1.max(until),
                _ => apart.push((from, until)),
            }
        }
        apart
    }
}

/// The sixteen shapes that the tables name.
pub fn shapes() -> Vec<Rule> {
    let two = 2 * 3_600;
    let four_hours = 4 * 3_600;
    let rows = [
        ("daily 1", Shape::Daily { every: 1 }),
        ("daily 5", Shape::Daily { every: 5 }),
        ("Sat w1", Shape::Weekly { every: 1, days: vec![5] }),
        ("SatSun w1", Shape::Weekly { every: 1, days: vec![5, 6] }),
        ("MTW w2", Shape::Weekly { every: 2, days: vec![0, 1, 2] }),
        ("Mon w26", Shape::Weekly { every: 26, days: vec![0] }),
        ("1,15 m1", Shape::MonthlyByDate { every: 1, dates: vec![1, 15] }),
        ("31st m11", Shape::MonthlyByDate { every: 11, dates: vec![31] }),
        ("1st Sat m1", Shape::MonthlyByDay { every: 1, days: vec![(1, 5)] }),
        ("last Fri m1", Shape::MonthlyByDay { every: 1, days: vec![(-1, 4)] }),
        ("5th Mon m11", Shape::MonthlyByDay { every: 11, days: vec![(5, 0)] }),
        ("Dec 24-26", Shape::YearlyByDate { month: 12, dates: vec![24, 25, 26] }),
        ("Feb 29", Shape::YearlyByDate { month: 2, dates: vec![29] }),
        ("1st Sun Nov", Shape::YearlyByDay { month: 11, days: vec![(1, 6)] }),
        ("5th Mon Feb", Shape::YearlyByDay { month: 2, days: vec![(5, 0)] }),
        ("Feb 30", Shape::YearlyByDate { month: 2, dates: vec![30] }),
    ];
    rows.into_iter().map(|(id, shape)| Rule::new(id, shape, two, four_hours)).collect()
}

/// Random rules over the whole legal range, without exclusions.
pub fn rules() -> Vec<Rule> {
    let mut dice = Dice::new(4_000);
    (0..RULES).map(|id| dice.rule(&id.to_string())).collect()
}

/// A fleet of random policies, three in five with one to three exclusion ranges around [`NOW`].
pub fn policies(count: usize) -> Vec<Rule> {
    let mut dice = Dice::new(100_000);
    (0..count)
        .map(|id| {
            let mut rule = dice.rule(&id.to_string());
            if dice.between(0, 9) < 6 {
                let count = dice.between(1, 3);
                rule.exclusions = dice.exclusions(count, NOW / DAY - 180, 720, 14);
            }
            rule
        })
        .collect()
}

/// Instants of 2026, in random order.
pub fn instants() -> Vec<i64> {
    let mut dice = Dice::new(65_536);
    (0..INSTANTS).map(|_| dice.between(FROM, UNTIL - 1)).collect()
}

/// Worker windows, control-plane windows, and what both must avoid, over ten years.
pub fn pairs() -> Vec<(Rule, Rule)> {
    let hour = 3_600;
    let exclusions = Dice::new(110).exclusions(110, FROM / DAY, 3_640, 10);
    let pair = |id, worker: (Shape, u32, u32), control: (Shape, u32, u32)| {
        let mut first = Rule::new(id, worker.0, worker.1, worker.2);
        first.exclusions.clone_from(&exclusions);
        (first, Rule::new(id, control.0, control.1, control.2))
    };
    vec![
        pair(
            "dense",
            (Shape::Daily { every: 1 }, 20 * hour, 8 * hour),
            (Shape::Weekly { every: 1, days: vec![5, 6] }, 0, 24 * hour),
        ),
        pair(
            "sparse",
            (Shape::Weekly { every: 2, days: vec![0, 1, 2] }, 22 * hour, 6 * hour),
            (Shape::MonthlyByDay { every: 1, days: vec![(1, 0), (3, 1)] }, 18 * hour, 60 * hour),
        ),
    ]
}
