//! An operator finds a voter, sees what an exclusion would change, makes it and takes it back.

use langya::domain::admin::role::Role;
use langya::domain::integrity::vote_filter::VoteFilter;
use langya::formats::tables::Format;
use langya::infra::config::VoteAccess;
use langya::infra::storage::AuditFilter;
use langya::infra::stored_votes::selection::select;
use langya::services::import_export::export::{self, ExportSelection};
use langya::services::import_export::vote_log_pages::{LineFormat, vote_lines};
use reqwest::StatusCode;
use serde_json::Value;

use super::browser::{Browser, arena, signed_in};
use crate::support::arena::TestArena;
use crate::support::until;
use crate::support::visitor::get;

/// The leaderboard once so many votes are rated, without its date.
async fn leaderboard(arena: &TestArena, rated: u64) -> Value {
    until(async || {
        let mut leaderboard: Value = get(&format!("{}/api/v1/leaderboard", arena.url)).await.json().await.unwrap();
        leaderboard.as_object_mut().unwrap().remove("as_of");
        (leaderboard["votes"]["rated"] == rated).then_some(leaderboard)
    })
    .await
}

async fn text(browser: &mut Browser, path: &str) -> String {
    let answer = browser.get(path).await;
    assert_eq!(answer.status(), StatusCode::OK, "{path}");
    answer.text().await.unwrap()
}

#[actix_web::test]
async fn an_operator_excludes_a_voter_after_a_preview_and_undoes_it_and_a_reviewer_may_only_look() {
    let arena = arena(|_| {}).await;
    for (votes, outcome) in [(3, "a"), (2, "b")] {
        let mut visitor = arena.visitor().await;
        for _ in 0..votes {
            visitor.ask("Why?").await;
            visitor.until_ready().await;
            visitor.vote(outcome).await;
        }
    }
    let before = leaderboard(&arena, 5).await;
    let voter = select(&arena.app.store, &VoteFilter::default(), |_, _| {}).await.unwrap()[0].voter.to_string();
    let (mut reviewer, mut operator) =
        (signed_in(&arena, Role::Reviewer).await, signed_in(&arena, Role::Operator).await);
    let seen = text(&mut reviewer, &format!("/admin/votes?voter={voter}")).await;
    assert!(seen.contains("3 votes, 0 of them excluded.") && !seen.contains("/admin/votes/decide"), "{seen}");
    let battle = arena.app.store.battles_of_votes(&[1]).await.unwrap().remove(&1).unwrap();
    assert!(seen.contains(&format!("<code>{battle}</code>")), "a request names its battle: {seen}");
    assert!(text(&mut reviewer, "/admin/voters").await.contains("No voter is flagged."));
    assert!(text(&mut operator, "/admin/votes").await.contains("5 votes, 0 of them excluded."));
    let form = text(&mut operator, &format!("/admin/votes?voter={voter}")).await;
    assert!(form.contains(r#"pattern=".*\S.*""#), "no reason of spaces: {form}");

    let decision = format!("voter={voter}&change=exclude&by=anomalous_voter&reason=a+script");
    let preview = text(&mut operator, &format!("/admin/votes/decide?{decision}")).await;
    assert!(preview.contains("3 votes would be excluded. Number of their voters: 1."), "{preview}");
    assert_eq!(leaderboard(&arena, 5).await, before, "a preview changes nothing");
    // A vote that comes after the preview is not part of the decision.
    let upto = preview.split("name=\"upto\" value=\"").nth(1).unwrap().split('"').next().unwrap().to_owned();
    assert_eq!(upto, "5");
    let fields = [("voter", voter.as_str()), ("change", "exclude"), ("by", "anomalous_voter"), ("reason", "a script")];
    let of = |upto: &'static str| [&fields[..], &[("upto", upto)]].concat();
    assert_eq!(reviewer.post_form("/admin/votes/decide", &of("5")).await.status(), StatusCode::FORBIDDEN);
    for wrong in [
        &fields[..],
        &[("change", "exclude"), ("reason", "all"), ("upto", "5")],
        &[("voter", &voter), ("change", "exclude"), ("upto", "5")],
    ] {
        assert_eq!(
            operator.post_form("/admin/votes/decide", wrong).await.status(),
            StatusCode::BAD_REQUEST,
            "{wrong:?}"
        );
    }
    let upto_one = operator.post_form("/admin/votes/decide", &of("1")).await;
    assert_eq!(upto_one.status(), StatusCode::SEE_OTHER);
    leaderboard(&arena, 4).await;
    operator.post_form("/admin/votes/decide", &of("5")).await;
    leaderboard(&arena, 2).await;
    let excluded = text(&mut operator, &format!("/admin/votes?voter={voter}&done=1")).await;
    assert!(excluded.contains("3 votes, 3 of them excluded.") && excluded.contains("<td>Anomalous voter</td>"));
    let published = get(&format!("{}/api/v1/exclusions", arena.url)).await.text().await.unwrap();
    assert!(published.contains("a script") && !published.contains("operator"), "who decided it is not published");

    let undo = [("voter", voter.as_str()), ("change", "include"), ("by", ""), ("upto", "5")];
    assert_eq!(operator.post_form("/admin/votes/decide", &undo).await.status(), StatusCode::SEE_OTHER);
    assert_eq!(leaderboard(&arena, 5).await, before, "undone to the last bit");
    let of_operator = AuditFilter { actor: Some("operator".into()), ..AuditFilter::default() };
    let audit = arena.app.store.audit_entries(&of_operator, 9).await.unwrap();
    assert_eq!(audit.len(), 4, "{audit:?}");
    assert_eq!(
        (audit[0].action.as_str(), audit[0].former.as_deref()),
        ("include_votes", Some("{\"rule\":null,\"votes\":3}"))
    );
    assert_eq!(audit[1].latter.as_deref(), Some("{\"reason\":\"a script\",\"rule\":\"anomalous_voter\",\"votes\":2}"));
    assert_eq!(audit[1].subject, format!("voter {voter}, votes up to 5"));
    assert_eq!(audit[1].address, "127.0.0.1");
}

#[actix_web::test]
async fn the_admin_says_what_it_refuses_in_the_language_of_its_reader() {
    let arena = arena(|_| {}).await;
    let (mut viewer, mut operator) = (signed_in(&arena, Role::Viewer).await, signed_in(&arena, Role::Operator).await);
    let (field, missing) = ("有一项没有填写或填写有误", "此处空无一物");
    let button = |href: &str, action: &str| format!("<a class=\"button primary\" href=\"{href}\">{action}</a>");
    let (to_form, to_admin) = (button("/admin/votes", "打开表单所在的页面"), button("/admin", "回到概览"));
    for (path, title, said, way_out) in [
        ("/admin/votes?prompt_cluster=zz", field, "问题簇的编号是 16 位十六进制数。", &to_form),
        ("/admin/votes/decide?change=exclude&reason=why", field, "请说明是哪些投票", &to_form),
        ("/admin/votes/decide?voter=v&change=exclude&reason=+", field, "请填写 1 到 500 个字符的理由。", &to_form),
        ("/admin/campaigns/one?id=nowhere", missing, "没有这个标注活动。", &to_admin),
        ("/admin/models/change?model=nowhere", missing, "没有标识与此相同的参战或暂停的模型。", &to_admin),
        ("/admin/requests/one?id=nowhere", missing, "没有编号与此相同的删除请求。", &to_admin),
        ("/admin/moderation/one?id=nowhere", missing, "没有编号与此相同的标记内容。", &to_admin),
    ] {
        let page = operator.open(&format!("{path}&lang=zh")).await.text().await.unwrap();
        assert!(page.contains(said) && !page.contains("class=\"missing-reason\" lang=\"en\""), "{path}: {page}");
        assert!(page.contains(&format!("<h1>{title}</h1>")) && page.contains(way_out.as_str()), "{path}: {page}");
    }
    assert_eq!(operator.open("/admin/votes").await.status(), StatusCode::OK, "the way out is no dead end");
    let refused = viewer.open("/admin/audit?lang=zh").await;
    assert_eq!(refused.status(), StatusCode::FORBIDDEN);
    let refused = refused.text().await.unwrap();
    assert!(refused.contains("需要“操作员”或更高的角色。") && refused.contains(&to_admin), "{refused}");
    let english = operator.get("/admin/votes/decide?change=exclude&reason=why&lang=zh").await.text().await.unwrap();
    assert_eq!(english, "say which votes: a voter, a model, a rule, a prompt cluster or a battle\n", "for programs");
}

#[actix_web::test]
async fn an_operator_downloads_the_vote_log_as_the_command_writes_it_and_the_audit_log_says_so() {
    let arena = arena(|settings| settings.api.votes = VoteAccess::Off).await;
    let (mut reviewer, mut operator) =
        (signed_in(&arena, Role::Reviewer).await, signed_in(&arena, Role::Operator).await);
    let exported = async |format: Format| {
        let mut table = Vec::new();
        export::votes(&arena.app.store, ExportSelection::ALL, format, &mut table, |_, _| {}).await.unwrap();
        String::from_utf8(table).unwrap()
    };
    let empty = operator.post_form("/admin/votes/export", &[("format", "csv")]).await.text().await.unwrap();
    assert!(!empty.is_empty() && empty == exported(Format::Csv).await, "the header alone: {empty}");
    let mut visitor = arena.visitor().await;
    for outcome in ["a", "b"] {
        visitor.ask("Why?").await;
        visitor.until_ready().await;
        visitor.vote(outcome).await;
    }
    assert!(!text(&mut reviewer, "/admin/votes").await.contains("/admin/votes/export"));
    assert!(text(&mut operator, "/admin/votes").await.contains("/admin/votes/export"));
    for (name, format, kind) in
        [("csv", Format::Csv, "text/csv; charset=utf-8"), ("jsonl", Format::Jsonl, "application/x-ndjson")]
    {
        let answer = operator.post_form("/admin/votes/export", &[("format", name)]).await;
        assert_eq!(answer.status(), StatusCode::OK);
        let headers = answer.headers().clone();
        assert_eq!(headers["content-disposition"], format!("attachment; filename=\"votes.{name}\""));
        assert_eq!(
            (&headers["content-type"], &headers["cache-control"]),
            (&kind.parse().unwrap(), &"no-store".parse().unwrap())
        );
        let file = answer.text().await.unwrap();
        assert!(file.matches("Why?").count() == 0 && file.lines().count() >= 2, "{file}");
        assert_eq!(file, exported(format).await);
    }
    let unknown = operator.post_form("/admin/votes/export", &[("format", "xlsx")]).await;
    assert_eq!(unknown.status(), StatusCode::BAD_REQUEST);
    // Two pages of one vote each: the header stands before the first alone.
    let mut pages = LineFormat::Csv.header().unwrap().unwrap();
    for after in [0, 1] {
        pages.extend(vote_lines(&arena.app.store, after, 2, 1, LineFormat::Csv).await.unwrap().unwrap().text);
    }
    assert_eq!(String::from_utf8(pages).unwrap(), exported(Format::Csv).await);
    let audit = arena.app.store.audit_entries(&AuditFilter::default(), 9).await.unwrap();
    let exports: Vec<_> = audit.iter().filter(|entry| entry.action == "export_votes").collect();
    let mut formats: Vec<_> = exports.iter().map(|entry| entry.latter.as_deref().unwrap()).collect();
    formats.sort_unstable();
    assert_eq!(formats, ["{\"format\":\"csv\"}", "{\"format\":\"csv\"}", "{\"format\":\"jsonl\"}"]);
    assert!(exports.iter().all(|entry| entry.actor == "operator" && entry.via == "page"), "{exports:?}");
}
