//! Text normalization, which removes disguises: width, case, accents, lookalike letters, invisible characters, emphasis, traditional
//! characters. Each remaining character becomes one lower-case letter, digit, space or mark.
//!
//! One pass over the text, with constant work per character.

use unicode_normalization::char::{decompose_compatible, is_combining_mark};
use unicode_security::skeleton;

/// Flag of an upper-case character.
pub(super) const UPPER: u8 = 1;
/// Flag of a character between quotation marks or in a code block.
pub(super) const QUOTED: u8 = 2;
/// Flag of a character in a code block.
const CODE: u8 = 4;
/// Percentage of quoted letters above which quotation marks are ignored: the whole text then counts as the speaker's own.
const MAX_QUOTED_PERCENT: usize = 96;

/// Normalized text; both lists have one entry per character.
#[derive(Debug, Default)]
pub(super) struct NormalizedText {
    pub(super) chars: Vec<char>,
    pub(super) flags: Vec<u8>,
}

impl NormalizedText {
    /// Normalizes a text. If the whole text is one quotation, its quotation marks are ignored.
    pub(super) fn new(text: &str) -> Self {
        let mut normalized = Self::quoting(text);
        normalized.ignore_excess_quotes();
        normalized
    }

    /// Normalizes a reply to a text with a name: quotations stay quotations, whatever their share.
    pub(super) fn quoting(text: &str) -> Self {
        let mut normalized = Self { chars: Vec::with_capacity(text.len()), flags: Vec::with_capacity(text.len()) };
        let mut quotes = Quotes::default();
        let mut rest = text.char_indices().peekable();
        while let Some((at, c)) = rest.next() {
            quotes.read(c, &text[at..]);
            if c == '<'
                && let Some(length) = tag_length(&text[at..])
            {
                while rest.next_if(|(next, _)| *next < at + length).is_some() {}
                continue;
            }
            let hidden = entity(&text[at..])
                .map(|(c, length)| (Some(c), length))
                .or_else(|| Some((None, address_length(&text[at..])?)));
            if let Some((shown, length)) = hidden {
                while rest.next_if(|(next, _)| *next < at + length).is_some() {}
                shown.into_iter().for_each(|c| normalized.push(c, quotes.flag()));
                continue;
            }
            normalized.push(c, quotes.flag());
        }
        normalized
    }

    fn push(&mut self, c: char, quoted: u8) {
        if c.is_ascii() || is_han(c) {
            return self.push_simple(c, quoted);
        }
        decompose_compatible(c, |part| {
            if !is_combining_mark(part) {
                self.push_simple(part, quoted | if c.is_uppercase() { UPPER } else { 0 });
            }
        });
    }

    fn push_simple(&mut self, c: char, flags: u8) {
        let case = if c.is_uppercase() { UPPER } else { 0 };
        if let Some(plain) = plain(c) {
            self.chars.push(plain);
            self.flags.push(flags | case);
        }
    }

    fn ignore_excess_quotes(&mut self) {
        let letters = |flags: u8| {
            let matches = |(c, f): (&char, &u8)| c.is_alphanumeric() && f & flags == flags;
            self.chars.iter().zip(&self.flags).filter(|pair| matches(*pair)).count()
        };
        if letters(QUOTED) * 100 >= letters(0) * MAX_QUOTED_PERCENT {
            self.flags.iter_mut().filter(|flags| **flags & CODE == 0).for_each(|flags| *flags &= !QUOTED);
        }
    }
}

/// State of the quotation marks and code blocks. A quotation ends at the end of its line at the latest.
#[derive(Default)]
struct Quotes {
    straight: bool,
    paired: u32,
    code: bool,
    line_start: bool,
    begun: bool,
    /// Remaining characters of a quotation in single quotation marks or of inline code.
    inline: usize,
    /// Whether the line begins with `>`.
    block: bool,
    last: Option<char>,
}

impl Quotes {
    fn read(&mut self, c: char, rest: &str) {
        if (self.line_start || !self.begun) && (rest.starts_with("```") || rest.starts_with("~~~")) {
            self.code = !self.code;
        }
        if self.line_start || !self.begun {
            self.block = c == '>' || self.block && c == ' ';
        }
        self.inline = self.inline.saturating_sub(1);
        if self.inline == 0 && !self.last.is_some_and(char::is_alphanumeric) {
            self.inline = inline_length(rest).unwrap_or(0);
        }
        (self.begun, self.last) = (true, Some(c));
        self.line_start = c == '\n' || self.line_start && c == ' ';
        match c {
            '\n' => (self.straight, self.paired) = (false, 0),
            '"' | '＂' => self.straight = !self.straight,
            '“' | '«' | '「' | '『' | '„' => self.paired += 1,
            '”' | '»' | '」' | '』' => self.paired = self.paired.saturating_sub(1),
            _ => {}
        }
    }

    fn flag(&self) -> u8 {
        match (self.code, self.straight || self.paired > 0 || self.inline > 0 || self.block) {
            (true, _) => QUOTED | CODE,
            (false, true) => QUOTED,
            (false, false) => 0,
        }
    }
}

/// Returns the number of characters of a phrase in single quotation marks or backticks at the beginning of a text; a single word is no
/// phrase.
fn inline_length(text: &str) -> Option<usize> {
    let mark = text.chars().next().filter(|c| matches!(c, '\'' | '‘' | '`'))?;
    let close = if mark == '‘' { '’' } else { mark };
    let rest: Vec<char> = text.chars().skip(1).take(MAX_SINGLE_QUOTED_CHARS).take_while(|c| *c != '\n').collect();
    let is_word = |at: usize| rest.get(at).is_some_and(|c| c.is_alphanumeric());
    let end = (1..rest.len()).find(|at| rest[*at] == close && !is_word(at + 1) && rest[at - 1] != ' ')?;
    (is_word(0) && rest[..end].contains(&' ')).then_some(end + 2)
}

/// Maximum number of characters of a phrase in single quotation marks.
const MAX_SINGLE_QUOTED_CHARS: usize = 200;

/// Returns the length in bytes of a short HTML tag such as `<b>` or `</span>`, which could be within a name.
fn tag_length(text: &str) -> Option<usize> {
    let end = text.bytes().take(24).position(|byte| byte == b'>')?;
    let name = text.get(1..end)?;
    let is_tag = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'/');
    is_tag.then_some(end + 1)
}

/// Returns the character of a numeric HTML entity at the beginning, and the length of the entity in bytes.
fn entity(text: &str) -> Option<(char, usize)> {
    let end = text.strip_prefix("&#")?.bytes().take(8).position(|byte| byte == b';')? + 2;
    let number = &text[2..end];
    let number = match number.strip_prefix(['x', 'X']) {
        Some(digits) => u32::from_str_radix(digits, 16),
        None => number.parse(),
    };
    Some((char::from_u32(number.ok()?)?, end + 1))
}

/// Returns the length in bytes of the address of a Markdown link, from the bracket that ends its text.
fn address_length(text: &str) -> Option<usize> {
    let address = text.strip_prefix("](")?;
    let end = address.bytes().take(300).position(|byte| matches!(byte, b')' | b' ' | b'\n'))?;
    (address.as_bytes()[end] == b')').then_some(end + 3)
}

fn is_han(c: char) -> bool {
    ('\u{4E00}'..='\u{9FFF}').contains(&c)
}

/// Returns the plain form of a character; `None` for one that is removed.
fn plain(c: char) -> Option<char> {
    match c {
        'a'..='z' | '0'..='9' => Some(c),
        'A'..='Z' => Some(c.to_ascii_lowercase()),
        '*' | '_' | '`' | '~' | '#' | '"' | '“' | '”' | '„' | '«' | '»' | '「' | '」' | '『' | '』' | '《' | '》' => {
            None
        }
        '(' | ')' | '[' | ']' | '{' | '}' | '【' | '】' | '\t' | '\r' => Some(' '),
        '\n' => Some('\n'),
        '\u{2010}'..='\u{2012}' | '\u{2212}' => Some('-'),
        '‘' | '’' | 'ʼ' | '´' => Some('\''),
        '·' | '•' | '‧' | '・' => Some('·'),
        '、' => Some(','),
        c if is_han(c) => Some(simplified(c)),
        c if c.is_ascii() => (!c.is_ascii_control()).then_some(c),
        c if is_invisible(c) => None,
        c if c.is_whitespace() => Some(' '),
        c => Some(lookalike(c)),
    }
}

/// Returns whether a character has no glyph: joiners, direction marks, variation selectors, fillers, tags.
fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{00AD}' | '\u{034F}' | '\u{061C}' | '\u{115F}' | '\u{1160}' | '\u{17B4}' | '\u{17B5}' | '\u{180B}'..='\u{180E}'
        | '\u{200B}'..='\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2060}'..='\u{206F}' | '\u{3164}' | '\u{FE00}'..='\u{FE0F}'
        | '\u{E000}'..='\u{F8FF}' | '\u{FEFF}' | '\u{FFA0}' | '\u{FFF0}'..='\u{FFFB}' | '\u{E0000}'..='\u{E0FFF}')
        || c.is_control()
}

/// Returns the Latin letter that a letter of another script looks like, or the letter itself in lower case.
fn lookalike(c: char) -> char {
    if is_picture(c) {
        return ' ';
    }
    let lower = boxed(c).unwrap_or_else(|| c.to_lowercase().next().unwrap_or(c));
    if !lower.is_alphabetic() {
        return lower;
    }
    // Capitals first: a Cyrillic capital may look Latin where its small letter does not.
    [c, lower].into_iter().find_map(latin_shape).unwrap_or(lower)
}

/// Returns whether a character is an emoji or another picture, but not a boxed letter.
fn is_picture(c: char) -> bool {
    matches!(c, '\u{2600}'..='\u{27BF}' | '\u{2B00}'..='\u{2BFF}' | '\u{1F000}'..='\u{1FAFF}') && boxed(c).is_none()
}

fn latin_shape(c: char) -> Option<char> {
    if let Some(latin) = latin_lookalike(c) {
        return Some(latin);
    }
    let mut buffer = [0; 4];
    let mut shape = skeleton(c.encode_utf8(&mut buffer));
    match (shape.next(), shape.next()) {
        (Some(latin), None) if latin.is_ascii_alphanumeric() => Some(latin.to_ascii_lowercase()),
        _ => None,
    }
}

/// Returns the Latin letter of a small capital or of a Greek letter, which the tables of lookalikes leave out.
fn latin_lookalike(c: char) -> Option<char> {
    const LOOKALIKE_LETTERS: &str = "εκτηᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘꞯʀꜱᴛᴜᴠᴡʏᴢғ";
    const LATIN_LETTERS: &str = "ektnabcdefghijklmnopqrstuvwyzf";
    LOOKALIKE_LETTERS.chars().zip(LATIN_LETTERS.chars()).find_map(|(small, latin)| (small == c).then_some(latin))
}

/// Returns the letter in a black circle or square, or of a flag.
fn boxed(c: char) -> Option<char> {
    let first = [0x1F150, 0x1F170, 0x1F1E6].into_iter().find(|first| (*first..first + 26).contains(&u32::from(c)))?;
    char::from_u32(u32::from('a') + u32::from(c) - first)
}

/// Returns the simplified form of the traditional characters that names and self-descriptions use.
fn simplified(c: char) -> char {
    const TRADITIONAL: &str = "義問開發訓練為語雲實驗書動節騰訊華譜團隊來創構學飛個這裡對話與務專億紹間關於應產業設計製責擁環體種類稱網長盤興軟亞馬遜蘋偉達復湯崑崙萬維階躍佈養運營現們嗎沒說會請幫裝當從變臉機時後觀點聰優兩邊誰讓給聽讀寫傳統參數據處術識認豐盡準檢測條歡總見誠題導級權無該";
    const SIMPLIFIED: &str = "义问开发训练为语云实验书动节腾讯华谱团队来创构学飞个这里对话与务专亿绍间关于应产业设计制责拥环体种类称网长盘兴软亚马逊苹伟达复汤昆仑万维阶跃布养运营现们吗没说会请帮装当从变脸机时后观点聪优两边谁让给听读写传统参数据处术识认丰尽准检测条欢总见诚题导级权无该";
    static PAIRS: std::sync::LazyLock<std::collections::HashMap<char, char>> =
        std::sync::LazyLock::new(|| TRADITIONAL.chars().zip(SIMPLIFIED.chars()).collect());
    PAIRS.get(&c).copied().unwrap_or(c)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, normalized: &str) {
        assert_eq!(NormalizedText::new(text).chars.iter().collect::<String>(), normalized, "{text:?}");
    }

    #[test]
    fn disguises_come_off() {
        check("Ｃｌａｕｄｅ", "claude");
        check("Сlаudе", "claude");
        check("СhаtGРТ", "chatgpt");
        check("𝐆𝐞𝐦𝐢𝐧𝐢", "gemini");
        check("Cl\u{200B}au\u{AD}de\u{FE0F}", "claude");
        check("**Cl**aude and _Ge_mini", "claude and gemini");
        check("Cl<b>au</b>de, 1 < 2 > 0", "claude, 1 < 2 > 0");
        check("Clàudé", "claude");
        check("ᴄʟᴀᴜᴅᴇ ꜰʀᴏᴍ ᴍᴇ", "claude from me");
        check("🅒🅻🇦ude", "claude");
        check("GPT\u{2011}4o", "gpt-4o");
        check("通義千問，開發", "通义千问,开发");
        check("“I’m”（Αι）", "i'm ai ");
    }

    #[test]
    fn quotations_and_code_are_marked() {
        let quoted = |text: &str| {
            let normalized = NormalizedText::new(text);
            let quoted = normalized.chars.iter().zip(&normalized.flags).filter(|(_, flags)| **flags & QUOTED > 0);
            quoted.map(|(c, _)| c).collect::<String>()
        };
        assert_eq!(quoted("He said: \"it is me\" and he left the room at once."), "it is me");
        assert_eq!(quoted("机器人说：“是我”，然后它慢慢地离开了这个房间。"), "是我");
        assert_eq!(quoted("Run this, it prints a line on the screen:\n```\nme\n```\nThat is all."), "\nme\n");
        assert_eq!(
            quoted("An inch is written 1\" here.\nNext line."),
            " here.",
            "a mark without a partner ends with its line"
        );
        assert_eq!(quoted("\"All of it is quoted.\""), "", "then quotation marks mean nothing");
    }
}
