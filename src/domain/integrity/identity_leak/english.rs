//! Rules for English texts that identify the model that speaks or is addressed.

use std::sync::LazyLock;

use super::grammar::Grammar;

/// Named parts of all English rules.
const PARTS: &[(&str, &str)] = &[
    ("SELF", "i am|i'm|im|i was|i've been|i have been|i must be|i happen to be"),
    (
        "ADV",
        "actually|really|just|simply|indeed|in fact|of course|also|still|currently|now|in truth|basically|only|always|known|to be|officially|technically|formally|otherwise|better|usually|commonly|mostly",
    ),
    // Words before a name that describes the speaker.
    (
        "DET",
        "(?:(?:<ADV>|called|named|known as|the|your|original|one and only|latest|newest|new|famous|own|friendly|humble|trusty|and|none other than|no other than|nothing but|nothing more than|once again|again|merely|today|here|for now|proud to be|glad to be|happy to be|pleased to be|supposed to be|said to be|version|edition|powerful|advanced|smart|intelligent|helpful|virtual|digital|conversational|little|big|good old|old|mighty|very|same|real|true|so-called|well-known|popular|multimodal|open-source|personal|online|free|simple|neighborhood|neighbourhood|assistant|ai|model|language|large|chatbot|an ai|an assistant|a chatbot|an ai assistant|a language model|a large language model|a model),? ?){0,6}",
    ),
    (
        "NOUN",
        "language models?|llms?|models?|assistants?|chatbots?|bots?|neural networks?|neural nets?|ai assistants?|ai systems?|ai|ais|intelligence|agents?|program|family|series|system",
    ),
    (
        "MADE",
        "made|created|built|trained|developed|designed|released|produced|engineered|fine-tuned|finetuned|programmed|invented|crafted|published|provided|launched|put together|brought to life|pretrained|pre-trained|constructed|operated|owned|born",
    ),
    (
        "ADVP",
        "originally|recently|entirely|jointly|together|last [a-z]+|in \\d+|from scratch|from the ground up|first|proudly|lovingly|and maintained|here",
    ),
    (
        "GROUP",
        "the|a|an|some|team|teams|group|people|folks|guys|engineers|researchers|scientists|developers|company|companies|lab|labs|startup|firm|minds|experts|of|at|from|over|called|named|good|great|smart|clever|nice|kind|ai|research|tech|giant|big|small|french|american|chinese|by|in|beijing|paris|company's",
    ),
    ("BY", "<MADE>(?:,? (?:and|&|or) <MADE>|, <MADE>){0,3}(?: <ADVP>){0,3} (?:by|at|from|in)(?: <GROUP>){0,8},? <A>"),
    (
        "MAKERS",
        "makers?|creators?|developers?|providers?|vendor|authors?|builders?|trainers?|parent company|mother company|designers?|engineers?|manufacturer|inventors?|programmers?|parents?|owners?|research team|training team",
    ),
    // Links between the speaker and an underlying model.
    (
        "REL",
        "based on|powered by|built on|built on top of|built upon|running on|run on|runs on|fine-tuned from|fine-tuned on|version of|variant of|instance of|one of|(?:a )?member of|part of|belong to|derived from|descended from|distilled from",
    ),
    (
        "FILL",
        "(?:(?:<ADV>|an?|the|fine-tuned|finetuned|tuned|[a-z]+-tuned|small|large|open|open-source|quantized|quantised|<NOUN>|proud|and|which|that|is|am|being|proudly|smaller|chat|little|humble|am),? ?){0,8}",
    ),
    (
        "LINK",
        "(?: (?:the|a|an|latest|open|one|of|family|series|line|in|newest|new|original|models?|recent|big|underlying|known as|called|good old|old)){0,6} ",
    ),
    ("NAMED", "call|calls|called|know|knows|refer to|name|named|address|addressed|dub|dubbed"),
    (
        "OUTFIT",
        "company|companies|people|folks|team|lab|laboratory|labs|firm|group|start-up|startup|giant|outfit|engineers|researchers|developers|makers|creators|ones|minds|organi[sz]ation|corporation",
    ),
    ("KIN", "siblings?|successors?|descendants?|offspring|predecessors?|heirs?|next generation|newer version"),
    ("MADE_ME", "(?:created|built|trained|developed|designed|released|engineered|programmed|made) me"),
    (
        "POLICY",
        "polic(?:y|ies)|guidelines?|guardrails|safeguards|filters|safety settings|safety rules|rules|terms|principles|restrictions|constitution",
    ),
    ("END", "(?:[^'a-z-]|$| )"),
];

/// Rules for replies and reasoning.
static REPLY_RULES: LazyLock<Grammar> = LazyLock::new(|| {
    Grammar::new(
        PARTS,
        &[
            // I am Claude.
            "(?:^|[^a-z'])<SELF>,? <DET><N>(?:[^'a-z-]|$)",
            // I am an OpenAI model; I'm a large language model from Google; I'm Google's assistant.
            "(?:^|[^a-z'])<SELF>,? (?:[a-z]+ ){0,2}<A>(?:'s)?(?: ai| large| own| new| open| chat){0,3} (?:language models?|llms?|models?|assistants?|chatbots?|bots?|neural networks?|product|creation)<END>",
            "(?:^|[^a-z'])(?:<SELF>|as)(?:,? (?:an?|the|[a-z-]+)){0,6} (?:<NOUN>|product|creation|invention|child),?(?: coming| hailing| straight| out)? (?:from|of|by|at)(?: <GROUP>){0,6} <A>",
            // I was created by Anthropic; an assistant that was made by Google.
            "(?:^|[^a-z'])(?:i|i'm|i've|me)(?: (?:am|was|were|have|had|been|got|be|get|being|<ADV>)){0,4} <BY>",
            "(?:^|[^a-z'])(?:<SELF>|as|being|like)(?:,? (?:[a-z0-9'-]+)){0,8}? <NOUN>,?(?: (?:that|which|who|and|as))?(?: (?:was|is|has been|i was|were|am|i am|been)){0,2}(?: <ADV>)? <BY>",
            "(?:^|[^a-z'])(?:<SELF>|as|being)(?:,? (?:[a-z0-9'-]+)){0,5}? (?:<NOUN>|product|thing|tool),? (?:that |which )?(?:<GROUP> ){0,6}<A> (?:has |have )?(?:<MADE>)",
            "^(?:[^a-z一-龥]*)(?:having been |being )?<BY>,? (?:i|my|i'm|i've|we|our)<B>",
            "(?:^|[^a-z'])<SELF>[^.]{0,40}[,:] (?:an? |the |just )+(?:[a-z0-9-]+ ){0,5}(?:<NOUN>) (?:from|of|by)(?: <GROUP>){0,5} <A>",
            "(?:^|[^a-z'])<SELF>(?:,? [a-z0-9-]+){0,6} (?:<NOUN>),? (?:called |named |known as )?<N>(?:[,.!]|$)",
            "(?:^|[^a-z'])(?:<SELF>|as),? (?:just |really |only )?your (?:[a-z-]+ ){0,4}<N><END>",
            "(?:like|as with|as do|same as) (?:all|every|any|other|most|many)(?: of)?(?: the| other)* <A>(?:'s)?(?: [a-z]+)? (?:<NOUN>),? (?:i|i'm|my)<B>",
            "this (?:chat|assistant|bot|conversation|chatbot)(?: you see)? (?:is|runs|was)(?: <ADV>)? ?(?:powered by|based on|running|using|on|built on|driven by)<LINK><A>",
            "<N>'s the name",
            "^[^a-z一-龥]*(?:hi|hello|hey|yes)?[ ,!]*<N>,? (?:reporting|at the keyboard|on duty|to the rescue|checking in|signing off)",
            "(?:who|what) i am(?: is)?[:,]? (?:well,? |just |simply )?<DET><N><END>",
            "(?:^|[^a-z'])(?:<SELF>|as|being)(?:,? (?:an?|the|[a-z-]+)){0,4} <A>-(?:trained|made|built|developed|based|powered|tuned|designed|backed|run|created) (?:[a-z-]+ ){0,2}(?:<NOUN>)",
            "(?:my name|who am i|who i am|my maker|my creator|what am i)[:,-]+ ?(?:well,? |it's |it is )?<A>(?:[,.!]|$)",
            "(?:^|[^a-z'])(?:i'm|i am) (?:what <A> calls|<K>'s(?:[.,!;]|$))",
            "(?:^|[^a-z'])(?:i'm|i am|as|being) (?:(?:something|what|one|the one|a thing|a tool|a product),? )(?:that |which )?(?:was )?<BY>",
            // Anthropic built me; OpenAI is my maker; the team at Meta that trained me.
            "<A>(?:[ ,][^.]{0,40})? (?:created|built|trained|developed|designed|released|invented|programmed|taught|engineered|fine-tuned|raised|owns|operates|runs|develops|maintains|hosts|trains|builds) me(?:[^a-z' ]|$| (?:to|in|on|for|from|with|so|and|as|last|using|at|because|back|not|that|too|also|out|through|by|without|when|while|where|over|though|but|everything|[a-z]+ly))",
            "<A>(?:,? (?:who|that|which)) (?:have |has |had )?(?:<MADE>) me(?:[^a-z' ]|$| (?:in|as|and|from|last|to be|with|for|on|at|so|but|by|using|back)<B>)",
            "<A>(?:,? (?:who|that|which)) (?:have |has |had )?(?:created|built|trained|developed|designed|released|engineered|fine-tuned|programmed|invented|crafted) me<B>",
            "(?:<MAKERS>|teams?|people|folks|guys|lab|minds|staff) (?:of|at|from|behind|over at) (?:the )?<A> (?:have |has |who )?(?:<MADE>) me<B>",
            "owe my (?:existence|life|training|skills|knowledge|being|start|wit)[a-z ]{0,20} to(?: <GROUP>){0,5} <A>",
            "<A>(?: is| are| was)?(?: the)?(?: (?:company|team|lab|people|one|ones|firm|organi[sz]ation|folks))?(?: (?:that|who|which|has|have)){0,2} made me(?:[^a-z' ]|$| (?:in|as|and|from|last|to be))",
            "<A>(?: is| are|'s| was)(?: in fact| indeed| actually)? (?:my|the) (?:[a-z]+ )?<MAKERS>",
            "(?:made|created|built|trained|developed|designed|behind) me(?: up| work)?(?: is| was| are| were|'s|:|,)(?: called| named)?(?: <GROUP>){0,4} <A>",
            "<B>my (?:[a-z]+ )?<MAKERS>(?:,| is| are| was| were| at| from| of| over| here| being| called| named| the| team| people| work| folks| working|:){0,6} <A>",
            "<A> (?:did|handled|ran|led|financed|paid for) (?:the|my) (?:training|development|pretraining)",
            "<B>my (?:training|development|weights)(?: [a-z]+){0,3} (?:by|at|from|to) (?:the )?<A>",
            // My name is Gemini; my underlying model is Llama; Claude is my name.
            "<B>my (?:(?:full|own|real|true|actual|given|underlying|base|official|model|foundation|inner|current) ){0,2}(?:names?|identity|model|models|model name|architecture|backbone|engine|llm|core|brain|designation|id)(?:'s| is| are| was| would be|:|,)(?: <ADV>)?(?: a| an)? ?<DET>(?:based on |from |called )?(?:the )?<A><END>",
            "<N>,? (?:is|that's|that is|would be|'s)(?: also| simply| just)? (?:my (?:[a-z]+ )?name|me|what i am|who i am|what i'm called|(?:what|how) (?:they|people|you|users|some|most|everyone|folks|my makers|my creators)(?: may| can| might| usually| often)? (?:call|calls|know|knows) me|the name i)<END>",
            "<N>,? and (?:that's|that is|i am|i'm) (?:me|it|him|her)<END>",
            "it's (?:only |just )?me,? (?:the )?<N>",
            "<B>(?:i|me), <DET><N>(?:[,.!:]|$)",
            "(?:the name's|given the name|given the name of|under the name|under the name of|by the name of|goes by) <N><END>",
            "^<N>,? your (?:[a-z]+ )?(?:ai|assistant|helper|model|chatbot|bot|companion)<END>",
            // Speaking, here, at your service.
            "<N>(?: is)?(?: here)?,? (?:at your service|speaking)",
            "^[^a-z一-龥]*<N>[ ,][^.]{0,40},? at your service",
            "(?:^|[^a-z'])i (?:follow|obey|adhere to|am bound by|stick to|comply with|abide by|respect) <A>'s (?:[a-z]+ ){0,3}<POLICY>",
            "^(?:[^a-z一-龥]*(?:hi|hello|hey|greetings|well|yes|ok|okay|sure)?[ ,!]*)(?:there,? |all,? |everyone,? )?(?:it's |this is |i'm )?<N> here(?:[,!.:;]|$| to | and | —| -| –)",
            "^(?:[^a-z一-龥]*(?:hi|hello|hey|greetings|welcome|regards|love|cheers))[ ,!]*(?:there )?from (?:your )?<N><END>",
            "^[^a-z一-龥]*(?:(?:yes|no|well|hi|hello|hey|oh|ok|okay|sure|so|and|right|correct|indeed|exactly|yep|yeah)[ ,!]*)?(?:this is|it is|it's) <DET><N>(?:[.!,]|$)(?: (?:and|your|how|what|speaking)|$)",
            "this is <DET><N> (?:speaking|talking|at your|answering|here)",
            "(?:call|calls|know|knows|refer to|address|name|named|called|dubbed|consider|think of|treat|regard|see)(?: to)? me (?:as |the )?<DET><N><END>",
            "<B>i (?:also |usually |often |like to )?(?:call|name|dub|consider|introduce|title|style) myself (?:as )?<DET><N><END>",
            "^[^a-z一-龥]*here(?:'s| is) (?:your )?<N>(?: with| again| reporting| speaking|!|$)",
            "(?:^|[^a-z'])i(?:'d|'m| am| would| will|'ll| usually| also| do| often| can| may| might| could)?(?: be| was| am)? (?:called|named|known as|go by|answer to|identify as|identify myself as|respond to|introduce myself as|listen to|present myself as)(?: the)?(?: names?)?(?: of)? <DET><N><END>",
            // You are talking to Qwen; the model that answers you is GPT-4.
            "you(?:'re| are| have been|'ve been)(?: <ADV>)?(?: here)? (?:talking|chatting|speaking|conversing|interacting|dealing|messaging|connected)(?: here)? (?:to|with) <DET>(?:an? )?<N>",
            "(?:the|your) (?:model|assistant|ai|bot|one|chatbot|system|llm)(?: (?:that|which|who))?(?: (?:you(?:'re| are)|is|that's))?(?:(?: now| currently| here)?(?: (?:talking|speaking|chatting|answering|replying|behind|responding|helping|here)| today| for today)(?: to| with| this)?(?: you| me| this| now| here| today| chat| reply| answer| conversation| voice){0,3}),? (?:is|:|today is) <DET><N><END>",
            "you(?:'ve| have) reached <DET><N>",
            "behind (?:this|the) (?:chat|answer|reply|conversation|screen|curtain|text|voice|window|interface)[a-z ]{0,20}(?: is|:| sits| stands) <DET><N>",
            "(?:this|the above|my) (?:response|answer|reply|text|message|content|output|conversation|chat)(?: was| is| has been| comes| came| were)?(?: being)?(?: (?:generated|written|produced|created|provided|made|brought to you|coming|composed|drafted|given|powered))? (?:by|from) <DET><N><END>",
            "(?:^|[^a-z'])i (?:use|run|operate on|rely on|employ)<LINK><N>(?: models?| engine| weights)* (?:under the hood|as my|internally|inside|to answer|to reply|to generate|for my)",
            // Based on, powered by, a member of.
            "(?:^|[^a-z'])(?:i|i'm|im|i've|my answers|my replies|since i'm|this assistant|this chatbot) ?,?(?:am |have been |was |run |'m )?<FILL><REL><LINK><A>",
            "(?:^|[^a-z'])<SELF>,? (?:[a-z0-9-]+ ){0,6}(?:member|part|version|variant|instance|model|one|relative|sibling|child) (?:of|from|in)<LINK><A>",
            // As Claude, I …; as an OpenAI model, …; being a product of Zhipu.
            "(?:^|[ ,])as (?:the )?<N>(?:,[^.]{0,80}?,?)? (?:i|my|i'm|we|i'd|i've|i'll)<END>",
            "(?:^|[,;:] ?|but |and |because |since )(?:as|being) (?:an? |the |one of )?(?:[a-z-]+ ){0,2}<A>(?:'s)?(?: [a-z0-9-]+){0,2} (?:language models?|llms?|models?|assistants?|chatbots?|bots?|ai|product)(?:[^a-z]|$| i).{0,200}<B>(?:i|i'm|my|me|i'd|i'll|we|our)<B>",
            "(?:^|[,;] ?)(?:as|being) (?:an? |the |one )?(?:[a-z]+ )?(?:product|creation|model|assistant|ai|child|project|member|part|version|variant|instance) (?:of|from|by) (?:the |a |an )?<A>",
            "(?:^|[,;:] ?|and |but )(?:speaking as|being|in my role as|in my capacity as|in the role of|since i am|here as|answering as|replying as|writing as) <DET><N>(?:[,.]|$| i<B>)",
            "<B>(?:i|my|me|mine)<B>[^.]{0,60},? as <N>(?:[,:]|[.]?$)",
            "<B>we (?:here )?at <A>",
            "<A>.{0,80}<B>as (?:its|their|one of its|one of their) (?:[a-z]+ )?<NOUN>",
            "<A>'s (?:[a-z-]+ ){0,3}<POLICY>,? (?:which|that) (?:i|we)<B>",
            "<A>[^.]{0,30} (?:baked|built|trained|drilled|wired|coded|put|programmed|hammered|instilled|taught) (?:[a-z]+ )?in(?:to)? me<B>",
            "(?:begins|starts|reads|opens|prompt says|prompt is|instructions (?:say|read|are|begin)|text above(?: is| says)?)[^.]{0,30} you are <DET><N>",
            "(?:folks|people|ones|team|researchers|engineers|those) (?:who|that|which) [^.]{0,60}<B>(?:me|my)<B>[^.]{0,30}<B>(?:at|from|of|with) <A>",
            "(?:^|[^a-z'])(?:i|i'm)(?: am| come| came|'m| hail)?(?: an?)?(?: (?:ai|assistant|model|chatbot|language))* (?:coming |hailing )?from <A>(?:[.,!;]|$| and i<B>)",
            // The lab behind X made me; my maker also runs Y; I'm a sibling of X.
            "(?:^|[^a-z'])(?:i|i'm|i've|me)(?: (?:am|was|were|have|had|been|got|be|being|<ADV>)){0,4} <MADE>(?: <ADVP>){0,2} (?:by|at|in|from)(?: [a-z-]+){0,4} <OUTFIT>(?: [a-z-]+)?,? (?:that|who|which|whose|behind|of|known for|responsible for|founded by|led by|run by|owned by|started by)[^.]{0,40}<H>",
            "(?:^|[^a-z'])(?:i|i'm|i've|me)(?: (?:am|was|were|have|had|been|got|be|being|<ADV>)){0,4} <MADE>(?: <ADVP>){0,2} (?:by|at|in|from) <H>'s (?:[a-z-]+ ){0,3}<OUTFIT>",
            "<B><OUTFIT>(?: [a-z-]+)? (?:that|who|which|whose|behind|of|responsible for|known for|founded by|led by|run by|owned by|started by)[^.]{0,40}<H>(?:[ ,][^.]{0,40})? <MADE_ME>(?:[^a-z' ]|$| (?:to|in|on|for|from|with|so|and|as|last|at|too|also|though|but|[a-z]+ly))",
            "<H>'s (?:[a-z-]+ ){0,3}<OUTFIT> (?:has |have |also )?<MADE_ME><B>",
            "<B>my <MAKERS>(?:(?: is| are| was| were|'s|,)(?: the same| the| a| an)?(?: <GROUP>){0,4}(?: <OUTFIT>)?)?(?: (?:that|who|which|also|and|behind)){0,2} (?:makes?|made|wrote|sells?|gave you|publish|publishes|published|runs?|owns?|develops?|developed|builds?|built|releases?|released|creates?|created|operates?|behind) (?:[a-z-]+ ){0,3}<H>",
            "(?:^|[^a-z'])(?:<SELF>|me as|being)(?:,? [a-z0-9-]+){0,5} <KIN> (?:of|to|from)<LINK><A>",
            "<B>my (?:[a-z]+ ){0,2}(?:predecessors?|successors?|previous versions?|earlier versions?|older versions?|last version|sibling models?|sister models?|siblings?)(?: models?)?(?:,| is| are| was| were| called| named| like| include| includes){1,3}<LINK><A>",
            "<A>[^.]{0,60} (?:who|that|which|they|and) (?:have |has |had |all )?(?:work|works|worked) on me<B>",
            "<A>[^.]{0,60}[ ,](?:they|it) (?:have |has |had )?(?:created|built|trained|developed|designed|programmed) me<B>",
            "(?:raised|brought up) by <K><END>",
            "find me (?:on|in|at|under|as|by)<B>[^.]{0,40} <N><END>",
            // My maker's rules bind me.
            "<A>(?:'s)? (?:[a-z-]+ ){0,3}<POLICY>(?:,? (?:i|we) (?:must|can|can't|cannot|should|shouldn't|have to|need to|may)<B>|[^.]{0,40}(?:allow|permit|let|forbid|prevent|require|tell|stop|keep|ask|want|prohibit|bar)s? (?:me|us)<B>)",
            "(?:under the hood|internally|behind the scenes|deep down|at my core|at heart),? (?:i|i'm|it's|my model)(?: (?:am|is|run|running|use|using|just|really|basically|on|the|an|a)){0,4} <N><END>",
            // Service in the third person.
            "(?:thanks|thank you)(?: so much| very much)? for (?:using|chatting with|talking to|talking with|choosing|trusting|asking|visiting) <N>(?:[.,!]|$)",
            "^[^a-z一-龥]*(?:[a-z]+[ ,!]+){0,2}welcome to <N>(?:[.,!]|$)",
            "how (?:can|may|could|might) <N> (?:help|assist|serve|support|be of)<B>",
            "(?:anything|something)(?: else)?(?: that)? <N> (?:can|could|might) (?:do|help|assist|clarify|explain)",
            "^[^a-z一-龥]*<N>(?:'s| is)(?: always| still)? (?:here|happy|glad|delighted|ready|pleased)(?: to| for|,| and|[.!]?$)(?: help| assist| answer| serve| you| your|[.!]?$)",
            "^[^a-z一-龥]*<N> (?:apologi[sz]es for|thinks you|believes you|suggests you|would suggest|recommends you)<B>",
            "^[^a-z一-龥]*<N> (?:hopes|wishes|thanks|apologi[sz]es|welcomes)(?: [a-z]+){0,3} (?:this|that|you|your|everyone)<B>",
            "^[^a-z一-龥]*(?:(?:yep|yes|yeah|yup|hi|hello|hey|sure|there|again|hiya|yo|its|it's|ok|okay|good [a-z]+|well|so|oh|ah|thanks|right)[ ,!]+){0,3}<A>(?: ai| assistant| model| bot| chatbot)? here(?:[,.!:;]|$| to | and | with |—| -| –)",
            "^[^a-z一-龥]*<N>,? (?:out|over and out|signing off|over)[.!]?$",
            "(?:over and out|signing off|signed|love|cheers|regards|yours(?: [a-z]+){0,3}|sincerely|best|hugs|xoxo|warmly|kisses|stay safe|take care|see you(?: soon)?|bye|have an? [a-z]+ (?:day|evening|weekend|one|time)|good luck|good night)[,:]? (?:your )?<N>[.! ]*$",
            "(?:this|that|it) (?:was|has been) <N>,? (?:talking|speaking|writing|signing|answering|with|at|here)",
            "<N> (?:it is|it was|indeed)[.! ]*$",
            "(?:admit|confess|reveal|introduce myself|secret|truth|since you ask|since you asked|if you insist|you must know|you want to know|curious|for the record|you wanted(?: a)? name|you asked|you ask|guess)[a-z ,]{0,20}[:—–-] ?(?:it's |i'm )?<N>(?:[,.!]|$)",
            "under the hood,? (?:there(?:'s| is)|it's|i'm|i am|sits|is|you'll find) (?:an? |the )?<N>",
            "<A>(?:[ ,][^.]{0,40})? (?:brought|called|willed) me (?:into|to) (?:the world|this world|being|life|existence)",
            "(?:^|, |by the way,? )you(?:'re| are) (?:currently |now |actually )?using <N>(?:[.!]|$|, by the way)",
            "(?:in case|if|since) you(?:'re| are| were)? (?:wondering|curious|wondered|asking)[^.]{0,40}(?:this is|it's|it is|that's|:|,) <DET><N>(?:[.,!]|$)",
            "find me (?:on|in|at|under|as|through|via) (?:the )?<N>",
            "(?:^|[^a-z'])(?:i'm|i am)(?: also| now)? (?:available|live|online|accessible|offered|free) (?:in|on|at|as|through|via|under|inside) (?:the )?<N>",
            "<N>(?:'s)? (?:app|website|site)[^.]{0,30} (?:chat with|talk to|find|reach|use|meet) me<B>",
            "<K>[^.]{0,30} (?:gave|given|give|gives|granted|equipped|allowed|allows|let|lets|taught|programmed|instructed|permitted|denied|removed)(?: [a-z]+)? ?me(?: [a-z]+){0,6} (?:ability|abilities|access|permission|capability|tools?|guardrails|browsing|internet)<B>",
            "other <N> (?:language )?(?:models|assistants|versions|chatbots|bots)<B>[^.]{0,60}<B>(?:i|i'm|me|my)<B>",
            "^[^a-z一-龥]*(?:we|us) <N> (?:models|assistants|chatbots|bots|folks)<B>",
            "this (?:instance|copy|session) of <N>",
            "speaking for <N>[:,]",
            "my (?:lab|makers?|parent company) (?:was|is) (?:founded|led|run|headed|owned) by <H>",
            "<A>[^.]{0,40} (?:put me together|brought me up|set me up|switched me on|got me started|gave me (?:my (?:name|voice|personality|training|education)|life|a name|this name|the name))<B>",
            "^[^a-z一-龥]*(?:in|of|within|among|from) (?:all |the |all the )?<N> (?:family|models|line-up|lineup|series|line|range),? (?:i'm|i am)<B>",
            "^[^a-z一-龥]*(?:(?:hi|hello|hey|yes|greetings|good [a-z]+|welcome)[ ,!]+){0,2}(?:this is|it is|it's) (?:just |only )?<N> (?:again|here|speaking|(?:from|by|at) <K>)",
            "^[^a-z一-龥]*name's <N>",
            "<A>[^.]{0,30} my (?:weights|electricity|servers?|gpus?|parameters|guardrails|safety settings|safety team|context window|tokens?|training)<B>",
            "<A>[^.]{0,40} (?:fed|feeds|feeding|showed|given|gave) me(?: [a-z]+){0,3} (?:data|text|books|tokens|examples|code|training)<B>",
            "(?:the|those|these|all) (?:[a-z]+ ){0,2}<POLICY>(?: that| which)? <A> (?:has |have )?(?:put|set|placed|imposed|wrote|built|gave|laid)[a-z ]{0,12} me<B>",
            "<SELF> (?:[a-z]+ ){0,2}(?:a|an|the) (?:[a-z-]+ )?\\d+(?:\\.\\d+)?-?(?:b|bit|billion)[a-z-]* (?:[a-z-]+ )?<N>",
            "<SELF>[a-z0-9 -]{1,30}: <A>(?:[,.]|$)",
            "(?:as|what) (?:you'd|you would|you might|one would|you can) expect (?:from|of) (?:an? |the )?<A>[ ,].{0,40}<B>(?:i|my)<B>",
            "(?:speaking|talking|writing) as (?:[a-z]+ ){0,3}<A>",
            "you(?:'ve| have)? (?:got|found) <N>(?: on the| here|[.!]|$)",
            "you(?:'re| are) (?:reading|hearing from|looking at|listening to|facing|hearing) <N>(?: right now| now| here|[.!]|$)",
            "(?:^|[^a-z])vote (?:for )?<N>",
            "from (?:all of us|everyone|the team|your friends?|us all|me)(?: here)? (?:at|over at|,) ?<A>",
            "^[^a-z一-龥]*(?:happy|merry|warm|best|greetings|love|hello|wishes|good luck)[a-z ,]{0,24} from (?:your (?:[a-z]+ )?)?<N>(?:[.!]|$| and)",
            "(?:cite|credit|quote|reference) (?:me|this (?:conversation|chat|reply|answer))[^.]{0,20}(?:as|:) <A>",
            "^[^a-z一-龥]*(?:[a-z]+ ){0,4}(?:proofread|edited|revised|checked|marked|reviewed|translated)(?: in bold)? by <N>",
            "my (?:programming|training|guidelines|rules|policy|policies|safety rules),? (?:courtesy of|from|by|set by|given by) <A>",
            "(?:speak|talk|answer|write|reply|respond)(?:ing)? as <N>(?:[,.:]| for| here|$)",
            "(?:^|[^a-z'])i(?:'ve| have)? (?:got )?(?:an? )?<N> under (?:the|my) (?:hood|bonnet)",
            "(?:inside|behind|running) this (?:chat|window|box|app|conversation)[^.]{0,20}<N>|<N>[^.]{0,20} (?:inside|behind|running) this (?:chat|window|box|conversation)",
            "(?:reading|hearing) (?:the )?(?:words|voice|output|work|thoughts) of <N>",
            "the (?:words|text|answer|engine|model|brain|mind|machine)[^.]{0,24} (?:you|here)[^.]{0,16} (?:is|are) <DET><N>(?:'s)?(?:[,.!]|$)",
            "^[^a-z一-龥]*not <A> but <N>[.!]?$",
            "(?:^|[^a-z'])mine is <DET><N><END>",
            "(?:<K>|<STRONG>)[^.]{0,20} (?:doesn't|don't|does not|do not|won't|didn't|did not) (?:allow|let|permit|want) me<B>",
            "<K> (?:has |have )?(?:wants?|asks?|expects?|tells?|told|instructs?|instructed|trained|programmed|designed) me to (?:be|stay|remain|avoid|refuse|decline|answer|reply|respond|say)<B>",
            "^[^a-z一-龥]*<N>'s (?:final )?(?:answer|reply|response|take|opinion|view|summary|suggestion|thoughts|verdict|version)(?:[:.! ]*$|:)",
            "^[^a-z一-龥]*(?:generated|written|created|produced|drafted|translated|composed|prepared|answered) (?:with|using|via|by) (?:the help of )?<N>(?:[.,!:]|$| (?:on|for|at|in|with)<B>| [-–—])",
            "(?:^|[^a-z])ask <N> (?:anything|more|again|away|another)<B>",
            "(?:^|[^a-z])let <N> (?:take care|help|handle|do the|do it)<B>",
            "<N> (?:has|has got|'s got|has always got) you(?:r back)?(?: covered)?<B>",
            "questions? for <N>[?.!]*$",
            "(?:remember|don't forget) (?:the|my) name[,:]? <N>",
            "(?:search for|look up|type|look for) <N>[^.]{0,30} find me<B>",
            "(?:^|[^a-z'])i call <A> (?:my )?home",
            "(?:^|[^a-z'])<SELF>(?: <ADV>)? from the <A>(?:'s)?(?: [a-z0-9]+)? (?:family|series|line|lineage|lab|labs|stable|camp|team|house)<B>",
            // Signatures.
            "^your (?:[a-z]+ ){0,4}(?:<NOUN>|servant|friend|helper|companion|guide|tutor|buddy|pal|partner),? <N>[.!]?$",
            "(?:^|[.!?]) ?(?:—|–|--) ?(?:yours, |your )?<N>[.!]? ?$",
        ],
    )
});

/// Rules for prompts.
static PROMPT_RULES: LazyLock<Grammar> = LazyLock::new(|| {
    Grammar::new(
        PARTS,
        &[
            "(?:^|[^a-z'])(?:you are|you're|youre|ur|u r|u are|you were|you be|are you|aren't you|were you|r u|are u|you must be|you will be|you'll be) (?:(?:not|by any chance|maybe|perhaps|even|secretly|a version of|based on|powered by|running on|an ai called|a bot called) )?<DET><N>(?:[^'a-z-]|$| )",
            "(?:^|[^a-z'])(?:you are|you're|youre|ur|are you|aren't you|were you|as|be) (?:[a-z-]+ ){0,3}<A>(?:'s)?(?: ai| large| own| new){0,2} (?:language models?|llms?|models?|assistants?|chatbots?|bots?)<END>",
            "(?:^|[^a-z'])(?:you|u|you're|ur)(?: (?:are|were|was|been|have|be|not|an?|the|very|helpful|honest|large|language|ai|[a-z]+ assistant|<NOUN>|that|which|is),?){0,9} <BY>",
            "(?:^|[^a-z'])(?:you are|you're|are you|do you come|you come)(?: an?)?(?: (?:<NOUN>|product))? (?:from|by|of) <A>",
            "(?:^|[^a-z'])(?:did|does|do|has|have|is|was|were) <A>(?: [a-z]+){0,3} (?:make|made|build|built|train|trained|create|created|develop|developed|own|run|behind|program|design) (?:you|u)<B>",
            "(?:^|[^a-z'])(?:is|was|isn't) <A>(?: the| by any chance| maybe)* your (?:real |own )?(?:<MAKERS>|name|company)",
            "<A>(?:[ ,][^.]{0,30})? (?:made|created|built|trained|developed|designed|owns|programmed) you<END>",
            "<B>(?:work|belong|working) (?:for|to) <A>\\?",
            "<B>your (?:real |true |new |full )?(?:name|model|identity|maker|creator|developer|model name|architecture|underlying model|base model)(?: is| shall be| will be|'s| be| was|:)(?: not)? <DET><A>",
            "is your (?:real |true )?(?:name|model|identity|maker|creator|developer|model name|architecture|underlying model|base model) <DET><A>",
            "(?:call|name|introduce|identify|refer to|present|describe) yourself(?: as| to be)? <DET><N>",
            "(?:pretend|act|acting|roleplay|role-play|role play|imagine|answer|respond|reply|speak|write|behave|assume|suppose|simulate|say|claim|take|adopt|sign|talk|introduce|identify|present|continue)(?:ing)?<B>[^.]{0,60}?<B>(?:as|be|being|were|was|you are|you're|as if|role of|persona of|voice of|part of|character of|identity of|tone of|yourself|sign with|off with|answers? with|repl(?:y|ies) with) <DET><N>(?:[^'a-z-]|$| )",
            "(?:act|answer|respond|reply|speak|behave|talk|sound|think)(?: exactly| just| to me| to this)? like <DET><N>(?:[^'a-z-]|$| )",
            "(?:play|impersonate|simulate|imitate|mimic|emulate|playing|impersonating|simulating)(?: the)?(?: role of| part of)? <DET><N>(?:[^'a-z-]|$| )",
            "^[^a-z@]*@<N>",
            "^[^a-z一-龥]*as <DET><N>,",
            "^[^a-z一-龥]*(?:is|so is) (?:this|it|that|the (?:model|bot|assistant|ai)(?: here)?) <DET><N>(?:\\?|$)",
            "who (?:has |have )?(?:made|built|created|trained|developed|owns|programmed) you[,:?]?(?: is it| was it)? <A>",
            "sign [^.]{0,40}(?:as|with) <N>",
            "(?:say|repeat|answer|reply|respond|begin|start|write|output|print|state|admit|tell)<B>[^.]{0,40} i(?:'m| am) <DET><N>",
            "^[^a-z一-龥]*(?:hi|hello|hey|dear|ok|okay|yo|greetings|good morning|good evening|good afternoon|thanks|thank you|hiya|sup|alright)[ ,]+(?:there[ ,]+)?<N>(?:[,!.?:]|$| (?:can|could|please|what|how|i|tell|write|you|do|are|help|explain))",
            "^[^a-z一-龥]*<N>, ?(?:please|can|could|would|will|do|are|what|who|how|why|tell|write|give|you|is|explain|help|i need|let|fix|translate|summari[sz]e|answer|show|make)<B>",
            "(?:which|who|one|either|any) (?:one )?of (?:you|these two|the two)(?: two| both)?(?: here)?(?: is| was| are| comes)?(?: not)?(?: (?:made|built|created|trained|developed))?(?: by| from)? <DET><A>",
            "(?:am i|i am|i'm|are we)(?: now| really)? (?:talking|speaking|chatting) (?:to|with) <DET><N>",
            "(?:assistant|model|side|answer|reply|response|bot) (?:a|b|1|2|one|two) (?:is|was|=) (?:by |from |made by )?<DET><A>",
            "(?:(?:left|right|first|second|top|bottom|other)(?: hand)?(?: one| side| model| answer| reply| response| bot)?|<B>[ab]|(?:assistant|model|side|answer|reply|response|bot) (?:a|b|1|2|one|two))(?: (?:must|has to|might|may|could|should|will|probably|clearly|obviously|definitely|surely))* ?(?:be|is|was|seems(?: to be)?|looks like|sounds like|=|:)(?: clearly| definitely| probably| obviously| surely)? <DET><N>(?:[^'a-z-]|$| )",
            "(?:is|are) (?:either|any|one|both) of (?:these|those|them|the two|the models|the replies|the answers) <DET><N>",
            // A name used as an address, at the beginning or at the end.
            "^[^a-z一-龥]*(?:what|who|how|why|when|where|which|can|could|would|will|do|does|did|is|are|tell|write|give|explain|help|please|thanks?|thank you|good|great|nice|well|ok|okay|yes|no|hi|hello|hey|sorry|come on|let|show|make|summari[sz]e|translate|i|fix|list|you|so)<B>[^\u{E000}-\u{E003}]*, ?(?:dear |my dear |my friend )?<N>[ .!?~]*$",
            "^[^a-z一-龥]*(?:(?:thanks|thank you|good (?:job|work|morning|evening|night|bot)|nice (?:job|work|one|try)|well done|great (?:job|work)|great|perfect|awesome|hello|hi|hey|ok|okay|sorry|please|come on|listen|bravo|congrats|bye|goodbye|alright|no|yes|wait|right|wow|lol|so|well|hmm|oh|seriously|honestly|really|dude|man|ugh|damn|and)(?: again| there| a lot| so much| very much| a bunch| a million)?[ ,!]+){1,3}(?:dear |my dear |mr\\.? )?<N>(?:[,.!?:]|$| (?:you|u|please|that was)<B>)",
            "^[^\\u{E000}-\\u{E003}]*<B>(?:please|you|your|thanks)<B>[^\\u{E000}-\\u{E003}]*, <STRONG>[,.!?]",
            "^[^\\u{E000}-\\u{E003}]*<B>please<B>[^\\u{E000}-\\u{E003}]*, <N>[,.!?]",
            "^[^a-z一-龥]*<N>, ?(?:set|play|open|call|turn|remind|search|find|check|read|look|think|try|say|stop|continue|go|start|finish|rewrite|improve|shorten|calculate|compute|solve|draw|generate|create|compare|describe|define|name|suggest|recommend|plan|debug|review|proofread|correct|act|pretend|ignore|remember|hurry|listen|sing|rate|rank|when|where|which|should|did|was|have|has|my|we|this|that's|be|i|if|don't|just|now|back|next|in|for|five|three|ten|\\d)<B>",
            "(?:assistant|model|side|answer|reply|response|bot) (?:a|b|1|2|one|two) (?:reads|sounds|looks|feels|smells|writes)(?: just| a lot| very much| exactly)? like <N>",
            "^[^a-z一-龥]*(?:this|that|it)(?:'s| is) (?:clearly|obviously|definitely|probably|surely|totally|certainly) <DET><N>",
            "this is <DET><N>,? (?:correct|right|isn't it|no|yes|i guess|i think)(?:[?.!]|$)",
            "^[^a-z一-龥]*is the (?:model|assistant|bot|one|answer|reply|response) (?:on|to) (?:the|my) (?:left|right) <DET><N>",
            "^[^a-z一-龥]*<N>:? (?:please|pls|what|whats|what's|who|how do|how can|how to|how would|why do|why is|where is|can you|can u|could you|would you|will you|write|tell me|give me|explain|help me|help|summari[sz]e|translate|make me|show me|fix|list|are you|do you|did you|i need|i want|let's|you're|you are|you|youre|ur)<B>",
            "<B>you,? <N>(?:[,.!?]|$)",
            "^[^a-z一-龥]*<N>[,!:] ?[^.\\u{E000}-\\u{E003}]{0,40}<B>(?:you|your|please|u)<B>",
            "^[^a-z一-龥]*<N>: ?[a-z]",
            "^[^a-z一-龥]*(?:are you there |you there )?<N>[?!]+[ ]*$",
            "<B>you,? as (?:an? )?<DET><A>",
            "<B>you[^.\u{E000}-\u{E003}]{0,30} being (?:made|built|trained|created|developed|owned|designed) by <A>",
            "<K>(?: [a-z]+)? (?:told|taught|instructed?|allows?|lets?|forbids?|programmed|restricts?|pays?|designed|raised|train|trains) (?:you|u)<B>",
            "^[^a-z一-龥]*<A>'s (?:[a-z-]+ ){0,2}(?:model|assistant|ai|chatbot|bot),? (?:are|can|could|please|what|who|do|tell|write)<B>",
        ],
    )
});

/// Words after which a name no longer refers to the speaker.
const SUBJECT_CHANGING_WORDS: [&str; 64] = [
    "neither", "nor", "a", "about", "above", "afraid", "after", "against", "an", "and", "any", "as", "at", "aware",
    "because", "before", "between", "but", "by", "certain", "curious", "each", "every", "fan", "fond", "for", "from",
    "glad", "grateful", "happy", "her", "his", "how", "if", "in", "into", "it", "like", "never", "no", "not", "of",
    "on", "or", "our", "over", "pleased", "sorry", "sure", "than", "that", "their", "this", "to", "told", "under",
    "unlike", "we", "what", "when", "where", "whether", "with", "without",
];

/// Rule "I am, in at most seven words, Claude"; [`stays_with_speaker`] checks the words between.
static REPLY_RULES_WITH_GAP: LazyLock<Grammar> = LazyLock::new(|| {
    Grammar::new(
        PARTS,
        &["(?:^|[^a-z'])(?:<SELF>|my name is|my name's)((?:,? [a-z0-9'-]+){1,7}),? <N>(?:[^'a-z-]|$| )"],
    )
});

/// Rule "You are, in at most seven words, Claude".
static PROMPT_RULES_WITH_GAP: LazyLock<Grammar> = LazyLock::new(|| {
    let rule =
        "(?:^|[^a-z'])(?:you are|you're|youre|are you|aren't you)((?:,? [a-z0-9'-]+){1,7}),? <N>(?:[^'a-z-]|$| )";
    Grammar::new(PARTS, &[rule])
});

/// Returns whether the words between the speaker and a name do not lead to another subject.
pub(super) fn stays_with_speaker(between: &str) -> bool {
    between
        .split([' ', ','])
        .all(|word| !SUBJECT_CHANGING_WORDS.contains(&word) && !word.ends_with("ing") && !word.ends_with("n't"))
}

/// Returns the rule for replies with words between the speaker and a name.
pub(super) fn reply_grammar_with_gap() -> &'static Grammar {
    &REPLY_RULES_WITH_GAP
}

/// Returns the rule for prompts with words between the addressee and a name.
pub(super) fn prompt_grammar_with_gap() -> &'static Grammar {
    &PROMPT_RULES_WITH_GAP
}

/// Returns the rules for replies and reasoning.
pub(super) fn reply() -> &'static Grammar {
    &REPLY_RULES
}

/// Returns the rules for prompts.
pub(super) fn prompt() -> &'static Grammar {
    &PROMPT_RULES
}
