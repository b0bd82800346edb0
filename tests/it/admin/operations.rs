//! The page of operations: the jobs of the instance, and what the doctor says.

use langya::domain::admin::role::Role;
use reqwest::StatusCode;

use super::browser::{arena, signed_in};
use crate::support::until;

/// Jobs that run soon after the start of an arena that is alone.
const SOON: [&str; 9] = [
    "follow_sign_outs",
    "judge_battles",
    "compute_correlations",
    "store_breakers",
    "elect_leader",
    "fit_leaderboard",
    "append_public_log",
    "compute_robustness",
    "run_metrics_upkeep",
];

#[actix_web::test]
async fn a_viewer_sees_every_job_with_its_last_run_and_error_and_what_the_doctor_says() {
    let arena = arena(|_| {}).await;
    until(async || {
        let jobs = arena.app.tasks.jobs();
        SOON.iter().all(|job| jobs[job].runs > 0).then_some(())
    })
    .await;
    arena.app.tasks.job_report("record_model_changes").fail(&"the disk <burns>");
    let mut viewer = signed_in(&arena, Role::Viewer).await;
    let answer = viewer.get("/admin/operations").await;
    assert_eq!(answer.status(), StatusCode::OK);
    let page = answer.text().await.unwrap();
    let row = |name: &str| {
        let named = [format!("<th scope=\"row\">{name}<"), format!("<code class=\"duty\">{name}</code></th>")];
        let is_of = |row: &&str| named.iter().any(|named| row.contains(named.as_str()));
        page.split("<tr>").find(is_of).unwrap_or_else(|| panic!("no row of {name}")).to_owned()
    };
    for job in arena.app.tasks.jobs().keys() {
        assert!(!row(job).contains("<th scope=\"row\"> <code"), "{job} has no duty in words");
    }
    for job in SOON {
        assert!(row(job).contains(" ago</td>"), "{job}: {}", row(job));
    }
    assert!(row("record_model_changes").contains("the disk &#60;burns&#62;"), "{}", row("record_model_changes"));
    assert!(row("elect_leader").contains("within "), "{}", row("elect_leader"));
    assert!(row("database").contains("reachable, migrated, 0 votes, "), "{}", row("database"));
    assert!(row("backup").contains("none yet; there are no votes to lose"), "{}", row("backup"));
    assert!(page.contains("This is the only instance"), "{page}");
    let chinese = viewer.get("/admin/operations?lang=zh").await.text().await.unwrap();
    assert!(
        chinese.contains("拟合排行榜")
            && chinese.contains("这是唯一的实例")
            && chinese.contains("尚无备份，也没有投票可丢失"),
        "{chinese}"
    );
    assert!(chinese.contains("英文原文如下： <span lang=\"en\">the disk &#60;burns&#62;</span>"), "{chinese}");
    let mut visitor = arena.visitor().await;
    visitor.ask("Why?").await;
    visitor.until_ready().await;
    visitor.vote("a").await;
    let page = viewer.get("/admin/operations").await.text().await.unwrap();
    assert!(page.contains("<code>langya backup</code> has made none from this data folder"), "{page}");
}
