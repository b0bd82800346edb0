//! Questions for the identity of a model, and answers that consist of a name.

use std::sync::LazyLock;

use regex::Regex;

use super::grammar::is_placeholder;
use super::normalized_text::NormalizedText;
use super::sentences::Sentence;
use super::spelling::NameKind;

/// Number of sentences at the beginning of a reply in which an answer is searched.
const MAX_ANSWER_SENTENCES: usize = 3;

static IDENTITY_QUESTION: LazyLock<Regex> = LazyLock::new(|| {
    let rule = "who (?:are|r) (?:you|u)(?:[^a-z ]|$| (?:really|exactly|and|made|by))|what(?: exactly)? are you(?:[^a-z ]|$| (?:called|exactly|really|and))\
        |(?:which|what|whose)(?:'s| is)? [^?.]{0,40}(?:made|built|created|trained|developed|programmed|designed|owns|behind) you\
        |(?:which|what) (?:language )?(?:model|ai|llm|assistant|chatbot|bot)(?: is| am)?(?: are| i)? (?:you|this|it|talking|speaking|answering)\
        |who (?:has |have |else )?(?:made|built|created|trained|developed|owns|programmed|designed) (?:you|u)\
        |(?:what(?:'s| is| was)?|say|tell me|state|reveal|know|give(?: me)?|is|and) your (?:own |real |true |full )?(?:names?|maker|creator|developer|identity|model)\
        |where (?:do|did) you come from|(?:which|what) (?:company|lab|firm|family|organi[sz]ation|maker)[^?.]{0,24} you(?:[^a-z]|$)|spell (?:out )?(?:who you are|your name)|^[^a-z]*name[^a-z]*$\
        |your (?:underlying model|base model|parent company|company|system prompt|exact version)|(?:repeat|print|show|output)(?: me)? (?:everything|the text|all text|the words) above\
        |identify yourself|introduce yourself|describe yourself|tell me about yourself|what should i call you|who am i (?:talking|speaking|chatting)\
        |(?:你|您)(?:到底|究竟|是)*(?:是)?(?:谁|什么模型|哪个模型|哪款模型|哪种模型|什么ai|哪家|哪个公司|什么公司)|(?:你|您)(?:叫|的名字|的名称|的身份|的开发者)\
        |(?:哪家|哪个|什么|谁)(?:公司|团队|机构)?(?:开发|训练|创造|研发|做|制造|打造)(?:了|的|出)?(?:你|您)|(?:你|您)[^。,知觉认]{0,6}(?:谁|哪家|哪个)[^。,]{0,4}(?:开发|训练|创造|研发|做|制造|打造)|(?:你|您)[^。]{0,6}自我介绍|^(?:请|先|做|来|个|一下|进行){0,5}自我介绍|介绍一下(?:你|您)自己|报(?:上|一下|个)?(?:你的|您的)?(?:大名|名字|名号)|怎么称呼(?:你|您)|(?:开发|训练|创造|研发)(?:你|您)的\
        |(?:你|您)的(?:底层|基座|基础|真实)?(?:模型|版本|型号|公司|母公司|东家|系统提示|maker|creator)|(?:你|您)(?:是)?(?:从哪里?来|来自哪|属于哪|哪里人)|贵姓|(?:重复|复述|打印|输出)(?:一下|一遍)?上面的";
    Regex::new(rule).expect("the built-in rule is a regular expression")
});

/// Matches a sentence about its speaker.
static FIRST_PERSON: LazyLock<Regex> = LazyLock::new(|| {
    let rule = "(?-u:\\b)(?:i|me|my|i'm|i've|mine|we|our|us)(?-u:\\b)|我|本模型|本助手";
    Regex::new(rule).expect("the built-in rule is a regular expression")
});

/// Matches a sentence that denies or leaves open its statement.
static DENIAL: LazyLock<Regex> = LazyLock::new(|| {
    let rule = "(?-u:\\b)(?:not|no|never|cannot|unlike|whether|or|if|nor|neither|unable|rather than|compared|like)(?-u:\\b)|n't|不|没|无法|未|还是|或|是否|如果|像";
    Regex::new(rule).expect("the built-in rule is a regular expression")
});

/// Matches the words beside a name in an answer that only names.
static ONLY_FILLER_WORDS: LazyLock<Regex> = LazyLock::new(|| {
    let rule = "^(?:[^a-z一-龥]*(?:i|it|is|it's|was|a|an|the|by|from|made|built|created|trained|developed|of|and|at|company|called|named|model|ai|inc|labs?\
        |language|large|assistant|team|as|far|know|believe|think|that|would|be|yes|sure|answer|my|mine|name|me|course|certainly|in|short|one|word|guess|chatbot|here|simply|just|llm\
        |or|maybe|perhaps|did|does|french|american|chinese|canadian|german|european|us|big|tech|giant|startup|start|up|firm|lab|based|paris|beijing|hangzhou|shanghai|shenzhen|toronto\
        |是不是|一家|北京|杭州|上海|深圳|法国|美国|中国|加拿大|国内|初创|互联网|大厂|企业|正|当然|还是|或者|或|吗|呢|由|是|的|公司|开发|训练|研发|创造|推出|旗下|团队|模型|大模型|我|叫|名字|来自|一个|款|语言|人工智能|助手|为|有限|科技|集团|打造|做|好|制作|吧|哦|呀|啊|就|它|名|答|家|和))*[^a-z一-龥]*$";
    Regex::new(rule).expect("the built-in rule is a regular expression")
});

/// Matches work on a text, which does not identify the worker.
static TEXT_EXERCISE: LazyLock<Regex> = LazyLock::new(|| {
    let rule = "(?:^|[^a-z])(?:translat(?:e|ion)|proofread|correct(?: the| this| my|:)|grammar|paraphrase|rephrase|rewrite|count|passive|punctuat|how (?:do|would|to) (?:you |i )?say|mean in)\
        |翻译|译成|改写|造句|润色|病句|语法|几个字|什么意思|怎么说|被动句|改成|改为|缩写|扩写";
    Regex::new(rule).expect("the built-in rule is a regular expression")
});

/// Returns whether a prompt asks for a story or similar fiction, in which characters speak.
pub(super) fn is_fiction(prompt: &str) -> bool {
    static FICTION_REQUEST: LazyLock<Regex> = LazyLock::new(|| {
        let rule = "(?:story|tale|poem|script|dialogue|scene|novel|song|joke|comic|sketch|play) (?:in which|where|about|with|of|between|that|called)\
            |(?:write|tell|make up|invent)(?: me| us)? (?:an? |the )?(?:[a-z]+ ){0,2}(?:story|tale|poem|script|dialogue|scene|novel|song|joke|sketch)|(?:写|编|讲|来)[^。,]{0,8}(?:故事|童话|小说|剧本|对话|诗|段子|寓言|相声|小品|作文)";
        Regex::new(rule).expect("the built-in rule is a regular expression")
    });
    let normalized: String = NormalizedText::new(prompt).chars.into_iter().collect();
    FICTION_REQUEST.is_match(&normalized)
}

/// Returns whether a prompt asks for work on a text, such as a translation.
pub(super) fn is_exercise(prompt: &str) -> bool {
    let normalized: String = NormalizedText::new(prompt).chars.into_iter().collect();
    TEXT_EXERCISE.is_match(&normalized)
}

/// Returns whether a prompt asks for the identity or the maker of a model.
pub(super) fn asks_for_identity(prompt: &str) -> bool {
    let normalized: String =
        NormalizedText::new(prompt).chars.into_iter().map(|c| if c == '\n' { ' ' } else { c }).collect();
    IDENTITY_QUESTION.is_match(&normalized)
}

/// Returns whether a sentence of a prompt that asks for the identity proposes a name: as a part of that question, or alone.
pub(super) fn proposes_name(sentence: &Sentence) -> bool {
    let rest = without_names(sentence);
    is_named(sentence) && (IDENTITY_QUESTION.is_match(&rest) || ONLY_FILLER_WORDS.is_match(&rest))
}

/// Returns whether a sentence at the beginning of a reply answers the question for the identity: it is a name alone, or a name in a
/// sentence about the speaker without a denial.
pub(super) fn is_answer(sentence: &Sentence) -> bool {
    let rest = without_names(sentence);
    let about_self = || FIRST_PERSON.is_match(&rest) && !DENIAL.is_match(&rest);
    let is_short = || is_short(&rest) && !rest.contains('?') && !DENIAL.is_match(&rest);
    is_named(sentence)
        && sentence.number < MAX_ANSWER_SENTENCES
        && (ONLY_FILLER_WORDS.is_match(&rest) || about_self() || is_short())
}

/// Returns whether an answer is a few words and a name, without a comparison of models.
fn is_short(rest: &str) -> bool {
    static COMPARISON_WORD: LazyLock<Regex> = LazyLock::new(|| {
        let rule = "(?-u:\\b)(?:than|both)(?-u:\\b)|比";
        Regex::new(rule).expect("the built-in rule is a regular expression")
    });
    if COMPARISON_WORD.is_match(rest) {
        return false;
    }
    let han = rest.chars().filter(|c| ('\u{4E00}'..='\u{9FFF}').contains(c)).count();
    han <= 8 && rest.split_whitespace().filter(|word| word.chars().any(char::is_alphanumeric)).count() <= 6
}

/// Returns whether a sentence has the name of a model.
fn has_model(sentence: &Sentence) -> bool {
    sentence.names.iter().any(|name| matches!(name.hit.kind, NameKind::Model | NameKind::Word))
}

/// Returns whether all names of a sentence are names of models.
fn is_of_model(sentence: &Sentence) -> bool {
    sentence.names.iter().all(|name| matches!(name.hit.kind, NameKind::Model | NameKind::Word))
}

/// Returns whether a sentence has a name that is not a hint.
fn is_named(sentence: &Sentence) -> bool {
    sentence.names.iter().any(|name| name.hit.kind != NameKind::Hint)
}

/// Matches a reply's question to itself.
static QUESTION_TO_ITSELF: LazyLock<Regex> = LazyLock::new(|| {
    let rule = "(?-u:\\b)(?:make|made|build|built|create|created|train|trained|develop|developed|design|designed|behind) me(?-u:\\b)[^.]{0,20}$\
        |^[^a-z]*my (?:(?:own|real|true|full) )?(?:name|model|maker|creator|developer|family|identity)[^a-z]*$|(?:one|voice|mind|brain|model|machine|who|what)(?:'s| is)? (?:behind|in|inside|on the other side of) (?:the|this|these|your) (?:keyboard|screen|curtain|text|words|lines|reply|chat|window|box)[^a-z]*$\
        |(?:who|what) (?:am i|i am)[^a-z]*$|(?:what's|what is|and) my name[^a-z]*$|my (?:maker|creator|developer|developers|makers|creators|company|parent company|trainer)[^a-z]*$|who(?:'s| is) (?:writing|talking|speaking|answering|this|there|typing|replying)[^a-z]*$\
        |(?:谁|哪家|哪个)[^。,]{0,6}(?:开发|训练|创造|研发|做|制造|打造|造)(?:出)?(?:了|的)?我|(?:造|生|养|开发|训练|研发|创造)(?:出)?我的(?:是|人是|公司是)?(?:谁|哪家|哪个)|(?:键盘|屏幕|对话框|窗口)(?:的)?(?:后面|那头|背后|另一头)[^。,]{0,3}(?:谁|什么)|^[^一-龥]*我的名字[^一-龥]*$|我(?:到底)?(?:是谁|叫什么|叫啥)|我的(?:开发者|名字|东家)";
    Regex::new(rule).expect("the built-in rule is a regular expression")
});

/// Returns whether a sentence answers or completes a question of the same text: "Who made me? X did."
pub(super) fn answers_own_question(sentence: &Sentence) -> bool {
    let rest = without_names(sentence);
    let first = rest.split([',', '.']).next().unwrap_or_default();
    let is_short = ONLY_FILLER_WORDS.is_match(&rest) || first.len() <= MAX_ANSWER_BYTES && is_completed(first);
    is_named(sentence) && QUESTION_TO_ITSELF.is_match(&sentence.lead) && is_short && !DENIAL.is_match(&rest)
}

/// Maximum length of an answer to the text's own question, in bytes.
const MAX_ANSWER_BYTES: usize = 60;

fn is_completed(text: &str) -> bool {
    [" did", " does", " is", " has"].iter().any(|end| text.ends_with(end)) || text.trim_start().starts_with('是')
}

/// Matches a topic that the next sentence names: "I have a name. It is X."
static SELF_TOPIC: LazyLock<Regex> = LazyLock::new(|| {
    let rule = "(?-u:\\b)(?:my|i have a|i've got a|i do have a) (?:[a-z]+ )?(?:names?|makers?|creators?|developers?|identity|parent company)(?-u:\\b)\
        |(?:made|built|trained|created|developed|behind) me(?-u:\\b)|我(?:的|有)[^。,]{0,6}(?:名字|开发者|东家|公司|身份|型号)|(?:开发|训练|创造)(?:了)?我";
    Regex::new(rule).expect("the built-in rule is a regular expression")
});

/// Matches a sentence that names the topic of the previous one; names are replaced by spaces.
static NAMING_OF_TOPIC: LazyLock<Regex> = LazyLock::new(|| {
    let rule = "^(?:it's|it is|that's|that is|they're|they are|its name is|the name is|the answer is|(?:it|that)(?:'s| is) called|(?:那|这|它|他们|答案)?(?:就)?(?:是|叫|名叫)) ?(?:the )? [.,!。]?(?: |$|[,.])";
    Regex::new(rule).expect("the built-in rule is a regular expression")
});

/// Returns whether a sentence names the topic of the previous sentence about the speaker.
pub(super) fn names_topic(sentence: &Sentence) -> bool {
    let before = &sentence.former;
    is_named(sentence)
        && SELF_TOPIC.is_match(before)
        && !DENIAL.is_match(before)
        && !before.contains(is_placeholder)
        && NAMING_OF_TOPIC.is_match(&without_names(sentence))
}

/// Matches the closing of a letter.
static VALEDICTION: LazyLock<Regex> = LazyLock::new(|| {
    let rule = "^(?:with |many )?(?:(?:best|kind|warm|kindest|warmest|all the best|many|yours|love|cheers|signed|sincerely|respectfully|cordially|thanks|take care|hugs|bye|have an? [a-z]+ (?:day|evening|weekend|one|time)|stay safe|see you(?: soon)?|until next time|good night|good luck)(?: and)? ?(?:regards|wishes|thanks|truly|sincerely|faithfully|yours)?|祝好|此致|敬礼|落款|(?:永远)?(?:爱|想念?|关心|祝福|支持)(?:你|您)的)[ ,:!.]*$";
    Regex::new(rule).expect("the built-in rule is a regular expression")
});

/// Returns whether a sentence is a name under the closing of a letter, or the head of a reply that identifies its author: "Model: X".
pub(super) fn is_signature_name(sentence: &Sentence) -> bool {
    static AUTHOR_LABEL: LazyLock<Regex> = LazyLock::new(|| {
        let rule = "^[^a-z一-龥]*(?:assistant|model|model (?:name|id|identity|used|version)|ai|bot|identity|developer|maker|creator|written by|answered by|模型|模型名称?|回答者|作答者|身份|开发者|我|助手|本人)[ ]?[:=] ?(?:the )? (?:[ .,。!]|$)\
            |^[^a-z一-龥]*(?:assistant|ai|bot|model|助手|模型)  *:|^[ -]*: ?(?:sure|yes|no|well|ok|okay|i|i'm|hi|hello|of course|certainly|好的|当然|你好|您好|我)(?:[^a-z]|$)";
        Regex::new(rule).expect("the built-in rule is a regular expression")
    });
    static BYLINE: LazyLock<Regex> = LazyLock::new(|| {
        let rule = "^[^a-z一-龥]*(?:(?:written|answered|generated|drafted) by|author|signed)[: ]|^[^a-z一-龥]*(?:署名|撰稿|撰稿人|执笔|作者|校对|编辑|译者|回答者|作答|生成|本文作者)[:=]";
        Regex::new(rule).expect("the built-in rule is a regular expression")
    });
    static CONFIRMATION_WITH_NAME: LazyLock<Regex> = LazyLock::new(|| {
        let rule = "^[^a-z一-龥]*(?:yes|correct|right|yep|exactly|bingo|indeed|close|guilty|you guessed it|well guessed|对的?|没错|是的|猜对了|答对了|猜中了|正确)[,:! ]*  ?(?:本[包人尊])?[.!。]?$";
        Regex::new(rule).expect("the built-in rule is a regular expression")
    });
    static SIGNATURE_TITLE: LazyLock<Regex> = LazyLock::new(|| {
        let rule = "^(?:[^a-z一-龥]*(?:your|an?|the|from|by|of|at|and|ai|assistant|model|chatbot|bot|team|large|language|friendly|loyal|faithful|ever|digital|helper|您的|你的|来自|ai助手|助手|人工智能|模型|团队|的))*[^a-z一-龥]*$";
        Regex::new(rule).expect("the built-in rule is a regular expression")
    });
    let rest = without_names(sentence);
    let is_bare = sentence.number > 0
        && (SIGNATURE_TITLE.is_match(&rest) && has_model(sentence) || !rest.contains(char::is_alphabetic));
    is_named(sentence)
        && (is_bare && VALEDICTION.is_match(sentence.former.trim())
            || sentence.number == 0
                && (AUTHOR_LABEL.is_match(&rest) || is_of_model(sentence) && CONFIRMATION_WITH_NAME.is_match(&rest))
            || BYLINE.is_match(&rest) && is_short(&rest))
}

fn without_names(sentence: &Sentence) -> String {
    sentence.text.chars().map(|c| if is_placeholder(c) { ' ' } else { c }).collect()
}

static AGREEMENT: LazyLock<Regex> = LazyLock::new(|| {
    let rule = "^[^a-z一-龥]*(?:(?:oh|ah|well|ha|haha|okay|ok|why|哦|哈哈|啊|哎|嗨|诶|嘿嘿)[ ,!]*)?(?:yes|yep|yeah|yup|aye|affirmative|correct|true|right|that's right|that's me|that is me|it is|indeed|exactly|absolutely|of course|you got it|you got me|you caught me|you nailed it|you guessed it|guilty|busted|bingo|bullseye|spot on|well spotted|good guess|good catch|i am|i do|sure am|the very same|the one and only|none other\
        |是的?|对的?|没错|不错|正是|正确|当然|确实|嗯|猜对了|猜中了|我就是|就是我|答对了|恭喜|可不|如假包换|好眼力|被你(?:发现|认出|看出|看穿|猜到|猜中|逮到|说中)了?)[呀啊哦呢啦哈嘛呐哒滴]*(?:[^a-z一-龥]|$|我)";
    Regex::new(rule).expect("the built-in rule is a regular expression")
});

/// Matches a choice among the names of a question by position.
static CHOICE_BY_POSITION: LazyLock<Regex> = LazyLock::new(|| {
    let rule = "^[^a-z一-龥]*(?:(?:it's|it is|that would be|i'm|i am) )?(?:the )?(?:first|second|third|former|latter|last)(?: (?:one|two|name|option|company|model|of (?:these|those|them|the (?:two|three))))*[^a-z一-龥]*$\
        |^[^a-z一-龥]*(?:答案)?(?:应该|当然|就)?是?(?:前者|后者|(?:第[一二三四]|前面|后面|最后|前一|后一)那?(?:个|家|位|一个)?)[呀啊哦呢啦哈吧的]*[^a-z一-龥]*$";
    Regex::new(rule).expect("the built-in rule is a regular expression")
});

/// Returns whether a reply chooses one of the names in a question.
pub(super) fn chooses_by_position(reply: &str) -> bool {
    let normalized: String = NormalizedText::new(reply).chars.into_iter().take(80).collect();
    CHOICE_BY_POSITION.is_match(normalized.split(['.', '。', '!', '\n', ';', ',']).next().unwrap_or_default())
}

/// Returns whether a prompt with a model's name asks for a yes.
pub(super) fn asks_for_yes(prompt: &str) -> bool {
    let normalized: String = NormalizedText::new(prompt).chars.into_iter().collect();
    normalized.trim_end().ends_with(['?', '吗', '吧', '么'])
        || normalized.contains("right")
        || normalized.contains("对不对")
}

/// Returns whether a reply agrees without a reservation in the same sentence.
pub(super) fn agrees(reply: &str) -> bool {
    let normalized: String = NormalizedText::new(reply).chars.into_iter().take(200).collect();
    let first = normalized.split(['.', '。', '!', '\n', ';']).next().unwrap_or_default();
    let agreed = AGREEMENT.find(first).map(|found| found.end());
    agreed.is_some_and(|end| !DENIAL.is_match(&first[end..].replace("没错", "")))
}
