//! `tidegate completion`: what can the shell complete?

use clap::{Args, FromArgMatches as _, ValueEnum};
use clap_complete::{Shell, generate};

use super::{Listed, Verb, command};
use crate::output::Output;

pub(crate) fn verb() -> Verb {
    Verb {
        name: "completion",
        about: "Write a completion script for bash, zsh or fish",
        more: "Examples:\n  \
               tidegate completion bash > /etc/bash_completion.d/tidegate\n  \
               tidegate completion zsh > \"${fpath[1]}/_tidegate\"\n  \
               tidegate completion fish > ~/.config/fish/completions/tidegate.fish",
        listed: Listed::Yes,
        args: Completion::augment_args,
        run: |matches, _| Ok(run(&Completion::from_arg_matches(matches)?)),
    }
}

#[derive(Args, Debug)]
struct Completion {
    /// The shell
    #[arg(value_enum)]
    shell: Known,
}

/// The shells that are tested.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Known {
    Bash,
    Zsh,
    Fish,
}

fn run(args: &Completion) -> Output {
    let shell = match args.shell {
        Known::Bash => Shell::Bash,
        Known::Zsh => Shell::Zsh,
        Known::Fish => Shell::Fish,
    };
    let mut script = Vec::new();
    generate(shell, &mut command(), "tidegate", &mut script);
    Output::done(String::from_utf8_lossy(&script))
}
