//! Which kinds are drawn, and what is said to them?
//!
//! For each kind small pools of bodies and patches: valid, pruned, defaulted, and wrong in several ways. Sequences draw from the pools of
//! one kind or mix them up. Objects of kinds without a namespace carry the name of their sequence, `{case}-a`, because nobody else's
//! `a` may be in their way.

/// Where the objects of a kind live.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scope {
    Namespaced,
    Cluster,
}

/// Whether sequences delete objects of a kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Deletion {
    Drawn,
    /// A controller finishes it some time later on a real server: what a request in between sees is chance.
    Left,
}

/// A kind and what is said to it.
#[derive(Debug)]
pub(crate) struct Kind {
    pub(crate) plural: &'static str,
    pub(crate) api: &'static str,
    /// How a body names the kind.
    pub(crate) words: &'static str,
    pub(crate) scope: Scope,
    pub(crate) deletion: Deletion,
    pub(crate) valid: &'static [&'static str],
    pub(crate) invalid: &'static [&'static str],
    pub(crate) merges: &'static [&'static str],
    pub(crate) json_patches: &'static [&'static str],
    /// Merge patches to the status; none where there is no such subresource.
    pub(crate) statuses: &'static [&'static str],
}

impl Kind {
    /// The path of the collection; `{case}` stands for the namespace.
    pub(crate) fn collection(&self) -> String {
        match self.scope {
            Scope::Namespaced => format!("{}/namespaces/{{case}}/{}", self.api, self.plural),
            Scope::Cluster => format!("{}/{}", self.api, self.plural),
        }
    }

    /// The name of an object that the sequence calls `short`.
    pub(crate) fn name(&self, short: &str) -> String {
        match self.scope {
            Scope::Namespaced => short.to_owned(),
            Scope::Cluster => format!("{{case}}-{short}"),
        }
    }
}

/// The kinds, each with how often it is drawn.
pub(crate) static KINDS: [(u32, Kind); 7] = [
    (5, TIDES),
    (2, CONFIG_MAPS),
    (3, PODS),
    (2, NODES),
    (1, NAMESPACES),
    (2, LEASES),
    (2, BERTHS),
];

const TIDES: Kind = Kind {
    plural: "tides",
    api: "/apis/example.com/v1",
    words: r#""apiVersion":"example.com/v1","kind":"Tide""#,
    scope: Scope::Namespaced,
    deletion: Deletion::Drawn,
    valid: &[
        r#""spec":{"harbour":"dover"}"#,
        r#""spec":{"harbour":"dover","height":7}"#,
        r#""spec":{"harbour":"dover","height":7,"boats":[{"name":"x","length":3},{"name":"y"}]}"#,
        r#""spec":{"harbour":"dover","tags":["p","q"],"gates":{"in":"open","out":"shut"}}"#,
    ],
    invalid: &[
        r#""spec":{"harbour":"calais"}"#,
        r#""spec":{"harbour":"dover","height":99}"#,
        r#""spec":{"harbour":"dover","low":9,"height":2}"#,
        r#""spec":{"harbour":"dover","unknown":1}"#,
        r#""spec":{"harbour":7}"#,
        r#""spec":{}"#,
        r#""spec":{"harbour":"dover","boats":[{"name":"x"},{"name":"x"}]}"#,
        r#""data":{"k":"1"}"#,
    ],
    merges: &[
        r#"{"spec":{"height":8}}"#,
        r#"{"spec":{"height":null,"note":"hi"}}"#,
        r#"{"spec":{"boats":[]}}"#,
        r#"{"spec":{"height":99}}"#,
        r#"{"spec":{"harbour":"calais"}}"#,
        r#"{"status":{"level":1}}"#,
    ],
    json_patches: &[
        r#"[{"op":"replace","path":"/spec/height","value":4}]"#,
        r#"[{"op":"remove","path":"/spec/boats/0"}]"#,
        r#"[{"op":"add","path":"/spec/boats/-","value":{"name":"z"}}]"#,
        r#"[{"op":"test","path":"/spec/harbour","value":"nowhere"}]"#,
        r#"[{"op":"copy","from":"/spec/harbour","path":"/spec/note"}]"#,
        r#"[{"op":"juggle","path":"/spec"}]"#,
    ],
    statuses: &[
        r#"{"status":{"level":3}}"#,
        r#"{"spec":{"height":1},"status":{"level":4}}"#,
        r#"{"status":{"conditions":[{"type":"Ready","status":"True"}]}}"#,
        r#"{"status":{"conditions":[{"type":"Ready"}]}}"#,
        r#"{"metadata":{"labels":{"from":"status"}}}"#,
    ],
};

const CONFIG_MAPS: Kind = Kind {
    plural: "configmaps",
    api: "/api/v1",
    words: r#""apiVersion":"v1","kind":"ConfigMap""#,
    scope: Scope::Namespaced,
    deletion: Deletion::Drawn,
    valid: &[
        r#""data":{"k":"1"}"#,
        r#""data":{"k":"1","l":"2"}"#,
        r#""binaryData":{"b":"AAE="}"#,
        r#""immutable":true,"data":{"k":"1"}"#,
    ],
    invalid: &[
        r#""data":{"k":1}"#,
        r#""data":{"not a key":"1"}"#,
        r#""data":{"k":"1"},"binaryData":{"k":"AAE="}"#,
        r#""binaryData":{"b":"!"}"#,
        r#""spec":{"harbour":"dover"}"#,
    ],
    merges: &[
        r#"{"data":{"k":"2"}}"#,
        r#"{"data":{"k":null}}"#,
        r#"{"immutable":true}"#,
        r#"{"immutable":false}"#,
        r#"{"data":{"k":7}}"#,
    ],
    json_patches: &[
        r#"[{"op":"add","path":"/data","value":{"k":"3"}}]"#,
        r#"[{"op":"remove","path":"/data/k"}]"#,
    ],
    statuses: &[],
};

const PODS: Kind = Kind {
    plural: "pods",
    api: "/api/v1",
    words: r#""apiVersion":"v1","kind":"Pod""#,
    scope: Scope::Namespaced,
    deletion: Deletion::Drawn,
    valid: &[
        r#""spec":{"containers":[{"name":"c","image":"i"}]}"#,
        r#""spec":{"nodeName":"somewhere","containers":[{"name":"c","image":"i:v1"}]}"#,
        r#""spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":"100m","memory":"1Gi"}}}]}"#,
        r#""spec":{"terminationGracePeriodSeconds":5,"containers":[{"name":"c","image":"i","ports":[{"containerPort":80}],"env":[{"name":"E","value":"1"}]},{"name":"d","image":"j"}]}"#,
    ],
    invalid: &[
        r#""spec":{}"#,
        r#""spec":{"containers":[]}"#,
        r#""spec":{"containers":[{"name":"c"}]}"#,
        r#""spec":{"containers":[{"image":"i"}]}"#,
        r#""spec":{"containers":[{"name":"C","image":"i"}]}"#,
        r#""spec":{"containers":[{"name":"c","image":"i"},{"name":"c","image":"j"}]}"#,
        r#""spec":{"restartPolicy":"Sometimes","containers":[{"name":"c","image":"i"}]}"#,
        r#""spec":{"containers":"c"}"#,
    ],
    merges: &[
        r#"{"spec":{"containers":[{"name":"c","image":"k"}]}}"#,
        r#"{"spec":{"nodeName":"elsewhere"}}"#,
        r#"{"spec":{"activeDeadlineSeconds":60}}"#,
        r#"{"spec":{"restartPolicy":"Always"}}"#,
        r#"{"status":{"phase":"Running"}}"#,
    ],
    json_patches: &[
        r#"[{"op":"replace","path":"/spec/containers/0/image","value":"l"}]"#,
        r#"[{"op":"remove","path":"/spec/containers/0"}]"#,
    ],
    statuses: &[
        r#"{"status":{"phase":"Running"}}"#,
        r#"{"status":{"phase":"Sideways"}}"#,
        r#"{"status":{"conditions":[{"type":"Ready","status":"True"}]}}"#,
        r#"{"spec":{"nodeName":"there"},"status":{"message":"m"}}"#,
    ],
};

const NODES: Kind = Kind {
    plural: "nodes",
    api: "/api/v1",
    words: r#""apiVersion":"v1","kind":"Node""#,
    scope: Scope::Cluster,
    deletion: Deletion::Drawn,
    valid: &[
        r#""spec":{}"#,
        r#""spec":{"unschedulable":true}"#,
        r#""spec":{"taints":[{"key":"k","effect":"NoSchedule"}]}"#,
        r#""status":{"capacity":{"cpu":"4","memory":"8Gi"}}"#,
    ],
    invalid: &[
        r#""spec":{"taints":[{"key":"k","effect":"Perhaps"}]}"#,
        r#""spec":{"taints":[{"effect":"NoSchedule"}]}"#,
        r#""spec":{"unschedulable":"yes"}"#,
        r#""spec":{"podCIDR":"here"}"#,
        r#""spec":{"taints":[{"key":"k","effect":"NoSchedule"},{"key":"k","effect":"NoSchedule"}]}"#,
    ],
    merges: &[
        r#"{"spec":{"unschedulable":true}}"#,
        r#"{"spec":{"unschedulable":null}}"#,
        r#"{"spec":{"taints":[{"key":"l","effect":"NoExecute"}]}}"#,
        r#"{"spec":{"providerID":"p"}}"#,
        r#"{"status":{"capacity":{"cpu":"9"}}}"#,
    ],
    json_patches: &[
        r#"[{"op":"add","path":"/spec/unschedulable","value":true}]"#,
        r#"[{"op":"remove","path":"/spec/taints"}]"#,
    ],
    statuses: &[
        r#"{"status":{"capacity":{"cpu":"2"}}}"#,
        r#"{"status":{"conditions":[{"type":"Ready","status":"True"}]}}"#,
        r#"{"status":{"capacity":{"cpu":"many"}}}"#,
    ],
};

const NAMESPACES: Kind = Kind {
    plural: "namespaces",
    api: "/api/v1",
    words: r#""apiVersion":"v1","kind":"Namespace""#,
    scope: Scope::Cluster,
    deletion: Deletion::Left,
    valid: &[r#""spec":{}"#, r#""status":{}"#],
    invalid: &[
        r#""spec":{"finalizers":["plain"]}"#,
        r#""spec":[]"#,
        r#""status":{"phase":"Sideways"}"#,
    ],
    merges: &[
        r#"{"spec":{"finalizers":["kubernetes"]}}"#,
        r#"{"spec":{"finalizers":[]}}"#,
        r#"{"status":{"phase":"Terminating"}}"#,
    ],
    json_patches: &[r#"[{"op":"remove","path":"/metadata/labels"}]"#],
    statuses: &[
        r#"{"status":{"conditions":[{"type":"Calm","status":"True"}]}}"#,
        r#"{"metadata":{"annotations":{"from":"status"}}}"#,
    ],
};

const LEASES: Kind = Kind {
    plural: "leases",
    api: "/apis/coordination.k8s.io/v1",
    words: r#""apiVersion":"coordination.k8s.io/v1","kind":"Lease""#,
    scope: Scope::Namespaced,
    deletion: Deletion::Drawn,
    valid: &[
        r#""spec":{}"#,
        r#""spec":{"holderIdentity":"x","leaseDurationSeconds":15}"#,
        r#""spec":{"holderIdentity":"x","renewTime":"2026-01-02T03:04:05.000006Z","leaseTransitions":1}"#,
    ],
    invalid: &[
        r#""spec":{"leaseDurationSeconds":0}"#,
        r#""spec":{"leaseDurationSeconds":-5}"#,
        r#""spec":{"leaseTransitions":-1}"#,
        r#""spec":{"leaseDurationSeconds":"long"}"#,
        r#""spec":{"renewTime":"yesterday"}"#,
    ],
    merges: &[
        r#"{"spec":{"holderIdentity":"y"}}"#,
        r#"{"spec":{"holderIdentity":null}}"#,
        r#"{"spec":{"leaseDurationSeconds":0}}"#,
        r#"{"spec":{"renewTime":"2026-01-02T03:04:06Z"}}"#,
    ],
    json_patches: &[r#"[{"op":"replace","path":"/spec/holderIdentity","value":"z"}]"#],
    statuses: &[],
};

const BERTHS: Kind = Kind {
    plural: "berths",
    api: "/apis/example.com/v1",
    words: r#""apiVersion":"example.com/v1","kind":"Berth""#,
    scope: Scope::Cluster,
    deletion: Deletion::Drawn,
    valid: &[
        r#""spec":{"depth":4}"#,
        r#""spec":{"depth":4,"ships":["x","y"]}"#,
        r#""spec":{"depth":4,"crane":{"reach":2}}"#,
        r#""spec":{"depth":4,"free":{"any":[1,{"thing":true}]}}"#,
    ],
    invalid: &[
        r#""spec":{"depth":0}"#,
        r#""spec":{"depth":4,"ships":["x","x"]}"#,
        r#""spec":{"depth":4,"crane":{"reach":9}}"#,
        r#""spec":{"depth":4,"crane":{}}"#,
        r#""spec":{"depth":"deep"}"#,
        r#""status":{"taken":true}"#,
    ],
    merges: &[
        r#"{"spec":{"depth":9}}"#,
        r#"{"spec":{"depth":3}}"#,
        r#"{"spec":{"crane":null}}"#,
        r#"{"spec":{"free":{"any":null,"more":"1"}}}"#,
        r#"{"status":{"taken":true}}"#,
    ],
    json_patches: &[
        r#"[{"op":"add","path":"/spec/ships","value":["z"]}]"#,
        r#"[{"op":"move","from":"/spec/crane","path":"/spec/free"}]"#,
    ],
    statuses: &[r#"{"status":{"taken":true}}"#, r#"{"status":{"taken":"yes"}}"#],
};
