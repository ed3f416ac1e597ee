//! Serves an empty cluster on loopback until interrupted: `cargo run --example serve -- KUBECONFIG [PORT]`.

use std::io::Write as _;

use apiserver::{Server, Settings, WallClock};

#[tokio::main(flavor = "current_thread")]
async fn main() -> std::io::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let path = arguments.next().unwrap_or_else(|| "kubeconfig".to_owned());
    let port = arguments.next().and_then(|p| p.parse().ok()).unwrap_or_default();
    let listener = Server::new(WallClock, Settings::default()).listen(port).await?;
    std::fs::write(&path, listener.kubeconfig())?;
    writeln!(std::io::stdout(), "ready on {}, kubeconfig in {path}", listener.address())?;
    listener.run().await
}
