//! How is one suite run on a server, and what happens where there is none?
//!
//! A suite is an async function of a [`Cluster`]. [`on_embedded`] gives it the server inside the process; [`on_real`] starts a control plane
//! for it, or takes the cluster of `KUBECONFIG` when `TIDEGATE_USE_KUBECONFIG=yes` says so. Where neither programs nor a toolchain are to
//! be had, the suite is left out: one loud line on standard error, and one line in `<target>/test-logs/left-out/<suite>.txt` for the
//! summary. With `CI=true` that is a failure.

use std::{
    env, fs,
    io::{self, Write as _},
    path::{Path, PathBuf},
};

use crate::{
    axe,
    browser::Browser,
    cluster::Cluster,
    cluster_api::ClusterApi,
    control_plane::{ControlPlane, Controllers, StartError},
    embedded::Embedded,
    helm::Helm,
    kured::Kured,
    lent::Lent,
    module::OPENSHIFT,
    programs::{Missing, Programs},
};

/// Runs `suite` on a real server, on a runtime of its own.
///
/// # Panics
/// When the server does not start, or is missing where it must run: a test that cannot do its work has failed.
#[expect(clippy::panic, reason = "called from tests, whose way to fail is a panic")]
pub fn on_real(name: &str, controllers: Controllers, suite: impl AsyncFnOnce(&Cluster)) {
    let left_out = left_out_file(name);
    // A line from an earlier run no longer holds; there usually is none.
    let _ = fs::remove_file(&left_out);
    let outcome = runtime(name).block_on(async {
        if let Some(kubeconfig) = lent_kubeconfig() {
            let lent = Lent::take(&kubeconfig, &kubectl_for_lent()).await?;
            suite(lent.cluster()).await;
        } else {
            let programs = Programs::find(|name| env::var_os(name))?;
            let plane = ControlPlane::start(&programs, controllers).await?;
            suite(plane.cluster()).await;
        }
        Ok::<(), StartError>(())
    });
    match outcome {
        Ok(()) => {}
        Err(StartError::Missing(missing)) if may_leave_out() => {
            leave_out(name, &left_out, &missing);
        }
        Err(problem) => panic!("{name}: {}", chain(&problem)),
    }
}

/// Which kubectl a suite on the embedded server needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kubectl {
    /// The one whose words were recorded; without it the suite is left out.
    Pinned,
    /// None.
    Unused,
}

/// Runs `suite` on the embedded server, on a runtime of its own.
///
/// # Panics
/// When the server does not start, or kubectl is missing where it must run.
#[expect(clippy::panic, reason = "called from tests, whose way to fail is a panic")]
pub fn on_embedded(name: &str, kubectl: Kubectl, suite: impl AsyncFnOnce(&Cluster)) {
    let left_out = left_out_file(name);
    let _ = fs::remove_file(&left_out);
    let program = match kubectl {
        Kubectl::Unused => Ok(PathBuf::from("kubectl")),
        Kubectl::Pinned => Programs::find(|name| env::var_os(name)).and_then(|p| p.path("kubectl")),
    };
    let program = match program {
        Ok(program) => program,
        Err(missing) if may_leave_out() => return leave_out(name, &left_out, &missing),
        Err(missing) => panic!("{name}: {missing}"),
    };
    let server = Embedded::start(&program).unwrap_or_else(|problem| panic!("{name}: {problem}"));
    runtime(name).block_on(suite(server.cluster()));
}

/// Runs `suite` with the pinned Helm, or leaves it out where there is none.
///
/// # Panics
/// When Helm is missing where it must run, or cannot be built.
#[expect(clippy::panic, reason = "called from tests, whose way to fail is a panic")]
pub fn with_helm(name: &str, suite: impl FnOnce(&Helm)) {
    let left_out = left_out_file(name);
    let _ = fs::remove_file(&left_out);
    match Helm::find(|name| env::var_os(name)) {
        Ok(helm) => suite(&helm),
        Err(missing) if may_leave_out() => leave_out(name, &left_out, &missing),
        Err(missing) => panic!("{name}: {}", chain(&missing)),
    }
}

/// Runs `suite` with the definitions of a stock OpenShift, as texts: of `ClusterVersion` and of `MachineConfigPool`. Left out where they
/// cannot be had.
///
/// # Panics
/// When they are missing where they must be there.
#[expect(clippy::panic, reason = "called from tests, whose way to fail is a panic")]
pub fn with_openshift(name: &str, suite: impl FnOnce(&[String])) {
    let left_out = left_out_file(name);
    let _ = fs::remove_file(&left_out);
    let named = env::var_os(OPENSHIFT.instead).filter(|folder| !folder.is_empty());
    let folder = match named {
        Some(folder) => Ok(PathBuf::from(folder)),
        None => OPENSHIFT.folder(|name| env::var_os(name)),
    };
    match folder {
        Ok(folder) => {
            let text = |file: &str| {
                let path = folder.join(file);
                fs::read_to_string(&path).unwrap_or_else(|problem| {
                    panic!("{name}: {} cannot be read: {problem}", path.display())
                })
            };
            suite(&["clusterversions.yaml", "machineconfigpools.yaml"].map(text));
        }
        Err(missing) if may_leave_out() => leave_out(name, &left_out, &missing),
        Err(missing) => panic!("{name}: {}", chain(&missing)),
    }
}

/// Runs `suite` with the pinned Cluster API, or leaves it out where there is none, and where the server is one that somebody lent: it could not
/// reach the manager.
///
/// # Panics
/// When Cluster API is missing where it must run, or cannot be built.
#[expect(clippy::panic, reason = "called from tests, whose way to fail is a panic")]
pub fn with_cluster_api(name: &str, suite: impl FnOnce(&ClusterApi)) {
    let left_out = left_out_file(name);
    let _ = fs::remove_file(&left_out);
    let found = if uses_lent_cluster() {
        Err(Missing::Lent { name: "cluster-api" })
    } else {
        ClusterApi::find(|name| env::var_os(name))
    };
    match found {
        Ok(cluster_api) => suite(&cluster_api),
        Err(missing) if may_leave_out() => leave_out(name, &left_out, &missing),
        Err(missing) => panic!("{name}: {}", chain(&missing)),
    }
}

/// Runs `suite` with the pinned kured, or leaves it out where there is none, and where the server is one that somebody lent: kured would reboot its nodes.
///
/// # Panics
/// When kured is missing where it must run, or cannot be built.
#[expect(clippy::panic, reason = "called from tests, whose way to fail is a panic")]
pub fn with_kured(name: &str, suite: impl FnOnce(&Kured)) {
    let left_out = left_out_file(name);
    let _ = fs::remove_file(&left_out);
    let found = if uses_lent_cluster() {
        Err(Missing::Lent { name: "kured" })
    } else {
        Kured::find(|name| env::var_os(name))
    };
    match found {
        Ok(kured) => suite(&kured),
        Err(missing) if may_leave_out() => leave_out(name, &left_out, &missing),
        Err(missing) => panic!("{name}: {}", chain(&missing)),
    }
}

/// Runs `suite` with a browser, or leaves it out where there is none.
///
/// # Panics
/// When the browser is missing where it must run, or does not start.
#[expect(clippy::panic, reason = "called from tests, whose way to fail is a panic")]
pub fn with_browser(name: &str, suite: impl FnOnce(&mut Browser)) {
    let left_out = left_out_file(name);
    let _ = fs::remove_file(&left_out);
    match Browser::start(|name| env::var_os(name)) {
        Ok(mut browser) => suite(&mut browser),
        Err(missing @ Missing::Browser) if may_leave_out() => {
            leave_out(name, &left_out, &missing);
        }
        Err(missing) => panic!("{name}: {}", chain(&missing)),
    }
}

/// Runs `suite` with a browser and the script of axe-core, or leaves it out where one of them is not to be had.
///
/// # Panics
/// When either is missing where it must run.
#[expect(clippy::panic, reason = "called from tests, whose way to fail is a panic")]
pub fn with_axe(name: &str, suite: impl FnOnce(&mut Browser, &str)) {
    match axe::script(|name| env::var_os(name)) {
        Ok(script) => with_browser(name, |browser| suite(browser, &script)),
        Err(missing) if may_leave_out() => leave_out(name, &left_out_file(name), &missing),
        Err(missing) => panic!("{name}: {}", chain(&missing)),
    }
}

#[expect(clippy::panic, reason = "called from tests, whose way to fail is a panic")]
fn runtime(name: &str) -> tokio::runtime::Runtime {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.unwrap_or_else(|problem| panic!("no runtime for {name}: {problem}"))
}

/// In CI nothing is left out.
fn may_leave_out() -> bool {
    env::var_os("CI").is_none_or(|ci| ci != "true")
}

/// Whether the real server is one that somebody lent, and that outlives the suite.
pub fn uses_lent_cluster() -> bool {
    lent_kubeconfig().is_some()
}

/// The kubeconfig that somebody lent, with an explicit yes: a suite writes to the cluster, and no setting made for another purpose may
/// lead it there.
fn lent_kubeconfig() -> Option<PathBuf> {
    let agreed = env::var_os("TIDEGATE_USE_KUBECONFIG").is_some_and(|answer| answer == "yes");
    env::var_os("KUBECONFIG").filter(|path| agreed && !path.is_empty()).map(PathBuf::from)
}

fn kubectl_for_lent() -> PathBuf {
    match env::var_os("KUBEBUILDER_ASSETS") {
        Some(folder) if !folder.is_empty() => Path::new(&folder).join("kubectl"),
        _ => PathBuf::from("kubectl"),
    }
}

fn leave_out(name: &str, file: &Path, missing: &Missing) {
    let why = missing.to_string();
    let _ = writeln!(io::stderr(), "LEFT OUT: {name}: {why}");
    let line = format!("{name}: {}\n", why.lines().next().unwrap_or_default());
    let written =
        file.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| fs::write(file, line));
    if let Err(problem) = written {
        let _ = writeln!(
            io::stderr(),
            "LEFT OUT: {name}: {} cannot be written: {problem}",
            file.display()
        );
    }
}

/// Test programs live in `<target>/<profile>/deps`.
fn left_out_file(name: &str) -> PathBuf {
    let program = env::current_exe().unwrap_or_default();
    let target = program.ancestors().nth(3).unwrap_or(Path::new("target"));
    target.join("test-logs/left-out").join(format!("{name}.txt"))
}

/// An error and its causes, one after the other.
fn chain(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(error.source(), |cause| cause.source());
    causes.fold(error.to_string(), |text, cause| format!("{text}: {cause}"))
}
