//! Who is who on a host? Users and groups, by what the host's own files say.

use crate::{
    host::{Entry, Host, HostError},
    path::HostPath,
};

/// The users and groups of a host.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Accounts {
    users: Vec<User>,
    groups: Vec<(String, u32)>,
}

/// A user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct User {
    /// The name.
    pub name: String,
    /// The number.
    pub uid: u32,
    /// The number of the first group.
    pub gid: u32,
    /// Where the user is at home.
    pub home: String,
}

// An image-based system keeps the users of the image beside those of the node.
const USERS: &[&str] = &["/etc/passwd", "/usr/lib/passwd"];
const GROUPS: &[&str] = &["/etc/group", "/usr/lib/group"];

impl Accounts {
    /// Asks a host.
    pub fn of(host: &impl Host) -> Result<Self, HostError> {
        Ok(Self::parse(&text(host, USERS)?, &text(host, GROUPS)?))
    }

    /// Reads the two files; what cannot be read in them is nobody.
    pub fn parse(users: &str, groups: &str) -> Self {
        let user = |line: &str| {
            let mut fields = line.split(':');
            let name = fields.next()?.to_owned();
            let uid = fields.nth(1)?.parse().ok()?;
            let gid = fields.next()?.parse().ok()?;
            Some(User { name, uid, gid, home: fields.nth(1)?.to_owned() })
        };
        let group = |line: &str| {
            let mut fields = line.split(':');
            Some((fields.next()?.to_owned(), fields.nth(1)?.parse().ok()?))
        };
        Self {
            users: users.lines().filter_map(user).collect(),
            groups: groups.lines().filter_map(group).collect(),
        }
    }

    /// The user of this name.
    pub fn user(&self, name: &str) -> Option<&User> {
        self.users.iter().find(|user| user.name == name)
    }

    /// The number of the group of this name.
    pub fn group(&self, name: &str) -> Option<u32> {
        self.groups.iter().find(|(group, _)| group == name).map(|(_, gid)| *gid)
    }
}

/// The hash of a user's password as the host has it; none if it does not say.
pub fn password(host: &impl Host, user: &str) -> Result<Option<String>, HostError> {
    let text = text(host, &["/etc/shadow"])?;
    let mut lines = text.lines().filter_map(|line| line.split_once(':'));
    let rest = lines.find(|(name, _)| *name == user).map(|(_, rest)| rest);
    Ok(rest.and_then(|rest| rest.split(':').next()).map(str::to_owned))
}

fn text(host: &impl Host, paths: &[&str]) -> Result<String, HostError> {
    let mut text = String::new();
    for path in paths {
        if let Entry::File(file) = host.read(&HostPath::parse(path)?)? {
            text.push_str(&String::from_utf8_lossy(&file.content));
            text.push('\n');
        }
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_are_no_accounts_are_nobody() {
        let accounts = Accounts::parse(
            "root:x:0:0:root:/:/bin/bash\n# none\ncore:x:1000:1001:Admin:/var/core:/bin/bash\nbad:x:y:0::/:\n",
            "root:x:0:\nwheel:x:10:core\nbroken\n",
        );
        assert_eq!(accounts.user("core").map(|user| (user.uid, user.gid)), Some((1000, 1001)));
        assert_eq!(accounts.user("core").map(|user| user.home.as_str()), Some("/var/core"));
        assert_eq!(accounts.user("bad"), None);
        assert_eq!((accounts.group("wheel"), accounts.group("broken")), (Some(10), None));
    }
}
