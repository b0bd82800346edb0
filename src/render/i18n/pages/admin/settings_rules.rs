//! What may stand in the settings, in Chinese, by the words in which the settings refuse everything else.

/// Rules that are no plain range.
const RULES: [(&str, &str); 55] = [
    ("more than 0", "大于 0"),
    ("0 or more, in rating points", "不小于 0，单位为评分"),
    ("0 or more, the price of a million tokens", "不小于 0，为每百万词元的价格"),
    ("0 to 1, a share of the prices", "0 到 1，为价格的比例"),
    ("0 to 1, where 1 means never", "0 到 1，1 表示从不"),
    ("0.000001 to 0.999999, for example 0.95", "0.000001 到 0.999999，例如 0.95"),
    ("1 to 60000, so that a frame of 64 KiB holds it", "1 到 60000，以便放进 64 KiB 的帧"),
    ("1 to 33554432, since an image is read in memory", "1 到 33554432，因为图片会读入内存"),
    ("1 to 1000000, the battles of each model that you expect", "1 到 1000000，即每个模型预计的对战数"),
    (
        "0 unless every judge is one of [[models]] with input_price and output_price",
        "0，除非每个裁判都是设有 input_price 和 output_price 的 [[models]]",
    ),
    ("one or more waits from 1 to 600000, in rising order", "一个或多个 1 到 600000 的等待时间，从小到大"),
    ("one or more speeds from 1 to 100000, in falling order", "一个或多个 1 到 100000 的速度，从大到小"),
    (
        "limits per minute, hour and day, none below the one before it; 0 for no limit",
        "每分钟、每小时和每天的上限，后者不得小于前者；0 表示不限",
    ),
    ("a list with \"anonymous\" in it", "包含 \"anonymous\" 的列表"),
    ("a model beside leaks = \"exclude\", or \"\"", "leaks = \"exclude\" 时为一个模型，否则为 \"\""),
    (
        "a name of 1 to 200 bytes, without control characters and without spaces around it",
        "1 到 200 字节的名称，不含控制字符，前后没有空格",
    ),
    ("one line of at most 500 characters", "一行，最多 500 个字符"),
    ("one line of at most 60 characters", "一行，最多 60 个字符"),
    ("texts of at most 4000 characters", "最多 4000 个字符的文本"),
    ("lower-case letters, digits, - and _", "小写字母、数字、- 和 _"),
    ("each webhook its own", "每个 webhook 各不相同"),
    ("each judge once", "每个裁判只写一次"),
    ("each witness once", "每个见证方只写一次"),
    ("NAME+ID+KEY, as the operator of the witness gives it", "NAME+ID+KEY，由见证方的运营者提供"),
    ("an address with http:// or https://", "以 http:// 或 https:// 开头的地址"),
    ("an address with https://", "以 https:// 开头的地址"),
    ("mailto:… or an address with https://", "mailto:… 或以 https:// 开头的地址"),
    (
        "addresses such as https://lab.example.org, without a path, or \"*\"",
        "https://lab.example.org 这样不带路径的地址，或 \"*\"",
    ),
    (
        "origins such as https://example.org, without a path; \"*\" alone stands for all",
        "https://example.org 这样不带路径的来源；单独的 \"*\" 表示所有来源",
    ),
    ("a .svg, .png, .webp or .jpg file", ".svg、.png、.webp 或 .jpg 文件"),
    (
        "a colour such as \"#1d6755\", dark enough to be read on light pages (contrast 4.5 to 1)",
        "\"#1d6755\" 这样的颜色，在浅色页面上足够深（对比度 4.5 比 1）",
    ),
    (
        "an IP address and a port, such as 127.0.0.1:8717, or 0.0.0.0:8717 for every address",
        "IP 地址和端口，例如 127.0.0.1:8717，或 0.0.0.0:8717 表示所有地址",
    ),
    (
        "write scheme, host and port, such as https://arena.example.org, or nothing",
        "协议、主机和端口，例如 https://arena.example.org，或留空",
    ),
    ("write one such as https://api.openai.com/v1, or nothing", "https://api.openai.com/v1 这样的地址，或留空"),
    (
        "names of categories such as \"sexual/minors\", or \"*\" for all",
        "\"sexual/minors\" 这样的类别名，或 \"*\" 表示全部",
    ),
    (
        "write the name of an environment variable such as OPENAI_API_KEY, and never the key",
        "环境变量名，例如 OPENAI_API_KEY，切勿填写密钥本身",
    ),
    (
        "write the name of an environment variable such as HOOK_SECRET, and never the secret",
        "环境变量名，例如 HOOK_SECRET，切勿填写密钥本身",
    ),
    (
        "write the name of an environment variable such as OIDC_CLIENT_SECRET, and never the secret",
        "环境变量名，例如 OIDC_CLIENT_SECRET，切勿填写密钥本身",
    ),
    (
        "write what `langya passphrase` prints, because access.mode is \"passphrase\"",
        "`langya passphrase` 的输出，因为 access.mode 为 \"passphrase\"",
    ),
    ("write the provider's address, because access.mode is \"oidc\"", "登录服务的地址，因为 access.mode 为 \"oidc\""),
    ("the provider's address, where oidc.admins is true", "登录服务的地址，因为 oidc.admins 为 true"),
    (
        "https://…, as the provider calls itself; http:// on this machine only",
        "登录服务自称的 https://… 地址；http:// 仅限本机",
    ),
    ("the id that the provider gave the arena", "登录服务分配给本站的 ID"),
    ("the arena's public address, to which the provider sends people back", "本站的公开地址，登录后返回此处"),
    ("words without spaces, such as \"email\"", "不含空格的词，例如 \"email\""),
    (
        "values and their roles where oidc.role_claim names a claim, and nowhere else",
        "仅在 oidc.role_claim 指定声明时写出各值及其角色",
    ),
    ("write an address such as http://127.0.0.1:8000/v1", "http://127.0.0.1:8000/v1 这样的地址"),
    ("write one such as http://127.0.0.1:8000/v1", "请填写 http://127.0.0.1:8000/v1 这样的地址"),
    ("write an address that starts with http:// or https://", "以 http:// 或 https:// 开头的地址"),
    ("write one that starts with http:// or https://", "请以 http:// 或 https:// 开头"),
    ("write the address without what follows a ? or #", "不带 ? 或 # 及其后内容的地址"),
    ("write it without what follows a ? or #", "请去掉 ? 或 # 及其后的内容"),
    (
        "write it without a user or password: the settings file would hold them",
        "请去掉用户名和密码，否则会写入设置文件",
    ),
    (
        "link-local and metadata addresses are not allowed, and private networks only if providers.private_networks lists them",
        "链路本地地址和元数据地址不允许使用，内网地址须列在 providers.private_networks 中",
    ),
    (
        "write no name and no password into the address: name the key's variable as api_key_env",
        "不带用户名和密码的地址；密钥所在的变量写在 api_key_env 中",
    ),
];

/// A rule in Chinese; in its own words where they are unknown.
pub(super) fn rule_in_chinese(rule: &str) -> String {
    let is_number = |text: &str| text.parse::<f64>().is_ok();
    let known = RULES.iter().find(|(english, _)| *english == rule).map(|(_, chinese)| (*chinese).to_owned());
    let range = || {
        let (least, most) = rule.split_once(" to ").filter(|(least, most)| is_number(least) && is_number(most))?;
        Some(format!("{least} 到 {most}"))
    };
    let from = || {
        let least = rule.strip_suffix(" or more").filter(|least| is_number(least))?;
        Some(format!("不小于 {least}"))
    };
    known.or_else(range).or_else(from).unwrap_or_else(|| rule.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_and_rules_are_said_in_chinese() {
        for (rule, chinese) in [
            ("0 to 1", "0 到 1"),
            ("10 to 100000", "10 到 100000"),
            ("0 or more", "不小于 0"),
            ("more than 0", "大于 0"),
            ("each judge once", "每个裁判只写一次"),
            ("something else to do or more", "something else to do or more"),
        ] {
            assert_eq!(rule_in_chinese(rule), chinese);
        }
    }
}
