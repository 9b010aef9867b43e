//! The stage `proximity`: of two chunks with the words of a query, the one that has them close together and in its order
//! ranks first.

use chunkwright_index::{Fusion, Hit, Mode, Models, NameRanking, SearchOptions, explain};

use crate::definitions::{all, ask};
use crate::fixture::{Bag, Fixture, for_each_store, now};

/// A query, a text that has its words close together, and one that has them apart from each other.
const QUERIES: [(&str, &str, &str); 3] = [
    (
        "working outside of application context",
        "# Errors\n\nIf nothing was pushed before, a view fails: it was working outside of the application context, and so \
         neither its requests nor its configuration can be read by anybody at this moment, and the server answers with a page \
         that says so in few words.\n",
        "# Contexts\n\nEvery context has a name and some lines about what belongs to it. An application reads settings first. \
         People often forget what waits outside. Every day is a working day.\n",
    ),
    (
        "как закрыть задвижку печи",
        "# Тепло\n\nКогда угли прогорели и синих огоньков больше не видно, можно закрыть задвижку печи наполовину, а через час, \
         если в доме не пахнет, и совсем, чтобы тепло осталось до самого утра и комнаты не остыли.\n",
        "# Весной\n\nПечи белят раз в год, обычно перед праздниками. Задвижку чистят и смазывают маслом. Уезжая надолго, \
         ставни надо закрыть.\n",
    ),
    (
        "蒸好的馒头塌陷",
        "# 面点\n\n火候不够或者揭盖太早时，蒸好的馒头塌陷得很快，表面会起皱，里面发粘，吃起来也不松软，所以要等几分钟再开锅。\n",
        "# 杂记\n\n塌陷的路面正在修。街角卖馒头。隔壁阿姨说鱼已经蒸好。\n",
    ),
];

fn corpus(kind: &str) -> Fixture {
    let names: Vec<String> = (0..QUERIES.len()).map(|at| at.to_string()).collect();
    let files: Vec<(String, &str)> = names
        .iter()
        .zip(QUERIES)
        .flat_map(|(name, (_, close, apart))| {
            [(format!("{name}-close.md"), close), (format!("{name}-apart.md"), apart)]
        })
        .collect();
    let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (&**name, *text)).collect();
    let fixture = Fixture::with_bag(kind, &files, Bag::with_sparse(256));
    fixture.index();
    fixture
}

fn sorted(hits: &[Hit]) -> Vec<chunkwright::ChunkId> {
    let mut ids: Vec<_> = hits.iter().map(|hit| hit.record.chunk_id).collect();
    ids.sort_unstable();
    ids
}

#[test]
fn words_close_together_rank_before_words_apart() {
    for_each_store(|kind| {
        let fixture = corpus(kind);
        for (at, (query, ..)) in QUERIES.iter().enumerate() {
            let by_words = SearchOptions { names: NameRanking::Off, ..all(Mode::Lexical) };
            let [before, hits] = [by_words, all(Mode::Lexical)].map(|options| ask(&fixture, query, &options));
            assert_eq!(hits[0].record.doc_id, format!("{at}-close.md"), "{kind}: {query}");
            let lead = |hits: &[Hit]| {
                let score = |name: &str| {
                    let doc_id = format!("{at}-{name}.md");
                    hits.iter().find(|hit| hit.record.doc_id == doc_id).unwrap().score
                };
                score("close") / score("apart")
            };
            assert!(lead(&hits) > 1.2 * lead(&before), "{kind}: {query}");
            let share = hits[0].proximity.map(|proximity| proximity.share);
            assert!(share.is_some_and(|share| share > 0.9), "{kind}: {query}: {share:?}");
        }
    });
}

#[test]
fn it_reorders_and_hides_nothing_and_says_what_it_adds() {
    for_each_store(|kind| {
        let fixture = corpus(kind);
        for mode in [Mode::Lexical, Mode::Hybrid, Mode::Dense, Mode::Sparse] {
            for (query, ..) in QUERIES {
                let with = all(mode);
                let without = SearchOptions { names: NameRanking::Off, ..with.clone() };
                let [hits, plain] = [&with, &without].map(|options| ask(&fixture, query, options));
                assert_eq!(sorted(&hits), sorted(&plain), "{kind} {mode:?}: {query}");
                assert!(hits.is_sorted_by(|a, b| a.score >= b.score), "{kind} {mode:?}: {query}");
                assert!(plain.iter().all(|hit| hit.proximity.is_none()), "{kind} {mode:?}: {query}");
                let is_scored = matches!(mode, Mode::Lexical | Mode::Hybrid);
                assert_eq!(
                    is_scored,
                    hits.iter().any(|hit| hit.proximity.is_some()),
                    "{kind} {mode:?}: {query}"
                );
                for hit in &hits {
                    let before = plain.iter().find(|it| it.record.chunk_id == hit.record.chunk_id).unwrap();
                    let added = hit.proximity.map_or(0.0, |proximity| proximity.contribution);
                    assert!((before.score + added - hit.score).abs() < 1e-9, "{kind} {mode:?}: {query}");
                    let is_share = |share: f64| share > 0.0 && share <= 1.0;
                    assert!(
                        hit.proximity.is_none_or(|proximity| is_share(proximity.share)),
                        "{kind}: {query}"
                    );
                    let models = Models::embedder(&*fixture.bag);
                    let generation = now(&*fixture.store);
                    let explained =
                        explain(&*fixture.store, &generation, models, query, &with, hit.record.chunk_id)
                            .unwrap();
                    assert_eq!(explained.proximity, hit.proximity, "{kind} {mode:?}: {query}");
                }
            }
        }
        let ranks = SearchOptions { fusion: Fusion::Rrf { k: 60.0 }, ..all(Mode::Hybrid) };
        for (query, options) in
            [(QUERIES[0].0, ranks), ("context", all(Mode::Lexical)), ("of the", all(Mode::Lexical))]
        {
            let hits = ask(&fixture, query, &options);
            assert!(hits.iter().all(|hit| hit.proximity.is_none()), "{kind}: {query}");
        }
    });
}
