//! The language of prose.

use std::collections::HashSet;
use std::path::Path;

use chunkwright_source::format::parse;
use chunkwright_source::{parser_for, prose_language, prose_language_named};
use whatlang::Lang;

fn of(doc_id: &str, text: &str) -> Option<&'static str> {
    prose_language(&parse(doc_id, text, parser_for(Path::new(doc_id), text)))
}

#[test]
fn the_language_of_prose_is_that_of_most_of_it() {
    for (expected, text) in [
        (Some("en"), "# Install\n\nDownload the archive and unpack it into a folder of its own.\n"),
        (
            Some("zh"),
            "# 安装\n\n下载 FastAPI 的压缩包，用 `pip install fastapi uvicorn` 安装，然后运行 Docker。\n",
        ),
        (
            Some("ru"),
            "# Установка FastAPI\n\nСкачайте архив, распакуйте его в отдельную папку и запустите Docker.\n",
        ),
        (
            Some("uk"),
            "# Встановлення\n\nЗавантажте архів і розпакуйте його в окрему теку, щоб усі файли були поруч.\n",
        ),
        (Some("ja"), "# インストール\n\nアーカイブをダウンロードして、別のフォルダーに展開してください。\n"),
        (
            Some("ko"),
            "# 설치\n\n압축 파일을 내려받아 별도의 폴더에 풀어 주세요. 그런 다음 서버를 시작합니다.\n",
        ),
        (
            Some("de"),
            "# Installation\n\nLaden Sie das Archiv herunter und entpacken Sie es in einen eigenen Ordner.\n",
        ),
        (None, "# A\n\nOk.\n"),
        (None, "```\nDownload the archive and unpack it into a folder of its own, please.\n```\n"),
    ] {
        assert_eq!(of("a.md", text), expected, "{text}");
    }
    let code = "# Download the archive and unpack it into a folder of its own.\nx = 1\n";
    assert_eq!(of("a.py", code), None);
    assert_eq!(of("a.json", "{\"text\": \"Download the archive and unpack it into a folder\"}"), None);
}

#[test]
fn the_language_is_that_of_most_of_a_long_document_wherever_it_stands() {
    let english = "Download the archive and unpack it into a folder of its own.\n\n".repeat(300);
    let chinese = "下载压缩包，把它解压到单独的文件夹，然后启动服务器。\n\n".repeat(900);
    let russian = "Скачайте архив, распакуйте его в отдельную папку и запустите сервер.\n\n".repeat(900);
    for (expected, most) in [("zh", &chinese), ("ru", &russian)] {
        assert_eq!(of("a.md", &format!("{english}{most}")), Some(expected));
        assert_eq!(of("a.md", &format!("{most}{english}")), Some(expected));
        let (before, after) = most.split_at(most.find("\n\n").unwrap_or(0) + 2);
        assert_eq!(of("a.md", &format!("{before}{english}{after}")), Some(expected));
    }
}

#[test]
fn a_language_is_named_by_its_code_its_name_and_with_a_region() {
    for name in ["zh", "ZH", "zh-CN", "zh_Hans", "Chinese"] {
        assert_eq!(prose_language_named(name), Some("zh"), "{name}");
    }
    assert_eq!(prose_language_named("python"), None);
}

#[test]
fn front_matter_says_nothing_of_the_language() {
    let fields: String =
        (0..20).map(|at| format!("some_english_key_{at}: and another english value\n")).collect();
    let page =
        format!("---\ntitle: Паром\n{fields}---\nПаром ходит девять раз в день летом и пять раз зимой.\n");
    assert_eq!(of("a.md", &page), Some("ru"));
}

/// Alphabets and profiles of languages: the words of the texts below are made of their trigrams.
const PROFILES: &str = include_str!("../../src/prose/profiles.txt");

/// The language of a text by `whatlang`, from the rules in `prose/language.rs` on.
fn by_whatlang(text: &str, is_latin_script: bool) -> Option<&'static str> {
    let found = whatlang::detect(text)?;
    let is_russian = |c: char| !c.is_alphabetic() || matches!(c, 'а'..='я' | 'ё') && c != 'ъ';
    let is_russian =
        found.lang() == Lang::Rus && !is_latin_script && text.to_lowercase().chars().all(is_russian);
    let name = match found.lang() {
        Lang::Pes => "persian".to_owned(),
        Lang::Nob => "norwegian".to_owned(),
        Lang::Slv => "slovenian".to_owned(),
        other => other.eng_name().to_lowercase(),
    };
    prose_language_named(&name).filter(|_| found.is_reliable() || is_russian)
}

/// Words of a language, each letter following from the two before it as in its trigrams.
fn words(trigrams: &[[char; 3]], letters: usize, mut random: impl FnMut(usize) -> usize) -> String {
    let mut text = String::new();
    let (mut first, mut second) = (' ', ' ');
    let mut left = letters;
    while left > 0 {
        // Of those that fit rather the frequent ones, which are first.
        let fits = |trigram: &&[char; 3]| trigram[0] == first && trigram[1] == second;
        let known: Vec<char> = trigrams.iter().filter(fits).map(|trigram| trigram[2]).collect();
        let begin = || trigrams.iter().filter(|trigram| trigram[0] == ' ').map(|trigram| trigram[1]);
        let next = match known.len() {
            0 if second == ' ' => begin().nth(random(begin().count())).unwrap_or(' '),
            0 => ' ',
            some => known[random(some).min(random(some))],
        };
        text.push(next);
        left -= usize::from(next.is_alphabetic());
        (first, second) = (second, next);
    }
    text
}

#[test]
fn the_language_of_texts_of_any_length_is_that_by_whatlang() {
    let mut state = 7_u64;
    let mut random = |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below.max(1)
    };
    let (mut compared, mut known) = (0, HashSet::new());
    for script in PROFILES.split("\n\n").skip(1) {
        let is_latin = script.starts_with("latin");
        for line in script.lines().skip(1) {
            let trigrams: Vec<char> = line.rsplit(' ').next().unwrap().replace('_', " ").chars().collect();
            let trigrams: Vec<[char; 3]> =
                trigrams.chunks(3).map(|chunk| chunk.try_into().unwrap()).collect();
            // From the first letters on, where hardly any is certain, to texts with more trigrams than are compared.
            for letters in [24, 27, 30, 35, 40, 50, 60, 80, 100, 150, 200, 500, 1200] {
                for _ in 0..3 {
                    let text = words(&trigrams, letters, &mut random);
                    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
                    let language = of("a.txt", &text);
                    assert_eq!(language, by_whatlang(&text, is_latin), "{text}");
                    compared += 1;
                    known.extend(language);
                }
            }
        }
    }
    assert_eq!((compared, known.len()), (51 * 13 * 3, 34));
}

#[test]
fn a_script_of_its_own_tells_the_language() {
    for (expected, text) in [
        ("bn", "ফাইলটি ডাউনলোড করুন এবং একটি আলাদা ফোল্ডারে রাখুন"),
        ("el", "Κατεβάστε το αρχείο και αποσυμπιέστε το σε έναν φάκελο"),
        ("th", "ดาวน์โหลดไฟล์และแตกไฟล์ลงในโฟลเดอร์ของตัวเอง"),
    ] {
        assert_eq!(of("a.txt", text), Some(expected), "{text}");
    }
    // Georgian is not among the languages.
    assert_eq!(of("a.txt", "ჩამოტვირთეთ არქივი და გახსენით ცალკე საქაღალდეში"), None);
}
