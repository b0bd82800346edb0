//! Chinese translations of the failure reasons of replies, benchmark runs and jobs, which are stored in the English of the errors of
//! `infra::llm`, `infra::storage` and `domain::benchmark`.

use crate::domain::language::Language;

/// Introduction of an untranslated English reason on Chinese pages.
const QUOTED: &str = "这条说明没有中文译文，英文原文如下：";

/// Displayed text of an error or a note that is stored in English.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailureWords {
    /// Translation or introduction in the language of the page; may be empty.
    pub said: String,
    /// Stored English text; empty if `said` translates it.
    pub quoted: String,
}

/// Returns the displayed text of a stored reason: its translation if known, otherwise the stored text after an introduction.
#[must_use]
pub fn failure_words(stored: &str, language: Language) -> FailureWords {
    let quoted = |said: &str| FailureWords { said: said.to_owned(), quoted: stored.to_owned() };
    match language {
        Language::English => quoted(""),
        Language::Chinese => match known(stored) {
            Some(said) => FailureWords { said, quoted: String::new() },
            None => quoted(QUOTED),
        },
    }
}

fn known(stored: &str) -> Option<String> {
    match stored {
        "it panicked, see the log" => Some("任务意外中断，详见程序日志".to_owned()),
        _ => database(stored).or_else(|| run_failures(stored)),
    }
}

/// Translates the failures of a run in the form of `RunRecord`: `crane: 2 × the reply was empty; 1 × empty answer; heron: …`.
fn run_failures(stored: &str) -> Option<String> {
    let parts: Option<Vec<String>> = stored.split("; ").map(translate_counted_reason).collect();
    Some(parts?.join("；"))
}

fn translate_counted_reason(part: &str) -> Option<String> {
    let (times, reason) = part.split_once(" × ")?;
    let (model, times) = times.rsplit_once(": ").map_or((None, times), |(model, times)| (Some(model), times));
    let times: u64 = times.parse().ok()?;
    let reason = request_failure(reason)?;
    Some(model.map_or_else(|| format!("{reason}（{times} 次）"), |model| format!("{model}：{reason}（{times} 次）")))
}

fn request_failure(reason: &str) -> Option<String> {
    if let Some(error) = reason.strip_prefix("the provider refuses the request: ") {
        return Some(format!("服务商拒绝了这个请求：{}", chinese(error)?));
    }
    let judged = match reason {
        "no verdict in the form asked for" => "没有按要求的格式给出结论",
        "a score beyond the scale" => "分数超出范围",
        "refused by the judge or its provider" => "裁判或其服务商拒绝评判",
        "empty answer" => "回答为空，无可评判",
        _ => return chinese(reason),
    };
    Some(judged.to_owned())
}

/// Translates an error of `StoreError` or `OutageKind` in `infra::storage`.
fn database(stored: &str) -> Option<String> {
    let kind = stored.strip_prefix("the database fails: ").or_else(|| stored.strip_prefix("the database failed: "));
    let kind = match kind {
        None if stored == "the database failed" => "操作失败，详见程序日志",
        None => return None,
        Some(kind) => outage(kind)?,
    };
    Some(format!("数据库：{kind}"))
}

fn outage(kind: &str) -> Option<&'static str> {
    Some(match kind {
        "it cannot be reached or does not answer: start its server, or look at its load" => {
            "无法连接或没有响应，请启动数据库服务器或检查其负载"
        }
        "its server has no connection left: raise its max_connections, or lower storage.max_connections" => {
            "服务器的连接已用完，请调高其 max_connections 或调低 storage.max_connections"
        }
        "it refuses the user or the password: correct them on the server or in storage.database" => {
            "拒绝用户名或密码，请在服务器或 storage.database 中更正"
        }
        "its user lacks a right that the arena needs: GRANT it (`langya doctor` names it)" => {
            "用户缺少所需的权限，请用 GRANT 授予（langya doctor 会列出）"
        }
        "it is read-only: use the address of the primary server, or turn default_transaction_read_only off" => {
            "只读，请改用主库，或关闭 default_transaction_read_only"
        }
        "its server runs with fsync = off and would lose votes in a crash: turn it on" => {
            "服务器设置了 fsync = off，崩溃时会丢失选票，请打开"
        }
        "its server runs with full_page_writes = off and could lose votes in a crash: turn it on" => {
            "服务器设置了 full_page_writes = off，崩溃时可能丢失选票，请打开"
        }
        "the disk that holds it is full: free some space" => "所在磁盘已满，请清理空间",
        "the disk that holds the data folder is full: free some space" => "数据文件夹所在磁盘已满，请清理空间",
        "the data folder cannot be read or written: check its disk and its permissions" => {
            "无法读写数据文件夹，请检查磁盘和权限"
        }
        "another program holds its write lock: wait until that program ends, or end it (`fuser` on the file names it)" => {
            "写锁被另一个程序占用，请等它结束或将其结束（对数据库文件运行 fuser 可以查到）"
        }
        "another session holds a lock that is needed: wait until the session that pg_locks names ends, or end it" => {
            "所需的锁被另一个会话占用，请等 pg_locks 中的那个会话结束或将其结束"
        }
        "its file is damaged: stop the arena, keep a copy of the data folder, and restore the newest backup" => {
            "文件已损坏，请停止竞技场，保留一份数据文件夹的副本，再恢复最新的备份"
        }
        "its file, or the one that ends in -wal, was removed or replaced: if it was deleted, copy both from /proc/PID/fd before you stop the arena; otherwise put it back and restart" => {
            "文件（或以 -wal 结尾的文件）已被移走或替换：如果已被删除，请先从 /proc/PID/fd 复制出这两个文件，再停止竞技场；否则请放回原处并重新启动"
        }
        _ => return None,
    })
}

/// Translates a reason to Chinese; `None` if this version does not write it.
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
    if let Some(detail) = reason.strip_prefix("the request got no reply in its batch: ") {
        return Some(format!("该请求在批处理中没有得到回复：{}", batch_end(detail)));
    }
    let fixed = match reason {
        "the provider reported an error in mid-stream" => "服务商在传输途中报告了错误",
        "the reply was empty" => "回答为空",
        "the model's circuit breaker is open after repeated failures: it is tried again automatically" => {
            "模型多次失败，已暂停使用，稍后会自动重试"
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

/// Translates a connection error of `infra::llm::transport`.
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

/// Translates a `BatchEnd` of `infra::llm::batch`; the words of a provider or program stay as they are.
fn batch_end(detail: &str) -> String {
    if let Some(error) = detail.strip_prefix("its results cannot be read: ") {
        return format!("无法读取结果：{error}");
    }
    let refused = detail.strip_prefix("the provider refused the batch (").and_then(|rest| rest.strip_suffix(')'));
    if let Some(error) = refused {
        return format!("服务商拒绝了这一批请求（{error}）");
    }
    let said = match detail {
        "the batch expired before the provider answered it" => "服务商未能在期限内完成",
        "the batch was cancelled" => "已被取消",
        "the batch ended without a result for this request" => "已结束，但没有该请求的结果",
        "the provider does not know the batch any more" => "服务商处已没有这一批请求",
        "the batch could not be recorded in the database, so it was not sent" => "无法存入数据库，因此没有发送",
        "the batch is still running at the provider: a later run collects its replies" => {
            "服务商仍在处理，以后的运行会取回回复"
        }
        other => other,
    };
    said.to_owned()
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
