//! Numbers as a sheet shows them, by the format of their cells.
//!
//! Separators are those of English, whatever the language of the program that wrote the file.

/// What a format makes of a number.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Shown {
    /// This text.
    Text(String),
    /// A day, perhaps with a time.
    Day,
    /// The number as it is.
    Plain,
}

/// The code of a format that files only number.
pub(super) fn builtin(id: u32) -> &'static str {
    match id {
        1 => "0",
        2 => "0.00",
        // Some show a currency, of which only the program knows which.
        3 | 5 | 6 | 37 | 38 | 41 | 42 => "#,##0",
        4 | 7 | 8 | 39 | 40 | 43 | 44 => "#,##0.00",
        9 => "0%",
        10 => "0.00%",
        11 => "0.00E+00",
        14..=17 | 22 | 27..=31 | 36 | 50..=58 => "yyyy-mm-dd",
        18..=20 | 32..=35 => "h:mm",
        21 => "h:mm:ss",
        45 | 47 => "mm:ss",
        46 => "[h]:mm:ss",
        48 => "0.0E+0",
        _ => "",
    }
}

/// The number of a cell without a format, without the noise of binary fractions.
pub(super) fn general(value: f64) -> String {
    // A program keeps 15 digits.
    let value: f64 = format!("{value:.14e}").parse().unwrap_or(value);
    if value == 0.0 {
        "0".to_owned()
    } else if (1e-9..1e21).contains(&value.abs()) {
        value.to_string()
    } else {
        format!("{value:E}")
    }
}

/// The number in a format.
pub(super) fn shown(value: f64, code: &str) -> Shown {
    let sections = sections(code);
    let index = match sections.len() {
        0 | 1 => 0,
        2 => usize::from(value < 0.0),
        _ if value == 0.0 => 2,
        _ => usize::from(value < 0.0),
    };
    // Sections that are chosen by conditions are not read.
    let has_condition = ["[<", "[>", "[="].iter().any(|condition| code.contains(condition));
    let Some(section) = sections.get(index).filter(|_| !has_condition) else { return Shown::Plain };
    if section.iter().all(|part| matches!(part, Part::Literal(_))) {
        // A section that hides the number, or names it.
        let text: String = section.iter().map(Part::literal).collect();
        return if sections.len() > 1 && !text.trim().is_empty() { Shown::Text(text) } else { Shown::Plain };
    }
    let has =
        |wanted: &[char]| section.iter().any(|part| matches!(part, Part::Code(c) if wanted.contains(c)));
    let elapsed = section.iter().any(|part| matches!(part, Part::Elapsed));
    if has(&['y', 'd', 'e', 'g', 'b']) && !has(&['0', '#', '?'])
        || has(&['m']) && !elapsed && !has(&['h', 's', '0', '#'])
    {
        return Shown::Day;
    }
    if elapsed || has(&['h', 's']) && !has(&['#', '?']) {
        return Shown::Text(time(value, elapsed, has(&['s']), has(&['h'])));
    }
    if has(&['@', '/', 'G']) || !has(&['0', '#', '?']) {
        return Shown::Plain;
    }
    // The sign is that of the section, where there is one for negative numbers.
    let value = if sections.len() > 1 && value < 0.0 { -value } else { value };
    Shown::Text(number(value, section))
}

/// A part of a format.
#[derive(Debug, PartialEq, Eq)]
enum Part {
    Literal(String),
    /// A placeholder or an operator.
    Code(char),
    /// `[h]`: hours that are not counted by days.
    Elapsed,
}

impl Part {
    fn literal(&self) -> &str {
        if let Self::Literal(text) = self { text } else { "" }
    }
}

/// The parts of the sections of a format: for positive numbers, negative ones, zero, and text.
fn sections(code: &str) -> Vec<Vec<Part>> {
    let mut sections = vec![Vec::new()];
    let mut chars = code.chars();
    while let Some(c) = chars.next() {
        let part = match c {
            ';' => {
                sections.push(Vec::new());
                continue;
            }
            '"' => Part::Literal(chars.by_ref().take_while(|c| *c != '"').collect()),
            '\\' => Part::Literal(chars.next().into_iter().collect()),
            // A blank as wide as a character, and one that fills the cell.
            '_' | '*' => {
                chars.next();
                continue;
            }
            '[' => {
                let inner: String = chars.by_ref().take_while(|c| *c != ']').collect();
                match inner.strip_prefix('$') {
                    Some(currency) => {
                        Part::Literal(currency.split('-').next().unwrap_or_default().to_owned())
                    }
                    None if inner.chars().all(|c| "hHmMsS".contains(c)) => Part::Elapsed,
                    // A colour or a condition.
                    None => continue,
                }
            }
            '0' | '#' | '?' | '.' | ',' | '%' | '/' | '@' => Part::Code(c),
            'E' => Part::Code('E'),
            'G' | 'g' if chars.as_str().to_ascii_lowercase().starts_with("eneral") => {
                chars.nth("eneral".len() - 1);
                Part::Code('G')
            }
            'A' | 'a' if chars.as_str().to_ascii_lowercase().starts_with("m/pm") => {
                chars.nth("m/pm".len() - 1);
                continue;
            }
            c if "yYmMdDhHsSeb".contains(c) => Part::Code(c.to_ascii_lowercase()),
            c => Part::Literal(c.to_string()),
        };
        sections.last_mut().expect("one section is open").push(part);
    }
    sections
}

/// Most digits after the point.
const MAX_DECIMALS: usize = 30;

fn number(value: f64, section: &[Part]) -> String {
    let digit = |part: &Part| matches!(part, Part::Code('0' | '#' | '?'));
    let first = section.iter().position(digit).unwrap_or(0);
    let last = section.iter().rposition(digit).map_or(0, |last| last + 1);
    let placed = &section[first..last];
    let exponent = placed.iter().position(|part| *part == Part::Code('E'));
    let mantissa = &placed[..exponent.unwrap_or(placed.len())];
    let point = mantissa.iter().position(|part| *part == Part::Code('.')).unwrap_or(mantissa.len());
    let count = |parts: &[Part], of: &[char]| {
        parts.iter().filter(|part| matches!(part, Part::Code(c) if of.contains(c))).count()
    };
    let whole = count(&mantissa[..point], &['0']);
    let decimals = count(&mantissa[point..], &['0', '#', '?']).min(MAX_DECIMALS);
    let zeros = count(&mantissa[point..], &['0']).min(decimals);
    let grouped = count(&mantissa[..point], &[',']) > 0;
    // Commas behind the digits divide by thousands.
    let thousands = section[last..].iter().take_while(|part| **part == Part::Code(',')).count().min(8) as u32;
    let percents = count(section, &['%']).min(4) as u32;
    let value = value * 100_u64.pow(percents) as f64 / 1000_u64.pow(thousands.min(6)) as f64;
    let digits = if exponent.is_some() {
        let shown = format!("{:.*e}", decimals, value.abs());
        let (mantissa, power) = shown.split_once('e').unwrap_or((&shown, "0"));
        let power: i32 = power.parse().unwrap_or(0);
        format!("{mantissa}E{}{:02}", if power < 0 { '-' } else { '+' }, power.abs())
    } else if placed.iter().any(|part| matches!(part, Part::Literal(_))) && decimals == 0 {
        spread(&plain(value.abs(), whole, 0, 0, false), placed)
    } else {
        plain(value.abs(), whole, zeros, decimals, grouped)
    };
    let is_zero = !digits.contains(|c: char| ('1'..='9').contains(&c));
    let mut text = String::from(if value < 0.0 && !is_zero { "-" } else { "" });
    for (index, part) in section.iter().enumerate() {
        match part {
            _ if index == first => text.push_str(&digits),
            // Between digits, as in a phone number: it is set apart from them.
            _ if (first..last).contains(&index) => {}
            Part::Literal(literal) => text.push_str(literal),
            Part::Code('%') => text.push('%'),
            _ => {}
        }
    }
    text.trim().to_owned()
}

/// Digits with what stands between them: `000-0000`.
fn spread(digits: &str, placed: &[Part]) -> String {
    let mut digits = digits.chars().rev();
    let mut reversed = String::new();
    for part in placed.iter().rev() {
        match part {
            Part::Literal(text) => reversed.extend(text.chars().rev()),
            Part::Code('0' | '#' | '?') => reversed.extend(digits.next()),
            _ => {}
        }
    }
    reversed.extend(digits);
    reversed.chars().rev().collect()
}

/// Digits with at least `whole` before the point, and `zeros` to `decimals` behind it.
fn plain(value: f64, whole: usize, zeros: usize, decimals: usize, grouped: bool) -> String {
    // What a binary fraction adds would round 1.005 down.
    let exact: f64 = format!("{value:.14e}").parse().unwrap_or(value);
    let shown = rounded(exact, decimals);
    let (integer, fraction) = shown.split_once('.').unwrap_or((&shown, ""));
    let integer = if integer == "0" && whole == 0 { "" } else { integer };
    let integer = format!("{integer:0>whole$}");
    let mut text = String::new();
    for (index, digit) in integer.chars().enumerate() {
        if grouped && index > 0 && (integer.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    let mut fraction = fraction.to_owned();
    while fraction.len() > zeros && fraction.ends_with('0') {
        fraction.pop();
    }
    if !fraction.is_empty() {
        text.extend([".", &fraction]);
    }
    if text.is_empty() { "0".to_owned() } else { text }
}

/// The number with so many digits behind the point, half away from zero.
fn rounded(value: f64, decimals: usize) -> String {
    let shown = value.to_string();
    let (integer, fraction) = shown.split_once('.').unwrap_or((&shown, ""));
    if fraction.len() > decimals && fraction.as_bytes()[decimals] == b'5' {
        // Exactly half in decimal digits, which binary ones may miss.
        let nudged: f64 = format!("{integer}.{fraction}1").parse().unwrap_or(value);
        return format!("{nudged:.decimals$}");
    }
    format!("{value:.decimals$}")
}

/// A time of the day or, elapsed, of any length.
fn time(value: f64, elapsed: bool, seconds: bool, hours: bool) -> String {
    let total = (value.abs() * 86_400.0).round().min(1e12) as u64;
    let total = if elapsed || value >= 1.0 && !hours { total } else { total % 86_400 };
    let (h, m, s) = (total / 3600, total / 60 % 60, total % 60);
    let sign = if value < 0.0 { "-" } else { "" };
    match (hours || elapsed, seconds) {
        (true, false) => format!("{sign}{h:02}:{m:02}"),
        (true, true) => format!("{sign}{h:02}:{m:02}:{s:02}"),
        (false, _) => format!("{sign}{:02}:{s:02}", h * 60 + m),
    }
}
