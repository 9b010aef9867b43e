//! What one run may fetch.

/// Bounds of one run over one address. What is over a bound waits for the next run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Most pages of a site.
    pub pages: usize,
    /// Largest page, in bytes; sitemaps are bounded by 50 MiB unpacked, as their protocol has it.
    pub page_bytes: usize,
    /// Most bytes of all pages, and of a repository's objects.
    pub bytes: u64,
    /// Longest time, in milliseconds.
    pub time_ms: u64,
    /// Whether hosts may be asked whose names resolve to addresses of private networks or of this machine. An address
    /// that says so itself, such as `http://127.0.0.1:8000/` or `http://localhost/`, is always asked.
    pub allow_private: bool,
}

impl Default for Limits {
    fn default() -> Self {
        Self { pages: 10_000, page_bytes: 16 << 20, bytes: 2 << 30, time_ms: 3_600_000, allow_private: false }
    }
}
