//! Why replies of models failed, in Chinese. Reasons are stored in English, as `infra::llm::ChatError` says them.

/// The Chinese of a reason; `None` where it is none that the program writes now.
pub(super) fn chinese(reason: &str) -> Option<String> {
    if let Some(detail) = reason.strip_prefix("connection to the provider failed: ") {
        return Some(format!("与服务商的连接失败：{}", connection(detail)));
    }
    if let Some(status) = reason.strip_prefix("the provider answered with status ") {
        return Some(format!("服务商返回了状态码 {status}"));
    }
    if let Some(detail) = reason.strip_prefix("the provider's stream is malformed: ") {
        return Some(format!("服务商的数据流格式有误：{}", body(detail)));
    }
    let fixed = match reason {
        "the provider reported an error in mid-stream" => "服务商在传输途中报告了错误",
        "the reply was empty" => "回答为空",
        "the model's circuit breaker is open after repeated failures: it is tried again automatically" => {
            "模型多次失败后正在熔断，稍后会自动重试"
        }
        _ => return timeout(reason),
    };
    Some(fixed.to_owned())
}

fn timeout(reason: &str) -> Option<String> {
    let (awaited, seconds) = reason.strip_prefix("no ")?.strip_suffix(" s")?.split_once(" within ")?;
    let awaited = match awaited {
        "first token" => "没有收到首字",
        "next token" => "没有收到后续内容",
        "end of the reply" => "回答没有结束",
        _ => return None,
    };
    Some(format!("{seconds} 秒内{awaited}"))
}

/// As `infra::llm::transport` says what broke.
fn connection(detail: &str) -> &str {
    match detail {
        "refused: nothing listens there" => "被拒绝，该地址没有服务在监听",
        "reset" => "被重置",
        "it broke off" => "中断",
        "not in time" | "timed out" => "超时",
        "no connection, or not in time" => "无法建立，或超时",
        "the host is unreachable" => "主机不可达",
        "the host's name is unknown" => "主机名未知",
        "the name leads to a forbidden address" => "域名指向被禁止的地址",
        "the request cannot be built" => "无法构造请求",
        "the TLS handshake failed: the certificate is not trusted, or no TLS is spoken there" => {
            "TLS 握手失败，证书不受信任，或该地址不使用 TLS"
        }
        "the answer is not HTTP: another port, or https:// in place of http://, may be needed" => {
            "响应不是 HTTP，可能需要换端口，或把 http:// 改为 https://"
        }
        other => other,
    }
}

fn body(detail: &str) -> &str {
    match detail {
        "its body is compressed, which was not asked for" => "内容经过压缩，而请求并未要求压缩",
        "its body is a web page" => "内容是网页",
        "its body is one JSON document, not a stream" => "内容是单个 JSON 文档，不是数据流",
        "its body holds no event" => "内容中没有任何事件",
        other => other,
    }
}
