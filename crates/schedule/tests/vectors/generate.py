"""What does python-dateutil say? Writes `dateutil.txt`, the recorded vectors of the schedule engine.

How to run, from this directory (takes a few minutes, writes `dateutil.txt` beside this file):

    python3 -m venv venv
    venv/bin/pip install python-dateutil==4.0.0
    venv/bin/python generate.py

The seed is fixed, so the same version of dateutil gives the same bytes. Every rule is enumerated once, from its
beginning (structured rules: from a phase-aligned DTSTART in the 1950s, so that windows begun before 1970 are there)
to 2110, merged and clipped by naive code, and then bisected for each instant. Nothing here is shared with the engine.

The file, line by line:

    # comment
    S <shape> <arguments> <HH:MM> <seconds|rest> [<from>/<until> ...]     a structured rule, its windows, its exclusions
    R <DTSTART>|<RRULE> <seconds> [<from>/<until> ...]                    an RFC 5545 rule with the length of its windows
    +<start>+<length> <instant>[><next>] ...                              one stretch inside, with instants asked in it
    -<start>+<length> <instant>[><next>] ...                              one stretch outside, likewise

<start> is in Unix seconds. Instants and next starts are offsets from it; `e` is the offset of the stretch's end and
`e-1` the second before it. `><next>` is the next bare window start
strictly after the instant (exclusions do not matter to it); where it is left out it is that of the instant before.
An edge or a next start can also be `n` (there is none, for ever) or `h` (none between the horizons 1960 and 2110, which
is as far as dateutil was asked). If <start> is `n` or `h` the line reads `+n..<end>`, with the offsets counted
from <end>, or from 0 if that is `n` or `h` too.
"""

import bisect
import datetime as dt
import pathlib
import random
import sys

import dateutil
from dateutil import rrule

SEED = 20261115
PAIRS_WANTED = 440_000
PAIRS_PER_RULE = 106
# Of 100 rules, so many are RFC 5545 rules beyond the structured forms.
RRULES_OF_100 = 35

EPOCH = dt.datetime(1970, 1, 1)
DAY = 86_400
ENUMERATE_FROM = dt.datetime(1958, 6, 1)
LOW = dt.datetime(1960, 1, 1)
HIGH = dt.datetime(2110, 1, 1)


def unix(moment):
    return int((moment - EPOCH).total_seconds())


LOW_S, HIGH_S = unix(LOW), unix(HIGH)
ASK_FROM = unix(dt.datetime(1970, 1, 1))
ASK_UNTIL = unix(dt.datetime(2100, 1, 1))
WEEKDAYS = ["MO", "TU", "WE", "TH", "FR", "SA", "SU"]
DU_DAYS = dict(zip(WEEKDAYS, (rrule.MO, rrule.TU, rrule.WE, rrule.TH, rrule.FR, rrule.SA, rrule.SU)))


# ---------------------------------------------------------------- structured rules


def ordinals(rng, most):
    """Week-of-month days such as 1MO, 5FR, -1SU: fifth and last come often, they are where readings differ."""
    found = set()
    for _ in range(rng.randint(1, most)):
        found.add((rng.choice([1, 2, 3, 4, 5, 5, -1, -1]), rng.choice(WEEKDAYS)))
    return sorted(found, key=lambda pair: (pair[0] % 7, WEEKDAYS.index(pair[1])))


def month_dates(rng):
    """Dates of a month; the 29th to the 31st come often, they are the ones a month may lack."""
    pool = list(range(1, 32)) + [29, 30, 31] * 5
    return sorted({rng.choice(pool) for _ in range(rng.randint(1, 4))})


def structured(rng):
    """A structured rule: its line, and its occurrences as dateutil lists them, phase-aligned to the epoch (TIME-3)."""
    shape = rng.choice(["daily", "weekly", "monthly-date", "monthly-day", "yearly-date", "yearly-day"])
    if shape == "daily":
        n = rng.choice([1, rng.randint(2, 10), rng.randint(2, 60), rng.randint(1, 730), 730])
        back = -(-(EPOCH - ENUMERATE_FROM).days // n) * n
        start = EPOCH - dt.timedelta(days=back)
        return f"daily {n}", rrule.rrule(rrule.DAILY, interval=n, dtstart=start, until=HIGH)
    if shape == "weekly":
        n = rng.choice([1, 2, 2, 3, rng.randint(1, 26), 26])
        days = [d for d in WEEKDAYS if rng.random() < rng.choice([0.2, 0.4, 0.8])] or [rng.choice(WEEKDAYS)]
        monday = EPOCH - dt.timedelta(days=3)
        back = -(-(monday - ENUMERATE_FROM).days // (7 * n)) * 7 * n
        rule = rrule.rrule(
            rrule.WEEKLY,
            interval=n,
            wkst=rrule.MO,
            byweekday=[DU_DAYS[d] for d in days],
            dtstart=monday - dt.timedelta(days=back),
            until=HIGH,
        )
        return f"weekly {n} {','.join(days)}", rule
    if shape in ("monthly-date", "monthly-day"):
        n = rng.choice([1, 1, 2, 3, rng.randint(1, 11), 11])
        months = -(-(12 * 12) // n) * n
        start = dt.datetime(1970 - -(-months // 12), 12 - (months - 1) % 12, 1)
        assert (1970 - start.year) * 12 - (start.month - 1) == months
        if shape == "monthly-date":
            dates = month_dates(rng)
            rule = rrule.rrule(rrule.MONTHLY, interval=n, bymonthday=dates, dtstart=start, until=HIGH)
            return f"monthly-date {n} {','.join(map(str, dates))}", rule
        days = ordinals(rng, 3)
        rule = rrule.rrule(
            rrule.MONTHLY, interval=n, byweekday=[DU_DAYS[d](o) for o, d in days], dtstart=start, until=HIGH
        )
        return f"monthly-day {n} {','.join(f'{o}{d}' for o, d in days)}", rule
    month = rng.choice([2, rng.randint(1, 12)])
    start = dt.datetime(1958, 1, 1)
    if shape == "yearly-date":
        dates = month_dates(rng)
        rule = rrule.rrule(rrule.YEARLY, bymonth=month, bymonthday=dates, dtstart=start, until=HIGH)
        return f"yearly-date {month} {','.join(map(str, dates))}", rule
    days = ordinals(rng, 3)
    rule = rrule.rrule(
        rrule.YEARLY, bymonth=month, byweekday=[DU_DAYS[d](o) for o, d in days], dtstart=start, until=HIGH
    )
    return f"yearly-day {month} {','.join(f'{o}{d}' for o, d in days)}", rule


# ---------------------------------------------------------------- RFC 5545 rules


def some(rng, pool, most):
    return sorted(rng.sample(pool, rng.randint(1, most)))


def day_list(rng, most=4):
    found = rng.sample(WEEKDAYS, rng.randint(1, most))
    return [d for d in WEEKDAYS if d in found]


def signed_dates(rng):
    pool = list(range(1, 32)) + list(range(-31, 0))
    return some(rng, pool, 4) + ([] if rng.random() < 0.7 else [-1])


def rfc5545(rng):
    """An RRULE as text. Parts on whose meaning RFC 5545 and dateutil differ are left out, and said so:

    - BYDAY lists that mix plain days and days with an ordinal (dateutil intersects the two kinds);
    - WEEKLY with BYSETPOS whose DTSTART is not the first day of a week (dateutil counts from DTSTART in that week);
    - ordinals beside BYMONTHDAY under YEARLY (RFC 5545 does not say within what they count).
    """
    start = dt.datetime(1960, 1, 1) + dt.timedelta(days=rng.randrange(365 * rng.choice([9, 66, 66, 66])))
    if rng.random() < 0.2:
        start = start.replace(month=rng.choice([1, 3, 5, 7, 8, 10, 12]), day=rng.choice([29, 30, 31]))
    if rng.random() < 0.05:
        start = dt.datetime(rng.choice([1972, 1996, 2000, 2024]), 2, 29)
    frequency = rng.choice(["DAILY", "WEEKLY", "WEEKLY", "MONTHLY", "MONTHLY", "MONTHLY", "YEARLY", "YEARLY", "YEARLY"])
    parts = []
    interval = {"DAILY": 100, "WEEKLY": 26, "MONTHLY": 24, "YEARLY": 5}[frequency]
    n = rng.choice([1, 1, 2, rng.randint(1, interval)])
    wkst = rng.choice(WEEKDAYS) if rng.random() < 0.4 else None
    by_set = rng.random() < 0.35
    if frequency == "DAILY":
        if rng.random() < 0.5:
            parts.append(("BYMONTH", some(rng, list(range(1, 13)), 5)))
        if rng.random() < 0.3:
            parts.append(("BYMONTHDAY", signed_dates(rng)))
        if rng.random() < 0.4:
            parts.append(("BYDAY", day_list(rng)))
        if not parts or rng.random() < 0.7:
            by_set = False
        positions = [rng.choice([1, -1])]
    elif frequency == "WEEKLY":
        by_set = by_set and rng.random() < 0.6
        if by_set or rng.random() < 0.8:
            parts.append(("BYDAY", day_list(rng, 5)))
        if rng.random() < 0.2:
            parts.append(("BYMONTH", some(rng, list(range(1, 13)), 6)))
        if by_set:
            first = WEEKDAYS.index(wkst or "MO")
            start -= dt.timedelta(days=(start.weekday() - first) % 7)
        positions = some(rng, [1, 2, 3, -1, -2], 2)
    elif frequency == "MONTHLY":
        kind = rng.choice(["none", "dates", "days", "ordinals", "both", "both-ordinals", "days"])
        if rng.random() < 0.3:
            parts.append(("BYMONTH", some(rng, list(range(1, 13)), 5)))
        if kind in ("dates", "both", "both-ordinals"):
            parts.append(("BYMONTHDAY", signed_dates(rng)))
        if kind in ("days", "both"):
            parts.append(("BYDAY", day_list(rng, 5)))
        if kind in ("ordinals", "both-ordinals"):
            pool = [o for o in range(-5, 6) if o]
            parts.append(("BYDAY", [f"{rng.choice(pool)}{d}" for d in day_list(rng, 3)]))
        by_set = by_set and kind != "none"
        positions = some(rng, [1, 2, 3, 4, 5, -1, -2, -3, -4], 2)
    else:
        kind = rng.choice(["none", "dates", "days", "ordinals", "ordinals", "both"])
        if rng.random() < 0.55:
            parts.append(("BYMONTH", some(rng, list(range(1, 13)), 4)))
        within_month = bool(parts)
        if kind in ("dates", "both"):
            parts.append(("BYMONTHDAY", signed_dates(rng)))
        if kind in ("days", "both"):
            parts.append(("BYDAY", day_list(rng, 3)))
        if kind == "ordinals":
            most = 5 if within_month else 53
            pool = [o for o in range(-most, most + 1) if o]
            parts.append(("BYDAY", [f"{rng.choice(pool)}{d}" for d in day_list(rng, 3)]))
        by_set = by_set and bool(parts)
        positions = some(rng, [1, 2, 3, 7, 20, 52, -1, -2, -3, -10], 2)
    start = start + dt.timedelta(hours=rng.randrange(24), minutes=rng.choice([0, 30, rng.randrange(60)]))
    if rng.random() < 0.2:
        start = start.replace(second=rng.randrange(60))
    text = [f"FREQ={frequency}"]
    if n > 1:
        text.append(f"INTERVAL={n}")
    if wkst:
        text.append(f"WKST={wkst}")
    text += [f"{name}={','.join(map(str, values))}" for name, values in parts]
    if by_set:
        text.append(f"BYSETPOS={','.join(map(str, positions))}")
    end = rng.random()
    if end < 0.15:
        text.append(f"COUNT={rng.choice([1, 2, rng.randint(1, 60), rng.randint(1, 600)])}")
    elif end < 0.3:
        until = start + dt.timedelta(days=rng.randrange(1, 15_000), seconds=rng.choice([0, 0, -1, 1, 3600]))
        text.append(f"UNTIL={until:%Y%m%dT%H%M%S}Z")
    line = f"DTSTART:{start:%Y%m%dT%H%M%S}Z|RRULE:{';'.join(text)}"
    return line, rrule.rrulestr(line.replace("|", "\n"), ignoretz=True)


def occurrences(rule):
    """All starts below the upper horizon, and whether the rule ends of itself before it."""
    starts = []
    for moment in rule:
        if moment >= HIGH:
            return starts, False
        starts.append(unix(moment))
    bounded = rule._count is not None or (rule._until is not None and rule._until < HIGH)
    return starts, bounded


# ---------------------------------------------------------------- windows, exclusions, stretches


def length_of_window(rng):
    kind = rng.random()
    if kind < 0.25:
        return rng.choice([1, 60, 1800, 3600, 7200, 14_400, 28_800, 43_200])
    if kind < 0.45:
        return DAY * rng.choice([1, 1, 2, 3, 7, 14, 28, 30, 31, 365, 366])
    if kind < 0.85:
        return int(10 ** rng.uniform(2.5, 5.6))
    return min(366 * DAY, int(10 ** rng.uniform(0, 7.6)))


def exclusions(rng, starts):
    """Dated exclusions [from, until) in whole days; half of them are laid upon windows, and some touch or overlap."""
    found = []
    for _ in range(rng.choice([0, 0, 0, 1, 2, 3, 6])):
        if found and rng.random() < 0.2:
            first = found[-1][1] - rng.choice([0, 0, 1, 2])
        elif starts and rng.random() < 0.7:
            first = rng.choice(starts) // DAY + rng.choice([-1, 0, 0, 1])
        else:
            first = rng.randrange(0, 47_000)
        days = rng.choice([1, 1, 2, 3, 7, 14, 30, rng.randint(1, 400), rng.randint(1, 4000)])
        found.append((max(first, 0), max(first, 0) + days))
    return found


def merged(intervals):
    out = []
    for start, end in sorted(intervals):
        if out and start <= out[-1][1]:
            out[-1][1] = max(out[-1][1], end)
        else:
            out.append([start, end])
    return out


def minus(spans, holes):
    out = []
    for start, end in spans:
        for hole_start, hole_end in holes:
            if hole_end <= start or hole_start >= end:
                continue
            if hole_start > start:
                out.append([start, hole_start])
            start = min(hole_end, end)
        if start < end:
            out.append([start, end])
    return out


def stretches(starts, length, excluded, lower_exact, upper_exact):
    """The whole axis cut into (inside, start, end); an edge may be 'n' or 'h'."""
    holes = merged([(f * DAY, u * DAY) for f, u in excluded])
    spans = minus(merged([(s, s + length) for s in starts]), holes)
    low, high = ("n" if lower_exact else "h"), ("n" if upper_exact else "h")
    cut, edge = [], low
    for start, end in spans:
        if not lower_exact and end <= LOW_S:
            continue
        start = low if not lower_exact and start <= LOW_S else start
        end = high if not upper_exact and end >= HIGH_S else end
        if start != edge or not cut and start != low:
            cut.append((False, edge, start))
        cut.append((True, start, end))
        edge = end
        if end == high:
            return cut
    cut.append((False, edge, high))
    return cut


def known(edge):
    return isinstance(edge, int)


# ---------------------------------------------------------------- instants


def sample(rng, cut, starts, length, excluded):
    """Stretches to ask about, each with its instants: its edges, hidden edges within it, and one at random."""
    begins = [start if known(start) else -(10**12) for _, start, _ in cut]

    def at(moment):
        return bisect.bisect_right(begins, moment) - 1

    hidden = sorted({e * DAY for pair in excluded for e in pair if ASK_FROM < e * DAY < ASK_UNTIL})
    in_range = [s for s in starts if ASK_FROM < s < ASK_UNTIL - length]
    chosen, asked = {}, 0
    for _ in range(60):
        if asked >= PAIRS_PER_RULE:
            break
        kind = rng.random()
        if kind < 0.3 and in_range:
            moment = rng.choice(in_range) + rng.choice([0, -1, 1, length - 1, length, length + 1])
        elif kind < 0.5 and hidden:
            moment = rng.choice(hidden) + rng.choice([-1, 0, 1])
        else:
            moment = rng.randrange(ASK_FROM, ASK_UNTIL)
        index = at(moment)
        _, start, end = cut[index]
        wanted = {moment}
        if known(start):
            wanted |= {start, start + 1}
        if known(end):
            wanted |= {end - 1}
        if known(start) and known(end):
            wanted |= {rng.randrange(start, end)}
        wanted = {
            t
            for t in wanted
            if ASK_FROM <= t < ASK_UNTIL and (not known(start) or start <= t) and (not known(end) or t < end)
        }
        before = chosen.setdefault(index, set())
        asked += len(wanted - before)
        before |= wanted
    return chosen


def edges_near(moment, starts, length, excluded):
    """Is a window's start or end, or an exclusion's edge, within one second?"""
    for wanted in (moment, moment - length):
        index = bisect.bisect_left(starts, wanted - 1)
        if index < len(starts) and starts[index] <= wanted + 1:
            return True
    return any(abs(e * DAY - moment) <= 1 for pair in excluded for e in pair)


def lines_of(chosen, cut, starts, upper_exact):
    for index in sorted(chosen):
        inside, start, end = cut[index]
        sign = "+" if inside else "-"
        if known(start):
            base = start
            head = f"{sign}{start}+{end - start if known(end) else end}"
        else:
            base = end if known(end) else 0
            head = f"{sign}{start}..{end}"
        words, last = [head], None
        for moment in sorted(chosen[index]):
            later = bisect.bisect_right(starts, moment)
            after = starts[later] if later < len(starts) else ("n" if upper_exact else "h")
            word = "e-1" if known(end) and known(start) and moment == end - 1 else str(moment - base)
            if after != last:
                word += ">e" if known(start) and known(end) and after == end else f">{after - base if known(after) else after}"
                last = after
            words.append(word)
        yield " ".join(words)


def main():
    rng = random.Random(SEED)
    out, pairs, near, rules = [], 0, 0, [0, 0]
    while pairs < PAIRS_WANTED:
        rfc = rng.randrange(100) < RRULES_OF_100
        if rfc:
            text, rule = rfc5545(rng)
            starts, upper_exact = occurrences(rule)
            lower_exact = True
            length = length_of_window(rng)
            head = f"R {text} {length}"
        else:
            text, rule = structured(rng)
            starts, upper_exact, lower_exact = occurrences(rule)[0], False, False
            minute = rng.choice([0, 22 * 60, rng.randrange(24 * 60)])
            starts = [s + 60 * minute for s in starts]
            rest = rng.random() < 0.1
            length = DAY - 60 * minute if rest else length_of_window(rng)
            head = f"S {text} {minute // 60:02}:{minute % 60:02} {'rest' if rest else length}"
        excluded = exclusions(rng, [s for s in starts if s > 0])
        for first, last in excluded:
            one, two = (EPOCH + dt.timedelta(days=d) for d in (first, last))
            head += f" {one:%Y-%m-%d}/{two:%Y-%m-%d}"
        cut = stretches(starts, length, excluded, lower_exact, upper_exact)
        chosen = sample(rng, cut, starts, length, excluded)
        out.append(head)
        out.extend(lines_of(chosen, cut, starts, upper_exact))
        rules[rfc] += 1
        for moments in chosen.values():
            pairs += len(moments)
            near += sum(edges_near(m, starts, length, excluded) for m in moments)
        if sum(rules) % 200 == 0:
            print(f"{sum(rules)} rules, {pairs} pairs", file=sys.stderr)
    header = [
        f"# Made by generate.py from python-dateutil {dateutil.__version__}, seed {SEED}. Do not edit: run it again.",
        f"# {rules[0]} structured rules, {rules[1]} RFC 5545 rules, {pairs} pairs, {near} within a second of an edge.",
        "# generate.py says what the lines mean.",
    ]
    path = pathlib.Path(__file__).with_name("dateutil.txt")
    path.write_text("\n".join(header + out) + "\n", encoding="ascii")
    print(f"{path.name}: {pairs} pairs, {near} near an edge, {path.stat().st_size} bytes", file=sys.stderr)


if __name__ == "__main__":
    main()
