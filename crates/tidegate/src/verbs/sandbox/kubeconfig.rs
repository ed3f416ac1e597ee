//! How do others find a sandbox? By a kubeconfig that is there while the sandbox is.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context as _, bail};

/// The first line of every kubeconfig that is written here: what may be overwritten and taken away again.
const MARK: &str = "# Written by tidegate sandbox; it is taken away when the sandbox ends.\n";

/// A kubeconfig that goes away with the sandbox, because it leads nowhere afterwards.
pub(super) struct Kubeconfig(PathBuf);

impl Kubeconfig {
    /// Writes it, but never over a file that is not ours: `--kubeconfig ~/.kube/config` must not cost anybody their clusters.
    pub(super) fn write(path: &Path, text: &str) -> anyhow::Result<Self> {
        match fs::read_to_string(path) {
            Ok(there) if !there.starts_with(MARK) => bail!(
                "{} is there already and was not written by a sandbox\n  hint: name another file",
                path.display()
            ),
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(error).with_context(|| format!("cannot read {}", path.display()));
            }
            Ok(_) | Err(_) => {}
        }
        fs::write(path, format!("{MARK}{text}"))
            .with_context(|| format!("cannot write {}", path.display()))?;
        Ok(Self(path.to_owned()))
    }
}

impl Drop for Kubeconfig {
    fn drop(&mut self) {
        // Somebody may have taken it away already.
        let _ = fs::remove_file(&self.0);
    }
}

/// Where a sandbox that listens on a port leaves its kubeconfig, if nobody says where.
pub(super) fn usual(temporary: &Path, port: u16) -> PathBuf {
    temporary.join(format!("tidegate-sandbox-{port}.kubeconfig"))
}

/// The kubeconfigs of sandboxes that left them in the usual place, the one that was started last first.
pub(super) fn newest_first(temporary: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(temporary).into_iter().flatten().filter_map(Result::ok);
    let ours = entries.filter(|entry| {
        let name = entry.file_name();
        let named = name.to_str().is_some_and(|name| {
            name.starts_with("tidegate-sandbox-") && name.ends_with(".kubeconfig")
        });
        // Anybody can put a file into a folder for temporary files.
        named && fs::read_to_string(entry.path()).is_ok_and(|text| text.starts_with(MARK))
    });
    let dated = |entry: fs::DirEntry| Some((entry.metadata().ok()?.modified().ok()?, entry.path()));
    let mut dated: Vec<_> = ours.filter_map(dated).collect();
    dated.sort();
    dated.into_iter().rev().map(|(_, path)| path).collect()
}
