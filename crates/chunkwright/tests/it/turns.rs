//! Plain text whose lines are records: transcripts, chats, lists, poems. Prose that was wrapped is not of them.

use std::fmt::Write as _;
use std::sync::Arc;

use chunkwright::{Chunk, ChunkConfig, Chunker, Cut, Document, Words, parse::Text};

use crate::invariants;

/// The chunks of `text` with at most `max_size` words: why each begins, its text, its content.
fn cut(text: &str, max_size: usize) -> Vec<(Cut, String, String)> {
    let config = ChunkConfig {
        max_size,
        target_size: max_size * 3 / 4,
        min_size: max_size / 4,
        ..ChunkConfig::default()
    };
    let chunker = Chunker::new(config, Arc::new(Words)).unwrap();
    let document = Document::parse("a.txt", text, &Text);
    let chunks = invariants::chunk(&chunker, &document);
    let said = |chunk: chunkwright::ChunkIn<'_>| {
        (Chunk::clone(&chunk).cut, chunk.render().into_text(), chunk.content().to_owned())
    };
    chunks.iter().map(said).collect()
}

/// Asserts that every chunk of `text` begins where one of `records` begins, and that there are several.
#[track_caller]
fn check(text: &str, begins: impl Fn(&str) -> bool) {
    let chunks = cut(text, 40);
    assert!(chunks.len() > 1, "{text:?}");
    for (_, _, content) in &chunks {
        assert!(begins(content), "{content:?} in {chunks:#?}");
    }
}

/// `count` records by their number.
fn records(count: usize, record: impl Fn(usize) -> String) -> String {
    (0..count).map(record).collect()
}

/// Words of which each record has some.
fn words(from: usize, count: usize) -> String {
    const WORDS: &[&str] =
        &["lantern", "copper", "willow", "signal", "bridge", "barley", "thunder", "mirror", "cargo"];
    let words: Vec<_> = (0..count).map(|at| WORDS[(from * 7 + at * at + at) % WORDS.len()]).collect();
    words.join(" ")
}

#[test]
fn a_chat_is_cut_between_messages() {
    let body = |at: usize| {
        format!("Wait for {}. Then {}.\nand more: {}\n", words(at, 3), words(at + 1, 4), words(at + 2, 5))
    };
    let stamps: &[&dyn Fn(usize) -> String] = &[
        &|at| format!("[{:02}/01/2026, 10:00:00] Ann: ", at % 28 + 1),
        &|at| format!("\u{200e}[{:02}.01.26, 10:00:0{}] Борис: ", at % 28 + 1, at % 10),
        &|at| format!("{:02}.01.2026, 10:{:02} - Анна Петрова: ", at % 28 + 1, at % 60),
        &|at| format!("{}/1/26, 9:05\u{202f}PM - +49 30 1234: ", at % 12 + 1),
        &|at| format!("2026-01-{:02} 10:00 <ann_b> ", at % 28 + 1),
        &|at| format!("[10:{:02}] ", at % 60),
        &|at| format!("10:{:02} Ann\n", at % 60),
        &|at| format!("2026年1月{}日 下午3:{:02} 张三：", at % 28 + 1, at % 60),
        &|at| format!("12 января 2026 г. в 10:{:02} Анна: ", at % 60),
        &|at| format!("Ann Miller  00:0{}:12\n", at % 10),
        &|at| format!("Jan {}, 2026 10:00 AM\n", at % 28 + 1),
    ];
    for stamp in stamps {
        let text = records(20, |at| stamp(at) + &body(at));
        let first: Vec<String> = (0..20).map(stamp).collect();
        check(&text, |content| first.iter().any(|first| content.starts_with(first.trim_end())));
    }
}

#[test]
fn a_transcript_is_cut_between_turns() {
    let speakers: &[[&str; 3]] = &[
        ["Ann Miller:", "Bo Chen:", "Cleo:"],
        ["ВЕДУЩИЙ:", "Анна Петрова:", "Гость:"],
        ["张三：", "李四：", "主持人："],
        ["Q:", "A:", "A:"],
        ["**Ann:**", "**Bo:**", "**Cleo:**"],
        ["SPEAKER_00:", "SPEAKER_01:", "Speaker 2:"],
        ["Ann (00:12):", "Bo (00:15):", "Ann (00:18):"],
        ["Ann [00:12]:", "Bo [00:15]:", "Ann [00:18]:"],
    ];
    for speakers in speakers {
        let turn = |at: usize| format!("{} So {}. But {}.", speakers[at % 3], words(at, 8), words(at + 1, 9));
        let begins = |content: &str| speakers.iter().any(|speaker| content.starts_with(speaker));
        check(&records(12, |at| turn(at) + "\n"), begins);
        check(&records(12, |at| turn(at) + "\n\n"), begins);
        // A turn of two paragraphs, and one whose text stands below its speaker.
        check(&records(12, |at| format!("{}\n\nAnd {}.\n\n", turn(at), words(at, 6))), begins);
        check(
            &records(12, |at| format!("{}\nAnd {}. So {}.\n", speakers[at % 3], words(at, 9), words(at, 7))),
            begins,
        );
    }
}

#[test]
fn parts_of_a_long_turn_say_who_speaks() {
    let speech = |at| records(9, |sentence| format!("So {}. ", words(at + sentence, 12)));
    for (labels, glue) in [
        (["Ann Miller:", "Bo:"], " "),
        (["[12:30] Ann:", "[12:31] Ann:"], " "),
        (["Анна Петрова:", "ГОСТЬ:"], "\n"),
        (["张三：", "李四："], ""),
        (["2026-01-02 10:00", "3 марта 2026"], "\n"),
    ] {
        let text = records(4, |at| format!("{}{glue}{}\n\n{}\n", labels[at % 2], speech(at), speech(at + 5)));
        let chunks = cut(&text, 60);
        assert!(chunks.len() > 8, "{chunks:#?}");
        for (_, text, _) in chunks {
            assert!(labels.iter().any(|label| text.starts_with(label)), "{text:?}");
        }
    }
}

#[test]
fn a_line_of_a_list_or_poem_is_not_cut() {
    let contact = |at: usize| {
        format!("Name{at}: Anna Example Street {at} City {at}. Phone +49 30 {at}. Note: call after six.\n")
    };
    check(&records(20, contact), |content| content.starts_with("Name"));
    let equal = |at: usize| {
        format!("Anna Petrova, +49 30 55501{at:02}, anna{at:02}@example.org, room {at:02}. Likes lamps.\n")
    };
    check(&records(20, equal), |content| content.starts_with("Anna Petrova"));
    let russian =
        |at: usize| format!("Иванова Анна, тел. 8 495 55501{at:02}. Звонить после шести. Кабинет {at:02}\n");
    check(&records(20, russian), |content| content.starts_with("Иванова"));
    let chinese = |at: usize| format!("张三，电话 555 01{at:02}，北京朝阳区建国路第{at:02}号，喜欢台灯\n");
    check(&records(20, chinese), |content| content.starts_with("张三"));
    let poem = "The lamp is lit, the harbour dark,\nThe ferry leaves without a mark.\nHer captain counts the bells again,\nAnd no one asks him where or when.\n\n";
    let lines: Vec<&str> = poem.lines().filter(|line| !line.is_empty()).collect();
    check(&poem.repeat(8).replace("\n\n", "\n"), |content| {
        lines.iter().any(|line| content.starts_with(line))
    });
    let verses = "Фонарь горит, и гавань спит,\nПаром уходит от причала.\nНикто ему не говорит,\nЧто это только лишь начало.\n";
    check(&verses.repeat(8), |content| verses.lines().any(|line| content.starts_with(line)));
    // Paragraphs of a line each.
    let paragraph = |at: usize| {
        format!("So {}. And then {}. At last {}.\n", words(at, 6), words(at + 1, 5), words(at + 2, 6))
    };
    check(&records(12, paragraph), |content| content.starts_with("So "));
}

#[test]
fn wrapped_prose_is_cut_at_sentences() {
    let english = "The outer basin will be dredged in April, as the council of the town decided last year. Between the third and the twenty-first no boat longer than nine metres can pass the lock. Smaller ones can pass at high water only, and only by day. The ferry keeps its timetable, but it lands at the south pier. Note: cars may stay on the quay. ";
    let russian = "Внешняя гавань в апреле будет закрыта для судов, как решил в прошлом году совет города. С третьего по двадцать первое число через шлюз не пройдёт ни одно судно длиннее девяти метров. Меньшие пройдут только в полную воду. Паром ходит по расписанию, но причаливает к южному пирсу. ";
    let chinese = "四月三日至二十一日外港疏浚，长度超过九米的船只不能通过船闸。渡轮照常运行，但停靠南码头。请在四月二日之前把船移到内港，谢谢配合！港务长办公室每天上午八点至下午四点接待来访者。";
    for (text, width) in [(english, 72), (english, 80), (russian, 76), (chinese, 36)] {
        let text = text.repeat(4);
        let mut wrapped = String::new();
        let mut column = 0;
        let is_chinese = text.starts_with('四');
        let pieces: Vec<String> = if is_chinese {
            text.chars().map(String::from).collect()
        } else {
            text.split_inclusive(' ').map(String::from).collect()
        };
        for piece in pieces {
            let length = piece.trim_end().chars().count();
            if column + length > width {
                wrapped.truncate(wrapped.trim_end().len());
                wrapped.push('\n');
                column = 0;
            }
            column += piece.chars().count();
            let _ = write!(wrapped, "{piece}");
        }
        for (cut, _, content) in cut(&wrapped, 60).iter().skip(1) {
            assert!(matches!(cut, Cut::Sentence | Cut::Full), "{cut:?} {content:?}");
        }
    }
}

#[test]
fn what_only_looks_like_a_conversation_is_not_one() {
    // Versions and numbers are not dates, an address is not a speaker.
    let text = "1.2.3 Release of spring\n\nhttps://example.org/a is the address.\n\nNote: the lock is closed.\n\nWe met at noon: all came.\n\n";
    let document = Document::parse("a.txt", text.repeat(3), &Text);
    assert!(document.enclosures(chunkwright::Span::new(0, document.source().len())).is_empty());
    assert_eq!(document.blocks().len(), 12);
}
