//! The server under load.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;

use anyhow::{Context, Result};
use serde_json::Value;

use super::client::{ask, connect, head};

/// A server that runs until it is dropped.
pub(super) struct Server {
    child: Child,
    pub(super) address: String,
}

impl Server {
    /// Starts the program, and waits until it listens.
    pub(super) fn start(program: &Path, store: &Path, collection: &str) -> Result<Self> {
        let mut child = Command::new(program)
            .args(["serve", "--listen", "127.0.0.1:0", "-c", collection, "--store"])
            .arg(store)
            .stderr(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .with_context(|| format!("`{}` cannot be started", program.display()))?;
        let mut lines = BufReader::new(child.stderr.take().context("a pipe")?).lines();
        let told = lines
            .by_ref()
            .map_while(Result::ok)
            .find_map(|line| line.split_once("http://").map(|(_, address)| address.trim().to_owned()));
        // Later output is discarded, so that the pipe never fills.
        thread::spawn(move || lines.map_while(Result::ok).for_each(drop));
        let address = told.context("the server ended before it listened")?;
        Ok(Self { child, address })
    }

    /// A request with a body.
    fn post(&self, path: &str, body: &Value) -> String {
        let (address, body) = (&self.address, body.to_string());
        let length = body.len();
        format!(
            "POST {path} HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}"
        )
    }

    fn get(&self, path: &str) -> String {
        format!("GET {path} HTTP/1.1\r\nHost: {}\r\n\r\n", self.address)
    }

    /// A search.
    pub(super) fn search(&self, body: &Value) -> String {
        self.post("/api/v1/search", body)
    }

    /// Submits a job; returns its number.
    pub(super) fn job(&self, body: &Value) -> Result<u64> {
        let (status, answer) = ask(&mut None, &self.address, &self.post("/api/v1/jobs", body))?;
        let answer: Value = serde_json::from_slice(&answer)?;
        answer["id"].as_u64().with_context(|| format!("the job was answered by {status}: {answer}"))
    }

    /// Returns whether a job has ended.
    pub(super) fn is_over(&self, job: u64) -> Result<bool> {
        let (_, answer) = ask(&mut None, &self.address, &self.get(&format!("/api/v1/jobs/{job}")))?;
        let answer: Value = serde_json::from_slice(&answer)?;
        match answer["state"].as_str() {
            Some("succeeded") => Ok(true),
            Some("queued" | "running") => Ok(false),
            _ => anyhow::bail!("the job did not succeed: {answer}"),
        }
    }

    /// Opens streams that follow a job; the result returns how many of them received its end, once all have ended.
    pub(super) fn follow(&self, job: u64, number: usize) -> Result<impl FnOnce() -> usize> {
        let request = self.get(&format!("/api/v1/jobs/{job}/events"));
        let mut streams = Vec::new();
        for _ in 0..number {
            let mut stream = connect(&self.address)?;
            stream.get_mut().write_all(request.as_bytes())?;
            let (status, _) = head(&mut stream)?;
            anyhow::ensure!(status == 200, "a stream was answered by {status}");
            streams.push(thread::spawn(move || {
                stream.lines().map_while(Result::ok).any(|line| line.trim_end() == "event: end")
            }));
        }
        Ok(move || streams.into_iter().map(|stream| usize::from(stream.join().unwrap_or_default())).sum())
    }

    /// Resident memory of the server, in bytes.
    pub(super) fn resident(&self) -> Result<u64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).context("no VmRSS")?;
        Ok(line.trim().trim_end_matches(" kB").parse::<u64>()? * 1024)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
