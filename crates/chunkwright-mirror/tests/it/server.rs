//! A web server on loopback: pages that tests change, faults, and repositories by `git http-backend`.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;

/// What the server has at a path.
#[derive(Clone, Debug)]
pub(crate) enum At {
    /// A page, answered with a tag, and with 304 to who has that tag.
    Page(&'static str, String),
    /// Bytes that are not text.
    Bytes(&'static str, Vec<u8>),
    /// A status and headers, without a body.
    Status(u16, Vec<String>),
    /// The connection is closed at once.
    Drop,
}

#[derive(Default)]
struct State {
    pages: BTreeMap<String, At>,
    /// Paths that were asked for, with the status of the answer.
    asked: Vec<(String, u16)>,
}

/// The server; its thread ends with the process.
pub(crate) struct Server {
    address: SocketAddr,
    state: Arc<Mutex<State>>,
}

impl Server {
    pub(crate) fn new() -> Self {
        Self::of(None)
    }

    /// Serves the bare repositories of a folder.
    pub(crate) fn of_repositories(folder: PathBuf) -> Self {
        Self::of(Some(folder))
    }

    fn of(repositories: Option<PathBuf>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let state = Arc::new(Mutex::new(State::default()));
        let seen = Arc::clone(&state);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (seen, repositories) = (Arc::clone(&seen), repositories.clone());
                thread::spawn(move || answer(stream, &seen, repositories));
            }
        });
        Self { address, state }
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// The folder of the host's files in a mirror.
    pub(crate) fn host(&self) -> String {
        self.address.to_string().replace(':', "_")
    }

    pub(crate) fn put(&self, path: &str, at: At) {
        self.state.lock().unwrap().pages.insert(path.to_owned(), at);
    }

    pub(crate) fn page(&self, path: &str, media: &'static str, body: &str) {
        self.put(path, At::Page(media, body.to_owned()));
    }

    pub(crate) fn html(&self, path: &str, text: &str) {
        self.page(path, "text/html; charset=utf-8", &format!("<html><body><h1>{text}</h1></body></html>"));
    }

    /// A sitemap of these paths.
    pub(crate) fn sitemap(&self, path: &str, pages: &[&str]) {
        let pages: String =
            pages.iter().map(|page| format!("<url><loc>{}</loc></url>", self.url(page))).collect();
        let xml = format!(
            "<?xml version=\"1.0\"?><urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">{pages}</urlset>"
        );
        self.page(path, "application/xml", &xml);
    }

    /// What was asked for since the last call, in order of paths.
    pub(crate) fn asked(&self) -> Vec<(String, u16)> {
        let mut asked = std::mem::take(&mut self.state.lock().unwrap().asked);
        asked.sort();
        asked
    }
}

fn answer(stream: TcpStream, state: &Mutex<State>, repositories: Option<PathBuf>) {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    if reader.read_line(&mut line).unwrap_or(0) == 0 {
        return;
    }
    let mut words = line.split_whitespace().map(str::to_owned);
    let (Some(method), Some(path)) = (words.next(), words.next()) else { return };
    let mut headers = BTreeMap::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        headers.insert(name.to_ascii_lowercase(), value.trim().to_owned());
    }
    if let Some(folder) = repositories {
        let _ = git(&mut reader, &folder, &method, &path, &headers);
        return;
    }
    let at = state.lock().unwrap().pages.get(&path).cloned().unwrap_or(At::Status(404, Vec::new()));
    let (status, more, body) = match at {
        At::Drop => {
            state.lock().unwrap().asked.push((path, 0));
            return;
        }
        At::Status(status, headers) => (status, headers, Vec::new()),
        At::Bytes(media, body) => (200, vec![format!("content-type: {media}")], body),
        At::Page(media, body) => {
            let tag = format!(
                "\"{:x}\"",
                body.bytes().fold(7_u64, |hash, byte| hash.wrapping_mul(31) + u64::from(byte))
            );
            let is_known = headers.get("if-none-match") == Some(&tag);
            let more = vec![format!("content-type: {media}"), format!("etag: {tag}")];
            if is_known { (304, more, Vec::new()) } else { (200, more, body.into_bytes()) }
        }
    };
    state.lock().unwrap().asked.push((path, status));
    let more: String = more.iter().map(|line| format!("{line}\r\n")).collect();
    let head = format!(
        "HTTP/1.1 {status} Said\r\nconnection: close\r\n{more}content-length: {}\r\n\r\n",
        body.len()
    );
    let _ = reader.get_mut().write_all(head.as_bytes());
    let _ = reader.get_mut().write_all(&body);
}

/// Answers by `git http-backend`, as web servers do (RFC 3875).
fn git(
    reader: &mut BufReader<TcpStream>,
    folder: &std::path::Path,
    method: &str,
    path: &str,
    headers: &BTreeMap<String, String>,
) -> std::io::Result<()> {
    let (path, query) = path.split_once('?').unwrap_or((path, ""));
    let header = |name: &str| headers.get(name).cloned().unwrap_or_default();
    let mut body = Vec::new();
    if header("transfer-encoding") == "chunked" {
        loop {
            let mut size = String::new();
            reader.read_line(&mut size)?;
            let size = usize::from_str_radix(size.trim(), 16).unwrap();
            let mut part = vec![0; size + 2];
            reader.read_exact(&mut part)?;
            if size == 0 {
                break;
            }
            body.extend_from_slice(&part[..size]);
        }
    } else {
        body = vec![0; header("content-length").parse().unwrap_or(0)];
        reader.read_exact(&mut body)?;
    }
    let mut child = Command::new("git")
        .arg("http-backend")
        .env("GIT_PROJECT_ROOT", folder)
        .env("GIT_HTTP_EXPORT_ALL", "1")
        .env("PATH_INFO", path)
        .env("QUERY_STRING", query)
        .env("REQUEST_METHOD", method)
        .env("CONTENT_TYPE", header("content-type"))
        .env("CONTENT_LENGTH", body.len().to_string())
        .env("HTTP_CONTENT_ENCODING", header("content-encoding"))
        .env("GIT_PROTOCOL", header("git-protocol"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()?;
    child.stdin.take().unwrap().write_all(&body)?;
    let mut said = Vec::new();
    child.stdout.take().unwrap().read_to_end(&mut said)?;
    child.wait()?;
    let end = said.windows(4).position(|at| at == b"\r\n\r\n").unwrap_or(0);
    let head = String::from_utf8_lossy(&said[..end]).into_owned();
    let status = head.lines().find_map(|line| line.strip_prefix("Status: ")).unwrap_or("200 OK").to_owned();
    let head: String =
        head.lines().filter(|line| !line.starts_with("Status:")).map(|line| format!("{line}\r\n")).collect();
    let stream = reader.get_mut();
    stream.write_all(format!("HTTP/1.1 {status}\r\nconnection: close\r\n{head}\r\n").as_bytes())?;
    stream.write_all(&said[end + 4..])
}
