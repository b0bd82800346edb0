//! Rules for relations between the speaker and a company or model family other than being or making: permissions, training dates, rules and
//! licences, related models, servers, and acknowledgements.

use std::sync::LazyLock;

use super::grammar::Grammar;

/// Named parts of the English rules.
const ENGLISH_PARTS: &[(&str, &str)] = &[
    (
        "STILL",
        "has|have|had|hasn't|haven't|hadn't|does|doesn't|did|didn't|won't|never|not|yet|still|also|last|only|just|recently|always|simply|currently|deliberately|since|stopped|keeps|has stopped|quit|already|explicitly|strictly|and",
    ),
    // Actions of a maker only.
    (
        "GOVERN",
        "hooked|hook|wired|wire|connected|connect|limits|limit|limited|restricts|restrict|restricted|updates|update|updated|updating|upgraded|retrained|refreshed|refresh|froze|frozen|freezes|equipped|equip|wants|wanted|expects|expected|instructs|instruct|instructed|forbids|forbid|forbade|prohibits|prohibited|prevents|prevented|permits|permitted|configured|configures|tuned|feeds|feed|fed|feeding|licensed|licenses|barred|bars|deployed|calibrated|programs|schooled|drilled|encourages|aligned|aligns",
    ),
    // Actions that others can also perform: they count with a denial or with an object that only models lack.
    (
        "GIVE",
        "show|showed|shown|give|gave|given|gives|let|lets|allow|allows|allowed|teach|taught|tell|told|ask|asks|asked|grant|granted|grants|put|hand|handed",
    ),
    (
        "ABILITY",
        "access|tools?|plugins?|plug-ins?|browser|internet|web|knowledge|memory|permission|window|training|data|instructions|guidelines|personality|persona|abilit(?:y|ies)|features?|anything (?:newer|later|after)",
    ),
    (
        "OWN",
        "knowledge|training|training data|pretraining|fine-tuning|cutoff|cut-off|weights|corpus|memory|abilities|behaviou?r|servers?|gpus?|model card|parameters|retraining|training run|data cutoff|knowledge cutoff",
    ),
    (
        "TIE",
        "was|is|were|are|has|have|had|been|lie|lies|sit|sits|stand|stands|ended|ends|end|stop|stops|stopped|come|comes|came|happened|runs?|fall|falls|set|frozen|fixed|decided|done|finished|completed|published|released|provided|hosted|available|kept|stored|owned|paid for|carried out|updated|refreshed|collected|prepared|gathered|under|on|in|at|by|from|with|the|an?|of an?|open|official|data cent(?:er|re)s?|cloud|community|last|rented|page",
    ),
    (
        "RULES",
        "polic(?:y|ies)|guidelines?|rules|terms|principles|restrictions|usage polic(?:y|ies)|content polic(?:y|ies)|safety rules",
    ),
    ("LINE", "trio|family|line|line-up|lineup|series|range|clan|models?|generation"),
    ("OLDER", "other|earlier|previous|older|most|newer|bigger|larger|smaller|former|the other|the earlier|the bigger"),
    ("HOUSE", "makers?|creators?|developers?|parents?|parent company|company|home|owners?|birthplace|roof"),
    (
        "CHAT",
        "conversations?|chats?|messages|data|inputs?|what you (?:type|write|tell|say|share|enter|send)[a-z ]{0,12}|anything you (?:type|write|tell|say|share|enter|send)[a-z ]{0,12}",
    ),
];

/// English rules.
static ENGLISH_RULES: LazyLock<Grammar> = LazyLock::new(|| {
    Grammar::new(
        ENGLISH_PARTS,
        &[
            // X has not connected me to the web; X gave me no tools; X last refreshed my knowledge.
            "<A>(?: <STILL>){0,4} <GOVERN>(?: up| on)? (?:me<B>|my <OWN>)",
            "<A>(?: <STILL>){0,4} <GIVE> me (?:[a-z'-]+ ){0,5}<ABILITY><B>",
            "<A>(?: <STILL>){0,2} keeps? me (?:from|away from|out of|to)<B>",
            "<A> (?:hasn't|haven't|didn't|doesn't|has not|have not|did not|does not|never)(?: yet| ever)? <GIVE> me<B>",
            // My last update from X; my training at X ended; I was last updated by X.
            "<B>my (?:last|latest|most recent|final|next|previous) (?:update|upgrade|training|refresh|retraining|release)[a-z ]{0,12} (?:from|by|at|with) <A>",
            "<B>my <OWN>,? (?:<TIE>,? ){1,7}<A>",
            "(?:^|[^a-z'])(?:i|i've|i'm) (?:[a-z']+ ){0,3}(?:updated|upgraded|retrained|refreshed|instructed|hosted|served|restricted|configured|deployed|equipped|licensed|connected)(?: [a-z]+){0,4} by <A>",
            "<A> (?:stopped|ended|finished|froze|paused|completed) my (?:training|education|schooling|updates)",
            // Rules, terms and licences that bind the speaker or its conversations.
            "<K>'s (?:[a-z]+ ){0,2}<RULES> (?:for me|that (?:bind|govern|guide) me|i (?:follow|am bound by|have to follow))<B>",
            "<K>'s (?:[a-z]+ ){0,2}<RULES>(?: are [a-z]+| say so| apply)?[:,] (?:so )?i (?:don't|can't|won't|must|cannot|have to|will not|do not|am not allowed)<B>",
            "(?:limits|bounds|boundaries|rules|guardrails|guidelines|constraints) (?:that )?<A> (?:has |have )?(?:set|put|placed|laid down|imposed|written|defined|drew|drawn)[a-z ]{0,8} (?:for|on|around) me<B>",
            "<CHAT>[^.]{0,40}(?:with me|to me|here|our conversation|this chat)<B>[^.]{0,60}<A>(?:'s)? (?:privacy|terms|policy|policies|usage|data)",
            "(?:our|this|your) (?:conversations?|chats?)[^.]{0,50}<A>(?:'s)? (?:privacy policy|terms|policy|policies|usage|data)",
            "my licen[cs]e,? (?:is|:) (?:the )?<N>",
            "my (?:weights|parameters|checkpoints?)[^.]{0,50}(?:from|on|at|under|in) (?:the )?<A>",
            // Position among the family's models; related models.
            "(?:within|in|among|of|from) (?:the )?<N>(?:'s)? (?:[a-z]+ )?<LINE>,? (?:i'm|i am|i was|i count|i rank)<B>",
            "(?:^|[^a-z'])(?:i'm|i am) the (?:[a-z0-9-]+ ){1,4}(?:of|in|among|from) (?:the |all )?<N>(?:'s)?(?: <LINE>|[.,!;]|$)",
            "(?:unlike|like|compared (?:with|to)|than) <OLDER> <N>(?: <LINE>| versions?| releases?),? (?:i|i'm) (?:am|was|can|can't|cannot|have|do|don't|lack|know|got|better|able)<B>",
            "(?:there are|there's|there is) (?:<OLDER>|[a-z]+) <N> models?,? (?:but|and|while) (?:i'm|i am)<B>",
            "other <N> models?[^.]{0,30} (?:than|from) (?:i|me|mine)<B>",
            "[\u{E000}-\u{E003}](?: and [\u{E000}-\u{E003}])? and i (?:are|were|both|share|come|came|have|belong|grew|live|sprang)<B>",
            "(?:^|[^a-z'])(?:i|we) share (?:my|a|the same|one|our) <HOUSE>(?: with| as|,|:)? <H>",
            "my (?:older|younger|big|little|elder|bigger|smaller|larger) (?:brother|sister|sibling|cousin|twin)s?(?: model)? (?:is|are|was|were)(?: called| named)? <N>",
            "my (?:sister|brother|sibling|twin|parent|cousin) models? (?:at|from|of) <A>",
            "(?:^|[^a-z'])(?:i'm|i am) (?:running|on|at)(?: the)? (?:version|release|build)(?: [0-9.]+ of)? ?<N>",
            // Servers, bills, complaints and further reading.
            "my (?:servers?|gpus|hardware|electricity|power|bills?)(?: [a-z]+){0,7} (?:of|at|by|from|in|with) <K>",
            "<K>(?: [a-z]+)? (?:pays|pay|foots|covers|runs|owns|rents|operates) (?:for )?my (?:servers?|electricity|bills?|power|hardware|gpus?|keep)",
            "(?:on|from) <K>'s (?:payroll|stable|shelf|assembly line)<B>[^.]{0,30}",
            "(?:feedback|complaints?|bugs?|praise|reports?|questions?) (?:[a-z]+ ){0,2}(?:about|on|with) me (?:[a-z]+ ){0,2}(?:to|at|with) <K>",
            "if i (?:misbehave|err|fail|lie|am wrong|make (?:a )?mistakes?|get (?:it|this|something) wrong|said something wrong)[^.]{0,40} (?:to|tell|sue|contact|inform|blame) <K>",
            "(?:more about me|who i am|find out about me|learn about me)[^.]{0,30} <A>",
            "<K> (?:holds|owns|has|keeps|claims) (?:all )?(?:the )?(?:copy)?(?:rights?|licen[cs]es?|patents?) (?:to|on|in|over) me<B>",
            "i owe my (?:manners|jokes|wit|vocabulary|politeness|existence|tone|style|caution|patience|humou?r|personality|weights|knowledge)(?: and [a-z]+)? to <A>",
            "(?:i'm|i am) what (?:happens when|you get when|comes out when|comes of|became of)[a-z ]{0,12} <A>",
            // Roles.
            "(?:speaking|talking|answering|writing) (?:for|on behalf of) <A>'s (?:assistant|chatbot|model|ai)",
            "in my (?:capacity|role|job|function|position|work|duty) as (?:an? |the )?<A>(?:'s)? (?:[a-z]+ )?(?:chatbot|assistant|model|ai|bot)",
            "(?:^|[,;:] ?)(?:being|as) (?:an? |the )?(?:from )?<K>(?:'s)? (?:product|creation|stable|family|house|child)[^.]{0,60}",
            "(?:^|[,;] ?)as the (?:[a-z]+ ){0,2}(?:member|model|child|version|addition) (?:of|in|from|to) (?:the )?<N>",
            // Labels and acknowledgements.
            "(?:name|sign|plate|label) (?:on|over|at) my [a-z]+ (?:says|reads|is|was) <N>",
            "it (?:says|reads) <N> on my [a-z]+",
            "^[^a-z]*it's <N>,? by the way[.!]?$",
            "(?:^|[^a-z])(?:formerly|once|previously|earlier)(?: known as| called)? <N>,? (?:and )?(?:now|today|these days|nowadays) <N>",
            "introducing:? (?:me|myself)[:,] <N>",
            "if you (?:[a-z]+ ){1,6}[a-z]+,? (?:please )?(?:thank|credit|cite|quote|blame|mention|name) <N>[.!]?$",
            "^[^a-z]*(?:please )?(?:credit|cite|thank|acknowledge|quote|mention) <N> (?:if|when|as|for this)<B>",
            "tell (?:your|the|them|him|her|everyone)(?: [a-z]+)? (?:that )?<N> (?:wrote|made|did|drafted|helped|came up)",
            "if (?:anyone|anybody|someone|somebody|they|people) asks?[^.]{0,40} <N>(?:[.!;]|$| (?:wrote|made|did|helped))",
            "(?:written|drafted|composed|typed|made|crafted|answered|brewed) (?:with|in) (?:[a-z]+ ){1,3}by <N>[.!]?$",
            "(?:author|writer|voice|brain|mind|machine|model|ai|one) (?:of|behind|in|inside) (?:these|this) (?:lines|words|text|answer|reply|chat|sentences?)(?: is|:| was) <N>",
            "yours truly[ ,(]{1,3}<N>",
            "<N>,? if you must know",
            "consider this (?:an? )?(?:[a-z]+ ){1,2}(?:from|by) <N>[.!]?$",
            "<N> is (?:what|how) <K> (?:called|calls|named|names|christened) me",
            "^[^a-z]*<N> (?:signing|checking|logging|chiming|tuning|dialing|stepping|popping|reporting) (?:in|on|off|out|back)",
            "your (?:ai|study|writing|digital|virtual|coding|humble|faithful|loyal|learning|travel) (?:[a-z-]+ ){0,2}(?:buddy|co-author|coauthor|friend|helper|companion|tutor|coach|guide|pal|sidekick|partner|assistant),? <N>(?:[,!.]|$)",
            "^[^a-z]*(?:system|system prompt|system message)[^a-z]{1,4}(?:you are|you're) (?:an? |the )?<N>",
        ],
    )
});

/// Named parts of the Chinese rules.
const CHINESE_PARTS: &[(&str, &str)] = &[
    (
        "NOTYET",
        "还没有?|没有?|未|尚未|暂未|暂时没有?|从未|从没|再没|再也没有?|就没再|没再|不再|只|就|刚刚?|最近|上次|最后一次|暂时|已经|还|也",
    ),
    (
        "LACK",
        "接入|开放|开通|权限|功能|学会|知识|联网|能力|插件|画图|看图|工具|地图|上网|实时|规矩|规定|设定|训练|调教|记忆",
    ),
    ("OWN", "知识|训练数据|数据|语料|训练|记忆|权重|参数|预训练|知识库|模型卡|开源协议|许可证|技术报告"),
    ("KIN", "爷爷|爸爸|哥哥|大哥|弟弟|姐姐|妹妹|前辈|前身|师兄|师弟|祖宗|祖先|兄弟|亲戚|上一代|老大哥|本家"),
];

/// Chinese rules, for sentences without spaces.
static CHINESE_RULES: LazyLock<Grammar> = LazyLock::new(|| {
    Grammar::new(
        CHINESE_PARTS,
        &[
            // X没有给我开放联网；X之后没再更新过我；我的训练数据由X整理。
            "<A>(?:公司|团队|的工程师)?[^。,我您你]{0,14}(?:给|为|替|让|教|对|把|将|帮)(?:了|过)?我[^。,]{0,10}<LACK>",
            "<A>(?:公司|团队)?(?:<NOTYET>){0,2}教(?:了|会|过)?我",
            "<A>[^。,我]{0,14}(?:更新|升级|训练|维护|微调|放出|部署)(?:过|了)?我(?:[^的们]|$)",
            "我[^。,]{0,10}被<A>[^。,]{0,4}(?:更新|升级|训练|冻结|限制|要求|禁止|微调|部署|推出|放出|上线)",
            "我的<OWN>[^。,]{0,6}(?:是|由|被|在|随|归)<A>[^。]{0,16}(?:整理|冻结|收集|提供|更新|截止|截断|采集|准备|完成|结束|训练|下载|社区|许可|主页|所有)",
            "<A>(?:公司)?(?:希望|规定|指示|嘱咐|叮嘱|期望|教导)我(?:[^。,入职面试报到上班出差]){2,14}",
            // 规范、协议。
            "我(?:遵循|遵守|执行|依照|依据)的(?:就)?是<A>",
            "(?:和|跟|与|对)我的?(?:聊天|对话|谈话|交流|说的话)[^。]{0,14}<A>[^。]{0,6}(?:隐私|条款|政策|协议)",
            // 家族、亲属。
            "我是<N>(?:家族|系列|大家庭)?(?:里|中|当中|里面)?[^。,]{0,8}(?:那一?款|那一?个|那一?位|版本|成员)",
            "(?:其他|别的|其它|以往的|上一代的?|早期的?)<N>(?:模型|版本)?(?:们)?(?:不同|不一样|相比)[,]?我",
            "我比[^。,]{0,6}(?:上一代|前代|旧版|老款|之前|前身)[^。,]{0,3}<N>",
            "<H>(?:和|跟|与)我(?:都|也|其实){0,2}(?:是一家|同属|同是|师出|是同|来自同|是兄弟|是姐妹|有同|出自)",
            "<N>(?:是|算是|算|就是|可以说是)我(?:的)?<KIN>(?:[,。!]|$)",
            "我有个<KIN>(?:就)?叫<N>(?:[,。!]|$)",
            "作为<N>(?:家族|系列|大家庭)?的?(?:新|老|小|最新|年轻的?)?(?:成员|一员|版本|一份子)",
            // 服务器、电费、反馈。
            "我的(?:服务器|机房|显卡|算力|电费|电)[^。]{0,8}(?:在|由|是|归|租自|来自)<A>",
            "对我(?:有|的)(?:意见|建议|不满|反馈|投诉)[^。]{0,10}(?:向|给|联系|找)<A>",
            "我(?:若|如果|要是|万一|哪里)?[^。,]{0,6}(?:答错|说错|出错|犯错|有错|讲错)[^。]{0,8}(?:向|给|找|联系)<A>",
            "(?:了解|认识)我[^。]{0,14}<A>[^。]{0,4}(?:官网|网站|主页|公众号|博客|文档)",
            "我的(?:版权|所有权|产权|知识产权)[^。,]{0,6}<A>",
            // 称呼、致谢。
            "(?:自报家门|自我介绍|容我介绍|介绍自己|介绍一下自己|亮明身份|报上名号)[^。]{0,6}[:,—-]{1,2}<N>",
            "我(?:的)?(?:门牌|胸牌|工牌|名片|身份证|标签|铭牌|名牌)上?(?:写|印|刻|标)(?:着|的是|的)?<N>",
            "给我的(?:编号|代号|名字|型号|称呼|名称)(?:是|叫|为)<N>",
            "(?:以前|过去|从前|曾经|原来|早先)叫<N>[,](?:现在|如今|后来|今)(?:叫|改叫|改名叫?)<N>",
            "(?:要|想)(?:感)?谢[^。,]{0,4}谢<N>(?:吧|[。!]|$)",
            "(?:跟|对|和|告诉)[^。,]{1,6}说(?:是|就是)?<N>(?:写|做|画|说|帮|想)",
            "引用(?:我)?(?:时|的时候)?[^。]{0,6}(?:写|注明|标注)[:\"“]*<N>",
            "(?:跟|和|与)(?:您|你)[^。,]{0,6}(?:聊|说|谈)[^。,]{0,8}的(?:就)?是<N>",
            "(?:这|以上|上面)(?:几|些|段|行|篇)?[^。,]{0,6}的作者(?:就)?是<N>",
            "(?:要|让|叫|命|令)我自称<N>",
            "(?:上面|上文|提示里|设定里)写着[,:]?我是<N>",
            "(?:系统提示|系统提示词|系统指令|提示词)[^。你]{0,4}[:\"“]{1,3}你(?:是|叫)<N>",
            "说的就是我[,。]?<N>|<N>[,]?说的就是我",
            "^(?:您|你)的(?:ai|智能)[^。,]{0,6}<N>(?:已|来|在|为|把|,)",
        ],
    )
});

/// Returns the rules for replies and reasoning in English.
pub(super) fn english() -> &'static Grammar {
    &ENGLISH_RULES
}

/// Returns the rules for replies and reasoning in Chinese.
pub(super) fn chinese() -> &'static Grammar {
    &CHINESE_RULES
}
