//! Why models and their settings are refused, and why a settings file is not in force.

use super::settings_rules::rule_in_chinese;
use crate::domain::rating::value::prices::LONGEST_SOURCE;
use crate::i18n::fill;

/// The texts of one language. Keys, paths and the words of the system stand in them as they are.
pub struct SettingsRefusalTexts {
    pub blank: &'static str,
    pub not_registered: &'static str,
    pub unreadable: &'static str,
    pub invalid: &'static str,
    pub key_missing: &'static str,
    pub same_id: &'static str,
    /// With `{key}`, `{value}` and `{rule}`.
    out_of_range: &'static str,
    /// In place of a value that is not repeated.
    hidden_value: &'static str,
    pub too_few: &'static str,
    pub no_http_client: &'static str,
    pub not_toml: &'static str,
    pub inline_models: &'static str,
    pub unknown_model: &'static str,
    pub unusual_form: &'static str,
    pub not_written: &'static str,
    pub left_as_it_was: &'static str,
    pub weight: &'static str,
    pub price: &'static str,
    pub price_date: &'static str,
    /// With `{n}` for the most characters.
    price_source: &'static str,
    pub address: &'static str,
    pub unusable_key: &'static str,
    pub unreached: &'static str,
    pub slow: &'static str,
    pub moved: &'static str,
    pub status: &'static str,
    pub too_long: &'static str,
    pub no_list: &'static str,
    pub too_many_listed: &'static str,
    pub too_many_chosen: &'static str,
    pub nothing_added: &'static str,
    pub not_edited: &'static str,
    rule: fn(&str) -> String,
}

impl SettingsRefusalTexts {
    /// What may stand somewhere, by the rule in the words of the settings.
    #[must_use]
    pub fn rule(&self, rule: &str) -> String {
        (self.rule)(rule)
    }

    /// Why the value of a key is refused. A value that may be secret is not repeated: in its place stands that it is unusable.
    #[must_use]
    pub fn out_of_range(&self, key: &str, value: &str, rule: &str) -> String {
        let is_hidden = ["unusable", "not ", "empty"].iter().any(|hidden| value.starts_with(*hidden));
        let value = if is_hidden { fill(self.hidden_value, &[("value", value)]) } else { value.to_owned() };
        fill(self.out_of_range, &[("key", key), ("value", &value), ("rule", &self.rule(rule))])
    }

    /// Why the source of a price is refused.
    #[must_use]
    pub fn price_source(&self) -> String {
        fill(self.price_source, &[("n", &LONGEST_SOURCE.to_string())])
    }
}

pub(super) const ENGLISH: SettingsRefusalTexts = SettingsRefusalTexts {
    blank: "the settings file is missing, unreadable or empty",
    not_registered: "the models could not be registered in the database: see the log",
    unreadable: "cannot read the settings file {path}: {reason}",
    invalid: "{origin}: {reason}; deploy/langya.example.toml and /docs/settings list every key",
    key_missing: "model \"{model}\" needs the key variable {variable}, which is unset or empty: export it, or take api_key_env out",
    same_id: "two models have the id \"{model}\": give each one of [[models]] an id of its own",
    out_of_range: "{key} is {value}: {rule}",
    hidden_value: "{value}",
    too_few: "a battle needs two models and {n} can be drawn: add [[models]] with a weight above 0, or set providers.practice = \"always\"",
    no_http_client: "no HTTP client for the providers: {reason}; install the system's certificates (ca-certificates)",
    not_toml: "the settings file is not valid TOML: fix it first (`langya models list` shows the line)",
    inline_models: "models is an inline array: write each model as its own [[models]] table, then try again",
    unknown_model: "no model in the settings file has the id \"{model}\"",
    unusual_form: "the entry of \"{model}\" is written in a form that cannot be edited here: edit the file by hand",
    not_written: "cannot edit {path}: {reason}; check who owns the file and its folder, and the free space",
    left_as_it_was: "{path} was left as it is, because the edited settings could not be used: {reason}",
    weight: "a weight must be 0 or more, for example 1; 0 pauses the model",
    price: "a price must be a number of 0 or more, for a million tokens",
    price_date: "The date of a price takes year, month and day, for example 2026-11-21. Nothing was changed.",
    price_source: "The source of a price takes one line of at most {n} characters without invisible ones, for example https://example.org/pricing. Nothing was changed.",
    address: "the address cannot be used: {reason}",
    unusable_key: "the value of {variable} has characters that no key has, such as a line break",
    unreached: "the server cannot be reached: {reason}; check the address, and that the server runs",
    slow: "the server did not send its list within {n} s; try again, or check what listens at the address",
    moved: "the server answered with status {status}, which leads to another address: give that address itself",
    status: "the server answered with status {status}: give the address that ends as its documentation says, often in /v1",
    too_long: "the server sent more than {n} MB, too much for a list of models",
    no_list: "the server sent no list of models: give the address of its API, often one that ends in /v1",
    too_many_listed: "the server lists more than {n} models, too many to use",
    too_many_chosen: "the server lists {n} models: choose some of them",
    nothing_added: "nothing was added: {reason}",
    not_edited: "the file could not be edited",
    rule: str::to_owned,
};

pub(super) const CHINESE: SettingsRefusalTexts = SettingsRefusalTexts {
    blank: "设置文件不存在、无法读取或为空",
    not_registered: "无法在数据库中登记模型，详见日志",
    unreadable: "无法读取设置文件 {path}：{reason}",
    invalid: "{origin} 无法作为设置使用：{reason}。所有键见 deploy/langya.example.toml 和 /docs/settings",
    key_missing: "模型 \"{model}\" 需要密钥变量 {variable}，但它没有设置或为空：请设置该变量，或去掉 api_key_env",
    same_id: "有两个模型的 ID 都是 \"{model}\"：请为每个 [[models]] 设置不同的 ID",
    out_of_range: "{key} 为 {value}，应为：{rule}",
    hidden_value: "无法使用的值",
    too_few: "一场对战需要两个模型，目前只有 {n} 个可抽取：请添加权重大于 0 的 [[models]]，或设置 providers.practice = \"always\"",
    no_http_client: "无法创建访问服务商的 HTTP 客户端：{reason}。请安装系统证书（ca-certificates）",
    not_toml: "设置文件不是有效的 TOML：请先修正（`langya models list` 会显示所在的行）",
    inline_models: "models 写成了行内数组：请把每个模型写成单独的 [[models]] 表，然后重试",
    unknown_model: "设置文件中没有 ID 为 \"{model}\" 的模型",
    unusual_form: "\"{model}\" 的条目写法无法在此编辑：请手动编辑文件",
    not_written: "无法编辑 {path}：{reason}。请检查文件及其文件夹的所有者，以及剩余空间",
    left_as_it_was: "{path} 未作更改，因为更改后的设置无法使用：{reason}",
    weight: "权重应不小于 0，例如 1；0 表示暂停该模型",
    price: "价格应为不小于 0 的数字，按每百万词元计",
    price_date: "价格的日期应写明年、月、日，例如 2026-11-21。未作任何更改。",
    price_source: "价格的来源应为一行，最多 {n} 个字符，不含不可见字符，例如 https://example.org/pricing。未作任何更改。",
    address: "地址无法使用：{reason}",
    unusable_key: "变量 {variable} 的值含有密钥中不会出现的字符，例如换行",
    unreached: "无法连接服务器：{reason}。请检查地址，以及服务器是否在运行",
    slow: "服务器在 {n} 秒内没有返回列表：请重试，或检查该地址上运行的是什么",
    moved: "服务器返回状态 {status}，指向另一个地址：请直接填写那个地址",
    status: "服务器返回状态 {status}：请按其文档填写完整的地址，通常以 /v1 结尾",
    too_long: "服务器返回的内容超过 {n} MB，不像是模型列表",
    no_list: "服务器没有返回模型列表：请填写其 API 的地址，通常以 /v1 结尾",
    too_many_listed: "服务器列出的模型超过 {n} 个，无法使用",
    too_many_chosen: "服务器列出了 {n} 个模型：请从中选择",
    nothing_added: "所选模型都已配置，或其 ID 已被占用：未添加任何模型",
    not_edited: "无法编辑该文件",
    rule: rule_in_chinese,
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refused_value_is_said_in_each_language_and_its_key_stays_as_it_is() {
        let said = |texts: &SettingsRefusalTexts| texts.out_of_range("battle.max_reply_bytes", "0", "1 or more");
        assert_eq!(said(&ENGLISH), "battle.max_reply_bytes is 0: 1 or more");
        assert_eq!(said(&CHINESE), "battle.max_reply_bytes 为 0，应为：不小于 1");
        let hidden = |texts: &SettingsRefusalTexts| texts.out_of_range("site.name", "unusable", "1 or more");
        assert_eq!(hidden(&ENGLISH), "site.name is unusable: 1 or more");
        assert_eq!(hidden(&CHINESE), "site.name 为 无法使用的值，应为：不小于 1");
    }
}
