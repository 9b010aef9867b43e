//! TLS of connections to PostgreSQL, as `sslmode` and `sslrootcert` of libpq choose it.

use std::io;
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use postgres::Socket;
use postgres::tls::{ChannelBinding, MakeTlsConnect, TlsConnect, TlsStream};
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::CryptoProvider;
use rustls::{CertificateError, ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, ServerName, UnixTime};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_rustls::{Connect, TlsConnector};

/// What of the server's certificate is verified.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verify {
    /// Nothing: the connection is encrypted, and the server may be any.
    Nothing,
    /// Who issued it.
    Issuer,
    /// Who issued it, and for which host.
    Host,
}

/// Makes connections over TLS.
#[derive(Clone)]
pub(super) struct Tls(TlsConnector);

impl Tls {
    /// `roots` is a file of certificates in PEM; without it, Mozilla's roots are trusted.
    pub(super) fn new(verify: Verify, roots: Option<&Path>) -> Result<Self, Box<dyn std::error::Error>> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let issuer = if verify == Verify::Nothing {
            None
        } else {
            let trusted = Arc::new(trusted(roots)?);
            Some(WebPkiServerVerifier::builder_with_provider(trusted, Arc::clone(&provider)).build()?)
        };
        let by = Verifier { verify, issuer, provider: Arc::clone(&provider) };
        let config = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions()?;
        let config = config.dangerous().with_custom_certificate_verifier(Arc::new(by));
        Ok(Self(TlsConnector::from(Arc::new(config.with_no_client_auth()))))
    }
}

fn trusted(roots: Option<&Path>) -> Result<RootCertStore, Box<dyn std::error::Error>> {
    let mut store = RootCertStore::empty();
    let Some(path) = roots else {
        store.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
        return Ok(store);
    };
    for certificate in CertificateDer::pem_file_iter(path)? {
        store.add(certificate?)?;
    }
    Ok(store)
}

/// Verifies certificates to the configured degree.
#[derive(Debug)]
struct Verifier {
    verify: Verify,
    issuer: Option<Arc<WebPkiServerVerifier>>,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        own: &CertificateDer<'_>,
        others: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        let Some(issuer) = &self.issuer else { return Ok(ServerCertVerified::assertion()) };
        match issuer.verify_server_cert(own, others, name, ocsp, now) {
            // The name is looked at last.
            Err(rustls::Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) if self.verify == Verify::Issuer => Ok(ServerCertVerified::assertion()),
            verified => verified,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let known = &self.provider.signature_verification_algorithms;
        rustls::crypto::verify_tls12_signature(message, certificate, signed, known)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let known = &self.provider.signature_verification_algorithms;
        rustls::crypto::verify_tls13_signature(message, certificate, signed, known)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

impl MakeTlsConnect<Socket> for Tls {
    type Stream = Stream;
    type TlsConnect = Handshake;
    type Error = rustls_pki_types::InvalidDnsNameError;

    fn make_tls_connect(&mut self, host: &str) -> Result<Handshake, Self::Error> {
        // A socket has no name, and no handshake.
        let host = if host.is_empty() { "localhost" } else { host };
        Ok(Handshake { connector: self.0.clone(), host: ServerName::try_from(host.to_owned())? })
    }
}

/// A handshake that is about to begin.
pub(super) struct Handshake {
    connector: TlsConnector,
    host: ServerName<'static>,
}

impl TlsConnect<Socket> for Handshake {
    type Stream = Stream;
    type Error = io::Error;
    type Future = Shaking;

    fn connect(self, socket: Socket) -> Shaking {
        Shaking(self.connector.connect(self.host, socket))
    }
}

/// A handshake in progress.
pub(super) struct Shaking(Connect<Socket>);

impl Future for Shaking {
    type Output = io::Result<Stream>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let stream = ready!(Pin::new(&mut self.0).poll(context))?;
        Poll::Ready(Ok(Stream(stream)))
    }
}

/// An encrypted connection.
pub(super) struct Stream(tokio_rustls::client::TlsStream<Socket>);

impl TlsStream for Stream {
    fn channel_binding(&self) -> ChannelBinding {
        ChannelBinding::none()
    }
}

impl AsyncRead for Stream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(context, buffer)
    }
}

impl AsyncWrite for Stream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(context)
    }
}
