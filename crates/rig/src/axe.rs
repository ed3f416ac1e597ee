//! What does the best known checker of accessibility say of a page? axe-core, as it was published, and never part of what is shipped.
//!
//! `TIDEGATE_AXE` names another file; else it comes from the per-user cache, else npm fetches it once, by the name and from the place that its
//! user has set up. What is fetched has to have the digest below, or it is not used.

use std::{
    ffi::OsString,
    fs, io,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use crate::programs::Missing;

const PACKAGE: &str = "axe-core@4.14.0";

/// The SHA-256 of `axe.min.js` in that package.
const DIGEST: &str = "20c09fe157a8a34a30e241aaa1fcdade657734f08ab379ecfbeb7d45cc46e878";

/// The script. `environment` answers like `std::env::var_os`.
pub(crate) fn script(environment: impl Fn(&str) -> Option<OsString>) -> Result<String, Missing> {
    let variable = |name| environment(name).filter(|value| !value.is_empty());
    if let Some(named) = variable("TIDEGATE_AXE") {
        return fs::read_to_string(PathBuf::from(named)).map_err(|_| Missing::Axe);
    }
    let cache = variable("XDG_CACHE_HOME")
        .map(PathBuf::from)
        .or_else(|| variable("HOME").map(|home| PathBuf::from(home).join(".cache")))
        .ok_or(Missing::Axe)?
        .join("tidegate/axe-core");
    let place = cache.join(format!("{}.js", &DIGEST[..16]));
    if let Ok(script) = fs::read_to_string(&place)
        && is_pinned(&script)
    {
        return Ok(script);
    }
    let script = fetched().filter(|script| is_pinned(script)).ok_or(Missing::Axe)?;
    // Whoever finds it under its name finds it whole; without a place to keep it, it is fetched again.
    let _ = keep(&cache, &place, &script);
    Ok(script)
}

fn is_pinned(script: &str) -> bool {
    let digest = ring::digest::digest(&ring::digest::SHA256, script.as_bytes());
    crate::hex(digest.as_ref()) == DIGEST
}

fn keep(cache: &Path, place: &Path, script: &str) -> io::Result<()> {
    fs::create_dir_all(cache)?;
    let beside = tempfile::NamedTempFile::new_in(cache)?;
    fs::write(beside.path(), script)?;
    beside.persist(place)?;
    Ok(())
}

fn fetched() -> Option<String> {
    let folder = tempfile::tempdir().ok()?;
    let run = |program: &str, arguments: &[&str]| {
        let mut command = Command::new(program);
        command.args(arguments).current_dir(folder.path());
        command.stdin(Stdio::null()).stderr(Stdio::null()).output().ok()
    };
    let packed = run("npm", &["pack", PACKAGE, "--silent"])?;
    let name = String::from_utf8(packed.stdout).ok()?;
    let unpacked = run("tar", &["-xOzf", name.trim(), "package/axe.min.js"])?;
    String::from_utf8(unpacked.stdout).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_pinned_is_used() {
        assert!(!is_pinned(""));
        assert!(!is_pinned("window.axe = {run: () => ({violations: []})}"));
        let nowhere = |name: &str| (name == "TIDEGATE_AXE").then(|| "/nowhere/axe.js".into());
        assert!(matches!(script(nowhere), Err(Missing::Axe)));
    }
}
