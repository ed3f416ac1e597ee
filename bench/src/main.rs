//! Is the engine as fast, as small and as right as we say? One command measures it beside its rivals.
//!
//! See `docs/reference/performance.md` for how to run it and how to read what it prints.

mod args;
mod check;
mod clock;
mod external;
mod goals;
mod grid;
mod heap;
mod ir;
mod machine;
mod memory;
mod naive;
mod peers;
mod rule;
mod seed;
mod tables;
mod tsv;
mod workloads;

use std::io::{self, Write};
use std::process::ExitCode;

use args::Verb;

fn main() -> io::Result<ExitCode> {
    let mut out = io::stdout().lock();
    let good = match args::parse(std::env::args().skip(1)) {
        Err(problem) => {
            writeln!(io::stderr(), "{problem}\n\n{}", args::USAGE)?;
            return Ok(ExitCode::from(2));
        }
        Ok(Verb::Peers { effort, json }) => {
            tables::print(effort, json.as_deref(), &mut out)?;
            true
        }
        Ok(Verb::Ir(mode)) => {
            let met = ir::run(mode, &mut out)?;
            met || mode == ir::Mode::Table
        }
        Ok(Verb::IrChild { what, name, shape, queries }) => {
            ir::child(&what, &name, &shape, queries).is_some()
        }
        Ok(Verb::Check(effort)) => check::run(effort, &mut out)?.wrong == 0,
        Ok(Verb::Tsv(folder)) => {
            tsv::write(&folder)?;
            true
        }
    };
    Ok(if good { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
