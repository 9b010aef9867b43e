//! Nonsense queries, to measure that a search finds nothing for them.
//!
//! All are made from a seed, so that they are the same on every machine. Some have no word of any language (letters,
//! digits, punctuation, pseudo-words); the hardest are unrelated real words in random order.

use crate::bootstrap::Rng;

/// A query without a meaning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Nonsense {
    /// The name of its kind, which says how it was made.
    pub kind: &'static str,
    /// The query.
    pub text: String,
}

/// Makes one query of a kind.
type Make = fn(&mut Rng) -> String;

/// The kinds, as many queries of each.
const KINDS: &[(&str, Make)] = &[
    ("Latin letters", |rng| words(rng, (2, 5), |rng| letters(rng, LATIN, (4, 10)))),
    ("Cyrillic letters", |rng| words(rng, (2, 5), |rng| letters(rng, CYRILLIC, (4, 10)))),
    ("Han characters", |rng| letters(rng, HAN, (6, 14))),
    ("keyboard rows", |rng| words(rng, (1, 3), keys)),
    ("pseudo-words, Latin", |rng| words(rng, (3, 6), |rng| syllables(rng, "bdfgklmnprstvz", "aeiou"))),
    ("pseudo-words, Cyrillic", |rng| {
        words(rng, (3, 6), |rng| syllables(rng, "бвгджзклмнпрстфхцчш", "аеиоуыюя"))
    }),
    ("hexadecimal", |rng| words(rng, (1, 3), hex)),
    ("punctuation", |rng| words(rng, (1, 4), |rng| letters(rng, PUNCTUATION, (2, 8)))),
    ("pictographs", |rng| letters(rng, PICTOGRAPHS, (3, 8))),
    ("unrelated words", unrelated),
];

/// `count` queries, as many of each kind as of any other, drawn from `seed`.
pub fn nonsense(count: usize, seed: u64) -> Vec<Nonsense> {
    let mut rng = Rng::new(seed);
    let kinds = KINDS.iter().cycle().take(count);
    kinds.map(|(kind, make)| Nonsense { kind, text: make(&mut rng) }).collect()
}

/// Characters from the first to the last of a range.
type Alphabet = (char, char);

const LATIN: Alphabet = ('a', 'z');
const CYRILLIC: Alphabet = ('а', 'я');
const HAN: Alphabet = ('\u{4E00}', '\u{8FFF}');
const PICTOGRAPHS: Alphabet = ('\u{1F300}', '\u{1F5FF}');
const PUNCTUATION: Alphabet = ('!', '/');

fn between(rng: &mut Rng, (least, most): (usize, usize)) -> usize {
    least + rng.below(most + 1 - least)
}

fn words(rng: &mut Rng, count: (usize, usize), word: impl Fn(&mut Rng) -> String) -> String {
    let count = between(rng, count);
    (0..count).map(|_| word(rng)).collect::<Vec<_>>().join(" ")
}

fn letters(rng: &mut Rng, alphabet: Alphabet, length: (usize, usize)) -> String {
    let (first, last) = (u32::from(alphabet.0), u32::from(alphabet.1));
    let length = between(rng, length);
    (0..length)
        .filter_map(|_| char::from_u32(first + rng.below((last - first + 1) as usize) as u32))
        .collect()
}

fn pick<'a>(rng: &mut Rng, all: &[&'a str]) -> &'a str {
    all[rng.below(all.len())]
}

/// Keys near each other in a row, to and fro.
fn keys(rng: &mut Rng) -> String {
    let row: Vec<char> = pick(rng, ROWS).chars().collect();
    let mut at = rng.below(row.len());
    let mut keys = String::new();
    for _ in 0..between(rng, (5, 14)) {
        keys.push(row[at]);
        at = (at + row.len() + rng.below(5) - 2) % row.len();
    }
    keys
}

/// Rows of English and Russian keyboards.
const ROWS: &[&str] = &["qwertyuiop", "asdfghjkl", "zxcvbnm", "йцукенгшщзхъ", "фывапролджэ", "ячсмитьбю"];

fn syllables(rng: &mut Rng, consonants: &str, vowels: &str) -> String {
    let (consonants, vowels): (Vec<char>, Vec<char>) =
        (consonants.chars().collect(), vowels.chars().collect());
    let count = between(rng, (2, 4));
    (0..count)
        .flat_map(|_| [consonants[rng.below(consonants.len())], vowels[rng.below(vowels.len())]])
        .collect()
}

fn hex(rng: &mut Rng) -> String {
    let digits = between(rng, (8, 16));
    let number = rng.next_u64();
    format!("{number:016x}")[..digits].to_owned()
}

/// Words of one language that have nothing to do with each other, each from another part of life.
fn unrelated(rng: &mut Rng) -> String {
    let all: Vec<&str> = pick(rng, &[ENGLISH, RUSSIAN, CHINESE]).split_whitespace().collect();
    let count = between(rng, (4, 7));
    let mut drawn: Vec<&str> = rng.sample(all.len(), count).into_iter().map(|at| all[at]).collect();
    for at in (1..drawn.len()).rev() {
        drawn.swap(at, rng.below(at + 1));
    }
    drawn.join(" ")
}

const ENGLISH: &str = "walrus teapot cartilage lullaby gravel accordion mustard thimble glacier suspenders \
    porridge trombone lighthouse cinnamon hedgehog plywood velvet sneeze caravan turnip chandelier moss pirate \
    yawn tambourine gravy locksmith penguin umbrella haystack dentist marmalade whisker scarecrow anchor pillow \
    volcano spoon violin beetle chimney lemonade harness puddle sleigh cushion raisin orchard blanket toad water \
    music horse winter kitchen bridge doctor paper garden yellow river brother bread window";

const RUSSIAN: &str = "морж чайник хрящ колыбельная гравий аккордеон горчица напёрсток ледник подтяжки каша \
    тромбон маяк корица ёжик фанера бархат чихание караван репа люстра мох пират зевота бубен подливка слесарь \
    пингвин зонтик стог стоматолог мармелад усы пугало якорь подушка вулкан ложка скрипка жук труба лимонад \
    упряжь лужа сани изюм сад одеяло жаба пуговица вода музыка лошадь зима кухня мост врач бумага жёлтый река брат \
    хлеб окно";

const CHINESE: &str = "海象 茶壶 软骨 摇篮曲 砾石 手风琴 芥末 顶针 冰川 背带 稀饭 长号 灯塔 肉桂 刺猬 胶合板 天鹅绒 喷嚏 大篷车 萝卜 \
    吊灯 苔藓 海盗 哈欠 铃鼓 肉汁 锁匠 企鹅 雨伞 干草堆 牙医 果酱 胡须 稻草人 船锚 枕头 火山 勺子 小提琴 甲虫 烟囱 柠檬水 \
    马具 水坑 雪橇 坐垫 葡萄干 果园 毛毯 蟾蜍 音乐 马匹 冬天 厨房 桥梁 医生 纸张 花园 黄色 河流 兄弟 面包 窗户";

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_queries_as_many_of_each_kind() {
        let queries = nonsense(200, 7);
        assert_eq!(queries, nonsense(200, 7));
        assert_ne!(queries, nonsense(200, 8));
        let distinct: HashSet<&str> = queries.iter().map(|query| query.text.as_str()).collect();
        assert_eq!(distinct.len(), 200);
        for (kind, _) in KINDS {
            assert_eq!(queries.iter().filter(|query| query.kind == *kind).count(), 20, "{kind}");
        }
        assert!(queries.iter().all(|query| !query.text.trim().is_empty()));
    }
}
