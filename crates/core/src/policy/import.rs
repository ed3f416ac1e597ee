//! What does a calendar of holidays and freezes exclude? RFC 5545 in, exclusions of a policy out (TIME-10, TIME-13).
//!
//! A function of the text and of what is asked: the same bytes give the same exclusions, and their digest says which bytes. Whatever is not
//! understood is named by line and property, and where that is in doubt more is excluded and not less. Bounded: a text is read once, no rule
//! is followed further than a policy can hold exclusions, and what would be more is refused as a whole.

use std::{
    collections::{BTreeMap, BTreeSet},
    ops::Range,
};

use api::policy::{self, MOST_RECURRING};
use schedule::{Date, Instant, Length, Rrule, TimeOfDay, Windows, Zone};

use crate::{
    document::{format, sha256::sha256},
    policy::convert,
};

mod lines;
mod moment;

use lines::Line;
use moment::Moment;

/// How many exclusions a policy holds, and so how many are made of a calendar.
pub const MOST: usize = 1_000;

/// How many notes are kept: whoever reads a hundred has understood that this is another kind of calendar.
const MOST_NOTES: usize = 100;

const DAY: i64 = 86_400;

/// For how many days what recurs without end is written out where no recurrence of a policy can say it.
const WRITTEN_OUT: i64 = 3_653;

/// What somebody wants of a calendar.
#[derive(Clone, Debug, Default)]
pub struct Asked {
    /// Whose days and times those are that name no zone; what the calendar says of itself if none, or UTC.
    pub zone: Option<Zone>,
    /// What is over before this day is left out.
    pub from: Option<Date>,
    /// What begins on this day or later is left out.
    pub until: Option<Date>,
    /// How it is to be written.
    pub form: Form,
}

/// How what a calendar says is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Form {
    /// As exclusions of a policy: days, instants, recurrences.
    #[default]
    Exclusions,
    /// As spans of instants, and nothing else.
    Instants,
}

/// What came of a calendar.
#[derive(Clone, Debug)]
pub struct Imported {
    /// The zone of its days.
    pub zone: Zone,
    /// What it excludes, in the order of the file.
    pub exclusions: Vec<policy::Exclusion>,
    /// What was not understood, or means something else than it says.
    pub notes: Vec<Note>,
    /// How many notes there were beside these.
    pub more_notes: usize,
    /// The digest of the text, such as `sha256:9f86…`.
    pub digest: String,
    /// Whether there was more than a policy can hold. Then the exclusions are not all of them, and nobody should use them.
    pub too_much: bool,
}

/// Something about a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// Which line, counted from one.
    pub line: usize,
    /// Its property.
    pub property: String,
    /// What is to be said.
    pub detail: String,
}

/// Reads a calendar.
pub fn calendar(text: &str, asked: &Asked) -> Imported {
    let digest = sha256(text.as_bytes());
    let mut reader = Reader::default();
    lines::lines(text).for_each(|line| reader.take(line));
    if let Some(open) = reader.open.last() {
        let (line, property) = (open.0, open.1.clone());
        reader.notes.add(line, &property, "it never ends: the file is cut off".into());
    }
    let said = reader.zone.take().map(|(line, name)| (line, Zone::named(&name).map_err(|_| name)));
    let zone = match (&asked.zone, said) {
        (Some(zone), _) => zone.clone(),
        (None, Some((_, Ok(zone)))) => zone,
        (None, None) => Zone::utc(),
        (None, Some((line, Err(name)))) => {
            // TIME-12: days and times without a zone of their own are never read as UTC by mistake.
            let detail = format!(
                "there is no time zone {name:?} in the IANA database, so that nothing is read; --time-zone names one"
            );
            reader.notes.add(line, "X-WR-TIMEZONE", detail);
            reader.events.clear();
            Zone::utc()
        }
    };
    let midnight = |date: &Date| zone.first_instant_of(*date, TimeOfDay::MIDNIGHT);
    let range = asked.from.as_ref().map_or(Instant::MIN, midnight)
        ..asked.until.as_ref().map_or(Instant::MAX, midnight);
    let mut writer =
        Writer { asked, zone: &zone, range, exclusions: Vec::new(), recurring: 0, too_much: false };
    for event in &reader.events {
        writer.write(event, &mut reader.notes);
        if writer.too_much {
            break;
        }
    }
    let Writer { exclusions, too_much, .. } = writer;
    let Notes { notes, more } = reader.notes;
    Imported {
        zone,
        exclusions,
        notes,
        more_notes: more,
        digest: format!("sha256:{digest}"),
        too_much,
    }
}

#[derive(Default)]
struct Notes {
    notes: Vec<Note>,
    more: usize,
}

impl Notes {
    fn add(&mut self, line: usize, property: &str, detail: String) {
        if self.notes.len() < MOST_NOTES {
            self.notes.push(Note { line, property: property.to_owned(), detail });
        } else {
            self.more += 1;
        }
    }
}

/// An event as it stands in the file.
#[derive(Default)]
struct Event {
    line: usize,
    reason: Option<String>,
    single: BTreeMap<&'static str, Line>,
    rules: Vec<Line>,
    added: Vec<Line>,
    left_out: Vec<Line>,
    cancelled: bool,
}

#[derive(Default)]
struct Reader {
    /// The components around a line, each with the line on which it begins.
    open: Vec<(usize, String)>,
    event: Event,
    events: Vec<Event>,
    /// The zone of the calendar, and on which line it stands.
    zone: Option<(usize, String)>,
    notes: Notes,
}

/// What an event may say without a bearing on when it is.
const HARMLESS: [&str; 19] = [
    "UID",
    "DTSTAMP",
    "CREATED",
    "LAST-MODIFIED",
    "SEQUENCE",
    "DESCRIPTION",
    "LOCATION",
    "CLASS",
    "CATEGORIES",
    "PRIORITY",
    "URL",
    "ORGANIZER",
    "ATTENDEE",
    "GEO",
    "COMMENT",
    "CONTACT",
    "TRANSP",
    "ATTACH",
    "COLOR",
];

impl Reader {
    fn take(&mut self, line: Line) {
        let within = |name: &str| self.open.last().is_some_and(|(_, open)| open == name);
        let value = line.value.as_deref().unwrap_or_default();
        match line.name.as_str() {
            "BEGIN" => {
                let name = value.to_ascii_uppercase();
                match name.as_str() {
                    "VEVENT" => self.event = Event { line: line.number, ..Event::default() },
                    "VTODO" | "VJOURNAL" | "VFREEBUSY" => {
                        let detail = "only events are read, and this is left out".into();
                        self.notes.add(line.number, &name, detail);
                    }
                    _ => {}
                }
                // Deeper than any calendar; what is lost is only who is told of a missing end.
                if self.open.len() < 16 {
                    self.open.push((line.number, name));
                }
            }
            "END" => {
                let name = value.to_ascii_uppercase();
                if within("VEVENT") && name == "VEVENT" {
                    self.events.push(std::mem::take(&mut self.event));
                }
                if within(&name) {
                    self.open.pop();
                } else {
                    self.notes.add(line.number, "END", format!("no {name:?} has begun here"));
                }
            }
            "X-WR-TIMEZONE" if within("VCALENDAR") => {
                self.zone = Some((line.number, value.to_owned()));
            }
            _ if within("VEVENT") => self.property(line),
            _ if self.open.is_empty() => {
                let detail = "this is no part of a calendar, which begins with BEGIN:VCALENDAR";
                self.notes.add(line.number, &line.name, detail.into());
            }
            _ => {}
        }
    }

    fn property(&mut self, line: Line) {
        let singles = ["DTSTART", "DTEND", "DURATION"];
        let value = line.value.as_deref();
        match line.name.as_str() {
            "SUMMARY" => self.event.reason = value.map(lines::text).filter(|text| !text.is_empty()),
            "STATUS" => self.event.cancelled = value == Some("CANCELLED"),
            "RRULE" => self.event.rules.push(line),
            "RDATE" => self.event.added.push(line),
            "EXDATE" => self.event.left_out.push(line),
            "RECURRENCE-ID" => self.notes.add(
                line.number,
                "RECURRENCE-ID",
                "this changes one occurrence of another event; both are excluded".into(),
            ),
            name => match singles.into_iter().find(|single| *single == name) {
                Some(single) => {
                    let number = line.number;
                    if self.event.single.insert(single, line).is_some() {
                        let detail = "it stands there twice, and the last one counts".into();
                        self.notes.add(number, single, detail);
                    }
                }
                None if HARMLESS.contains(&name) || name.starts_with("X-") => {}
                None => self.notes.add(
                    line.number,
                    &line.name,
                    "this is not understood, and left out".into(),
                ),
            },
        }
    }
}

struct Writer<'a> {
    asked: &'a Asked,
    zone: &'a Zone,
    range: Range<Instant>,
    exclusions: Vec<policy::Exclusion>,
    recurring: usize,
    too_much: bool,
}

/// When an event begins, and how long it lasts in seconds; days count as 24 hours.
struct Lasting<'a> {
    line: &'a Line,
    start: Moment,
    seconds: i64,
}

impl Writer<'_> {
    fn write(&mut self, event: &Event, notes: &mut Notes) {
        if event.cancelled {
            return notes.add(event.line, "STATUS", "the event is cancelled, and left out".into());
        }
        let lasting = match self.lasting(event) {
            Ok(lasting) => lasting,
            Err((line, property, detail)) => {
                return notes.add(line, property, format!("{detail}; the event is left out"));
            }
        };
        if self.recurs(event, &lasting, notes) {
            return;
        }
        let left_out = self.listed(&event.left_out, notes);
        let mut starts = BTreeSet::from([lasting.start.instant(self.zone)]);
        starts.extend(self.listed(&event.added, notes).iter().map(|one| one.instant(self.zone)));
        for rule in &event.rules {
            match read_rule(&lasting, rule) {
                Err(detail) => {
                    let detail = format!("{detail}; only the first occurrence is excluded");
                    notes.add(rule.number, "RRULE", detail);
                }
                Ok(read) => self.follow(&read, rule, &lasting, left_out.len(), &mut starts, notes),
            }
        }
        let mut days = BTreeSet::new();
        let mut instants = BTreeSet::new();
        for one in &left_out {
            match one {
                Moment::Day(date) => drop(days.insert(*date)),
                Moment::Time(..) => drop(instants.insert(one.instant(self.zone))),
            }
        }
        // A day that is left out is one of the zone in which the event is written.
        let zone = match &lasting.start {
            Moment::Day(_) => self.zone,
            Moment::Time(_, _, zone) => zone,
        };
        let gone =
            |start: &Instant| instants.contains(start) || days.contains(&zone.date_of(*start));
        let starts: Vec<Instant> = starts.into_iter().filter(|start| !gone(start)).collect();
        for start in starts {
            self.add(start, &lasting, event.reason.as_ref());
        }
    }

    /// When it begins and how long it lasts, or which line is in the way.
    fn lasting<'a>(&self, event: &'a Event) -> Result<Lasting<'a>, (usize, &'static str, String)> {
        let Some(line) = event.single.get("DTSTART") else {
            return Err((event.line, "VEVENT", "DTSTART is missing".into()));
        };
        let read = |property: &'static str, line: &Line| {
            let found = moment::moments(line, self.zone);
            found
                .and_then(|found| found.into_iter().next().ok_or_else(|| "it is empty".into()))
                .map_err(|detail| (line.number, property, detail))
        };
        let start = read("DTSTART", line)?;
        let utc = Zone::utc();
        let seconds = match (event.single.get("DTEND"), event.single.get("DURATION")) {
            (Some(end), _) => {
                let wrong = |detail: &str| (end.number, "DTEND", detail.to_owned());
                match (&start, read("DTEND", end)?) {
                    // A day is a day whatever clocks do.
                    (Moment::Day(_), last @ Moment::Day(_))
                    | (Moment::Time(..), last @ Moment::Time(..)) => {
                        last.instant(&utc).unix() - start.instant(&utc).unix()
                    }
                    _ => return Err(wrong("DTSTART and DTEND are not both dates or both times")),
                }
            }
            (None, Some(line)) => moment::duration(line.value.as_deref().unwrap_or_default())
                .map_err(|detail| (line.number, "DURATION", detail))?,
            (None, None) if matches!(start, Moment::Day(_)) => DAY,
            (None, None) => 0,
        };
        let whole = matches!(start, Moment::Time(..)) || seconds % DAY == 0;
        match event.single.get("DTEND").or(event.single.get("DURATION")) {
            Some(end) if seconds <= 0 => {
                Err((end.number, "DTEND", "it is not after DTSTART".into()))
            }
            Some(end) if !whole => Err((end.number, "DURATION", "days last whole days".into())),
            None if seconds == 0 => Err((
                line.number,
                "DTSTART",
                "neither DTEND nor DURATION says how long it lasts".into(),
            )),
            _ => Ok(Lasting { line, start, seconds }),
        }
    }

    /// Writes an event as a recurrence of a policy, if one says exactly that.
    fn recurs(&mut self, event: &Event, lasting: &Lasting<'_>, notes: &mut Notes) -> bool {
        let [rule] = event.rules.as_slice() else { return false };
        let here = match &lasting.start {
            // Several days are no number of hours where clocks change.
            Moment::Day(_) => lasting.seconds == DAY,
            Moment::Time(_, time, zone) => zone == self.zone && time.seconds() % 60 == 0,
        };
        let free =
            event.added.is_empty() && event.left_out.is_empty() && self.asked.until.is_none();
        let length = u32::try_from(lasting.seconds).ok();
        let length = length.filter(|seconds| *seconds <= format::LONGEST_WINDOW);
        let wanted = self.asked.form == Form::Exclusions && self.recurring < MOST_RECURRING;
        let (true, Some(length)) = (here && free && wanted, length) else { return false };
        let Ok(read) = read_rule(lasting, rule) else { return false };
        let Ok(lowered) = read.recurrence() else { return false };
        // The first occurrence counts also where the rule does not hit it.
        let first = lasting.start.instant(self.zone);
        let windows =
            Windows::from_rrule(&read, TimeOfDay::MIDNIGHT, Length::Elapsed(1), self.zone.clone());
        let hits = |windows: Windows| windows.next_start(first.saturating_add(-1)) == Some(first);
        if !windows.is_ok_and(hits) {
            return false;
        }
        let recurrence = convert::on_the_wire(&lowered.recurrence);
        let interval = |every: Option<i32>| every.is_some_and(|every| every > 1);
        let date = recurrence.monthly.as_ref().and_then(|monthly| monthly.date.as_ref());
        let day = recurrence.monthly.as_ref().and_then(|monthly| monthly.day.as_ref());
        // What has an interval may meet another only after years, which a policy does not allow of everything (TIME-14).
        if interval(recurrence.daily.as_ref().and_then(|daily| daily.interval))
            || interval(recurrence.weekly.as_ref().and_then(|weekly| weekly.interval))
            || interval(date.and_then(|date| date.interval))
            || interval(day.and_then(|day| day.interval))
        {
            return false;
        }
        if let Some(begins) = lowered.begins {
            let detail = format!("a recurrence has no first day: it excludes before {begins} too");
            notes.add(lasting.line.number, "DTSTART", detail);
        }
        let whole_day = matches!(lasting.start, Moment::Day(_)) && lasting.seconds == DAY;
        let start_time = match &lasting.start {
            Moment::Time(_, time, _) if *time != TimeOfDay::MIDNIGHT => Some(time.to_string()),
            _ => None,
        };
        self.recurring += 1;
        self.push(policy::Exclusion {
            recurrence: Some(recurrence),
            start_time,
            duration: (!whole_day).then(|| format::duration_text(length)),
            reason: event.reason.clone(),
            ..policy::Exclusion::default()
        });
        true
    }

    /// Adds the starts of a rule, no further than anybody can use them.
    fn follow(
        &self,
        read: &Rrule,
        rule: &Line,
        lasting: &Lasting<'_>,
        left_out: usize,
        starts: &mut BTreeSet<Instant>,
        notes: &mut Notes,
    ) {
        let windows =
            Windows::from_rrule(read, TimeOfDay::MIDNIGHT, Length::Elapsed(1), self.zone.clone());
        let Ok(windows) = windows else {
            return notes.add(rule.number, "RRULE", "it never fires".into());
        };
        let first = lasting.start.instant(self.zone);
        let until = if self.asked.until.is_some() {
            self.range.end
        } else {
            first.max(self.range.start).saturating_add(WRITTEN_OUT * DAY)
        };
        let earliest = self.range.start.saturating_add(-lasting.seconds);
        let mut at = first.max(earliest).saturating_add(-1);
        let most = MOST + 1 + left_out;
        for _ in 0..most {
            match windows.next_start(at) {
                Some(start) if start < until => {
                    starts.insert(start);
                    at = start;
                }
                Some(_) if self.asked.until.is_none() => {
                    let end = self.zone.date_of(until);
                    let detail = format!(
                        "no recurrence of a policy says this: it is written out until {end}; --until chooses another day"
                    );
                    return notes.add(rule.number, "RRULE", detail);
                }
                _ => return,
            }
        }
    }

    /// The moments that lines list.
    fn listed(&self, lines: &[Line], notes: &mut Notes) -> Vec<Moment> {
        let mut all = Vec::new();
        for line in lines {
            match moment::moments(line, self.zone) {
                Ok(found) => all.extend(found),
                Err(detail) => {
                    notes.add(line.number, &line.name, format!("{detail}; the line is left out"));
                }
            }
        }
        all
    }

    fn add(&mut self, start: Instant, lasting: &Lasting<'_>, reason: Option<&String>) {
        let date = self.zone.date_of(start);
        let (end, until) = match lasting.start {
            Moment::Time(..) => (start.saturating_add(lasting.seconds), None),
            Moment::Day(_) => {
                let days = i32::try_from(lasting.seconds / DAY).unwrap_or(i32::MAX);
                let until = date.days_since_epoch().saturating_add(days);
                let until = Date::from_days_since_epoch(until).unwrap_or(date.tomorrow());
                (self.zone.first_instant_of(until, TimeOfDay::MIDNIGHT), Some(until))
            }
        };
        if end <= self.range.start || self.range.end <= start {
            return;
        }
        let mut exclusion = policy::Exclusion { reason: reason.cloned(), ..Default::default() };
        if let Some(until) = until.filter(|_| self.asked.form == Form::Exclusions) {
            exclusion.from_date = Some(date.to_string());
            let one_day = until == date.tomorrow();
            exclusion.until_date = (!one_day).then(|| until.to_string());
        } else {
            exclusion.from = Some(start.to_string());
            exclusion.until = Some(end.to_string());
        }
        self.push(exclusion);
    }

    fn push(&mut self, exclusion: policy::Exclusion) {
        if self.exclusions.len() < MOST {
            self.exclusions.push(exclusion);
        } else {
            self.too_much = true;
        }
    }
}

/// A rule beside the start of its event, as the engine reads both.
fn read_rule(lasting: &Lasting<'_>, rule: &Line) -> Result<Rrule, String> {
    let said = |line: &Line| line.value.clone().ok_or("the line is longer than 64 KiB");
    let parameters = ["VALUE", "TZID"]
        .into_iter()
        .filter_map(|name| Some(format!(";{name}={}", lasting.line.parameter(name)?)));
    let parameters: String = parameters.collect();
    let parameters = match &lasting.start {
        // A date is often written without saying that it is one.
        Moment::Day(_) => ";VALUE=DATE".to_owned(),
        Moment::Time(..) => parameters,
    };
    let text = format!("DTSTART{parameters}:{}\nRRULE:{}", said(lasting.line)?, said(rule)?);
    Rrule::parse(&text).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests;
