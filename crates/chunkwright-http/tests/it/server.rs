//! A server on loopback that answers as a test scripts it, faults included.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use chunkwright_http::Clock;
use serde_json::Value;

/// A received request.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) method: String,
    pub(crate) path: String,
    /// Names in lower case.
    pub(crate) headers: Vec<(String, String)>,
    /// `null` if the body is not JSON.
    pub(crate) body: Value,
}

impl Request {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(found, _)| found == name).map(|(_, value)| value.as_str())
    }
}

/// The reaction to a request.
#[derive(Clone, Debug)]
pub(crate) enum Answer {
    /// A status, headers (`name: value`) and a body.
    Reply(u16, Vec<String>, Vec<u8>),
    /// The connection is closed at once.
    Drop,
    /// Half of a reply, then the connection is closed.
    Cut,
    /// Nothing, until the client has gone.
    Silence,
    /// A body without an end, as fast as the client reads it.
    Endless,
}

/// A reply of JSON.
pub(crate) fn json(status: u16, body: &Value) -> Answer {
    Answer::Reply(status, vec!["content-type: application/json".into()], body.to_string().into_bytes())
}

/// A reply of text.
pub(crate) fn text(status: u16, body: &str) -> Answer {
    Answer::Reply(status, Vec::new(), body.as_bytes().to_vec())
}

/// The server; it is gone when dropped.
pub(crate) struct Server {
    address: SocketAddr,
    requests: Arc<Mutex<Vec<Request>>>,
    stopped: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    /// Answers the `n`th request (from 0) with `answer(request, n)`.
    pub(crate) fn new(answer: impl Fn(&Request, usize) -> Answer + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let requests = Arc::new(Mutex::new(Vec::new()));
        let stopped = Arc::new(AtomicBool::new(false));
        let (seen, stop, answer) = (Arc::clone(&requests), Arc::clone(&stopped), Arc::new(answer));
        let thread = std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if stop.load(Ordering::SeqCst) {
                    return;
                }
                let (seen, answer) = (Arc::clone(&seen), Arc::clone(&answer));
                std::thread::spawn(move || serve(stream, &seen, &*answer));
            }
        });
        Self { address, requests, stopped, thread: Some(thread) }
    }

    /// Answers with the members of `script` one by one; the last one is repeated.
    pub(crate) fn script(script: Vec<Answer>) -> Self {
        Self::new(move |_, n| script[n.min(script.len() - 1)].clone())
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// All requests so far.
    pub(crate) fn requests(&self) -> Vec<Request> {
        self.requests.lock().unwrap().clone()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stopped.store(true, Ordering::SeqCst);
        // Wakes the listener, which then sees that it is to stop.
        let _ = TcpStream::connect(self.address);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn serve(stream: TcpStream, seen: &Mutex<Vec<Request>>, answer: &dyn Fn(&Request, usize) -> Answer) {
    let mut reader = BufReader::new(stream);
    let Some(request) = read(&mut reader) else { return };
    let number = {
        let mut seen = seen.lock().unwrap();
        seen.push(request.clone());
        seen.len() - 1
    };
    let answer = answer(&request, number);
    let stream = reader.get_mut();
    let head = |status: u16, more: &[String]| {
        let more: String = more.iter().map(|line| format!("{line}\r\n")).collect();
        format!("HTTP/1.1 {status} Said\r\nconnection: close\r\n{more}")
    };
    // A client that has gone away needs no answer, so write errors are ignored.
    match answer {
        Answer::Reply(status, headers, body) => {
            let head = format!("{}content-length: {}\r\n\r\n", head(status, &headers), body.len());
            let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(&body));
        }
        Answer::Drop => {}
        Answer::Cut => {
            let _ = stream
                .write_all(format!("{}content-length: 1000\r\n\r\n{{\"half\":", head(200, &[])).as_bytes());
        }
        Answer::Silence => {
            let _ = stream.read(&mut [0]);
        }
        Answer::Endless => {
            let head = format!("{}transfer-encoding: chunked\r\n\r\n", head(200, &[]));
            let mut going = stream.write_all(head.as_bytes()).is_ok();
            while going {
                going = stream.write_all(b"10\r\n[[0.123, 0.456],\r\n").is_ok();
            }
        }
    }
    let _ = stream.flush();
}

fn read(reader: &mut BufReader<TcpStream>) -> Option<Request> {
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let mut words = line.split_whitespace();
    let (method, path) = (words.next()?.to_owned(), words.next()?.to_owned());
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
    let length = headers.iter().find(|(name, _)| name == "content-length");
    let mut body = vec![0; length.map_or(0, |(_, length)| length.parse().unwrap())];
    reader.read_exact(&mut body).ok()?;
    Some(Request { method, path, headers, body: serde_json::from_slice(&body).unwrap_or(Value::Null) })
}

/// A clock that advances only by sleeping.
#[derive(Debug, Default)]
pub(crate) struct FakeClock {
    sleeps: Mutex<Vec<Duration>>,
}

impl FakeClock {
    pub(crate) fn sleeps(&self) -> Vec<Duration> {
        self.sleeps.lock().unwrap().clone()
    }
}

impl Clock for FakeClock {
    fn elapsed(&self) -> Duration {
        self.sleeps().iter().sum()
    }

    /// Sun, 06 Nov 1994 08:49:30 GMT.
    fn unix_seconds(&self) -> i64 {
        784_111_770
    }

    fn sleep(&self, duration: Duration) {
        self.sleeps.lock().unwrap().push(duration);
    }
}
