//! A proxy between a store and its server that injects failures.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

/// What becomes of requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Fault {
    /// All pass.
    #[default]
    None,
    /// So many pass; the next one and all after it never arrive.
    LostFrom(usize),
    /// So many pass; the next one arrives and its answer does not, nor does anything after it arrive.
    UnansweredFrom(usize),
    /// So many pass; the answer to the next one does not arrive. Those after it pass.
    Unanswered(usize),
    /// The first number of requests pass; the second number after them get Chroma's answer to a read whose record was just deleted.
    Deleted(usize, usize),
}

/// What Chroma 1.5 answers then.
const DELETED: &str =
    r#"{"error":"InternalError","message":"Error executing plan: Internal error: Error finding id"}"#;

/// The proxy. It is there as long as the process is.
#[derive(Clone)]
pub(crate) struct Proxy {
    address: SocketAddr,
    state: Arc<Mutex<(Fault, usize)>>,
    /// Bytes of answers so far.
    answered: Arc<AtomicUsize>,
    between: Between,
    rewrite: Rewrite,
}

/// What is written in requests in place of what, as long.
type Rewrite = Arc<Mutex<Option<[String; 2]>>>;

/// What is done before the request of this number is passed on, once.
type Between = Arc<Mutex<Option<(usize, Box<dyn FnOnce() + Send>)>>>;

impl Proxy {
    /// Stands before the server at `url`, such as `qdrant://127.0.0.1:1`.
    pub(crate) fn before(url: &str) -> Self {
        let server = url.split_once("://").unwrap().1.to_owned();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let proxy = Self {
            address: listener.local_addr().unwrap(),
            state: Arc::default(),
            answered: Arc::default(),
            between: Between::default(),
            rewrite: Rewrite::default(),
        };
        let own = proxy.clone();
        std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let (server, own) = (server.clone(), own.clone());
                std::thread::spawn(move || own.serve(client, &server));
            }
        });
        proxy
    }

    /// Its own address, with the scheme of `url`.
    pub(crate) fn url(&self, url: &str) -> String {
        format!("{}://{}", url.split_once("://").unwrap().0, self.address)
    }

    /// Fails so from now on; requests are counted anew.
    pub(crate) fn set(&self, fault: Fault) {
        *self.state.lock().unwrap() = (fault, 0);
    }

    /// Does this once before the request number `at` is passed on; requests are counted anew.
    pub(crate) fn before_request(&self, at: usize, action: impl FnOnce() + Send + 'static) {
        self.set(Fault::None);
        *self.between.lock().unwrap() = Some((at, Box::new(action)));
    }

    /// Requests since then.
    pub(crate) fn requests(&self) -> usize {
        self.state.lock().unwrap().1
    }

    /// Bytes of all answers that were passed on.
    pub(crate) fn answered(&self) -> usize {
        self.answered.load(Ordering::Relaxed)
    }

    /// Writes `by` in place of `what`, which is as long, in every request from now on.
    pub(crate) fn rewrite(&self, what: &str, by: &str) {
        assert_eq!(what.len(), by.len());
        *self.rewrite.lock().unwrap() = Some([what, by].map(str::to_owned));
    }

    /// Passes requests of one connection on, until one fails or the client ends.
    fn serve(&self, client: TcpStream, server: &str) -> Option<()> {
        client.set_nodelay(true).ok()?;
        let server = TcpStream::connect(server).ok()?;
        server.set_nodelay(true).ok()?;
        let (mut client_in, mut client_out) = (BufReader::new(client.try_clone().ok()?), client);
        let (mut server_in, mut server_out) = (BufReader::new(server.try_clone().ok()?), server);
        loop {
            let mut request = message(&mut client_in)?;
            if let Some([what, by]) = &*self.rewrite.lock().unwrap() {
                let text = String::from_utf8(request).ok()?;
                request = text.replace(what, by).into_bytes();
            }
            let (fault, at) = {
                let mut state = self.state.lock().unwrap();
                state.1 += 1;
                (state.0, state.1 - 1)
            };
            let due = self.between.lock().unwrap().take_if(|(due, _)| *due == at);
            if let Some((_, action)) = due {
                action();
            }
            if matches!(fault, Fault::LostFrom(from) if at >= from)
                || matches!(fault, Fault::UnansweredFrom(from) if at > from)
            {
                return None;
            }
            if matches!(fault, Fault::Deleted(from, count) if (from..from + count).contains(&at)) {
                let head = format!("HTTP/1.1 500 Error\r\ncontent-length: {}\r\n\r\n", DELETED.len());
                client_out.write_all(&[head.as_bytes(), DELETED.as_bytes()].concat()).ok()?;
                continue;
            }
            server_out.write_all(&request).ok()?;
            let answer = message(&mut server_in)?;
            if matches!(fault, Fault::UnansweredFrom(from) | Fault::Unanswered(from) if at == from) {
                return None;
            }
            self.answered.fetch_add(answer.len(), Ordering::Relaxed);
            client_out.write_all(&answer).ok()?;
        }
    }
}

/// A request or an answer, whole.
fn message(from: &mut impl BufRead) -> Option<Vec<u8>> {
    let (mut message, mut length) = (Vec::new(), 0);
    loop {
        let start = message.len();
        from.read_until(b'\n', &mut message).ok().filter(|read| *read > 0)?;
        let line = String::from_utf8_lossy(&message[start..]).to_lowercase();
        if let Some(value) = line.strip_prefix("content-length:") {
            length = value.trim().parse().ok()?;
        }
        if line.trim().is_empty() {
            break;
        }
    }
    from.take(length).read_to_end(&mut message).ok()?;
    Some(message)
}
