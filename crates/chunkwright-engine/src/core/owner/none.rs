//! The owner of a store on systems without Unix sockets: there is none, and processes take turns to write.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use chunkwright_index::Progress;
use serde_json::Value;

use crate::error::Error;
use crate::request::task::Call;

/// There is no owner.
#[derive(Clone, Debug)]
pub(crate) enum Owner {}

impl Owner {
    pub(crate) fn of(_: &Path) -> Option<Self> {
        None
    }

    pub(crate) fn is_there(&self) -> bool {
        match *self {}
    }

    pub(crate) fn perform(&self, _: &Call, _: &AtomicBool, _: &dyn Fn(Progress<'_>)) -> Result<Value, Error> {
        match *self {}
    }
}

/// There is no listener.
#[derive(Debug)]
pub(crate) struct Listener;

impl Listener {
    pub(crate) fn start(
        _: &Path,
        _: impl Fn(Call, Arc<AtomicBool>, &dyn Fn(Progress<'_>)) -> Result<Value, Error>,
    ) -> io::Result<Self> {
        Ok(Self)
    }
}
