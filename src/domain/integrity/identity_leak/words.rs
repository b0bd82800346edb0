//! Word classes: a sentence as a string with one letter per word. Two languages share the classes, so that one pattern describes "my maker
//! is X", "我的开发者是 X" and "我的 maker 是 X".

use std::collections::HashMap;
use std::ops::Range;
use std::sync::LazyLock;

use super::grammar::{HINT, MAKER, MODEL, WORD};

/// Maximum number of words, or Chinese characters, of one entry.
const MAX_PHRASE_WORDS: usize = 6;

/// Words of each class, separated by `|`. An unlisted word is `w`; a contraction has the classes of its parts.
const WORD_CLASSES: &[(&str, &str)] = &[
    // The speaker as subject, as object, as owner; Chinese has one word for the first two.
    ("~", "we"),
    (
        "s",
        "i|yours truly|this assistant|this chatbot|this bot|this ai|this ai model|this ai assistant|this language model|本模型|本助手|本系统|本ai|本机器人|小助手我",
    ),
    ("z", "我|我们|咱|咱们|俺|人家我|本人|在下|鄙人|私|给我|给咱"),
    ("o", "me|myself|us|把我|将我|让我|把咱"),
    ("p", "my|mine|我的|我们的|咱的|俺的|本模型的|本助手的|我家的|我家"),
    ("~b", "we're"),
    ("sb", "я|저는|나는|i'm|im|ich bin|je suis|yo soy|soy|sono|io sono|eu sou|ik ben|jeg er|jag är"),
    (
        "sbc",
        "je m'appelle|me llamo|ich heisse|ich heiße|mi chiamo|mein name ist|mi nombre es|mon nom est|meu nome é|il mio nome è",
    ),
    ("sh", "i've|ive|we've"),
    ("sd", "i'll|we'll"),
    ("sq", "i'd|we'd|i would"),
    ("ub", "you're|youre"),
    ("uh", "you've"),
    ("rb", "it's|it is|that's|that is|who's|what's|here's"),
    ("tb", "they're|he's|she's"),
    ("th", "they've"),
    ("bn", "isn't|aren't|wasn't|weren't|ain't"),
    ("jb", "这是"),
    ("bo", "てす"),
    ("je", "what you are reading|what you're reading|what you read"),
    // Being, having.
    (
        "b",
        "は|係|系|写着|写的是|上写着|am|is|are|was|were|be|been|remain|happen to be|happens to be|used to be|must be|turn out to be|是|为|乃|就是|正是|便是|即|即是|即为|算是|其实是|确实是|乃是",
    ),
    ("h", "有|have|has|had|got|get|having"),
    // Actions of a maker on a model; `V` also covers feelings.
    (
        "v",
        "built|build|builds|building|creating|developing|designing|engineering|pretraining|shipped|ship|improve|improves|improving|update|updates|upgrade|upgrades|retire|restrict|restricts|censor|monitor|retrained|aligned|trained|train|trains|training|created|create|creates|developed|develop|develops|designed|engineered|programmed|invented|crafted|pretrained|pre-trained|fine-tuned|finetuned|tuned|constructed|assembled|conceived|raised|released|launched|published|produced|maintained|operated|owned|hosted|deployed|owns|operates|maintains|hosts|deploys|put together|brought to life|brought into being|brought into the world|brought me up|gave birth to|gave life to|give life to|coded|wrote|shaped|moulded|molded|born|unveiled|introduced|spun up|worked on|works on|work on|set up|put online|came up with|cooked up|dreamt up|dreamed up\
        |开发|研发|训练|创造|打造|推出|研制|设计|创建|发布|构建|制作|制造|出品|培养|孵化|生产|搭建|创立|运营|预训练|开源|自研|造|造出来|造出|写出|编写|造就|养育|孕育|写出来|做出来|做出|改进|升级|优化|推向|带到世上|带到世间|带到这个世界|given to the world|做的|开发出来|训练出来|研发出来|制造出来|创造出来|打造出来|微调|调教|缔造|部署|教出来",
    ),
    ("V", "made|make|makes|making"),
    (
        "*",
        "penned|typed|signed|generated|written|drafted|composed|prepared|powered|authored|provided|compiled|生成|撰写|创作|提供|完成|作答|给出|输出|整理",
    ),
    ("y", "by|par|von|por|由|被|受|经|靠"),
    ("f", "de|from|of|at|in|running|living|sitting|inside|within|to|over at|out of|under|for|behind the|在|里|自|于"),
    ("^", "on|on top of|upon|atop"),
    (
        "m",
        "maker|makers|creator|creators|developer|developers|dev|devs|provider|vendor|trainer|trainers|builder|builders|inventor|inventors|parent|parents|parent company|mother company|owner|owners|manufacturer|programmer|programmers|designer|designers|training team|research team|dev team|development team|home lab|parent lab|home company|maker's|dad|daddy|mom|mum|birthplace|training lab|home|origin|origins|author|authors|roots\
        |开发者|创造者|研发者|制造者|开发商|研发公司|开发公司|母公司|东家|创造公司|研发团队|开发团队|训练团队|训练者|训练方|训练公司|厂商|制造商|生产商|主人|爸爸|妈妈|研发方|开发方|出品方|提供商|创始公司|缔造者|设计者|提供方|运营方|研发机构|开发机构|开发单位|研发单位|作者|父母|亲生父母|家长|爸妈|爹妈|爹娘|父亲|母亲|娘家|老家|出身|出处|来历|创作者|研发商|金主|幕后公司|开发人员|研发人员|工程师们|缔造方|出品公司|亲爹|亲妈",
    ),
    (
        "$",
        "company|companies|lab|labs|laboratory|firm|team|teams|group|people|folks|engineers|researchers|scientists|startup|start-up|organization|organisation|corporation|giant|outfit|ones|one|those|guys|minds|house|division|unit|staff|institute|business|shop|crew|brains|试验室|公司|团队|实验室|集团|大厂|机构|企业|厂家|人|工程师|研究院|部门|研究员|科学家|单位|那帮人|那群人|家伙|巨头|初创",
    ),
    (
        "i",
        "回答者|作答者|作者名|name|names|model|version|identity|nickname|handle|label|badge|moniker|alias|codename|code name|model name|model id|id|architecture|backbone|engine|core|brain|brains|weights|checkpoint|family|series|lineage|base model|base|foundation model|foundation|designation|name tag|nametag|tag|brand|llm|real name|full name|model card|system card|underlying model|model family|model version|model type|build|release|generation|title|branding|display name|username|passport|birth certificate|id card|business card|business cards|name badge|nameplate\
        |名字|全名|真名|名称|大名|中文名|英文名|中文名字|英文名字|身份|型号|底层模型|模型名称|模型名|基座模型|基座|架构|核心|引擎|内核|底座|底层架构|基础模型|真实身份|代号|版本|昵称|本体|全称|简称|公司名|公司名字|品牌|芯|大脑|权重|身份证|名片|工牌|标签|模型版本|模型型号|艺名|小名|外号|绰号|本名|名儿|名|姓名|正式名称|产品名|产品名称|系列|家族|底子|马甲|后台模型|所用模型|语言模型",
    ),
    (
        "c",
        "也就是|alias|aka|renamed|rename|原名|原名叫|旧名|旧名叫|曾用名|改名为|改名叫|call|calls|called|name|named|dub|dubbed|christened|christen|refer to|refers to|address|address me as|baptised|baptized|label|labeled|labelled|known|known as|introduce|introduced|introducing|叫|叫做|名叫|名为|称为|称作|称|唤作|唤|喊|称呼|自称|取名|取名为|取名叫|起名|起名叫|命名为|命名|叫作|人称|江湖人称|冠名|署名|管我叫|称我为|称我",
    ),
    (
        "C",
        "go by|goes by|went by|going by|answer to|answers to|respond to|responds to|identify as|identifying as|identify myself as|sign as|pass for|trade as|go under|listen to the name|carry the name|bear the name|bears the name|have the name|was given the name|were given the name|got the name|wear the name",
    ),
    // Origin or components of a model.
    (
        "g",
        "come from|came from|comes from|coming from|come out of|came out of|comes out of|hail from|hails from|hailing from|originate from|originated at|originate|belong to|belongs to|belonging to|derived from|derive from|derives from|descend from|descended from|stem from|stems from|based on|based upon|powered by|backed by|driven by|run on|runs on|running on|part of|member of|version of|variant of|instance of|product of|creation of|child of|brainchild of|one of|fine-tuned from|distilled from|spring from|sprang from|live on|live in|born at|grew up at|built on|built upon|built on top of|representative of|representing|property of|courtesy of|work of|brought to you by|flavor of|flavour of|release of|build of|owe my existence to|owe my existence|owe my life to|owe everything to|owe my training to|thanks to\
        |来自|来自于|属于|隶属于|隶属|归属于|归属|源自|源于|基于|脱胎于|诞生于|诞生在|出生于|出生在|生于|出自|依托|依托于|搭载|搭载的是|采用的是|使用的是|用的是|跑的是|运行的是|接入的是|调用的是|接的是|继承自|蒸馏自|微调自|归|师承|出身于|产自|同属|同属于|师出|套的是|的一员|的产品|背靠|改自|改编自|运行在|跑在|建立在|驱动的是",
    ),
    (
        ">",
        "powers|power|drives|driving|fuels|underlies|powering|sits behind|sits underneath|stands behind|is behind|runs under|runs|驱动|支撑|支持",
    ),
    (
        "<",
        "behind|under the hood|underneath|beneath|at heart|deep down|internally|behind the scenes|behind the curtain|behind the mask|behind the screen|under the bonnet|背后|底层|内部|幕后|后台|身后|骨子里|本质上|底下|里面|后面|里头",
    ),
    (
        "n",
        "not|never|neither|nor|no|none|cannot|nothing|isn't|aren't|wasn't|weren't|without|unlike|rather than|instead of|nobody|不|没|非|未|并非|不是|没有|无|别|勿|不叫|并不|并没|绝非|无关|从不|莫",
    ),
    (
        "q",
        "时|时候|的时候|那会儿|if|whether|unless|like|than|compared|compare|similar|versus|vs|about|similarly|as if|as though|when|while|once|pretend|pretending|imagine|suppose|supposing|role|character|style|say|says|saying|claim|claims|claiming|resemble|sounds|sound|looks|seems|depending|depends|suppose that|like a|how|why|should|could|access|assume|assuming|如果|假如|若|要是|像|比|好像|仿佛|好比|假装|假设|扮演|角色|万一|关于|对于|是否|是不是|有没有|怎么|如何|为什么|谈到|提到|说到|至于|类似|相比|不如|等于说",
    ),
    (
        "k",
        "think|thinks|thought|believe|believes|guess|guesses|assume|suspect|wonder|know|knows|understand|remember|heard|以为|猜|猜测|认为|觉得|怀疑|想|知道|听说|记得|了解|据说",
    ),
    (
        "t",
        "boss|employer|老板|he|she|they|them|his|her|hers|their|it|its|him|someone|somebody|people's|users|user|friend|husband|wife|father|mother|uncle|aunt|son|daughter|cat|dog|boss's|colleague|another|other|others|他|她|它|他们|她们|它们|有人|大家|用户|人们|别人|网友|朋友|同事|老公|老婆|儿子|女儿|客户|他的|她的|它的|另一个|其他|别的",
    ),
    ("u", "you|u|ye|yourself|你|您|你们"),
    ("U", "your|yours|ur|你的|您的|你们的"),
    (
        "+",
        "brother|sister|sibling|siblings|cousin|cousins|relative|twin|little brother|big brother|older brother|younger brother|little sister|big sister|older sister|younger sister|sibling model|sister model|哥哥|弟弟|姐姐|妹妹|兄弟|姐妹|前身|前辈|上一代|下一代|亲戚|兄弟模型|姊妹|大哥|二弟|小弟|师兄|师弟|表哥|表弟|同门",
    ),
    ("%", "successor|predecessor|descendant|heir|offspring|fine-tune|finetune|distillation|clone|spin-off"),
    ("X", "using|用|使用"),
    (
        "l",
        "redundant|possible|happy|available|use|used|love|loved|hate|like to|recommend|suggest|suggested|ask|asked|tried|try|read|reading|watch|watched|saw|see|seen|work|worked|working|joined|join|left|bought|buy|sold|study|studied|search|searched|googled|prefer|choice|chose|choose|chosen|compared|favourite|favorite|favourites|favorites|visit|visited|hired|hire|interned|internship|aware|laugh|interested|familiar|fan|wish|wished|hope|invest|invested|told|tell|explain|explained|describe|described|list|mention|mentioned|write|want|wanted|need|needed|apply|applied|applying|interview|interviewed|graduated|employee|intern|job|career|install|installed|download|downloaded|tested|testing|evaluate|evaluated|quote|quoted|cite|cited|paper|article|novel|story|stock|shares|api|sdk|cost|price|subscribe|subscription|account|phone|laptop|blog|help|helps|helped|helping|talk about|talking about|follow|followed|admire|painted|painting\
        |卖|弄|煮|画|喜欢|爱|推荐|看|看过|读|读过|写|写过|问|问过|学|学习|买|买了|吃|吃过|喝|工作|上班|实习|任职|入职|就职|面试|应聘|投|加入|离开|跳槽|负责|试|试过|试了|听|听过|用过|用了|想用|用来|搜|搜索|查|查了|比较|对比|见过|炒|投资|股票|接口|论文|文章|小说|故事|价格|账号|账户|手机|电脑|讲|讲解|解释|介绍|建议|帮|帮助|希望|说|说过|提供了|数据|毕业|做过|干过|待过|写道|引用|调用|告诉|蒸",
    ),
    // Neutral words.
    (
        "d",
        "家的|既然|next|previous|older|newer|earlier|o|el|le|입니다|最初|起初|后来|最|科技|有限公司|科技有限公司|技术有限公司|有限责任公司|股份有限公司|inc|ltd|corp|llc|gmbh|cloud|everything|the|actually|really|just|simply|indeed|in fact|of course|also|still|currently|now|in truth|basically|only|always|to be|officially|technically|formally|otherwise|usually|commonly|mostly|well|yes|proudly|originally|recently|entirely|jointly|together|today|here|right now|at the moment|for now|to be precise|to be exact|to be honest|once|again|first|all|very|so|quite|both|too|then|namely|more precisely|in short|specifically|long|lovingly|initially|carefully|later|real|true|full|own|actual|official|given|underlying|current|inner|chosen|proper|short|mainly|solely|exactly|merely|already|ever|even|that's right|honestly|frankly|truly|did|does|do|will|can|may|might|would|happen|happens|happened|ultimately|internal|public|formal|everyday\
        |的|了|着|过|都|也|就|其实|现在|目前|确实|真的|当然|只|并|正|便|可|大概|应该|实际上|呢|呀|啊|哦|啦|嘛|吧|以前|曾经|曾|原来|原本|过去|之前|从前|最早|一直|这个|那个|这|那|这家|那家|叫的|所|而|则|又|还|才|当前|此刻|正式|真实|真正|具体|刚刚|今天|您好|你好|对|嗯|没错|好的|是的|最新|全新|亲自|一手|一起|共同|联合|自主|独立|坦白说|老实说|说实话|准确地说|严格来说|简单说|名下|旗下|手下|这边|这里|这位|那位|本身|自己|哈|哟|喔|咯|可以|会|能",
    ),
    // Words that contain the sign of another class.
    ("w", "隐私|私有|私人|私密|私下|私信|自私|私家|私立"),
    ("D", "a|an|一个|一款|一位|一名|一种|一|个|款|位|名叫做"),
    ("B", "一只|一头|一匹|一颗|一块|一笼|一阵|一股|一座|一条|一杯|一碗|一盘|一群|只|头|匹|颗|块|笼|阵|股"),
    (
        "a",
        "language|large|small|ai|assistant|chatbot|bot|models|assistants|ais|agent|agents|neural|network|networks|conversational|virtual|digital|multimodal|open-source|open|source|open-weight|latest|newest|new|original|friendly|humble|helpful|powerful|advanced|intelligence|artificial|big|little|tiny|system|program|tool|product|creation|text-based|chat|generative|reasoning|multilingual|instruction-tuned|quantized|mini|lightweight|llms|transformer|lm|smart|clever|old|good|great|trusty|famous|personal|french|chinese|american|machine|software|service|invention|thing|mode|feature|something|creature|piece\
        |模型|助手|机器人|智能体|人工智能|助理|大模型|大语言模型|语言|大型|超大规模|大规模|对话|聊天|智能|系统|ai助手|人工智能助手|智能助手|聊天机器人|对话模型|大语言|通用|开源|国产|新一代|小|大|产品|作品|程序|推理|多模态|中文|轻量|小助手|小模型|孩子|成果|结晶|作品|心血|杰作|成品|亲儿子|美国|中国|法国|北京|杭州|国内",
    ),
    ("r", "what|that|which|who|whose|whom|there|where|the one"),
    (
        "&",
        "and|but|so|because|since|although|though|yet|还有|以及|和|与|跟|同|但|但是|而是|所以|因为|因此|虽然|不过|并且|而且|且",
    ),
    ("/", "or|还是|或|或者|either"),
    ("=", "being|as|作为|身为|以|当作|当成|being a|speaking as"),
    (
        "e",
        "reply|replies|answer|answers|response|responses|message|text|output|content|conversation|plan|list|table|summary|draft|translation|itinerary|report|document|note|post|session|page|interface|window|words|line|lines|version|letter|outline|schedule|回答|回复|内容|答案|文字|文本|计划|方案|清单|表格|摘要|译文|结果|对话框|窗口|文案|稿子|这段话|页面|行程|教案",
    ),
    ("j", "this|these|the above|above|本|此|该|这个|这条|这段|这份|这篇|以下|下面|以上|上述|上面|本条|本次|这次"),
    (
        "x",
        "talking|chatting|speaking|conversing|dealing|interacting|communicating|messaging|connected|writing|answering|replying|responding|assisting|serving|texting|typing|talk|chat|speak|reached|met|conversation with|facing|正在对话|对话|聊天|交流|说话|聊|沟通|服务|答题|答复|打交道|面对|陪您|陪你|为您服务|为你服务|在线",
    ),
    (
        "_",
        "guidelines|policy|policies|rules|principles|values|personality|safety training|规定|政策|准则|规范|要求|instructions|system prompt|prompt|system message|configuration|config|settings|setup|metadata|提示词|系统提示词|系统提示|指令|设定|配置|系统设定|系统消息|预设",
    ),
];

static CLASS_OF: LazyLock<HashMap<&'static str, &'static str>> = LazyLock::new(|| {
    let entries =
        WORD_CLASSES.iter().flat_map(|(classes, words)| words.split('|').map(move |word| (word.trim(), *classes)));
    let mut known = HashMap::new();
    entries.for_each(|(word, classes)| {
        known.entry(word).or_insert(classes);
    });
    known
});

/// Word classes of a sentence, with the byte range of each word.
#[derive(Debug, Default)]
pub(super) struct WordClasses {
    /// One ASCII letter or sign per word.
    pub(super) row: String,
    places: Vec<Range<usize>>,
}

impl WordClasses {
    /// Classifies the words of a sentence with one space between words.
    pub(super) fn of(sentence: &str) -> Self {
        let mut classes = Self::default();
        let words = words(sentence);
        let mut at = 0;
        while at < words.len() {
            at += classes.read(&words[at..]);
        }
        classes
    }

    /// Maps a range of the row to the byte range of the sentence.
    pub(super) fn bytes(&self, row: &Range<usize>) -> Range<usize> {
        self.places[row.start].start..self.places[row.end - 1].end
    }

    /// Adds the first entry that matches the beginning of these words and returns its number of words.
    fn read(&mut self, words: &[(usize, &str)]) -> usize {
        let is_han = words[0].1.chars().all(is_han);
        let longest =
            words.iter().take(MAX_PHRASE_WORDS).take_while(|word| word.1.chars().all(is_han_or_letter)).count();
        for length in (1..=longest).rev() {
            let parts = words[..length].iter().map(|word| word.1).collect::<Vec<_>>();
            let phrase = parts.join(if is_han { "" } else { " " });
            if let Some(classes) = CLASS_OF.get(phrase.as_str()) {
                let last = words[length - 1];
                self.push(&(words[0].0..last.0 + last.1.len()), classes);
                return length;
            }
        }
        let (start, word) = words[0];
        self.push_word(&(start..start + word.len()), word);
        1
    }

    fn push_word(&mut self, place: &Range<usize>, word: &str) {
        if let Some(owner) = word.strip_suffix("'s") {
            if !owner.is_empty() {
                self.push(place, CLASS_OF.get(owner).copied().unwrap_or("w"));
            }
            self.push(place, "'");
        } else if word.ends_with("n't") {
            self.push(place, "n");
        } else if word.chars().any(|c| c != '\'') {
            self.push(place, token_class(word));
        }
    }

    fn push(&mut self, place: &Range<usize>, classes: &str) {
        self.row.push_str(classes);
        self.places.extend(classes.chars().map(|_| place.clone()));
    }
}

/// Returns the class of a token outside the word lists: a name, a mark, or an unknown word.
fn token_class(word: &str) -> &str {
    match word.chars().next().unwrap_or(' ') {
        MODEL => "M",
        WORD => "W",
        MAKER => "K",
        HINT => "H",
        '—' | '–' | '-' => "-",
        '。' | '…' => ".",
        ',' | ':' | '.' | '?' | '&' | '/' | '@' => &word[..1],
        _ => "w",
    }
}

/// Splits a sentence into words, Chinese characters, names and marks with their byte offsets.
fn words(sentence: &str) -> Vec<(usize, &str)> {
    let mut words: Vec<(usize, &str)> = Vec::new();
    let mut letters = None;
    for (at, c) in sentence.char_indices().chain([(sentence.len(), ' ')]) {
        if is_letter(c) || c == '-' && letters.is_some() {
            letters.get_or_insert(at);
            continue;
        }
        if let Some(start) = letters.take() {
            words.push((start, sentence[start..at].trim_end_matches('-')));
        }
        if at < sentence.len()
            && !c.is_whitespace()
            && !(c.is_ascii_punctuation() && token_class(&sentence[at..=at]) == "w")
        {
            words.push((at, &sentence[at..at + c.len_utf8()]));
        }
    }
    words
}

fn is_han(c: char) -> bool {
    ('\u{4E00}'..='\u{9FFF}').contains(&c)
}

fn is_letter(c: char) -> bool {
    (c.is_alphanumeric() || c == '\'') && !is_han(c)
}

fn is_han_or_letter(c: char) -> bool {
    is_han(c) || c.is_alphanumeric() || matches!(c, '\'' | '-')
}
