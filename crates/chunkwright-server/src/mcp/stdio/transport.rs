//! Reads messages line by line, no faster than they are answered.
//!
//! The number of requests in progress and the number of unwritten answers are limited. Further messages wait in a
//! queue. When the queue is full, reading stops: the client waits, and nothing is refused. So a client that writes
//! thousands of requests before it reads the first answer is served too, as long as the queue holds them.

use std::collections::VecDeque;
use std::io;
use std::sync::Arc;

use rmcp::RoleServer;
use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, ClientRequest, GetExtensions as _, GetMeta as _,
    JsonRpcMessage, ProtocolVersion, RequestId, ServerJsonRpcMessage,
};
use rmcp::transport::Transport;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _};
use tokio::sync::{Mutex, OwnedSemaphorePermit, Semaphore};
use tokio_stream::StreamExt as _;
use tokio_util::codec::{AnyDelimiterCodec, AnyDelimiterCodecError, FramedRead};

use crate::mcp::message::{self, MAX_BYTES};

/// Maximum number of bytes of waiting messages, as received and as stored.
const MAX_WAITING: usize = 4 << 20;

/// A place among the requests in progress, taken until all clones are dropped.
pub(in crate::mcp) type Place = Arc<OwnedSemaphorePermit>;

/// The lines of one client.
pub(super) struct Lines<R, W> {
    input: FramedRead<R, AnyDelimiterCodec>,
    /// Whether the codec, which reports an end after a line that is too long, is about to continue.
    is_paused: bool,
    is_at_end: bool,
    waiting: VecDeque<Waiting>,
    waiting_bytes: usize,
    /// Whether a request that can begin the protocol has come; earlier messages that ask for nothing are ignored.
    is_begun: bool,
    /// One place for each request in progress.
    working: Arc<Semaphore>,
    /// One place for each unwritten answer.
    unwritten: Arc<Semaphore>,
    places: u32,
    output: Arc<Mutex<W>>,
}

/// A waiting line.
struct Waiting {
    line: Line,
    bytes: usize,
}

enum Line {
    Message(ClientJsonRpcMessage),
    /// The answer to an invalid message.
    Refused(ServerJsonRpcMessage),
}

impl<R: AsyncRead + Send + Unpin, W: AsyncWrite + Send + Unpin + 'static> Lines<R, W> {
    /// Reads messages from `input`, of which at most `places` requests are in progress at once.
    pub(super) fn new(input: R, output: W, places: usize) -> Self {
        let places = u32::try_from(places.max(1)).unwrap_or(u32::MAX);
        let semaphore = || Arc::new(Semaphore::new(places as usize));
        let newline = || b"\n".to_vec();
        Self {
            input: FramedRead::new(
                input,
                AnyDelimiterCodec::new_with_max_length(newline(), newline(), MAX_BYTES),
            ),
            is_paused: false,
            is_at_end: false,
            waiting: VecDeque::new(),
            waiting_bytes: 0,
            is_begun: false,
            working: semaphore(),
            unwritten: semaphore(),
            places,
            output: Arc::new(Mutex::new(output)),
        }
    }

    /// Adds what was read to the queue.
    fn take(&mut self, read: Option<&Result<impl AsRef<[u8]>, AnyDelimiterCodecError>>) {
        let line = match read {
            None => {
                self.is_at_end = !std::mem::take(&mut self.is_paused);
                return;
            }
            Some(Err(AnyDelimiterCodecError::MaxChunkLengthExceeded)) => {
                self.is_paused = true;
                return self.wait(0, Line::Refused(JsonRpcMessage::Error(message::too_long())));
            }
            Some(Err(AnyDelimiterCodecError::Io(error))) => {
                tracing::error!(%error, "the input cannot be read");
                self.is_at_end = true;
                return;
            }
            // Windows shells may send a byte order mark first.
            Some(Ok(line)) => {
                let line = line.as_ref();
                line.strip_prefix("\u{feff}".as_bytes()).unwrap_or(line).trim_ascii()
            }
        };
        if line.is_empty() {
            return;
        }
        match serde_json::from_slice(line) {
            Ok(ClientJsonRpcMessage::Notification(notification)) => {
                let ClientNotification::CancelledNotification(cancelled) = &notification.notification else {
                    return self.wait(line.len(), Line::Message(JsonRpcMessage::Notification(notification)));
                };
                // A cancellation does not wait behind the request that it cancels.
                let id = cancelled.params.request_id.clone();
                if !id.is_some_and(|id| self.cancel(&id)) && self.is_begun {
                    let line = Line::Message(JsonRpcMessage::Notification(notification));
                    self.waiting.push_front(Waiting { line, bytes: 0 });
                }
            }
            Ok(message) => self.wait(line.len(), Line::Message(message)),
            Err(_) => {
                if let Some(refusal) = message::refusal(line) {
                    self.wait(0, Line::Refused(JsonRpcMessage::Error(refusal)));
                }
            }
        }
    }

    fn wait(&mut self, length: usize, line: Line) {
        let bytes = length + size_of::<Waiting>();
        self.waiting_bytes += bytes;
        self.waiting.push_back(Waiting { line, bytes });
    }

    /// Removes a waiting request. If it is not waiting, the server has to stop it.
    fn cancel(&mut self, id: &RequestId) -> bool {
        let is_it = |waiting: &Waiting| matches!(&waiting.line, Line::Message(JsonRpcMessage::Request(request)) if request.id == *id);
        let found = self.waiting.iter().position(is_it).and_then(|at| self.waiting.remove(at));
        self.waiting_bytes -= found.as_ref().map_or(0, |found| found.bytes);
        found.is_some()
    }

    /// Takes the first waiting message, with its places: one for the work, and one for its answer.
    fn pass(
        &mut self,
        places: Option<(OwnedSemaphorePermit, OwnedSemaphorePermit)>,
    ) -> Option<ClientJsonRpcMessage> {
        let Waiting { line, bytes } = self.waiting.pop_front()?;
        self.waiting_bytes -= bytes;
        match line {
            Line::Message(JsonRpcMessage::Request(mut request)) => {
                self.is_begun = self.is_begun || begins(&request.request);
                // The place is free again when the request is dropped, for whatever reason.
                if let Some((working, _)) = places {
                    request.request.extensions_mut().insert(Place::new(working));
                }
                Some(JsonRpcMessage::Request(request))
            }
            Line::Message(message) => Some(message).filter(|_| self.is_begun),
            Line::Refused(refusal) => {
                let written = write(Arc::clone(&self.output), refusal);
                tokio::spawn(async move {
                    let _ = written.await;
                    drop(places);
                });
                None
            }
        }
    }
}

/// Returns whether the SDK accepts the request as the beginning of the protocol.
fn begins(request: &ClientRequest) -> bool {
    match request {
        ClientRequest::InitializeRequest(_) => true,
        ClientRequest::PingRequest(_) | ClientRequest::DiscoverRequest(_) => false,
        request => request.get_meta().missing_required_keys(&ProtocolVersion::V_2026_07_28).is_empty(),
    }
}

impl<R: AsyncRead + Send + Unpin, W: AsyncWrite + Send + Unpin + 'static> Transport<RoleServer>
    for Lines<R, W>
{
    type Error = io::Error;

    fn send(
        &mut self,
        answer: ServerJsonRpcMessage,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let place = Arc::clone(&self.unwritten).try_acquire_owned();
        let written = write(Arc::clone(&self.output), answer);
        async move {
            let _place = place;
            written.await
        }
    }

    /// The next message, once there is room for it. At the end of the input, waits until everything is answered.
    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        loop {
            let needs_places = match self.waiting.front().map(|waiting| &waiting.line) {
                Some(Line::Message(JsonRpcMessage::Request(_)) | Line::Refused(_)) => true,
                Some(Line::Message(_)) => match self.pass(None) {
                    None => continue,
                    message => return message,
                },
                None if self.is_at_end => break,
                None => false,
            };
            let places = async {
                let working = Arc::clone(&self.working).acquire_owned().await.ok()?;
                Some((working, Arc::clone(&self.unwritten).acquire_owned().await.ok()?))
            };
            tokio::select! {
                biased;
                places = places, if needs_places => {
                    if let Some(message) = self.pass(places) {
                        return Some(message);
                    }
                }
                read = self.input.next(), if !self.is_at_end && self.waiting_bytes < MAX_WAITING => self.take(read.as_ref()),
            }
        }
        for places in [&self.working, &self.unwritten] {
            let _ = places.acquire_many(self.places).await;
        }
        None
    }

    async fn close(&mut self) -> io::Result<()> {
        self.output.lock().await.flush().await
    }
}

/// Writes a message and its line end.
async fn write<W: AsyncWrite + Unpin>(
    output: Arc<Mutex<W>>,
    message: ServerJsonRpcMessage,
) -> io::Result<()> {
    let mut line = serde_json::to_vec(&message)?;
    line.push(b'\n');
    let mut output = output.lock().await;
    output.write_all(&line).await?;
    output.flush().await
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;
    use std::pin::pin;
    use std::task::Poll;

    use rmcp::ErrorData;
    use rmcp::model::JsonRpcRequest;
    use tokio::io::{AsyncBufReadExt as _, BufReader, DuplexStream, duplex};

    use super::*;

    type Request = JsonRpcRequest<ClientRequest>;

    /// A client whose pipes hold little, and a server that works on two of its requests at once.
    struct Client {
        requests: DuplexStream,
        answers: BufReader<DuplexStream>,
        lines: Lines<DuplexStream, DuplexStream>,
    }

    impl Client {
        fn new() -> Self {
            let ((requests, input), (output, answers)) = (duplex(1 << 10), duplex(1 << 10));
            Self { requests, answers: BufReader::new(answers), lines: Lines::new(input, output, 2) }
        }

        async fn write(&mut self, line: &str) {
            self.requests.write_all(format!("{line}\n").as_bytes()).await.unwrap();
        }

        async fn take(&mut self) -> Request {
            match self.lines.receive().await.unwrap() {
                JsonRpcMessage::Request(request) => request,
                other => panic!("{other:?}"),
            }
        }
    }

    fn call(id: i64) -> String {
        format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/list"}}"#)
    }

    fn number(request: &Request) -> i64 {
        request.id.clone().into_json_value().as_i64().unwrap()
    }

    /// Returns whether `future` stays pending, however often it is polled.
    async fn waits<T>(future: impl Future<Output = T>) -> bool {
        let mut future = pin!(future);
        for _ in 0..10_000 {
            if poll_fn(|context| Poll::Ready(future.as_mut().poll(context).is_ready())).await {
                return false;
            }
            tokio::task::yield_now().await;
        }
        true
    }

    #[tokio::test]
    async fn no_more_requests_are_taken_than_are_worked_on_and_the_rest_wait_in_order() {
        let mut client = Client::new();
        for id in 0..5 {
            client.write(&call(id)).await;
        }
        let (first, second) = (client.take().await, client.take().await);
        assert!(waits(client.lines.receive()).await);
        // The place of a request is free when the request ends, however it ends.
        drop(second);
        let third = client.take().await;
        assert_eq!((number(&first), number(&third)), (0, 2));
        // A waiting request is removed, and its cancellation with it.
        client
            .write(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":3}}"#)
            .await;
        assert!(waits(client.lines.receive()).await);
        drop(first);
        let fifth = client.take().await;
        assert_eq!(number(&fifth), 4);
        // At the end of the input, requests in progress are awaited.
        let Client { requests, mut lines, .. } = client;
        drop((requests, fifth));
        assert!(waits(lines.receive()).await);
        drop(third);
        assert!(lines.receive().await.is_none());
    }

    #[tokio::test]
    async fn a_client_that_reads_nothing_is_read_up_to_a_bound() {
        let mut client = Client::new();
        client.write(&call(0)).await;
        client.write(&call(1)).await;
        let (first, _second) = (client.take().await, client.take().await);
        let mut written = 2;
        let Client { mut requests, mut answers, mut lines } = client;
        let flood = async {
            loop {
                requests.write_all(format!("{}\n", call(written)).as_bytes()).await.unwrap();
                written += 1;
            }
        };
        let read = async {
            tokio::select! { () = flood => {}, _ = lines.receive() => {} }
        };
        assert!(waits(read).await);
        let most = MAX_WAITING / size_of::<Waiting>();
        assert!((1_000..i64::try_from(most).unwrap()).contains(&written), "{written} of {most}");
        // Answers that cannot be written hold up requests, as requests in progress do.
        let long = || JsonRpcMessage::error(ErrorData::internal_error("a".repeat(2_000), None), None);
        let sent = [0, 1].map(|_| tokio::spawn(lines.send(long())));
        drop(first);
        assert!(waits(lines.receive()).await);
        for sent in sent {
            let mut line = String::new();
            answers.read_line(&mut line).await.unwrap();
            assert!(line.len() > 2_000);
            sent.await.unwrap().unwrap();
        }
        assert!(
            matches!(lines.receive().await, Some(JsonRpcMessage::Request(request)) if number(&request) == 2)
        );
    }
}
