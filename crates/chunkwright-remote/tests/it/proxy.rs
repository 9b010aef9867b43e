//! A proxy between a store and its server that injects failures.

use std::cell::RefCell;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
#[cfg(unix)]
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::rc::Rc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use rustls::{ServerConfig, ServerConnection, StreamOwned};
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, PrivateKeyDer};

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
    protocol: Protocol,
    tls: Option<Arc<ServerConfig>>,
}

/// What is spoken with a server.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Protocol {
    Http,
    Postgres,
}

/// Both directions of a connection.
type Wire = (BufReader<Box<dyn Read>>, Box<dyn Write>);

/// What is written in requests in place of what, as long.
type Rewrite = Arc<Mutex<Option<[String; 2]>>>;

/// What is done before the request of this number is passed on, once.
type Between = Arc<Mutex<Option<(usize, Box<dyn FnOnce() + Send>)>>>;

impl Proxy {
    /// Stands before the server at `url`, such as `qdrant://127.0.0.1:1`, or `postgres://postgres@/postgres?host=` and a
    /// folder.
    pub(crate) fn before(url: &str) -> Self {
        Self::new(url, None)
    }

    /// Stands before PostgreSQL, and speaks TLS with a certificate and its key.
    pub(crate) fn with_tls(url: &str, certificate: &Path, key: &Path) -> Self {
        let chain = CertificateDer::pem_file_iter(certificate).unwrap().map(Result::unwrap).collect();
        let key = PrivateKeyDer::from_pem_file(key).unwrap();
        let config = ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()));
        let config = config.with_safe_default_protocol_versions().unwrap().with_no_client_auth();
        Self::new(url, Some(Arc::new(config.with_single_cert(chain, key).unwrap())))
    }

    fn new(url: &str, tls: Option<Arc<ServerConfig>>) -> Self {
        let is_postgres = url.starts_with("postgres");
        let server = url.rsplit_once(if is_postgres { "host=" } else { "://" }).unwrap().1.to_owned();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let proxy = Self {
            address: listener.local_addr().unwrap(),
            state: Arc::default(),
            answered: Arc::default(),
            between: Between::default(),
            rewrite: Rewrite::default(),
            protocol: if is_postgres { Protocol::Postgres } else { Protocol::Http },
            tls,
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
        match self.protocol {
            Protocol::Http => format!("{}://{}", url.split_once("://").unwrap().0, self.address),
            Protocol::Postgres => format!("postgres://postgres@{}/postgres?sslmode=disable", self.address),
        }
    }

    /// Its own port.
    pub(crate) fn port(&self) -> u16 {
        self.address.port()
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
        let (mut client_in, mut client_out) = match &self.tls {
            Some(config) => encrypted(client, Arc::clone(config))?,
            None => tcp(client)?,
        };
        let (mut server_in, mut server_out) = match self.protocol {
            Protocol::Http => tcp(TcpStream::connect(server).ok()?)?,
            Protocol::Postgres => socket(server)?,
        };
        // The first message of a connection has no letter.
        let mut is_first = true;
        loop {
            let mut request = match self.protocol {
                Protocol::Http => message(&mut client_in)?,
                Protocol::Postgres if is_first => body(&mut client_in)?,
                Protocol::Postgres => messages(&mut client_in, b"QSX"),
            };
            if request.is_empty() {
                return None;
            }
            is_first = false;
            if let Some([what, by]) = &*self.rewrite.lock().unwrap() {
                replace(&mut request, what.as_bytes(), by.as_bytes());
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
            let answer = match self.protocol {
                Protocol::Http => message(&mut server_in)?,
                Protocol::Postgres => messages(&mut server_in, b"Z"),
            };
            if matches!(fault, Fault::UnansweredFrom(from) | Fault::Unanswered(from) if at == from) {
                return None;
            }
            self.answered.fetch_add(answer.len(), Ordering::Relaxed);
            client_out.write_all(&answer).ok()?;
            client_out.flush().ok()?;
        }
    }
}

/// A connection that begins as PostgreSQL's, with the wish for TLS.
fn encrypted(mut stream: TcpStream, config: Arc<ServerConfig>) -> Option<Wire> {
    body(&mut stream)?;
    stream.write_all(b"S").ok()?;
    let stream = StreamOwned::new(ServerConnection::new(config).ok()?, stream);
    let stream = Shared(Rc::new(RefCell::new(stream)));
    Some((BufReader::new(Box::new(stream.clone())), Box::new(stream)))
}

/// Both ends of an encrypted connection, of which one is used at a time.
#[derive(Clone)]
struct Shared(Rc<RefCell<StreamOwned<ServerConnection, TcpStream>>>);

impl Read for Shared {
    fn read(&mut self, bytes: &mut [u8]) -> std::io::Result<usize> {
        self.0.borrow_mut().read(bytes)
    }
}

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.borrow_mut().write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.0.borrow_mut().flush()
    }
}

fn tcp(stream: TcpStream) -> Option<Wire> {
    stream.set_nodelay(true).ok()?;
    Some((BufReader::new(Box::new(stream.try_clone().ok()?)), Box::new(stream)))
}

/// The socket of PostgreSQL in a folder.
#[cfg(unix)]
fn socket(folder: &str) -> Option<Wire> {
    let socket = UnixStream::connect(format!("{folder}/.s.PGSQL.5432")).ok()?;
    Some((BufReader::new(Box::new(socket.try_clone().ok()?)), Box::new(socket)))
}

#[cfg(not(unix))]
fn socket(_: &str) -> Option<Wire> {
    None
}

/// Writes `by` wherever `what` is.
fn replace(bytes: &mut [u8], what: &[u8], by: &[u8]) {
    for at in 0..(bytes.len() + 1).saturating_sub(what.len()) {
        if bytes[at..].starts_with(what) {
            bytes[at..at + by.len()].copy_from_slice(by);
        }
    }
}

/// Messages of PostgreSQL up to one of a letter in `last`, or the end of the connection.
fn messages(from: &mut impl Read, last: &[u8]) -> Vec<u8> {
    let (mut all, mut letter) = (Vec::new(), [0]);
    while from.read_exact(&mut letter).is_ok() {
        all.extend(letter);
        let Some(body) = body(from) else { break };
        all.extend(body);
        if last.contains(&letter[0]) {
            break;
        }
    }
    all
}

/// A message of PostgreSQL without its letter: its length, and as many bytes.
fn body(from: &mut impl Read) -> Option<Vec<u8>> {
    let mut length = [0; 4];
    from.read_exact(&mut length).ok()?;
    let mut body = vec![0; u32::from_be_bytes(length) as usize];
    body[..4].copy_from_slice(&length);
    from.read_exact(&mut body[4..]).ok()?;
    Some(body)
}

/// A request or an answer of HTTP, whole.
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
