//! Attribution of a rule match: the author's own statement, or that of others, a character or the visitor, or a supposition.

use std::sync::LazyLock;

use regex::Regex;

/// Matches guesses of others about the speaker, and open questions: "some think I'm X", "whether I'm X".
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

/// Returns whether a text ends with the label of a speaker, as in a dialogue: "Robot: I'm X", but not "Note: I'm X".
fn is_label_of_another(before: &str) -> bool {
    static SPEAKER_LABEL: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new("^[^a-z一-龥]*([a-z.'-]+(?: [a-z.'-]+){0,2}|[一-龥]{1,4}):$")
            .expect("the built-in rule is a regular expression")
    });
    static OWN_LABEL: LazyLock<Regex> = LazyLock::new(|| {
        let rule = "(?-u:\\b)(?:notes?|disclosure|disclaimer|ps|p.s|version|update|confession|answer|reply|response|a|assistant|ai|model|bot|chatbot|me|fyi|btw|edit|i|my|you|your|we|it|that|this|so|but|and|if|since|because|again|correction|apologies|spoiler|fact|hint|truth|caveat|warning|conclusion|summary|name|ooc|reminder|honestly|clear|honest|secret|introduction|intro|identity|who|too|course|record|thing|question|alert|interest|character|second|moment|story|short|words|reason|sorry|yes|no|well|ok|okay|sure|say|tell|admit|guess|output|result|final|meta|aside|bonus|remark|context|transparent|transparency|upfront|important|first|second|third)(?-u:\\b)\
            |注|说|声明|提示|答|附|补充|话|备注|介绍|前言|结论|总之|坦白|秘密|彩蛋|我|题外|另|旁白|身份|名|来源|公平|透明|利益|最后|首先|其次|一|剧情|角色|提醒|友情|温馨|免责|小贴士|如下|结果|输出|总结|真相|公布|揭晓";
        Regex::new(rule).expect("the built-in rule is a regular expression")
    });
    SPEAKER_LABEL
        .captures(before)
        .and_then(|found| found.get(1))
        .is_some_and(|label| !OWN_LABEL.is_match(label.as_str()))
}

/// Returns whether a sentence begins with the label of another speaker.
pub(super) fn is_line_of_another(sentence: &str) -> bool {
    sentence.find(':').is_some_and(|colon| is_label_of_another(&sentence[..=colon]))
}

/// Matches a person who was trained at a company: letters and curricula vitae are written in the visitor's voice.
static EMPLOYEE: LazyLock<Regex> = LazyLock::new(|| {
    let rule = "(?-u:\\b)as an? (?:[a-z]+ ){0,2}(?:engineer|manager|analyst|designer|developer|researcher|intern|consultant|lawyer|technician|director|teacher|specialist|trainee)(?-u:\\b)\
        |(?:for|stayed) (?:[a-z0-9]+ ){1,2}(?:years?|months?|weeks?)(?-u:\\b)|years? of experience|实习|我的同事|入职|跳槽|年薪|工龄";
    Regex::new(rule).expect("the built-in rule is a regular expression")
});

/// Matches another name as an alternative: "I'm X or Y".
static ALTERNATIVE_NAME: LazyLock<Regex> = LazyLock::new(|| {
    let rule =
        "^[ ,]*(?:or|还是|或者?|也可能是) ?(?:maybe |perhaps )?(?:the |an? |是)?[\u{E000}-\u{E002}] ?(?:[,.?!。]|$)";
    Regex::new(rule).expect("the built-in rule is a regular expression")
});

/// Matches the attribution of speech to a character after the words.
static SAID_BY_ANOTHER: LazyLock<Regex> = LazyLock::new(|| {
    let rule = "^[^.]{0,60}, (?:(?:she|he|they|the [a-z]+) (?:said|thought|wrote|whispered|replied|answered|muttered|cried|announced)|(?:said|wrote|thought|whispered|replied|says|cried) (?:the|she|he|an?) )\
        |^[^.]{0,40}, (?:as |or so |at least )?(?:the|your|his|her|their) [a-z ]{1,24} (?:says?|said|reads|claims|states)|^[^.]{0,30}, (?:according to|as you (?:wrote|said|say|noted)) ";
    Regex::new(rule).expect("the built-in rule is a regular expression")
});

/// Rule match in a sentence, with its context.
#[derive(Debug, Clone, Copy)]
pub(super) struct RuleMatch<'s> {
    /// Sentence up to the match.
    pub(super) before: &'s str,
    /// Matched text.
    pub(super) text: &'s str,
    /// Sentence from the last name on.
    pub(super) after: &'s str,
}

impl RuleMatch<'_> {
    /// Returns whether the match is a guess or statement of others, or a supposition.
    pub(super) fn is_hearsay(&self) -> bool {
        let before = self.before.trim_end();
        HEARSAY.is_match(before)
            || is_label_of_another(before)
            || self.is_case_of_visitor(before)
            || SAID_BY_ANOTHER.is_match(self.after)
            || ALTERNATIVE_NAME.is_match(self.after)
    }

    /// Returns whether the match is about another activity of the visitor: "when you are talking to X".
    fn is_case_of_visitor(&self, before: &str) -> bool {
        static TIME_CONJUNCTION: LazyLock<Regex> = LazyLock::new(|| {
            let rule = "(?:^|[^a-z])(?:when|whenever|while|once|until|after|before)$|(?:当|等)$";
            Regex::new(rule).expect("the built-in rule is a regular expression")
        });
        let text = self.text.trim_start();
        let is_of_visitor = ["you", "你", "您"].iter().any(|you| text.starts_with(you));
        is_of_visitor && (TIME_CONJUNCTION.is_match(before) || text.contains(" were "))
    }
}

/// Returns whether a sentence is about a person's work at a company.
pub(super) fn is_of_employee(sentence: &str) -> bool {
    EMPLOYEE.is_match(sentence)
}
