//! An operator finds a voter, sees what an exclusion would change, makes it and takes it back.

use langya::domain::admin::role::Role;
use langya::domain::integrity::vote_filter::VoteFilter;
use langya::infra::storage::AuditFilter;
use langya::infra::stored_votes::selection::select;
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
    assert!(text(&mut reviewer, "/admin/voters").await.contains("No voter is flagged."));
    assert!(text(&mut operator, "/admin/votes").await.contains("5 votes, 0 of them excluded."));

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
