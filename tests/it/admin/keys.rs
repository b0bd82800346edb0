//! API keys on the page.

use langya::domain::admin::role::Role;
use reqwest::StatusCode;

use super::browser::{arena, signed_in};
use crate::access_control::api_keys::get_with;

#[actix_web::test]
async fn an_operator_makes_and_revokes_keys_on_the_page() {
    let arena = arena(|_| {}).await;
    let mut operator = signed_in(&arena, Role::Operator).await;
    let made = operator
        .post_form(
            "/admin/keys/create",
            &[("name", "<b>ours</b>"), ("scope", "read"), ("scope", "admin"), ("days", "7")],
        )
        .await;
    assert_eq!((made.status(), &made.headers()["cache-control"]), (StatusCode::OK, &"no-store".parse().unwrap()));
    let page = made.text().await.unwrap();
    let key = page.split("<code class=\"link\">").nth(1).unwrap().split('<').next().unwrap().to_owned();
    assert!(key.starts_with("langya_") && page.contains("&#60;b&#62;ours"), "{page}");
    assert_eq!(get_with(&arena, "/api/v1/audit", &key).await.status(), StatusCode::OK);
    let page = operator.get("/admin/keys").await.text().await.unwrap();
    assert!(!page.contains(&key) && page.contains("read, admin") && page.contains(">in force<"), "shown once: {page}");
    for wrong in [[("name", ""), ("scope", "read"), ("days", "7")], [("name", "x"), ("days", "7"), ("none", "")]] {
        let refused = operator.post_form("/admin/keys/create", &wrong).await;
        assert_eq!(refused.status(), StatusCode::BAD_REQUEST, "{wrong:?}");
    }
    for (scope, days) in [("root", "7"), ("read", "x"), ("read", "-1"), ("read", "3651")] {
        let refused =
            operator.post_form("/admin/keys/create", &[("name", "x"), ("scope", scope), ("days", days)]).await;
        assert_eq!(refused.status(), StatusCode::BAD_REQUEST, "{scope} {days}");
    }
    let no_number = [("name", "x"), ("scope", "read"), ("days", "x")];
    let refused = operator.post_form("/admin/keys/create?lang=zh", &no_number).await.text().await.unwrap();
    assert!(refused.contains("密钥最多 3650 天后过期。"), "{refused}");
    let id = page.split("name=\"id\" value=\"").nth(1).unwrap().split('"').next().unwrap().to_owned();
    let revoked = operator.post_form("/admin/keys/revoke", &[("id", &id)]).await;
    assert_eq!(revoked.status(), StatusCode::SEE_OTHER);
    assert_eq!(get_with(&arena, "/api/v1/key", &key).await.status(), StatusCode::UNAUTHORIZED);
    assert_eq!(operator.post_form("/admin/keys/revoke", &[("id", &id)]).await.status(), StatusCode::CONFLICT);
    let page = operator.get("/admin/keys").await.text().await.unwrap();
    assert!(page.contains(">revoked<") && !page.contains("/admin/keys/revoke"), "{page}");
}
