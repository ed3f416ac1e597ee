//! How are the pages of a cluster mailed? As one file that needs nothing else: no script, no address of anybody, no form.
//!
//! The pages are those of the console, made by the same functions. Whatever only a server can answer is taken out of them, and a link leads to
//! another page of the same file or nowhere. Same cluster, same instant, same bytes (DET-1).

use std::{collections::BTreeMap, fmt::Write as _};

use schedule::{Instant, Zone};
use serde_json::Value;
use tidegate_core::{cluster::snapshot::Snapshot, history::verify::Held, simulate::simulate};
use views::{now::Now, safe::printable, status::Rows, svg::safe};

use crate::{
    asked::{Asked, link},
    asset,
    draw::{icon, strip},
    forecast::{self, Outcome},
    page::{self, Page},
    record::{Record, Records},
    view::{Reading, View},
};

/// How many resources, policies and pools have a page of their own in a report; all of them stand in its tables.
const MOST: usize = 60;

/// What a report is made from.
#[derive(Clone, Copy, Debug)]
pub struct Report<'a> {
    /// What was seen.
    pub snapshot: &'a Snapshot,
    /// The objects of the kind `ChangeRecord` that were read, or why they cannot be; none if the history is off.
    pub records: Result<Option<&'a [Value]>, &'a str>,
    /// Whether these are all pages that a server holds, or what somebody wrote down.
    pub held: Held,
    /// What the cluster is called.
    pub place: &'a str,
    /// The instant.
    pub at: Instant,
    /// The zone in which times are told.
    pub zone: &'a Zone,
}

/// A page of a report.
struct Sheet {
    /// Where the console has it.
    path: String,
    /// Its name in the list of pages.
    name: String,
    page: Page,
}

impl Report<'_> {
    /// The whole as one document.
    pub fn html(&self) -> String {
        let rows = Rows::new(self.snapshot, self.at);
        let now = Now::new(&rows, self.snapshot, self.at);
        let (zones, reading) = ([self.zone.clone()], Reading::default());
        let view = View {
            at: self.at,
            zone: self.zone,
            zones: &zones,
            snapshot: self.snapshot,
            rows: &rows,
            now: &now,
            place: self.place,
            reading: &reading,
            speed: None,
            token: "",
        };
        let sheets = self.sheets(&view);
        let ids: BTreeMap<&str, String> = sheets
            .iter()
            .enumerate()
            .map(|(place, sheet)| (sheet.path.as_str(), format!("page-{place}")))
            .collect();
        let said = safe(&printable(&now.sentence(self.at, self.zone)));
        let place = safe(&printable(self.place));
        let (sign, hatch) = (icon::sign().into_string(), strip::hatch().into_string());
        let mut body = format!(
            "<body class=\"report\">{hatch}<main class=\"wide\"><p class=\"brand\">{sign}Tidegate report</p>\
             <p class=\"where\"><b>{place}</b> <span>as of <time datetime=\"{at}\">{at}</time>, times in {zone}</span></p><h1>{said}</h1>\
             <nav class=\"contents\" aria-label=\"Pages\"><ol>",
            at = self.at,
            zone = safe(self.zone.name()),
        );
        for sheet in &sheets {
            let (id, name) = (&ids[sheet.path.as_str()], safe(&printable(&sheet.name)));
            let _ = write!(body, "<li><a href=\"#{id}\">{name}</a></li>");
        }
        body.push_str("</ol></nav>");
        for sheet in &sheets {
            let id = &ids[sheet.path.as_str()];
            let _ = write!(body, "<article id=\"{id}\">");
            for part in sheet.page.parts.iter().filter(|part| part.id != "question") {
                body.push_str(&sealed(&part.html.0, &ids, id));
            }
            body.push_str("</article>");
        }
        let title = safe(&printable(&format!("{}: {}", self.place, now.title())));
        let policy = asset::mailed_policy();
        format!(
            "<!DOCTYPE html><html lang=\"en\"><head><meta charset=\"utf-8\"><meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"><meta name=\"color-scheme\" content=\"light dark\">\
             <meta name=\"referrer\" content=\"no-referrer\"><title>{title} · Tidegate</title><style>{}</style></head>{body}\
             <footer><p class=\"bottom\">Tidegate {}</p></footer></main></body></html>\n",
            asset::STYLE,
            env!("CARGO_PKG_VERSION"),
        )
    }

    fn sheets(&self, view: &View<'_>) -> Vec<Sheet> {
        let at = |path: &str| Asked::new(path);
        let sheet = |path: &str, name: &str, page: fn(&View<'_>, &Asked) -> Page| Sheet {
            path: path.to_owned(),
            name: name.to_owned(),
            page: page(view, &at(path)),
        };
        let whole = |path: &str, name: &str, page: Page| Sheet {
            path: path.to_owned(),
            name: name.to_owned(),
            page,
        };
        let records = match self.records {
            Err(why) => Records::Unread(why.to_owned()),
            Ok(None) => Records::Off,
            Ok(Some(pages)) => Records::Read(Record::of_pages(pages, self.held)),
        };
        let mut sheets = vec![
            sheet("/", "Now", page::now::page),
            sheet("/calendar", "Calendar", page::calendar::page),
            sheet("/resources", "Resources", page::resources::page),
            sheet("/pools", "Pools", page::pool::page),
            sheet("/policies", "Policies", page::policies::page),
            whole("/what-if", "What if", page::what_if::page(view, &at("/what-if"), &self.ahead())),
            sheet("/gates", "What holds", page::gates::page),
            whole("/history", "History", page::history::page(view, &at("/history"), &records)),
        ];
        for pool in self.snapshot.pools().take(MOST) {
            let path = page::pool::path(&pool.name);
            sheets.push(sheet(&path, &format!("Pool {}", pool.name), page::pool::page));
        }
        let objects =
            view.rows.resources.iter().take(MOST).chain(view.rows.policies.iter().take(MOST));
        for row in objects {
            let path = link(&row.object);
            sheets.push(sheet(&path, &row.object.to_string(), page::resource::page));
        }
        sheets
    }

    /// What would happen in the year ahead, within the bounds of the console.
    fn ahead(&self) -> Outcome {
        match forecast::settings(self.snapshot, self.at, &Asked::new("/what-if")) {
            Ok(settings) => Outcome::Told(Box::new((simulate(self.snapshot, &settings), settings))),
            Err(why) => Outcome::Untold(why),
        }
    }
}

/// What only a server can answer.
const ASKING: &[(&str, &str)] = &[
    ("<form", "</form>"),
    ("<div class=\"deeds\"", "</div>"),
    ("<div class=\"acts\"", "</div>"),
    ("<nav class=\"chips\"", "</nav>"),
    ("<div class=\"segments", "</div>"),
    ("<a class=\"end button small\"", "</a>"),
    ("<a class=\"button", "</a>"),
];

/// A part of a page for a file: without what asks a server, its ids its own, its links to pages of the file. Our markup quotes every attribute
/// and escapes every text, so what is looked for here stands nowhere else.
fn sealed(html: &str, ids: &BTreeMap<&str, String>, own: &str) -> String {
    let mut text = html.to_owned();
    for (start, end) in ASKING {
        text = without(&text, start, end);
    }
    text = rewritten(&text, " href=\"", |value| {
        let path = value.replace("&amp;", "&");
        match (ids.get(path.as_str()), path.strip_prefix('#')) {
            (Some(id), _) => format!(" href=\"#{id}\""),
            (None, Some(place)) => format!(" href=\"#{own}-{place}\""),
            (None, None) => String::new(),
        }
    });
    for name in [" id=\"", " aria-labelledby=\"", " for=\""] {
        text = rewritten(&text, name, |value| format!("{name}{own}-{value}\""));
    }
    // The file has one first heading; those of its pages come after it.
    for (from, to) in [("h3", "h4"), ("h2", "h3"), ("h1", "h2")] {
        for (open, close) in [("<", ">"), ("<", " "), ("</", ">")] {
            text = text.replace(&format!("{open}{from}{close}"), &format!("{open}{to}{close}"));
        }
    }
    text
}

/// A text without whatever stands between these two, and without them.
fn without(text: &str, start: &str, end: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(start) {
        kept.push_str(before);
        rest = after.split_once(end).map_or("", |(_, after)| after);
    }
    kept + rest
}

/// A text with every attribute of a name written anew.
fn rewritten(text: &str, start: &str, write: impl Fn(&str) -> String) -> String {
    let mut made = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(start) {
        let (value, after) = after.split_once('"').unwrap_or((after, ""));
        made.push_str(before);
        made.push_str(&write(value));
        rest = after;
    }
    made + rest
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use tidegate_core::cluster::kinds;

    use super::*;

    fn cluster(name: &str) -> Snapshot {
        let mut cluster = Snapshot::default();
        let at = Instant::parse("2026-11-18T09:00:00Z").unwrap();
        let policy = json!({"apiVersion": "changemanagement.openshift.io/v1alpha1", "kind": "ChangeManagementPolicy",
            "metadata": {"name": "nights"}, "spec": {"strategy": "MaintenanceSchedule", "maintenanceSchedule": {
                "permit": {"recurrence": {"frequency": "Weekly", "weekly": {"daysOfWeek": ["Saturday"]}},
                    "startTime": "20:00", "duration": "8h"}}}});
        cluster.add_written(&kinds::CHANGE_MANAGEMENT_POLICY, &policy, at);
        let pool = json!({"metadata": {"name": name}, "spec": {"changeManagement":
            {"strategy": "ByPolicy", "byPolicy": {"name": "nights"}}}});
        cluster.add(&kinds::MACHINE_CONFIG_POOL, &pool);
        cluster
    }

    fn report(cluster: &Snapshot, records: Option<&[Value]>) -> String {
        let at = Instant::parse("2026-11-18T09:00:00Z").unwrap();
        let (place, zone) = ("must-gather/", &Zone::utc());
        let held = Held::Now;
        Report { snapshot: cluster, records: Ok(records), held, place, at, zone }.html()
    }

    /// DET-1: a file that needs nothing else, and the same one each time.
    #[test]
    fn a_report_is_one_file_that_leads_nowhere_else() {
        let text = report(&cluster("worker"), None);
        assert_eq!(text, report(&cluster("worker"), None));
        for absent in [
            "<script", "<form", "<input", "<button", "<link", "<img", "<iframe", " src=",
            "style=\"", "http:", "https:", "@import",
        ] {
            assert!(!text.contains(absent), "{absent}");
        }
        assert!(text.contains("http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'sha256-"));
        for (place, _) in text.match_indices("href=\"") {
            assert_eq!(&text[place + 6..place + 7], "#", "{}", &text[place..place + 60]);
        }
        // Every link has its place, and no id is there twice.
        let values = |name: &str| -> Vec<String> {
            let found = text.match_indices(name);
            found
                .map(|(at, _)| text[at + name.len()..].split('"').next().unwrap().to_owned())
                .collect()
        };
        let mut ids = values(" id=\"");
        for link in values("href=\"#") {
            assert!(ids.contains(&link), "{link}");
        }
        let count = ids.len();
        ids.sort();
        ids.dedup();
        assert_eq!(ids.len(), count);
        assert_eq!(text.matches("<h1>").count(), 1);
        for said in [
            "Everything is held.",
            "Nothing is recorded: the history is switched off.",
            "worker has no nodes.",
            "every Saturday",
        ] {
            assert!(text.contains(said), "{said}");
        }
    }

    /// The pages are those of the console, word for word.
    #[test]
    fn what_others_wrote_stays_text() {
        let hostile = "<script>alert(1)</script>\" href=\"//elsewhere.example";
        let record = json!({"spec": {"entries": [{"number": 1, "chain": hostile, "at": hostile}]}});
        let text = report(&cluster(hostile), Some(&[record]));
        assert!(!text.contains("<script"), "{text}");
        assert!(!text.contains("href=\"//"), "{text}");
        assert!(text.contains("&lt;script&gt;alert(1)&lt;/script&gt;"));
    }

    #[test]
    fn the_policy_names_the_stylesheet_that_is_there() {
        let policy = asset::mailed_policy();
        assert!(policy.starts_with("default-src 'none'; style-src 'sha256-"), "{policy}");
        assert!(!policy.contains("unsafe"), "{policy}");
        assert!(!asset::STYLE.contains("</"), "nothing ends the element before its time");
    }
}
