//! Detects files that hold credentials, by name and by content: they are left out wherever documents come from.

use std::path::Path;

/// Folders that hold credentials.
const FOLDERS: &[&str] = &[".aws", ".ssh", ".gnupg", ".kube", ".docker"];

/// Longest file that is one key, in bytes.
const MOST: usize = 64 << 10;

/// Whether a file at this path usually holds credentials, by its name or the folder that it is in.
pub fn is_secret_path(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str());
    let is_folder = |part: &std::ffi::OsStr| FOLDERS.iter().any(|name| part == *name);
    name.is_some_and(is_secret_name) || path.parent().is_some_and(|folder| folder.iter().any(is_folder))
}

/// Whether a file of this name usually holds credentials.
pub fn is_secret_name(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let (stem, extension) = name.rsplit_once('.').unwrap_or((&name, ""));
    // Examples are written to be read.
    let examples = ["example", "sample", "template", "dist"];
    let is_example = examples.contains(&extension) || examples.iter().any(|end| stem.ends_with(end));
    let begins = name == ".env" || name.starts_with(".env.") || name.starts_with("terraform.tfstate");
    let accounts = ["service-account", "service_account", "serviceaccount", "client_secret"];
    let is_account = extension == "json" && accounts.iter().any(|begin| name.starts_with(begin));
    let keys = ["id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", "id_ecdsa_sk", "id_ed25519_sk"];
    let files = [
        ".npmrc",
        ".pypirc",
        ".netrc",
        "_netrc",
        ".pgpass",
        ".git-credentials",
        ".htpasswd",
        ".dockercfg",
        "application_default_credentials.json",
    ];
    let extensions = ["pem", "key", "p12", "pfx", "jks", "keystore", "kdbx", "ppk", "tfstate"];
    (begins || is_account) && !is_example
        || keys.contains(&&*name)
        || files.contains(&&*name)
        || extensions.contains(&extension)
}

/// Whether bytes are a private key, or the key of a service account, whatever their file is called. A document that
/// shows a key does not count.
pub fn is_key(bytes: &[u8]) -> bool {
    if bytes.len() > MOST {
        return false;
    }
    let text = String::from_utf8_lossy(bytes);
    let text = text.trim_start_matches('\u{feff}').trim_start();
    let line = text.lines().next().unwrap_or_default().trim_end();
    line.starts_with("-----BEGIN ") && line.ends_with("PRIVATE KEY-----")
        || line.starts_with("PuTTY-User-Key-File-")
        || text.starts_with('{') && text.contains("\"service_account\"") && text.contains("\"private_key\"")
}
