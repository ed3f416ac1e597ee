//! Every way a rule can be wrong, and the byte it is wrong at (TIME-13).

use crate::{Error, Rrule};

/// The text is refused, at the place where the marker `^` stands in it, with a message that has these words.
#[track_caller]
fn refused(marked: &str, kind: fn(&Error) -> bool, words: &str) {
    let position = marked.find('^').expect("a marker");
    let text = marked.replacen('^', "", 1);
    let error = Rrule::parse(&text).expect_err(&text);
    assert!(error.to_string().contains(words), "{text:?}: {error}");
    assert_eq!(error.position(), Some(position), "{text:?}: {error}");
    assert!(kind(&error), "{text:?}: {error:?}");
}

#[test]
fn parts_that_cannot_be_honoured_are_refused_by_name_and_position() {
    for (marked, words) in [
        ("FREQ=^HOURLY", "FREQ=HOURLY"),
        ("FREQ=^minutely;INTERVAL=5", "FREQ=MINUTELY"),
        ("RRULE:FREQ=^SECONDLY", "FREQ=SECONDLY"),
        ("FREQ=DAILY;^BYHOUR=9,17", "BYHOUR"),
        ("FREQ=DAILY;^BYMINUTE=0", "BYMINUTE"),
        ("FREQ=DAILY;^bysecond=0", "BYSECOND"),
        ("FREQ=YEARLY;^BYWEEKNO=20;BYDAY=MO", "BYWEEKNO"),
        ("FREQ=YEARLY;^BYYEARDAY=1", "BYYEARDAY"),
        ("^RSCALE=CHINESE;FREQ=YEARLY", "RSCALE"),
        ("FREQ=YEARLY;^SKIP=FORWARD", "SKIP"),
        ("DTSTART:19970902T090000\nRRULE:FREQ=DAILY\n^RDATE:19970903T090000", "RDATE"),
        ("DTSTART:19970902T090000\r\nRRULE:FREQ=DAILY\r\n^EXDATE:19970903T090000\r\n", "EXDATE"),
        ("^EXRULE:FREQ=DAILY", "EXRULE"),
        ("^DTEND:19970903T090000\nRRULE:FREQ=DAILY", "DTEND"),
        ("RRULE;^X-FOO=1:FREQ=DAILY", "X-FOO"),
        ("DTSTART;^RANGE=THISANDFUTURE:19970902\nRRULE:FREQ=DAILY", "RANGE"),
        ("DTSTART;VALUE=^PERIOD:19970902\nRRULE:FREQ=DAILY", "PERIOD"),
    ] {
        refused(marked, Error::is_unsupported, words);
    }
}

#[test]
fn what_is_no_rule_is_refused_where_it_goes_wrong() {
    for (marked, words) in [
        ("^", "expected a rule"),
        ("^\n\n", "expected a rule"),
        ("^banana", "neither a rule"),
        ("^VEVENT:x", "neither a rule"),
        ("^ FREQ=DAILY", "is not a part"),
        ("FREQ=^FORTNIGHTLY", "not a frequency"),
        ("FREQ=^DAILY ", "not a frequency"),
        ("^INTERVAL=2", "no FREQ"),
        ("RRULE:^", "a part is missing"),
        ("RRULE^", "expected `:`"),
        ("FREQ=DAILY;^", "a part is missing"),
        ("FREQ=DAILY;^;COUNT=2", "a part is missing"),
        ("FREQ=DAILY;^COUNT", "no value"),
        ("FREQ=DAILY;COUNT=^", "no value"),
        ("FREQ=DAILY;^=2", "no name"),
        ("FREQ=^", "no value"),
        ("FREQ=DAILY;^BYEASTER=0", "`BYEASTER` is not a part"),
        ("FREQ=DAILY;^DTSTART=19700101", "before RRULE"),
        ("FREQ=DAILY;^FREQ=WEEKLY", "a second `FREQ`"),
        ("FREQ=DAILY;COUNT=2;INTERVAL=1;^count=3", "a second `count`"),
        ("RRULE:FREQ=DAILY\n^RRULE:FREQ=WEEKLY", "a second RRULE"),
        ("DTSTART:19970902\n^DTSTART:19970902\nFREQ=DAILY", "a second DTSTART"),
        ("DTSTART:19970902^", "there is no rule"),
        ("DTSTART:19970902\n^\nRRULE:FREQ=DAILY", "expected a rule"),
        ("DTSTART^", "expected `:`"),
        ("DTSTART:^1997-09-02\nFREQ=DAILY", "not a date"),
        ("DTSTART:^19970902T09\nFREQ=DAILY", "not a date"),
        ("DTSTART:^19970902T090000X\nFREQ=DAILY", "not a date"),
        ("DTSTART:^+9970902\nFREQ=DAILY", "not a date"),
        ("DTSTART;VALUE=DATE:^19970902T090000\nFREQ=DAILY", "is not a DATE"),
        ("DTSTART;VALUE=DATE-TIME:^19970902\nFREQ=DAILY", "is not a DATE-TIME"),
        ("DTSTART;^TZID=Europe/Berlin:19970902T090000Z\nFREQ=DAILY", "has no TZID"),
        ("DTSTART;^TZID=Europe/Berlin:19970902\nFREQ=DAILY", "has no TZID"),
        ("DTSTART;TZID=UTC;^TZID=UTC:19970902T090000\nFREQ=DAILY", "a second `TZID`"),
        ("DTSTART;^TZID:19970902T090000\nFREQ=DAILY", "not a parameter"),
        ("FREQ=DAILY;INTERVAL=^two", "not a number"),
        ("FREQ=DAILY;INTERVAL=^1.5", "not a number"),
        ("FREQ=WEEKLY;BYDAY=^", "no value"),
        ("FREQ=WEEKLY;BYDAY=MO,^", "not a weekday"),
        ("FREQ=WEEKLY;BYDAY=MO,^,TU", "not a weekday"),
        ("FREQ=WEEKLY;BYDAY=^MON", "not a weekday"),
        ("FREQ=MONTHLY;BYDAY=^--1MO", "not a number"),
        ("FREQ=MONTHLY;BYDAY=1^XX", "not a weekday"),
        ("FREQ=WEEKLY;WKST=^1MO", "not a weekday"),
        ("FREQ=MONTHLY;BYMONTHDAY=1,^x", "not a number"),
        ("FREQ=MONTHLY;BYMONTHDAY=^-", "not a number"),
        ("FREQ=DAILY\n^BYDAY=MO", "a second RRULE"),
        ("FREQ=DAILY;UNTIL=^tomorrow", "not a date"),
        ("FREQ=WEEKLY;BYDAY=^ＭＯ", "expected ASCII"),
        ("FREQ=DAILY;COUNT=^\u{0}", "not a number"),
    ] {
        refused(marked, Error::is_syntax, words);
    }
}

#[test]
fn values_outside_their_range_are_refused() {
    for (marked, words) in [
        ("FREQ=DAILY;INTERVAL=^0", "between 1 and 9999"),
        ("FREQ=DAILY;INTERVAL=^10000", "between 1 and 9999"),
        ("FREQ=DAILY;INTERVAL=^-1", "between 1 and 9999"),
        ("FREQ=DAILY;INTERVAL=^+1", "between 1 and 9999"),
        ("FREQ=DAILY;COUNT=^0", "between 1 and"),
        ("FREQ=DAILY;COUNT=^99999999999999999999999", "between 1 and"),
        ("FREQ=YEARLY;BYMONTH=1,^13", "between 1 and 12"),
        ("FREQ=YEARLY;BYMONTH=^0", "between 1 and 12"),
        ("FREQ=YEARLY;BYMONTH=^-1", "between 1 and 12"),
        ("FREQ=MONTHLY;BYMONTHDAY=^0", "between 1 and 31"),
        ("FREQ=MONTHLY;BYMONTHDAY=31,^32", "between 1 and 31"),
        ("FREQ=MONTHLY;BYMONTHDAY=^-32", "between 1 and 31"),
        ("FREQ=MONTHLY;BYDAY=MO;BYSETPOS=^0", "between 1 and 366"),
        ("FREQ=MONTHLY;BYDAY=MO;BYSETPOS=^367", "between 1 and 366"),
        ("FREQ=MONTHLY;BYSETPOS=^1", "another part"),
        ("FREQ=MONTHLY;BYDAY=^0MO", "1 to 5"),
        ("FREQ=MONTHLY;BYDAY=^6MO", "1 to 5"),
        ("FREQ=MONTHLY;BYDAY=1MO,^-6MO", "1 to 5"),
        ("FREQ=YEARLY;BYMONTH=2;BYDAY=^6MO", "1 to 5"),
        ("FREQ=YEARLY;BYDAY=^54MO", "1 to 53"),
        ("FREQ=YEARLY;BYDAY=^-54MO", "1 to 53"),
        ("FREQ=WEEKLY;BYDAY=MO,^1TU", "FREQ=WEEKLY has not"),
        ("FREQ=DAILY;BYDAY=^-1FR", "FREQ=DAILY has not"),
        ("FREQ=WEEKLY;BYMONTHDAY=^1", "no meaning with FREQ=WEEKLY"),
        ("FREQ=DAILY;COUNT=2;UNTIL=^20300101", "a rule has one end"),
        ("FREQ=DAILY;UNTIL=20300101;COUNT=^2", "a rule has one end"),
        ("DTSTART:^19970230\nFREQ=DAILY", "has no day 30"),
        ("DTSTART:^00000101\nFREQ=DAILY", "year 0"),
        ("DTSTART:19970902T^240000\nFREQ=DAILY", "hours go to 23"),
        ("DTSTART:19970902T^235960\nFREQ=DAILY", "seconds to 59"),
        ("FREQ=DAILY;UNTIL=^20251301", "not a month"),
        ("DTSTART:20260102\nRRULE:FREQ=DAILY;UNTIL=^20260101", "before DTSTART"),
        ("DTSTART:20260102T090000Z\nRRULE:FREQ=DAILY;UNTIL=^20260102T085959Z", "before DTSTART"),
        ("DTSTART:20260102T090000\nRRULE:FREQ=DAILY;UNTIL=^20260102T085959", "before DTSTART"),
        (
            "DTSTART;TZID=Asia/Tokyo:20260102T090000\nRRULE:FREQ=DAILY;UNTIL=^20260101T235959Z",
            "before DTSTART",
        ),
        ("DTSTART:20260102T090000\nRRULE:FREQ=DAILY;UNTIL=^20270102T090000Z", "must have none"),
        ("DTSTART:20260102T090000Z\nRRULE:FREQ=DAILY;UNTIL=^20270102T090000", "in UTC"),
        ("DTSTART:20260102\nRRULE:FREQ=DAILY;UNTIL=^20270102T090000Z", "must be one"),
        ("FREQ=DAILY;UNTIL=^20270102T090000", "a date or in UTC"),
    ] {
        refused(marked, Error::is_range, words);
    }
    let long = format!("FREQ=WEEKLY;BYDAY=MO{}", ",MO".repeat(30_000));
    let error = Rrule::parse(&long).unwrap_err();
    assert_eq!((error.is_range(), error.position()), (true, Some(65_536)));
}

#[test]
fn unknown_zones_are_refused_and_never_read_as_utc() {
    for (marked, words) in [
        ("DTSTART;TZID=^Mars/Base:20260102T090000\nFREQ=DAILY", "`Mars/Base`"),
        ("DTSTART;TZID=\"^Mars:Base\":20260102T090000\nFREQ=DAILY", "`Mars:Base`"),
        ("DTSTART;TZID=^:20260102T090000\nFREQ=DAILY", "``"),
        ("DTSTART;TZID=^/example.com/Berlin:20260102T090000\nFREQ=DAILY", "/example.com"),
    ] {
        refused(marked, Error::is_unknown_zone, words);
    }
}

#[test]
fn positions_are_those_of_the_folded_text() {
    for marked in [
        "DTSTART:19970902T090000\r\nRRULE:FREQ=DA\r\n ILY;INT\r\n\tERVAL=^0",
        "RRULE:FREQ=DAILY;\n ^BYHOUR=1",
        "RRULE:FREQ=DAILY;\r\n ^BYHOUR\r\n =1",
        "RR\n ULE:FREQ=^H\n OURLY",
        "DTSTA\n RT:19970902T090000\nRRULE:FREQ=DAILY;INTERVAL=\n ^0",
    ] {
        let position = marked.find('^').unwrap();
        let error = Rrule::parse(&marked.replacen('^', "", 1)).unwrap_err();
        assert_eq!(error.position(), Some(position), "{marked:?}: {error}");
    }
}

#[test]
fn spelling_that_the_standard_leaves_free_is_accepted() {
    let canonical = "DTSTART;TZID=America/New_York:19970902T090000\nRRULE:FREQ=WEEKLY;COUNT=10;WKST=SU;BYDAY=TU,TH";
    for text in [
        "DTSTART;TZID=America/New_York:19970902T090000\r\nRRULE:FREQ=WEEKLY;COUNT=10;WKST=SU;BYDAY=TU,TH\r\n",
        "dtstart;tzid=America/New_York:19970902t090000\nrrule:freq=weekly;count=10;wkst=su;byday=tu,th",
        "RRULE:BYDAY=TU,TH;WKST=SU;COUNT=010;FREQ=WEEKLY\nDTSTART;VALUE=DATE-TIME;TZID=\"America/New_York\":19970902T090000",
        "DTSTART;TZID=America/\r\n New_York:19970902T090000\r\nRRULE:FREQ=WEEKLY;COUNT=10;\r\n WKST=SU;BYDAY=T\r\n\tU,TH",
        "DTSTART;TZID=America/New_York:19970902T090000\nFREQ=WEEKLY;COUNT=10;WKST=SU;BYDAY=TU,TH\n\n",
    ] {
        let rule = Rrule::parse(text).unwrap_or_else(|error| panic!("{text:?}: {error}"));
        assert_eq!(rule.to_string(), canonical);
        assert_eq!(rule, Rrule::parse(canonical).unwrap());
    }
    let signs = Rrule::parse("FREQ=MONTHLY;BYMONTHDAY=+1,-1;BYDAY=+2MO").unwrap();
    assert_eq!(signs.to_string(), "FREQ=MONTHLY;BYDAY=2MO;BYMONTHDAY=1,-1");
    let date = Rrule::parse("DTSTART:19700101\nRRULE:FREQ=DAILY").unwrap();
    assert_eq!(date.to_string(), "DTSTART;VALUE=DATE:19700101\nRRULE:FREQ=DAILY");
}
