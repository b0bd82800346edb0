use std::path::Path;

use super::*;
use crate::domain::webhook::WebhookEvent;

const EXAMPLE: &str = include_str!("../../../deploy/langya.example.toml");

#[test]
fn the_example_lists_every_key_with_its_default() {
    let written: toml::Table = EXAMPLE.parse().unwrap();
    let mut defaults = toml::Table::try_from(Settings::default()).unwrap();
    defaults.remove("models");
    defaults.remove("webhooks");
    assert_eq!(written, defaults);
}

#[test]
fn the_example_of_a_webhook_can_be_used() {
    let lines =
        EXAMPLE.lines().skip_while(|line| !line.starts_with("# [[webhooks]]")).take_while(|line| !line.is_empty());
    let webhook: String = lines.map(|line| line.trim_start_matches("# ").to_owned() + "\n").collect();
    let settings = Settings::parse(&webhook, "the example", &Environment::default()).unwrap();
    assert!(WebhookEvent::ALL.into_iter().all(|event| settings.webhooks[0].wants(event)));
    let none = Environment::default();
    for (key, value) in [("id", "A b"), ("url", "ftp://hooks.example.org"), ("secret_env", "sk-canary-1")] {
        let lines = webhook.lines().filter(|line| !line.starts_with(key));
        let wrong = lines.map(|line| format!("{line}\n")).collect::<String>() + &format!("{key} = {value:?}\n");
        let said = Settings::parse(&wrong, "langya.toml", &none).unwrap_err().to_string();
        assert!(said.contains("webhooks") && !said.contains("canary"), "{said}");
    }
    check_refused(&format!("{webhook}{webhook}"), &none, &["webhooks.id", "each webhook its own"]);
}

#[test]
fn the_example_of_a_model_can_be_used() {
    let model: String = EXAMPLE
        .lines()
        .skip_while(|line| !line.starts_with("# [[models]]"))
        .map(|line| line.trim_start_matches("# ").to_owned() + "\n")
        .collect();
    let settings = Settings::parse(&model, "the example", &Environment::default()).unwrap();
    assert_eq!(settings.models[0].id, "qwen-14b");
    assert_eq!(settings.models[0].extra_body["top_p"], 0.9);
    let price = settings.models[0].price().unwrap();
    assert_eq!(price.date.map(|date| date.to_string()).as_deref(), Some("2026-11-21"));
}

#[track_caller]
fn check_refused(text: &str, env: &Environment, expected: &[&str]) {
    let message = Settings::parse(text, "langya.toml", env).unwrap_err().to_string();
    for part in expected {
        assert!(message.contains(part), "{message:?} lacks {part:?}");
    }
}

#[test]
fn what_cannot_be_used_is_refused_by_its_name() {
    let none = Environment::default();
    check_refused("[server]\nlisen = \"x\"", &none, &["lisen", "listen"]);
    check_refused("[sever]", &none, &["sever", "langya.example.toml"]);
    check_refused("[battle]\npacing = \"fast\"", &none, &["fast", "common", "classes", "whole", "raw"]);
    check_refused("[battle]\nstart_classes_ms = []", &none, &["battle.start_classes_ms", "rising order"]);
    check_refused("[battle]\ntempo_classes = [30, 120]", &none, &["battle.tempo_classes", "falling order"]);
    check_refused("[battle]\nslow_class_share = 1.5", &none, &["battle.slow_class_share", "0 to 1"]);
    check_refused("[battle]\nreserve_ms = 10001", &none, &["battle.reserve_ms", "0 to 10000"]);
    let unprintable = "[[models]]\nid = \"a\\u001e\"\nprovider = \"ollama\"";
    check_refused(unprintable, &none, &["models.id", "without control characters"]);
    let turning = "[[models]]\nid = \"a\\u202e\"\nprovider = \"ollama\"";
    check_refused(turning, &none, &["models.id", "without control characters"]);
    check_refused("[server", &none, &["langya.toml"]);
    check_refused("[site]\naccent = \"#ffcc00\"", &none, &["site.accent is \"#ffcc00\"", "contrast 4.5 to 1"]);
    check_refused("[site]\naccent = \"green\"", &none, &["site.accent", "such as \"#1d6755\""]);
    check_refused("[site]\nlogo = \"logo.exe\"", &none, &["site.logo is logo.exe", ".svg"]);
    check_refused("[site]\nimprint = \"javascript:alert(1)\"", &none, &["site.imprint", "https://"]);
    for site in ["lab.example.org", "https://lab.example.org/a", "https://a.example; script-src *", "'self'"] {
        check_refused(&format!("[site]\nembed_on = [\"{site}\"]"), &none, &["site.embed_on", "without a path"]);
    }
    check_refused(&format!("[site.consent]\nen = \"{}\"", "a".repeat(4_001)), &none, &["site.consent", "4000"]);
    check_refused("[site]\ncontact = \"arena\"", &none, &["site.contact", "mailto:"]);
    check_refused("[server]\ndrain_seconds = 26", &none, &["server.drain_seconds", "0 to 25"]);
    check_refused("[pairing]\nuniform_share = 2.0", &none, &["pairing.uniform_share", "0 to 1"]);
    check_refused("[bench]\nattempts = 2", &none, &["bench.attempts is 2", "3 or more"]);
    check_refused("", &Environment::of([("LANGYA__SERVER__LISEN", "x")]), &["lisen"]);
    check_refused("", &Environment::of([("LANGYA__SERVER", "x")]), &["LANGYA__SECTION__KEY"]);
    let one_underscore = Environment::of([("LANGYA_SERVER_METRICS_ALLOW", "[]")]);
    check_refused("", &one_underscore, &["LANGYA_SERVER_METRICS_ALLOW", "LANGYA__SERVER__METRICS_ALLOW"]);
    check_refused("", &Environment::of([("LANGYA__BATTLE__MAX_TURNS", "many")]), &["many"]);
}

#[test]
fn a_variable_that_looks_like_a_setting_is_known_with_what_to_write() {
    let env = Environment::of([
        ("LANGYA_CONFIG", "langya.toml"),
        ("LANGYA_LISTEN", "127.0.0.1:1"),
        ("LANGYA_PORT", "tcp://10.0.0.1:80"),
        ("LANGYA_REDIS", "redis://r"),
        ("LANGYA_TEST_SIZE", "long"),
        ("LANGYA__SERVER__LISTEN", "127.0.0.1:2"),
    ]);
    let instead = ["the flag --config", "LANGYA__SERVER__LISTEN", "LANGYA__REDIS__URL"];
    let expected = ["LANGYA_CONFIG", "LANGYA_LISTEN", "LANGYA_REDIS"].into_iter().zip(instead);
    let expected: Vec<_> = expected.map(|(name, instead)| (name.to_owned(), instead.to_owned())).collect();
    assert_eq!(load::ignored_variables(&env), expected);
}

#[test]
fn a_key_in_the_wrong_place_is_refused_with_the_right_place() {
    let none = Environment::default();
    check_refused("listen = \"127.0.0.1:80\"", &none, &["line 1", "`listen`: this key belongs under [server];"]);
    check_refused("[server]\ndata_dir = \"d\"", &none, &["this key belongs under [storage];"]);
    check_refused("provider = \"openai\"", &none, &["this key belongs under [[models]];"]);
    check_refused("[[model]]\nid = \"m\"", &none, &["`model`: each model is an entry [[models]]"]);
    check_refused("[models]\nid = \"m\"", &none, &["two brackets, such as [[models]]"]);
    let key = "[[models]]\nid = \"m\"\nprovider = \"openai\"\napi_key = \"sk-canary\"";
    check_refused(key, &none, &["line 4", "api_key_env, the name of the environment variable"]);
    assert!(!Settings::parse(key, "langya.toml", &none).unwrap_err().to_string().contains("canary"));
    check_refused("[server]\ntrusted_proxies = \"10.0.0.0/8\"", &none, &["expected a list such as"]);
    check_refused("[providers]\ndiscover = \"yes\"", &none, &["expected true or false"]);
}

#[test]
fn every_key_of_a_model_is_refused_elsewhere_with_the_right_place() {
    let none = Environment::default();
    let unknown = "[[models]]\nid = \"m\"\nprovider = \"openai\"\nnonsense = 1";
    let refused = Settings::parse(unknown, "langya.toml", &none).unwrap_err().to_string();
    let (_, known) = refused.split_once("expected one of ").unwrap();
    let known: Vec<&str> = known.split('`').skip(1).step_by(2).collect();
    assert_eq!(known, load::MODEL_KEYS);
    for key in load::MODEL_KEYS {
        check_refused(&format!("[storage]\n{key} = 1"), &none, &[&format!("unknown field `{key}`: "), "[[models]]"]);
    }
}

#[test]
fn a_variable_that_cannot_be_used_is_named() {
    for (name, value, said) in [
        ("LANGYA__SERVER__WORKERS", "", "LANGYA__SERVER__WORKERS: invalid type"),
        ("LANGYA__SERVER__TRUSTED_PROXIES", "10.0.0.0/8", "LANGYA__SERVER__TRUSTED_PROXIES: invalid type"),
        ("LANGYA__SERVER__LISEN", "x", "LANGYA__SERVER__LISEN: unknown field `lisen`, expected one of `listen`"),
        ("LANGYA__SERVER__DATA_DIR", "x", "LANGYA__SERVER__DATA_DIR: unknown field `data_dir`: this key belongs"),
        ("LANGYA__SERVR__LISTEN", "x", "LANGYA__SERVR__LISTEN: unknown field `servr`"),
        ("LANGYA__MODELS__0__ID", "m", "LANGYA__MODELS__0__ID: `models` is a list: set it in langya.toml"),
    ] {
        check_refused("", &Environment::of([(name, value)]), &[said]);
    }
    let longer = ("LANGYA__LIMITS__VOTES_PER_ADDRESS", "[9, 9, 9]");
    check_refused("", &Environment::of([longer, ("LANGYA__LIMITS__votes", "many")]), &["LANGYA__LIMITS__votes: "]);
}

#[test]
fn limits_out_of_order_and_addresses_without_a_port_are_refused() {
    let none = Environment::default();
    for limits in ["[10, 5, 3]", "[0, 9, 8]", "[2, 0, 1]"] {
        let text = format!("[limits]\nvotes = {limits}");
        check_refused(&text, &none, &[&format!("limits.votes is {limits}: limits per minute, hour and day")]);
    }
    for limits in ["[]", "[5]", "[5, 0, 5]", "[0, 0, 7]", "[1, 2, 3]"] {
        Settings::parse(&format!("[limits]\nvotes = {limits}"), "langya.toml", &none).unwrap();
    }
    for address in ["8080", "localhost:8080", "127.0.0.1", "http://127.0.0.1:80", ""] {
        let text = format!("[server]\nlisten = \"{address}\"");
        check_refused(&text, &none, &[&format!("server.listen is \"{address}\": an IP address and a port")]);
    }
    for battles in [0, 1_000_001] {
        let text = format!("[rating]\noptimal_at_battles = {battles}");
        check_refused(&text, &none, &["rating.optimal_at_battles is", "1 to 1000000"]);
    }
    for wrong in ["max_tokens = 0", "temperature = -1.0", "temperature = inf"] {
        let model = format!("[[models]]\nid = \"m\"\nprovider = \"openai\"\n{wrong}");
        check_refused(&model, &none, &[&format!("models.{} is", wrong.split(' ').next().unwrap())]);
    }
}

#[test]
fn a_file_that_is_far_too_long_is_refused_before_it_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("langya.toml");
    std::fs::File::create(&path).unwrap().set_len(17 << 20).unwrap();
    let refused = Settings::load(Some(&path), &Environment::default()).unwrap_err().to_string();
    assert!(refused.contains("longer than 16 MB") && !refused.contains('\n'), "{refused}");
}

#[test]
fn numbers_and_prices_that_cannot_be_used_are_refused_by_their_names() {
    let none = Environment::default();
    for (key, value) in
        [("max_concurrent", "0"), ("input_price", "-1.0"), ("output_price", "nan"), ("batch_price", "1.5")]
    {
        let model = format!("[[models]]\nid = \"m\"\nprovider = \"openai\"\n{key} = {value}");
        check_refused(&model, &none, &[&format!("models.{key} is")]);
    }
    for (key, value, rule) in [
        ("price_date", "\"21 November\"", "for example 2026-11-21"),
        ("price_date", "2026-11-21", "expected a string"),
        ("price_source", "\"\"", "one line"),
    ] {
        let model = format!("[[models]]\nid = \"m\"\nprovider = \"openai\"\n{key} = {value}");
        check_refused(&model, &none, &[key, rule]);
    }
    check_refused("[prices]\ncurrency = \"usd\"", &none, &["at \"currency\"", "for example USD"]);
    check_refused("[redis]\ntimeout_ms = 0", &none, &["redis.timeout_ms", "10 to 60000"]);
    for (section, key) in [
        ("bench", "give_up_after"),
        ("storage", "max_connections"),
        ("storage", "acquire_timeout_ms"),
        ("server", "max_sockets"),
        ("battle", "max_live_battles"),
        ("battle", "max_reply_bytes"),
    ] {
        check_refused(&format!("[{section}]\n{key} = 0"), &none, &[&format!("{section}.{key} is 0"), "1 or more"]);
    }
    for boost in ["inf", "nan"] {
        check_refused(&format!("[pairing]\nnew_model_boost = {boost}"), &none, &["pairing.new_model_boost"]);
    }
    check_refused(
        "[[models]]\nid = \"x\"\nprovider = \"builtin\"\n[[models]]\nid = \"x\"\nprovider = \"builtin\"",
        &none,
        &["\"x\""],
    );
}

#[test]
fn what_visitors_cannot_open_is_no_public_address() {
    for address in [
        "arena.example.org",
        "ftp://arena.example.org",
        "https://",
        "https://ada:hunter2@arena.example.org",
        "https://arena.example.org/sub",
        "https://arena.example.org?x=1",
        "https://arena.example.org#x",
        "https://*.example.org",
        "https://arena.example.org,",
        "http://0.0.0.0:8717",
        " https://arena.example.org",
    ] {
        let text = format!("[server]\npublic_url = \"{address}\"");
        check_refused(&text, &Environment::default(), &["server.public_url", "https://"]);
    }
}

#[test]
fn a_refusal_in_one_line_names_the_key_and_repeats_no_line_of_the_file() {
    let text = "[battle]\nmax_turns = \"many\"";
    let line = Settings::parse(text, "langya.toml", &Environment::default()).unwrap_err().to_string();
    assert!(line.contains("max_turns") && line.contains("line 2") && !line.contains('\n'), "{line}");
    let text = "[storage]\ndatabase = postgres://u:hunter2@h/d";
    let line = Settings::parse(text, "langya.toml", &Environment::default()).unwrap_err().to_string();
    assert!(line.contains("database") && !line.contains("hunter2"), "{line}");
    let text = "[server]\ntrusted_proxies = [\n\"postgres://u:hunter2@h/d?sslmode=require\"]";
    let line = Settings::parse(text, "langya.toml", &Environment::default()).unwrap_err().to_string();
    assert!(line.contains("line 3") && !line.contains("hunter2"), "{line}");
    let text = "[battle]\nmax_turns = \"hunter2\\\", expected\"";
    let line = Settings::parse(text, "langya.toml", &Environment::default()).unwrap_err().to_string();
    assert!(
        line.contains("max_turns")
            && line.contains("expected a whole number from 0 to 4294967295")
            && !line.contains("hunter2"),
        "{line}"
    );
}

#[test]
fn a_key_where_its_variable_should_be_is_not_repeated() {
    for key in ["sk-canary-1", "1canary", "canary key"] {
        let text = format!("[[models]]\nid = \"m\"\nprovider = \"openai\"\napi_key_env = \"{key}\"");
        let error = Settings::parse(&text, "langya.toml", &Environment::default()).unwrap_err();
        let told = format!("{error} {error:?}");
        assert!(told.contains("models.api_key_env") && told.contains("\"m\"") && !told.contains("canary"), "{told}");
    }
}

#[test]
fn what_is_no_file_is_refused_and_not_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("pipe");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status().unwrap();
    assert!(made.success());
    for path in [folder.path(), pipe.as_path(), Path::new("/dev/zero")] {
        let refused = Settings::load(Some(path), &Environment::default()).unwrap_err().to_string();
        assert!(refused.contains("not a regular file") && !refused.contains('\n'), "{refused}");
    }
}

#[test]
fn the_environment_wins_over_the_file() {
    let env = Environment::of([("LANGYA__BATTLE__MAX_TURNS", "3"), ("LANGYA__SERVER__LISTEN", "127.0.0.1:1")]);
    let settings = Settings::parse("[battle]\nmax_turns = 5\nmax_live_battles = 7", "langya.toml", &env).unwrap();
    assert_eq!((settings.battle.max_turns, settings.battle.max_live_battles), (3, 7));
    assert_eq!(settings.server.listen, "127.0.0.1:1");
}

#[test]
fn an_address_alone_is_a_network_and_what_is_none_is_refused_in_plain_words() {
    let networks =
        |list: &str| Settings::parse(&format!("[server]\ntrusted_proxies = {list}"), "f", &Environment::default());
    let read = networks(r#"["127.0.0.1", "::1", "10.0.0.0/8"]"#).unwrap().server.trusted_proxies;
    assert_eq!(read.iter().map(ToString::to_string).collect::<Vec<_>>(), ["127.0.0.1/32", "::1/128", "10.0.0.0/8"]);
    for wrong in ["10.0.0.0/33", "proxy.local"] {
        let told = networks(&format!("[\"{wrong}\"]")).unwrap_err().to_string();
        assert!(
            told.contains("trusted_proxies") && told.contains("not a network: write one such as 10.0.0.0/8"),
            "{told}"
        );
    }
}

#[test]
fn the_environment_may_set_lists_and_texts_that_look_like_something_else() {
    let env = Environment::of([
        ("LANGYA__SERVER__TRUSTED_PROXIES", r#"["10.0.0.0/8", "::1/128"]"#),
        ("LANGYA__SERVER__METRICS_ALLOW", "[]"),
        ("LANGYA__REDIS__PREFIX", "123"),
        ("LANGYA__STORAGE__DATA_DIR", "true"),
        ("LANGYA__PAIRING__ELO_WIDTH", "80"),
    ]);
    let settings = Settings::parse("", "langya.toml", &env).unwrap();
    assert_eq!(settings.server.trusted_proxies.len(), 2);
    assert_eq!(settings.server.metrics_allow, []);
    assert_eq!((settings.redis.prefix.as_str(), settings.storage.data_dir.to_str()), ("123", Some("true")));
    assert_eq!(settings.pairing.elo_width.to_bits(), 80f64.to_bits());
}
