//! The page of an item: two answers side by side, disagreements one after the other, and what people said.

use super::*;

#[actix_web::test]
async fn two_answers_stand_side_by_side_with_what_differs_marked() {
    let folder = filled();
    let server = Server::start(folder.path(), &[]);
    let item = page(&server, "/benchmarks/mtbench101/items/1").await;
    holds(&item, &["<h4><bdi>crane</bdi></h4>", "<h4><bdi>heron</bdi></h4>", "**<mark>crane</mark>** answers"]);
    holds(&item, &["**<mark>heron</mark>** answers", "left=crane&#38;right=heron#pair", "<dt><bdi>owl</bdi></dt>"]);
    let turned = page(&server, "/benchmarks/mtbench101/items/1?left=heron&right=crane").await;
    holds(&turned, &["left=heron&#38;right=crane#pair", "<option value=\"heron\" selected>heron</option>"]);
    let first = |html: &str, model: &str| html.find(&format!("<h4><bdi>{model}</bdi></h4>")).unwrap();
    assert!(first(&item, "crane") < first(&item, "heron") && first(&turned, "heron") < first(&turned, "crane"));
    for odd in ["left=heron&right=heron", "left=nobody&right=%3Cimg%3E"] {
        let html = page(&server, &format!("/benchmarks/mtbench101/items/1?{odd}")).await;
        holds(&html, &["<h4><bdi>crane</bdi></h4>", "<h4><bdi>heron</bdi></h4>"]);
        is_harmless(&html);
    }
    let chinese = page(&server, "/benchmarks/mtbench101/items/1?lang=zh").await;
    holds(&chinese, &["并排对照", "此视图的链接", "分歧"]);
    is_harmless(&item);
}

#[actix_web::test]
async fn the_items_that_judges_disagree_on_lead_from_one_to_the_next() {
    let folder = filled();
    let server = Server::start(folder.path(), &[]);
    let all = page(&server, "/benchmarks/mtbench101/items").await;
    holds(&all, &["/benchmarks/mtbench101/items?disputed=1", "Items that judges disagree on"]);
    let disputed = page(&server, "/benchmarks/mtbench101/items?disputed=1").await;
    let place = |id: &str| disputed.find(&format!("/benchmarks/mtbench101/items/{id}?\"")).unwrap();
    // The judges' scores of a dialogue are those of its lowest turn.
    let mut order = ["1", "2", "3"];
    order.sort_by_key(|id| place(id));
    let page_of = async |id: &str| page(&server, &format!("/benchmarks/mtbench101/items/{id}")).await;
    for (at, id) in order.iter().enumerate() {
        let html = page_of(id).await;
        holds(&html, &[&format!("Disagreement {} of 3", at + 1)]);
        let link = |rel: &str, to: usize| format!("rel=\"{rel}\" href=\"/benchmarks/mtbench101/items/{}?", order[to]);
        assert_eq!(html.contains("rel=\"prev\""), at > 0);
        assert_eq!(html.contains("rel=\"next\""), at < 2);
        if at > 0 {
            holds(&html, &[&link("prev", at - 1)]);
        }
        if at < 2 {
            holds(&html, &[&link("next", at + 1)]);
        }
    }
}
