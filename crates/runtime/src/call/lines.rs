//! Where does one event end and the next begin? At line ends, however the bytes arrive.

use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt as _;
use kube::client::Body;

/// No object is larger than a few megabytes; a line beyond this is no event.
const LONGEST: usize = 64 << 20;

/// The lines of a body.
#[derive(Debug)]
pub(super) struct Lines {
    body: Body,
    read: BytesMut,
    /// Up to where the bytes are known to hold no line end.
    searched: usize,
}

impl Lines {
    /// The lines of a body that nothing was read of yet.
    pub(super) fn new(body: Body) -> Self {
        Self { body, read: BytesMut::new(), searched: 0 }
    }

    /// The next line; none at the end. Half a line at the end is none: the connection broke inside an event.
    pub(super) async fn next(&mut self) -> Result<Option<Bytes>, kube::Error> {
        loop {
            let rest = self.read.get(self.searched..).unwrap_or_default();
            if let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
                let line = self.read.split_to(self.searched + end + 1).freeze();
                self.searched = 0;
                if line.trim_ascii().is_empty() {
                    continue;
                }
                return Ok(Some(line));
            }
            self.searched = self.read.len();
            if self.searched > LONGEST {
                return Ok(None);
            }
            match self.body.frame().await {
                None => return Ok(None),
                Some(frame) => {
                    if let Ok(bytes) = frame?.into_data() {
                        self.read.extend_from_slice(&bytes);
                    }
                }
            }
        }
    }
}
