//! Chinese texts of rules for settings and of refused values. English is `Display` of `domain::settings_rule`.

use crate::domain::settings_rule::{
    AddressRule, MAX_CHARS_PER_SECOND, MAX_EXPECTED_BATTLES, MAX_IMAGE_BYTES, MAX_PROMPT_BYTES, MAX_WAIT_MS,
    NumberRule, PRACTICE_MODELS, RefusedValue, SettingRule, SignInRule, TextRule, VariableRule,
};
use crate::domain::webhook::MIN_SECRET_BYTES;

/// Rule for the value of a key, as it follows “应为：”.
pub(super) fn rule_in_chinese(rule: SettingRule) -> String {
    match rule {
        SettingRule::Number(rule) => number_rule(rule),
        SettingRule::Text(rule) => text_rule(rule),
        SettingRule::Address(rule) => address_rule(rule).to_owned(),
        SettingRule::Variable(rule) => variable_rule(rule),
        SettingRule::SignIn(rule) => sign_in_rule(rule).to_owned(),
    }
}

/// A key with its refused value.
pub(super) fn refused_value_in_chinese(key: &str, value: &RefusedValue) -> String {
    match value {
        RefusedValue::Shown(value) => format!("{key} 为 {value}"),
        RefusedValue::Unusable => format!("{key} 的值无法使用"),
        RefusedValue::UnusableForModel(model) => format!("模型 {model:?} 的 {key} 无法使用"),
        RefusedValue::UnusableForWebhook(webhook) => format!("webhook {webhook:?} 的 {key} 无法使用"),
        RefusedValue::OfModel { value, model } => format!("模型 {model:?} 的 {key} 为 {value:?}"),
        RefusedValue::Empty => format!("{key} 为空"),
        RefusedValue::UnsetVariable(variable) => format!("{key} 为 {variable:?}，但该变量没有设置"),
        RefusedValue::Twice(name) => format!("{key} 中 {name:?} 出现两次"),
        RefusedValue::Count(values) => format!("{key} 有 {values} 个值"),
        RefusedValue::NotAHash => format!("{key} 不是 argon2id 哈希值"),
        RefusedValue::NotAnEndpoint => format!("{key} 不是审核服务的地址"),
        RefusedValue::NotASite => format!("{key} 不是单独的站点地址"),
        RefusedValue::NotASiteList => format!("{key} 不是站点列表"),
    }
}

fn number_rule(rule: NumberRule) -> String {
    let text = match rule {
        NumberRule::Between(least, most) => return format!("{least} 到 {most}"),
        NumberRule::AtLeast(least) => return format!("不小于 {least}"),
        NumberRule::AboveZero => "大于 0",
        NumberRule::RatingPoints => "不小于 0，单位为评分",
        NumberRule::TokenPrice => "不小于 0，为每百万词元的价格",
        NumberRule::PriceShare => "0 到 1，为价格的比例",
        NumberRule::ShareOrNever => "0 到 1，1 表示从不",
        NumberRule::Confidence => "0.000001 到 0.999999，例如 0.95",
        NumberRule::PromptBytes => return format!("1 到 {MAX_PROMPT_BYTES}，以便放进 64 KiB 的帧"),
        NumberRule::ImageBytes => return format!("1 到 {MAX_IMAGE_BYTES}，因为图片会读入内存"),
        NumberRule::ExpectedBattles => return format!("1 到 {MAX_EXPECTED_BATTLES}，即每个模型预计的对战数"),
        NumberRule::BudgetOfPricedJudges => "0，除非每个裁判都是设有 input_price 和 output_price 的 [[models]]",
        NumberRule::RisingWaits => return format!("一个或多个 1 到 {MAX_WAIT_MS} 的等待时间，从小到大"),
        NumberRule::FallingSpeeds => return format!("一个或多个 1 到 {MAX_CHARS_PER_SECOND} 的速度，从大到小"),
        NumberRule::OrderedLimits => "每分钟、每小时和每天的上限，后者不得小于前者；0 表示不限",
    };
    text.to_owned()
}

fn text_rule(rule: TextRule) -> String {
    let text = match rule {
        TextRule::OneLine(most) => return format!("一行，最多 {most} 个字符"),
        TextRule::ShortTexts(most) => return format!("最多 {most} 个字符的文本"),
        TextRule::AnonymousAmongModes => "包含 \"anonymous\" 的列表",
        TextRule::LeakJudge => "leaks = \"exclude\" 时为一个模型，否则为 \"\"",
        TextRule::ModelId => "1 到 200 字节的名称，不含控制字符，前后没有空格",
        TextRule::PracticeModel => {
            let [others @ .., last] = PRACTICE_MODELS;
            return format!("provider 为 \"builtin\" 时可用的陪练模型：{} 或 {last}", others.join("、"));
        }
        TextRule::WebhookId => "小写字母、数字、- 和 _",
        TextRule::UniqueWebhookId => "每个 webhook 各不相同",
        TextRule::UniqueJudges => "每个裁判只写一次",
        TextRule::UniqueWitnesses => "每个见证方只写一次",
        TextRule::WitnessKey => "NAME+ID+KEY，由见证方的运营者提供",
        TextRule::Categories => "\"sexual/minors\" 这样的类别名，或 \"*\" 表示全部",
        TextRule::LogoFile => ".svg、.png、.webp 或 .jpg 文件",
        TextRule::AccentColour => "\"#1d6755\" 这样的颜色，在浅色页面上足够深（对比度 4.5 比 1）",
    };
    text.to_owned()
}

fn address_rule(rule: AddressRule) -> &'static str {
    match rule {
        AddressRule::HttpOrHttps => "以 http:// 或 https:// 开头的地址",
        AddressRule::HttpsPage => "以 https:// 开头的地址",
        AddressRule::Contact => "mailto:… 或以 https:// 开头的地址",
        AddressRule::Listen => "IP 地址和端口，例如 127.0.0.1:8717，或 0.0.0.0:8717 表示所有地址",
        AddressRule::PublicUrl => "协议、主机和端口，例如 https://arena.example.org，或留空",
        AddressRule::FramingSites => "https://lab.example.org 这样不带路径的地址，或 \"*\"",
        AddressRule::CorsOrigins => "https://example.org 这样不带路径的来源；单独的 \"*\" 表示所有来源",
        AddressRule::Models => "http://127.0.0.1:8000/v1 这样的地址",
        AddressRule::ModerationOrNone => "https://api.openai.com/v1 这样的地址，或留空",
        AddressRule::Moderation => "https://api.openai.com/v1 这样的地址",
        AddressRule::HttpScheme => "以 http:// 或 https:// 开头的地址",
        AddressRule::WithoutQuery => "不带 ? 或 # 及其后内容的地址",
        AddressRule::WithoutKey => "不带用户名和密码的地址；密钥所在的变量写在 api_key_env 中",
        AddressRule::WithoutUser => "不带用户名和密码的地址，否则会写入设置文件",
        AddressRule::ModerationWithoutCredentials => "不带用户名、密码以及 ? 或 # 及其后内容的地址",
        AddressRule::ReachableForModels => {
            "允许访问的地址：不得为链路本地地址或元数据地址，内网地址须列在 providers.private_networks 中"
        }
        AddressRule::ReachableForWebhooks => {
            "允许访问的地址，不带用户名、密码和片段（#）：不得为链路本地地址或元数据地址，内网地址须列在 providers.private_networks 中"
        }
    }
}

fn variable_rule(rule: VariableRule) -> String {
    let text = match rule {
        VariableRule::KeyName => "环境变量名，例如 OPENAI_API_KEY，切勿填写密钥本身",
        VariableRule::WebhookSecretName => "环境变量名，例如 HOOK_SECRET，切勿填写密钥本身",
        VariableRule::ClientSecretName => "环境变量名，例如 OIDC_CLIENT_SECRET，切勿填写密钥本身",
        VariableRule::SendableKey => "值中只有密钥可用字符（没有换行等）的变量",
        VariableRule::ModerationKey => "已设置密钥的变量，否则请去掉 api_key_env",
        VariableRule::WebhookSecret => return format!("所含密钥不少于 {MIN_SECRET_BYTES} 个字符的变量"),
        VariableRule::ClientSecret => "在本站运行环境中已设置的变量，否则请去掉 client_secret_env",
    };
    text.to_owned()
}

fn sign_in_rule(rule: SignInRule) -> &'static str {
    match rule {
        SignInRule::PassphraseHash => "`langya passphrase` 的输出，因为 access.mode 为 \"passphrase\"",
        SignInRule::IssuerForVisitors => "登录服务的地址，因为 access.mode 为 \"oidc\"",
        SignInRule::IssuerForAdmins => "登录服务的地址，因为 oidc.admins 为 true",
        SignInRule::Issuer => "登录服务自称的 https://… 地址；http:// 仅限本机",
        SignInRule::ClientId => "登录服务分配给本站的 ID",
        SignInRule::ReturnAddress => "本站的公开地址，登录后返回此处",
        SignInRule::Scopes => "不含空格的词，例如 \"email\"",
        SignInRule::RolesOfClaim => "仅在 oidc.role_claim 指定声明时写出各值及其角色",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_with_numbers_are_said_in_chinese_with_their_numbers() {
        for (rule, chinese) in [
            (SettingRule::Number(NumberRule::Between(10, 100_000)), "10 到 100000"),
            (SettingRule::Number(NumberRule::AtLeast(100)), "不小于 100"),
            (SettingRule::Number(NumberRule::ImageBytes), "1 到 33554432，因为图片会读入内存"),
            (SettingRule::Number(NumberRule::RisingWaits), "一个或多个 1 到 600000 的等待时间，从小到大"),
            (SettingRule::Text(TextRule::OneLine(60)), "一行，最多 60 个字符"),
            (SettingRule::Variable(VariableRule::WebhookSecret), "所含密钥不少于 16 个字符的变量"),
        ] {
            assert_eq!(rule_in_chinese(rule), chinese);
        }
    }

    #[test]
    fn all_practice_models_are_named_in_chinese() {
        let rule = rule_in_chinese(SettingRule::Text(TextRule::PracticeModel));
        assert!(rule.ends_with("practice-retriever 或 practice-scholar"), "{rule}");
        assert!(PRACTICE_MODELS.iter().all(|model| rule.contains(model)), "{rule}");
    }

    #[test]
    fn a_value_that_is_not_repeated_keeps_the_name_of_its_entry() {
        let said = |value: RefusedValue| refused_value_in_chinese("models.base_url", &value);
        assert_eq!(said(RefusedValue::Unusable), "models.base_url 的值无法使用");
        let of_model = said(RefusedValue::UnusableForModel("crane".to_owned()));
        assert_eq!(of_model, "模型 \"crane\" 的 models.base_url 无法使用");
        let of_webhook = refused_value_in_chinese("webhooks.url", &RefusedValue::UnusableForWebhook("chat".to_owned()));
        assert_eq!(of_webhook, "webhook \"chat\" 的 webhooks.url 无法使用");
    }

    #[test]
    fn what_somebody_wrote_is_repeated_however_it_begins() {
        for text in ["empty-handed", "not mine", "unusable"] {
            let value = RefusedValue::Shown(text.to_owned());
            assert_eq!(refused_value_in_chinese("site.logo", &value), format!("site.logo 为 {text}"));
            assert_eq!(value.to_string(), text);
        }
    }
}
