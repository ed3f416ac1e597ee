//! What is wrong with a room of somebody's own, before anybody installs it? (RCH-14)
//!
//! What the values of the chart say of it, judged as the schema of the chart does, so that whoever tries a room and whoever installs it are told the same.
//! Whether its expression can be used is for an API server to say.

use api::{names, schema::Scope};
use serde_json::{Map, Value};

/// How long an expression may be: the server stops one that costs too much while it judges a write, and nobody would read a longer one.
pub const LONGEST: usize = 2048;

/// How long a text may be that is added to a refusal.
const LONGEST_TEXT: usize = 256;

/// A room of somebody's own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CustomRoom {
    /// What it is called.
    pub name: String,
    /// Whether what it holds lives in namespaces.
    pub scope: Scope,
    /// The groups that are looked at.
    pub api_groups: Vec<String>,
    /// The versions.
    pub api_versions: Vec<String>,
    /// The resources.
    pub resources: Vec<String>,
    /// The operations.
    pub operations: Vec<String>,
    /// Whether a write begins a change, as an expression.
    pub initiates: String,
    /// What is added to a refusal.
    pub text: Option<String>,
}

const FIELDS: [&str; 8] =
    ["name", "scope", "apiGroups", "apiVersions", "resources", "operations", "initiates", "text"];

/// The rooms that values of the chart have, or everything that is wrong with them: the field, and what to do.
pub fn read(values: &Value) -> Result<Vec<CustomRoom>, Vec<String>> {
    let place = "changeGates.custom";
    let listed = match values.pointer("/changeGates/custom") {
        None | Some(Value::Null) => return Ok(Vec::new()),
        Some(Value::Array(listed)) => listed,
        Some(_) => return Err(vec![format!("{place}: it is a list of rooms")]),
    };
    let mut problems = Vec::new();
    let mut rooms: Vec<CustomRoom> = Vec::new();
    for (index, entry) in listed.iter().enumerate() {
        let mut reading = Reading { place: format!("{place}[{index}]"), problems: &mut problems };
        let Some(entry) = entry.as_object() else {
            reading.wrong(
                "",
                "it is an object with name, apiGroups, resources, operations and initiates",
            );
            continue;
        };
        let room = reading.room(entry);
        if rooms.iter().any(|known| known.name == room.name) {
            reading.wrong(".name", "another room has this name; hint: give each a name of its own");
        }
        rooms.push(room);
    }
    if problems.is_empty() { Ok(rooms) } else { Err(problems) }
}

struct Reading<'a> {
    place: String,
    problems: &'a mut Vec<String>,
}

impl Reading<'_> {
    fn wrong(&mut self, field: &str, what: &str) {
        self.problems.push(format!("{}{field}: {what}", self.place));
    }

    fn room(&mut self, entry: &Map<String, Value>) -> CustomRoom {
        for field in entry.keys().filter(|field| !FIELDS.contains(&field.as_str())) {
            self.wrong(
                &format!(".{field}"),
                &format!("there is no such field; hint: the fields are {}", FIELDS.join(", ")),
            );
        }
        let name = self.text(entry, "name").unwrap_or_default();
        if !is_name(&name) {
            self.wrong(
                ".name",
                "small letters, digits and hyphens, at most 40, and not ending in warn",
            );
        }
        let scope = match entry.get("scope").map(Value::as_str) {
            None | Some(Some("Namespaced")) => Scope::Namespaced,
            Some(Some("Cluster")) => Scope::Cluster,
            Some(_) => {
                self.wrong(".scope", "Namespaced or Cluster");
                Scope::Namespaced
            }
        };
        let api_groups = self.list(entry, "apiGroups");
        // Whoever held our own objects, or the policies, could not open a gate any more.
        let ours = [names::GROUP, "admissionregistration.k8s.io", "*"];
        if api_groups.iter().any(|group| ours.contains(&group.as_str())) {
            self.wrong(
                ".apiGroups",
                "name the groups, other than those of Tidegate and of admission policies",
            );
        }
        let api_versions = match entry.get("apiVersions") {
            None => vec!["*".to_owned()],
            Some(_) => self.list(entry, "apiVersions"),
        };
        let resources = self.list(entry, "resources");
        if !resources.iter().all(|resource| is_resource(resource)) {
            self.wrong(".resources", "resources by their plural, as in certificates, or their status, as in certificates/status: no others carry a stamp of the server");
        }
        let operations = self.list(entry, "operations");
        if !operations.iter().all(|operation| ["CREATE", "UPDATE"].contains(&operation.as_str())) {
            self.wrong(
                ".operations",
                "CREATE and UPDATE: a deletion carries no stamp of the server",
            );
        }
        let initiates = self.text(entry, "initiates").unwrap_or_default();
        if initiates.trim().is_empty() || initiates.chars().count() > LONGEST {
            self.wrong(".initiates", &format!("an expression of the API server, of at most {LONGEST} characters, that tells whether a write begins a change"));
        } else if initiates.chars().any(|c| ends_lines_elsewhere(c) && !"\n\r\t".contains(c)) {
            self.wrong(".initiates", "it holds a control character or a separator of lines, which YAML reads as the end of a line; hint: write it as \\u0085 in a text of the expression");
        }
        let text = entry.get("text").and_then(|_| self.text(entry, "text"));
        if text.as_ref().is_some_and(|text| {
            text.chars().count() > LONGEST_TEXT || text.contains(ends_lines_elsewhere)
        }) {
            self.wrong(".text", &format!("one line of at most {LONGEST_TEXT} characters, none of them a control character or a separator of lines"));
        }
        CustomRoom { name, scope, api_groups, api_versions, resources, operations, initiates, text }
    }

    fn text(&mut self, entry: &Map<String, Value>, field: &str) -> Option<String> {
        match entry.get(field) {
            Some(Value::String(text)) => Some(text.clone()),
            Some(_) => {
                self.wrong(&format!(".{field}"), "it is a text");
                None
            }
            None => None,
        }
    }

    fn list(&mut self, entry: &Map<String, Value>, field: &str) -> Vec<String> {
        let listed =
            entry.get(field).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        let texts: Vec<String> =
            listed.iter().filter_map(|text| text.as_str().map(str::to_owned)).collect();
        if texts.is_empty() || texts.len() != listed.len() {
            self.wrong(&format!(".{field}"), "it is a list of texts, and needs one at least");
        }
        texts
    }
}

/// Whether it is a name of a room: a policy of one that ended so would have the name of that which warns for another.
fn is_name(name: &str) -> bool {
    let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    (1..=40).contains(&name.len())
        && name.chars().all(fits)
        && !name.starts_with('-')
        && !name.ends_with('-')
        && name != "warn"
        && !name.ends_with("-warn")
}

/// Whether some reader of YAML takes a sign for the end of a line, or none prints it: policies are YAML, and what ends a line in a folded text makes
/// another text of it.
fn ends_lines_elsewhere(c: char) -> bool {
    c.is_control() || matches!(c, '\u{2028}' | '\u{2029}')
}

fn is_resource(resource: &str) -> bool {
    let plain = resource.strip_suffix("/status").unwrap_or(resource);
    let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    plain.starts_with(|c: char| c.is_ascii_lowercase()) && plain.chars().all(fits)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn values(change: impl Fn(&mut Value)) -> Value {
        let mut room = json!({"name": "certificates", "apiGroups": ["cert-manager.io"], "resources": ["certificates"],
            "operations": ["UPDATE"], "initiates": "object.spec != oldObject.spec"});
        change(&mut room);
        json!({"changeGates": {"custom": [room]}})
    }

    #[test]
    fn a_room_is_read_as_it_was_written() {
        let rooms = read(&values(|_| {})).unwrap();
        assert_eq!(
            (rooms[0].scope, &rooms[0].api_versions[..]),
            (Scope::Namespaced, &["*".to_owned()][..])
        );
        assert_eq!(read(&json!({"replicas": 2})), Ok(Vec::new()));
        assert_eq!(
            read(&values(|room| room["scope"] = json!("Cluster"))).unwrap()[0].scope,
            Scope::Cluster
        );
    }

    /// RCH-9, RCH-14
    #[test]
    fn what_no_server_could_hold_is_refused_by_its_field() {
        #[track_caller]
        fn check(field: &str, value: &Value) {
            let wrong = read(&values(|room| room[field] = value.clone())).unwrap_err();
            assert_eq!(wrong.len(), 1, "{wrong:?}");
            assert!(wrong[0].starts_with(&format!("changeGates.custom[0].{field}: ")), "{wrong:?}");
        }
        for name in ["Certificates", "a.b", "", "-a", "a-", "warn", "a-warn", &"a".repeat(41)] {
            check("name", &json!(name));
        }
        for groups in [json!(["*"]), json!([names::GROUP]), json!([]), json!("apps"), json!([1])] {
            check("apiGroups", &groups);
        }
        for resources in
            ["*", "pods/eviction", "deployments/scale", "Deployments", "*/status", "a/"]
        {
            check("resources", &json!([resources]));
        }
        for operation in ["DELETE", "CONNECT", "*"] {
            check("operations", &json!([operation]));
        }
        check("scope", &json!("*"));
        check("initiates", &json!(""));
        check("initiates", &json!("a".repeat(LONGEST + 1)));
        check("text", &json!("two\nlines"));
        for end in ['\u{85}', '\u{2028}', '\u{2029}', '\u{7f}', '\u{0}', '\u{9b}', '\u{c}'] {
            check("text", &json!(format!("two{end}lines")));
            check("initiates", &json!(format!("object.spec.a == 'two{end}lines'")));
        }
        check("what", &json!("x"));
        let twice = json!({"changeGates": {"custom": [values(|_| {})["changeGates"]["custom"][0], values(|_| {})["changeGates"]["custom"][0]]}});
        assert_eq!(
            read(&twice).unwrap_err(),
            [
                "changeGates.custom[1].name: another room has this name; hint: give each a name of its own"
            ]
        );
        assert!(read(&json!({"changeGates": {"custom": {}}})).is_err());
    }
}
