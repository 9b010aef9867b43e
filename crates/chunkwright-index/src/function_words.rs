//! Function words: words that occur in nearly every text and question, and say nothing about its subject.

use std::collections::HashSet;
use std::sync::LazyLock;

use chunkwright_store::analysis;
use chunkwright_store::bm25::{TermId, term_id};

/// English and Russian ones.
pub(crate) const FUNCTION_WORDS: &str = "a about after all also an and any are as at be been before being between but by can \
    could did do does done during each for from had has have he how i if in into is it its many may me might more most much \
    must my no not of on one or our shall she should so some such than that the their them then there these they this \
    those to us use used using was we were what when where which who whom whose why will with would you your \
    а без более бы был была были было быть в вам вас ваш во вот все всех вы где да для до его ее если есть еще же за и \
    из или им их к каждый как какая какие каким каких какого какое какой какому ко когда которая которое которой \
    которого которую которые который которых кто куда ли между мне много может можно мы на над нам нас не него нее нет \
    ни них но ну о об один однако он она они оно от по под почему при про с сколько со так также такой там те тем то \
    того тоже той только том тот ту ты у уже хотя чего чей чем через что чтобы чье чья эта эти этих это этого этой \
    этом этот эту я";

/// Characters of Chinese function words: a pair of characters that contains one counts as a function word.
pub(crate) const FUNCTION_CHARACTERS: &str = "的了是在和与或有也不这那什么怎哪谁何为被把从到对于以及其之吗呢吧着过个们你我他她它您将就都而且但如可能会要用些多少几时";

static FUNCTION_TERMS: LazyLock<HashSet<TermId>> =
    LazyLock::new(|| analysis::terms(FUNCTION_WORDS).iter().map(|term| term_id(term)).collect());

/// Returns whether a term is that of a function word.
pub(crate) fn is_function_term(term: TermId) -> bool {
    FUNCTION_TERMS.contains(&term)
}

/// The terms of function words and characters, in order.
static PASSED_OVER: LazyLock<Vec<TermId>> = LazyLock::new(|| {
    let characters = FUNCTION_CHARACTERS.chars().map(|c| term_id(c.encode_utf8(&mut [0; 4])));
    let mut terms: Vec<TermId> = characters.chain(FUNCTION_TERMS.iter().copied()).collect();
    terms.sort_unstable();
    terms
});

/// Returns whether a word or a character, given by its term, is a function word or a character of one.
pub(crate) fn is_passed_over(word: TermId) -> bool {
    PASSED_OVER.binary_search(&word).is_ok()
}

/// Returns whether a term, whose number is `id`, is that of a function word, or has a character of one.
pub(crate) fn is_function(term: &str, id: TermId) -> bool {
    is_function_term(id) || term.chars().any(|c| FUNCTION_CHARACTERS.contains(c))
}

/// Returns whether a word is a function word, in English or Russian.
pub(crate) fn is_function_word(word: &str) -> bool {
    analysis::whole(word).is_some_and(|term| is_function_term(term_id(&term)))
}
