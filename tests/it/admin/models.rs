//! Models in the admin: what an operator sees of them, and changes that are in force at once.

use reqwest::StatusCode;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::PASSPHRASE;
use super::browser::Browser;
use crate::support::program::{Server, langya_beside};
use crate::support::upstream::{Script, Upstream};
use crate::support::visitor::{Visitor, get};

/// An arena of a process with a settings file, whose models are at a scripted provider.
struct SettingsFixture {
    folder: TempDir,
    upstream: Upstream,
    server: Server,
}

impl SettingsFixture {
    async fn start(models: &[&str], environment: &[(&str, &str)]) -> Self {
        let (folder, upstream) = (tempfile::tempdir().unwrap(), Upstream::start().await);
        let entry = |id: &&str| {
            format!("\n[[models]]\nid = \"{id}\"\nprovider = \"openai\"\nbase_url = \"{}/v1\"\n", upstream.url())
        };
        let entries: String = models.iter().map(entry).collect();
        let text = format!("# ours\n[providers]\npractice = \"never\"\nretries = 0\n{entries}");
        std::fs::write(folder.path().join("langya.toml"), text).unwrap();
        for model in models {
            upstream.script(model, Script::openai(["Said."]));
        }
        let server = Server::start_in(folder.path(), &["--config", "langya.toml"], environment);
        Self { folder, upstream, server }
    }

    fn text(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("langya.toml")).unwrap()
    }

    /// The first owner's browser.
    async fn owner(&self) -> Browser {
        let log = self.server.logged("to become the owner").await;
        let code = log.split("/admin/welcome#").nth(1).unwrap().split(' ').next().unwrap().to_owned();
        let mut browser = Browser::at(&self.server.url);
        assert_eq!(browser.join(&code, "ada", PASSPHRASE).await.status(), StatusCode::SEE_OTHER);
        browser
    }

    /// The models that a battle may have, as the arena publishes them.
    async fn drawn(&self) -> Vec<String> {
        let text = get(&format!("{}/api/v1/pairing", self.server.url)).await.text().await.unwrap();
        let published: Value = serde_json::from_str(&text).unwrap();
        let pairs = published["pairs"].as_array().unwrap().iter();
        let mut models: Vec<String> = pairs
            .flat_map(|pair| pair["models"].as_array().unwrap().clone())
            .map(|id| id.as_str().unwrap().to_owned())
            .collect();
        models.sort_unstable();
        models.dedup();
        models
    }

    async fn langya(&self, arguments: &[&str]) -> Value {
        let run = langya_beside(self.folder.path(), &[arguments, &["--data-dir", "data"]].concat()).await;
        assert_eq!(run.code, Some(0), "{run:?}");
        serde_json::from_str(&run.stdout).unwrap_or_default()
    }
}

async fn text(browser: &mut Browser, path: &str) -> String {
    browser.get(path).await.text().await.unwrap()
}

#[actix_web::test]
async fn pausing_changing_and_resuming_a_model_is_in_force_with_the_answer_and_in_the_audit_log() {
    let context = SettingsFixture::start(&["one", "two", "three"], &[]).await;
    let mut ada = context.owner().await;
    let before = context.text();
    assert!(text(&mut ada, "/admin/models").await.contains("<span class=\"serving\">active</span>"));

    let paused = ada.post_form("/admin/models/pause", &[("model", "two"), ("change", "pause")]).await;
    assert_eq!(
        (paused.status(), &paused.headers()["location"]),
        (StatusCode::SEE_OTHER, &"/admin/models?done=1".parse().unwrap())
    );
    assert_eq!(context.drawn().await, ["one", "three"]);
    let refused = ada.post_form("/admin/models/pause", &[("model", "one"), ("change", "pause")]).await;
    assert_eq!(refused.status(), StatusCode::CONFLICT);
    assert!(refused.text().await.unwrap().contains("A battle needs two models, and 1 would be left"));
    assert_eq!(context.drawn().await, ["one", "three"], "nothing changed");
    ada.post_form("/admin/models/pause", &[("model", "two"), ("change", "resume")]).await;
    assert_eq!(context.drawn().await, ["one", "three", "two"]);

    let values = [
        ("model", "two"),
        ("weight", "2.5"),
        ("max_tokens", "77"),
        ("max_concurrent", "3"),
        ("input_price", "0.5"),
        ("output_price", "1.5"),
        ("price_date", "2026-11-21"),
        ("reason", "a cheaper one"),
    ];
    let changed = ada.post_form("/admin/models/change", &values).await;
    assert_eq!(changed.status(), StatusCode::SEE_OTHER, "{}", changed.text().await.unwrap());
    let page = text(&mut ada, "/admin/models").await;
    assert!(page.contains("<td class=\"number\">2.5</td>") && page.contains("0.5 / 1.5"), "{page}");
    let listed = context.langya(&["models", "list", "--format", "json"]).await;
    assert_eq!((&listed[1]["weight"], &listed[1]["input_price"]), (&json!(2.5), &json!(0.5)), "{listed}");
    let half = ada.post_form("/admin/models/change", &[("model", "two"), ("input_price", "1")]).await;
    assert_eq!(half.status(), StatusCode::CONFLICT);

    let audit = context.langya(&["admin", "audit", "--format", "json"]).await;
    let told = audit.as_array().unwrap().iter().rev().skip(2);
    let mut told: Vec<(&str, &str)> =
        told.map(|entry| (entry["action"].as_str().unwrap(), entry["subject"].as_str().unwrap())).collect();
    // The three of one change are of one moment.
    told[2..].sort_unstable();
    let expected = ["pause_model", "resume_model", "set_model_limits", "set_model_prices", "set_model_weight"];
    assert_eq!(told, expected.map(|action| (action, "model two")));
    assert_eq!(audit[0]["actor"], "ada");
    let rest = context.text();
    assert!(rest.starts_with(before.split("id = \"two\"").next().unwrap()), "other lines stay: {rest}");
}

#[actix_web::test]
async fn a_form_that_was_shown_before_another_change_writes_nothing_over_it() {
    let context = SettingsFixture::start(&["one", "two"], &[]).await;
    let mut ada = context.owner().await;
    let form = text(&mut ada, "/admin/models/change?model=two").await;
    let version = form.split("name=\"version\" value=\"").nth(1).unwrap().split('"').next().unwrap().to_owned();
    let change = async |ada: &mut Browser, weight: &str| {
        let values = [("model", "two"), ("version", version.as_str()), ("weight", weight), ("reason", "tried")];
        ada.post_form("/admin/models/change", &values).await
    };
    assert_eq!(change(&mut ada, "2.5").await.status(), StatusCode::SEE_OTHER);
    let late = change(&mut ada, "7.5").await;
    assert_eq!(late.status(), StatusCode::CONFLICT);
    let page = late.text().await.unwrap();
    assert!(page.contains("These values have changed since the form was shown"), "{page}");
    assert!(
        page.contains("name=\"weight\" type=\"text\" inputmode=\"decimal\" autocomplete=\"off\" value=\"2.5\""),
        "{page}"
    );
    assert!(!context.text().contains("7.5"));
}

#[actix_web::test]
async fn of_two_changes_at_the_same_moment_that_saw_the_same_values_one_is_refused() {
    let context = SettingsFixture::start(&["one", "two"], &[]).await;
    let (mut ada, mut other) = (context.owner().await, Browser::at(&context.server.url));
    assert_eq!(other.sign_in("ada", PASSPHRASE, "").await.status(), StatusCode::SEE_OTHER);
    let form = text(&mut ada, "/admin/models/change?model=two").await;
    let version = form.split("name=\"version\" value=\"").nth(1).unwrap().split('"').next().unwrap().to_owned();
    // While the test holds the file, both forms come as far as an edit can.
    let held = std::fs::File::open(context.folder.path().join("langya.toml")).unwrap();
    held.lock().unwrap();
    let change = async |browser: &mut Browser, weight: &str| {
        let values = [("model", "two"), ("version", version.as_str()), ("weight", weight)];
        browser.post_form("/admin/models/change", &values).await.status()
    };
    let free = async {
        for _ in 0..10 {
            get(&format!("{}/api/v1/pairing", context.server.url)).await;
        }
        drop(held);
    };
    let (first, second, ()) = tokio::join!(change(&mut ada, "2.5"), change(&mut other, "7.5"), free);
    let mut answers = [first, second];
    answers.sort_unstable();
    assert_eq!(answers, [StatusCode::SEE_OTHER, StatusCode::CONFLICT]);
    let weight = if first == StatusCode::SEE_OTHER { "weight = 2.5\n" } else { "weight = 7.5\n" };
    assert!(context.text().contains(weight), "{}", context.text());
}

#[actix_web::test]
async fn the_form_shows_what_stands_in_the_file_even_where_the_arena_cannot_run_on_it() {
    let context = SettingsFixture::start(&["one", "two"], &[]).await;
    let mut ada = context.owner().await;
    let paused = context.text().replace("provider = \"openai\"", "provider = \"openai\"\nweight = 0.0");
    std::fs::write(context.folder.path().join("langya.toml"), paused).unwrap();
    context.server.signal("HUP");
    context.server.logged("the previous settings stay in force").await;
    let form = text(&mut ada, "/admin/models/change?model=two").await;
    let version = form.split("name=\"version\" value=\"").nth(1).unwrap().split('"').next().unwrap();
    assert!(
        form.contains(
            "id=\"weight\" name=\"weight\" type=\"text\" inputmode=\"decimal\" autocomplete=\"off\" value=\"0\""
        ),
        "{form}"
    );
    // The change is not refused as one of values that were changed meanwhile, but for what is still wrong with the file.
    let refused =
        ada.post_form("/admin/models/change", &[("model", "two"), ("version", version), ("weight", "1")]).await;
    let refused = refused.text().await.unwrap();
    assert!(refused.contains("A battle needs two models, and 1 would be left"), "{refused}");
}

#[actix_web::test]
async fn a_file_that_cannot_be_used_is_reported_on_the_page_without_its_values_and_the_arena_goes_on() {
    let context = SettingsFixture::start(&["one", "two"], &[]).await;
    let mut ada = context.owner().await;
    let file = context.folder.path().join("langya.toml");
    std::fs::write(&file, format!("{}max_tokens = \"sk-CANARY\"\n", context.text())).unwrap();
    context.server.signal("HUP");
    context.server.logged("the previous settings stay in force").await;
    for path in ["/admin/models", "/admin", "/admin/operations"] {
        let page = text(&mut ada, path).await;
        assert!(page.contains("the previous settings stay in force") && page.contains("max_tokens"), "{path}: {page}");
        assert!(page.contains("stay in force: <span class=\"refusal\">"), "a sentence is no code: {page}");
        assert!(!page.contains("CANARY"));
    }
    assert_eq!(context.drawn().await, ["one", "two"]);
    let refused = ada.post_form("/admin/models/pause", &[("model", "one"), ("change", "pause")]).await;
    assert_eq!(refused.status(), StatusCode::CONFLICT);
    std::fs::write(&file, context.text().replace("max_tokens = \"sk-CANARY\"\n", "weight = 2.0\n")).unwrap();
    context.server.logged("the edited settings are in force").await;
    for path in ["/admin/models", "/admin", "/admin/operations"] {
        assert!(!text(&mut ada, path).await.contains("the previous settings stay in force"), "{path}");
    }
}

#[actix_web::test]
async fn a_failing_model_shows_its_errors_and_what_it_needs_and_nothing_that_its_provider_wrote() {
    let context = SettingsFixture::start(&["bad", "one", "two"], &[]).await;
    let failing = Script::whole("401 Unauthorized", "content-type: application/json\r\n", "{\"error\":\"sk-CANARY\"}");
    context.upstream.script("bad", failing);
    let mut ada = context.owner().await;
    // The failing model is drawn in two of three battles, and replaced.
    let mut failures = Vec::new();
    for _ in 0..20 {
        let mut visitor = Visitor::connect(&context.server.url).await;
        visitor.ask("Which?").await;
        visitor.until_ready().await;
        visitor.vote("a").await;
        let page = text(&mut ada, "/admin/models/change?model=bad").await;
        assert!(!page.contains("CANARY"));
        if page.contains("the provider answered with status 401") {
            failures.push(page);
            break;
        }
    }
    assert!(failures[0].contains("100.0 %"), "the share of its replies that failed: {}", failures[0]);
    let tested = ada.post_form("/admin/models/test", &[("model", "bad")]).await.text().await.unwrap();
    assert!(
        tested.contains("It failed: the provider answered with status 401.") && tested.contains("the key was refused")
    );
    assert!(!tested.contains("CANARY"));
    let good = ada.post_form("/admin/models/test", &[("model", "one")]).await.text().await.unwrap();
    assert!(good.contains("It answered: first token after"), "{good}");
    let listed = context.langya(&["models", "list", "--format", "json"]).await;
    assert_eq!((&listed[0]["error_rate"], &listed[1]["error_rate"]), (&json!(1.0), &json!(0.0)), "{listed}");
    assert_eq!(listed[0]["last_error"], "the provider answered with status 401");
    let audit = context.langya(&["admin", "audit", "--format", "json"]).await;
    let told = [&audit[1], &audit[0]].map(|entry| (entry["action"].as_str(), entry["subject"].as_str()));
    assert_eq!(told, ["model bad", "model one"].map(|subject| (Some("test_model"), Some(subject))));
}

#[actix_web::test]
async fn models_of_a_list_are_added_after_a_preview_and_a_key_goes_to_no_foreign_server() {
    let context = SettingsFixture::start(&["one", "two"], &[("OUR_KEY", "sk-CANARY")]).await;
    let data: Vec<Value> = ["one", "new", "other"].iter().map(|id| json!({"id": id, "object": "model"})).collect();
    context.upstream.script("/v1/models", Script::json(&json!({"object": "list", "data": data})));
    context.upstream.script("new", Script::openai(["New."]));
    let mut ada = context.owner().await;
    let (before, from) = (context.text(), format!("{}/v1", context.upstream.url()));
    let step = |step: &'static str| [("from", from.as_str()), ("step", step)];

    let listed = ada.post_form("/admin/models/add", &step("list")).await.text().await.unwrap();
    assert!(listed.contains("configured already as one") && listed.contains("value=\"new\""), "{listed}");
    let nothing = ada.post_form("/admin/models/add", &step("preview")).await;
    assert!(nothing.status() == StatusCode::CONFLICT && nothing.text().await.unwrap().contains("at least one model"));
    let chosen = [&step("preview")[..], &[("only", "new")]].concat();
    let preview = ada.post_form("/admin/models/add", &chosen).await.text().await.unwrap();
    assert!(preview.contains("These models would be added") && !preview.contains("value=\"other\""), "{preview}");
    assert_eq!(context.text(), before, "a preview writes nothing");
    let chosen = [&step("add")[..], &[("only", "new")]].concat();
    assert_eq!(ada.post_form("/admin/models/add", &chosen).await.status(), StatusCode::SEE_OTHER);
    assert_eq!(context.drawn().await, ["new", "one", "two"]);
    let again = ada.post_form("/admin/models/add", &chosen).await.text().await.unwrap();
    assert!(
        again.contains("configured already as &quot;new&quot;")
            || again.contains("configured already as &#34;new&#34;"),
        "{again}"
    );
    let audit = context.langya(&["admin", "audit", "--format", "json"]).await;
    assert_eq!((&audit[0]["action"], &audit[0]["subject"]), (&json!("add_model"), &json!("model new")));

    let asked = context.upstream.received().len();
    for (key, told) in [("OUR_KEY", "not known to belong to this server"), ("sk-CANARY", "and never the key itself")] {
        let fields = [&step("list")[..], &[("key_env", key)]].concat();
        let refused = ada.post_form("/admin/models/add", &fields).await;
        assert_eq!(refused.status(), StatusCode::CONFLICT);
        assert!(refused.text().await.unwrap().contains(told));
    }
    for from in ["http://169.254.169.254/latest", "file:///etc/passwd"] {
        let refused = ada.post_form("/admin/models/add", &[("from", from), ("step", "list")]).await;
        assert_eq!(refused.status(), StatusCode::CONFLICT, "{from}");
    }
    assert_eq!(context.upstream.received().len(), asked, "nothing was sent");
}

#[actix_web::test]
async fn a_refused_choice_of_models_is_corrected_on_the_same_list_and_takes_a_weight() {
    let context = SettingsFixture::start(&["one", "two"], &[("OUR_KEY", "sk-CANARY")]).await;
    let data: Vec<Value> = ["new", "other"].iter().map(|id| json!({"id": id, "object": "model"})).collect();
    context.upstream.script("/v1/models", Script::json(&json!({"object": "list", "data": data})));
    let mut ada = context.owner().await;
    let from = format!("{}/v1", context.upstream.url());
    let step = |step: &'static str, more: &[(&'static str, &'static str)]| {
        [&[("from", from.as_str()), ("step", step)][..], more].concat()
    };
    let nothing = ada.post_form("/admin/models/add", &step("preview", &[])).await.text().await.unwrap();
    assert!(nothing.contains("at least one model") && nothing.contains("value=\"new\""), "{nothing}");
    let bad = step("preview", &[("only", "new"), ("weight", "much")]);
    let bad = ada.post_form("/admin/models/add", &bad).await.text().await.unwrap();
    assert!(bad.contains("“Weight” takes a number") && bad.contains("value=\"new\" checked"), "{bad}");
    assert!(bad.contains("value=\"much\"") && !bad.contains("value=\"other\" checked"), "{bad}");
    let good = step("preview", &[("only", "new"), ("weight", "0.5")]);
    let good = ada.post_form("/admin/models/add", &good).await.text().await.unwrap();
    assert!(good.contains("name=\"weight\" value=\"0.5\"") && good.contains("Weight: 0.5"), "{good}");
    let added = ada.post_form("/admin/models/add", &step("add", &[("only", "new"), ("weight", "0.5")])).await;
    assert_eq!(added.status(), StatusCode::SEE_OTHER);
    assert!(context.text().contains("weight = 0.5"), "{}", context.text());

    context.upstream.script("/v1/models", Script::whole("500 Internal Server Error", "", ""));
    let mut requests = Vec::new();
    for refused in [step("list", &[]), step("preview", &[("only", "new")])] {
        let before = context.upstream.received().len();
        assert_eq!(ada.post_form("/admin/models/add", &refused).await.status(), StatusCode::CONFLICT);
        requests.push(context.upstream.received().len() - before);
    }
    assert!(
        requests[0] > 0 && requests[0] == requests[1],
        "a list that cannot be read is not fetched again: {requests:?}"
    );

    let no_address = [("from", "127.0.0.1:9/v1"), ("step", "list"), ("key_env", "OUR_KEY")];
    let refused = ada.post_form("/admin/models/add", &no_address).await.text().await.unwrap();
    assert!(refused.contains("the address cannot be used") && !refused.contains("OUR_KEY is not known"), "{refused}");
}

#[actix_web::test]
async fn a_models_name_and_maker_are_changed_and_without_a_name_its_id_is_shown() {
    let context = SettingsFixture::start(&["one", "two"], &[]).await;
    let mut ada = context.owner().await;
    for (name, shown) in [("Two B", "Two B"), ("", "two")] {
        let values = [("model", "two"), ("name", name), ("organization", "Lab")];
        assert_eq!(ada.post_form("/admin/models/change", &values).await.status(), StatusCode::SEE_OTHER);
        assert_eq!(context.text().contains("name = \"Two B\"\n"), !name.is_empty(), "{}", context.text());
        assert!(context.text().contains("organization = \"Lab\"\n"), "{}", context.text());
        let page = text(&mut ada, "/admin/models").await;
        assert!(page.contains(&format!("<th scope=\"row\">{shown}<br><code")), "{page}");
    }
    let audit = context.langya(&["admin", "audit", "--format", "json"]).await;
    let changes = audit.as_array().unwrap().iter().filter(|entry| entry["action"] == "set_model_names").count();
    assert_eq!(changes, 2, "{audit}");
}

#[actix_web::test]
async fn another_pairing_is_tried_on_the_page_and_by_the_command_and_nothing_changes() {
    let context = SettingsFixture::start(&["one", "two", "three"], &[]).await;
    let mut ada = context.owner().await;
    let (before, drawn) = (context.text(), context.drawn().await);
    let page = text(&mut ada, "/admin/models/pairing?policy=weighted&weight:one=2&votes=100").await;
    // Pairs with one are twice as likely as the third: 40, 40 and 20 of 100 votes.
    assert_eq!(page.matches("<td class=\"number\">40.0 %</td>").count(), 2, "{page}");
    assert!(
        page.contains("<td class=\"number\">80.0 %</td>") && page.contains("<td class=\"number\">20.0</td>"),
        "{page}"
    );
    let bad = ada.get("/admin/models/pairing?uniform_share=7").await;
    assert_eq!(bad.status(), StatusCode::BAD_REQUEST);
    for (query, said) in [
        ("uniform_share=7", "pairing.uniform_share 为 7，应为：0 到 1"),
        ("elo_width=wide", "无法读取 elo_width"),
        ("weight:one=-1", "权重应不小于 0"),
        ("weight:one=0&weight:two=0", "一场对战需要两个模型，但只有 1 个可抽取"),
    ] {
        let bad = ada.get(&format!("/admin/models/pairing?{query}&lang=zh")).await.text().await.unwrap();
        assert!(bad.contains(said) && bad.contains("以下概率按目前的设置计算"), "{query}: {bad}");
        let typed = query.split(['=', '&']).nth(1).unwrap();
        assert!(bad.contains(&format!("value=\"{typed}\"")), "what was typed stays: {bad}");
    }
    let tried = context.langya(&["models", "pairing", "--weight", "one=2", "--votes", "100", "--format", "json"]).await;
    let votes: Vec<f64> =
        tried.as_array().unwrap().iter().map(|pair| pair["expected_votes"].as_f64().unwrap().round()).collect();
    assert_eq!(votes, [40.0, 40.0, 20.0]);
    assert_eq!((context.text(), context.drawn().await), (before, drawn));
}

#[actix_web::test]
async fn the_command_sets_what_the_page_sets_and_tells_the_audit_log() {
    let context = SettingsFixture::start(&["one", "two"], &[]).await;
    context.owner().await;
    let set =
        ["models", "set", "one", "--weight", "3", "--max-tokens", "64", "--input-price", "1", "--output-price", "2"];
    context.langya(&set).await;
    let text = context.text();
    for line in
        ["weight = 3.0\n", "max_tokens = 64\n", "input_price = 1.0\n", "output_price = 2.0\n", "price_date = \"20"]
    {
        assert!(text.contains(line), "{line:?} is missing in {text}");
    }
    context.langya(&["models", "set", "one", "--no-prices", "--reason", "a test"]).await;
    assert!(!context.text().contains("price") && context.text().contains("reason = \"a test\"\n"));
    let audit = context.langya(&["admin", "audit", "--format", "json"]).await;
    let by_command = audit.as_array().unwrap().iter().filter(|entry| entry["via"] == "command").count();
    assert_eq!(by_command, 5, "{audit}");
    let nothing = langya_beside(context.folder.path(), &["models", "set", "one", "--data-dir", "data"]).await;
    assert!(nothing.code == Some(2) && nothing.stderr.contains("nothing to change"), "{nothing:?}");
}
