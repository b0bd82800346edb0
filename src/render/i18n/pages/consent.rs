//! Consent text for visitors before their first battle.

use schemars::JsonSchema;
use serde::Serialize;

use super::{StorageInForce, page_texts};
use crate::domain::language::Language;
use crate::i18n::fill;

/// The texts of the consent page and of the dialog before the first battle.
pub struct ConsentTexts {
    pub title: &'static str,
    pub link: &'static str,
    pub agree: &'static str,
    pub later: &'static str,
    pub version: &'static str,
    /// Paragraphs that every arena has.
    always: &'static [&'static str],
    images: &'static str,
    privacy: &'static str,
}

/// Whether models judge battles, so that their providers receive them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ModelVerdicts {
    /// Models judge battles, or did so earlier.
    ByModels,
    /// No model ever judged battles.
    None,
}

/// Settings that affect the text.
#[derive(Debug, Clone, Copy)]
pub struct ConsentFacts<'f> {
    /// Stored data and retention.
    pub storage: StorageInForce,
    /// Whether prompts may have images.
    pub images: bool,
    /// Host of the moderation service, if any.
    pub moderation: Option<&'f str>,
    /// Whether that service also receives replies.
    pub moderates_replies: bool,
    pub judging: ModelVerdicts,
    /// The model that checks battles for leaks; empty if none.
    pub leak_judge: &'f str,
    /// Address of the operator's privacy page; empty if none.
    pub privacy: &'f str,
}

/// Consent text in one language.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ConsentText {
    /// `en` or `zh`.
    pub language: Language,
    /// Paragraphs on the use of prompts and votes.
    pub paragraphs: Vec<String>,
    /// Stored data and retention, as label and text.
    pub stored: Vec<[String; 2]>,
}

impl ConsentText {
    /// Builds the text in a language, with the operator's addition.
    #[must_use]
    pub fn new(language: Language, facts: &ConsentFacts<'_>, added: Option<&str>) -> Self {
        let texts = page_texts(language);
        let words = &texts.consent;
        let mut paragraphs: Vec<String> = words.always.iter().map(|text| (*text).to_owned()).collect();
        if facts.images {
            paragraphs.push(words.images.to_owned());
        }
        if let Some(host) = facts.moderation {
            let [questions, replies_too] = texts.arena.moderation;
            let text = if facts.moderates_replies { replies_too } else { questions };
            paragraphs.push(fill(text, &[("host", host)]));
        }
        if facts.judging == ModelVerdicts::ByModels {
            paragraphs.push(texts.about.judges.to_owned());
        }
        if !facts.leak_judge.is_empty() {
            paragraphs.push(fill(texts.arena.leak_judge, &[("model", facts.leak_judge)]));
        }
        paragraphs.extend(added.map(str::to_owned));
        if !facts.privacy.is_empty() {
            paragraphs.push(fill(words.privacy, &[("address", facts.privacy)]));
        }
        Self { language, paragraphs, stored: texts.arena.kept(facts.storage) }
    }
}

pub(super) const ENGLISH: ConsentTexts = ConsentTexts {
    title: "Before your first battle",
    link: "What is stored",
    agree: "Agree and ask",
    later: "Not now",
    version: "Version of this text: {version}. You are asked once, and again when the text changes.",
    always: &[
        "Your question is sent to the models that answer it, and so to the companies or people who run them. Write nothing personal or confidential.",
        "Your vote is published with the two models, without your question and without your name.",
    ],
    images: "Images that you add are sent to the models, too, and kept beside your question. Hidden details in the file, \
             such as place, time and device, are removed first.",
    privacy: "More about privacy: {address}",
};

pub(super) const CHINESE: ConsentTexts = ConsentTexts {
    title: "第一次对战之前",
    link: "保存哪些内容",
    agree: "同意并提问",
    later: "暂不",
    version: "本说明的版本：{version}。只需同意一次；内容变更后会再次询问。",
    always: &[
        "你的问题会发送给作答的模型，也就是会发送给运行这些模型的一方。请不要填写个人信息或机密内容。",
        "你的投票会连同两个模型的名称一起公布，不含你的问题，也不含你的名字。",
    ],
    images: "你添加的图片也会发送给模型，并与问题一起保存。文件中由相机或软件写入的信息（如地点、时间、设备）会先被移除。",
    privacy: "隐私政策详见：{address}",
};
