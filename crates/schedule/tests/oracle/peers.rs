//! Do the faults of others stay theirs? One row or test for each fault seen in a peer, named after it.
//!
//! The faults were found in public code and threads of the projects named; the expectations are TIME-1 to TIME-12.

use schedule::{
    Date, Exclusion, Instant, Length, Month, Ordinal, Recurrence, Schedule, TimeOfDay, TimeSet,
    Weekday, Windows, Zone,
};

use crate::engine::{at, permitted, time, windows_in_utc, zone};
use Weekday::{Friday, Monday, Saturday, Sunday, Thursday, Tuesday, Wednesday};

const HOUR: u32 = 3_600;

fn weekly(days: &[Weekday]) -> Recurrence {
    Recurrence::weekly(1, days).unwrap()
}

fn windows_in(name: &str, recurrence: &Recurrence, start: &str, length: Length) -> TimeSet {
    permitted(Windows::new(recurrence, time(start), length, zone(name)).unwrap(), &zone(name))
}

/// Instants with whether they are permitted.
fn check(set: &TimeSet, rows: &[(&str, bool)]) {
    for (instant, inside) in rows {
        assert_eq!(set.contains(at(instant)), *inside, "{instant}");
    }
}

/// The stretch inside that holds an instant.
fn check_stretch(set: &TimeSet, instant: &str, start: &str, end: &str) {
    let stretch = set.stretch(at(instant));
    assert!(stretch.inside, "{instant}");
    assert_eq!((stretch.start, stretch.end), (Some(at(start)), Some(at(end))), "{instant}");
}

// 2026-11-13 is a Friday.
#[test]
fn kured_compares_the_weekday_with_today_not_with_the_day_the_window_opened() {
    for length in [Length::Until(time("02:00")), Length::Elapsed(4 * HOUR)] {
        let set = windows_in_utc(&weekly(&[Friday]), "22:00", length);
        check(
            &set,
            &[
                ("2026-11-13T00:30:00Z", false),
                ("2026-11-13T21:59:59Z", false),
                ("2026-11-13T22:00:00Z", true),
                ("2026-11-14T01:00:00Z", true),
                ("2026-11-14T01:59:59Z", true),
                ("2026-11-14T02:00:00Z", false),
                ("2026-11-14T22:30:00Z", false),
            ],
        );
        check_stretch(&set, "2026-11-14T01:00:00Z", "2026-11-13T22:00:00Z", "2026-11-14T02:00:00Z");
    }
}

#[test]
fn argo_cd_shrinks_and_stretches_windows_when_clocks_change() {
    // An hour at 02:00 is an hour on both days; in spring it begins when the gap ends.
    let hour =
        windows_in("Europe/Berlin", &Recurrence::every_day(), "02:00", Length::Elapsed(HOUR));
    check_stretch(&hour, "2026-03-29T01:30:00Z", "2026-03-29T01:00:00Z", "2026-03-29T02:00:00Z");
    check_stretch(&hour, "2026-10-25T00:30:00Z", "2026-10-25T00:00:00Z", "2026-10-25T01:00:00Z");
    check(&hour, &[("2026-10-25T01:00:00Z", false), ("2026-10-25T01:30:00Z", false)]);
    // Eight hours overnight are eight hours on every night.
    let night =
        windows_in("Europe/Berlin", &Recurrence::every_day(), "22:00", Length::Elapsed(8 * HOUR));
    check_stretch(&night, "2026-03-29T01:00:00Z", "2026-03-28T21:00:00Z", "2026-03-29T05:00:00Z");
    check_stretch(&night, "2026-10-25T01:00:00Z", "2026-10-24T20:00:00Z", "2026-10-25T04:00:00Z");
    check_stretch(&night, "2026-11-15T01:00:00Z", "2026-11-14T21:00:00Z", "2026-11-15T05:00:00Z");
    // Who asks for the wall clock gets the wall clock: seven hours in spring, nine in autumn.
    let wall = windows_in(
        "Europe/Berlin",
        &Recurrence::every_day(),
        "22:00",
        Length::Until(time("06:00")),
    );
    check_stretch(&wall, "2026-03-29T01:00:00Z", "2026-03-28T21:00:00Z", "2026-03-29T04:00:00Z");
    check_stretch(&wall, "2026-10-25T01:00:00Z", "2026-10-24T20:00:00Z", "2026-10-25T05:00:00Z");
    check_stretch(&wall, "2026-11-15T01:00:00Z", "2026-11-14T21:00:00Z", "2026-11-15T05:00:00Z");
}

#[test]
fn argo_cd_reads_a_misspelt_zone_as_utc() {
    let error = Zone::named("Europe/Berlim").unwrap_err();
    assert!(error.is_unknown_zone());
    assert!(error.to_string().contains("Europe/Berlim"), "{error}");
}

#[test]
fn argo_cd_takes_the_oldest_open_window_so_until_is_too_early() {
    // Every day at 00:00 for 36 hours: always open, whichever of the two open windows one looks at.
    let set = windows_in_utc(&Recurrence::every_day(), "00:00", Length::Elapsed(36 * HOUR));
    assert!(set.is_always());
    assert_eq!(set.next_change(at("2026-11-15T06:00:00Z")), None);
    // Monday and Tuesday for 36 hours: open until Wednesday noon, on Monday already.
    let set = windows_in_utc(&weekly(&[Monday, Tuesday]), "00:00", Length::Elapsed(36 * HOUR));
    check_stretch(&set, "2026-11-16T06:00:00Z", "2026-11-16T00:00:00Z", "2026-11-18T12:00:00Z");
}

#[test]
fn brupop_keeps_only_the_hours_of_a_window() {
    for length in [Length::Until(time("12:30")), Length::Elapsed(4 * HOUR)] {
        check(
            &windows_in_utc(&Recurrence::every_day(), "08:30", length),
            &[
                ("2026-11-15T08:00:00Z", false),
                ("2026-11-15T08:29:59Z", false),
                ("2026-11-15T08:30:00Z", true),
                ("2026-11-15T12:29:59Z", true),
                ("2026-11-15T12:30:00Z", false),
                ("2026-11-15T12:59:00Z", false),
            ],
        );
    }
}

#[test]
fn karpenter_makes_seven_budgets_where_one_window_is_meant() {
    let hours = ["07:00", "08:00", "09:00", "10:00", "11:00", "12:00", "13:00"];
    let set = hours
        .map(|start| windows_in_utc(&Recurrence::every_day(), start, Length::Elapsed(7 * HOUR)))
        .into_iter()
        .reduce(TimeSet::union)
        .unwrap();
    check_stretch(&set, "2026-11-15T13:30:00Z", "2026-11-15T07:00:00Z", "2026-11-15T20:00:00Z");
    let day = at("2026-11-15T00:00:00Z")..at("2026-11-16T00:00:00Z");
    assert_eq!(set.spans(day).count(), 1);
}

#[test]
fn gke_window_beyond_a_day_on_saturday_and_sunday_runs_into_monday() {
    // 30 hours from each of both days: one stretch, which ends on Monday at 06:00 exactly, as its length says.
    let set = windows_in_utc(&weekly(&[Saturday, Sunday]), "00:00", Length::Elapsed(30 * HOUR));
    check_stretch(&set, "2026-11-15T12:00:00Z", "2026-11-14T00:00:00Z", "2026-11-16T06:00:00Z");
    check(&set, &[("2026-11-16T05:59:59Z", true), ("2026-11-16T06:00:00Z", false)]);
}

#[test]
fn rust_rrule_doubles_and_drops_occurrences_when_clocks_change() {
    let recurrence = Recurrence::every_day();
    let windows =
        Windows::new(&recurrence, time("02:30"), Length::Elapsed(60), zone("Europe/Berlin"))
            .unwrap();
    let mut cursor = at("2026-01-01T00:00:00Z");
    let mut days = Vec::new();
    while let Some(start) = windows.next_start(cursor).filter(|&s| s < at("2027-01-01T00:00:00Z")) {
        days.push(zone("Europe/Berlin").date_of(start).days_since_epoch());
        cursor = start;
    }
    assert_eq!(days.len(), 365);
    assert!(days.windows(2).all(|pair| pair[1] == pair[0] + 1), "a day is doubled or dropped");
}

#[test]
fn rust_rrule_searches_long_for_what_can_never_come() {
    let never = Recurrence::yearly_by_date(Month::February, &[30]).unwrap();
    let windows = Windows::new(&never, time("00:00"), Length::RestOfDay, Zone::utc()).unwrap();
    assert_eq!(windows.next_start(Instant::EPOCH), None);
    let set = permitted(windows, &Zone::utc());
    assert!(set.is_never());
    assert_eq!(set.next_change(Instant::EPOCH), None);
}

#[test]
fn robfig_cron_skips_a_trigger_inside_the_spring_gap() {
    for (name, start, expect) in [
        ("Europe/Berlin", "02:30", "2026-03-29T01:00:00Z"),
        ("America/New_York", "02:00", "2026-03-08T07:00:00Z"),
        ("Asia/Beirut", "00:15", "2026-03-28T22:00:00Z"),
        ("Australia/Lord_Howe", "02:10", "2026-10-03T15:30:00Z"),
    ] {
        let windows =
            Windows::new(&Recurrence::every_day(), time(start), Length::Elapsed(HOUR), zone(name))
                .unwrap();
        let expect = at(expect);
        assert_eq!(windows.next_start(expect.saturating_add(-1)), Some(expect), "{name}");
    }
}

#[test]
fn spinnaker_days_without_hours_never_ran() {
    let set = windows_in_utc(
        &weekly(&[Monday, Tuesday, Wednesday, Thursday, Friday]),
        "00:00",
        Length::RestOfDay,
    );
    check_stretch(&set, "2026-11-18T12:00:00Z", "2026-11-16T00:00:00Z", "2026-11-21T00:00:00Z");
    check(&set, &[("2026-11-15T23:59:59Z", false), ("2026-11-21T00:00:00Z", false)]);
}

#[test]
fn kured_empty_list_of_days_could_mean_none_or_all() {
    assert!(Recurrence::weekly(1, &[]).is_err());
    assert!(Recurrence::monthly_by_date(1, &[]).is_err());
    assert!(Recurrence::monthly_by_day(1, &[]).is_err());
    assert!(Recurrence::yearly_by_date(Month::May, &[]).is_err());
    assert!(Recurrence::yearly_by_day(Month::May, &[]).is_err());
}

#[test]
fn openziti_any_time_swallowed_the_day() {
    // A permit that says nothing more is every whole day, that is, always.
    let set = windows_in_utc(&Recurrence::every_day(), "00:00", Length::RestOfDay);
    assert!(set.is_always());
    assert_eq!(set.stretch(at("2026-11-15T00:00:00Z")).end, None);
}

#[test]
fn teleport_edge_is_inside_at_the_start_and_outside_at_the_end() {
    let set = windows_in_utc(&Recurrence::every_day(), "10:00", Length::Elapsed(1));
    check(
        &set,
        &[
            ("2026-11-15T09:59:59Z", false),
            ("2026-11-15T10:00:00Z", true),
            ("2026-11-15T10:00:01Z", false),
        ],
    );
}

#[test]
fn rebootmgr_opens_one_second_early() {
    let set = windows_in("Europe/Berlin", &weekly(&[Sunday]), "03:30", Length::Elapsed(HOUR));
    check(&set, &[("2026-11-15T02:29:59Z", false), ("2026-11-15T02:30:00Z", true)]);
}

#[test]
fn kured_black_friday_freeze_cuts_the_window_and_lets_it_resume() {
    let windows =
        Windows::new(&weekly(&[Thursday]), time("12:00"), Length::Elapsed(72 * HOUR), Zone::utc());
    let freeze =
        Exclusion::new(Date::parse("2026-11-27").unwrap(), None, Some("Black Friday")).unwrap();
    let set =
        TimeSet::from(Schedule::new(Some(windows.unwrap()), &[freeze], &Zone::utc()).unwrap());
    check_stretch(&set, "2026-11-26T13:00:00Z", "2026-11-26T12:00:00Z", "2026-11-27T00:00:00Z");
    check(&set, &[("2026-11-27T00:00:00Z", false), ("2026-11-27T23:59:59Z", false)]);
    check_stretch(&set, "2026-11-28T13:00:00Z", "2026-11-28T00:00:00Z", "2026-11-29T12:00:00Z");
}

#[test]
fn octopus_third_saturday_of_the_month() {
    let third = Recurrence::monthly_by_day(1, &[(Ordinal::Third, Saturday)]).unwrap();
    let windows = Windows::new(&third, time("00:00"), Length::RestOfDay, Zone::utc()).unwrap();
    assert_eq!(windows.next_start(at("2026-11-15T00:00:00Z")), Some(at("2026-11-21T00:00:00Z")));
    assert_eq!(windows.next_start(at("2026-11-21T00:00:00Z")), Some(at("2026-12-19T00:00:00Z")));
    assert_eq!(
        windows.previous_start(at("2026-11-15T00:00:00Z")),
        Some(at("2026-10-17T00:00:00Z"))
    );
}

// TIME-5: weeks begin on Monday, and week 0 holds the epoch.
#[test]
fn libical_takes_the_opposite_weeks_for_sunday() {
    for (day, first) in [
        (Sunday, "1970-01-04T00:00:00Z"),
        (Thursday, "1970-01-01T00:00:00Z"),
        (Monday, "1970-01-12T00:00:00Z"),
        (Wednesday, "1970-01-14T00:00:00Z"),
    ] {
        let every_other = Recurrence::weekly(2, &[day]).unwrap();
        let windows =
            Windows::new(&every_other, time("00:00"), Length::RestOfDay, Zone::utc()).unwrap();
        assert_eq!(windows.next_start(at("1969-12-31T23:59:59Z")), Some(at(first)), "{day}");
    }
}

#[test]
fn ical_js_rolls_impossible_dates_over() {
    let april = Recurrence::yearly_by_date(Month::April, &[31]).unwrap();
    let set = windows_in_utc(&april, "00:00", Length::RestOfDay);
    assert!(set.is_never());
    check(&set, &[("2026-05-01T12:00:00Z", false), ("2026-04-30T12:00:00Z", false)]);
}

// TIME-6: a date the month does not have gives no occurrence.
#[test]
fn recurring_clamps_the_thirty_first_and_drifts() {
    let last = Recurrence::monthly_by_date(1, &[31]).unwrap();
    let windows = Windows::new(&last, time("00:00"), Length::RestOfDay, Zone::utc()).unwrap();
    let mut cursor = at("2026-01-01T00:00:00Z");
    for expect in [
        "2026-01-31",
        "2026-03-31",
        "2026-05-31",
        "2026-07-31",
        "2026-08-31",
        "2026-10-31",
        "2026-12-31",
    ] {
        let start = windows.next_start(cursor).unwrap();
        assert_eq!(Zone::utc().date_of(start).to_string(), expect);
        cursor = start;
    }
}

#[test]
fn dateutil_hangs_on_an_interval_of_zero() {
    assert!(Recurrence::daily(0).unwrap_err().is_range());
    assert!(Recurrence::daily(731).unwrap_err().is_range());
    assert!(Recurrence::weekly(0, &[Monday]).unwrap_err().is_range());
    assert!(Recurrence::weekly(27, &[Monday]).unwrap_err().is_range());
    assert!(Recurrence::monthly_by_date(0, &[1]).unwrap_err().is_range());
    assert!(Recurrence::monthly_by_date(12, &[1]).unwrap_err().is_range());
    assert!(Recurrence::monthly_by_date(1, &[0]).unwrap_err().is_range());
    assert!(Recurrence::monthly_by_date(1, &[32]).unwrap_err().is_range());
}

// TIME-8 and TIME-15: from one second to 366 days, however impractical.
#[test]
fn cron_users_cannot_write_a_window_of_seconds_or_of_a_year() {
    let windows =
        |length| Windows::new(&Recurrence::every_day(), TimeOfDay::MIDNIGHT, length, Zone::utc());
    assert!(windows(Length::Elapsed(0)).is_err());
    assert!(windows(Length::Elapsed(366 * 86_400 + 1)).is_err());
    assert!(windows(Length::Elapsed(366 * 86_400)).is_ok());
    let new_year = Recurrence::yearly_by_date(Month::January, &[1]).unwrap();
    let second = windows_in_utc(&new_year, "00:00", Length::Elapsed(1));
    assert_eq!(second.next_change(at("2026-01-01T00:00:01Z")), Some(at("2027-01-01T00:00:00Z")));
}
