//! The HTTP API: what programs do with an index, over a real socket.

mod contract;
mod cutting;
mod documents;
mod jobs;
mod journeys;
mod names;
mod options;
mod platforms;
mod pointers;
mod questions;
mod server;
