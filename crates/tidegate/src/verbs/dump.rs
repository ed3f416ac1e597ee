//! `tidegate dump`: what does somebody who helps need to see of a cluster, and nothing that is not their business?

use std::fmt::Write as _;

use clap::{Args, FromArgMatches as _};
use tidegate_core::dump::{
    About, BEGINS, Content, Hidden, head,
    redact::Redactor,
    taken::{RELEASE, RELEASES, taken},
};
use views::safe::printable;

use super::{Listed, Verb};
use crate::{
    cluster::Reach,
    edge::Edge,
    output::{self, Exit, Output},
    source::LARGEST_OF_A_CLUSTER,
};

/// How long the head may become: the table of what was hidden is bounded.
const HEAD: u64 = 1024 * 1024;

pub(crate) fn verb() -> Verb {
    Verb {
        name: "dump",
        about: "Write what somebody who helps has to see of a cluster into one file, without secrets; every verb reads it with -f",
        more: "The command reads the cluster that kubectl would use, with your rights: policies, gates, freezes, overrides, guardrails and the history, what they hold, nodes and their \
               configurations, admission policies, roles, definitions and versions. It never asks for Secrets or ConfigMaps; of releases of Helm it gets names and labels. \
               Of what others own it keeps names, labels, images and the state; every other text becomes a number, the same for the same text. The head of the file has a \
               table of what was hidden, which is also told on standard error. What people wrote into policies, gates and freezes stays, unless it has the form of a token, \
               a key or a password. Read the file before you send it. The same objects give the same bytes.\n\n\
               Exit codes: 0 done, 2 the command could not look at something; the rest is printed all the same.\n\n\
               Examples:\n  \
               tidegate dump > cluster.yaml\n  \
               tidegate doctor -f cluster.yaml\n  \
               tidegate status -f cluster.yaml --at 2026-12-24T12:00:00Z",
        listed: Listed::Yes,
        args: Dump::augment_args,
        run: |matches, edge| run(&Dump::from_arg_matches(matches)?, edge),
    }
}

#[derive(Args, Debug)]
struct Dump {
    /// How many objects of one kind at most; the head says how many were left out
    #[arg(long, value_name = "COUNT", default_value_t = 20_000)]
    most: usize,
    #[command(flatten)]
    reach: Reach,
}

fn run(args: &Dump, edge: &mut Edge) -> anyhow::Result<Output> {
    let cluster = args.reach.connect()?;
    let now = cluster.now(edge);
    let mut about = About {
        command: env!("CARGO_PKG_VERSION").to_owned(),
        kubernetes: cluster.version(),
        plane: None,
    };
    let mut redactor = Redactor::default();
    let mut contents = Vec::new();
    let mut body = String::new();
    for taken in taken() {
        let mut content = Content::new(taken.api_version, taken.kind);
        match cluster.taken(&taken) {
            Err(error) => content.unread = Some(error.to_string()),
            Ok(mut objects) => {
                if taken.kind == api::names::CLUSTER_VERSION {
                    about.plane = cluster.plane_of(&objects)?;
                }
                if taken.kind == RELEASES.kind {
                    let name = |object: &serde_json::Value| {
                        object["metadata"]["name"].as_str().unwrap_or_default().to_owned()
                    };
                    objects.retain(|object| name(object).starts_with(RELEASE.2));
                }
                for object in redactor.redact(&taken, objects) {
                    let text = output::yaml(&object)?;
                    let size = (body.len() + text.len()) as u64;
                    // The first that does not fit ends its kind: which are there is then told by their order.
                    let fits = content.left_out == 0
                        && content.objects < args.most
                        && size + HEAD <= LARGEST_OF_A_CLUSTER;
                    if fits {
                        body.push_str("---\n");
                        body.push_str(&text);
                        content.objects += 1;
                    } else {
                        content.left_out += 1;
                    }
                }
            }
        }
        contents.push(content);
    }
    let head = output::yaml(&head(&about, &contents, redactor.hidden()))?;
    debug_assert!(head.starts_with(BEGINS), "{head}");
    let unread = contents.iter().any(|content| content.unread.is_some());
    let exit = if unread { Exit::Failure } else { Exit::Done };
    let mut talk = told(&contents, redactor.hidden());
    let _ = writeln!(
        talk,
        "taken at {now}; whoever reads it names that instant: tidegate status -f FILE --at {now}"
    );
    Ok(Output { text: head + &body, talk, exit })
}

/// What was hidden, and what is not there.
fn told(contents: &[Content], hidden: &Hidden) -> String {
    let mut text = String::new();
    for content in contents {
        let kind = &content.kind;
        if let Some(why) = &content.unread {
            let _ = writeln!(text, "not looked at: {kind}: {}", printable(why));
        }
        if content.left_out > 0 {
            let _ = writeln!(text, "left out: {} of {kind}", content.left_out);
        }
    }
    let _ = writeln!(text, "redacted: {} texts", hidden.values().sum::<usize>());
    for ((kind, field), count) in hidden {
        let _ = writeln!(text, "{count:>8}  {kind} {}", printable(field));
    }
    text
}
