//! Is a node told to change, and to which pool does what it is told belong?
//!
//! The machine-config-controller of OpenShift tells a node by the annotation `desiredConfig`, and a node whose system is an image also by
//! `desiredImage` (POOL-1). Kubelets write their nodes all the time, so this is two comparisons of texts, and fails for no node.
//!
//! A node that joins is told to stay as it is: its daemon writes what it runs and what it is told in one write, on a node that was told nothing
//! before. Whoever takes the order away first, to look like one that joins, is held as well.

/// An annotation of a node, or nothing.
macro_rules! note {
    ($at:literal, $key:literal) => {
        concat!(
            "(has(",
            $at,
            ".metadata.annotations) && '",
            $key,
            "' in ",
            $at,
            ".metadata.annotations ? ",
            $at,
            ".metadata.annotations['",
            $key,
            "'] : '')"
        )
    };
}

/// The same of the node as it was, which may not have been there.
macro_rules! note_before {
    ($key:literal) => {
        concat!(
            "(oldObject != null && has(oldObject.metadata.annotations) && '",
            $key,
            "' in oldObject.metadata.annotations ? oldObject.metadata.annotations['",
            $key,
            "'] : '')"
        )
    };
}

/// Whether a write tells a node to change: an expression over `object` and `oldObject`. What somebody tries, to see whether orders are
/// refused, names a configuration that cannot exist, and is judged elsewhere (GATE-13).
macro_rules! orders {
    () => {
        concat!(
            "(",
            note!("object", "machineconfiguration.openshift.io/desiredConfig"),
            " != ",
            note_before!("machineconfiguration.openshift.io/desiredConfig"),
            " && ",
            note!("object", "machineconfiguration.openshift.io/desiredConfig"),
            " != 'Tidegate-tries-whether-this-is-refused' && !(",
            note_before!("machineconfiguration.openshift.io/desiredConfig"),
            " == '' && ",
            note!("object", "machineconfiguration.openshift.io/desiredConfig"),
            " == (",
            note_before!("machineconfiguration.openshift.io/currentConfig"),
            " != '' ? ",
            note_before!("machineconfiguration.openshift.io/currentConfig"),
            " : ",
            note!("object", "machineconfiguration.openshift.io/currentConfig"),
            ")) || ",
            note!("object", "machineconfiguration.openshift.io/desiredImage"),
            " != ",
            note_before!("machineconfiguration.openshift.io/desiredImage"),
            " && ",
            note!("object", "machineconfiguration.openshift.io/desiredImage"),
            " != '' && !(",
            note_before!("machineconfiguration.openshift.io/desiredImage"),
            " == '' && ",
            note_before!("machineconfiguration.openshift.io/desiredConfig"),
            " == ''))"
        )
    };
}

/// The pools of what a node is told and of what it was told before, by the names of rendered configurations (RCH-12), as a list of none, one or two:
/// a name that tells no pool leaves the other.
macro_rules! pools {
    () => {
        concat!(
            "[",
            note!("object", "machineconfiguration.openshift.io/desiredConfig"),
            ", ",
            note_before!("machineconfiguration.openshift.io/desiredConfig"),
            "].filter(told, told.matches('^rendered-.+-[^-]+$')).map(told, told.substring(9, told.lastIndexOf('-')))"
        )
    };
}

/// The pool of what a node is told; where that tells none, of what it was told before. Nothing where neither does.
macro_rules! pool {
    () => {
        concat!("(", pools!(), " + [''])[0]")
    };
}

/// Whether what a node is told was begun before (GATE-10, GATE-15): an update of the control plane that it belongs to. The operator alone writes
/// either, and the first is judged as it was before this write.
macro_rules! begun {
    () => {
        concat!(
            "(", note_before!("changemanagement.openshift.io/begun-release"), " != '' || \
             (request.userInfo.username.startsWith('system:serviceaccount:{{ .Release.Namespace }}:') && ",
            note!("object", "changemanagement.openshift.io/permit-basis"), ".startsWith('already initiated: ')))"
        )
    };
}

pub(super) use {begun, note, note_before, orders, pool, pools};
