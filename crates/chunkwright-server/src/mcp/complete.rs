//! Completion of the arguments that a user types.

use chunkwright_engine::{Error, Snapshot};
use rmcp::ErrorData;
use rmcp::model::{CompleteRequestParams, CompleteResult, CompletionInfo, Reference};

use super::prompts::{COLLECTION, DOCUMENT};
use super::resources::TEMPLATE;
use super::{McpServer, prompts, protocol_error, scope, unknown};

/// The argument of the template of resources that names a document.
const REFERENCE: &str = "reference";

/// Names of collections, and of documents, that begin with the typed text.
pub(super) fn complete(
    server: &McpServer,
    request: &CompleteRequestParams,
) -> Result<CompleteResult, ErrorData> {
    match &request.r#ref {
        Reference::Prompt(prompt) => {
            let known = prompts::list();
            let known: Vec<&str> = known.iter().map(|known| &*known.name).collect();
            if !known.contains(&&*prompt.name) {
                return Err(unknown("prompt", &prompt.name, &known));
            }
        }
        Reference::Resource(resource) if resource.uri != TEMPLATE => {
            return Err(unknown("template", &resource.uri, &[TEMPLATE]));
        }
        _ => {}
    }
    let chosen = request.context.as_ref().and_then(|context| context.get_argument(COLLECTION));
    let values = match &*request.argument.name {
        COLLECTION => server.engine().collection_names(),
        DOCUMENT | REFERENCE => documents(server, chosen.map(String::as_str)),
        _ => Ok(Vec::new()),
    };
    let mut values = values.map_err(|error| protocol_error(server, &error))?;
    values.retain(|value| value.starts_with(&request.argument.value));
    let total = u32::try_from(values.len()).unwrap_or(u32::MAX);
    let has_more = values.len() > CompletionInfo::MAX_VALUES;
    values.truncate(CompletionInfo::MAX_VALUES);
    let values = CompletionInfo::with_pagination(values, Some(total), has_more);
    Ok(CompleteResult::new(values.map_err(|message| ErrorData::internal_error(message, None))?))
}

fn documents(server: &McpServer, collection: Option<&str>) -> Result<Vec<String>, Error> {
    let name = scope::collection(server.engine(), collection)?;
    // A collection that does not exist has no documents.
    let documents = server.engine().collection(name).read(Snapshot::documents).unwrap_or_default();
    Ok(documents.into_iter().map(|document| document.doc_id).collect())
}
