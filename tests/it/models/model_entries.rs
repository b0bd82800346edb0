//! `langya models add`, `remove`, `pause` and `resume` on a real settings file, against servers that list models in every usual
//! form, and against those that mean harm.

use std::path::Path;
use std::time::Duration;

use langya::infra::llm::http_client;
use langya::infra::llm::model_list::{ListError, read_provider_list};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::program::{Run, Server, langya_beside, langya_in};
use crate::support::upstream::{Script, Upstream};
use crate::support::visitor::Visitor;

/// A wait that only a server which never answers reaches.
const NEVER: Duration = Duration::from_millis(200);

const FILE: &str = "# Our arena\n[providers]\npractice = \"never\" # real ones only\n\n# the first\n[[models]]\nid='mine'\n\
    provider = \"openai\"\nbase_url = \"http://127.0.0.1:9/v1\"\nmodel = \"x\"\n";

struct SettingsFixture {
    folder: TempDir,
    upstream: Upstream,
}

impl SettingsFixture {
    async fn new(text: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("langya.toml"), text).unwrap();
        Self { folder, upstream: Upstream::start().await }
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn text(&self) -> String {
        std::fs::read_to_string(self.path().join("langya.toml")).unwrap()
    }

    fn openai(&self, path: &str, ids: &[&str]) {
        let data: Vec<Value> = ids.iter().map(|id| json!({"id": id, "object": "model"})).collect();
        self.upstream.script(path, Script::json(&json!({"object": "list", "data": data})));
    }

    async fn models(&self, arguments: &[&str]) -> Run {
        langya_beside(self.path(), &[&["models"], arguments].concat()).await
    }

    async fn add(&self, rest: &[&str]) -> Run {
        self.models(&[&["add", "--from", &self.upstream.url()], rest].concat()).await
    }

    /// A refusal with this exit code, after which the file is as it was.
    async fn refused(&self, rest: &[&str], code: i32, because: &str) {
        let before = self.text();
        let run = self.add(rest).await;
        assert!(run.code == Some(code) && run.stderr.contains(because), "{rest:?}: {run:?}");
        assert!(!run.stderr.to_uppercase().contains("CANARY"), "{run:?}");
        assert_eq!((self.text(), run.stdout.as_str()), (before, ""), "{rest:?}");
    }
}

/// Rows in OpenRouter's form.
fn openrouter() -> Value {
    let row = |id: &str, name: &str, prompt: &str, completion: &str, context: u32| {
        json!({"id": id, "name": name, "created": 1_700_000_000, "description": "Some \"text\"\n[[models]]\nid = \"evil\"",
            "context_length": context, "architecture": {"modality": "text->text", "output_modalities": ["text"]},
            "pricing": {"prompt": prompt, "completion": completion, "request": "0"},
            "top_provider": {"context_length": context, "max_completion_tokens": null}})
    };
    json!({"data": [
        row("north/large-2", "North: Large 2", "0.0000025", "0.00001", 128_000),
        row("north/small", "North: Small", "0.00000015", "0.0000006", 2_000),
        row("south/large-2", "South: Large 2 (free)", "0", "0", 32_768),
        row("router/auto", "Auto Router", "-1", "-1", 2_000_000),
    ]})
}

#[actix_web::test]
async fn models_of_an_openrouter_list_are_added_with_names_prices_and_lengths_and_never_with_the_key() {
    let context = SettingsFixture::new(FILE).await;
    context.upstream.script("/api/v1/models", Script::json(&openrouter()));
    let (folder, url) = (context.path().to_owned(), format!("{}/api/v1", context.upstream.url()));
    let run = tokio::task::spawn_blocking(move || {
        let arguments =
            ["models", "add", "--from", &url, "--key-env", "ROUTER_KEY", "--filter", "north/*", "--format", "json"];
        langya_in(&folder, arguments, &[("ROUTER_KEY", "sk-CANARY")])
    });
    let run = run.await.unwrap();
    assert_eq!(run.code, Some(0), "{run:?}");
    let rows: Vec<Value> = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!((rows.len(), &rows[0]["name"], &rows[0]["result"]), (2, &json!("Large 2"), &json!("added")));
    let text = context.text();
    let added = text.strip_prefix(FILE).unwrap();
    for line in [
        "\n[[models]]\nid = \"north-large-2\"\nname = \"Large 2\"\norganization = \"North\"\nprovider = \"openai\"\n",
        "model = \"north/large-2\" # 128000 tokens of context\napi_key_env = \"ROUTER_KEY\"\ninput_price = 2.5\noutput_price = 10.0\n",
        "id = \"small\"",
        "max_tokens = 1000\ninput_price = 0.15\noutput_price = 0.6\nprice_date = \"20",
    ] {
        assert!(added.contains(line), "{line:?} is missing in {added}");
    }
    assert!(!text.contains("CANARY") && !format!("{run:?}").contains("CANARY"));
    assert!(context.upstream.received().iter().all(|request| request.head.contains("authorization: bearer sk-canary")));
}

#[actix_web::test]
async fn a_dry_run_and_a_second_addition_leave_the_file_as_it_is() {
    let context = SettingsFixture::new(FILE).await;
    context.openai("/v1/models", &["Qwen/Qwen-14B-Chat", "plain"]);
    let dry = context.add(&["--dry-run"]).await;
    assert!(dry.code == Some(0) && dry.stdout.contains("would be added") && dry.stderr.contains("nothing was written"));
    assert_eq!(context.text(), FILE);
    assert_eq!(context.add(&["--filter", "PLAIN"]).await.code, Some(0));
    assert!(context.text().contains(&format!("base_url = \"{}/v1\"\nmodel = \"plain\"\n", context.upstream.url())));
    context.refused(&["--filter", "plain"], 2, "\"plain\" is configured already as \"plain\"").await;
    let rest = context.add(&["--format", "csv"]).await;
    assert!(
        rest.stdout.contains("plain,configured already as plain")
            || rest.stdout.contains("configured already as plain")
    );
    assert!(rest.code == Some(0) && context.text().matches("model = \"plain\"").count() == 1, "{rest:?}");
    context.openai("/v1/models", &["another/mine"]);
    context.refused(&[], 2, "the id \"mine\" is taken").await;
}

#[actix_web::test]
async fn ollama_is_read_in_its_own_form_into_a_file_that_was_not_there() {
    let context = SettingsFixture::new("").await;
    std::fs::remove_file(context.path().join("langya.toml")).unwrap();
    context
        .upstream
        .script("/api/tags", Script::json(&json!({"models": [{"name": "qwen2.5:7b"}, {"name": "nomic-embed-text"}]})));
    let run = context.add(&[]).await;
    assert_eq!(run.code, Some(0), "{run:?}");
    assert!(run.stderr.contains("1 listed model was left out") && run.stderr.contains("1 can take part"), "{run:?}");
    let expected = format!(
        "[[models]]\nid = \"qwen2.5-7b\"\nprovider = \"ollama\"\nbase_url = \"{}\"\nmodel = \"qwen2.5:7b\"\n",
        context.upstream.url()
    );
    assert_eq!(context.text(), expected);
}

#[actix_web::test]
async fn a_running_arena_takes_up_what_is_added_paused_and_removed() {
    let context = SettingsFixture::new("# ours\n").await;
    context.openai("/v1/models", &["one", "two", "three"]);
    for model in ["one", "two", "three"] {
        context.upstream.script(model, Script::openai(["Said."]));
    }
    let server = Server::start(context.path(), &["--config", "langya.toml"]);
    assert_eq!(context.add(&[]).await.code, Some(0));
    server.logged("the edited settings are in force").await;
    assert_eq!(context.models(&["pause", "two"]).await.code, Some(0));
    assert!(context.text().contains("model = \"two\"\nweight = 0.0\n"), "{}", context.text());
    server.logged_times("the edited settings are in force", 2).await;
    let mut visitor = Visitor::connect(&server.url).await;
    visitor.ask("Which?").await;
    visitor.until_ready().await;
    let receipt = visitor.vote("a").await;
    let mut met = vec![receipt["a"]["id"].as_str().unwrap(), receipt["b"]["id"].as_str().unwrap()];
    met.sort_unstable();
    assert_eq!(met, ["one", "three"]);
    assert_eq!(context.models(&["resume", "two", "--weight", "2.5"]).await.code, Some(0));
    assert!(context.text().contains("model = \"two\"\nweight = 2.5\n"), "{}", context.text());
    for model in ["one", "two"] {
        let run = context.models(&["remove", model]).await;
        assert_eq!(run.code, Some(0), "{run:?}");
    }
    assert!(context.text().starts_with("# ours\n\n[[models]]\nid = \"three\"\n"), "{}", context.text());
    let unknown = context.models(&["remove", "two"]).await;
    assert!(unknown.code == Some(2) && unknown.stderr.contains("the ids here are three"), "{unknown:?}");
    let weight = context.models(&["resume", "three", "--weight", "NaN"]).await;
    assert!(weight.code == Some(2) && weight.stderr.contains("a weight must be 0 or more"), "{weight:?}");
}

#[actix_web::test]
async fn hostile_and_useless_lists_are_refused_in_one_line() {
    let context = SettingsFixture::new(FILE).await;
    context.refused(&[], 2, "the server answered with status 404").await;
    let page = "content-type: text/html\r\n";
    context.upstream.script("/models", Script::whole("200 OK", page, "<html>CANARY</html>"));
    context.refused(&[], 2, "the server sent no list of models").await;
    context.upstream.script("/models", Script::whole("302 Found", "location: http://127.0.0.1:1/CANARY\r\n", ""));
    context.refused(&[], 2, "leads to another address").await;
    context.upstream.script("/models", Script::mode("err401"));
    context.refused(&[], 2, "--key-env").await;
    context.upstream.script("/models", Script::mode("err500"));
    context.refused(&[], 2, "status 500").await;
    context.openai("/models", &["a\nb", "\u{1b}[2JCANARY", "text-embed"]);
    context.refused(&[], 2, "no chat model").await;
    let ids: Vec<String> = (0..101).map(|number| format!("m{number}")).collect();
    context.openai("/models", &ids.iter().map(String::as_str).collect::<Vec<_>>());
    context.refused(&[], 2, "--filter '*'").await;
    context.refused(&["--filter", "none*"], 2, "none of the 101 models").await;
    context.refused(&["--key-env", "sk-CANARY-12"], 2, "never the key itself").await;
    context.openai("/models", &vec!["m"; 100_000]);
    context.refused(&[], 2, "more than 10000 models").await;
    let nobody = context.models(&["add", "--from", "http://127.0.0.1:1/v1"]).await;
    assert!(nobody.code == Some(1) && nobody.stderr.contains("nothing listens there"), "{nobody:?}");
    for (from, because) in [
        ("http://169.254.169.254/latest", "link-local"),
        ("file:///etc/passwd", "http://"),
        ("http://u:CANARY@h", "password"),
    ] {
        let run = context.models(&["add", "--from", from]).await;
        assert!(run.code == Some(2) && run.stderr.contains(because) && !run.stderr.contains("CANARY"), "{run:?}");
    }
}

#[actix_web::test]
async fn a_server_that_requires_a_key_is_blamed_for_no_variable_that_is_not_set() {
    let context = SettingsFixture::new(FILE).await;
    context.upstream.script("/models", Script::mode("err401"));
    context.refused(&["--key-env", "NO_SUCH_KEY"], 2, "the variable NO_SUCH_KEY is not set here").await;
}

#[actix_web::test]
async fn models_are_added_with_a_weight_of_which_0_keeps_them_out_of_battles() {
    let context = SettingsFixture::new(FILE).await;
    context.openai("/models", &["judge", "other"]);
    context.refused(&["--weight=-1"], 2, "a weight must be 0 or more").await;
    let added = context.add(&["--filter", "judge", "--weight", "0"]).await;
    assert_eq!(added.code, Some(0), "{added:?}");
    let added = context.add(&["--filter", "other"]).await;
    assert_eq!(added.code, Some(0), "{added:?}");
    let listed = context.models(&["list", "--format", "json"]).await;
    let rows: Vec<Value> = serde_json::from_str(&listed.stdout).unwrap();
    let states: Vec<_> = rows.iter().map(|row| (row["id"].as_str().unwrap(), row["state"].as_str().unwrap())).collect();
    assert_eq!(states, [("mine", "active"), ("judge", "paused"), ("other", "active")]);
}

#[actix_web::test]
async fn a_list_names_models_whose_key_is_not_set() {
    let context = SettingsFixture::new(&format!("{FILE}api_key_env = \"NO_SUCH_KEY\"\n")).await;
    let listed = context.models(&["list", "--format", "json"]).await;
    let rows: Vec<Value> = serde_json::from_str(&listed.stdout).unwrap();
    let row = (&rows[0]["state"], &rows[0]["key_set"]);
    assert_eq!((listed.code, row), (Some(0), (&json!("active"), &json!(false))), "{listed:?}");
    assert_eq!(listed.stderr.matches("the variable NO_SUCH_KEY is not set here").count(), 1, "{listed:?}");
}

#[actix_web::test]
async fn a_list_without_end_and_a_server_that_says_nothing_are_left() {
    let (upstream, http) = (Upstream::start().await, http_client(Duration::from_secs(1)).unwrap());
    let megabyte = vec![b' '; 1 << 20];
    let endless = (0..17).fold(Script::stream_of("application/json"), |script, _| script.chunk(&megabyte)).hang();
    upstream.script("/models", endless);
    let patience = Duration::from_secs(60);
    assert_eq!(read_provider_list(&upstream.url(), None, patience, &http).await, Err(ListError::TooLong(16)));
    upstream.until_active(0).await;
    upstream.script("/models", Script::silence());
    assert_eq!(read_provider_list(&upstream.url(), None, NEVER, &http).await, Err(ListError::Slow(0)));
}

#[actix_web::test]
async fn a_check_names_the_key_variable_that_is_not_set_and_asks_the_others() {
    let context = SettingsFixture::new("").await;
    context.upstream.script("one", Script::openai(["Paris", "."]));
    let base = format!("provider = \"openai\"\nbase_url = \"{}/v1\"\n", context.upstream.url());
    let text =
        format!("[[models]]\nid = \"locked\"\napi_key_env = \"NO_SUCH_KEY\"\n{base}[[models]]\nid = \"one\"\n{base}");
    std::fs::write(context.path().join("langya.toml"), text).unwrap();
    let run = context.models(&["check", "--format", "json"]).await;
    let checked: Vec<Value> = serde_json::from_str(&run.stdout).unwrap();
    let result_of = |id: &str| checked.iter().find(|model| model["id"] == id).unwrap();
    assert_eq!((run.code, &result_of("one")["ok"], &result_of("locked")["ok"]), (Some(1), &json!(true), &json!(false)));
    assert!(result_of("locked")["advice"].as_str().unwrap().contains("export NO_SUCH_KEY"), "{checked:?}");
}

#[actix_web::test]
async fn models_with_the_same_name_are_reported_after_an_edit() {
    let twin =
        "\n[[models]]\nid = \"other\"\nname = \"twin\"\nprovider = \"openai\"\nbase_url = \"http://127.0.0.1:9/v1\"\n";
    let fixture = SettingsFixture::new(&format!("{FILE}name = \"Twin\"\n{twin}")).await;
    let run = fixture.models(&["set", "mine", "--weight", "2"]).await;
    let said = "the models mine, other have the same name \"Twin\"";
    assert!(run.code == Some(0) && run.stderr.contains(said), "{run:?}");
}
