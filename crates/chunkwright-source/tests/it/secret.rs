//! Files that hold secrets.

use std::path::Path;

use chunkwright_source::secret::{is_key, is_secret_path};

#[test]
fn secrets_are_known_by_name() {
    for name in [
        ".env",
        ".env.local",
        "id_rsa",
        "server.pem",
        "tls.KEY",
        ".npmrc",
        "terraform.tfstate.backup",
        "service-account.json",
        "service_account_prod.json",
        "docs/.aws/credentials",
    ] {
        assert!(is_secret_path(Path::new(name)), "{name}");
    }
    for name in [
        ".env.example",
        "environment.md",
        "id_rsa.pub",
        "key.md",
        "keys.py",
        "monkey.rs",
        "service-account.md",
        "service-account-example.json",
    ] {
        assert!(!is_secret_path(Path::new(name)), "{name}");
    }
}

#[test]
fn keys_are_known_by_content_and_documents_that_show_one_are_not() {
    let account = "{\"type\": \"service_account\", \"private_key\": \"-----BEGIN\"}";
    for key in [
        "-----BEGIN OPENSSH PRIVATE KEY-----\nb3Blbn\n",
        "\u{feff}\n-----BEGIN PRIVATE KEY-----\r\n",
        account,
    ] {
        assert!(is_key(key.as_bytes()), "{key}");
    }
    let page = format!("# Keys\n\n```json\n{account}\n```\n\n-----BEGIN PRIVATE KEY-----\n");
    for text in [&page, "-----BEGIN CERTIFICATE-----\n", "{\"kind\": \"ServiceAccount\"}", ""] {
        assert!(!is_key(text.as_bytes()), "{text}");
    }
}
