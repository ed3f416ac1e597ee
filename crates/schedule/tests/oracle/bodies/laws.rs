//! Is the algebra an algebra, and do all queries tell the same story? (SCHED-2, SCHED-3)
//!
//! The body of the fuzz target `laws`, shared with the seeded loop and the laws in the oracle's tests: bytes become expressions
//! over schedules, and every answer of the built set is compared with membership worked out leaf by leaf.

use schedule::{
    Cause, Date, Exclusion, Instant, Length, Month, Ordinal, Recurrence, Rrule, Schedule, Span,
    TimeOfDay, TimeSet, Weekday, Windows, Zone,
};

const DAY: i64 = 86_400;
/// Instants are drawn from 1970 to 2069.
const SPAN: u64 = 100 * 365 * DAY as u64;
/// How many edges of leaves a walk looks at before it takes the set's word for the rest.
const STEPS: usize = 200;

/// Choices, one after the other, out of bytes. When they run out every choice is the first.
pub(crate) struct Source<'a>(pub(crate) &'a [u8]);

impl Source<'_> {
    fn number(&mut self, bytes: usize) -> u64 {
        (0..bytes).fold(0, |number, _| {
            let (first, rest) = self.0.split_first().unwrap_or((&0, &[]));
            self.0 = rest;
            number << 8 | u64::from(*first)
        })
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.number(if limit <= 256 { 1 } else { 6 }) % limit
    }

    fn of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len() as u64) as usize]
    }

    fn some<T>(&mut self, one: impl Fn(&mut Self) -> T) -> Vec<T> {
        let count = 1 + self.below(3);
        (0..count).map(|_| one(self)).collect()
    }

    /// An instant: anywhere, at a full hour, where edges are, or at the rims of time.
    pub(crate) fn instant(&mut self) -> Instant {
        let seconds = self.below(SPAN) as i64;
        let seconds = match self.below(16) {
            0..=3 => seconds,
            4..=7 => seconds - seconds % 3_600,
            8..=10 => seconds - seconds % DAY,
            11..=13 => seconds - seconds % DAY - 1,
            14 => return Instant::MIN.saturating_add(seconds % (800 * DAY)),
            _ => return Instant::MAX.saturating_add(-(seconds % (800 * DAY))),
        };
        Instant::from_unix(seconds).expect("1969 to 2069 is within the range of instants")
    }

    fn recurrence(&mut self) -> Recurrence {
        let nth = |source: &mut Self| (source.of(Ordinal::ALL), source.of(Weekday::ALL));
        let date = |source: &mut Self| 1 + source.below(31) as u8;
        match self.below(8) {
            0 => Ok(Recurrence::every_day()),
            1 => Recurrence::daily(1 + self.below(730) as u16),
            2 | 3 => Recurrence::weekly(
                1 + self.below(4) as u16,
                &self.some(|source| source.of(Weekday::ALL)),
            ),
            4 => Recurrence::monthly_by_date(1 + self.below(11) as u16, &self.some(date)),
            5 => Recurrence::monthly_by_day(1 + self.below(11) as u16, &self.some(nth)),
            6 => Recurrence::yearly_by_date(self.of(Month::ALL), &self.some(date)),
            _ => Recurrence::yearly_by_day(self.of(Month::ALL), &self.some(nth)),
        }
        .expect("every choice is within TIME-4 to TIME-7")
    }

    fn schedule(&mut self) -> TimeSet {
        // Mostly UTC: to prove a set of several zones constant takes its 400 years, and a run has dozens of sets.
        let zones = ["Europe/Berlin", "Pacific/Apia", "America/Sao_Paulo", "Australia/Lord_Howe"];
        let name = match self.below(16) {
            15 => self.of(&zones),
            12..=14 => zones[0],
            _ => "UTC",
        };
        let zone = Zone::named(name).expect("all of these are in the database");
        let recurrence = self.recurrence();
        let start = TimeOfDay::from_seconds(self.below(48) as u32 * 1_800).expect("below a day");
        let length = match self.below(5) {
            0 => Length::RestOfDay,
            1 => Length::Until(
                TimeOfDay::from_seconds(self.below(48) as u32 * 1_800).expect("below a day"),
            ),
            2 => Length::Elapsed(1 + self.below(3 * DAY as u64) as u32),
            3 => Length::Elapsed((1 + self.below(40) as u32) * DAY as u32),
            _ => Length::Elapsed((1 + self.below(48) as u32) * 1_800),
        };
        let windows = if self.below(4) == 3 {
            let rule = self.rrule(&recurrence, zone.name());
            Windows::from_rrule(&rule, start, length, zone.clone())
        } else {
            Windows::new(&recurrence, start, length, zone.clone())
        }
        .expect("a length between a second and 366 days");
        let exclusions: Vec<_> = (0..self.below(3)).map(|_| self.exclusion()).collect();
        let permit = if exclusions.is_empty() || self.below(8) > 0 { Some(windows) } else { None };
        TimeSet::from(
            Schedule::new(permit, &exclusions, &zone)
                .expect("parts that are right make a schedule"),
        )
    }

    /// The rule of a recurrence with a beginning, and half the time with an end.
    fn rrule(&mut self, recurrence: &Recurrence, zone: &str) -> Rrule {
        let date = Date::from_days_since_epoch(self.below(30_000) as i32).expect("1970 to 2052");
        let (year, month, day) = (date.year(), date.month(), date.day());
        let start = format!("DTSTART;TZID={zone}:{year:04}{month:02}{day:02}T220000");
        let end = match self.below(4) {
            0 => format!(";COUNT={}", 1 + self.below(200)),
            1 => format!(";UNTIL={:04}0715T120000Z", year + 1 + self.below(20) as i32),
            _ => String::new(),
        };
        let text = format!("{start}\nRRULE:{}{end}", Rrule::from_recurrence(recurrence));
        Rrule::parse(&text).unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    fn exclusion(&mut self) -> Exclusion {
        let from = self.below(36_500) as i32;
        let days = 1 + self.below(60) as i32;
        let date = |day| Date::from_days_since_epoch(day).expect("1970 to 2070");
        Exclusion::new(date(from), Some(date(from + days)), Some("frozen"))
            .expect("until is after from")
    }

    fn leaf(&mut self) -> TimeSet {
        match self.below(10) {
            0 => TimeSet::always(),
            1 => TimeSet::never(),
            2 => TimeSet::before(self.instant()),
            3 => {
                let ranges = self.some(|source| {
                    let start = source.instant();
                    Span::new(
                        start,
                        start.saturating_add(1 + source.below(100 * DAY as u64) as i64),
                    )
                });
                TimeSet::ranges(ranges)
            }
            _ => self.schedule(),
        }
    }

    /// An expression at most so deep.
    pub(crate) fn expression(&mut self, depth: u32) -> Expression {
        let choice = if depth == 0 { 0 } else { self.below(9) };
        match choice {
            0 | 1 => Expression::Leaf(self.leaf()),
            2 => Expression::Complement(self.expression(depth - 1).into()),
            3 | 4 => Expression::Union(
                self.expression(depth - 1).into(),
                self.expression(depth - 1).into(),
            ),
            5 | 6 => Expression::Intersection(
                self.expression(depth - 1).into(),
                self.expression(depth - 1).into(),
            ),
            _ => Expression::Difference(
                self.expression(depth - 1).into(),
                self.expression(depth - 1).into(),
            ),
        }
    }
}

/// A set as it is written down.
#[derive(Clone, Debug)]
pub(crate) enum Expression {
    Leaf(TimeSet),
    Complement(Box<Expression>),
    Union(Box<Expression>, Box<Expression>),
    Intersection(Box<Expression>, Box<Expression>),
    Difference(Box<Expression>, Box<Expression>),
}

impl Expression {
    /// The set the engine makes of it.
    pub(crate) fn build(&self) -> TimeSet {
        match self {
            Expression::Leaf(set) => set.clone(),
            Expression::Complement(one) => one.build().complement(),
            Expression::Union(one, two) => one.build().union(two.build()),
            Expression::Intersection(one, two) => one.build().intersection(two.build()),
            Expression::Difference(one, two) => one.build().difference(two.build()),
        }
    }

    /// Membership worked out leaf by leaf.
    fn has(&self, at: Instant) -> bool {
        match self {
            Expression::Leaf(set) => set.contains(at),
            Expression::Complement(one) => !one.has(at),
            Expression::Union(one, two) => one.has(at) || two.has(at),
            Expression::Intersection(one, two) => one.has(at) && two.has(at),
            Expression::Difference(one, two) => one.has(at) && !two.has(at),
        }
    }

    /// The nearest edge of any leaf strictly after an instant.
    fn edge_after(&self, at: Instant) -> Option<Instant> {
        match self {
            Expression::Leaf(set) => set.next_change(at),
            Expression::Complement(one) => one.edge_after(at),
            Expression::Union(one, two)
            | Expression::Intersection(one, two)
            | Expression::Difference(one, two) => {
                one.edge_after(at).into_iter().chain(two.edge_after(at)).min()
            }
        }
    }

    /// The nearest edge of any leaf at or before an instant.
    fn edge_before(&self, at: Instant) -> Option<Instant> {
        match self {
            Expression::Leaf(set) => set.previous_change(at),
            Expression::Complement(one) => one.edge_before(at),
            Expression::Union(one, two)
            | Expression::Intersection(one, two)
            | Expression::Difference(one, two) => {
                one.edge_before(at).into_iter().chain(two.edge_before(at)).max()
            }
        }
    }

    /// A set can only change where a leaf does: walks the leaves' edges to the first that changes membership.
    fn next_change(&self, at: Instant) -> Walked {
        let inside = self.has(at);
        let mut cursor = at;
        for _ in 0..STEPS {
            match self.edge_after(cursor) {
                None => return Walked::Never,
                Some(edge) if self.has(edge) != inside => return Walked::At(edge),
                Some(edge) => cursor = edge,
            }
        }
        Walked::Beyond(cursor)
    }

    fn previous_change(&self, at: Instant) -> Walked {
        let inside = self.has(at);
        let mut cursor = at;
        for _ in 0..STEPS {
            let Some(edge) = self.edge_before(cursor) else { return Walked::Never };
            let before = edge.saturating_add(-1);
            if self.has(before) != inside {
                return Walked::At(edge);
            }
            cursor = before;
        }
        Walked::Beyond(cursor)
    }
}

/// What a bounded walk over edges found.
#[derive(Clone, Copy, Debug)]
enum Walked {
    Never,
    At(Instant),
    /// Nothing up to here.
    Beyond(Instant),
}

/// Builds a set and compares every query with the walk, at each instant.
pub(crate) fn queries_agree(expression: &Expression, instants: &[Instant]) {
    let set = expression.build();
    for &at in instants {
        let inside = expression.has(at);
        assert_eq!(set.contains(at), inside, "contains at {at}: {expression:?}");
        assert!(inside || !set.is_always(), "always, but not at {at}: {expression:?}");
        assert!(!inside || !set.is_never(), "never, but at {at}: {expression:?}");
        let (start, end) = (set.previous_change(at), set.next_change(at));
        match expression.next_change(at) {
            Walked::Never => assert_eq!(end, None, "next change after {at}: {expression:?}"),
            Walked::At(edge) => {
                assert_eq!(end, Some(edge), "next change after {at}: {expression:?}");
            }
            Walked::Beyond(edge) => assert!(
                end.is_none_or(|end| end > edge),
                "next change after {at} is {end:?}: {expression:?}"
            ),
        }
        match expression.previous_change(at) {
            Walked::Never => assert_eq!(start, None, "previous change at {at}: {expression:?}"),
            Walked::At(edge) => {
                assert_eq!(start, Some(edge), "previous change at {at}: {expression:?}");
            }
            Walked::Beyond(edge) => {
                assert!(
                    start.is_none_or(|start| start <= edge),
                    "previous change at {at} is {start:?}: {expression:?}"
                );
            }
        }
        if let Some(end) = end {
            assert!(
                end > at && expression.has(end) != inside,
                "{end} is no change after {at}: {expression:?}"
            );
            assert_eq!(set.previous_change(end), Some(end), "{expression:?}");
        }
        let stretch = set.stretch(at);
        assert_eq!(
            (stretch.inside, stretch.start, stretch.end),
            (inside, start, end),
            "stretch at {at}: {expression:?}"
        );
    }
    for &at in instants {
        reason_fits(&set, at, expression);
    }
    constants_are_known(&set, expression);
    if let Some(&from) = instants.first() {
        spans_agree(&set, from, expression);
    }
}

/// The reason given is one that holds at the instant, and the rest of it is what the other queries say.
fn reason_fits(set: &TimeSet, at: Instant, expression: &Expression) {
    let why = set.why(at);
    let told = (why.inside, why.until);
    assert_eq!(told, (set.contains(at), set.next_change(at)), "why at {at}: {expression:?}");
    let fits = match why.cause {
        Cause::Always | Cause::Never | Cause::NoRange => true,
        Cause::Before(end) => at < end,
        Cause::NotBefore(end) => at >= end,
        Cause::Range { start, end } => {
            start.is_none_or(|start| start <= at) && end.is_none_or(|end| at < end)
        }
        Cause::Window { start, end, .. } => start <= at && end.is_none_or(|end| at < end),
        Cause::NoWindow { next } => next.is_none_or(|next| next > at),
        Cause::Closing { end } => end.is_none_or(|end| end > at),
        // Zones are at most a day away from UTC.
        Cause::Exclusion { from, until, .. } => {
            let day = at.unix().div_euclid(DAY);
            i64::from(from.days_since_epoch()) - 1 <= day
                && day <= i64::from(until.days_since_epoch()) + 1
        }
    };
    assert!(fits, "{:?} is no reason at {at}: {expression:?}", why.cause);
}

/// Never and always are known of a set without asking for an instant.
fn constants_are_known(set: &TimeSet, expression: &Expression) {
    let constant = set.next_change(Instant::MIN).is_none();
    let first = set.contains(Instant::MIN);
    assert_eq!(set.is_always(), constant && first, "always: {expression:?}");
    assert_eq!(set.is_never(), constant && !first, "never: {expression:?}");
}

/// Spans are the stretches inside, one after the other, with their true edges.
fn spans_agree(set: &TimeSet, from: Instant, expression: &Expression) {
    let until = from.saturating_add(200 * DAY);
    let mut cursor = Some(from);
    let mut expect = Vec::new();
    while let Some(at) = cursor.filter(|&at| at < until && expect.len() < 40) {
        let stretch = set.stretch(at);
        if stretch.inside {
            expect.push((stretch.start, stretch.end));
        }
        cursor = stretch.end;
    }
    let found: Vec<_> =
        set.spans(from..until).take(40).map(|span| (span.start, span.end)).collect();
    assert_eq!(found, expect, "spans from {from}: {expression:?}");
}

/// Two sets that must be one and the same.
pub(crate) fn same(one: &TimeSet, two: &TimeSet, instants: &[Instant], law: &str) {
    assert_eq!(
        (one.is_always(), one.is_never()),
        (two.is_always(), two.is_never()),
        "{law}: {one:?} and {two:?}"
    );
    for &at in instants {
        assert_eq!(one.contains(at), two.contains(at), "{law} at {at}: {one:?} and {two:?}");
        assert_eq!(
            one.next_change(at),
            two.next_change(at),
            "{law} after {at}: {one:?} and {two:?}"
        );
        assert_eq!(
            one.previous_change(at),
            two.previous_change(at),
            "{law} before {at}: {one:?} and {two:?}"
        );
    }
}

/// The laws of sets, for any three (SCHED-3).
pub(crate) fn laws_hold(a: &TimeSet, b: &TimeSet, c: &TimeSet, instants: &[Instant]) {
    let [or, and, minus] = [TimeSet::union, TimeSet::intersection, TimeSet::difference]
        .map(|operation| move |one: &TimeSet, two: &TimeSet| operation(one.clone(), two.clone()));
    let not = |one: &TimeSet| one.clone().complement();
    let check = |law, one: TimeSet, two: TimeSet| same(&one, &two, instants, law);
    check("complement twice", not(&not(a)), a.clone());
    check("de Morgan, union", not(&or(a, b)), and(&not(a), &not(b)));
    check("de Morgan, intersection", not(&and(a, b)), or(&not(a), &not(b)));
    check("union with itself", or(a, a), a.clone());
    check("intersection with itself", and(a, a), a.clone());
    check("difference is intersection with the complement", minus(a, b), and(a, &not(b)));
    check("union commutes", or(a, b), or(b, a));
    check("intersection commutes", and(a, b), and(b, a));
    check("union associates", or(&or(a, b), c), or(a, &or(b, c)));
    check("intersection associates", and(&and(a, b), c), and(a, &and(b, c)));
    check("intersection distributes", and(a, &or(b, c)), or(&and(a, b), &and(a, c)));
    check("absorption", or(a, &and(a, b)), a.clone());
    check("a set or its complement", or(a, &not(a)), TimeSet::always());
    check("a set and its complement", and(a, &not(a)), TimeSet::never());
    check("a set without itself", minus(a, a), TimeSet::never());
    check("nothing added", or(a, &TimeSet::never()), a.clone());
    check("everything kept", and(a, &TimeSet::always()), a.clone());
}

/// One run: an expression with its queries, then the laws over three small ones.
pub(crate) fn run(bytes: &[u8]) {
    let mut source = Source(bytes);
    let instants: Vec<Instant> = (0..4).map(|_| source.instant()).collect();
    queries_agree(&source.expression(3), &instants);
    let [a, b, c] = [(); 3].map(|()| source.expression(1).build());
    laws_hold(&a, &b, &c, &instants);
}
