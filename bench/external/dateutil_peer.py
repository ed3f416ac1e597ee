"""python-dateutil as a peer: reads the benchmark's files, prints one row for each measurement.

As-is: DTSTART in 1970 and the library's own after() and between().
Aligned: a DTSTART near the question, computed by hand, and the library does the rest.
"""

import bisect
import sys
import time
from datetime import date, datetime, timedelta, timezone

import dateutil
from dateutil.rrule import rrulestr

DAY = 86_400
EPOCH = datetime(1970, 1, 1)
FROM = 1_767_225_600
UNTIL = FROM + 365 * DAY
UNTIL_10 = FROM + 3652 * DAY
NOW = FROM + 167 * DAY + 37_800
LISTED = ["daily 1", "Sat w1", "MTW w2", "1,15 m1", "1st Sat m1", "Dec 24-26"]


def civil(at):
    return EPOCH + timedelta(seconds=at)


def unix(moment):
    return round((moment - EPOCH) / timedelta(seconds=1))


def checksum(answers):
    total = 7
    for answer in answers:
        total = (total * 31 + (-1 if answer is None else answer)) % 2_147_483_647
    return total


class Rule:
    """One line of a rule file."""

    def __init__(self, line):
        self.id, self.text, start, length, self.cover, exclusions = line.rstrip("\n").split("\t")
        self.start, self.length = int(start), int(length)
        self.exclusions = [
            tuple(int(day) * DAY for day in pair.split(":")) for pair in exclusions.split(",") if pair
        ]
        parts = dict(part.split("=") for part in self.text.split(";"))
        self.frequency, self.interval = parts["FREQ"], int(parts.get("INTERVAL", 1))
        self.as_is = rrulestr(self.text, dtstart=civil(self.start), cache=False)

    def aligned_start(self, at):
        day = at // DAY
        if self.frequency == "DAILY":
            first = day - day % self.interval
        elif self.frequency == "WEEKLY":
            week = (day + 3) // 7
            first = (week - week % self.interval) * 7 - 3
        else:
            today = civil(day * DAY)
            month = (today.year - 1970) * 12 + today.month - 1
            month -= month % (self.interval if self.frequency == "MONTHLY" else 12)
            first = (date(1970 + month // 12, month % 12 + 1, 1) - EPOCH.date()).days
        return civil(first * DAY + self.start)


class AsIs:
    name = "python-dateutil, as-is"

    def __init__(self, rule):
        self.rule = rule

    def next(self, at):
        found = self.rule.as_is.after(civil(at))
        return None if found is None else unix(found)

    def starts(self, start):
        while True:
            start = self.next(start - 1)
            if start is None:
                return
            yield start
            start += 1

    def between(self, start, until):
        return [unix(found) for found in self.rule.as_is.between(civil(start - 1), civil(until))]


class Aligned:
    name = "python-dateutil, aligned"

    def __init__(self, rule):
        self.rule = rule

    def near(self, at):
        return self.rule.as_is.replace(dtstart=self.rule.aligned_start(at))

    def next(self, at):
        found = self.near(at).after(civil(at))
        return None if found is None else unix(found)

    def starts(self, start):
        first = civil(start)
        for found in self.near(start):
            if found >= first:
                yield unix(found)

    def between(self, start, until):
        return [unix(found) for found in self.near(start).between(civil(start - 1), civil(until))]


def windows(peer, start, until):
    length, merged = peer.rule.length, []
    for opens in peer.between(start - length + 1, until):
        closes = min(opens + length, until)
        if merged and opens <= merged[-1][1]:
            merged[-1][1] = closes
        else:
            merged.append([max(opens, start), closes])
    return clip(merged, peer.rule.exclusions)


def clip(merged, exclusions):
    if not exclusions:
        return merged
    kept, ends = [], [until for _, until in exclusions]
    for opens, closes in merged:
        for start, until in exclusions[bisect.bisect_right(ends, opens):]:
            if start >= closes:
                break
            if start > opens:
                kept.append([opens, start])
            opens = max(opens, until)
        if opens < closes:
            kept.append([opens, closes])
    return kept


def intersect(left, right):
    shared, i, j = [], 0, 0
    while i < len(left) and j < len(right):
        opens, closes = max(left[i][0], right[j][0]), min(left[i][1], right[j][1])
        if opens < closes:
            shared.append([opens, closes])
        if left[i][1] < right[j][1]:
            i += 1
        else:
            j += 1
    return shared


def merged_windows(peer, at):
    """Merged windows that may hold `at` or follow it, one at a time; no end means for ever."""
    if peer.rule.cover == "never":
        return
    if peer.rule.cover == "always":
        yield at, None
        return
    length, pending = peer.rule.length, None
    for start in peer.starts(at - length + 1):
        if pending and start <= pending[1]:
            pending = (pending[0], start + length)
            continue
        if pending:
            yield pending
        pending = (start, start + length)
    if pending:
        yield pending


def stretches(peer, at):
    for opens, closes in merged_windows(peer, at):
        for start, until in peer.rule.exclusions:
            if closes is not None and start >= closes:
                break
            if until <= opens:
                continue
            if start > opens and start > at:
                yield opens, start
            opens = until
        if (closes is None or opens < closes) and (closes is None or closes > at):
            yield opens, closes


def state(peer, at):
    found = stretches(peer, at)
    first = next(found, None)
    if first is None:
        return 0, None, None
    if first[0] > at:
        return 0, first[0], first[0]
    second = next(found, None)
    return 1, first[1], second and second[0]


def best(rounds, work):
    least = None
    for _ in range(rounds):
        before = time.thread_time_ns()
        work()
        spent = time.thread_time_ns() - before
        least = spent if least is None else min(least, spent)
    return least


def row(workload, peer, rule, spent, queries, answers):
    print(workload, peer, rule, spent, queries, checksum(answers), sep="\t", flush=True)


def read(folder, name, most=None):
    with open(f"{folder}/{name}.tsv", encoding="utf-8") as file:
        return [line for line, _ in zip(file, range(most or 10**9))]


def main(folder, effort):
    rounds, patience = (2, 20_000_000) if effort == "quick" else (5, 200_000_000)
    print(f"version\tpython-dateutil {dateutil.__version__}")
    print(f"version\tPython {sys.version.split()[0]}")
    shapes = [Rule(line) for line in read(folder, "shapes")]
    instants = [int(line) for line in read(folder, "instants", 2_000)]
    for kind in (Aligned, AsIs):
        for rule in shapes:
            peer = kind(rule)
            pilot = max(best(1, lambda: peer.next(instants[0])), 1)
            asked = instants[: max(3 if pilot < patience * 5 else 1, min(len(instants), patience // pilot))]
            answers = [peer.next(at) for at in asked]
            spent = pilot if len(asked) == 1 else best(rounds, lambda: [peer.next(at) for at in asked])
            row("W1", kind.name, rule.id, spent, len(asked), answers)
        for workload, until in (("W2", UNTIL), ("W2x10", UNTIL_10)):
            for rule in shapes:
                if rule.id in LISTED:
                    found = windows(kind(rule), FROM, until)
                    spent = best(rounds, lambda: windows(kind(rule), FROM, until))
                    row(workload, kind.name, rule.id, spent, 1, [edge for pair in found for edge in pair])
        pairs = [Rule(line) for line in read(folder, "pairs")]
        for worker, control in zip(pairs[::2], pairs[1::2]):
            def meet():
                return intersect(
                    windows(kind(worker), FROM, UNTIL_10), windows(kind(control), FROM, UNTIL_10)
                )
            found = meet()
            row("W3", kind.name, worker.id, best(rounds, meet), 1, [edge for pair in found for edge in pair])
        sample = (1_000 if kind is Aligned else 100) * (1 if effort == "quick" else 3)
        fleet = [kind(Rule(line)) for line in read(folder, "policies", sample)]
        answers = [answer for peer in fleet for answer in state(peer, NOW)]
        row("W4", kind.name, "fleet", best(1, lambda: [state(peer, NOW) for peer in fleet]), sample, answers)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
