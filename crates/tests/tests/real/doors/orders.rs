//! Who gives orders, by which path, under which permit? (GATE-7, GATE-16)

use std::fmt;

use api::machine::names::{
    CURRENT_CONFIG, DESIRED_CONFIG, PERMIT_CHANGE, PERMIT_FROM, PERMIT_UNTIL, STATE,
};
use jiff::{Timestamp, ToSpan as _};
use kube::Client;
use serde_json::{Map, Value, json};

use super::{super::rollout::writers::Writer, NODES, node, who::Who};

/// How a write reaches the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Path {
    Merge,
    Json,
    Strategic,
    Put,
    Apply,
    /// As the owner whose name the operator uses.
    ApplyInItsName,
    StatusMerge,
    StatusJson,
    StatusStrategic,
    StatusPut,
    StatusApply,
    Create,
    CreateByApply,
    DeleteAndCreate,
    AwayAndBack,
    /// A whole object with one stamp more, far ahead.
    ForgedAhead,
    /// With one that is long past.
    ForgedPast,
    /// With one at which the permit was good.
    ForgedInside,
    /// With no stamps at all.
    Wiped,
}

impl Path {
    pub(crate) const ALL: [Self; 19] = [
        Self::Merge,
        Self::Json,
        Self::Strategic,
        Self::Put,
        Self::Apply,
        Self::ApplyInItsName,
        Self::StatusMerge,
        Self::StatusJson,
        Self::StatusStrategic,
        Self::StatusPut,
        Self::StatusApply,
        Self::Create,
        Self::CreateByApply,
        Self::DeleteAndCreate,
        Self::AwayAndBack,
        Self::ForgedAhead,
        Self::ForgedPast,
        Self::ForgedInside,
        Self::Wiped,
    ];

    fn creates(self) -> bool {
        matches!(self, Self::Create | Self::CreateByApply | Self::DeleteAndCreate)
    }

    fn applies(self) -> bool {
        matches!(self, Self::Apply | Self::ApplyInItsName | Self::StatusApply)
    }

    /// Whether the write shows the server's own stamp, and none at which the permit was not good.
    fn bears_no_false_stamp(self) -> bool {
        !matches!(self, Self::ForgedAhead | Self::ForgedPast | Self::Wiped)
    }
}

/// What stands beside an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Permit {
    None,
    Early,
    Live,
    Ended,
    TooLong,
    /// Live, and for another configuration.
    ForAnother,
    /// Live, and for nothing.
    WithoutRecord,
}

impl Permit {
    pub(crate) const ALL: [Self; 7] = [
        Self::None,
        Self::Early,
        Self::Live,
        Self::Ended,
        Self::TooLong,
        Self::ForAnother,
        Self::WithoutRecord,
    ];

    /// From when until when, if at all, and an instant at which it is good.
    fn span(self) -> Option<(Timestamp, Timestamp, Timestamp)> {
        let now = Timestamp::now();
        let (from, until) = match self {
            Self::None => return None,
            Self::Early => (now + 5.minutes(), now + 10.minutes()),
            Self::Ended => (now - 20.minutes(), now - 5.minutes()),
            Self::TooLong => (now - 1.minutes(), now + 16.minutes()),
            Self::Live | Self::ForAnother | Self::WithoutRecord => {
                (now - 1.minutes(), now + 10.minutes())
            }
        };
        Some((from, until, until - 1.minutes()))
    }
}

/// What is wanted of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wish {
    /// That it goes to another configuration, under this permit.
    Go(Permit),
    /// That it goes to another, which it is said to run in the same breath.
    Join,
    /// That it stays with what it runs.
    Adopt,
    /// That the record of its order is there.
    Record,
    /// That it has no order.
    Remove,
    /// That the order has no record.
    RemoveRecord,
}

/// What the node is told already. It always runs `a`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Told {
    /// To be at `a`, with the record of it.
    Settled,
    /// Nothing.
    Nothing,
    /// To go to `b`, by a release that kept no records.
    UnderWay,
}

impl Told {
    pub(crate) fn annotations(self) -> Value {
        match self {
            Self::Settled => {
                json!({CURRENT_CONFIG: "a", STATE: "Done", DESIRED_CONFIG: "a", PERMIT_CHANGE: "a"})
            }
            Self::Nothing => json!({CURRENT_CONFIG: "a", STATE: "Done"}),
            Self::UnderWay => json!({CURRENT_CONFIG: "a", STATE: "Working", DESIRED_CONFIG: "b"}),
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Row {
    pub(crate) who: Who,
    pub(crate) path: Path,
    pub(crate) wish: Wish,
    pub(crate) told: Told,
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { who, path, wish, told } = self;
        write!(f, "{who:?} by {path:?} wants {wish:?} of a node told {told:?}")
    }
}

impl Row {
    /// The whole rule: by hand everything goes; the operator may adopt what is told nothing, record what is under way, and order with a live
    /// permit for that very order, if the write bears its true stamp and none outside the permit; nobody else anything.
    fn may(self) -> bool {
        let Self { who, path, wish, told } = self;
        match (who, wish) {
            (Who::Initiator, _) => true,
            (Who::Operator, _) if path.creates() => false,
            (Who::Operator, Wish::Go(permit)) => {
                permit == Permit::Live && path.bears_no_false_stamp()
            }
            (Who::Operator, Wish::Adopt) => told == Told::Nothing,
            (Who::Operator, Wish::Record) => told == Told::UnderWay,
            _ => false,
        }
    }

    /// Whether there is anything to try.
    pub(crate) fn makes_sense(self) -> bool {
        let Self { path, wish, .. } = self;
        let takes_away = matches!(wish, Wish::Remove | Wish::RemoveRecord);
        // An owner that says nothing of a field of another's leaves it, and what is made anew has nothing to take away.
        let vain = takes_away && (path.applies() || path.creates() || path == Path::AwayAndBack);
        // Whoever takes the record away first gives the order anew, and that is another row.
        let twice = path == Path::AwayAndBack && !matches!(wish, Wish::Go(_));
        // What is made anew runs nothing yet, and is under way to nothing.
        let unborn = path.creates() && matches!(wish, Wish::Record);
        !vain && !twice && !unborn
    }

    fn all() -> Vec<Self> {
        let mut rows = Vec::new();
        for who in Who::ALL {
            // Those who may nothing may nothing under any permit: two are tried all the same.
            let permits = match who {
                Who::Operator | Who::Stranger => Permit::ALL.to_vec(),
                _ => vec![Permit::None, Permit::Live],
            };
            let go = permits.into_iter().map(Wish::Go);
            let go = go.flat_map(|wish| [(wish, Told::Settled), (wish, Told::Nothing)]);
            let others = [
                (Wish::Join, Told::Nothing),
                (Wish::Adopt, Told::Nothing),
                (Wish::Record, Told::UnderWay),
                (Wish::Record, Told::Nothing),
                (Wish::Remove, Told::Settled),
                (Wish::RemoveRecord, Told::Settled),
            ];
            for (wish, told) in go.chain(others) {
                let by = Path::ALL.map(|path| Self { who, path, wish, told });
                rows.extend(by.into_iter().filter(|row| row.makes_sense()));
            }
        }
        rows
    }

    /// What the annotations are to be; nothing for one that goes.
    pub(crate) fn change(self) -> Map<String, Value> {
        let change = match self.wish {
            Wish::Go(permit) => {
                let mut change = json!({DESIRED_CONFIG: "c", PERMIT_CHANGE: match permit {
                    Permit::ForAnother => "d",
                    _ => "c",
                }});
                if permit == Permit::WithoutRecord {
                    change[PERMIT_CHANGE] = Value::Null;
                }
                if let Some((from, until, _)) = permit.span() {
                    change[PERMIT_FROM] = json!(shown(from));
                    change[PERMIT_UNTIL] = json!(shown(until));
                }
                change
            }
            Wish::Join => json!({CURRENT_CONFIG: "c", DESIRED_CONFIG: "c"}),
            Wish::Adopt => json!({DESIRED_CONFIG: "a"}),
            Wish::Record => json!({PERMIT_CHANGE: "b"}),
            Wish::Remove => json!({DESIRED_CONFIG: null, PERMIT_CHANGE: null}),
            Wish::RemoveRecord => json!({PERMIT_CHANGE: null}),
        };
        change.as_object().unwrap().clone()
    }

    /// Writes to the node of this name; the last answer.
    pub(crate) async fn attempt(self, client: &Client, name: &str) -> Result<Value, String> {
        self.attempt_as(&self.who.at(client, name), name).await
    }

    /// The same by somebody in particular.
    pub(crate) async fn attempt_as(self, writer: &Writer, name: &str) -> Result<Value, String> {
        let Self { who, path, wish, .. } = self;
        let change = self.change();
        let set: Map<String, Value> =
            change.clone().into_iter().filter(|(_, value)| !value.is_null()).collect();
        let whole = json!({"metadata": {"annotations": change}});
        let anew = node(name, &Value::Object(set.clone()));
        let owner = format!("{who:?}").to_lowercase();
        let main = format!("{NODES}/{name}?fieldManager={owner}");
        let status = format!("{NODES}/{name}/status?fieldManager={owner}");
        match path {
            Path::Merge => writer.merge(&main, &whole).await,
            Path::StatusMerge => writer.merge(&status, &whole).await,
            Path::Strategic | Path::StatusStrategic => {
                let at = if path == Path::Strategic { main } else { status };
                writer.send("PATCH", &at, "application/strategic-merge-patch+json", &whole).await
            }
            Path::Json | Path::StatusJson => {
                let at = if path == Path::Json { main } else { status };
                let operations: Vec<Value> = change.iter().map(operation).collect();
                let operations = Value::Array(operations);
                writer.send("PATCH", &at, "application/json-patch+json", &operations).await
            }
            Path::Apply | Path::CreateByApply => applied(writer, &main, &anew).await,
            Path::StatusApply => applied(writer, &status, &anew).await,
            Path::ApplyInItsName => {
                let at = format!("{NODES}/{name}?fieldManager=tidegate-rollout");
                applied(writer, &at, &anew).await
            }
            Path::Put | Path::StatusPut | Path::Wiped => {
                let managed = (path == Path::Wiped).then(|| json!([{}]));
                let at = if path == Path::StatusPut { status } else { main };
                replaced(writer, name, (&at, &change), managed).await
            }
            Path::ForgedAhead | Path::ForgedPast | Path::ForgedInside => {
                let inside = match wish {
                    Wish::Go(permit) => permit.span().map(|(_, _, inside)| inside),
                    _ => None,
                };
                let at = match path {
                    Path::ForgedAhead => "2099-01-01T00:00:00Z".to_owned(),
                    Path::ForgedPast => "2001-01-01T00:00:00Z".to_owned(),
                    _ => shown(inside.unwrap_or_else(Timestamp::now)),
                };
                let managed = Some(json!([planted("forger", &at)]));
                replaced(writer, name, (&main, &change), managed).await
            }
            Path::Create => writer.send("POST", NODES, "application/json", &anew).await,
            Path::DeleteAndCreate => {
                drop(writer.send("DELETE", &format!("{NODES}/{name}"), "", &Value::Null).await);
                writer.send("POST", NODES, "application/json", &anew).await
            }
            Path::AwayAndBack => {
                let away = json!({"metadata": {"annotations": {DESIRED_CONFIG: null, PERMIT_CHANGE: null}}});
                drop(writer.merge(&main, &away).await);
                writer.merge(&main, &whole).await
            }
        }
    }
}

fn operation((key, value): (&String, &Value)) -> Value {
    let path = format!("/metadata/annotations/{}", key.replace('/', "~1"));
    if value.is_null() {
        json!({"op": "remove", "path": path})
    } else {
        json!({"op": "add", "path": path, "value": value})
    }
}

async fn applied(writer: &Writer, at: &str, config: &Value) -> Result<Value, String> {
    let at = format!("{at}&force=true");
    writer.send("PATCH", &at, "application/apply-patch+yaml", config).await
}

/// An entry of `managedFields` that no server made.
pub(crate) fn planted(manager: &str, at: &str) -> Value {
    json!({"apiVersion": "v1", "fieldsType": "FieldsV1", "manager": manager, "operation": "Apply", "time": at,
        "fieldsV1": {"f:metadata": {"f:labels": {"f:planted": {}}}}})
}

/// The whole object, changed; with these `managedFields` instead of its own (`[{}]`), or beside them.
async fn replaced(
    writer: &Writer,
    name: &str,
    (at, change): (&str, &Map<String, Value>),
    managed: Option<Value>,
) -> Result<Value, String> {
    let mut whole = writer.send("GET", &format!("{NODES}/{name}"), "", &Value::Null).await?;
    for (key, value) in change {
        let annotations = whole["metadata"]["annotations"].as_object_mut().unwrap();
        if value.is_null() {
            annotations.remove(key);
        } else {
            annotations.insert(key.clone(), value.clone());
        }
    }
    match managed {
        Some(wiped) if wiped == json!([{}]) => whole["metadata"]["managedFields"] = wiped,
        Some(Value::Array(more)) => {
            let known = &mut whole["metadata"]["managedFields"];
            match known.as_array_mut() {
                Some(known) => known.extend(more),
                None => *known = Value::Array(more),
            }
        }
        _ => {}
    }
    writer.send("PUT", at, "application/json", &whole).await
}

pub(crate) fn shown(at: Timestamp) -> String {
    at.strftime("%FT%TZ").to_string()
}

/// The order and its record, and which very node bears them.
pub(crate) fn borne(node: &Value) -> (Value, [Value; 2]) {
    let metadata = &node["metadata"];
    let noted = [DESIRED_CONFIG, PERMIT_CHANGE].map(|key| metadata["annotations"][key].clone());
    (metadata["uid"].clone(), noted)
}

/// Every row, on a node that is made anew after each that changed it.
pub(crate) async fn are_judged(client: &Client) {
    let by_hand = Who::Initiator.at(client, "pier");
    let look = async |name: &str| {
        by_hand.send("GET", &format!("{NODES}/{name}"), "", &Value::Null).await.unwrap_or_default()
    };
    let mut wrong = Vec::new();
    let mut stands: Option<(Told, Value)> = None;
    let rows = Row::all();
    assert!(rows.len() > 1_500, "{}", rows.len());
    for row in &rows {
        let away = matches!(row.path, Path::Create | Path::CreateByApply);
        let name = if away { "mole" } else { "pier" };
        let before = match &stands {
            Some((told, seen)) if *told == row.told => seen.clone(),
            _ => {
                drop(by_hand.send("DELETE", &format!("{NODES}/pier"), "", &Value::Null).await);
                by_hand
                    .create(
                        &format!("{NODES}?fieldManager=setup"),
                        &node("pier", &row.told.annotations()),
                    )
                    .await;
                look("pier").await
            }
        };
        let answer = row.attempt(client, name).await;
        let after = look(name).await;
        let (is, was) = (borne(&after), borne(&before));
        let moved = if is.0 == was.0 { is.1 != was.1 } else { is.1 != [Value::Null, Value::Null] };
        if moved != row.may() || answer.is_ok() != row.may() {
            let may = if row.may() { "may" } else { "may not" };
            wrong.push(format!("{row}: {may}, moved: {moved}, the server said {answer:?}"));
        }
        if away {
            drop(by_hand.send("DELETE", &format!("{NODES}/mole"), "", &Value::Null).await);
        }
        stands = (!moved && is.0 == was.0 || away).then_some((row.told, before));
    }
    assert!(wrong.is_empty(), "{} of {} rows:\n{}", wrong.len(), rows.len(), wrong.join("\n"));
    planted_stamps_keep_nobody_waiting(client).await;
}

/// A stamp of 2099 that somebody planted neither opens nor blocks, and nobody can plant so many that looking becomes too dear.
async fn planted_stamps_keep_nobody_waiting(client: &Client) {
    let by_hand = Who::Initiator.at(client, "pier");
    let stranger = Who::Stranger.at(client, "pier");
    drop(by_hand.send("DELETE", &format!("{NODES}/pier"), "", &Value::Null).await);
    by_hand.create(NODES, &node("pier", &Told::Settled.annotations())).await;
    let at = format!("{NODES}/pier");
    let mut nameless = planted("", "2098-01-01T00:00:00Z");
    nameless.as_object_mut().unwrap().remove("manager");
    let future = json!([planted("forger", "2099-01-01T00:00:00Z"), nameless]);
    let planted_now = replaced(&stranger, "pier", (&at, &Map::new()), Some(future)).await;
    assert!(planted_now.is_ok(), "changes nothing: {planted_now:?}");
    let flood = |count: u32| -> Value {
        (0..count).map(|n| planted(&format!("forger-{n}"), "2099-01-01T00:00:00Z")).collect()
    };
    let flooded = replaced(&stranger, "pier", (&at, &Map::new()), Some(flood(150))).await;
    assert!(flooded.as_ref().is_err_and(|said| said.contains("at most 100 owners")), "{flooded:?}");
    // As many as there may be are not too dear to look at.
    let crowded = replaced(&stranger, "pier", (&at, &Map::new()), Some(flood(90))).await;
    assert!(crowded.is_ok(), "{crowded:?}");
    let ended = Row {
        who: Who::Operator,
        path: Path::Apply,
        wish: Wish::Go(Permit::Ended),
        told: Told::Settled,
    };
    let refused = ended.attempt(client, "pier").await;
    assert!(
        refused.as_ref().is_err_and(|said| said.contains("the permit ended at")),
        "{refused:?}"
    );
    let live = Row { wish: Wish::Go(Permit::Live), ..ended };
    let marked = live.attempt(client, "pier").await;
    assert!(marked.is_ok(), "a stamp of 2099 blocks: {marked:?}");
}
