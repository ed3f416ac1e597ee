//! Do the examples of RFC 5545, section 3.8.5.3, hold? (TIME-13)
//!
//! Every example that stays within TIME-13 is listed with the occurrences the RFC prints; every other one must be refused, by
//! name and at its byte. All are in the RFC's own zone, `America/New_York`, and most cross a change of its clocks.

use schedule::{Instant, Rrule};

use crate::engine::{at, windows_of_rrule, zone};

/// Occurrences are `YYYY-MM-DD`, a bare `DD` stays in the month before it, `MM-DD` in the year before it. `...` ends a list that
/// goes on; without it there must be no further occurrence.
fn check(dtstart: &str, rule: &str, expect: &str) {
    let text = format!("DTSTART;TZID=America/New_York:{dtstart}\nRRULE:{rule}");
    let parsed = Rrule::parse(&text).unwrap_or_else(|error| panic!("{text}: {error}"));
    let windows = windows_of_rrule(&parsed, 3_600);
    let new_york = zone("America/New_York");
    let mut cursor = at("1900-01-01T00:00:00Z");
    let mut next = || {
        let start = windows.next_start(cursor)?;
        cursor = start;
        assert_eq!(new_york.time_of(start).to_string(), "09:00", "{text}: {start}");
        Some(new_york.date_of(start).to_string())
    };
    let mut previous = String::new();
    for word in expect.split_whitespace() {
        if word == "..." {
            return;
        }
        let date = format!("{}{word}", &previous[..previous.len().saturating_sub(word.len())]);
        assert_eq!(next().as_deref(), Some(date.as_str()), "{text}");
        previous = date;
    }
    assert_eq!(next(), None, "{text}: goes on");
}

#[test]
fn daily_examples_hold() {
    check("19970902T090000", "FREQ=DAILY;COUNT=10", "1997-09-02 03 04 05 06 07 08 09 10 11");
    check("19970902T090000", "FREQ=DAILY;INTERVAL=10;COUNT=5", "1997-09-02 12 22 10-02 12");
    check(
        "19970902T090000",
        "FREQ=DAILY;INTERVAL=2",
        "1997-09-02 04 06 08 10 12 14 16 18 20 22 24 26 28 30 10-02 04 06 08 10 12 14 16 18 20 22 24 26 28 30 11-01 03 ...",
    );
    let until_christmas = (0..113).fold(String::new(), |dates, n| {
        let first = jiff::civil::date(1997, 9, 2);
        format!("{dates} {}", first + jiff::Span::new().days(n))
    });
    assert!(until_christmas.ends_with("1997-12-23"));
    check("19970902T090000", "FREQ=DAILY;UNTIL=19971224T000000Z", &until_christmas);
}

#[test]
fn every_day_in_january_holds_both_as_yearly_and_as_daily() {
    let january: String = (1..=31).fold(String::new(), |days, day| format!("{days}{day:02} "));
    let three = ["1998", "1999", "2000"].map(|year| format!("{year}-01-{}", &january)).join(" ");
    check(
        "19980101T090000",
        "FREQ=YEARLY;UNTIL=20000131T140000Z;BYMONTH=1;BYDAY=SU,MO,TU,WE,TH,FR,SA",
        &three,
    );
    check("19980101T090000", "FREQ=DAILY;UNTIL=20000131T140000Z;BYMONTH=1", &three);
}

#[test]
fn weekly_examples_hold() {
    for (start, rule, expect) in [
        ("19970902T090000", "FREQ=WEEKLY;COUNT=10", "1997-09-02 09 16 23 30 10-07 14 21 28 11-04"),
        (
            "19970902T090000",
            "FREQ=WEEKLY;UNTIL=19971224T000000Z",
            "1997-09-02 09 16 23 30 10-07 14 21 28 11-04 11 18 25 12-02 09 16 23",
        ),
        (
            "19970902T090000",
            "FREQ=WEEKLY;INTERVAL=2;WKST=SU",
            "1997-09-02 16 30 10-14 28 11-11 25 12-09 23 1998-01-06 20 02-03 17 ...",
        ),
        (
            "19970902T090000",
            "FREQ=WEEKLY;UNTIL=19971007T000000Z;WKST=SU;BYDAY=TU,TH",
            "1997-09-02 04 09 11 16 18 23 25 30 10-02",
        ),
        (
            "19970902T090000",
            "FREQ=WEEKLY;COUNT=10;WKST=SU;BYDAY=TU,TH",
            "1997-09-02 04 09 11 16 18 23 25 30 10-02",
        ),
        (
            "19970901T090000",
            "FREQ=WEEKLY;INTERVAL=2;UNTIL=19971224T000000Z;WKST=SU;BYDAY=MO,WE,FR",
            "1997-09-01 03 05 15 17 19 29 10-01 03 13 15 17 27 29 31 11-10 12 14 24 26 28 12-08 10 12 22",
        ),
        (
            "19970902T090000",
            "FREQ=WEEKLY;INTERVAL=2;COUNT=8;WKST=SU;BYDAY=TU,TH",
            "1997-09-02 04 16 18 30 10-02 14 16",
        ),
    ] {
        check(start, rule, expect);
    }
}

#[test]
fn monthly_examples_hold() {
    for (start, rule, expect) in [
        (
            "19970905T090000",
            "FREQ=MONTHLY;COUNT=10;BYDAY=1FR",
            "1997-09-05 10-03 11-07 12-05 1998-01-02 02-06 03-06 04-03 05-01 06-05",
        ),
        (
            "19970905T090000",
            "FREQ=MONTHLY;UNTIL=19971224T000000Z;BYDAY=1FR",
            "1997-09-05 10-03 11-07 12-05",
        ),
        (
            "19970907T090000",
            "FREQ=MONTHLY;INTERVAL=2;COUNT=10;BYDAY=1SU,-1SU",
            "1997-09-07 28 11-02 30 1998-01-04 25 03-01 29 05-03 31",
        ),
        (
            "19970922T090000",
            "FREQ=MONTHLY;COUNT=6;BYDAY=-2MO",
            "1997-09-22 10-20 11-17 12-22 1998-01-19 02-16",
        ),
        (
            "19970928T090000",
            "FREQ=MONTHLY;BYMONTHDAY=-3",
            "1997-09-28 10-29 11-28 12-29 1998-01-29 02-26 ...",
        ),
        (
            "19970902T090000",
            "FREQ=MONTHLY;COUNT=10;BYMONTHDAY=2,15",
            "1997-09-02 15 10-02 15 11-02 15 12-02 15 1998-01-02 15",
        ),
        (
            "19970930T090000",
            "FREQ=MONTHLY;COUNT=10;BYMONTHDAY=1,-1",
            "1997-09-30 10-01 31 11-01 30 12-01 31 1998-01-01 31 02-01",
        ),
        (
            "19970910T090000",
            "FREQ=MONTHLY;INTERVAL=18;COUNT=10;BYMONTHDAY=10,11,12,13,14,15",
            "1997-09-10 11 12 13 14 15 1999-03-10 11 12 13",
        ),
        (
            "19970902T090000",
            "FREQ=MONTHLY;INTERVAL=2;BYDAY=TU",
            "1997-09-02 09 16 23 30 11-04 11 18 25 1998-01-06 13 20 27 03-03 10 17 24 31 ...",
        ),
        (
            "19970902T090000",
            "FREQ=MONTHLY;BYDAY=FR;BYMONTHDAY=13",
            "1998-02-13 03-13 11-13 1999-08-13 2000-10-13 ...",
        ),
        (
            "19970913T090000",
            "FREQ=MONTHLY;BYDAY=SA;BYMONTHDAY=7,8,9,10,11,12,13",
            "1997-09-13 10-11 11-08 12-13 1998-01-10 02-07 03-07 04-11 05-09 06-13 ...",
        ),
        (
            "20070115T090000",
            "FREQ=MONTHLY;BYMONTHDAY=15,30;COUNT=5",
            "2007-01-15 30 02-15 03-15 30",
        ),
    ] {
        check(start, rule, expect);
    }
}

#[test]
fn yearly_examples_hold() {
    for (start, rule, expect) in [
        (
            "19970610T090000",
            "FREQ=YEARLY;COUNT=10;BYMONTH=6,7",
            "1997-06-10 07-10 1998-06-10 07-10 1999-06-10 07-10 2000-06-10 07-10 2001-06-10 07-10",
        ),
        (
            "19970310T090000",
            "FREQ=YEARLY;INTERVAL=2;COUNT=10;BYMONTH=1,2,3",
            "1997-03-10 1999-01-10 02-10 03-10 2001-01-10 02-10 03-10 2003-01-10 02-10 03-10",
        ),
        ("19970519T090000", "FREQ=YEARLY;BYDAY=20MO", "1997-05-19 1998-05-18 1999-05-17 ..."),
        (
            "19970313T090000",
            "FREQ=YEARLY;BYMONTH=3;BYDAY=TH",
            "1997-03-13 20 27 1998-03-05 12 19 26 1999-03-04 11 18 25 ...",
        ),
        (
            "19970605T090000",
            "FREQ=YEARLY;BYDAY=TH;BYMONTH=6,7,8",
            "1997-06-05 12 19 26 07-03 10 17 24 31 08-07 14 21 28 1998-06-04 11 18 25 07-02 09 16 23 30 08-06 13 20 27 1999-06-03 ...",
        ),
        (
            "19961105T090000",
            "FREQ=YEARLY;INTERVAL=4;BYMONTH=11;BYDAY=TU;BYMONTHDAY=2,3,4,5,6,7,8",
            "1996-11-05 2000-11-07 2004-11-02 ...",
        ),
    ] {
        check(start, rule, expect);
    }
}

#[test]
fn set_position_examples_hold() {
    check(
        "19970904T090000",
        "FREQ=MONTHLY;COUNT=3;BYDAY=TU,WE,TH;BYSETPOS=3",
        "1997-09-04 10-07 11-06",
    );
    check(
        "19970929T090000",
        "FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-2",
        "1997-09-29 10-30 11-27 12-30 1998-01-29 02-26 03-30 ...",
    );
}

#[test]
fn the_first_day_of_the_week_matters_as_the_examples_say() {
    let rule = "FREQ=WEEKLY;INTERVAL=2;COUNT=4;BYDAY=TU,SU;WKST=";
    check("19970805T090000", &format!("{rule}MO"), "1997-08-05 10 19 24");
    check("19970805T090000", &format!("{rule}SU"), "1997-08-05 17 19 31");
}

#[test]
fn examples_beyond_the_supported_parts_are_refused_by_name_and_position() {
    for (rule, refused) in [
        ("FREQ=YEARLY;INTERVAL=3;COUNT=10;BYYEARDAY=1,100,200", "BYYEARDAY"),
        ("FREQ=YEARLY;BYWEEKNO=20;BYDAY=MO", "BYWEEKNO"),
        ("FREQ=HOURLY;INTERVAL=3;UNTIL=19970902T170000Z", "HOURLY"),
        ("FREQ=MINUTELY;INTERVAL=15;COUNT=6", "MINUTELY"),
        ("FREQ=MINUTELY;INTERVAL=90;COUNT=4", "MINUTELY"),
        ("FREQ=DAILY;BYHOUR=9,10,11,12,13,14,15,16;BYMINUTE=0,20,40", "BYHOUR"),
        ("FREQ=MINUTELY;INTERVAL=20;BYHOUR=9,10,11,12,13,14,15,16", "MINUTELY|BYHOUR"),
    ] {
        for text in [
            rule.to_string(),
            format!("DTSTART;TZID=America/New_York:19970902T090000\nRRULE:{rule}"),
        ] {
            let error = Rrule::parse(&text).expect_err(&text);
            assert!(error.is_unsupported(), "{text}: {error}");
            let position = error.position().expect("a refused part has a position");
            // Where two parts stand in the way either may be named, if it is the one pointed at.
            let pointed_at =
                |name: &str| error.to_string().contains(name) && text[position..].starts_with(name);
            assert!(refused.split('|').any(pointed_at), "{text}: {error}, byte {position}");
        }
    }
}

#[test]
fn an_hour_after_nine_is_still_an_hour_across_the_change_of_clocks() {
    let text = "DTSTART;TZID=America/New_York:19970902T090000\nRRULE:FREQ=DAILY";
    let windows = windows_of_rrule(&Rrule::parse(text).unwrap(), 3_600);
    let next = |from: &str| windows.next_start(at(from)).map(Instant::unix);
    assert_eq!(next("1997-10-25T00:00:00Z"), Some(at("1997-10-25T13:00:00Z").unix()));
    assert_eq!(next("1997-10-26T00:00:00Z"), Some(at("1997-10-26T14:00:00Z").unix()));
}
