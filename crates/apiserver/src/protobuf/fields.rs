//! Field numbers of the kinds that typed clients send.

/// What a field holds.
#[derive(Debug, Clone, Copy)]
pub(super) enum Shape {
    Text,
    /// Bytes, base64 in JSON.
    Blob,
    Number,
    /// A number whose zero means that nothing was set; Go writes it all the same.
    Count,
    Bool,
    Time,
    IntOrString,
    Message(&'static [Field]),
    List(&'static Shape),
    /// A map from strings.
    Map(&'static Shape),
}

/// One field of a message.
#[derive(Debug, Clone, Copy)]
pub(super) struct Field {
    pub(super) number: u32,
    pub(super) name: &'static str,
    pub(super) shape: Shape,
}

impl Field {
    pub(super) const fn text(number: u32, name: &'static str) -> Self {
        Self { number, name, shape: Shape::Text }
    }

    pub(super) const fn number(number: u32, name: &'static str) -> Self {
        Self { number, name, shape: Shape::Number }
    }

    const fn new(number: u32, name: &'static str, shape: Shape) -> Self {
        Self { number, name, shape }
    }
}

const TEXTS: Shape = Shape::List(&Shape::Text);
const TEXT_MAP: Shape = Shape::Map(&Shape::Text);

/// The envelope: type, then raw bytes.
pub(super) const UNKNOWN: &[Field] = &[Field::new(1, "typeMeta", Shape::Message(TYPE))];

const TYPE: &[Field] = &[Field::text(1, "apiVersion"), Field::text(2, "kind")];

const OWNER: &[Field] = &[
    Field::text(1, "kind"),
    Field::text(3, "name"),
    Field::text(4, "uid"),
    Field::text(5, "apiVersion"),
    Field::new(6, "controller", Shape::Bool),
    Field::new(7, "blockOwnerDeletion", Shape::Bool),
];

const META: Shape = Shape::Message(&[
    Field::text(1, "name"),
    Field::text(2, "generateName"),
    Field::text(3, "namespace"),
    Field::text(5, "uid"),
    Field::text(6, "resourceVersion"),
    Field::new(7, "generation", Shape::Count),
    Field::new(8, "creationTimestamp", Shape::Time),
    Field::new(9, "deletionTimestamp", Shape::Time),
    Field::new(11, "labels", TEXT_MAP),
    Field::new(12, "annotations", TEXT_MAP),
    Field::new(13, "ownerReferences", Shape::List(&Shape::Message(OWNER))),
    Field::new(14, "finalizers", TEXTS),
]);

const NAMESPACE: &[Field] = &[
    Field::new(1, "metadata", META),
    Field::new(2, "spec", Shape::Message(&[Field::new(1, "finalizers", TEXTS)])),
];

const CONFIG_MAP: &[Field] = &[
    Field::new(1, "metadata", META),
    Field::new(2, "data", TEXT_MAP),
    Field::new(3, "binaryData", Shape::Map(&Shape::Blob)),
    Field::new(4, "immutable", Shape::Bool),
];

const SECRET: &[Field] = &[
    Field::new(1, "metadata", META),
    Field::new(2, "data", Shape::Map(&Shape::Blob)),
    Field::text(3, "type"),
    Field::new(4, "stringData", TEXT_MAP),
    Field::new(5, "immutable", Shape::Bool),
];

const LOCAL_REFERENCE: &[Field] = &[Field::text(1, "name")];
const REFERENCE: &[Field] = &[
    Field::text(1, "kind"),
    Field::text(2, "namespace"),
    Field::text(3, "name"),
    Field::text(4, "uid"),
    Field::text(5, "apiVersion"),
    Field::text(6, "resourceVersion"),
    Field::text(7, "fieldPath"),
];

const SERVICE_ACCOUNT: &[Field] = &[
    Field::new(1, "metadata", META),
    Field::new(2, "secrets", Shape::List(&Shape::Message(REFERENCE))),
    Field::new(3, "imagePullSecrets", Shape::List(&Shape::Message(LOCAL_REFERENCE))),
    Field::new(4, "automountServiceAccountToken", Shape::Bool),
];

const PRECONDITIONS: &[Field] = &[Field::text(1, "uid"), Field::text(2, "resourceVersion")];

const DELETE_OPTIONS: &[Field] = &[
    Field::number(1, "gracePeriodSeconds"),
    Field::new(2, "preconditions", Shape::Message(PRECONDITIONS)),
    Field::new(3, "orphanDependents", Shape::Bool),
    Field::text(4, "propagationPolicy"),
    Field::new(5, "dryRun", TEXTS),
];

const EVICTION: &[Field] = &[
    Field::new(1, "metadata", META),
    Field::new(2, "deleteOptions", Shape::Message(DELETE_OPTIONS)),
];

const REQUIREMENT: &[Field] =
    &[Field::text(1, "key"), Field::text(2, "operator"), Field::new(3, "values", TEXTS)];

const LABEL_SELECTOR: &[Field] = &[
    Field::new(1, "matchLabels", TEXT_MAP),
    Field::new(2, "matchExpressions", Shape::List(&Shape::Message(REQUIREMENT))),
];

const BUDGET: &[Field] = &[
    Field::new(1, "metadata", META),
    Field::new(
        2,
        "spec",
        Shape::Message(&[
            Field::new(1, "minAvailable", Shape::IntOrString),
            Field::new(2, "selector", Shape::Message(LABEL_SELECTOR)),
            Field::new(3, "maxUnavailable", Shape::IntOrString),
            Field::text(4, "unhealthyPodEvictionPolicy"),
        ]),
    ),
];

const RESOURCE_ATTRIBUTES: &[Field] = &[
    Field::text(1, "namespace"),
    Field::text(2, "verb"),
    Field::text(3, "group"),
    Field::text(4, "version"),
    Field::text(5, "resource"),
    Field::text(6, "subresource"),
    Field::text(7, "name"),
];

const ACCESS_REVIEW: &[Field] = &[
    Field::new(1, "metadata", META),
    Field::new(
        2,
        "spec",
        Shape::Message(&[
            Field::new(1, "resourceAttributes", Shape::Message(RESOURCE_ATTRIBUTES)),
            Field::new(
                2,
                "nonResourceAttributes",
                Shape::Message(&[Field::text(1, "path"), Field::text(2, "verb")]),
            ),
        ]),
    ),
];

const RULES_REVIEW: &[Field] = &[
    Field::new(1, "metadata", META),
    Field::new(2, "spec", Shape::Message(&[Field::text(1, "namespace")])),
];

const SELF_REVIEW: &[Field] = &[Field::new(1, "metadata", META)];

/// The fields of a kind, if it is one that is decoded.
pub(super) fn of(version: &str, kind: &str) -> Option<&'static [Field]> {
    Some(match (version, kind) {
        ("v1", "Namespace") => NAMESPACE,
        ("v1", "ConfigMap") => CONFIG_MAP,
        ("v1", "Secret") => SECRET,
        ("v1", "ServiceAccount") => SERVICE_ACCOUNT,
        ("policy/v1", "Eviction") => EVICTION,
        ("policy/v1", "PodDisruptionBudget") => BUDGET,
        (_, "DeleteOptions") => DELETE_OPTIONS,
        ("authorization.k8s.io/v1", "SelfSubjectAccessReview") => ACCESS_REVIEW,
        ("authorization.k8s.io/v1", "SelfSubjectRulesReview") => RULES_REVIEW,
        ("authentication.k8s.io/v1", "SelfSubjectReview") => SELF_REVIEW,
        _ => return None,
    })
}
