// npm rrule-temporal and npm rrule as peers: read the benchmark's files, print one row for each measurement (W1).
// DTSTART is in 1970 for both; rrule-temporal seeks by itself, rrule scans.

import { readFileSync } from "node:fs";
import { join } from "node:path";

import rrule from "rrule";
import { RRuleTemporal } from "rrule-temporal";
import { Temporal } from "temporal-polyfill";

const { rrulestr } = rrule;
const [folder, effort] = process.argv.slice(2);
const rounds = effort === "quick" ? 3 : 8;
const patience = effort === "quick" ? 20e6 : 200e6;

const lines = (name) => readFileSync(join(folder, `${name}.tsv`), "utf8").trimEnd().split("\n");
const pad = (number) => String(number).padStart(2, "0");
const cpu = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) * 1e3;
};

function checksum(answers) {
  let total = 7;
  for (const answer of answers) {
    total = (total * 31 + (answer ?? -1)) % 2147483647;
    if (total < 0) total += 2147483647;
  }
  return total;
}

function head(start) {
  const time = pad(Math.floor(start / 3600)) + pad(Math.floor(start / 60) % 60) + pad(start % 60);
  return `DTSTART:19700101T${time}Z\nRRULE:`;
}

const peers = {
  "npm rrule-temporal": ({ text, start }) => {
    const rule = new RRuleTemporal({
      rruleString: head(start) + text,
      temporal: Temporal,
      maxIterations: 100000,
      cache: false,
    });
    return (at) => {
      const found = rule.next(new Date(at * 1000), false);
      return found ? Math.round(found.epochMilliseconds / 1000) : null;
    };
  },
  "npm rrule": ({ text, start }) => {
    const rule = rrulestr(head(start) + text, { cache: false });
    return (at) => {
      const found = rule.after(new Date(at * 1000), false);
      return found ? found.getTime() / 1000 : null;
    };
  },
};

for (const name of ["rrule-temporal", "rrule", "temporal-polyfill"]) {
  const path = join(import.meta.dirname, "node_modules", name, "package.json");
  console.log(`version\tnpm ${name} ${JSON.parse(readFileSync(path, "utf8")).version}`);
}
console.log(`version\tNode ${process.versions.node}`);

const instants = lines("instants").slice(0, 2000).map(Number);
for (const [peer, compile] of Object.entries(peers)) {
  for (const line of lines("shapes")) {
    const [id, text, start] = line.split("\t");
    // Neither gives up quickly on a date that never comes: rrule-temporal throws, rrule scans to the year 9999.
    if (id === "Feb 30") continue;
    const next = compile({ text, start: Number(start) });
    // Until the compiler has seen the code, a query costs ten times its price.
    let before = cpu();
    let warm = 0;
    while (cpu() - before < 20e6) next(instants[warm++ % instants.length]);
    before = cpu();
    for (const at of instants.slice(0, 3)) next(at);
    const pilot = Math.max((cpu() - before) / 3, 1000);
    const asked = instants.slice(0, Math.max(3, Math.floor(patience / pilot)));
    const answers = asked.map(next);
    let least = Infinity;
    for (let round = 0; round < rounds; round++) {
      before = cpu();
      for (const at of asked) next(at);
      least = Math.min(least, cpu() - before);
    }
    console.log(["W1", peer, id, least, asked.length, checksum(answers)].join("\t"));
  }
}
