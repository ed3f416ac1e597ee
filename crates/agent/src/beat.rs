//! Does the agent live? It shows a sign while its loop turns, and whoever watches it reads how old that is (NODE-3).
//!
//! The sign is the time since the node started, not the time of day: a clock that is set must not look like a death. A sign that is
//! not there is no verdict: the agent may be about to give its first.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

/// Where an agent shows that it lives; nowhere, if nobody watches.
#[derive(Clone, Debug, Default)]
pub struct Beat(Option<PathBuf>);

/// How old a sign may be, in seconds. The longest that a healthy loop goes without one is a watch of a minute and a few requests of ten
/// seconds each; programs of the host and writes of files give signs of their own. Three minutes are twice that and more.
const OLDEST: u64 = 180;

/// How long the node has been up, in seconds.
const UPTIME: &str = "/proc/uptime";

impl Beat {
    /// Shows it in a file.
    pub fn at(path: PathBuf) -> Self {
        Self(Some(path))
    }

    /// Gives a sign. One that cannot be given is no reason to stop working.
    pub fn show(&self) {
        if let Some(path) = &self.0
            && let Ok(uptime) = fs::read_to_string(UPTIME)
        {
            // At once, so that nobody reads half of it.
            let beside = path.with_extension("new");
            let _ = fs::write(&beside, uptime).and_then(|()| fs::rename(&beside, path));
        }
    }
}

/// How many seconds ago an agent gave its last sign, if that is too long ago.
pub fn silent_for(path: &Path) -> io::Result<Option<u64>> {
    let sign = match fs::read_to_string(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        sign => sign?,
    };
    Ok(too_old(&sign, &fs::read_to_string(UPTIME)?))
}

fn too_old(sign: &str, now: &str) -> Option<u64> {
    // The first number, without its fraction.
    let seconds = |text: &str| text.split(['.', ' ']).next()?.trim().parse::<u64>().ok();
    let age = seconds(now)?.saturating_sub(seconds(sign)?);
    (age > OLDEST).then_some(age)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// NODE-3
    #[test]
    fn a_sign_is_too_old_after_three_minutes_and_never_without_a_number() {
        let check = |sign: &str, now: &str, expected: Option<u64>| {
            assert_eq!(too_old(sign, now), expected, "{sign:?} {now:?}");
        };
        check("100.25 700.00\n", "101.00 700.00\n", None);
        check("100.25 700.00\n", "280.99 700.00\n", None);
        check("100.25 700.00\n", "281.00 700.00\n", Some(181));
        check("", "281.00 700.00\n", None);
        check("500.00 1.00\n", "20.00 1.00\n", None);
    }

    #[test]
    fn a_beat_is_read_by_whoever_watches() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("beat");
        assert_eq!(silent_for(&path).unwrap(), None, "not yet");
        Beat::at(path.clone()).show();
        assert_eq!(silent_for(&path).unwrap(), None);
        Beat::default().show();
        fs::write(&path, "0.00 0.00\n").unwrap();
        // Whether the node has been up for three minutes is not known here; the rows above say what follows.
        assert!(silent_for(&path).unwrap().is_none_or(|age| age > OLDEST));
        Beat::at(folder.path().join("none/beat")).show();
    }
}
