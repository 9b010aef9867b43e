//! TLS with certificate files.

use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use chunkwright_server::TlsFiles;
use rustls_pki_types::pem::PemObject as _;
use rustls_pki_types::{CertificateDer, ServerName};
use tempfile::TempDir;
use tokio_rustls::rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned, crypto::ring};

use crate::client::{answer, connect, request};
use crate::served::Served;

const FIRST: [&str; 2] = [include_str!("tls/first.pem"), include_str!("tls/first.key.pem")];
const SECOND: [&str; 2] = [include_str!("tls/second.pem"), include_str!("tls/second.key.pem")];

/// Writes a certificate and its key.
fn write(folder: &Path, [certificate, key]: [&str; 2]) -> TlsFiles {
    let put = |name: &str, text: &str| -> PathBuf {
        let path = folder.join(name);
        fs::write(&path, text).unwrap();
        #[cfg(unix)]
        fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
        path
    };
    TlsFiles { certificate: put("cert", certificate), key: put("key", key) }
}

/// The status of `/health`, for a client that trusts `certificate` alone.
fn health(address: SocketAddr, certificate: &str) -> Option<u16> {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_slice(certificate.as_bytes()).unwrap()).unwrap();
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let name = ServerName::try_from("localhost").unwrap();
    let client = ClientConnection::new(Arc::new(config), name).unwrap();
    let mut stream = StreamOwned::new(client, connect(address));
    let host = format!("Host: localhost:{}", address.port());
    let asked = request(address, "GET", "/health", &[&host], "");
    std::io::Write::write_all(&mut stream, asked.as_bytes()).ok()?;
    Some(answer(&mut stream)?.status)
}

#[test]
fn a_certificate_is_read_again_when_it_changes() {
    let folder = TempDir::new().unwrap();
    let files = write(folder.path(), FIRST);
    let served = Served::new(|options| options.tls = Some(files));
    assert_eq!(health(served.address, FIRST[0]), Some(200));
    assert_eq!(health(served.address, SECOND[0]), None, "a client that trusts another");
    write(folder.path(), SECOND);
    while health(served.address, SECOND[0]).is_none() {
        std::thread::yield_now();
    }
}

#[test]
fn a_certificate_whose_key_others_may_change_is_refused() {
    use chunkwright_server::{StartError, TlsError};
    let folder = TempDir::new().unwrap();
    let files = write(folder.path(), FIRST);
    #[cfg(unix)]
    fs::set_permissions(&files.key, std::os::unix::fs::PermissionsExt::from_mode(0o666)).unwrap();
    let refused = Served::refused(|options| options.tls = Some(files));
    assert!(matches!(refused, StartError::Tls(TlsError::Key(_))), "{refused}");
    let other = write(folder.path(), [FIRST[0], SECOND[1]]);
    let refused = Served::refused(|options| options.tls = Some(other));
    assert!(matches!(refused, StartError::Tls(TlsError::Pair(_))), "{refused}");
}
