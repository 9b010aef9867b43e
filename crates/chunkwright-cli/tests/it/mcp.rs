//! `chunkwright mcp` as agents run it, and the documents that tell them how.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use chunkwright_server::agents::AGENTS;
use serde_json::{Value, json};

use crate::cli::{Folder, guide};
use crate::docs::copy;
use crate::servers;

/// An agent that runs the server.
pub(crate) struct Agent {
    pub(crate) child: Child,
    requests: ChildStdin,
    answers: BufReader<ChildStdout>,
    last: u64,
}

impl Agent {
    pub(crate) fn start(folder: &Folder, args: &[&str]) -> Self {
        let mut command = folder.command(&[&["mcp"], args].concat());
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let requests = child.stdin.take().unwrap();
        let answers = BufReader::new(child.stdout.take().unwrap());
        let mut agent = Self { child, requests, answers, last: 0 };
        let client = json!({ "name": "test", "version": "1" });
        agent.ask(
            "initialize",
            json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client }),
        );
        agent.write(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }).to_string());
        agent
    }

    fn write(&mut self, line: &str) {
        self.requests.write_all(format!("{line}\n").as_bytes()).unwrap();
        self.requests.flush().unwrap();
    }

    /// The next message, which has to be one of the protocol.
    #[track_caller]
    fn read(&mut self) -> Value {
        let mut line = String::new();
        self.answers.read_line(&mut line).unwrap();
        let message: Value = serde_json::from_str(&line).unwrap_or_else(|_| panic!("{line:?}"));
        assert_eq!(message["jsonrpc"], "2.0", "{line}");
        message
    }

    #[track_caller]
    pub(crate) fn ask(&mut self, method: &str, params: Value) -> Value {
        self.last += 1;
        let mut request = json!({ "jsonrpc": "2.0", "id": self.last, "method": method });
        request["params"] = params;
        self.write(&request.to_string());
        let answer = self.read();
        assert_eq!(answer["id"], self.last, "{answer}");
        answer
    }

    /// The structured answer of a tool.
    #[track_caller]
    pub(crate) fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let mut params = json!({ "name": tool });
        params["arguments"] = arguments;
        params["arguments"]["format"] = "structured".into();
        let answer = self.ask("tools/call", params);
        assert_eq!(answer["result"]["isError"], false, "{answer}");
        answer["result"]["structuredContent"].clone()
    }

    /// Asks for the status until everything is indexed; what it said before.
    #[track_caller]
    pub(crate) fn wait(&mut self) -> Vec<String> {
        let mut said = Vec::new();
        loop {
            let status = self.call("status", json!({}));
            let indexing = status["indexing"].as_str().unwrap().to_owned();
            if indexing == "indexed" {
                return said;
            }
            assert!(indexing.starts_with("indexing ") || indexing.starts_with("words"), "{indexing}");
            said.push(indexing);
            std::thread::yield_now();
        }
    }

    /// Closes the input of the server; its exit status, and what else it said.
    pub(crate) fn leave(self) -> (i32, String, String) {
        drop(self.requests);
        let mut rest = String::new();
        let mut answers = self.answers;
        std::io::Read::read_to_string(&mut answers, &mut rest).unwrap();
        let output = self.child.wait_with_output().unwrap();
        (output.status.code().unwrap(), rest, String::from_utf8(output.stderr).unwrap())
    }
}

/// Every file below a folder, and what it holds.
fn files(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                found.push((path.display().to_string(), fs::read(&path).unwrap()));
            }
        }
    }
    found.sort();
    found
}

#[test]
fn a_folder_is_served_without_any_set_up_and_nothing_is_written_to_it() {
    let folder = Folder::new(&[]);
    copy(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/corpus"), &folder.path().join("docs"));
    let before = files(folder.path());
    let mut agent = Agent::start(&folder, &["docs", "-q"]);
    // It answers at once, whatever is indexed so far.
    let early = agent.call("search", json!({ "query": "When does the ferry leave?" }));
    assert!(early["results"].is_array(), "{early}");
    agent.wait();
    let found = agent.call("search", json!({ "query": "When does the ferry leave?" }));
    let first = &found["results"][0];
    assert_eq!(first["doc_id"], "en/ferry-harbour.md", "{first}");
    let source = agent.call("fetch", json!({ "id": "en/ferry-harbour.md" }));
    assert_eq!(source["text"], folder.read("docs/en/ferry-harbour.md"));
    assert_eq!(files(folder.path()), before);
    let (code, rest, said) = agent.leave();
    assert_eq!((code, rest.as_str(), said.as_str()), (0, "", ""));

    // A later start has what the first one indexed, and takes what changed meanwhile.
    folder.write("docs/new.md", b"# Lighthouse\n\nThe lighthouse keeper counts gulls.\n");
    fs::remove_file(folder.path().join("docs/en/bread.md")).unwrap();
    let mut agent = Agent::start(&folder, &["docs", "-q"]);
    agent.wait();
    let found = agent.call("search", json!({ "query": "gulls of the lighthouse" }));
    assert_eq!(found["results"][0]["doc_id"], "new.md");
    let gone = agent.ask("tools/call", json!({ "name": "fetch", "arguments": { "id": "en/bread.md" } }));
    assert_eq!(gone["result"]["isError"], true);

    // A second agent reads what the first one stores.
    let mut second = Agent::start(&folder, &["docs", "-q"]);
    let found = second.call("search", json!({ "query": "gulls of the lighthouse" }));
    assert_eq!(found["results"][0]["doc_id"], "new.md");
    assert_eq!(second.leave().0, 0);
    assert_eq!(agent.leave().0, 0);
}

#[test]
fn what_changes_while_it_is_served_is_found() {
    let folder = Folder::new(&[("docs/guide.md", &guide(3))]);
    let mut agent = Agent::start(&folder, &["docs", "-q"]);
    agent.wait();
    folder.write("docs/new.md", b"# Lighthouse\n\nThe lighthouse keeper counts gulls.\n");
    let mut found = Value::Null;
    while found["results"][0]["doc_id"] != "new.md" {
        found = agent.call("search", json!({ "query": "gulls of the lighthouse" }));
        std::thread::yield_now();
    }
    assert_eq!(agent.leave().0, 0);
}

#[test]
fn an_index_that_is_being_made_says_how_far_it_is() {
    let folder = Folder::new(&[]);
    for number in 0..12 {
        folder.write(
            &format!("docs/{number:02}.md"),
            guide(200).replace("Guide", &format!("Guide {number}")).as_bytes(),
        );
    }
    let mut agent = Agent::start(&folder, &["docs", "-q"]);
    let early = agent.call("search", json!({ "query": "guide" }));
    let said = early["next_step"].as_str().unwrap();
    assert!(said.starts_with("The index is not complete (indexing ") && said.contains(" %)"), "{said}");
    let said = agent.wait();
    let percents: Vec<u32> =
        said.iter().map(|said| said["indexing ".len()..].trim_end_matches(" %").parse().unwrap()).collect();
    assert!(percents.is_sorted() && percents.iter().all(|percent| *percent < 100), "{percents:?}");
    let late = agent.call("search", json!({ "query": "guide" }));
    assert!(!late["next_step"].as_str().unwrap_or_default().contains("indexing"), "{late}");
    assert_eq!(agent.leave().0, 0);
}

#[test]
fn lines_that_are_no_requests_are_refused_one_by_one_and_nothing_but_the_protocol_is_written() {
    let folder = Folder::new(&[("docs/guide.md", &guide(3))]);
    let mut agent = Agent::start(&folder, &["docs", "-v"]);
    agent.wait();
    let too_long =
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"ping","params":"{}"}}"#, "a".repeat(1 << 20));
    for (line, code, id) in [
        ("{", -32700, Value::Null),
        ("not json", -32700, Value::Null),
        ("[]", -32600, Value::Null),
        ("7", -32600, Value::Null),
        (r#"{"jsonrpc":"1.0"}"#, -32600, Value::Null),
        (r#"{"jsonrpc":"2.0","id":"a","method":7}"#, -32600, json!("a")),
        (r#"{"jsonrpc":"2.0","id":"b","method":"tools/none"}"#, -32601, json!("b")),
        (&too_long, -32600, Value::Null),
    ] {
        agent.write(line);
        let answer = agent.read();
        assert_eq!((&answer["error"]["code"], &answer["id"]), (&json!(code), &id), "{answer}");
    }
    // What asks for nothing is answered by nothing.
    for line in [
        "",
        "  ",
        r#"{"jsonrpc":"2.0","method":"notifications/none"}"#,
        r#"{"jsonrpc":"2.0","id":9,"result":{}}"#,
    ] {
        agent.write(line);
    }
    // An id that was used before is no reason to refuse.
    for _ in 0..2 {
        agent.write(&json!({ "jsonrpc": "2.0", "id": "same", "method": "tools/list" }).to_string());
        assert_eq!(agent.read()["id"], "same");
    }
    let wrong = agent.ask("tools/call", json!({ "name": "search", "arguments": ["guide"] }));
    assert_eq!(wrong["result"]["isError"], true, "{wrong}");
    let (code, rest, said) = agent.leave();
    assert_eq!((code, rest.as_str()), (0, ""), "{said}");
}

#[test]
fn a_burst_of_calls_waits_and_every_call_is_answered() {
    let folder = Folder::new(&[("docs/guide.md", &guide(30))]);
    let mut agent = Agent::start(&folder, &["docs", "-q"]);
    agent.wait();
    // None is read before the last is written, more than are worked on at once; and the input ends with the last.
    let calls = 400;
    let mut lines = String::new();
    for id in 1..=calls {
        let params =
            json!({ "name": "search", "arguments": { "query": format!("guide {id}"), "limit": "1" } });
        lines += &json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params }).to_string();
        lines.push('\n');
    }
    let Agent { child, mut requests, answers, .. } = agent;
    requests.write_all(lines.trim_end().as_bytes()).unwrap();
    drop(requests);
    let mut answered: Vec<u64> = Vec::new();
    for line in answers.lines() {
        let answer: Value = serde_json::from_str(&line.unwrap()).unwrap();
        assert_eq!(answer["result"]["isError"], false, "{answer}");
        answered.push(answer["id"].as_u64().unwrap());
    }
    answered.sort_unstable();
    assert!(answered.into_iter().eq(1..=calls));
    assert_eq!(child.wait_with_output().unwrap().status.code(), Some(0));
}

#[test]
fn a_client_that_never_speaks_is_waited_for_and_its_end_is_no_error() {
    let folder = Folder::new(&[("docs/guide.md", &guide(3))]);
    let run = folder.run_with_input(&["mcp", "docs", "-q"], b"");
    assert_eq!((run.code, run.stdout.as_str(), run.stderr.as_str()), (0, "", ""));
    folder
        .run(&["mcp", "none"])
        .fails("error: `none` cannot be read: No such file or directory (os error 2)");
    folder
        .run(&["mcp", "docs/guide.md"])
        .fails("error: `docs/guide.md` is a file; give the folder that holds it");
    let run = folder.run(&["mcp", "--answer-tokens", "20"]);
    assert_eq!(run.code, 2);
    assert!(run.stderr.contains("it must be a number from 500"), "{}", run.stderr);
}

#[cfg(unix)]
#[test]
fn a_signal_ends_the_server() {
    let folder = Folder::new(&[("docs/guide.md", &guide(3))]);
    let mut agent = Agent::start(&folder, &["docs", "-q"]);
    agent.wait();
    let kill = Command::new("kill").args(["-INT", &agent.child.id().to_string()]).status().unwrap();
    assert!(kill.success());
    // Its input is still open.
    let Agent { child, requests, .. } = agent;
    let output = child.wait_with_output().unwrap();
    drop(requests);
    assert_eq!(output.status.code(), Some(130));
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(
        said,
        "interrupted: stored data is intact; indexing resumes when the server is started again\n"
    );
}

#[test]
fn the_store_of_the_settings_is_served_without_a_folder() {
    let folder = Folder::new(&[("docs/guide.md", &guide(3))]);
    folder.run(&["index", "docs", "-q", "--embedder", "none"]).success();
    let mut agent = Agent::start(&folder, &["--tools", "chatgpt"]);
    let tools = agent.ask("tools/list", json!({}));
    assert_eq!(tools["result"]["tools"].as_array().unwrap().len(), 2);
    let found = agent.ask("tools/call", json!({ "name": "search", "arguments": { "query": "guide" } }));
    let found: Value = serde_json::from_str(found["result"]["content"][0]["text"].as_str().unwrap()).unwrap();
    assert_eq!(
        found["results"][0]["url"].as_str().unwrap().split('#').next(),
        Some("chunk://default/guide.md")
    );
    assert_eq!(agent.leave().0, 0);
}

/// What the official client sees, if it is installed.
fn official_client(mode: &str, how: &[&str]) -> Option<Value> {
    let Some(python) = servers::program("python") else {
        println!("not checked: `CHUNKWRIGHT_SERVERS` does not say where the official client is");
        return None;
    };
    let script = servers::scripts().join("mcp_client.py");
    let output = Command::new(python).arg(script).arg(mode).args(how).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    Some(serde_json::from_slice(&output.stdout).unwrap())
}

/// Checks what the official client saw of the examples.
#[track_caller]
fn check_seen(seen: &Value, version: &str) {
    assert_eq!(seen["version"], version);
    assert!(seen["tools"].as_array().unwrap().contains(&json!("search")));
    assert!(seen["instructions"].as_str().unwrap().contains("`fetch`"));
    let result = &seen["search"]["results"][0];
    assert_eq!(result["doc_id"], "en/ferry-harbour.md");
    // What is shown leaves the front matter out.
    assert!(seen["fetch"]["text"].as_str().unwrap().ends_with(result["content"].as_str().unwrap()));
    assert_eq!((&seen["failed"][0], &seen["wrong"][0]), (&json!(true), &json!(true)));
    assert_eq!(seen["outline"]["rows"][0]["kind"], "document");
    assert!(seen["text"].as_str().unwrap().contains("en/ferry-harbour.md:"), "{seen}");
    assert_eq!(seen["prompts"], json!(["answer", "summarize", "locate"]));
    assert_eq!(seen["prompt"][1], "When?");
    assert_eq!(seen["templates"], json!(["chunk://{collection}/{+reference}"]));
    assert_eq!(seen["resources"][0], "chunk://default/README.md");
}

#[test]
fn the_official_client_reads_a_folder_over_stdio() {
    let folder = Folder::new(&[]);
    copy(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/corpus"), &folder.path().join("docs"));
    let (docs, data) = (folder.path().join("docs"), folder.home().join("agent"));
    let program = env!("CARGO_BIN_EXE_chunkwright");
    let stdio = ["stdio", data.to_str().unwrap(), program, "mcp", docs.to_str().unwrap(), "-q"];
    for (mode, version) in [("legacy", "2025-11-25"), ("auto", "2026-07-28")] {
        let Some(seen) = official_client(mode, &stdio) else { return };
        check_seen(&seen, version);
    }
}

/// The file of an agent's configuration.
fn configuration(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../integrations").join(name);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

#[test]
fn every_client_is_connected_by_what_print_config_prints() {
    let folder = Folder::new(&[("guide.md", &guide(3))]);
    let update = std::env::var_os("UPDATE_SPEC").is_some();
    for agent in AGENTS {
        let print =
            |flags: &[&str]| folder.run(&[&["mcp", "-q", "--print-config", agent.name], flags].concat());
        let address = print(&["--address", "https://lamp.example/mcp"]);
        let name = agent.file.rsplit('/').next().unwrap();
        let command = print(&[]);
        if agent.name == "openai" {
            command.fails("error: OpenAI's Responses API is connected by an address; give `--address`");
            let tool: Value = serde_json::from_str(&address.success()).unwrap();
            assert_eq!(tool["server_url"], "https://lamp.example/mcp?tools=chatgpt");
            continue;
        }
        let text = command.success();
        let path =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("../../integrations").join(agent.name).join(name);
        if update {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, &text).unwrap();
        }
        assert_eq!(fs::read_to_string(&path).unwrap_or_default(), text, "{}", path.display());
        let server = server_of(&text);
        assert_eq!(server["command"], "chunkwright", "{server}");
        let args = server["args"].as_array().unwrap().iter().map(|arg| arg.as_str().unwrap());
        // The folder that is meant.
        let is_folder = |arg: &str| ["${workspaceFolder}", "/path/to/documents"].contains(&arg);
        let args: Vec<&str> = args.map(|arg| if is_folder(arg) { "." } else { arg }).collect();
        assert_eq!(args, ["mcp", "."], "{server}");
        let mut started = Agent::start(&folder, &args[1..]);
        let tools = started.ask("tools/list", json!({}));
        assert_eq!(tools["result"]["tools"].as_array().unwrap().len(), 5);
        assert_eq!(started.leave().0, 0, "{server}");
        let several = folder.run(&["mcp", "/a b", "/c", "-q", "--print-config", agent.name]).success();
        assert_eq!(server_of(&several)["args"], json!(["mcp", "/a b", "/c"]));
        if agent.name == "claude-desktop" {
            address.fails("error: Claude Desktop is connected by a command; leave out `--address`");
        } else {
            let server = server_of(&address.success()).to_string();
            assert!(server.contains("\"https://lamp.example/mcp\""), "{server}");
            assert!(server.contains("Bearer ") || server.contains("CHUNKWRIGHT_API_KEY"), "{server}");
        }
        let rules = folder.run(&["mcp", "--print-rules", agent.name]);
        assert_eq!(rules.code, if agent.rules().is_empty() { 2 } else { 0 }, "{rules:?}");
    }
    let told = folder.run(&["mcp", "--print-config", "claude-code"]).stderr;
    assert!(
        told.contains(".mcp.json") && told.contains("claude mcp add chunkwright -- chunkwright mcp ."),
        "{told}"
    );
}

/// The entry of the server in a configuration.
fn server_of(text: &str) -> Value {
    let file: Value = serde_json::from_str(text)
        .unwrap_or_else(|_| serde_json::to_value(text.parse::<toml::Table>().unwrap()).unwrap());
    let servers = ["mcpServers", "servers", "context_servers", "mcp_servers"];
    servers
        .into_iter()
        .map(|name| file[name]["chunkwright"].clone())
        .find(|server| !server.is_null())
        .unwrap()
}

#[test]
fn hooks_of_rules_print_what_their_client_reads() {
    let folder = Folder::new(&[]);
    let rules = folder.run(&["mcp", "--print-rules", "claude-code"]).success();
    let settings = rules.strip_prefix("=== .claude/settings.json\n").unwrap().split("\n=== ").next().unwrap();
    let settings: Value = serde_json::from_str(settings).unwrap();
    let run = |event: &str| {
        let command = settings["hooks"][event][0]["hooks"][0]["command"].as_str().unwrap().to_owned();
        let output = Command::new("sh").args(["-c", &command]).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let told: Value = serde_json::from_str(&run("PreToolUse")).unwrap();
    assert_eq!(told["hookSpecificOutput"]["hookEventName"], "PreToolUse");
    assert_eq!(told["hookSpecificOutput"]["additionalContext"], run("SessionStart").trim_end());
    assert_eq!(settings["hooks"]["PreToolUse"][0]["matcher"], "Grep|Glob");
}

#[test]
fn the_skill_names_tools_and_conditions_that_exist() {
    let skill = configuration("skills/chunkwright/SKILL.md");
    let (head, body) = skill.strip_prefix("---\n").unwrap().split_once("\n---\n").unwrap();
    let keys: Vec<&str> = head.lines().map(|line| line.split_once(": ").unwrap().0).collect();
    assert_eq!(keys, ["name", "description"]);
    assert!(head.len() < 1_024, "agents read the head of every skill");
    let folder = Folder::new(&[("docs/guide.md", &guide(3)), ("src/main.rs", "fn guide() {}\n")]);
    let mut agent = Agent::start(&folder, &[".", "-q"]);
    agent.wait();
    let tools = agent.ask("tools/list", json!({}));
    for tool in tools["result"]["tools"].as_array().unwrap() {
        assert!(body.contains(&format!("`{}", tool["name"].as_str().unwrap())), "{tool}");
    }
    let found = agent.call("search", json!({ "query": "guide path:docs/" }));
    assert_eq!(found["results"][0]["doc_id"], "docs/guide.md");
    let found = agent.call("search", json!({ "query": "guide lang:rust" }));
    assert_eq!(found["results"][0]["doc_id"], "src/main.rs");
    assert_eq!(agent.leave().0, 0);
}
