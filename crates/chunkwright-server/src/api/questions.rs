//! Saved questions of a collection, and how well searches answer them.

use axum::Json;
use axum::extract::State;
use chunkwright_engine::{AskQuestionsRequest, AskedQuestions, SaveQuestionRequest, SavedQuestion};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Answer, OfCollection};
use crate::answer::{Created, Done, encoded};
use crate::app::Shared;
use crate::extract::{Body, Path};
use crate::openapi::{Method, Operation, Resources};
use crate::problem::Problem;

const ALL: &str = "/api/v1/collections/{collection}/questions";

pub(super) fn add(resources: Resources) -> Resources {
    let of_all = Operation::read(
        Method::Get,
        ALL,
        "list_questions",
        "Lists the questions that are kept, oldest first.",
    );
    let keep =
        Operation::write(Method::Post, ALL, "save_question", "Keeps a question and where its answer is.");
    let delete = Operation::write(
        Method::Delete,
        "/api/v1/collections/{collection}/questions/{question}",
        "delete_question",
        "Forgets a question.",
    );
    let ask = Operation::read(
        Method::Post,
        "/api/v1/collections/{collection}/questions/evaluate",
        "ask_questions",
        "Asks the questions of every generation, and answers recall, MRR and nDCG.",
    );
    resources
        .add("questions", &of_all, list)
        .add("questions", &keep, save)
        .add("questions", &delete, remove)
        .add("questions", &ask, asked)
}

/// The question of a path.
#[derive(Deserialize, JsonSchema)]
struct OfQuestion {
    /// Name of the collection.
    collection: String,
    /// Number of the question.
    question: u64,
}

/// The questions of a collection.
#[derive(Serialize, JsonSchema)]
struct Questions {
    /// The questions, oldest first.
    questions: Vec<SavedQuestion>,
}

async fn list(
    State(app): State<Shared>,
    Path(OfCollection { collection }): Path<OfCollection>,
) -> Answer<Questions> {
    let questions = app.call(move |engine| engine.collection(collection).questions()).await?;
    Ok(Json(Questions { questions }))
}

async fn save(
    State(app): State<Shared>,
    Path(OfCollection { collection }): Path<OfCollection>,
    Body(request): Body<SaveQuestionRequest>,
) -> Result<Created<SavedQuestion>, Problem> {
    let all = format!("/api/v1/collections/{}/questions", encoded(&collection));
    let body = app.call(move |engine| engine.collection(collection).save_question(&request)).await?;
    Ok(Created { location: format!("{all}/{}", body.id), body })
}

async fn remove(
    State(app): State<Shared>,
    Path(OfQuestion { collection, question }): Path<OfQuestion>,
) -> Result<Done, Problem> {
    app.call(move |engine| engine.collection(collection).delete_question(question)).await?;
    Ok(Done)
}

async fn asked(
    State(app): State<Shared>,
    Path(OfCollection { collection }): Path<OfCollection>,
    Body(request): Body<AskQuestionsRequest>,
) -> Answer<AskedQuestions> {
    Ok(Json(app.ask(move |engine| engine.collection(collection).ask_questions(&request)).await?))
}
