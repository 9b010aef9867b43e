//! A client that sends given bytes and reads the response.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use serde_json::Value;

/// An answer.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    head: String,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    /// The value of a header.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let named =
            |line: &str| line.split_once(':').is_some_and(|(known, _)| known.eq_ignore_ascii_case(name));
        let line = self.head.lines().find(|line| named(line))?;
        Some(line.split_once(':')?.1.trim())
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|_| panic!("no JSON: {}", self.text()))
    }

    /// The code of a problem.
    pub(crate) fn code(&self) -> String {
        assert_eq!(self.header("content-type"), Some("application/problem+json"), "{self:?}");
        self.json()["code"].as_str().unwrap().to_owned()
    }
}

/// Connects. What does not come for a long time is a failure, not a wait.
pub(crate) fn connect(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_mins(1))).unwrap();
    stream.set_write_timeout(Some(Duration::from_mins(1))).unwrap();
    stream
}

/// Sends a request and reads its answer. `headers` are lines; `Host` is added unless they have one.
pub(crate) fn ask(address: SocketAddr, method: &str, path: &str, headers: &[&str], body: &str) -> Answer {
    let mut stream = connect(address);
    stream.write_all(request(address, method, path, headers, body).as_bytes()).unwrap();
    answer(&mut stream).unwrap()
}

pub(crate) fn get(address: SocketAddr, path: &str, headers: &[&str]) -> Answer {
    ask(address, "GET", path, headers, "")
}

/// Searches, and reads the answer.
pub(crate) fn search(address: SocketAddr, query: &str, headers: &[&str]) -> Answer {
    let body = serde_json::json!({ "query": query, "mode": "lexical" }).to_string();
    ask(address, "POST", "/api/v1/search", &[&["Content-Type: application/json"], headers].concat(), &body)
}

pub(crate) fn request(address: SocketAddr, method: &str, path: &str, headers: &[&str], body: &str) -> String {
    let has_host = headers.iter().any(|header| header.to_ascii_lowercase().starts_with("host:"));
    let host = if has_host { String::new() } else { format!("Host: {address}\r\n") };
    let headers: String = headers.iter().flat_map(|header| [header, "\r\n"]).collect();
    let length = if body.is_empty() { String::new() } else { format!("Content-Length: {}\r\n", body.len()) };
    format!("{method} {path} HTTP/1.1\r\n{host}{headers}{length}\r\n{body}")
}

/// Reads one answer; `None` where the connection ends instead.
pub(crate) fn answer(stream: &mut impl Read) -> Option<Answer> {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") {
        match stream.read(&mut byte) {
            Ok(1) => head.push(byte[0]),
            _ => return None,
        }
    }
    let head = String::from_utf8(head).unwrap();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    let mut answer = Answer { status, head, body: Vec::new() };
    if let Some(length) = answer.header("content-length") {
        answer.body = vec![0; length.parse().unwrap()];
        stream.read_exact(&mut answer.body).unwrap();
    } else if answer.header("transfer-encoding").is_some() {
        loop {
            let mut line = Vec::new();
            while !line.ends_with(b"\r\n") {
                stream.read_exact(&mut byte).unwrap();
                line.push(byte[0]);
            }
            let length = usize::from_str_radix(str::from_utf8(&line).unwrap().trim(), 16).unwrap();
            let mut chunk = vec![0; length + 2];
            stream.read_exact(&mut chunk).unwrap();
            answer.body.extend(&chunk[..length]);
            if length == 0 {
                break;
            }
        }
    }
    Some(answer)
}

/// Whether the server ends the connection, whatever it says before.
pub(crate) fn ends(stream: &mut TcpStream) -> bool {
    let mut rest = Vec::new();
    match stream.read_to_end(&mut rest) {
        Ok(_) => true,
        Err(error) => error.kind() != std::io::ErrorKind::WouldBlock,
    }
}
