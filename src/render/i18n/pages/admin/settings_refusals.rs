//! Error messages of models and settings files. English messages are the errors' own.

use super::settings_rules::{refused_value_in_chinese, rule_in_chinese};
use crate::domain::settings_rule::{RefusedValue, SettingRule};
use crate::i18n::fill;

/// The texts of one language. Keys, paths and system messages are not translated.
pub struct SettingsRefusalTexts {
    pub blank: &'static str,
    pub unreadable: &'static str,
    pub invalid: &'static str,
    pub key_missing: &'static str,
    pub same_id: &'static str,
    /// With `{value}` for the key with its value, and `{rule}`.
    out_of_range: &'static str,
    pub too_few: &'static str,
    pub no_http_client: &'static str,
    pub not_toml: &'static str,
    pub inline_models: &'static str,
    /// With `{model}` and `{known}` for the ids of the file.
    pub unknown_model: &'static str,
    pub no_models: &'static str,
    pub unusual_form: &'static str,
    pub not_written: &'static str,
    pub left_as_it_was: &'static str,
    /// With `{rule}`.
    address: &'static str,
    pub unusable_key: &'static str,
    pub unreached: &'static str,
    pub slow: &'static str,
    pub moved: &'static str,
    pub status: &'static str,
    pub too_long: &'static str,
    pub no_list: &'static str,
    pub too_many_listed: &'static str,
    /// With `{model}` and the `{id}` under which it is configured.
    pub configured: &'static str,
    pub id_taken: &'static str,
    /// With `{models}` for the first ones, each with its reason, and `{n}` for the number of the others.
    pub and_more: &'static str,
    /// Separator of two reasons.
    pub separator: &'static str,
    rule: fn(SettingRule) -> String,
    refused_value: fn(&str, &RefusedValue) -> String,
}

impl SettingsRefusalTexts {
    /// Message for the refused value of a key.
    #[must_use]
    pub fn out_of_range(&self, key: &str, value: &RefusedValue, rule: SettingRule) -> String {
        let (value, rule) = ((self.refused_value)(key, value), (self.rule)(rule));
        fill(self.out_of_range, &[("value", &value), ("rule", &rule)])
    }

    /// Message for the refused address of a server.
    #[must_use]
    pub fn address(&self, rule: SettingRule) -> String {
        fill(self.address, &[("rule", &(self.rule)(rule))])
    }
}

pub(super) const CHINESE: SettingsRefusalTexts = SettingsRefusalTexts {
    blank: "设置文件不存在、无法读取或为空",
    unreadable: "无法读取设置文件 {path}：{reason}",
    invalid: "{origin} 无法作为设置使用：{reason}。所有键见 deploy/langya.example.toml 和 /docs/settings",
    key_missing: "模型 \"{model}\" 需要密钥变量 {variable}，但它没有设置或为空：请设置该变量，或去掉 api_key_env",
    same_id: "有两个模型的 ID 都是 \"{model}\"：请为每个 [[models]] 设置不同的 ID",
    out_of_range: "{value}，应为：{rule}",
    too_few: "一场对战需要两个模型，目前只有 {n} 个可抽取：请添加权重大于 0 的 [[models]]，或设置 providers.practice = \"always\"",
    no_http_client: "无法创建访问服务商的 HTTP 客户端：{reason}。请安装系统证书（ca-certificates）",
    not_toml: "设置文件不是有效的 TOML：请先修正（`langya models list` 会显示所在的行）",
    inline_models: "models 写成了行内数组：请把每个模型写成单独的 [[models]] 表，然后重试",
    unknown_model: "没有 ID 为 \"{model}\" 的模型：设置文件中的 ID 有 {known}",
    no_models: "没有 ID 为 \"{model}\" 的模型：设置文件中没有 [[models]]，而只有其中的模型可以更改",
    unusual_form: "\"{model}\" 的条目写法无法在此编辑：请手动编辑文件",
    not_written: "无法编辑 {path}：{reason}。请检查文件及其文件夹的所有者，以及剩余空间",
    left_as_it_was: "{path} 未作更改，因为更改后的设置无法使用：{reason}",
    address: "地址无法使用，应为：{rule}",
    unusable_key: "变量 {variable} 的值含有密钥中不会出现的字符，例如换行",
    unreached: "无法连接服务器：{reason}。请检查地址，以及服务器是否在运行",
    slow: "服务器在 {n} 秒内没有返回列表：请重试，或检查该地址上运行的是什么",
    moved: "服务器返回状态 {status}，指向另一个地址：请直接填写那个地址",
    status: "服务器返回状态 {status}：请按其文档填写完整的地址，通常以 /v1 结尾",
    too_long: "服务器返回的内容超过 {n} MB，不像是模型列表",
    no_list: "服务器没有返回模型列表：请填写其 API 的地址，通常以 /v1 结尾",
    too_many_listed: "服务器列出的模型超过 {n} 个，无法使用",
    configured: "\"{model}\" 已配置为 \"{id}\"",
    id_taken: "ID \"{id}\" 已被另一个模型占用（更改那个条目的 ID 后即可添加）",
    and_more: "{models}；另有 {n} 个",
    separator: "；",
    rule: rule_in_chinese,
    refused_value: refused_value_in_chinese,
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::settings_rule::NumberRule;

    #[test]
    fn a_refused_value_is_said_with_its_key_and_its_rule() {
        let rule = SettingRule::Number(NumberRule::Between(0, 1));
        let said = |value: RefusedValue| CHINESE.out_of_range("limits.proof_above", &value, rule);
        assert_eq!(said(RefusedValue::Shown("7".to_owned())), "limits.proof_above 为 7，应为：0 到 1");
        assert_eq!(said(RefusedValue::Empty), "limits.proof_above 为空，应为：0 到 1");
    }
}
