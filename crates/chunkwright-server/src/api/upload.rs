//! Documents in a request: as JSON, or as files of a form.

use std::collections::BTreeMap;

use axum::extract::multipart::Field;
use axum::extract::{FromRequest, Multipart, Request};
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use chunkwright_engine::{
    Base64, FormatHint, GivenDocument, MOST_CHUNKS, PreviewRequest, PutRequest, suggestion,
};
use percent_encoding::percent_decode_str;
use schemars::{JsonSchema, SchemaGenerator};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use crate::extract::Body;
use crate::openapi::Input;
use crate::problem::Problem;

/// A request, from JSON or from a form with files.
pub(super) struct Upload<T>(pub(super) T);

/// A type that can be read from a form.
pub(super) trait FromForm: Sized {
    /// The fields other than `file`, as properties of a schema.
    fn fields() -> Value;

    fn from_form(form: Form) -> Result<Self, Problem>;
}

/// The fields of a form.
pub(super) struct Form {
    files: Vec<FormFile>,
    fields: BTreeMap<String, String>,
}

/// A file of a form.
struct FormFile {
    name: String,
    media_type: Option<String>,
    bytes: Vec<u8>,
}

impl<S: Send + Sync, T: DeserializeOwned + JsonSchema + FromForm + 'static> FromRequest<S> for Upload<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self, Problem> {
        let content_type = request.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
        if content_type.is_some_and(|it| it.trim_start().starts_with("multipart/form-data")) {
            let form = Multipart::from_request(request, state).await;
            let mut form = form.map_err(|error| Problem::unreadable(error.status(), error.body_text()))?;
            return T::from_form(Form::read(&mut form).await?).map(Self);
        }
        let Body(request) = Body::from_request(request, state).await?;
        Ok(Self(request))
    }
}

impl<T: JsonSchema + FromForm> Input for Upload<T> {
    fn describe(operation: &mut Map<String, Value>, schemas: &mut SchemaGenerator) {
        <Body<T> as Input>::describe(operation, schemas);
        let mut properties = T::fields();
        properties["file"] = json!({
            "type": "array",
            "minItems": 1,
            "description": "The files; the name of each is the id of its document.",
            "items": { "type": "string", "format": "binary" },
        });
        let form = json!({ "type": "object", "required": ["file"], "properties": properties });
        if let Some(body) = operation.get_mut("requestBody") {
            body["content"]["multipart/form-data"] = json!({ "schema": form });
        }
    }
}

impl Form {
    async fn read(form: &mut Multipart) -> Result<Self, Problem> {
        let unreadable = |error: axum::extract::multipart::MultipartError| {
            Problem::unreadable(error.status(), format!("the form cannot be read: {}", error.body_text()))
        };
        let mut read = Self { files: Vec::new(), fields: BTreeMap::new() };
        while let Some(field) = form.next_field().await.map_err(unreadable)? {
            let name = field.name().unwrap_or_default().to_owned();
            if name == "file" {
                let media_type = field.content_type().map(str::to_owned);
                let name = file_name(&field);
                let bytes = field.bytes().await.map_err(unreadable)?.to_vec();
                read.files.push(FormFile { name, media_type, bytes });
            } else {
                let text = field.text().await.map_err(unreadable)?;
                if read.fields.insert(name.clone(), text).is_some() {
                    return Err(Problem::invalid(format!("the form has field `{name}` twice")));
                }
            }
        }
        Ok(read)
    }

    /// Takes a text field.
    fn text(&mut self, name: &str) -> Option<String> {
        self.fields.remove(name)
    }

    /// Takes a field that holds JSON.
    fn json<T: DeserializeOwned + Default>(&mut self, name: &str) -> Result<T, Problem> {
        let Some(text) = self.fields.remove(name).filter(|text| !text.trim().is_empty()) else {
            return Ok(T::default());
        };
        serde_json::from_str(&text).map_err(|error| {
            Problem::invalid(format!("field `{name}` of the form is not the JSON expected: {error}"))
        })
    }

    /// Fails if a field was not taken: it does not belong to `T`.
    fn end<T: FromForm>(self) -> Result<Vec<FormFile>, Problem> {
        let Some(name) = self.fields.into_keys().next() else { return Ok(self.files) };
        let fields = T::fields();
        let known = fields.as_object().into_iter().flat_map(Map::keys).map(String::as_str).chain(["file"]);
        let right = suggestion(&name, known);
        Err(Problem::invalid(format!("unknown field `{name}` of the form; {right}")))
    }
}

/// The original name of a file. Browsers escape only what would end the name, as `%22`, `%0D` and `%0A`; older Python
/// clients encode everything except ASCII by RFC 5987.
fn file_name(field: &Field<'_>) -> String {
    if let Some(name) = field.file_name() {
        return name.replace("%22", "\"").replace("%0D", "\r").replace("%0A", "\n");
    }
    let disposition = field.headers().get(CONTENT_DISPOSITION).and_then(|value| value.to_str().ok());
    let extended =
        disposition.and_then(|value| value.split(';').find_map(|it| it.trim().strip_prefix("filename*=")));
    let encoded = extended.and_then(|it| it.splitn(3, '\'').nth(2)).unwrap_or_default();
    percent_decode_str(encoded).decode_utf8_lossy().into_owned()
}

impl FormFile {
    /// The document of the file, with the id `doc_id` if given.
    fn document(self, doc_id: Option<String>, kind: Option<&str>) -> GivenDocument {
        let hint = match (kind, &self.media_type) {
            (Some(kind), _) => Some(FormatHint::Format(kind.to_owned())),
            // An extension is more reliable than the media type that a program derives from it.
            (None, _) if self.name.contains('.') => Some(FormatHint::FileName(self.name.clone())),
            (None, Some(media_type)) => Some(FormatHint::MediaType(media_type.clone())),
            (None, None) => None,
        };
        let doc_id = doc_id.unwrap_or(self.name);
        GivenDocument { doc_id, bytes: Some(Base64(self.bytes)), hint, ..GivenDocument::default() }
    }
}

impl FromForm for PutRequest {
    fn fields() -> Value {
        json!({
            "doc_id": { "type": "string", "description": "Id of the document, where there is one file." },
            "prefix": { "type": "string", "description": "What stands before the names of the files in the ids, such as `docs/`." },
            "kind": { "type": "string", "description": "Name of the format or language, where names do not tell it." },
            "meta": { "type": "object", "additionalProperties": { "type": "string" }, "description": "What is said of every document, by name, as JSON." },
            "settings": { "type": "object", "description": "How a new collection is cut: keys of the settings, as JSON." },
            "force": { "type": "boolean", "description": "Whether files with credentials are stored too, which are left out otherwise." },
        })
    }

    fn from_form(mut form: Form) -> Result<Self, Problem> {
        let (doc_id, prefix, kind) = (form.text("doc_id"), form.text("prefix"), form.text("kind"));
        let meta: BTreeMap<String, String> = form.json("meta")?;
        let (settings, force) = (form.json("settings")?, form.json("force")?);
        let files = form.end::<Self>()?;
        if doc_id.is_some() && files.len() != 1 {
            return Err(Problem::invalid("`doc_id` is for one file; give each file its name instead"));
        }
        let document = |file: FormFile| {
            let doc_id = doc_id.clone().or_else(|| Some(format!("{}{}", prefix.as_deref()?, file.name)));
            GivenDocument { meta: meta.clone(), ..file.document(doc_id, kind.as_deref()) }
        };
        Ok(Self { documents: files.into_iter().map(document).collect(), settings, force })
    }
}

impl FromForm for PreviewRequest {
    fn fields() -> Value {
        json!({
            "kind": { "type": "string", "description": "Name of the format or language, where the name does not tell it." },
            "settings": { "type": "object", "description": "How it is cut: keys of the settings, as JSON." },
            "explain": { "type": "boolean", "description": "Whether the answer says of every chunk why it is cut there." },
            "summaries": { "type": "boolean", "description": "Whether source code gets summaries." },
            "offset": { "type": "integer", "minimum": 0, "description": "Number of chunks before the first that is answered." },
            "limit": { "type": "integer", "minimum": 1, "maximum": MOST_CHUNKS, "description": "Most chunks that are answered." },
        })
    }

    fn from_form(mut form: Form) -> Result<Self, Problem> {
        let kind = form.text("kind");
        let (settings, explain, summaries) =
            (form.json("settings")?, form.json("explain")?, form.json("summaries")?);
        let (offset, limit) = (form.json("offset")?, form.json("limit")?);
        let mut files = form.end::<Self>()?;
        let (Some(file), true) = (files.pop(), files.is_empty()) else {
            return Err(Problem::invalid("a preview is of exactly one `file`"));
        };
        let GivenDocument { doc_id, bytes, hint, .. } = file.document(None, kind.as_deref());
        Ok(Self {
            doc_id: Some(doc_id),
            text: None,
            bytes,
            hint,
            settings,
            explain,
            summaries,
            offset,
            limit,
        })
    }
}
