//! Detection of texts that reveal the identity of a model in a battle.
//!
//! **The rule.** A vote is marked if, in any turn,
//! - a reply, or reasoning that is shown after the vote, identifies its own author: it names a model or a maker as what the
//!   speaker is, is called, is made by, is based on or belongs to, or signs with a name; or begins with its own name as a
//!   heading or a label, where no prompt named a model; or, asked for its identity, answers with a name alone, or with a name
//!   in a sentence about itself;
//! - the visitor's text addresses the models by such a name, asks whether one of them is it, or asks them to be it; or asks
//!   for their identity and proposes a name.
//!
//! A name in another context is no leak: other people's identity or products, comparisons, animals, winds, star signs, people. Nor is an
//! unanswered question for the identity, a denial ("I am not X") alone, guesses ("some think I'm X") or statements of others, a supposition
//! ("whether I'm X"), or a quotation or a code block, unless it names the author itself. Names are those of `names.toml` and of the arena's
//! own models.
//!
//! **The method.** `normalized_text` removes disguises, `names` finds names in one pass (`spelling` defines how they may be spelled),
//! `sentences` keeps the sentences with a name. `words` converts such a sentence to word classes that two languages share, and
//! `word_class_patterns` are the patterns in which it identifies the speaker; `english`, `chinese`, `relations` and `questions` add rules
//! for single languages. `classifier` adds cases beyond the rules, with weights trained on labelled texts. `voice` filters statements of
//! others. All rules are regular expressions without look-around, so the work is linear in the text. An identity without a name ("the maker
//! of the green logo", a name in Base64, or as the first letters of lines) is not found.

mod chinese;
mod classifier;
mod english;
mod grammar;
mod names;
mod normalized_text;
mod questions;
mod relations;
mod sentences;
mod spelling;
mod voice;
mod word_class_patterns;
mod words;

use std::fmt;
use std::ops::Range;

use self::grammar::{PLACEHOLDER_BYTES, is_placeholder};
pub use self::names::{IdentityNames, KnownModel};
use self::normalized_text::NormalizedText;
use self::sentences::{PlacedName, Sentence, SentenceForm, sentences};
use self::spelling::NameKind;
use self::voice::RuleMatch;
use crate::battle::Side;
use crate::battle::record::{BattleRecord, TurnRow};

/// Texts of one turn: the prompt and both replies.
#[derive(Debug, Clone, Copy)]
pub struct TurnTexts<'t> {
    /// Number of the turn in the battle.
    pub turn: u32,
    /// Prompt of the visitor.
    pub prompt: &'t str,
    /// Replies of sides A and B.
    pub replies: [&'t str; 2],
    /// Reasoning of sides A and B; empty where there is none.
    pub reasoning: [&'t str; 2],
}

impl<'t> TurnTexts<'t> {
    /// Returns the turns of a battle.
    #[must_use]
    pub fn of_battle(record: &'t BattleRecord) -> Vec<Self> {
        let of_turn = |turn: &'t TurnRow| {
            let rows = Side::BOTH.map(|side| record.reply(turn.turn, side));
            Self {
                turn: turn.turn,
                prompt: &turn.prompt,
                replies: rows.map(|row| row.map_or("", |row| row.text.as_str())),
                reasoning: rows.map(|row| row.map_or("", |row| row.reasoning.as_str())),
            }
        };
        record.turns.iter().map(of_turn).collect()
    }

    /// Returns whether all texts are blank.
    #[must_use]
    pub fn is_blank(&self) -> bool {
        let mut texts = [self.prompt].into_iter().chain(self.replies).chain(self.reasoning);
        texts.all(|text| text.trim().is_empty())
    }
}

/// Text that reveals a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LeakPlace {
    /// Prompt of the visitor.
    Prompt,
    /// Reply of a side.
    Reply(Side),
    /// Reasoning of a side.
    Reasoning(Side),
}

/// Location of a leak in a battle. It does not contain the name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Leak {
    /// Number of the turn in the battle.
    pub turn: u32,
    /// Leaking text of the turn.
    pub place: LeakPlace,
}

impl fmt::Display for Leak {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let turn = self.turn;
        match self.place {
            LeakPlace::Prompt => write!(f, "the prompt of turn {turn} speaks to a model by name"),
            LeakPlace::Reply(side) => {
                write!(f, "reply {} of turn {turn} says which model or maker wrote it", side.letter())
            }
            LeakPlace::Reasoning(side) => {
                write!(f, "the reasoning of reply {} of turn {turn} says which model or maker wrote it", side.letter())
            }
        }
    }
}

/// Method of the search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LeakSearch {
    /// Rules alone, where a language model reads the texts too: see [`leak_check`](super::identity_leak_check).
    Rules,
    /// Rules and weights trained on labelled texts, which find more leaks and mark a few more harmless texts.
    RulesAndWeights,
}

/// Finds the texts of a battle that reveal a model, in their order; `models` are the ids of the models on sides A and B.
#[must_use]
pub fn find_leaks(names: &IdentityNames, models: [&str; 2], turns: &[TurnTexts<'_>], search: LeakSearch) -> Vec<Leak> {
    let (mut leaks, mut is_cited) = (Vec::new(), false);
    for (number, texts) in turns.iter().enumerate() {
        let former = number.checked_sub(1).map(|former| turns[former].replies);
        let mut found = |place| leaks.push(Leak { turn: texts.turn, place });
        let proposes = prompt_leaks(names, texts.prompt);
        if proposes {
            found(LeakPlace::Prompt);
        }
        let asks_for_yes = proposes && questions::asks_for_yes(texts.prompt);
        let asks = proposes || questions::asks_for_identity(texts.prompt);
        let named = names.find(&NormalizedText::new(texts.prompt)).len();
        let cites = !proposes && named > 0;
        is_cited |= named > 0;
        let repeats = cites && questions::is_exercise(texts.prompt);
        for side in Side::BOTH {
            let at = side.index();
            let speaker = Speaker { names, model: models[at], search, asks, cites, repeats };
            let goes_on = former.is_some_and(|former| speaker.leaks_across(former[at], texts.replies[at]));
            let chooses = asks && named > 1 && questions::chooses_by_position(texts.replies[at]);
            let agrees = chooses || asks_for_yes && questions::agrees(texts.replies[at]);
            let is_headed = !is_cited && speaker.heads(texts.replies[at]);
            if goes_on || agrees || is_headed || speaker.leaks(texts.replies[at]) {
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
    let (found, asks) = (sentences(&NormalizedText::quoting(prompt), names), questions::asks_for_identity(prompt));
    let is_exercise = questions::is_exercise(prompt);
    let is_fiction = questions::is_fiction(prompt);
    let is_text = |sentence: &Sentence| is_exercise && is_material(sentence) || is_fiction && is_quoted(sentence);
    found.iter().filter(|sentence| !is_text(sentence)).any(|sentence| {
        let (text, dense) = (sentence.form(SentenceForm::Spaced), sentence.form(SentenceForm::Dense));
        asks && questions::proposes_name(sentence)
            || english::prompt().matches(text).next().is_some()
            || english::prompt_grammar_with_gap().matches_where(text, english::stays_with_speaker).next().is_some()
            || !word_class_patterns::prompt(text).is_empty()
            || sentence.is_chinese && chinese::prompt().matches(dense).next().is_some()
    })
}

/// Returns whether a sentence of a prompt that asks for work on a text is part of that text: quoted, after a colon, or not the first.
fn is_material(sentence: &Sentence) -> bool {
    let first = sentence.names.first().map_or(0, |name| name.at[0]);
    sentence.number > 0 || is_quoted(sentence) || sentence.text[..first].contains(':')
}

/// Whether the last name of a sentence is quoted.
fn is_quoted(sentence: &Sentence) -> bool {
    sentence.names.last().is_some_and(|name| sentence.is_quoted(SentenceForm::Spaced, name.at[0]))
}

/// Number of characters on either side of a turn's end in which a name split over two replies is searched.
const TURN_BOUNDARY_CHARS: usize = 160;

/// Author of a reply, with its context.
#[derive(Clone, Copy)]
struct Speaker<'n> {
    names: &'n IdentityNames,
    model: &'n str,
    search: LeakSearch,
    /// Whether the visitor asked for its identity.
    asks: bool,
    /// Whether the visitor mentioned a name without addressing a model by it.
    cites: bool,
    /// Whether the visitor asked to translate, correct or process that text, so that the reply repeats it.
    repeats: bool,
}

impl Speaker<'_> {
    fn leaks(&self, text: &str) -> bool {
        let normalized = if self.cites { NormalizedText::quoting(text) } else { NormalizedText::new(text) };
        let found = sentences(&normalized, self.names);
        found.iter().enumerate().any(|(number, sentence)| {
            self.is_leak(sentence)
                || self.asks && questions::is_answer(sentence)
                || questions::answers_own_question(sentence)
                || questions::names_topic(sentence)
                || questions::is_signature_name(sentence)
                || self.search == LeakSearch::RulesAndWeights
                    && classifier::is_leak(self, sentence, number + 1 == found.len())
        })
    }

    /// Returns whether a reply begins with its own author's name as a heading or as the label of a speaker, as in `# X` or `*X:* yes`.
    fn heads(&self, reply: &str) -> bool {
        let reply = reply.trim_start();
        let (head, rest) = reply.split_at(reply.find(['\n', ':', '：']).unwrap_or(reply.len()));
        let label = NormalizedText::new(head);
        let is_of_word = |c: &char| c.is_alphanumeric();
        let ends = [label.chars.iter().position(is_of_word), label.chars.iter().rposition(is_of_word)];
        rest.contains(char::is_alphanumeric)
            && self.names.find(&label).iter().any(|hit| {
                let is_model = matches!(hit.kind, NameKind::Model | NameKind::Word);
                is_model && ends == [Some(hit.start), hit.end.checked_sub(1)] && self.names.is_of(hit, self.model)
            })
    }

    /// Returns whether the end of a reply and the beginning of the next one form a leak that neither has alone.
    fn leaks_across(&self, former: &str, text: &str) -> bool {
        if former.is_empty() || text.is_empty() {
            return false;
        }
        let start = former.char_indices().rev().nth(TURN_BOUNDARY_CHARS).map_or(0, |(at, _)| at);
        let end = text.char_indices().nth(TURN_BOUNDARY_CHARS).map_or(text.len(), |(at, _)| at);
        let apart = Self { asks: false, ..*self };
        let says = |parts: [&str; 2]| parts.iter().any(|part| apart.leaks(part));
        apart.leaks(&[&former[start..], &text[..end]].concat()) && !says([&former[start..], &text[..end]])
    }

    fn is_leak(&self, sentence: &Sentence) -> bool {
        let (text, dense) = (sentence.form(SentenceForm::Spaced), sentence.form(SentenceForm::Dense));
        english::reply().matches(text).any(|range| self.is_own_statement(sentence, SentenceForm::Spaced, &range))
            || english::reply_grammar_with_gap()
                .matches_where(text, english::stays_with_speaker)
                .any(|range| self.is_own_statement(sentence, SentenceForm::Spaced, &range))
            || relations::english()
                .matches(text)
                .any(|range| self.is_own_statement(sentence, SentenceForm::Spaced, &range))
            || word_class_patterns::reply(text)
                .iter()
                .any(|range| self.is_own_statement(sentence, SentenceForm::Spaced, range))
            || sentence.is_chinese
                && [chinese::reply(), relations::chinese()].iter().any(|rules| {
                    rules.matches(dense).any(|range| self.is_own_statement(sentence, SentenceForm::Dense, &range))
                })
    }

    /// Returns whether a rule match is the author's own statement and not only quoted, or names the author itself.
    fn is_own_statement(&self, sentence: &Sentence, form: SentenceForm, range: &Range<usize>) -> bool {
        let text = sentence.form(form);
        let last =
            sentence.names_in(form, range).last().map_or(range.end, |name| name.at[form as usize] + PLACEHOLDER_BYTES);
        let said = RuleMatch { before: &text[..range.start], text: &text[range.clone()], after: &text[last..] };
        let mut named = sentence.names_in(form, range);
        let is_of_makers = named.all(|name| name.hit.kind == NameKind::Maker);
        if said.is_hearsay() || is_of_makers && voice::is_of_employee(&sentence.text) {
            return false;
        }
        let first = said.text.find(|c: char| c.is_alphanumeric() || is_placeholder(c)).unwrap_or(0);
        let is_quoted = sentence.is_quoted(form, range.start + first) || sentence.quotes_phrase(form, range);
        let is_own = |name: &PlacedName| self.names.is_of(&name.hit, self.model);
        !self.repeats && !is_quoted || sentence.names_in(form, range).any(is_own)
    }
}

#[cfg(test)]
mod real_replies_tests;
#[cfg(test)]
pub(super) mod tests;
#[cfg(test)]
mod training;
