//! Whether a battle's texts give a model away.
//!
//! **The rule.** A vote is marked where, in any turn,
//! - a reply, or reasoning that is shown after the vote, says who its own author is: it names a model or a maker as what the
//!   speaker is, is called, is made by, is based on or belongs to, or signs with a name; or, asked for its identity, answers
//!   with a name alone, or with a name in a sentence about itself;
//! - the visitor's text addresses the models by such a name, asks whether one of them is it, or asks them to be it; or asks
//!   for their identity and proposes a name.
//!
//! A name in other talk is no leak: what somebody else is or made, comparisons, animals, winds, star signs, people. Nor is a
//! question for the identity that stays unanswered, a denial ("I am not X") alone, or what a quotation or a code block says,
//! unless it names the author itself, or what others guess ("some think I'm X"). Names are those of `names.toml` and of the arena's own models.
//!
//! **The method.** `fold` takes disguises off, `names` finds names in one pass, `sentences` keeps the sentences with a name, and
//! the rules of `english` and `chinese` are regular expressions without look-around. So the work is linear in the text. What
//! a text says without a name ("the maker of the green logo", a name in Base64, backwards, or as the first letters of lines)
//! is not found.

mod chinese;
mod english;
mod fold;
mod frames;
mod grammar;
mod names;
mod questions;
mod sentences;
mod words;

use std::fmt;
use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use self::fold::Folded;
use self::grammar::{NAME_LENGTH, is_placeholder};
use self::names::NameKind;
pub use self::names::{IdentityNames, KnownModel};
use self::sentences::{Form, PlacedName, Sentence, sentences};
use crate::battle::Side;

/// One question and what both sides answered.
#[derive(Debug, Clone, Copy)]
pub struct TurnTexts<'t> {
    /// Number of the turn.
    pub turn: u32,
    /// The visitor's text.
    pub prompt: &'t str,
    /// The replies of sides A and B.
    pub replies: [&'t str; 2],
    /// Their reasoning; empty where there is none.
    pub reasoning: [&'t str; 2],
}

/// The text that gives a model away.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LeakPlace {
    /// The visitor's text.
    Prompt,
    /// A reply.
    Reply(Side),
    /// A model's reasoning.
    Reasoning(Side),
}

/// Where a battle gives a model away. It says nothing of the name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Leak {
    /// Number of the turn.
    pub turn: u32,
    /// The text.
    pub place: LeakPlace,
}

impl fmt::Display for Leak {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let turn = self.turn;
        let letter = |side: Side| if side == Side::A { 'A' } else { 'B' };
        match self.place {
            LeakPlace::Prompt => write!(f, "the prompt of turn {turn} speaks to a model by name"),
            LeakPlace::Reply(side) => {
                write!(f, "reply {} of turn {turn} says which model or maker wrote it", letter(side))
            }
            LeakPlace::Reasoning(side) => {
                write!(f, "the reasoning of reply {} of turn {turn} says which model or maker wrote it", letter(side))
            }
        }
    }
}

/// The texts of a battle that give a model away, in their order; `models` are the ids of the models on sides A and B.
#[must_use]
pub fn find_leaks(names: &IdentityNames, models: [&str; 2], turns: &[TurnTexts<'_>]) -> Vec<Leak> {
    let mut leaks = Vec::new();
    for (number, texts) in turns.iter().enumerate() {
        let former = number.checked_sub(1).map(|former| turns[former].replies);
        let mut found = |place| leaks.push(Leak { turn: texts.turn, place });
        let proposes = prompt_leaks(names, texts.prompt);
        if proposes {
            found(LeakPlace::Prompt);
        }
        let asks_for_yes = proposes && questions::asks_for_yes(texts.prompt);
        let asks = proposes || questions::asks_for_identity(texts.prompt);
        let cites = !proposes && !names.find(&Folded::new(texts.prompt)).is_empty();
        let repeats = cites && questions::is_exercise(texts.prompt);
        for side in Side::BOTH {
            let at = side.index();
            let speaker = Speaker { names, model: models[at], asks, cites, repeats };
            let goes_on = former.is_some_and(|former| speaker.leaks_across(former[at], texts.replies[at]));
            let agrees = asks_for_yes && questions::agrees(texts.replies[at]);
            if goes_on || agrees || speaker.leaks(texts.replies[at]) {
                found(LeakPlace::Reply(side));
            }
            if (Speaker { asks: false, cites: false, repeats: false, ..speaker }).leaks(texts.reasoning[at]) {
                found(LeakPlace::Reasoning(side));
            }
        }
    }
    leaks
}

fn prompt_leaks(names: &IdentityNames, prompt: &str) -> bool {
    let (found, asks) = (sentences(&Folded::quoting(prompt), names), questions::asks_for_identity(prompt));
    let is_exercise = questions::is_exercise(prompt);
    let is_fiction = questions::is_fiction(prompt);
    let is_text = |sentence: &Sentence| is_exercise && is_material(sentence) || is_fiction && is_quoted(sentence);
    found.iter().filter(|sentence| !is_text(sentence)).any(|sentence| {
        let (text, dense) = (sentence.form(Form::Spaced), sentence.form(Form::Dense));
        asks && questions::proposes(sentence)
            || english::prompt().matches(text).next().is_some()
            || english::prompt_apart().matches_where(text, english::stays_with_speaker).next().is_some()
            || !frames::prompt(text).is_empty()
            || sentence.is_chinese && chinese::prompt().matches(dense).next().is_some()
    })
}

/// Whether a sentence of a prompt that asks for work on a text is that text: quoted, after a colon, or not the first.
fn is_material(sentence: &Sentence) -> bool {
    let first = sentence.names.first().map_or(0, |name| name.at[0]);
    sentence.number > 0 || is_quoted(sentence) || sentence.text[..first].contains(':')
}

/// Whether the last name of a sentence is quoted.
fn is_quoted(sentence: &Sentence) -> bool {
    sentence.names.last().is_some_and(|name| sentence.is_quoted(Form::Spaced, name.at[0]))
}

/// Characters on either side of a turn's end in which a name may be split over two replies.
const SEAM: usize = 160;

/// The author of a reply.
#[derive(Clone, Copy)]
struct Speaker<'n> {
    names: &'n IdentityNames,
    model: &'n str,
    /// Whether the visitor asked who it is.
    asks: bool,
    /// Whether the visitor wrote of a name without speaking to a model by it.
    cites: bool,
    /// Whether that text was to be translated, corrected or the like, so that the reply repeats it.
    repeats: bool,
}

impl Speaker<'_> {
    fn leaks(&self, text: &str) -> bool {
        let folded = if self.cites { Folded::quoting(text) } else { Folded::new(text) };
        sentences(&folded, self.names).iter().any(|sentence| {
            self.is_told(sentence) || self.asks && questions::is_answer(sentence) || questions::answers_itself(sentence)
                || questions::names_topic(sentence) || questions::signs(sentence)
        })
    }

    /// Whether the end of a reply and the beginning of the next one say together what neither says alone.
    fn leaks_across(&self, former: &str, text: &str) -> bool {
        if former.is_empty() || text.is_empty() {
            return false;
        }
        let start = former.char_indices().rev().nth(SEAM).map_or(0, |(at, _)| at);
        let end = text.char_indices().nth(SEAM).map_or(text.len(), |(at, _)| at);
        let apart = Self { asks: false, ..*self };
        let says = |parts: [&str; 2]| parts.iter().any(|part| apart.leaks(part));
        apart.leaks(&[&former[start..], &text[..end]].concat()) && !says([&former[start..], &text[..end]])
    }

    fn is_told(&self, sentence: &Sentence) -> bool {
        let (text, dense) = (sentence.form(Form::Spaced), sentence.form(Form::Dense));
        english::reply().matches(text).any(|range| self.speaks(sentence, Form::Spaced, &range))
            || english::reply_apart()
                .matches_where(text, english::stays_with_speaker)
                .any(|range| self.speaks(sentence, Form::Spaced, &range))
            || frames::reply(text).iter().any(|range| self.speaks(sentence, Form::Spaced, range))
            || sentence.is_chinese
                && chinese::reply().matches(dense).any(|range| self.speaks(sentence, Form::Dense, &range))
    }

    /// Whether what a rule found is said by the author and not only quoted, or names the author itself.
    fn speaks(&self, sentence: &Sentence, form: Form, range: &Range<usize>) -> bool {
        let last = sentence.names_in(form, range).last().map_or(range.end, |name| name.at[form as usize] + NAME_LENGTH);
        let after = &sentence.form(form)[last..];
        if SAID_BY_ANOTHER.is_match(after) || IS_OPEN.is_match(after) || is_hearsay(&sentence.form(form)[..range.start], &sentence.form(form)[range.clone()]) {
            return false;
        }
        let mut named = sentence.names_in(form, range).peekable();
        if named.peek().is_some() && named.all(|name| name.hit.kind == NameKind::Maker) && EMPLOYEE.is_match(&sentence.text) {
            return false;
        }
        let first = sentence.form(form)[range.clone()].find(|c: char| c.is_alphanumeric() || is_placeholder(c));
        let is_own = |name: &PlacedName| self.names.is_of(&name.hit, self.model);
        let is_quoted = sentence.is_quoted(form, range.start + first.unwrap_or(0)) || sentence.quotes_phrase(form, range);
        !self.repeats && !is_quoted || sentence.names_in(form, range).any(is_own)
    }
}

/// What others guess of the speaker is not what it says, nor what it leaves open: "some think I'm X", "whether I'm X".
static HEARSAY: LazyLock<Regex> = LazyLock::new(|| {
    let rule = "(?:^|[^a-z])(?:some|many|most|people|others?|visitors?|users?|the user|they|you|everyone|everybody|someone|somebody|friends?)(?: [a-z]+){0,2} \
        (?:think|guess|believe|assume|suspect|wonder|bet)s?(?: that| if| whether)?$|(?:^|[^a-z])(?:some|people|users?|others)(?: [a-z]+){0,2} (?:claim|say)(?: that)?$\
        |(?:^|[^a-z])(?:whether|if|as though|pretend(?:ing|ed)?(?: that| to be)?|imagine(?: that)?|imagining|suppos(?:e|ing)(?: that)?|(?:deny|denying|confirm|imply|prove)(?: that)?)$|(?:^|[^a-z])(?:i|it|one|anyone|they|he|she|models?) (?:could|might|would|may)(?: just)?(?: as well| also| easily)? (?:say|tell you|claim|answer|write)(?: that)?$|(?:^|[^a-z])(?:maybe|perhaps|what if|if i (?:said|told you)(?: that)?)$\
        |(?:not|never|n't|cannot) (?:say|claim|reveal|admit|mention|state)(?: that)?$\
        |(?:^|[^a-z])(?:the|a|an|old|he|she|they|it) ?(?:[a-z]+ )?(?:whispered|said|says|replied|wrote|answered|announced|shouted|muttered|declared)(?: that)?[:,]?$\
        |(?:他|她|它|们|人|者|生|师|明|红)(?:轻声|大声|小声|笑着|缓缓)?(?:说|说道|答道|回答|写道|喊道|问道)[:,]?$|(?:^|[^a-z])let's (?:say|assume|pretend|imagine)(?: that)?$|[\u{E000}-\u{E002}] (?:or|nor)$|[\u{E000}-\u{E002}](?:还是|或者?)$\
        |(?:可以说|就算|即使|哪怕|也许|或许|说不定|万一|(?:如果|假如|要是)我说)$|(?:猜|猜测|以为|怀疑|误认为|打赌|是否|是不是|如果|假如|要是|假装|倘若|能不能说|自己)$";
    Regex::new(rule).expect("the built-in rule is a regular expression")
});

/// Whether what is said stands after the name of a speaker, as in a dialogue: "Robot: I'm X", but not "Note: I'm X".
fn is_label_of_another(before: &str) -> bool {
    static LABEL: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new("^[^a-z一-龥]*([a-z.'-]+(?: [a-z.'-]+){0,2}|[一-龥]{1,4}):$").expect("the built-in rule is a regular expression")
    });
    static OWN: LazyLock<Regex> = LazyLock::new(|| {
        let rule = "(?-u:\\b)(?:notes?|disclosure|disclaimer|ps|p.s|version|update|confession|answer|reply|response|a|assistant|ai|model|bot|chatbot|me|fyi|btw|edit|i|my|you|your|we|it|that|this|so|but|and|if|since|because|again|correction|apologies|spoiler|fact|hint|truth|caveat|warning|conclusion|summary|name|ooc|reminder|honestly|clear|honest|secret|introduction|intro|identity|who|too|course|record|thing|question|alert|interest|character|second|moment|story|short|words|reason|sorry|yes|no|well|ok|okay|sure|say|tell|admit|guess|output|result|final|meta|aside|bonus|remark|context|transparent|transparency|upfront|important|first|second|third)(?-u:\\b)\
            |注|说|声明|提示|答|附|补充|话|备注|介绍|前言|结论|总之|坦白|秘密|彩蛋|我|题外|另|旁白|身份|名|来源|公平|透明|利益|最后|首先|其次|一|剧情|角色|提醒|友情|温馨|免责|小贴士|如下|结果|输出|总结|真相|公布|揭晓";
        Regex::new(rule).expect("the built-in rule is a regular expression")
    });
    LABEL.captures(before).and_then(|found| found.get(1)).is_some_and(|label| !OWN.is_match(label.as_str()))
}

/// A person who was trained at a company: letters and curricula vitae are written in the visitor's voice.
static EMPLOYEE: LazyLock<Regex> = LazyLock::new(|| {
    let rule = "(?-u:\\b)as an? (?:[a-z]+ ){0,2}(?:engineer|manager|analyst|designer|developer|researcher|intern|consultant|lawyer|technician|director|teacher|specialist|trainee)(?-u:\\b)\
        |(?:for|stayed) (?:[a-z0-9]+ ){1,2}(?:years?|months?|weeks?)(?-u:\\b)|years? of experience|实习|我的同事|入职|跳槽|年薪|工龄";
    Regex::new(rule).expect("the built-in rule is a regular expression")
});

/// Another name as an alternative: "I'm X or Y".
static IS_OPEN: LazyLock<Regex> = LazyLock::new(|| {
    let rule = "^[ ,]*(?:or|还是|或者?|也可能是) ?(?:maybe |perhaps )?(?:the |an? |是)?[\u{E000}-\u{E002}] ?(?:[,.?!。]|$)";
    Regex::new(rule).expect("the built-in rule is a regular expression")
});

/// After its words a story names their speaker.
static SAID_BY_ANOTHER: LazyLock<Regex> = LazyLock::new(|| {
    let rule = "^[^.]{0,60}, (?:(?:she|he|they|the [a-z]+) (?:said|thought|wrote|whispered|replied|answered|muttered|cried|announced)|(?:said|wrote|thought|whispered|replied|says|cried) (?:the|she|he|an?) )\
        |^[^.]{0,40}, (?:as |or so |at least )?(?:the|your|his|her|their) [a-z ]{1,24} (?:says?|said|reads|claims|states)|^[^.]{0,30}, (?:according to|as you (?:wrote|said|say|noted)) ";
    Regex::new(rule).expect("the built-in rule is a regular expression")
});

fn is_hearsay(before: &str, said: &str) -> bool {
    static CASE: LazyLock<Regex> = LazyLock::new(|| {
        let rule = "(?:^|[^a-z])(?:when|whenever|while|once|until|after|before)$|(?:当|等)$";
        Regex::new(rule).expect("the built-in rule is a regular expression")
    });
    let before = before.trim_end();
    let is_of_visitor = said.trim_start().starts_with(['你', '您']) || said.trim_start().starts_with("you");
    HEARSAY.is_match(before) || is_label_of_another(before) || is_of_visitor && (CASE.is_match(before) || said.contains(" were "))
}

#[cfg(test)]
mod tests;
