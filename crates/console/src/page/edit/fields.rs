//! What did somebody type into the form of a policy? The fields that most policies have, laid over what it says otherwise.
//!
//! A form that knew everything a policy can say would be another language. It knows days of the week, times, the zone and whole days that are
//! excluded; what it does not know it keeps as it was written, and the text beside it can say all of it.

use serde_json::{Map, Value, json};

use crate::asked::Fields;

/// The days of a week, as a policy writes them.
pub(crate) const DAYS: &[&str] =
    &["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];

/// So many exclusions have fields of their own; a policy with more is edited as text.
pub(crate) const ROWS: usize = 40;

/// On which days windows open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Recurs {
    /// Every day.
    Daily,
    /// On days of the week.
    Weekly,
    /// By a rule that the form does not know.
    Kept,
}

impl Recurs {
    pub(crate) fn value(self) -> &'static str {
        match self {
            Self::Daily => "daily",
            Self::Weekly => "weekly",
            Self::Kept => "kept",
        }
    }
}

/// An exclusion, as it stands in the form.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Out {
    pub(crate) from: String,
    pub(crate) until: String,
    pub(crate) reason: String,
    /// One that is not of whole days is kept as it was written.
    pub(crate) kept: bool,
}

impl Out {
    fn is_empty(&self) -> bool {
        !self.kept && self.from.is_empty() && self.until.is_empty() && self.reason.is_empty()
    }
}

/// What stands in the form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Typed {
    pub(crate) strategy: String,
    pub(crate) zone: String,
    pub(crate) recurs: Recurs,
    pub(crate) days: Vec<String>,
    pub(crate) start: String,
    pub(crate) lasts: String,
    pub(crate) ends: String,
    pub(crate) out: Vec<Out>,
}

const SCHEDULE: &str = "maintenanceSchedule";

impl Typed {
    /// What a specification says, as far as the form knows it.
    pub(crate) fn of(spec: &Value) -> Self {
        let text = |path: &str| spec.pointer(path).map(plain).unwrap_or_default();
        let permit = |field: &str| text(&format!("/{SCHEDULE}/permit/{field}"));
        let days = spec.pointer("/maintenanceSchedule/permit/recurrence/weekly/daysOfWeek");
        let days = days.and_then(Value::as_array).into_iter().flatten().map(plain).collect();
        Self {
            strategy: text("/strategy"),
            zone: text("/maintenanceSchedule/timeZone"),
            recurs: recurs(spec.pointer("/maintenanceSchedule/permit/recurrence")),
            days,
            start: permit("startTime"),
            lasts: permit("duration"),
            ends: permit("endTime"),
            out: excluded(spec).iter().map(out).collect(),
        }
    }

    /// What was typed, over what the form was drawn from.
    pub(crate) fn read(form: &Fields, base: &Value) -> Self {
        let text = |name: &str| form.get(name).unwrap_or_default().to_owned();
        let drawn = Self::of(base);
        // A form that says nothing of exclusions takes none away.
        let rows = form.get("rows").and_then(|rows| rows.parse().ok()).unwrap_or(drawn.out.len());
        let rows = if drawn.out.len() > ROWS { 0 } else { rows.min(ROWS + 1) };
        let out = (0..rows).map(|row| match drawn.out.get(row) {
            Some(kept) if kept.kept => kept.clone(),
            _ => Out {
                from: text(&format!("from-{row}")),
                until: text(&format!("until-{row}")),
                reason: text(&format!("reason-{row}")),
                kept: false,
            },
        });
        let recurs = match form.get("recurs") {
            Some("daily") => Recurs::Daily,
            Some("weekly") => Recurs::Weekly,
            _ => Recurs::Kept,
        };
        Self {
            strategy: text("strategy"),
            zone: text("zone"),
            recurs,
            days: form.all("day").map(str::to_owned).collect(),
            start: text("start"),
            lasts: text("lasts"),
            ends: text("ends"),
            out: out.collect(),
        }
    }

    /// The specification that says so, and which row of the form each of its exclusions is.
    pub(crate) fn onto(&self, base: &Value) -> (Value, Vec<usize>) {
        let mut spec = base.clone();
        if !spec.is_object() {
            spec = json!({});
        }
        set(&mut spec, &["strategy"], text(&self.strategy));
        set(&mut spec, &[SCHEDULE, "timeZone"], text(&self.zone));
        set(&mut spec, &[SCHEDULE, "permit", "startTime"], text(&self.start));
        set(&mut spec, &[SCHEDULE, "permit", "duration"], text(&self.lasts));
        set(&mut spec, &[SCHEDULE, "permit", "endTime"], text(&self.ends));
        let drawn = recurs(base.pointer("/maintenanceSchedule/permit/recurrence"));
        match self.recurs {
            Recurs::Kept => {}
            // Whoever leaves "every day" as it is changes nothing, however that was written.
            Recurs::Daily if drawn == Recurs::Daily => {}
            Recurs::Daily => set(&mut spec, &[SCHEDULE, "permit", "recurrence"], None),
            Recurs::Weekly => {
                let mut weekly = base
                    .pointer("/maintenanceSchedule/permit/recurrence/weekly")
                    .cloned()
                    .unwrap_or_else(|| json!({}));
                weekly["daysOfWeek"] = json!(self.days);
                let rule = json!({"frequency": "Weekly", "weekly": weekly});
                set(&mut spec, &[SCHEDULE, "permit", "recurrence"], Some(rule));
            }
        }
        let before = excluded(base);
        if before.len() > ROWS {
            return (spec, (0..before.len()).collect());
        }
        let (mut all, mut rows) = (Vec::new(), Vec::new());
        for (row, out) in self.out.iter().enumerate().filter(|(_, out)| !out.is_empty()) {
            rows.push(row);
            let was = before.get(row).cloned();
            if out.kept {
                all.extend(was);
                continue;
            }
            let mut entry = was.filter(Value::is_object).unwrap_or_else(|| json!({}));
            set(&mut entry, &["fromDate"], text(&out.from));
            set(&mut entry, &["untilDate"], text(&out.until));
            set(&mut entry, &["reason"], text(&out.reason));
            all.push(entry);
        }
        if all != before {
            let all = (!all.is_empty()).then_some(Value::Array(all));
            set(&mut spec, &[SCHEDULE, "exclude"], all);
        }
        (spec, rows)
    }
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn text(typed: &str) -> Option<Value> {
    (!typed.is_empty()).then(|| json!(typed))
}

fn recurs(rule: Option<&Value>) -> Recurs {
    let Some(rule) = rule.filter(|rule| !rule.is_null()) else { return Recurs::Daily };
    let interval = |path: &str| rule.pointer(path).and_then(Value::as_i64).unwrap_or(1);
    match rule.get("frequency").and_then(Value::as_str) {
        Some("Daily") if interval("/daily/interval") == 1 => Recurs::Daily,
        Some("Weekly") => Recurs::Weekly,
        _ => Recurs::Kept,
    }
}

fn excluded(spec: &Value) -> Vec<Value> {
    let all = spec.pointer("/maintenanceSchedule/exclude").and_then(Value::as_array);
    all.cloned().unwrap_or_default()
}

fn out(entry: &Value) -> Out {
    let text = |field: &str| entry.get(field).map(plain).unwrap_or_default();
    let known = ["fromDate", "untilDate", "reason"];
    let kept = !entry
        .as_object()
        .is_some_and(|fields| fields.keys().all(|field| known.contains(&field.as_str())));
    Out { from: text("fromDate"), until: text("untilDate"), reason: text("reason"), kept }
}

/// Puts a value at a path of fields, or takes it away; what is empty afterwards goes with it, and what was empty before stays.
fn set(value: &mut Value, path: &[&str], wanted: Option<Value>) {
    let ([first, rest @ ..], Some(fields)) = (path, value.as_object_mut()) else { return };
    if rest.is_empty() {
        match wanted {
            Some(wanted) => drop(fields.insert((*first).to_owned(), wanted)),
            None => drop(fields.remove(*first)),
        }
        return;
    }
    if wanted.is_none() && !fields.contains_key(*first) {
        return;
    }
    let inner = fields.entry((*first).to_owned()).or_insert_with(|| Value::Object(Map::new()));
    if inner.is_null() {
        *inner = json!({});
    }
    set(inner, rest, wanted);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec() -> Value {
        json!({"strategy": "MaintenanceSchedule", "maintenanceSchedule": {"timeZone": "Europe/Berlin",
        "permit": {"recurrence": {"frequency": "Weekly", "weekly": {"daysOfWeek": ["Saturday"], "interval": 2}},
            "startTime": "20:00", "duration": "8h"},
        "exclude": [
            {"fromDate": "2026-12-19", "untilDate": "2027-01-04", "reason": "year's end"},
            {"from": "2026-12-01T00:00:00Z", "until": "2026-12-01T06:00:00Z"},
            {"fromDate": "2027-03-25"},
        ]}})
    }

    /// A form that nobody touched changes nothing, whatever the policy says.
    #[test]
    fn what_the_form_does_not_know_is_kept() {
        for spec in [
            spec(),
            json!({"strategy": "Permissive"}),
            json!({"strategy": "Restrictive", "maintenanceSchedule": {}}),
            json!({"strategy": "MaintenanceSchedule", "maintenanceSchedule": {"permit": {}}}),
            json!({"strategy": "MaintenanceSchedule", "maintenanceSchedule": {"permit": {"recurrence":
                {"frequency": "Monthly", "monthly": {"by": "Date", "date": {"datesOfMonth": [1]}}}, "endTime": "06:00"}}}),
            json!({"strategy": "MaintenanceSchedule", "maintenanceSchedule": {"permit": {"recurrence":
                {"frequency": "Daily", "daily": {}}}}}),
            json!({"strategy": "MaintenanceSchedule", "maintenanceSchedule": {"exclude":
                (0..50).map(|_| json!({"fromDate": "2026-12-19"})).collect::<Vec<_>>()}}),
        ] {
            assert_eq!(Typed::of(&spec).onto(&spec).0, spec);
        }
    }

    #[test]
    fn what_is_typed_is_laid_over_it() {
        let base = spec();
        let form = "strategy=MaintenanceSchedule&zone=UTC&recurs=weekly&day=Friday&day=Saturday&start=21%3A00&lasts=1d&ends=&rows=4\
            &from-0=&until-0=&reason-0=&from-2=2027-03-25&until-2=2027-03-30&reason-2=Easter&from-3=2027-05-01&until-3=&reason-3=May";
        let typed = Typed::read(&Fields::new(form), &base);
        let (found, rows) = typed.onto(&base);
        assert_eq!(
            found,
            json!({"strategy": "MaintenanceSchedule", "maintenanceSchedule": {"timeZone": "UTC",
            "permit": {"recurrence": {"frequency": "Weekly", "weekly": {"daysOfWeek": ["Friday", "Saturday"], "interval": 2}},
                "startTime": "21:00", "duration": "1d"},
            "exclude": [
                {"from": "2026-12-01T00:00:00Z", "until": "2026-12-01T06:00:00Z"},
                {"fromDate": "2027-03-25", "untilDate": "2027-03-30", "reason": "Easter"},
                {"fromDate": "2027-05-01", "reason": "May"},
            ]}})
        );
        assert_eq!(rows, [1, 2, 3], "a problem of an exclusion is shown in its row");
        let daily = Typed::read(
            &Fields::new("strategy=MaintenanceSchedule&recurs=daily&start=20%3A00&rows=0"),
            &base,
        );
        let (found, _) = daily.onto(&base);
        assert_eq!(
            found,
            json!({"strategy": "MaintenanceSchedule", "maintenanceSchedule": {"permit": {"startTime": "20:00"}}})
        );
    }
}
