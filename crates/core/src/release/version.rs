//! Which release is newer, and by how much? Versions as `SemVer` has them.

use semver::BuildMetadata;
pub use semver::Version;

/// Reads a version, such as `4.20.7` or `4.21.0-rc.2`; none if the text is none. What follows a plus sign tells builds apart and says nothing about
/// age, so it is left out.
pub fn read(text: &str) -> Option<Version> {
    let version = Version::parse(text).ok()?;
    Some(Version { build: BuildMetadata::EMPTY, ..version })
}

/// Whether both belong to one minor version.
pub fn are_of_one_minor(one: &Version, other: &Version) -> bool {
    (one.major, one.minor) == (other.major, other.minor)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_and_ordered_as_semver_has_them() {
        let ascending = [
            "0.0.0",
            "4.9.30",
            "4.20.0-0.nightly",
            "4.20.0-ec.1",
            "4.20.0-rc.2",
            "4.20.0-rc.10",
            "4.20.0-rc.10.1",
            "4.20.0",
            "4.20.7",
            "4.20.10",
            "4.21.0",
            "5.0.0",
        ];
        let versions: Vec<Version> = ascending.iter().map(|text| read(text).expect(text)).collect();
        assert!(versions.is_sorted_by(|a, b| a < b), "{versions:?}");
        for (text, version) in ascending.iter().zip(&versions) {
            assert_eq!(version.to_string(), *text);
        }
        assert_eq!(read("4.20.7+build-1.x"), read("4.20.7"));
    }

    #[test]
    fn what_is_no_version_is_none() {
        for text in [
            "",
            "4",
            "4.20",
            "4.20.",
            "4.20.7.1",
            "v4.20.7",
            "4.020.7",
            "4.20.x",
            "4.20.7-",
            "4.20.7-a..b",
            "4.20.7-rc.01",
            "4.20.7+",
            "+4.20.7",
            "4.+20.7",
            " 4.20.7",
            "4.20.7\n",
            "99999999999999999999.0.0",
        ] {
            assert_eq!(read(text), None, "{text:?}");
        }
    }
}
