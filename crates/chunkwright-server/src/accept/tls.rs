//! TLS, with certificates that are reloaded when they change.
//!
//! Certificates are renewed every few weeks by a program that does not know this one. Therefore their files are checked
//! regularly, and read again when they changed.

use parking_lot::Mutex;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use rustls_pki_types::pem::{self, PemObject as _};
use rustls_pki_types::{CertificateDer, PrivateKeyDer};
use tokio::time::Instant;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::{self, ServerConfig, crypto::ring};

use crate::files::{FileError, readable_by_us_alone};
use crate::options::TlsFiles;

/// Interval at which the files are checked.
const LOOK: Duration = Duration::from_secs(1);

/// Why a certificate cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TlsError {
    /// A file that cannot be read, or that does not contain the expected PEM.
    #[error("`{path}` cannot be used: {error}; expected a file of PEM")]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        error: pem::Error,
    },
    /// A private key that others can change.
    #[error(transparent)]
    Key(#[from] FileError),
    /// A certificate and a key that do not belong together.
    #[error("the certificate and its key cannot be used together: {0}")]
    Pair(#[from] rustls::Error),
}

/// The certificate in use.
pub(super) struct Tls {
    files: TlsFiles,
    loaded: Mutex<Loaded>,
}

struct Loaded {
    acceptor: TlsAcceptor,
    /// The modification times of its files, and when they were last checked.
    made: [Option<SystemTime>; 2],
    looked: Instant,
}

impl Tls {
    pub(super) fn load(files: &TlsFiles) -> Result<Self, TlsError> {
        let made = made(files);
        let loaded = Loaded { acceptor: acceptor(files)?, made, looked: Instant::now() };
        Ok(Self { files: files.clone(), loaded: Mutex::new(loaded) })
    }

    /// The acceptor for the next connection. If new files cannot be used, the old certificate stays.
    pub(super) fn acceptor(&self) -> TlsAcceptor {
        let mut loaded = self.loaded.lock();
        if loaded.looked.elapsed() >= LOOK {
            loaded.looked = Instant::now();
            let made = made(&self.files);
            if made != loaded.made {
                loaded.made = made;
                match acceptor(&self.files) {
                    Ok(acceptor) => {
                        loaded.acceptor = acceptor;
                        tracing::info!("the certificate was read again");
                    }
                    Err(error) => tracing::error!(%error, "the new certificate is not used"),
                }
            }
        }
        loaded.acceptor.clone()
    }
}

fn made(files: &TlsFiles) -> [Option<SystemTime>; 2] {
    [&files.certificate, &files.key].map(|path| fs::metadata(path).and_then(|file| file.modified()).ok())
}

fn acceptor(files: &TlsFiles) -> Result<TlsAcceptor, TlsError> {
    let of = |path: &Path| {
        let path = path.to_owned();
        move |error| TlsError::File { path, error }
    };
    let certificates: Result<Vec<_>, _> =
        CertificateDer::pem_file_iter(&files.certificate).and_then(Iterator::collect);
    let certificates = certificates.map_err(of(&files.certificate))?;
    if let Some(warning) = readable_by_us_alone(&files.key)? {
        tracing::warn!("{warning}");
    }
    let key = PrivateKeyDer::from_pem_file(&files.key).map_err(of(&files.key))?;
    let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()?
        .with_no_client_auth()
        .with_single_cert(certificates, key)?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(TlsAcceptor::from(Arc::new(config)))
}
