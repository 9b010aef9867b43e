//! Rejects messages that do not follow the protocol, with a reason.

use chunkwright_engine::suggestion;
use rmcp::ErrorData;
use rmcp::model::{ErrorCode, JsonRpcError, ProtocolVersion, RequestId};
use serde_json::Value;

/// Maximum number of bytes in a message.
pub(super) const MAX_BYTES: usize = 1 << 20;

/// The supported methods.
const METHODS: &[&str] = &[
    "initialize",
    "ping",
    "server/discover",
    "tools/list",
    "tools/call",
    "resources/list",
    "resources/templates/list",
    "resources/read",
    "prompts/list",
    "prompts/get",
    "completion/complete",
];

/// Methods that the protocol removed in 2026-07-28.
const REMOVED: &[&str] = &["initialize", "ping"];

/// The answer to bytes that the SDK does not parse as a message; `None` for a notification, which is never answered.
pub(super) fn refusal(bytes: &[u8]) -> Option<JsonRpcError> {
    let message = match serde_json::from_slice(bytes) {
        Ok(Value::Object(message)) => message,
        Ok(Value::Array(_)) => {
            return Some(invalid(None, "batches are not taken; send every message by itself"));
        }
        Ok(_) => return Some(invalid(None, "a message is an object of JSON")),
        Err(error) => {
            let error = ErrorData::parse_error(format!("the message is not JSON: {error}"), None);
            return Some(JsonRpcError::new(None, error));
        }
    };
    let is_request = message.contains_key("id");
    let id = message.get("id").and_then(|id| serde_json::from_value::<RequestId>(id.clone()).ok());
    let said = if message.get("jsonrpc").is_none_or(|version| version != "2.0") {
        "`jsonrpc` must be `\"2.0\"`"
    } else if is_request && id.is_none() {
        "`id` must be a string or a whole number"
    } else if message.get("method").is_some_and(|method| !method.is_string()) {
        "`method` must be a string"
    } else if !is_request && message.contains_key("method") {
        return None;
    } else if message.get("params").is_some_and(|params| !params.is_object()) {
        let error = ErrorData::invalid_params("`params` must be an object", None);
        return Some(JsonRpcError::new(id, error));
    } else {
        "it is not a request, a notification or an answer; a request has `jsonrpc`, `id`, `method` and `params`"
    };
    Some(invalid(id, said))
}

/// The answer to a message of more than [`MAX_BYTES`].
pub(super) fn too_long() -> JsonRpcError {
    invalid(None, format!("the message has more than {MAX_BYTES} bytes"))
}

/// The error for a client of `version` whose method is unknown to the SDK, or whose parameters the SDK could not parse.
pub(super) fn unread(method: &str, version: Option<ProtocolVersion>) -> ErrorData {
    let is_newest = version.is_some_and(|version| version.as_str() >= ProtocolVersion::V_2026_07_28.as_str());
    let known = METHODS.iter().copied().filter(|known| !is_newest || !REMOVED.contains(known));
    if known.clone().any(|known| known == method) {
        return ErrorData::invalid_params(format!("`params` are not what `{method}` takes"), None);
    }
    let message = format!("unknown method `{method}`; {}", suggestion(method, known));
    ErrorData::new(ErrorCode::METHOD_NOT_FOUND, message, None)
}

/// The answer to an invalid request.
pub(super) fn invalid(id: Option<RequestId>, said: impl Into<String>) -> JsonRpcError {
    JsonRpcError::new(id, ErrorData::invalid_request(said.into(), None))
}
