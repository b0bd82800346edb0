//! Replies as HTML on the wire: what a page is sent of them, and what it has in the end.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::support::arena::TestArena;
use crate::support::scripted::{Scripted, Step};
use crate::support::visitor::Visitor;

#[actix_web::test]
async fn a_page_that_asked_for_html_gets_safe_blocks_that_make_up_the_reply() {
    let hostile = || {
        Scripted::new(|_| {
            vec![Step::Say("# Title\n\nSome **bold** <script>alert(1)</script>\n\n".into()), Step::Say("- end".into())]
        })
    };
    let (one, two) = (hostile(), hostile());
    let arena = TestArena::start(&[("one", &one), ("two", &two)]).await;
    let mut shown = Vec::new();
    for render in ["html", "blocks"] {
        let mut visitor = arena.visitor().await;
        visitor.send(json!({"type": "start", "prompt": "Format!", "render": render})).await;
        visitor.until_ready().await;
        let html = shown_html(&visitor);
        assert!(html.contains("<h4") && html.contains("<strong>bold</strong>") && html.contains("<li"), "{html}");
        assert!(!html.contains("<script"), "{html}");
        shown.push(html);
    }
    assert_eq!(shown[0], shown[1]);
}

#[actix_web::test]
async fn a_page_that_keeps_blocks_gets_each_letter_of_a_long_paragraph_once() {
    let sentence = "Ein Satz mit 汉字 und 🌍. ".repeat(40);
    let saying = || {
        let text = sentence.clone();
        Scripted::new(move |_| vec![Step::Say(text.clone())])
    };
    let (one, two) = (saying(), saying());
    let models = [("one", &one), ("two", &two)];
    let arena = TestArena::start_with(&models, |settings| settings.battle.pace_chars_per_second = 1_200).await;
    let mut visitor = arena.visitor().await;
    visitor.send(json!({"type": "start", "prompt": "Go on!", "render": "blocks"})).await;
    visitor.until_ready().await;
    let frames: Vec<Value> = visitor.frames.iter().map(|frame| serde_json::from_str(frame).unwrap()).collect();
    assert!(frames.iter().all(|frame| frame["type"] != "delta"), "no text beside it");
    let sent = frames.iter().flat_map(|frame| frame["a"].as_array().into_iter().flatten());
    let sent: Vec<usize> = sent.map(|change| change[2].as_str().unwrap().len()).collect();
    assert!(sent.len() > 10, "{sent:?}");
    // Beside the text each frame closes the paragraph again.
    let closing = "</p></div>".len();
    assert!(sent.iter().sum::<usize>() <= sentence.len() + closing * (sent.len() + 3), "{sent:?}");
    let html = shown_html(&visitor);
    assert!(html.contains(sentence.trim()), "{html}");
    let asked = async |visitor: &mut Visitor, turn: u32| {
        visitor.send(json!({"type": "text", "turn": turn, "side": "b"})).await;
        visitor.next_of(&["text"]).await["text"].clone()
    };
    assert_eq!(asked(&mut visitor, 1).await, json!(sentence), "as the model wrote it");
    assert_eq!(asked(&mut visitor, 2).await, Value::Null);
    visitor.send(json!({"type": "message", "prompt": "And then?"})).await;
    visitor.until_ready().await;
    for turn in [1, 2] {
        assert_eq!(asked(&mut visitor, turn).await, json!(sentence), "of turn {turn}");
    }
    for wrong in [json!({"type": "text", "side": "a"}), json!({"type": "text", "turn": 1, "side": "c"})] {
        visitor.send(wrong).await;
        assert_eq!(visitor.next_of(&["error"]).await["code"], "invalid_message");
    }
    arena.end().await;
}

#[actix_web::test]
async fn a_visitor_who_asks_for_texts_without_end_is_told_to_wait() {
    let (one, two) = (Scripted::saying("One."), Scripted::saying("Two."));
    let arena = TestArena::start(&[("one", &one), ("two", &two)]).await;
    let mut visitor = arena.visitor().await;
    visitor.send(json!({"type": "start", "prompt": "Go on!", "render": "blocks"})).await;
    visitor.until_ready().await;
    let mut granted = 0;
    let refused = loop {
        visitor.send(json!({"type": "text", "turn": 1, "side": "a"})).await;
        let answer = visitor.next_of(&["text", "error"]).await;
        if answer["type"] == "error" {
            break answer;
        }
        granted += 1;
        assert!(granted < 400, "no limit");
    };
    assert!(granted >= 60, "all that a page asks for: {granted}");
    assert_eq!(refused["code"], "rate_limited");
    assert!(refused["retry_after"].as_u64().is_some_and(|seconds| seconds >= 1), "{refused}");
    arena.end().await;
}

#[actix_web::test]
async fn a_page_that_comes_back_has_all_blocks_and_all_texts() {
    let paragraphs = |word: &str| (0..30).map(|n| format!("{word} in paragraph {n}.\n\n")).collect::<String>();
    let saying = |text: String| Scripted::new(move |_| vec![Step::Say(text.clone())]);
    let (one, two) = (saying(paragraphs("One")), saying(paragraphs("One")));
    let models = [("one", &one), ("two", &two)];
    let arena = TestArena::start_with(&models, |settings| settings.battle.pace_chars_per_second = 1_200).await;
    let mut visitor = arena.visitor().await;
    visitor.send(json!({"type": "start", "prompt": "Go on!", "render": "blocks"})).await;
    visitor.until_ready().await;
    let (battle, whole) = (visitor.battle(), shown_html(&visitor));
    let seqs: Vec<u64> = visitor
        .frames
        .iter()
        .map(|frame| serde_json::from_str::<Value>(frame).unwrap())
        .filter(|frame| frame["type"] == "blocks")
        .map(|frame| frame["seq"].as_u64().unwrap())
        .collect();
    assert!(seqs.is_sorted() && seqs.len() > 10, "{seqs:?}");
    for after in [0, seqs[0], seqs[seqs.len() / 2], seqs[seqs.len() - 1]] {
        let mut visitor = visitor.reconnect().await;
        visitor.send(json!({"type": "resume", "battle": battle, "after": after, "render": "blocks"})).await;
        visitor.until_ready().await;
        assert_eq!(shown_html(&visitor), whole, "after {after}");
        visitor.send(json!({"type": "text", "turn": 1, "side": "a"})).await;
        assert_eq!(visitor.next_of(&["text"]).await["text"], json!(paragraphs("One")), "after {after}");
    }
    arena.end().await;
}

/// The blocks of side A as a page has them in the end.
fn shown_html(visitor: &Visitor) -> String {
    let mut blocks = BTreeMap::<u64, Vec<u16>>::new();
    let mut change = |block: &Value, kept: &Value, html: &Value| {
        let block = blocks.entry(block.as_u64().unwrap()).or_default();
        block.truncate(kept.as_u64().unwrap().try_into().unwrap());
        block.extend(html.as_str().unwrap().encode_utf16());
    };
    for frame in &visitor.frames {
        let frame: Value = serde_json::from_str(frame).unwrap();
        if frame["type"] == "html" && frame["side"] == "a" {
            change(&frame["block"], &json!(0), &frame["html"]);
        }
        for part in frame["a"].as_array().into_iter().flatten() {
            change(&part[0], &part[1], &part[2]);
        }
    }
    blocks.into_values().map(|block| String::from_utf16(&block).unwrap()).collect()
}
