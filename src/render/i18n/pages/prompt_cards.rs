//! Example prompts by user intent, and the notice on practice models.

/// The texts of the empty battle page.
pub struct CardTexts {
    pub shuffle: &'static str,
    pub cards: &'static [Card],
    /// Shown if only practice models answer, with the ways to add others.
    pub practice: &'static str,
    pub practice_ways: &'static [&'static str],
}

/// Questions of one intent.
pub struct Card {
    /// One of the intents of URS.
    pub intent: &'static str,
    pub label: &'static str,
    pub prompts: &'static [&'static str],
}

impl Card {
    /// Prompts as JSON for the page's script.
    pub fn prompts_json(&self) -> String {
        serde_json::to_string(self.prompts).expect("a list of strings is JSON")
    }
}

pub(super) const ENGLISH: CardTexts = CardTexts {
    shuffle: "Other questions",
    cards: &[
        Card {
            intent: "factual_qa",
            label: "Factual QA",
            prompts: &["Explain to a ten-year-old why the sky is blue.", "What causes earthquakes?"],
        },
        Card {
            intent: "solve_professional_problem",
            label: "Solve Problem",
            prompts: &["What is 17 × 23? Show each step.", "Write binary search in Python and explain it."],
        },
        Card {
            intent: "text_assistant",
            label: "Text Assistant",
            prompts: &[
                "Compare bubble sort and quicksort in a table, then write quicksort in Python.",
                "Say it more politely: Send me the report today.",
            ],
        },
        Card {
            intent: "ask_for_advice",
            label: "Ask for Advice",
            prompts: &["How can I sleep better?", "How should I prepare for a first job interview?"],
        },
        Card {
            intent: "seek_creativity",
            label: "Seek Creativity",
            prompts: &[
                "Write four lines about a mountain in autumn.",
                "Think of five names for a small café by the sea.",
            ],
        },
        Card {
            intent: "leisure",
            label: "Leisure",
            prompts: &[
                "Explain the rules of chess in five sentences.",
                "Tell me something surprising about the oceans.",
            ],
        },
    ],
    practice: "Only practice models answer here. How to add real ones",
    practice_ways: &[
        "The built-in practice models are small programs, good for trying the arena out. They stop taking part as soon as a real model is configured. If you run this arena:",
        "On the machine of this arena, run: langya models add --from ADDRESS, with the address of your vLLM, LiteLLM, llama.cpp or Ollama server or of a provider such as OpenRouter. A provider needs a key: set it in a variable, and add --key-env with the variable's name. The command writes the models into langya.toml, and the arena picks them up automatically. Then test each one with langya models check.",
        "Or start Ollama, llama.cpp, vLLM or LM Studio on this machine, or set OPENAI_API_KEY or ANTHROPIC_API_KEY, and start the arena again: it finds them.",
    ],
};

pub(super) const CHINESE: CardTexts = CardTexts {
    shuffle: "换一批",
    cards: &[
        Card {
            intent: "factual_qa",
            label: "信息检索",
            prompts: &["向十岁的孩子解释天空为什么是蓝色的。", "地震是怎么发生的？"],
        },
        Card {
            intent: "solve_professional_problem",
            label: "解决专业问题",
            prompts: &["17 × 23 等于多少？请写出每一步。", "用 Python 写二分查找并解释。"],
        },
        Card {
            intent: "text_assistant",
            label: "处理文本事务",
            prompts: &[
                "用表格比较冒泡排序和快速排序，再用 Python 写出快速排序。",
                "换一种更礼貌的说法：今天把报告发给我。",
            ],
        },
        Card {
            intent: "ask_for_advice",
            label: "给出建议",
            prompts: &["怎样才能睡得更好？", "第一次面试该怎么准备？"],
        },
        Card {
            intent: "seek_creativity",
            label: "给出创意",
            prompts: &["以秋日的山为题写四句诗。", "给海边的小咖啡馆起五个名字。"],
        },
        Card {
            intent: "leisure",
            label: "休闲娱乐",
            prompts: &["用五句话解释国际象棋的规则。", "说一件关于海洋的趣事。"],
        },
    ],
    practice: "目前只有陪练模型作答。如何添加真正的模型",
    practice_ways: &[
        "内置的陪练模型是小程序，用来试用竞技场。设置好真正的模型后，它们会自动退出。请本站运营者：",
        "在运行竞技场的机器上执行：langya models add --from ADDRESS（vLLM、LiteLLM、llama.cpp 或 Ollama 服务的地址，或 OpenRouter 等服务商的地址）。服务商需要密钥时：把密钥放在环境变量里，并用 --key-env 指定变量名。命令会把模型写入 langya.toml，运行中的竞技场会自动启用。然后用 langya models check 逐个检查。",
        "也可以在本机启动 Ollama、llama.cpp、vLLM 或 LM Studio，或设置 OPENAI_API_KEY 或 ANTHROPIC_API_KEY，然后重新启动竞技场，即可自动找到。",
    ],
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::benchmark::suites::urs::INTENTS;

    #[test]
    fn each_intent_has_a_card_with_several_questions_in_both_languages() {
        for texts in [&ENGLISH, &CHINESE] {
            let intents: Vec<&str> = texts.cards.iter().map(|card| card.intent).collect();
            assert_eq!(intents, INTENTS.map(|intent| intent.name.to_lowercase()));
            assert!(texts.cards.iter().all(|card| card.prompts.len() >= 2));
        }
    }

    #[test]
    fn a_card_has_the_name_of_its_intent_in_benchmarks() {
        for ((english, chinese), intent) in ENGLISH.cards.iter().zip(CHINESE.cards).zip(INTENTS) {
            assert_eq!([english.label, chinese.label], [intent.title, intent.chinese]);
        }
    }
}
