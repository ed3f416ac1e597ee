// Command peer measures rrule-go and robfig/cron: it reads the benchmark's files and prints one row for each
// measurement (W1).
package main

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/robfig/cron/v3"
	"github.com/teambition/rrule-go"
)

const day = 86400

type rule struct {
	id, text  string
	start     int64
	frequency string
	interval  int64
	parts     map[string]string
}

// next answers W1, or -1 for never.
type next func(at int64) int64

func main() {
	folder, effort := os.Args[1], os.Args[2]
	patience, rounds := int64(20_000_000), 3
	if effort == "full" {
		patience, rounds = 200_000_000, 8
	}
	fmt.Printf("version\tGo %s\n", strings.TrimPrefix(runtime.Version(), "go"))
	if build, ok := debug.ReadBuildInfo(); ok {
		for _, module := range build.Deps {
			fmt.Printf("version\t%s %s\n", filepath.Base(strings.TrimSuffix(module.Path, "/v3")), module.Version)
		}
	}
	var instants []int64
	for _, line := range lines(filepath.Join(folder, "instants.tsv"))[:2000] {
		instants = append(instants, number(line))
	}
	peers := []struct {
		name    string
		compile func(rule) next
	}{{"robfig/cron", robfig}, {"rrule-go, aligned", aligned}, {"rrule-go, as-is", asIs}}
	for _, peer := range peers {
		for _, line := range lines(filepath.Join(folder, "shapes.tsv")) {
			if r := parse(line); r.id != "Feb 30" {
				if ask := peer.compile(r); ask != nil {
					measure(peer.name, r.id, ask, instants, patience, rounds)
				}
			}
		}
	}
}

func measure(peer, id string, ask next, instants []int64, patience int64, rounds int) {
	before := cpu()
	for _, at := range instants[:3] {
		ask(at)
	}
	pilot := max((cpu()-before)/3, 100)
	asked := instants[:min(max(patience/pilot, 3), int64(len(instants)))]
	total := int64(7)
	for _, at := range asked {
		total = ((total*31+ask(at))%2147483647 + 2147483647) % 2147483647
	}
	least := int64(-1)
	for range rounds {
		before := cpu()
		for _, at := range asked {
			ask(at)
		}
		if spent := cpu() - before; least < 0 || spent < least {
			least = spent
		}
	}
	fmt.Printf("W1\t%s\t%s\t%d\t%d\t%d\n", peer, id, least, len(asked), total)
}

func asIs(r rule) next {
	set := build(r, time.Unix(r.start, 0).UTC())
	return func(at int64) int64 { return unix(set.After(time.Unix(at, 0).UTC(), false)) }
}

func aligned(r rule) next {
	options, err := rrule.StrToROption(r.text)
	check(err)
	return func(at int64) int64 {
		near := *options
		near.Dtstart = r.alignedStart(at)
		set, err := rrule.NewRRule(near)
		check(err)
		return unix(set.After(time.Unix(at, 0).UTC(), false))
	}
}

func build(r rule, start time.Time) *rrule.RRule {
	options, err := rrule.StrToROption(r.text)
	check(err)
	options.Dtstart = start
	set, err := rrule.NewRRule(*options)
	check(err)
	return set
}

func unix(found time.Time) int64 {
	if found.IsZero() {
		return -1
	}
	return found.Unix()
}

// alignedStart is the half of an engine that a user must write to make the library seek.
func (r rule) alignedStart(at int64) time.Time {
	today := at / day
	var first int64
	switch r.frequency {
	case "DAILY":
		first = today - today%r.interval
	case "WEEKLY":
		week := (today + 3) / 7
		first = (week-week%r.interval)*7 - 3
	default:
		date := time.Unix(at, 0).UTC()
		month := int64(date.Year()-1970)*12 + int64(date.Month()) - 1
		if r.frequency == "MONTHLY" {
			month -= month % r.interval
		} else {
			month -= month % 12
		}
		first = time.Date(1970, time.Month(month+1), 1, 0, 0, 0, 0, time.UTC).Unix() / day
	}
	return time.Unix(first*day+r.start, 0).UTC()
}

// robfig says what cron can say: no intervals of days or weeks, no nth weekdays.
func robfig(r rule) next {
	dates, months, weekdays := "*", "*", "*"
	if strings.ContainsAny(r.parts["BYDAY"], "0123456789") || r.interval != 1 {
		return nil
	}
	if list, ok := r.parts["BYMONTHDAY"]; ok {
		dates = list
	}
	if list, ok := r.parts["BYMONTH"]; ok {
		months = list
	}
	if list, ok := r.parts["BYDAY"]; ok {
		names := strings.NewReplacer("MO", "MON", "TU", "TUE", "WE", "WED", "TH", "THU", "FR", "FRI", "SA", "SAT", "SU", "SUN")
		weekdays = names.Replace(list)
	}
	schedule, err := cron.ParseStandard(fmt.Sprintf("TZ=UTC %d %d %s %s %s", r.start/60%60, r.start/3600, dates, months, weekdays))
	check(err)
	return func(at int64) int64 { return unix(schedule.Next(time.Unix(at, 0).UTC())) }
}

func parse(line string) rule {
	columns := strings.Split(line, "\t")
	parts := map[string]string{}
	for _, part := range strings.Split(columns[1], ";") {
		key, value, _ := strings.Cut(part, "=")
		parts[key] = value
	}
	interval := int64(1)
	if text, ok := parts["INTERVAL"]; ok {
		interval = number(text)
	}
	return rule{columns[0], columns[1], number(columns[2]), parts["FREQ"], interval, parts}
}

func lines(path string) []string {
	file, err := os.Open(path)
	check(err)
	defer file.Close()
	var all []string
	for scanner := bufio.NewScanner(file); scanner.Scan(); {
		all = append(all, scanner.Text())
	}
	return all
}

func number(text string) int64 {
	value, err := strconv.ParseInt(text, 10, 64)
	check(err)
	return value
}

// cpu is the computing time of the whole process, the garbage collector's threads included.
func cpu() int64 {
	var usage syscall.Rusage
	check(syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
	return usage.Utime.Nano() + usage.Stime.Nano()
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
