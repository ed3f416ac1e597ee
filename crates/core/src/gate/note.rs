//! What are people told, as a Kubernetes event?

/// Something to tell people, as a Kubernetes event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// Whether somebody should worry.
    pub weight: Weight,
    /// One CamelCase word for programs.
    pub reason: &'static str,
    /// A sentence for people.
    pub message: String,
}

/// Whether somebody should worry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weight {
    /// Nobody: this is how things go.
    Normal,
    /// Somebody must look at it eventually.
    Warning,
}

impl Weight {
    /// The `type` of the event.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Normal => "Normal",
            Self::Warning => "Warning",
        }
    }
}
