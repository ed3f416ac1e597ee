//! Is the recipe of the image what it says: small, without a root user, and made by the pinned compiler from files that exist?
//!
//! There need not be a container engine to ask. An instruction is one line, continued by a backslash; its first word is what it does.

use crate::{Finding, Tree};

/// Where the recipe is.
pub const PATH: &str = "deploy/Containerfile";

/// Every fault of the recipe.
pub fn check(tree: &Tree) -> Vec<Finding> {
    let Some(text) = tree.text(PATH) else {
        return vec![Finding::of(PATH, "is not there")];
    };
    let steps = instructions(text);
    let mut problems = Vec::new();
    let images: Vec<&str> = words_of(&steps, "FROM").map(first_word).collect();
    let channel = tree
        .text("rust-toolchain.toml")
        .and_then(|text| text.split("channel = \"").nth(1)?.split('"').next())
        .unwrap_or("unknown");
    match images[..] {
        [build, "scratch"] => {
            if !build.contains(&format!("/rust:{channel}-")) {
                problems
                    .push(format!("{build} is not the compiler of rust-toolchain.toml, {channel}"));
            }
        }
        _ => problems.push(format!("is made of {images:?}, not of a build and `scratch`")),
    }
    if !words_of(&steps, "ENV").any(|set| set == format!("RUSTUP_TOOLCHAIN={channel}")) {
        problems.push(format!("does not set RUSTUP_TOOLCHAIN={channel}"));
    }
    let last = steps.iter().rposition(|(word, _)| *word == "FROM").unwrap_or_default();
    let (building, shipped) = steps.split_at(last);
    for (word, rest) in building.iter().filter(|(word, _)| *word == "COPY" || *word == "ADD") {
        let sources: Vec<&str> = rest.split_whitespace().collect();
        let sources = sources.split_last().map_or(&[][..], |(_, sources)| sources);
        let missing = sources.iter().filter(|source| !tree.holds(source));
        problems.extend(missing.map(|source| format!("{word} of {source}, which is not there")));
    }
    if !words_of(building, "RUN").any(|run| run.contains("cargo build --profile dist --locked")) {
        problems.push("does not build what ships with the lock file".to_owned());
    }
    let user = words_of(shipped, "USER").last().unwrap_or_default();
    let number = user.split(':').next().unwrap_or_default().parse::<u32>();
    if !number.is_ok_and(|number| number > 0) {
        problems.push(format!("runs as {user:?}, not as a number other than 0"));
    }
    if !words_of(shipped, "ENTRYPOINT").all(|entry| entry == "[\"/tidegate\"]")
        || words_of(shipped, "ENTRYPOINT").count() != 1
    {
        problems.push("does not start /tidegate, and only that".to_owned());
    }
    let copied: Vec<&str> = words_of(shipped, "COPY").flat_map(str::split_whitespace).collect();
    for program in ["/image/tidegate", "/image/tidegate-agent"] {
        if !copied.contains(&program) {
            problems.push(format!("does not bring {program}"));
        }
    }
    problems.into_iter().map(|problem| Finding::of(PATH, problem)).collect()
}

/// The instructions, each as its word and the rest, with continued lines joined and comments left out.
fn instructions(text: &str) -> Vec<(&str, String)> {
    let mut steps: Vec<(&str, String)> = Vec::new();
    let mut continued = false;
    let lines = text.lines().map(str::trim);
    for line in lines.filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let (body, more) =
            line.strip_suffix('\\').map_or((line, false), |body| (body.trim(), true));
        match steps.last_mut() {
            Some((_, rest)) if continued => {
                rest.push(' ');
                rest.push_str(body);
            }
            _ => {
                let (word, rest) = body.split_once(' ').unwrap_or((body, ""));
                steps.push((word, rest.to_owned()));
            }
        }
        continued = more;
    }
    steps
}

fn words_of<'a>(steps: &'a [(&str, String)], word: &str) -> impl Iterator<Item = &'a str> {
    steps.iter().filter(move |(first, _)| *first == word).map(|(_, rest)| rest.as_str())
}

fn first_word(text: &str) -> &str {
    text.split_whitespace().next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "\
FROM docker.io/library/rust:1.95.0-bookworm AS build
ENV RUSTUP_TOOLCHAIN=1.95.0
# Comments and continued lines are read as engines read them.
COPY Cargo.toml Cargo.lock ./
RUN cd /src \\
 && cargo build --profile dist --locked -p tidegate
FROM scratch
COPY --from=build /image/tidegate /image/tidegate-agent /
USER 65532:65532
ENTRYPOINT [\"/tidegate\"]
";

    #[track_caller]
    fn found((from, to): (&str, &str), expect: &[&str]) {
        let text = GOOD.replacen(from, to, 1);
        let tree = Tree::of([
            (PATH, text.as_str()),
            ("rust-toolchain.toml", "channel = \"1.95.0\""),
            ("Cargo.toml", ""),
            ("Cargo.lock", ""),
        ]);
        let findings: Vec<String> = check(&tree).iter().map(ToString::to_string).collect();
        assert_eq!(findings.len(), expect.len(), "{findings:#?}");
        for (found, expect) in findings.iter().zip(expect) {
            assert!(found.contains(expect), "{found} does not say: {expect}");
        }
    }

    #[test]
    fn each_fault_of_the_recipe_is_found() {
        found(("", ""), &[]);
        found(("rust:1.95.0", "rust:1.94.0"), &["not the compiler of rust-toolchain.toml"]);
        found(("RUSTUP_TOOLCHAIN=1.95.0", "A=1"), &["does not set RUSTUP_TOOLCHAIN"]);
        found(("FROM scratch", "FROM debian"), &["not of a build and `scratch`"]);
        found(("COPY Cargo.toml", "COPY Cargo.tom"), &["COPY of Cargo.tom, which is not there"]);
        found((" --locked", ""), &["does not build what ships with the lock file"]);
        found(("--profile dist", "--release"), &["does not build what ships"]);
        found(("USER 65532:65532", "USER tidegate"), &["not as a number other than 0"]);
        found(("USER 65532:65532", "USER 0"), &["not as a number other than 0"]);
        found(("USER 65532:65532\n", ""), &["not as a number other than 0"]);
        found(("[\"/tidegate\"]", "/tidegate"), &["does not start /tidegate"]);
        found((" /image/tidegate-agent", ""), &["does not bring /image/tidegate-agent"]);
        assert_eq!(check(&Tree::default()).len(), 1);
    }
}
