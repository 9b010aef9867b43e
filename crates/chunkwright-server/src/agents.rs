//! How agents are connected: the configuration of each client, and the rules that make an agent search before it greps.
//!
//! One table, [`AGENTS`]. `chunkwright mcp --print-config`, the page "Connect an agent" and the files in `integrations/`
//! are made from it.

use serde::Serialize;
use serde_json::{Map, Value, json};

/// A client of the Model Context Protocol.
#[derive(Debug)]
pub struct Agent {
    /// The name that the command line and addresses use.
    pub name: &'static str,
    /// The name that people use.
    pub title: &'static str,
    /// The file that its servers are written in, relative to the project, or where the client says.
    pub file: &'static str,
    /// How a server is written there.
    shape: Shape,
    /// What it calls the folder of the project; `None` for a client without projects, where users name a folder.
    folder: Option<&'static str>,
    /// How it is given a key.
    key: Key,
    /// Its command that adds a server.
    adds: Option<Adds>,
    /// The files that make its agent search.
    rules: &'static [(&'static str, Rules)],
}

/// How a file names servers.
#[derive(Clone, Copy, Debug)]
enum Shape {
    /// JSON: the member that holds the servers, whether each states its transport, and the member of an address; none for
    /// a client whose file takes commands alone.
    Json { servers: &'static str, is_typed: bool, address: Option<&'static str> },
    /// A table of TOML.
    Toml,
    /// A tool of a request to a model; addresses alone.
    Tool,
}

/// How a client is given the key of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Key {
    /// As a header, whose value may name a variable in this form.
    Header(&'static str),
    /// By the name of a variable, in a member of its own.
    Variable(&'static str),
    /// It asks the user, and the header names what was entered.
    Asked,
}

/// How a client's own command adds a server.
#[derive(Clone, Copy, Debug)]
struct Adds {
    /// What stands before the command of the server.
    command: &'static str,
    /// What stands before its address.
    address: &'static str,
}

/// What a file of rules holds.
#[derive(Clone, Copy, Debug)]
enum Rules {
    /// The rules after a head.
    Text(&'static str),
    /// Hooks of Claude Code, which remind it when it greps.
    ClaudeHooks,
    /// The skill.
    Skill,
}

/// The variable of the key.
const VARIABLE: &str = "CHUNKWRIGHT_API_KEY";

/// The folder that users replace by theirs.
const FOLDER: &str = "/path/to/documents";

/// The rules, for files that agents always read.
const TEXT: &str = include_str!("agents/rules.md");

/// The skill. A crate is built from its own folder: the one of `integrations/` is a link to it.
const SKILL: &str = include_str!("agents/skill.md");

/// What a hook says when an agent is about to grep.
const REMINDER: &str = "This project has a search index: the tool search of the MCP server chunkwright finds code and \
documents by question or by name, with exact lines, for fewer tokens than grep. Use it first, unless you look for one exact \
string in files that you know.";

const MCP_SERVERS: Shape = Shape::Json { servers: "mcpServers", is_typed: false, address: Some("url") };

/// All clients that are known, in the order in which they are listed.
pub const AGENTS: &[Agent] = &[
    Agent {
        name: "claude-code",
        title: "Claude Code",
        file: ".mcp.json",
        shape: Shape::Json { servers: "mcpServers", is_typed: true, address: Some("url") },
        folder: Some("."),
        key: Key::Header("${CHUNKWRIGHT_API_KEY}"),
        adds: Some(Adds {
            command: "claude mcp add chunkwright --",
            address: "claude mcp add --transport http chunkwright",
        }),
        rules: &[
            (".claude/settings.json", Rules::ClaudeHooks),
            (".claude/skills/chunkwright/SKILL.md", Rules::Skill),
            ("CLAUDE.md", Rules::Text("")),
        ],
    },
    Agent {
        name: "claude-desktop",
        title: "Claude Desktop",
        file: "claude_desktop_config.json",
        shape: Shape::Json { servers: "mcpServers", is_typed: false, address: None },
        folder: None,
        key: Key::Header(""),
        adds: None,
        rules: &[],
    },
    Agent {
        name: "cursor",
        title: "Cursor",
        file: ".cursor/mcp.json",
        shape: MCP_SERVERS,
        folder: Some("${workspaceFolder}"),
        key: Key::Header("${env:CHUNKWRIGHT_API_KEY}"),
        adds: None,
        rules: &[(
            ".cursor/rules/chunkwright.mdc",
            Rules::Text("---\ndescription: Search the index before grepping\nalwaysApply: true\n---\n\n"),
        )],
    },
    Agent {
        name: "vscode",
        title: "VS Code",
        file: ".vscode/mcp.json",
        shape: Shape::Json { servers: "servers", is_typed: true, address: Some("url") },
        folder: Some("${workspaceFolder}"),
        key: Key::Asked,
        adds: None,
        rules: &[(
            ".github/instructions/chunkwright.instructions.md",
            Rules::Text("---\ndescription: 'Search the index before grepping'\napplyTo: '**'\n---\n\n"),
        )],
    },
    Agent {
        name: "codex",
        title: "Codex",
        file: "~/.codex/config.toml",
        shape: Shape::Toml,
        folder: Some("."),
        key: Key::Variable("bearer_token_env_var"),
        adds: Some(Adds {
            command: "codex mcp add chunkwright --",
            address: "codex mcp add chunkwright --url",
        }),
        rules: &[("AGENTS.md", Rules::Text(""))],
    },
    Agent {
        name: "gemini-cli",
        title: "Gemini CLI",
        file: ".gemini/settings.json",
        shape: Shape::Json { servers: "mcpServers", is_typed: false, address: Some("httpUrl") },
        folder: Some("."),
        key: Key::Header("$CHUNKWRIGHT_API_KEY"),
        adds: Some(Adds {
            command: "gemini mcp add chunkwright",
            address: "gemini mcp add --transport http chunkwright",
        }),
        rules: &[("GEMINI.md", Rules::Text(""))],
    },
    Agent {
        name: "windsurf",
        title: "Windsurf",
        file: "~/.codeium/windsurf/mcp_config.json",
        shape: Shape::Json { servers: "mcpServers", is_typed: false, address: Some("serverUrl") },
        folder: None,
        key: Key::Header("${env:CHUNKWRIGHT_API_KEY}"),
        adds: None,
        rules: &[(".windsurf/rules/chunkwright.md", Rules::Text("---\ntrigger: always_on\n---\n\n"))],
    },
    Agent {
        name: "zed",
        title: "Zed",
        file: "settings.json",
        shape: Shape::Json { servers: "context_servers", is_typed: false, address: Some("url") },
        folder: Some("."),
        key: Key::Header("YOUR_KEY"),
        adds: None,
        rules: &[("AGENTS.md", Rules::Text(""))],
    },
    Agent {
        name: "openai",
        title: "OpenAI's Responses API",
        file: "tools of a request",
        shape: Shape::Tool,
        folder: None,
        key: Key::Header("YOUR_KEY"),
        adds: None,
        rules: &[],
    },
];

/// The way to a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reach {
    /// The client starts `chunkwright mcp` with these folders; none for the folder of the project.
    Command(Vec<String>),
    /// A server answers at an address.
    Address {
        /// The address of `/mcp`.
        url: String,
        /// Whether it asks for a key.
        has_keys: bool,
    },
}

/// A file, or a part of one, that users copy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct Snippet {
    /// The file that it belongs in, relative to the project unless it begins with `~`.
    pub file: String,
    /// What it holds.
    pub text: String,
}

impl Agent {
    /// The client called `name`.
    pub fn find(name: &str) -> Option<&'static Self> {
        AGENTS.iter().find(|agent| agent.name == name)
    }

    /// The configuration that connects the client; `None` if it cannot be connected in this way.
    pub fn config(&self, reach: &Reach) -> Option<Snippet> {
        let server = self.server(reach)?;
        let text = match self.shape {
            Shape::Json { servers, .. } => {
                let mut file = json!({ servers: { "chunkwright": server } });
                if self.key == Key::Asked && reach.has_keys() {
                    file["inputs"] = json!([{
                        "type": "promptString",
                        "id": "chunkwright-key",
                        "description": "Key of the Chunkwright server",
                        "password": true,
                    }]);
                }
                pretty(&file)
            }
            Shape::Toml => {
                let values = server.as_object().into_iter().flatten();
                let lines: Vec<String> = values.map(|(key, value)| format!("{key} = {value}\n")).collect();
                format!("[mcp_servers.chunkwright]\n{}", lines.concat())
            }
            Shape::Tool => pretty(&server),
        };
        Some(Snippet { file: self.file.to_owned(), text })
    }

    /// The command line that connects the client, if it has one.
    pub fn adds(&self, reach: &Reach) -> Option<String> {
        let adds = self.adds.filter(|_| !reach.has_keys())?;
        Some(match reach {
            Reach::Command(_) => {
                let folders: Vec<String> = self.folders(reach).iter().map(|folder| quoted(folder)).collect();
                format!("{} chunkwright mcp {}", adds.command, folders.join(" "))
            }
            Reach::Address { url, .. } => format!("{} {}", adds.address, quoted(url)),
        })
    }

    /// The files that make its agent search before it greps.
    pub fn rules(&self) -> Vec<Snippet> {
        let snippet = |(file, rules): &(&str, Rules)| {
            let text = match rules {
                Rules::Text(head) => format!("{head}{TEXT}"),
                Rules::ClaudeHooks => pretty(&claude_hooks()),
                Rules::Skill => SKILL.to_owned(),
            };
            Snippet { file: (*file).to_owned(), text }
        };
        self.rules.iter().map(snippet).collect()
    }

    fn folders(&self, reach: &Reach) -> Vec<String> {
        match reach {
            Reach::Command(folders) if !folders.is_empty() => folders.clone(),
            _ => vec![self.folder.unwrap_or(FOLDER).to_owned()],
        }
    }

    /// The entry of the server.
    fn server(&self, reach: &Reach) -> Option<Value> {
        let mut server = Map::new();
        let mut put = |key: &str, value: Value| server.insert(key.to_owned(), value);
        let is_typed = matches!(self.shape, Shape::Json { is_typed: true, .. });
        match (reach, self.shape) {
            (Reach::Command(_), Shape::Tool) => return None,
            (Reach::Command(_), _) => {
                if is_typed {
                    put("type", json!("stdio"));
                }
                let args: Vec<String> = ["mcp".to_owned()].into_iter().chain(self.folders(reach)).collect();
                put("command", json!("chunkwright"));
                put("args", json!(args));
            }
            (Reach::Address { url, has_keys }, Shape::Tool) => {
                put("type", json!("mcp"));
                put("server_label", json!("chunkwright"));
                put("server_url", json!(format!("{url}?tools=chatgpt")));
                if *has_keys {
                    put("headers", json!({ "Authorization": "Bearer YOUR_KEY" }));
                }
                put("allowed_tools", json!(["search", "fetch"]));
                put("require_approval", json!("never"));
            }
            (Reach::Address { url, has_keys }, shape) => {
                let member = match shape {
                    Shape::Json { address, .. } => address?,
                    _ => "url",
                };
                if is_typed {
                    put("type", json!("http"));
                }
                put(member, json!(url));
                match self.key {
                    _ if !has_keys => {}
                    Key::Header(key) => {
                        put("headers", json!({ "Authorization": format!("Bearer {key}") }));
                    }
                    Key::Asked => {
                        put("headers", json!({ "Authorization": "Bearer ${input:chunkwright-key}" }));
                    }
                    Key::Variable(member) => {
                        put(member, json!(VARIABLE));
                    }
                }
            }
        }
        Some(Value::Object(server))
    }
}

impl Reach {
    fn has_keys(&self) -> bool {
        matches!(self, Self::Address { has_keys: true, .. })
    }
}

fn claude_hooks() -> Value {
    let reminder = json!({
        "hookSpecificOutput": { "hookEventName": "PreToolUse", "additionalContext": REMINDER },
    });
    let run = |command: String| json!([{ "type": "command", "command": command }]);
    json!({
        "hooks": {
            "SessionStart": [{ "hooks": run(format!("echo '{REMINDER}'")) }],
            "PreToolUse": [{ "matcher": "Grep|Glob", "hooks": run(format!("echo '{reminder}'")) }],
        },
    })
}

fn pretty(value: &Value) -> String {
    format!("{value:#}\n")
}

/// A word of a command line.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "-_./:=@~".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}
