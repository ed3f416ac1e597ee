//! Does a rule speak only of what its schema has?
//!
//! A walk over the compiled expression that follows `self`, `oldSelf` and the variables of `all`, `exists`, `map` and `filter` through the
//! schema. What it cannot follow (the results of functions, values of any type) it lets pass: a rule that is refused here is refused by
//! the real server too, but not the other way round.

use std::collections::BTreeMap;

use kube_cel::cel::{
    IdedExpr,
    common::ast::{CallExpr, ComprehensionExpr, EntryExpr, Expr, operators},
};

use super::escape;
use crate::schema::Schema;

/// What is known of a value.
#[derive(Clone, Copy)]
enum Shape<'a> {
    /// The object at the root, which also has a kind and a name.
    Root(&'a Schema),
    /// The metadata of that object, of which rules see the name.
    Metadata,
    Node(&'a Schema),
    Unknown,
}

/// Where the rule stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// At the root of an object.
    Root,
    /// Somewhere below.
    Below,
}

/// Names that are types or groups of functions, not variables.
const WORDS: [&str; 15] = [
    "bool",
    "bytes",
    "double",
    "duration",
    "dyn",
    "int",
    "list",
    "map",
    "null_type",
    "optional",
    "optional_type",
    "string",
    "timestamp",
    "type",
    "uint",
];

type Scope<'a> = BTreeMap<String, Shape<'a>>;

/// The first word of an expression that leads nowhere, in the words of the real server.
pub(super) fn unknown_word(expression: &IdedExpr, schema: &Schema, place: Place) -> Option<String> {
    let shape = if place == Place::Root { Shape::Root(schema) } else { Shape::Node(schema) };
    let scope = Scope::from([("self".to_owned(), shape), ("oldSelf".to_owned(), shape)]);
    follow(expression, &scope).err()
}

fn follow<'a>(expression: &IdedExpr, scope: &Scope<'a>) -> Result<Shape<'a>, String> {
    match &expression.expr {
        Expr::Ident(name) => match scope.get(name) {
            Some(shape) => Ok(*shape),
            None if WORDS.contains(&name.as_str()) || name.starts_with('@') => Ok(Shape::Unknown),
            None => Err(format!("undeclared reference to '{name}' (in container '')")),
        },
        Expr::Select(select) => field(follow(&select.operand, scope)?, &select.field),
        Expr::Call(call) => called(call, scope),
        Expr::Comprehension(comprehension) => gone_through(comprehension, scope),
        Expr::List(list) => visit(list.elements.iter(), scope),
        Expr::Map(map) => {
            map.entries.iter().try_fold(Shape::Unknown, |_, entry| match &entry.expr {
                EntryExpr::MapEntry(entry) => visit([&entry.key, &entry.value], scope),
                EntryExpr::StructField(field) => visit([&field.value], scope),
            })
        }
        Expr::Struct(_) | Expr::Literal(_) | Expr::Unspecified => Ok(Shape::Unknown),
    }
}

fn visit<'a, 'e>(
    all: impl IntoIterator<Item = &'e IdedExpr>,
    scope: &Scope<'a>,
) -> Result<Shape<'a>, String> {
    all.into_iter().try_for_each(|one| follow(one, scope).map(drop))?;
    Ok(Shape::Unknown)
}

fn field<'a>(shape: Shape<'a>, name: &str) -> Result<Shape<'a>, String> {
    let undefined = || format!("undefined field '{name}'");
    let schema = match shape {
        Shape::Unknown => return Ok(Shape::Unknown),
        Shape::Metadata if matches!(name, "name" | "generateName") => return Ok(Shape::Unknown),
        Shape::Metadata => return Err(undefined()),
        Shape::Root(_) if matches!(name, "apiVersion" | "kind") => return Ok(Shape::Unknown),
        Shape::Root(_) if name == "metadata" => return Ok(Shape::Metadata),
        Shape::Root(schema) | Shape::Node(schema) => schema,
    };
    let declared = schema.properties.iter().find(|(key, _)| escape(key) == name);
    match (declared, &schema.values) {
        (Some((_, sub)), _) | (None, Some(sub)) => Ok(known(sub)),
        _ if is_free(schema) => Ok(Shape::Unknown),
        _ if schema.kind == "object" => Err(undefined()),
        _ => Err(format!("type '{}' does not support field selection", schema.kind)),
    }
}

/// Numbers that may be texts, and values without a type, are of any.
fn is_free(schema: &Schema) -> bool {
    schema.int_or_string || schema.kind.is_empty()
}

fn known(schema: &Schema) -> Shape<'_> {
    if is_free(schema) { Shape::Unknown } else { Shape::Node(schema) }
}

fn called<'a>(call: &CallExpr, scope: &Scope<'a>) -> Result<Shape<'a>, String> {
    if let Some(target) = &call.target {
        // `optional.of(...)`: the name before the dot may be one of functions.
        let names_functions =
            matches!(&target.expr, Expr::Ident(name) if !scope.contains_key(name));
        if !names_functions {
            follow(target, scope)?;
        }
    }
    match (call.func_name.as_str(), call.args.as_slice()) {
        (operators::INDEX, [list, at]) => {
            follow(at, scope)?;
            Ok(match follow(list, scope)? {
                Shape::Node(schema) => inside(schema),
                _ => Shape::Unknown,
            })
        }
        // The second is the name of a field, not a value.
        (operators::OPT_SELECT, [object, ..]) => visit([object], scope),
        (_, all) => visit(all, scope),
    }
}

/// What a list or a map is made of.
fn inside(schema: &Schema) -> Shape<'_> {
    schema.items.as_ref().or(schema.values.as_ref()).map_or(Shape::Unknown, |sub| known(sub))
}

fn gone_through<'a>(
    comprehension: &ComprehensionExpr,
    scope: &Scope<'a>,
) -> Result<Shape<'a>, String> {
    let range = follow(&comprehension.iter_range, scope)?;
    let part = match range {
        Shape::Node(schema) => inside(schema),
        _ => Shape::Unknown,
    };
    // One variable is an item of a list or a key of a map; of two the second is the item.
    let is_list = matches!(range, Shape::Node(schema) if schema.items.is_some());
    let mut inner = scope.clone();
    let two = comprehension.iter_var2.as_ref();
    let first = if is_list && two.is_none() { part } else { Shape::Unknown };
    inner.insert(comprehension.iter_var.clone(), first);
    inner.extend(two.map(|second| (second.clone(), part)));
    inner.insert(comprehension.accu_var.clone(), Shape::Unknown);
    visit([&comprehension.accu_init], scope)?;
    let parts = [&comprehension.loop_cond, &comprehension.loop_step, &comprehension.result];
    visit(parts, &inner)
}
