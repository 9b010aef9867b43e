//! The language of prose.

use std::path::Path;

use chunkwright_source::format::parse;
use chunkwright_source::{parser_for, prose_language, prose_language_named};

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
