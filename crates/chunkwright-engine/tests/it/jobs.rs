//! Jobs: work that outlives the request that started it.

use std::fs;
use std::path::Path;
use std::time::Duration;

use chunkwright_engine::settings::{Layers, Source};
use chunkwright_engine::{
    Access, Engine, EvaluateRequest, IndexRequest, Job, JobState, Jobs, PutDocument, SearchRequest, Task,
};
use serde_json::{Map, Value, json};

/// Long enough for any job here on any machine; a test that waits for it has failed.
const LONG: Duration = Duration::from_mins(1);

fn engine(folder: &Path) -> Engine {
    let values = [("store", json!(folder.join("store"))), ("embedder", json!("none"))];
    let values = values.map(|(key, value)| (key.to_owned(), value));
    Engine::open(Layers::default().settings(Source::Request, values).unwrap(), Access::Write).unwrap()
}

fn put(doc_id: &str, text: &str) -> Task {
    let document = PutDocument { doc_id: doc_id.into(), bytes: text.into(), hint: None };
    Task::Put { collection: "notes".into(), request: IndexRequest::default(), documents: vec![document] }
}

fn ended(jobs: &Jobs, id: u64) -> Job {
    let mut job = jobs.get(id).unwrap();
    while !job.state.is_over() {
        job = jobs.wait_newer(id, job.revision, LONG).unwrap().expect("the job goes on");
    }
    job
}

fn found(engine: &Engine, query: &str) -> usize {
    let answer = engine.collection("notes").search(&SearchRequest::new(query)).unwrap();
    serde_json::to_value(answer).unwrap()["hits"].as_array().map_or(0, Vec::len)
}

#[test]
fn a_job_is_done_and_remembered() {
    let folder = tempfile::tempdir().unwrap();
    let (engine, at) = (engine(folder.path()), folder.path().join("jobs"));
    let jobs = Jobs::open(engine.clone(), &at).unwrap();
    let settings: Map<String, Value> = [("max_size".to_owned(), json!(100))].into_iter().collect();
    let job = jobs.submit(put("паром.md", "Паром отходит в девять."), settings.clone()).unwrap();
    let job = ended(&jobs, job.id);
    assert_eq!((job.state, job.attempts), (JobState::Succeeded, 1));
    assert_eq!(job.answer.as_ref().map(|answer| answer["indexed"].clone()), Some(json!(1)));
    assert_eq!((found(&engine, "паром"), job.progress.files, job.progress.percent()), (1, 1, Some(100)));
    assert!(jobs.stop(LONG));
    drop(jobs);
    let jobs = Jobs::open(engine, &at).unwrap();
    let again = jobs.get(job.id).unwrap();
    assert_eq!((again.answer, again.settings), (job.answer, settings));
    // Numbers are not used again.
    assert_eq!(jobs.submit(put("b.md", "beta"), Map::new()).unwrap().id, job.id + 1);
}

#[test]
fn a_job_that_cannot_be_done_says_why() {
    let folder = tempfile::tempdir().unwrap();
    let jobs = Jobs::open(engine(folder.path()), &folder.path().join("jobs")).unwrap();
    let request = IndexRequest { paths: vec![folder.path().join("nothing")], ..IndexRequest::default() };
    let job = jobs.submit(Task::Index { collection: "notes".into(), request }, Map::new()).unwrap();
    let error = ended(&jobs, job.id).error.unwrap();
    assert_eq!(error.code, "invalid_request");
    assert!(error.message.contains("nothing"), "{}", error.message);
    let wrong: Map<String, Value> = [("max_sise".to_owned(), json!(1))].into_iter().collect();
    assert_eq!(jobs.submit(put("a.md", "a"), wrong).unwrap_err().code().name, "invalid_settings");
    assert_eq!(jobs.get(99).unwrap_err().code().name, "not_found");
}

#[test]
fn what_a_process_left_is_taken_up_or_interrupted() {
    let folder = tempfile::tempdir().unwrap();
    let (engine, at) = (engine(folder.path()), folder.path().join("jobs"));
    let jobs = Jobs::open(engine.clone(), &at).unwrap();
    let job = jobs.submit(put("a.md", "alpha"), Map::new()).unwrap();
    let done = ended(&jobs, job.id);
    assert!(jobs.stop(LONG));
    drop(jobs);
    // As a process leaves them that is killed: one that was begun, one that waited, one that cannot be taken up, one that
    // has ended its process before.
    let evaluate = Task::Evaluate { paths: vec![], request: EvaluateRequest::default() };
    let left = [
        (2, put("b.md", "beta"), JobState::Running, 1),
        (3, put("c.md", "gamma"), JobState::Queued, 0),
        (4, evaluate, JobState::Running, 1),
        (5, put("d.md", "delta"), JobState::Running, 3),
    ];
    for (id, task, state, attempts) in left {
        let job = Job { id, task, state, attempts, answer: None, error: None, ..done.clone() };
        fs::write(at.join(format!("{id}.json")), serde_json::to_vec(&job).unwrap()).unwrap();
    }
    // Half a file is no job.
    fs::write(at.join("6.json"), "{\"id\": 6, \"ta").unwrap();
    let jobs = Jobs::open(engine.clone(), &at).unwrap();
    let states: Vec<JobState> = (2..=5).map(|id| ended(&jobs, id).state).collect();
    assert_eq!(
        states,
        [JobState::Succeeded, JobState::Succeeded, JobState::Interrupted, JobState::Interrupted]
    );
    assert_eq!((found(&engine, "beta"), found(&engine, "gamma"), found(&engine, "delta")), (1, 1, 0));
    assert_eq!(jobs.get(2).unwrap().attempts, 2);
    assert_eq!(jobs.submit(put("e.md", "epsilon"), Map::new()).unwrap().id, 7);
}

#[test]
fn a_job_that_waits_or_runs_can_be_cancelled_and_stopping_leaves_the_rest_for_later() {
    let folder = tempfile::tempdir().unwrap();
    let (engine, at) = (engine(folder.path()), folder.path().join("jobs"));
    let documents = folder.path().join("documents");
    fs::create_dir(&documents).unwrap();
    for number in 0..800 {
        fs::write(documents.join(format!("{number}.md")), format!("# Note {number}\n\nWords of it.\n"))
            .unwrap();
    }
    let index = |collection: &str| Task::Index {
        collection: collection.into(),
        request: IndexRequest { paths: vec![documents.clone()], ..IndexRequest::default() },
    };
    let jobs = Jobs::open(engine.clone(), &at).unwrap();
    let first = jobs.submit(index("notes"), Map::new()).unwrap();
    let waiting = jobs.submit(index("notes"), Map::new()).unwrap();
    assert_eq!(jobs.cancel(waiting.id).unwrap().state, JobState::Cancelled);
    assert!(jobs.is_busy("notes") && !jobs.is_busy("other"));
    jobs.cancel(first.id).unwrap();
    assert_eq!(ended(&jobs, first.id).state, JobState::Cancelled);
    let second = jobs.submit(index("notes"), Map::new()).unwrap();
    assert!(jobs.stop(LONG));
    drop(jobs);
    let jobs = Jobs::open(engine, &at).unwrap();
    let job = ended(&jobs, second.id);
    assert_eq!(job.state, JobState::Succeeded);
    let answer = job.answer.unwrap();
    let counts = |key: &str| answer[key].as_u64().unwrap();
    assert_eq!(counts("indexed") + counts("unchanged"), 800);
    // No other process runs them meanwhile.
    let folder = tempfile::tempdir().unwrap();
    let other = self::engine(folder.path());
    assert_eq!(Jobs::open(other, &at).err().unwrap().code().name, "locked");
}

#[test]
fn a_reindex_reports_the_documents_that_it_cuts_again() {
    let folder = tempfile::tempdir().unwrap();
    let jobs = Jobs::open(engine(folder.path()), &folder.path().join("jobs")).unwrap();
    let text = "A paragraph of words that fill a line.\n\n".repeat(20);
    for doc_id in ["a.md", "b.md", "c.md"] {
        let job = jobs.submit(put(doc_id, &text), Map::new()).unwrap();
        assert_eq!(ended(&jobs, job.id).state, JobState::Succeeded);
    }
    let reindex = |max_size: u32| {
        let task = Task::Index { collection: "notes".into(), request: IndexRequest::default() };
        let settings = [("max_size".to_owned(), json!(max_size)), ("target_size".to_owned(), json!(20))];
        let job = ended(&jobs, jobs.submit(task, settings.into_iter().collect()).unwrap().id);
        assert_eq!(job.state, JobState::Succeeded, "{:?}", job.error);
        let answer = job.answer.unwrap();
        let said = answer["notices"].as_array().unwrap().iter().find(|notice| notice["code"] == "nothing");
        (job.progress, answer["carried"].clone(), said.map(|notice| notice["message"].clone()))
    };
    let (progress, carried, said) = reindex(40);
    assert_eq!((progress.files_found, progress.files, progress.documents_stored), (3, 3, 3));
    assert_eq!((progress.bytes_found, progress.percent()), (3 * text.len() as u64, Some(100)));
    assert_eq!((carried, said), (json!(3), None));
    // The second time there is nothing that is cut otherwise.
    let (progress, carried, said) = reindex(40);
    assert_eq!((progress.files_found, carried), (0, json!(0)));
    assert_eq!(said, Some(json!("nothing to do: no document of collection `notes` needs to be cut again")));
}
