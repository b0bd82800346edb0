//! The page of an item: two answers side by side, disagreements one after the other, and what people said.

use super::*;

#[actix_web::test]
async fn two_answers_stand_side_by_side_with_what_differs_marked() {
    let folder = filled();
    let server = Server::start(folder.path(), &[]);
    let item = page(&server, "/benchmarks/mtbench101/items/1").await;
    holds(
        &item,
        &[
            "<h4><bdi translate=\"no\">crane</bdi></h4>",
            "<h4><bdi translate=\"no\">heron</bdi></h4>",
            "**<mark>crane</mark>** answers",
        ],
    );
    holds(
        &item,
        &[
            "**<mark>heron</mark>** answers",
            "left=crane&#38;right=heron#pair",
            "<dt><bdi translate=\"no\">owl</bdi></dt>",
        ],
    );
    let turned = page(&server, "/benchmarks/mtbench101/items/1?left=heron&right=crane").await;
    holds(&turned, &["left=heron&#38;right=crane#pair", "<option value=\"heron\" selected>heron</option>"]);
    let first = |html: &str, model: &str| html.find(&format!("<h4><bdi translate=\"no\">{model}</bdi></h4>")).unwrap();
    assert!(first(&item, "crane") < first(&item, "heron") && first(&turned, "heron") < first(&turned, "crane"));
    for odd in ["left=heron&right=heron", "left=nobody&right=%3Cimg%3E"] {
        let html = page(&server, &format!("/benchmarks/mtbench101/items/1?{odd}")).await;
        holds(&html, &["<h4><bdi translate=\"no\">crane</bdi></h4>", "<h4><bdi translate=\"no\">heron</bdi></h4>"]);
        is_harmless(&html);
    }
    let chinese = page(&server, "/benchmarks/mtbench101/items/1?lang=zh").await;
    holds(&chinese, &["并排对照", "此视图的链接", "分歧"]);
    is_harmless(&item);
}

#[actix_web::test]
async fn models_and_judges_of_the_settings_are_called_by_their_names() {
    let folder = filled();
    let model = |id: &str, name: &str| format!("[[models]]\nid = \"{id}\"\nname = \"{name}\"\nprovider = \"ollama\"\n");
    let models = model("crane", "Crane One") + &model("owl", "Owl Two");
    std::fs::write(folder.path().join("langya.toml"), models).unwrap();
    let server = Server::start(folder.path(), &["--config", "langya.toml"]);
    let item = page(&server, "/benchmarks/mtbench101/items/1").await;
    for place in ["<h4><bdi translate=\"no\">", "<h3><bdi translate=\"no\">"] {
        holds(&item, &[&format!("{place}Crane One</bdi>"), &format!("{place}heron</bdi>")]);
    }
    holds(
        &item,
        &[
            "<option value=\"crane\" selected>Crane One</option>",
            "<dt><bdi translate=\"no\">Owl Two</bdi></dt>",
            "<dd><bdi translate=\"no\">Owl Two</bdi></dd>",
            "left=crane&#38;right=heron#pair",
        ],
    );
    let sorted = page(&server, "/benchmarks/mtbench101/items?sort=difference&left=heron&right=crane").await;
    holds(&sorted, &["<bdi translate=\"no\">Crane One</bdi>", "<option value=\"crane\" selected>Crane One</option>"]);
}

#[actix_web::test]
async fn no_level_of_headings_is_left_out_above_two_answers_to_a_question_of_one_turn() {
    let folder = filled_twice();
    let answer = |model: &str| json!({"item": "1", "turn": 1, "model": model, "answer": model}).to_string() + "\n";
    std::fs::write(folder.path().join("urs_answers.jsonl"), answer("crane") + &answer("heron")).unwrap();
    let arguments = ["import", "answers", "urs_answers.jsonl", "--suite", "urs", "--data-dir", "data"];
    done(folder.path(), &arguments);
    let server = Server::start(folder.path(), &[]);
    let html = page(&server, "/benchmarks/urs/items/1").await;
    let pair = html.split("id=\"pair\"").nth(1).unwrap();
    holds(pair, &["<h3><bdi translate=\"no\">crane</bdi></h3>", "<h3><bdi translate=\"no\">heron</bdi></h3>"]);
    assert!(!html.contains("<h4"), "{html}");
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

#[actix_web::test]
async fn items_are_sorted_by_how_far_two_models_are_apart_and_lead_on_in_that_order() {
    let folder = filled();
    let server = Server::start(folder.path(), &[]);
    let all = page(&server, "/benchmarks/mtbench101/items").await;
    holds(&all, &["/benchmarks/mtbench101/items?sort=difference\"", "Items on which two models differ most"]);
    let sorted = page(&server, "/benchmarks/mtbench101/items?sort=difference&left=heron&right=crane").await;
    let address =
        |id: &str| format!("/benchmarks/mtbench101/items/{id}?sort=difference&#38;left=heron&#38;right=crane&#38;");
    let at = ["2", "3"].map(|id| sorted.find(&address(id)).unwrap_or_else(|| panic!("{id}: {sorted}")));
    assert!(at[0] < at[1], "2.5 apart before 2: {sorted}");
    holds(
        &sorted,
        &[
            "<option value=\"heron\" selected>",
            "<bdi translate=\"no\">heron</bdi> 5.50 · <bdi translate=\"no\">crane</bdi> 8.00 · <b>-2.50</b>",
        ],
    );
    let turned = page(&server, "/benchmarks/mtbench101/items?sort=difference&left=crane&right=heron").await;
    holds(&turned, &["<bdi translate=\"no\">crane</bdi> 8.00 · <bdi translate=\"no\">heron</bdi> 5.50 · <b>+2.50</b>"]);

    let first = page(&server, "/benchmarks/mtbench101/items/2?sort=difference&left=heron&right=crane").await;
    holds(
        &first,
        &[
            "Difference 1 of",
            &format!("rel=\"next\" href=\"{}", address("3")),
            "<h4><bdi translate=\"no\">heron</bdi></h4>",
        ],
    );
    assert!(!first.contains("rel=\"prev\""));
    holds(&first, &["name=\"sort\" value=\"difference\"", "items/2?left=heron&#38;right=crane#pair"]);
    let chinese = page(&server, "/benchmarks/mtbench101/items?sort=difference&lang=zh").await;
    holds(&chinese, &["两个模型逐题对比", "全部题目"]);
    for html in [&sorted, &chinese] {
        is_harmless(html);
    }
    for (query, expected, said) in [
        ("sort=score", 400, "sort is"),
        ("sort=difference&left=heron&right=heron", 400, "name two"),
        ("sort=difference&left=nobody", 404, "no judgements of"),
    ] {
        for place in ["items", "items/1"] {
            let (status, html) = text(&server, &format!("/benchmarks/mtbench101/{place}?{query}")).await;
            assert_eq!(status, expected, "{query}: {html}");
            holds(&html, &[said]);
        }
    }
}
