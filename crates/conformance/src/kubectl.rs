//! Does a server answer kubectl as a real one does?
//!
//! A [`Script`] holds commands and the answers that a real kube-apiserver gave. [`play`] runs it on a cluster; the answers are compared
//! after [`Mask`] has put away what differs from run to run. What an embedded server is known to answer otherwise stands in a list of
//! [`Differences`], with why.

mod differences;
mod mask;
mod play;
mod script;

pub use differences::Differences;
pub use mask::Mask;
pub use play::{install, play, prepare, uninstall};
pub use script::{Answer, Line, Script};
