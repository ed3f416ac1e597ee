use super::*;

#[test]
fn durations_are_read_as_kubernetes_writes_them() {
    let check = |text: &str, seconds: u32| assert_eq!(duration(text), Ok(seconds), "{text}");
    check("8h", 8 * 3600);
    check("8h0m0s", 8 * 3600);
    check("1h30m", 5400);
    check("90m", 5400);
    check("1.5h", 5400);
    check(".5h", 1800);
    check("45s", 45);
    check("+1h", 3600);
    check("2000ms", 2);
    check("8784h", LONGEST_WINDOW);
}

#[test]
fn durations_that_cannot_be_are_refused_with_the_reason() {
    let check = |text: &str, detail: &str| {
        let flaw = duration(text).unwrap_err();
        assert!(flaw.detail.contains(detail), "{text}: {}", flaw.detail);
        assert!(!flaw.hint.is_empty());
    };
    check("-1h", "negative");
    check("1d", "unit \"d\"");
    check("2w", "unit \"w\"");
    check("99999h", "longer than 366 days");
    check("8784h1s", "longer than 366 days");
    check("99999999999999999999999h", "longer than 366 days");
    check("0s", "zero");
    check("0h0m", "zero");
    check("1500ms", "fraction of a second");
    check("8", "without a unit");
    check("", "not a duration");
    check("h", "not a duration");
    check("1.2.3h", "not a duration");
    check("8 h", "unit \" h\"");
    check("8hours", "unit \"hours\"");
    check("PT8H", "not a duration");
}

#[test]
fn durations_are_written_shortest() {
    let check = |seconds: u32, text: &str| assert_eq!(duration_text(seconds), text);
    check(8 * 3600, "8h");
    check(5400, "1h30m");
    check(45, "45s");
    check(86_400, "24h");
}

#[test]
fn times_and_dates_that_do_not_exist_are_refused() {
    let check = |format: &str, text: &str, detail: &str| {
        let flaw = super::check(format, text).unwrap_err();
        assert!(flaw.detail.contains(detail), "{format} {text}: {}", flaw.detail);
    };
    check("time-of-day", "24:00", "no time of day 24:00");
    check("time-of-day", "7:00", "not a time of day");
    check("time-of-day", "20:60", "no time of day");
    check("time-of-day", "20:00:00", "not a time of day");
    check("time-of-day", "20h00", "not a time of day");
    check("date", "2025-02-30", "no day 2025-02-30");
    check("date", "2025-02-29", "no day");
    check("date", "2025-13-01", "no day");
    check("date", "24.12.2026", "not a date");
    check("date", "2025-1-1", "not a date");
    check("time-zone", "Mars/Base", "no time zone \"Mars/Base\"");
    check("time-zone", "", "no time zone");
    check("time-zone", "+01:00", "no time zone");
    check("date-time", "tomorrow", "not an instant");
    check("dns-subdomain", "Weekend", "not a name");
    check("dns-subdomain", "-a", "not a name");
    check("dns-subdomain", &"a".repeat(254), "not a name");
    check("dns-label", "a.b", "not a name");
}

#[test]
fn what_is_spelled_right_passes() {
    let check = |format: &str, text: &str| assert_eq!(super::check(format, text), Ok(()), "{text}");
    check("time-of-day", "00:00");
    check("time-of-day", "23:59");
    check("date", "2024-02-29");
    check("time-zone", "Europe/Berlin");
    check("time-zone", "UTC");
    check("date-time", "2026-11-15T00:00:00Z");
    check("dns-subdomain", "weekend.berlin-1");
    check("int32", "formats that are not ours hold for every text");
}
