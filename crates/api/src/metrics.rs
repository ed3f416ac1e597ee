//! Which metrics are served, under which names and labels? One table: the operator serves from it, the reference page is made from
//! it, and alerts and dashboards are checked against it.
//!
//! METR-1 and METR-2 bind the values. The numbers of the first five are instants turned into seconds when they are asked for;
//! negative ones are words: -1 for ever, -2 cannot tell.

/// A metric, as it is served.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Metric {
    /// Its name.
    pub name: &'static str,
    /// How it is counted.
    pub form: Form,
    /// Its labels, in the order they are written. [`NAMESPACE`] is left out for objects that live in no namespace.
    pub labels: &'static [&'static str],
    /// What it says, in one sentence or a list of values: the text of `# HELP`.
    pub help: &'static str,
}

/// How a metric is counted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Form {
    /// A figure that goes up and down.
    Gauge,
    /// A count that only grows while the program runs.
    Counter,
    /// Lengths sorted into buckets, by the upper ends of all but the last, which has none; in seconds.
    Histogram(&'static [f64]),
}

impl Form {
    /// The word for it, as in `# TYPE`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Gauge => "gauge",
            Self::Counter => "counter",
            Self::Histogram(_) => "histogram",
        }
    }
}

/// The label that only objects in a namespace have.
pub const NAMESPACE: &str = "namespace";

const OF_RESOURCE: &[&str] = &["kind", "object", "system", NAMESPACE];
const OF_OBJECT: &[&str] = &["kind", "object", NAMESPACE];

/// Whether something waits, and for what.
pub const CHANGE_PENDING: Metric = Metric {
    name: "change_management_change_pending",
    form: Form::Gauge,
    labels: OF_RESOURCE,
    help: "Whether changes wait: 0 none, 1 being initiated or under way, 2 pending and held back, by the gate or by the resource itself.",
};

/// When changes may start.
pub const NEXT_CHANGE_ETA: Metric = Metric {
    name: "change_management_next_change_eta",
    form: Form::Gauge,
    labels: OF_RESOURCE,
    help: "Seconds until changes are permitted: 0 now, -1 paused indefinitely, -2 cannot tell.",
};

/// How long changes may still start.
pub const PERMISSIVE_REMAINING: Metric = Metric {
    name: "change_management_permissive_remaining",
    form: Form::Gauge,
    labels: OF_RESOURCE,
    help: "Seconds for which changes are still permitted: 0 not permitted, -1 permitted indefinitely, -2 cannot tell.",
};

/// How long nothing could start.
pub const LAST_CHANGE: Metric = Metric {
    name: "change_management_last_change",
    form: Form::Gauge,
    labels: OF_RESOURCE,
    help: "Seconds since changes were last permitted or initiated: 0 permitted now, -1 unknown.",
};

/// Which strategy decides (METR-2: at most one of an object is 1).
pub const STRATEGY_ENABLED: Metric = Metric {
    name: "change_management_strategy_enabled",
    form: Form::Gauge,
    labels: &["kind", "object", "system", "strategy", NAMESPACE],
    help: "Which strategy is in force (MaintenanceSchedule, Permissive, Restrictive): 1 for that one, 0 for the others, 0 for all without a stanza.",
};

/// Whether anything keeps the gate.
pub const ENFORCED: Metric = Metric {
    name: "change_management_enforced",
    form: Form::Gauge,
    labels: OF_RESOURCE,
    help: "Whether something refuses what the gate holds: 1 the API server was seen to, 0 nothing does, -1 nobody has tried; only with a stanza, and not of gates that warn or audit.",
};

/// Whether an admission policy of gates or freezes was seen refusing.
pub const POLICY_PROVEN: Metric = Metric {
    name: "tidegate_policy_proven",
    form: Form::Gauge,
    labels: &["policy"],
    help: "Whether the API server was seen refusing by this admission policy, named without the release: 1 it was, 0 it does not, -1 nobody could try; only by the leader.",
};

/// Which build answers.
pub const BUILD: Metric = Metric {
    name: "tidegate_build_info",
    form: Form::Gauge,
    labels: &["version"],
    help: "Always 1; the label says which version of the operator answers.",
};

/// Who acts.
pub const LEADER: Metric = Metric {
    name: "tidegate_leader",
    form: Form::Gauge,
    labels: &[],
    help: "Whether this replica holds the lease and writes: 1 yes, 0 no.",
};

/// How often objects were looked at.
pub const RECONCILES: Metric = Metric {
    name: "tidegate_reconciles_total",
    form: Form::Counter,
    labels: &["kind", "outcome"],
    help: "Reconciles that ended, by the kind of the object and how they ended.",
};

/// How long it takes to look at an object.
pub const RECONCILE_SECONDS: Metric = Metric {
    name: "tidegate_reconcile_seconds",
    form: Form::Histogram(&[0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1.0, 5.0, 30.0]),
    labels: &[],
    help: "How long a reconcile took.",
};

/// How many objects wait to be looked at.
pub const QUEUE_LENGTH: Metric = Metric {
    name: "tidegate_queue_length",
    form: Form::Gauge,
    labels: &[],
    help: "Objects that wait to be reconciled.",
};

/// How punctual the operator is.
pub const EDGE_LATENESS_SECONDS: Metric = Metric {
    name: "tidegate_edge_lateness_seconds",
    form: Form::Histogram(&[0.01, 0.05, 0.1, 0.5, 1.0, 5.0, 15.0, 60.0, 300.0, 900.0]),
    labels: &[],
    help: "How long after a window opened or closed the operator acted on it.",
};

/// What the API server was asked.
pub const API_REQUESTS: Metric = Metric {
    name: "tidegate_api_requests_total",
    form: Form::Counter,
    labels: &["verb", "code"],
    help: "Requests to the API server, by verb and by the HTTP status of the answer.",
};

/// Whether the clocks agree.
pub const CLOCK_SKEW_SECONDS: Metric = Metric {
    name: "tidegate_clock_skew_seconds",
    form: Form::Gauge,
    labels: &[],
    help: "How far the operator's clock is ahead of the API server's; negative when it is behind.",
};

/// How old the operator's knowledge is.
pub const CACHE_AGE_SECONDS: Metric = Metric {
    name: "tidegate_cache_age_seconds",
    form: Form::Gauge,
    labels: &["kind"],
    help: "Seconds since the API server was last heard on the watch of a kind.",
};

/// Whether a policy is understood.
pub const POLICY_READY: Metric = Metric {
    name: "tidegate_policy_ready",
    form: Form::Gauge,
    labels: OF_OBJECT,
    help: "Whether the policy is understood for its present generation: 1 yes, 0 no, and then it holds every change.",
};

/// Whether somebody overrode a policy.
pub const OVERRIDE_IN_FORCE: Metric = Metric {
    name: "tidegate_override_in_force",
    form: Form::Gauge,
    labels: OF_OBJECT,
    help: "Whether a stanza overrides the policy it names, for a time or for good: 1 yes, 0 no.",
};

/// Whether a gate was taken away.
pub const STANZA_REMOVED: Metric = Metric {
    name: "tidegate_stanza_removed",
    form: Form::Gauge,
    labels: OF_OBJECT,
    help: "Whether a stanza that was there is gone: 1 yes, and then every change is permitted; 0 no.",
};

/// Whether somebody did not ask the gate.
pub const INITIATED_OUTSIDE_WINDOW_TIMESTAMP_SECONDS: Metric = Metric {
    name: "tidegate_initiated_outside_window_timestamp_seconds",
    form: Form::Gauge,
    labels: OF_OBJECT,
    help: "When the newest change began, in seconds since 1970, if it began while the gate was shut; absent otherwise.",
};

/// When an update will find kubelets that are too old.
pub const SKEW_BLOCKS_AT_TIMESTAMP_SECONDS: Metric = Metric {
    name: "tidegate_skew_blocks_at_timestamp_seconds",
    form: Form::Gauge,
    labels: OF_OBJECT,
    help: "When the update that is wished for would start and kubelets will be too old for it, in seconds since 1970; 0 if nothing like that is ahead. Absent where the operator starts no updates.",
};

/// Whether the server keeps what is written.
pub const STATUS_PRUNED: Metric = Metric {
    name: "tidegate_status_pruned",
    form: Form::Gauge,
    labels: OF_OBJECT,
    help: "Whether the API server drops the status that is written, because the definition of the kind lacks the fields: 1 yes, 0 no.",
};

/// Whether the operator moves.
pub const LAST_PROGRESS_TIMESTAMP_SECONDS: Metric = Metric {
    name: "tidegate_last_progress_timestamp_seconds",
    form: Form::Gauge,
    labels: &[],
    help: "When the operator last finished a round of work, in seconds since 1970.",
};

/// Every metric, in the order they are served.
pub const METRICS: &[Metric] = &[
    CHANGE_PENDING,
    NEXT_CHANGE_ETA,
    PERMISSIVE_REMAINING,
    LAST_CHANGE,
    STRATEGY_ENABLED,
    ENFORCED,
    POLICY_PROVEN,
    BUILD,
    LEADER,
    RECONCILES,
    RECONCILE_SECONDS,
    QUEUE_LENGTH,
    EDGE_LATENESS_SECONDS,
    API_REQUESTS,
    CLOCK_SKEW_SECONDS,
    CACHE_AGE_SECONDS,
    POLICY_READY,
    OVERRIDE_IN_FORCE,
    STANZA_REMOVED,
    INITIATED_OUTSIDE_WINDOW_TIMESTAMP_SECONDS,
    SKEW_BLOCKS_AT_TIMESTAMP_SECONDS,
    STATUS_PRUNED,
    LAST_PROGRESS_TIMESTAMP_SECONDS,
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_metric_has_a_name_of_its_own() {
        let names: BTreeSet<&str> = METRICS.iter().map(|metric| metric.name).collect();
        assert_eq!(names.len(), METRICS.len());
    }

    /// METR-1, METR-2: the five of the design, whose labels dashboards elsewhere rely on, and ours beside them (GATE-13).
    #[test]
    fn metrics_of_change_management_tell_object_and_system() {
        let ours = METRICS.iter().filter(|m| m.name.starts_with("change_management_"));
        let ours: Vec<&Metric> = ours.collect();
        assert_eq!(ours.len(), 6);
        for metric in ours {
            assert!(metric.labels.starts_with(&["kind", "object", "system"]), "{}", metric.name);
            assert_eq!(metric.labels.last(), Some(&NAMESPACE), "{}", metric.name);
        }
    }

    #[test]
    fn names_and_help_keep_to_the_conventions() {
        for metric in METRICS {
            assert_eq!(
                metric.name.ends_with("_total"),
                metric.form == Form::Counter,
                "{} is a {}",
                metric.name,
                metric.form.as_str()
            );
            assert!(metric.help.ends_with('.') && !metric.help.contains('\n'), "{}", metric.name);
            if let Form::Histogram(ends) = metric.form {
                assert!(ends.is_sorted_by(|a, b| a < b) && !ends.is_empty(), "{}", metric.name);
            }
        }
    }
}
