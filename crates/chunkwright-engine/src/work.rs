//! Changes: indexing, changes by hand, removal, transfer, and the tasks and jobs that carry them out.

pub(crate) mod amend;
pub(crate) mod background;
#[cfg(feature = "sqlite")]
pub(crate) mod backup;
pub(crate) mod boundary;
pub(crate) mod fill;
pub(crate) mod generations;
pub(crate) mod index;
pub(crate) mod job_request;
pub(crate) mod jobs;
pub(crate) mod maintenance;
pub(crate) mod mirror;
pub(crate) mod open;
pub(crate) mod put;
pub(crate) mod rename;
pub(crate) mod served;
pub(crate) mod task;
pub(crate) mod transfer;
pub(crate) mod watch;
pub(crate) mod words;
