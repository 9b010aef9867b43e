//! Prompts that a user can choose.
//!
//! The user's text is a message of its own, so that it never becomes part of a sentence of ours.

use rmcp::ErrorData;
use rmcp::model::{GetPromptResult, JsonObject, Prompt, PromptArgument, PromptMessage, Role};
use serde_json::Value;

use super::unknown;

/// A prompt: its purpose, its arguments, and the text for the model.
struct Template {
    name: &'static str,
    title: &'static str,
    description: &'static str,
    /// The required argument and its description.
    argument: (&'static str, &'static str),
    instructions: &'static str,
}

/// The argument that every prompt takes.
pub(super) const COLLECTION: &str = "collection";

/// The argument that names a document.
pub(super) const DOCUMENT: &str = "document";

const TEMPLATES: &[Template] = &[
    Template {
        name: "answer",
        title: "Answer a question with sources",
        description: "Answer a question from the indexed documents, and name the sources.",
        argument: ("question", "The question"),
        instructions: "\
Answer the question in the next message from the indexed documents. Search for it with `search`, with other words if the \
first results do not answer it, and read what matters with `fetch`. Answer only what the sources say, and give for each \
statement the path and lines, as `PATH:10-80`. If the sources do not answer the question, say so and say what you \
searched for.",
    },
    Template {
        name: "summarize",
        title: "Summarize a document",
        description: "Summarize a document by its sections.",
        argument: (DOCUMENT, "The document's id or `chunk://` URI"),
        instructions: "\
Summarize the document that the next message names. List its sections with `outline`, read them with `fetch` page by page \
until there is no `next`, and write what the document is for, what it says section by section, and what is unusual or \
left open. Give lines for each statement that a reader may want to check.",
    },
    Template {
        name: "locate",
        title: "Find where something is implemented",
        description: "Find where something is implemented, and what uses it.",
        argument: ("what", "A function, a behaviour or a feature"),
        instructions: "\
Find in the indexed source code where that is implemented which the next message names. Search for its likely names and \
for what it does, both in one call of `search`; conditions such as `symbol:NAME`, `lang:rust` or `path:src/` narrow a \
search. Read the candidates with `fetch`, with `section` to see what stands around them. Answer with the document, lines and symbol of the \
implementation, how it works in a few sentences, and where it is called from.",
    },
];

pub(super) fn list() -> Vec<Prompt> {
    let prompt = |template: &Template| {
        let (name, description) = template.argument;
        let arguments = vec![
            PromptArgument::new(name).with_description(description).with_required(true),
            PromptArgument::new(COLLECTION)
                .with_description("The collection to search; by default that of the settings")
                .with_required(false),
        ];
        Prompt::new(template.name, Some(template.description), Some(arguments)).with_title(template.title)
    };
    TEMPLATES.iter().map(prompt).collect()
}

/// Fills a prompt.
pub(super) fn get(name: &str, arguments: Option<&JsonObject>) -> Result<GetPromptResult, ErrorData> {
    let known = || TEMPLATES.iter().map(|template| template.name).collect::<Vec<_>>();
    let template = TEMPLATES.iter().find(|template| template.name == name);
    let template = template.ok_or_else(|| unknown("prompt", name, &known()))?;
    let (argument, _) = template.argument;
    let given = |name: &str| arguments.and_then(|arguments| arguments.get(name)).and_then(Value::as_str);
    let value = given(argument).ok_or_else(|| {
        let message = format!("prompt `{name}` needs the argument `{argument}`, a text");
        ErrorData::invalid_params(message, None)
    })?;
    let text = |text: &str| PromptMessage::new_text(Role::User, text);
    let mut messages = vec![text(template.instructions), text(value)];
    if let Some(collection) = given(COLLECTION).filter(|collection| !collection.is_empty()) {
        messages.push(text("Search the collection that the next message names."));
        messages.push(text(collection));
    }
    Ok(GetPromptResult::new(messages).with_description(template.description))
}
