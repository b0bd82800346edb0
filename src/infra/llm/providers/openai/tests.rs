use super::*;
use crate::domain::battle::message::ImageType;
use crate::llm::{MessageRole, PromptImage};

#[track_caller]
fn check(data: &str, expected: &[ReplyPart]) {
    let mut parts = VecDeque::new();
    assert_eq!(read_event(SseEvent { name: "", data }, &mut parts), Ok(StreamProgress::More), "{data}");
    assert_eq!(parts, expected, "{data}");
}

fn text(text: &str) -> ReplyPart {
    ReplyPart::Text(text.into())
}

fn reasoning(text: &str) -> ReplyPart {
    ReplyPart::Reasoning(text.into())
}

#[test]
fn images_stand_before_the_text_as_data_addresses() {
    let images = vec![PromptImage { media_type: ImageType::Jpeg, bytes: (*b"abc").into() }];
    let expected = json!({"role": "user", "content": [
        {"type": "image_url", "image_url": {"url": "data:image/jpeg;base64,YWJj"}},
        {"type": "text", "text": "What?"},
    ]});
    assert_eq!(message_json(&Message { images, ..Message::user("What?") }), expected);
    assert_eq!(message_json(&Message::user("What?")), json!({"role": "user", "content": "What?"}));
}

#[test]
fn the_reason_of_an_end_closes_the_text_and_not_the_stream() {
    let data = r#"{"choices":[{"delta":{"content":"a"},"finish_reason":"stop"}],"error":null}"#;
    let mut parts = VecDeque::new();
    assert_eq!(read_event(SseEvent { name: "", data }, &mut parts), Ok(StreamProgress::Closing));
    assert_eq!(parts, [text("a")]);
}

#[test]
fn an_end_that_is_a_failure_of_the_server_is_reported_after_the_text_before_it() {
    for reason in FAILED_FINISH_REASONS {
        let data = json!({"choices": [{"delta": {"content": "a"}, "finish_reason": reason}]}).to_string();
        let mut parts = VecDeque::new();
        let read = read_event(SseEvent { name: "", data: &data }, &mut parts);
        assert_eq!((read, parts), (Err(ChatError::Reported), VecDeque::from([text("a")])), "{reason}");
    }
    for reason in [json!("length"), json!("content_filter"), json!(7), json!({})] {
        let data = json!({"choices": [{"delta": {}, "finish_reason": reason}]}).to_string();
        let read = read_event(SseEvent { name: "", data: &data }, &mut VecDeque::new());
        assert_eq!(read, Ok(StreamProgress::Closing), "{reason}");
    }
    for none in ["\"\"", "\"null\"", "null", "false"] {
        check(&format!(r#"{{"choices":[{{"delta":{{"content":"a"}},"finish_reason":{none}}}]}}"#), &[text("a")]);
    }
}

#[test]
fn content_may_be_a_list_of_parts() {
    let thinking = r#"[{"type":"thinking","thinking":[{"type":"text","text":"Hm"}]},{"type":"text","text":"Yes"}]"#;
    check(&format!(r#"{{"choices":[{{"delta":{{"content":{thinking}}}}}]}}"#), &[reasoning("Hm"), text("Yes")]);
    let plain =
        r#"[{"type":"thinking","thinking":"Hm"},{"type":"text","text":""},{"type":"reference","reference_ids":[1]}]"#;
    check(&format!(r#"{{"choices":[{{"delta":{{"content":{plain}}}}}]}}"#), &[reasoning("Hm")]);
    check(r#"{"choices":[{"delta":{"content":[]}}]}"#, &[]);
    for kind in ["thinking", "reasoning", "reasoning.text"] {
        let parts = json!([{"type": kind, "text": "Hm"}, {"type": "text", "text": "Yes"}, {"text": "!"}]);
        let data = json!({"choices": [{"delta": {"content": parts}}]}).to_string();
        check(&data, &[reasoning("Hm"), text("Yes"), text("!")]);
    }
    for content in ["42", "{}", "[42]", r#"[{"text":42}]"#] {
        let data = format!(r#"{{"choices":[{{"delta":{{"content":{content}}}}}]}}"#);
        let read = read_event(SseEvent { name: "", data: &data }, &mut VecDeque::new());
        assert!(matches!(read, Err(ChatError::Malformed(_))), "{content}: {read:?}");
    }
}

#[test]
fn spaces_around_the_last_event_and_in_an_empty_one_change_nothing() {
    let mut parts = VecDeque::new();
    assert_eq!(read_event(SseEvent { name: "", data: "[DONE] \t" }, &mut parts), Ok(StreamProgress::Ended));
    check(" ", &[]);
}

#[test]
fn deltas_of_many_servers_are_read() {
    check(r#"{"choices":[{"delta":{"role":"assistant","content":"Hi"}}]}"#, &[text("Hi")]);
    check(r#"{"choices":[{"delta":{"role":"assistant"}}]}"#, &[]);
    check(r#"{"choices":[{"delta":{"role":"assistant","content":null,"tool_calls":null}}]}"#, &[]);
    check(r#"{"choices":[{"delta":null}]}"#, &[]);
    check(r#"{"choices":[],"usage":null}"#, &[]);
    let usage = |input, output| ReplyPart::Usage(Usage { input, output });
    check(r#"{"choices":[],"usage":{"total_tokens":9}}"#, &[usage(None, None)]);
    check(
        r#"{"choices":[],"usage":{"prompt_tokens":7,"completion_tokens":2,"total_tokens":9}}"#,
        &[usage(Some(7), Some(2))],
    );
    check(
        r#"{"choices":[],"usage":{"prompt_tokens":18446744073709551615,"completion_tokens":0}}"#,
        &[usage(None, Some(0))],
    );
    check(
        r#"{"choices":[],"usage":{"prompt_tokens":1000000000,"completion_tokens":1000000001}}"#,
        &[usage(Some(1_000_000_000), None)],
    );
    for counts in [
        r#"{"prompt_tokens":-1,"completion_tokens":5}"#,
        r#"{"prompt_tokens":7.5}"#,
        r#"{"prompt_tokens":"7"}"#,
        r#"{"completion_tokens":99999999999999999999999}"#,
        r#"{"prompt_tokens":1e400}"#,
        r#"{"total_tokens":1,"completion_tokens":-1e999}"#,
        "1e400",
        "[]",
        "null",
    ] {
        check(&format!(r#"{{"choices":[{{"delta":{{"content":"a"}}}}],"usage":{counts}}}"#), &[text("a")]);
    }
    for logprobs in [
        r#"{"content":[{"token":"7","logprob":null}]}"#,
        r#"{"content":[{"token":"7","logprob":-1e400}]}"#,
        r#"{"tokens":["7"],"token_logprobs":[-1]}"#,
        "7",
    ] {
        check(&format!(r#"{{"choices":[{{"delta":{{"content":"7"}},"logprobs":{logprobs}}}]}}"#), &[text("7")]);
    }
    check(r#"{"choices":null,"object":"chat.completion.chunk"}"#, &[]);
    check(r#"{"choices":[null]}"#, &[]);
    check(r#"{"choices":[null,{"delta":{"content":"a"}}]}"#, &[text("a")]);
    check(r#"{"choices":[{"delta":[]}]}"#, &[]);
    for object in ["null", "7", "{}"] {
        check(&format!(r#"{{"choices":[{{"delta":{{"content":"a"}}}}],"object":{object}}}"#), &[text("a")]);
    }
    check(r#"{"choices":[{"delta":{"content":"\ud83d\ude00\n"}}]}"#, &[text("😀\n")]);
    check("", &[]);
}

#[test]
fn reasoning_is_kept_apart_under_either_name_and_counted_once() {
    check(r#"{"choices":[{"delta":{"reasoning_content":"Hm","content":""}}]}"#, &[reasoning("Hm")]);
    check(r#"{"choices":[{"delta":{"reasoning":"Hm"}}]}"#, &[reasoning("Hm")]);
    check(r#"{"choices":[{"delta":{"reasoning":"Hm","reasoning_content":"Hm"}}]}"#, &[reasoning("Hm")]);
    check(r#"{"choices":[{"delta":{"reasoning":"Hm","reasoning_content":""}}]}"#, &[reasoning("Hm")]);
    check(r#"{"choices":[{"delta":{"reasoning":"Hm","content":"Yes"}}]}"#, &[reasoning("Hm"), text("Yes")]);
}

#[test]
fn probabilities_of_numbers_come_before_the_text_of_their_chunk() {
    let token = |token: &str, logprob: f64, others: &[(&str, f64)]| {
        let others: Vec<_> =
            others.iter().map(|(token, logprob)| json!({"token": token, "logprob": logprob, "bytes": null})).collect();
        json!({"token": token, "logprob": logprob, "bytes": [55], "top_logprobs": others})
    };
    let tokens = [token("[[", 0.0, &[]), token("7", -0.5, &[("7", -0.5), (" 8", -1.0), ("good", -3.0)])];
    let chunk = json!({"choices": [{"delta": {"content": "[[7"}, "logprobs": {"content": tokens, "refusal": null}}]});
    let alternatives = vec![("7".to_owned(), (-0.5_f64).exp()), ("8".to_owned(), (-1.0_f64).exp())];
    let number = NumberToken { at: 2, digits: "7".to_owned(), alternatives };
    check(&chunk.to_string(), &[ReplyPart::Numbers(vec![number]), text("[[7")]);
    check(r#"{"choices":[{"delta":{"content":"Hi"},"logprobs":null}]}"#, &[text("Hi")]);
    check(r#"{"choices":[{"delta":{"content":"Hi"},"logprobs":{"content":null}}]}"#, &[text("Hi")]);
}

#[test]
fn a_server_that_repeats_the_whole_message_beside_each_delta_is_read_once() {
    check(r#"{"choices":[{"delta":{"content":"b"},"message":{"role":"assistant","content":"ab"}}]}"#, &[text("b")]);
    check(r#"{"choices":[{"delta":{"content":""},"message":{"role":"assistant","content":"ab"}}]}"#, &[]);
}

#[test]
fn a_request_of_a_batch_is_that_of_a_stream_without_the_stream() {
    let settings = ModelSettings::minimal("m", crate::config::ProviderKind::Openai);
    let http = crate::llm::http_client(std::time::Duration::from_secs(1)).unwrap();
    let model = OpenAiModel::new(&settings, None, &http).unwrap();
    let sampling = Sampling { max_tokens: Some(5), seed: Some(3), with_usage: true, ..Sampling::default() };
    let (mut streamed, batched) =
        (model.body(&[Message::user("?")], &sampling), model.batch_body(&[Message::user("?")], &sampling));
    assert!(streamed.remove("stream").is_some() && streamed.remove("stream_options").is_some());
    assert_eq!(streamed, batched);
}

#[test]
fn a_refusal_is_what_the_model_said() {
    check(r#"{"choices":[{"delta":{"content":null,"refusal":"No."}}]}"#, &[text("No.")]);
}

#[test]
fn reasoning_and_refusals_in_a_form_of_their_own_take_nothing_from_the_text() {
    for other in ["false", "{}", r#"["Hm"]"#, r#"{"text":"Hm"}"#, "7"] {
        for field in ["refusal", "reasoning", "reasoning_content"] {
            check(&format!(r#"{{"choices":[{{"delta":{{"content":"a","{field}":{other}}}}}]}}"#), &[text("a")]);
        }
    }
}

#[test]
fn errors_in_mid_stream_are_known_in_each_spelling() {
    for (name, data) in [
        ("", r#"{"error":{"message":"overloaded sk-SECRET"}}"#),
        ("", r#"{"choices":[{"delta":{"content":""},"finish_reason":"error"}],"error":{"code":502}}"#),
        ("", r#"{"object":"error","message":"no"}"#),
        ("error", "overloaded"),
    ] {
        assert_eq!(read_event(SseEvent { name, data }, &mut VecDeque::new()), Err(ChatError::Reported), "{data}");
    }
}

#[test]
fn a_field_of_errors_that_says_nothing_is_no_error() {
    for nothing in ["null", "false", r#""""#, "{}", "[]"] {
        check(&format!(r#"{{"choices":[{{"delta":{{"content":"a"}}}}],"error":{nothing}}}"#), &[text("a")]);
    }
    for said in ["true", "500", r#""no""#, r#"{"code":0}"#] {
        let data = format!(r#"{{"choices":[{{"delta":{{"content":"a"}}}}],"error":{said}}}"#);
        let read = read_event(SseEvent { name: "", data: &data }, &mut VecDeque::new());
        assert_eq!(read, Err(ChatError::Reported), "{said}");
    }
}

#[test]
fn of_several_choices_the_first_is_the_reply() {
    check(r#"{"choices":[{"index":1,"delta":{"content":"other"}}]}"#, &[]);
    check(r#"{"choices":[{"index":1,"delta":{"content":"other"},"finish_reason":"stop"}]}"#, &[]);
    check(r#"{"choices":[{"index":1,"delta":{"content":"other"}},{"index":0,"delta":{"content":"a"}}]}"#, &[text("a")]);
    for index in [r#""1""#, "1.0", "18446744073709551616"] {
        check(&format!(r#"{{"choices":[{{"index":{index},"delta":{{"content":"other"}}}}]}}"#), &[]);
    }
    for index in ["null", "-1", r#""0""#, "0.0", "1e400"] {
        check(&format!(r#"{{"choices":[{{"index":{index},"delta":{{"content":"a"}}}}]}}"#), &[text("a")]);
    }
}

#[test]
fn broken_json_is_malformed_and_its_text_is_not_quoted() {
    for data in [r#"{"choices":[{"delta":{"content":"#, r#""sk-SECRET""#, r#"{"choices":"sk-SECRET"}"#, "5"] {
        let error = read_event(SseEvent { name: "", data }, &mut VecDeque::new()).unwrap_err();
        assert!(matches!(&error, ChatError::Malformed(_)) && !error.to_string().contains("SECRET"), "{error}");
    }
}

#[test]
fn a_call_has_its_own_sampling_and_the_extra_body_wins_over_it() {
    let mut settings =
        ModelSettings { temperature: Some(0.7), ..ModelSettings::minimal("m", crate::config::ProviderKind::Openai) };
    let http = crate::llm::http_client(std::time::Duration::from_secs(1)).unwrap();
    let sampling =
        Sampling { temperature: Some(0.0), max_tokens: Some(5), seed: Some(3), with_usage: true, logprobs: true };
    let body =
        |settings: &ModelSettings, sampling| OpenAiModel::new(settings, None, &http).unwrap().body(&[], &sampling);
    let own = body(&settings, Sampling::default());
    assert_eq!(
        (&own["temperature"], &own["max_completion_tokens"], own.get("seed")),
        (&json!(0.7), &json!(2048), None)
    );
    assert!(own.get("stream_options").is_none() && own.get("logprobs").is_none());
    let asked = body(&settings, sampling);
    assert_eq!(
        (&asked["temperature"], &asked["max_completion_tokens"], &asked["seed"]),
        (&json!(0.0), &json!(5), &json!(3))
    );
    assert_eq!(asked["stream_options"], json!({"include_usage": true}));
    assert_eq!((&asked["logprobs"], &asked["top_logprobs"]), (&json!(true), &json!(20)));
    settings.extra_body =
        [("temperature", json!(1)), ("max_tokens", json!(9))].map(|(key, value)| (key.to_owned(), value)).into();
    let fixed = body(&settings, sampling);
    assert_eq!((&fixed["temperature"], &fixed["max_tokens"]), (&json!(1), &json!(9)));
    assert!(fixed.get("max_completion_tokens").is_none());
}

#[test]
fn a_system_message_takes_the_place_of_the_models_own() {
    let said = |role, content: &str| Message::of(role, content);
    let (judge, question) = (said(MessageRole::System, "Judge."), said(MessageRole::User, "?"));
    assert_eq!(with_system_prompt("Own.", &[judge.clone(), question.clone()]), [judge, question.clone()]);
    assert_eq!(
        with_system_prompt("Own.", std::slice::from_ref(&question)),
        [said(MessageRole::System, "Own."), question]
    );
}

#[test]
fn an_extra_limit_takes_the_place_of_ours() {
    let mut settings = ModelSettings::minimal("m", crate::config::ProviderKind::Openai);
    assert_eq!(template(&settings, "max_tokens")["max_tokens"], json!(2048));
    settings.extra_body.insert("max_completion_tokens".into(), json!(9));
    settings.extra_body.insert("top_k".into(), json!(1));
    let body = template(&settings, "max_tokens");
    assert!(body.get("max_tokens").is_none() && body["max_completion_tokens"] == 9 && body["top_k"] == 1);
}
