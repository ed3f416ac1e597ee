//! What does a document hold, and where does each part of it stand?
//!
//! The YAML parser yields events with positions; this builds a small tree of them and refuses early what would cost too much:
//! nesting beyond 64, more than 100,000 values, aliases counted as often as they stand. JSON is read by the same way, being YAML.

use std::{collections::BTreeMap, rc::Rc};

use saphyr_parser::{Event, Marker, Parser, ScalarStyle, StrInput, Tag};
use serde_json::{Map, Number, Value};
use tidegate_core::document::problem::{Code, FieldPath, PathStep, Problem, quoted};

/// How deep values may be nested. A policy needs eight levels.
const DEEPEST: usize = 64;

/// How many values a document may hold, with every alias written out. A thousand policies fit.
const MOST: usize = 100_000;

/// A place in a file, line and column counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place {
    /// The line.
    pub(crate) line: usize,
    /// The column, in characters.
    pub(crate) column: usize,
}

impl Place {
    /// The start of a file.
    pub(crate) const START: Self = Self { line: 1, column: 1 };

    /// The place of a byte.
    pub(crate) fn of_byte(bytes: &[u8], at: usize) -> Self {
        let before = bytes.get(..at).unwrap_or(bytes);
        let line = before.split(|byte| *byte == b'\n').count();
        let row = before.rsplit(|byte| *byte == b'\n').next().unwrap_or_default();
        Self { line, column: String::from_utf8_lossy(row).chars().count() + 1 }
    }
}

/// A value and its place.
#[derive(Debug)]
pub(crate) struct Node {
    /// Where it begins.
    pub(crate) place: Place,
    kind: Kind,
    /// How many values it holds with aliases written out, itself included.
    size: usize,
    /// How many levels it has, itself included.
    height: usize,
}

#[derive(Debug)]
enum Kind {
    Scalar(Value),
    List(Vec<Rc<Node>>),
    Fields(Vec<(Key, Rc<Node>)>),
}

#[derive(Debug)]
struct Key {
    name: String,
    place: Place,
}

/// A document that was read.
#[derive(Debug)]
pub(crate) struct Parsed {
    /// Its whole value.
    pub(crate) root: Rc<Node>,
    /// Fields that are given twice.
    pub(crate) duplicates: Vec<(Place, Problem)>,
}

/// Why a document could not be read.
#[derive(Debug)]
pub(crate) struct Failure {
    /// Where.
    pub(crate) place: Place,
    /// Why.
    pub(crate) problem: Problem,
}

impl Node {
    /// The value, with aliases written out. Its size was bounded when it was read.
    pub(crate) fn value(&self) -> Value {
        match &self.kind {
            Kind::Scalar(value) => value.clone(),
            Kind::List(items) => items.iter().map(|item| item.value()).collect(),
            Kind::Fields(fields) => {
                // The first of two equal fields is the one that is shown; the second was reported.
                let mut map = Map::new();
                for (key, node) in fields {
                    map.entry(key.name.clone()).or_insert_with(|| node.value());
                }
                Value::Object(map)
            }
        }
    }

    /// The field of this name.
    pub(crate) fn field(&self, name: &str) -> Option<&Node> {
        match &self.kind {
            Kind::Fields(fields) => {
                fields.iter().find(|(key, _)| key.name == name).map(|(_, node)| node.as_ref())
            }
            Kind::Scalar(_) | Kind::List(_) => None,
        }
    }

    /// The text, if it is one.
    pub(crate) fn text(&self) -> Option<&str> {
        match &self.kind {
            Kind::Scalar(value) => value.as_str(),
            Kind::List(_) | Kind::Fields(_) => None,
        }
    }

    /// The entries, if it is a list.
    pub(crate) fn list(&self) -> Option<&[Rc<Node>]> {
        match &self.kind {
            Kind::List(items) => Some(items),
            Kind::Scalar(_) | Kind::Fields(_) => None,
        }
    }

    /// The place of a value below here, or of the nearest one around it that exists.
    pub(crate) fn place_of(&self, path: &[PathStep]) -> Place {
        path.split_first()
            .and_then(|(step, rest)| self.child(step).map(|child| child.place_of(rest)))
            .unwrap_or(self.place)
    }

    /// The place of the key of a field below here.
    pub(crate) fn place_of_key(&self, path: &[PathStep]) -> Place {
        match path {
            [PathStep::Key(name)] => match &self.kind {
                Kind::Fields(fields) => fields
                    .iter()
                    .find(|(key, _)| key.name == *name)
                    .map_or(self.place, |(key, _)| key.place),
                Kind::Scalar(_) | Kind::List(_) => self.place,
            },
            [step, rest @ ..] => {
                self.child(step).map_or(self.place, |child| child.place_of_key(rest))
            }
            [] => self.place,
        }
    }

    fn child(&self, step: &PathStep) -> Option<&Node> {
        match (step, &self.kind) {
            (PathStep::Key(name), _) => self.field(name),
            (PathStep::Index(place), Kind::List(items)) => items.get(*place).map(AsRef::as_ref),
            (PathStep::Index(_), _) => None,
        }
    }
}

/// Reads one document that begins on a line of its file; none if it holds nothing.
pub(crate) fn parse(text: &str, first_line: usize) -> Result<Option<Parsed>, Box<Failure>> {
    let mut builder = Builder {
        first_line,
        open: Vec::new(),
        anchors: BTreeMap::new(),
        count: 0,
        root: None,
        duplicates: Vec::new(),
    };
    // On one long line the parser reads ahead to the end before it says anything, and takes a hundred bytes of memory for each
    // of these; so they are counted before it begins. A value brings one or two of them.
    let signs = text.bytes().filter(|byte| matches!(byte, b',' | b':' | b'[' | b'{')).count();
    if signs > 2 * MOST {
        let place = Place { line: first_line, column: 1 };
        return Err(builder.too_many(place));
    }
    let mut parser = Parser::new(StrInput::new(text));
    while let Some(event) = parser.next_event() {
        let (event, span) = event.map_err(|error| {
            let place = builder.place(error.marker());
            // The parser has a bound of its own, where it must look ahead of the value it is in.
            if error.info().contains("recursion limit") {
                return builder.too_deep(place);
            }
            let problem = Problem::new(
                &FieldPath::root(),
                Code::Syntax,
                format!("not YAML: {}", error.info()),
            );
            let (place, hint) = tab_indent(text).map_or(
                (place, "check the indentation, the quotes and the brackets before this place"),
                |line| {
                    let place = Place { line: first_line + line, column: 1 };
                    (place, "indent with spaces: YAML does not take tabs")
                },
            );
            Box::new(Failure { place, problem: problem.hint(hint) })
        })?;
        builder.accept(event, builder.place(&span.start))?;
    }
    Ok(builder.root.map(|root| Parsed { root, duplicates: builder.duplicates }))
}

/// The first line that is indented with a tab, from 0, where that is a fault: JSON may.
fn tab_indent(text: &str) -> Option<usize> {
    let is_json = text.trim_start_matches("---").trim_start().starts_with(['{', '[']);
    let tabbed = |line: &str| line.trim_start_matches(' ').starts_with('\t');
    if is_json { None } else { text.lines().position(tabbed) }
}

/// A list or a stanza that is still being read.
struct Open {
    place: Place,
    anchor: usize,
    kind: Kind,
    key: Option<Key>,
    size: usize,
    height: usize,
}

struct Builder {
    first_line: usize,
    open: Vec<Open>,
    anchors: BTreeMap<usize, Rc<Node>>,
    count: usize,
    root: Option<Rc<Node>>,
    duplicates: Vec<(Place, Problem)>,
}

impl Builder {
    fn place(&self, marker: &Marker) -> Place {
        Place { line: self.first_line + marker.line().max(1) - 1, column: marker.col() + 1 }
    }

    fn accept(&mut self, event: Event<'_>, place: Place) -> Result<(), Box<Failure>> {
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                let value = scalar(&text, style, tag.as_deref()).map_err(|detail| {
                    self.failure(place, Code::Syntax, detail, "remove the tag")
                })?;
                // In the place of a field's name every scalar is a text, as it is for Kubernetes.
                if let Some(open) = self.open.last_mut()
                    && matches!(open.kind, Kind::Fields(_))
                    && open.key.is_none()
                {
                    open.key = Some(Key { name: text.into_owned(), place });
                    return self.check_duplicate();
                }
                let node = Node { place, kind: Kind::Scalar(value), size: 1, height: 1 };
                self.finish(node, anchor)
            }
            Event::SequenceStart(anchor, _) => self.begin(Kind::List(Vec::new()), place, anchor),
            Event::MappingStart(anchor, _) => self.begin(Kind::Fields(Vec::new()), place, anchor),
            Event::SequenceEnd | Event::MappingEnd => match self.open.pop() {
                Some(Open { place, anchor, kind, size, height, .. }) => {
                    self.finish(Node { place, kind, size, height }, anchor)
                }
                None => Ok(()),
            },
            Event::Alias(anchor) => match self.anchors.get(&anchor).cloned() {
                Some(node) => self.attach(node, place),
                None => Err(self.failure(
                    place,
                    Code::Syntax,
                    "an alias refers to a value that is not complete yet",
                    "an alias cannot stand inside the value it names",
                )),
            },
            Event::Nothing
            | Event::StreamStart
            | Event::StreamEnd
            | Event::DocumentStart(_)
            | Event::DocumentEnd => Ok(()),
        }
    }

    fn begin(&mut self, kind: Kind, place: Place, anchor: usize) -> Result<(), Box<Failure>> {
        if let Some(open) = self.open.last()
            && matches!(open.kind, Kind::Fields(_))
            && open.key.is_none()
        {
            let hint = "a field's name is a plain text";
            return Err(self.failure(
                place,
                Code::Syntax,
                "a list or a stanza stands as a field's name",
                hint,
            ));
        }
        if self.open.len() >= DEEPEST {
            return Err(self.too_deep(place));
        }
        self.open.push(Open { place, anchor, kind, key: None, size: 1, height: 1 });
        Ok(())
    }

    fn finish(&mut self, node: Node, anchor: usize) -> Result<(), Box<Failure>> {
        let place = node.place;
        let node = Rc::new(node);
        if anchor > 0 {
            self.anchors.insert(anchor, Rc::clone(&node));
        }
        self.count += 1;
        if self.count > MOST {
            return Err(self.too_many(place));
        }
        self.attach(node, place)
    }

    /// Puts a value into the list or stanza that is being read, and counts what it brings.
    fn attach(&mut self, node: Rc<Node>, place: Place) -> Result<(), Box<Failure>> {
        let deepest = self.open.len() + node.height > DEEPEST;
        let Some(open) = self.open.last_mut() else {
            // A second root cannot come: the stream was cut into documents before.
            self.root.get_or_insert(node);
            return Ok(());
        };
        open.size = open.size.saturating_add(node.size);
        open.height = open.height.max(node.height + 1);
        let too_many = open.size > MOST;
        match (&mut open.kind, open.key.take()) {
            (Kind::List(items), _) => items.push(node),
            (Kind::Fields(fields), Some(key)) => fields.push((key, node)),
            (Kind::Fields(_), None) => {
                let hint = "a field's name is a plain text";
                return Err(self.failure(
                    place,
                    Code::Syntax,
                    "an alias stands as a field's name",
                    hint,
                ));
            }
            (Kind::Scalar(_), _) => {}
        }
        if too_many {
            return Err(self.too_many(place));
        }
        if deepest { Err(self.too_deep(place)) } else { Ok(()) }
    }

    /// Reports the field whose name was just read, if it was given before.
    fn check_duplicate(&mut self) -> Result<(), Box<Failure>> {
        let Some(Open { kind: Kind::Fields(fields), key: Some(key), .. }) = self.open.last() else {
            return Ok(());
        };
        // A linear search is fine for stanzas people write; a hostile one runs into this bound instead of into quadratic time.
        if fields.len() > 5_000 {
            let hint = "a stanza has at most 5000 fields";
            return Err(self.failure(
                key.place,
                Code::TooLarge,
                "the stanza has too many fields",
                hint,
            ));
        }
        if let Some((first, _)) = fields.iter().find(|(earlier, _)| earlier.name == key.name) {
            let detail =
                format!("{} is given twice, first on line {}", quoted(&key.name), first.place.line);
            let problem = Problem::new(&self.path(), Code::DuplicateField, detail);
            let place = key.place;
            self.duplicates.push((place, problem.hint("keep one of the two")));
        }
        Ok(())
    }

    /// The field that is being read.
    fn path(&self) -> FieldPath {
        self.open.iter().fold(FieldPath::root(), |path, open| match (&open.kind, &open.key) {
            (Kind::List(items), _) => path.index(items.len()),
            (_, Some(key)) => path.key(&key.name),
            _ => path,
        })
    }

    fn failure(
        &self,
        place: Place,
        code: Code,
        detail: impl Into<String>,
        hint: &str,
    ) -> Box<Failure> {
        let problem = Problem::new(&self.path(), code, detail).hint(hint);
        Box::new(Failure { place, problem })
    }

    fn too_deep(&self, place: Place) -> Box<Failure> {
        let mut failure = self.failure(
            place,
            Code::TooLarge,
            format!("values are nested more than {DEEPEST} deep"),
            "a policy needs eight levels",
        );
        // The path of the offender is as long as the offence.
        failure.problem.field = FieldPath::root();
        failure
    }

    fn too_many(&self, place: Place) -> Box<Failure> {
        self.failure(
            place,
            Code::TooLarge,
            format!("the document holds more than {MOST} values, with its aliases written out"),
            "split it into several files, and write aliases out where they are nested",
        )
    }
}

/// What a scalar means, by the core schema of YAML 1.2.
fn scalar(text: &str, style: ScalarStyle, tag: Option<&Tag>) -> Result<Value, String> {
    let plain = style == ScalarStyle::Plain;
    match tag {
        None if plain => Ok(plain_scalar(text)),
        None => Ok(Value::String(text.to_owned())),
        Some(tag) if tag.is_yaml_core_schema() => match tag.suffix.as_str() {
            "str" => Ok(Value::String(text.to_owned())),
            _ => Ok(plain_scalar(text)),
        },
        Some(tag) => Err(format!("the tag {}{} is not known", tag.handle, tag.suffix)),
    }
}

fn plain_scalar(text: &str) -> Value {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Value::Null,
        "true" | "True" | "TRUE" => return Value::Bool(true),
        "false" | "False" | "FALSE" => return Value::Bool(false),
        _ => {}
    }
    let numeric = text.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '-' | '+' | '.'));
    if !numeric {
        return Value::String(text.to_owned());
    }
    let radix = |prefix: &str, base: u32| {
        text.strip_prefix(prefix).and_then(|digits| i64::from_str_radix(digits, base).ok())
    };
    if let Some(number) = radix("0x", 16).or_else(|| radix("0o", 8)) {
        return Value::Number(number.into());
    }
    if let Ok(number) = text.parse::<i64>() {
        return Value::Number(number.into());
    }
    let decimal = text
        .bytes()
        .all(|byte| byte.is_ascii_digit() || matches!(byte, b'-' | b'+' | b'.' | b'e' | b'E'));
    let float = if decimal { text.parse::<f64>().ok() } else { None };
    float.and_then(Number::from_f64).map_or_else(|| Value::String(text.to_owned()), Value::Number)
}

#[cfg(test)]
mod tests;
