use super::super::http_client::http_client;
use crate::llm::providers::openai;
use crate::llm::stream::stream_readers::SseReader;
use reqwest::header::AUTHORIZATION;

use super::*;
use crate::config::{ModelSettings, ProviderKind, Settings};

fn endpoint(base_url: &str) -> Result<Endpoint, ConfigError> {
    let text = format!("[[models]]\nid = \"m\"\nprovider = \"openai\"\nbase_url = \"{base_url}\"\n");
    let settings = Settings::parse(&text, "test", &crate::config::Environment::default()).unwrap();
    Endpoint::new(&settings.models[0], "http://127.0.0.1/v1", "/chat", &http_client(Duration::from_secs(1)).unwrap())
}

#[test]
fn addresses_are_joined_whether_or_not_they_end_in_a_slash() {
    assert_eq!(endpoint("http://127.0.0.1:8000/v1/").unwrap().url.as_str(), "http://127.0.0.1:8000/v1/chat");
    assert_eq!(endpoint("").unwrap().url.as_str(), "http://127.0.0.1/v1/chat");
}

#[test]
fn a_key_stays_at_its_own_origin() {
    let endpoint = endpoint("http://127.0.0.1:8000/v1").unwrap();
    assert_eq!(
        endpoint.with_path_suffix("/chat", "/batches?limit=1").url.as_str(),
        "http://127.0.0.1:8000/v1/batches?limit=1"
    );
    let own = |url: &str| endpoint.at_same_origin(Url::parse(url).unwrap()).is_some();
    assert!(own("http://127.0.0.1:8000/v1/batches/b/results?part=1"));
    for other in [
        "http://127.0.0.1:8001/v1",
        "https://127.0.0.1:8000/v1",
        "http://127.0.0.2:8000/v1",
        "http://127.0.0.1.example.org:8000/",
        "http://a@127.0.0.1:8000/v1",
        "data:,x",
    ] {
        assert!(!own(other), "{other}");
    }
}

#[test]
fn no_model_repeats_the_key_of_another() {
    let settings = ModelSettings::minimal("m", ProviderKind::Openai);
    let http = http_client(Duration::from_secs(1)).unwrap();
    let endpoint = || Endpoint::new(&settings, "http://127.0.0.1/v1", "/chat", &http).unwrap();
    let key = SecretString::from("sk-canary-0123456789");
    let with_key = endpoint().with_key(&settings, AUTHORIZATION, "Bearer ", Some(&key)).unwrap();
    for endpoint in [with_key, endpoint()] {
        let parts = endpoint.without_keys(vec![ReplyPart::Text(format!("Bearer {}", key.expose_secret()))]);
        assert_eq!(parts, [ReplyPart::Text("Bearer [redacted]".into())]);
    }
}

#[test]
fn metadata_addresses_strange_schemes_and_queries_are_refused() {
    for base in [
        "http://169.254.169.254/v1",
        "http://[fe80::1]/v1",
        "http://[::ffff:169.254.169.254]/v1",
        "http://100.100.100.200",
        "http://[fd00:ec2::254]/",
        "http://0xA9FEA9FE/",
        "file:///etc/passwd",
        "127.0.0.1:8000",
        "http://127.0.0.1:8000/v1?key=x",
        "http://127.0.0.1:8000/v1?",
        "http://127.0.0.1:8000/v1#part",
        "http://me:sk-canary@127.0.0.1:8000/v1",
        "http://sk-canary@127.0.0.1:8000/v1",
        "http://[64:ff9b::a9fe:a9fe]/v1",
    ] {
        let refused = endpoint(base).map(drop).unwrap_err().to_string();
        assert!(!refused.contains("canary"), "{refused}");
    }
}

#[test]
fn a_key_with_a_line_break_is_refused_by_the_name_of_its_variable() {
    let settings = Settings::parse(
        "[[models]]\nid = \"m\"\nprovider = \"openai\"\napi_key_env = \"MY_KEY\"\n",
        "test",
        &crate::config::Environment::default(),
    )
    .unwrap();
    let key = SecretString::from("sk-canary\nx-evil: 1");
    let error = endpoint("")
        .unwrap()
        .with_key(&settings.models[0], reqwest::header::AUTHORIZATION, "Bearer ", Some(&key))
        .unwrap_err()
        .to_string();
    assert!(error.contains("MY_KEY") && !error.contains("canary"), "{error}");
}

#[test]
fn a_key_is_not_in_the_debug_text_of_an_endpoint() {
    let settings = Settings::parse(
        "[[models]]\nid = \"m\"\nprovider = \"openai\"\n",
        "test",
        &crate::config::Environment::default(),
    )
    .unwrap();
    let key = SecretString::from(" sk-canary\n");
    let endpoint = endpoint("")
        .unwrap()
        .with_key(&settings.models[0], reqwest::header::AUTHORIZATION, "Bearer ", Some(&key))
        .unwrap();
    assert_eq!(endpoint.headers["authorization"], "Bearer sk-canary");
    assert!(!format!("{endpoint:?}").contains("canary"));
}

/// Protocol in which only the chunk `word` is text.
struct OneWord;

impl ReplyReader for OneWord {
    fn read(&mut self, chunk: &[u8], parts: &mut VecDeque<ReplyPart>) -> Result<StreamProgress, ChatError> {
        parts.extend((chunk == b"word").then(|| ReplyPart::Text("word".into())));
        Ok(StreamProgress::More)
    }

    fn finish(&mut self, _: &mut VecDeque<ReplyPart>) -> Result<StreamProgress, ChatError> {
        Ok(StreamProgress::Ended)
    }

    fn has_begun(&self) -> bool {
        true
    }

    fn has_end_marker(&self) -> bool {
        false
    }
}

/// Creates a reply whose body is passed to it.
fn exchange<R: ReplyReader>(reader: R) -> HttpExchange<R> {
    HttpExchange {
        request: None,
        response: None,
        reader,
        parts: VecDeque::new(),
        redaction: KeyRedaction::default(),
        without_text: 0,
        closing_by: None,
        ending: None,
        background_drain: BackgroundDrain::default(),
    }
}

#[test]
fn a_body_that_goes_on_without_text_is_given_up() {
    let mut exchange = exchange(OneWord);
    let comment = vec![b':'; 1 << 20];
    for round in 0..2 {
        for _ in 0..255 {
            assert_eq!(exchange.read(&comment), Ok(StreamProgress::More), "round {round}");
        }
        assert_eq!(exchange.read(b"word"), Ok(StreamProgress::More), "text comes in time");
        exchange.parts.clear();
    }
    for _ in 0..255 {
        exchange.read(&comment).unwrap();
    }
    assert_eq!(exchange.read(&comment), Err(ChatError::Malformed("more than 256 MiB without text".into())));
}

#[test]
fn keep_alives_without_end_are_given_up_like_any_other_body_without_text() {
    let keep_alives =
        ["data: ping\n\n", "data:\n\n", "data: {\"choices\":[null]}\n\n", "event: ping\ndata: {}\n\n", ": ping\n\n"];
    for keep_alive in keep_alives {
        let mut exchange = exchange(SseReader::new(openai::read_event));
        exchange.without_text = MAX_BYTES_WITHOUT_TEXT - READ_COST - keep_alive.len();
        assert_eq!(exchange.read(keep_alive.as_bytes()), Ok(StreamProgress::More), "{keep_alive:?}");
        let error = ChatError::Malformed("more than 256 MiB without text".into());
        assert_eq!(exchange.read(keep_alive.as_bytes()), Err(error), "{keep_alive:?}");
        assert!(exchange.parts.is_empty(), "{keep_alive:?}");
    }
}
