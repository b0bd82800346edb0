//! The proof of work under pressure, by programs that read the wire and nothing else.

use langya::domain::access::proof_of_work::{self, Puzzles};
use langya::infra::config::{LimitSettings, WindowLimits};
use serde_json::{Value, json};

use crate::support::arena::{NO_LIMITS, TestArena};
use crate::support::scripted::Scripted;
use crate::support::visitor::{Visitor, get};

/// An arena in which every battle after the first three of a day begins with a proof.
async fn busy_arena() -> TestArena {
    TestArena::start_with(&[("one", &Scripted::saying("One.")), ("two", &Scripted::saying("Two."))], |settings| {
        settings.limits =
            LimitSettings { turns_per_arena: WindowLimits::new(0, 0, 100), proof_above: 0.02, ..NO_LIMITS };
    })
    .await
}

/// Starts battles until one is refused for want of a proof.
async fn until_asked(visitor: &mut Visitor) -> Value {
    loop {
        visitor.ask("Which?").await;
        let frame = visitor.next_of(&["ready", "error"]).await;
        if frame["type"] == "error" {
            return frame;
        }
    }
}

fn solution(refused: &Value) -> Value {
    let proof = &refused["proof"];
    let number = |field: &str| u32::try_from(proof[field].as_u64().unwrap()).unwrap();
    let puzzles = Puzzles { count: number("puzzles"), bits: number("bits") };
    json!({"challenge": proof["challenge"], "numbers": proof_of_work::solve(proof["seed"].as_str().unwrap(), puzzles)})
}

async fn start_with(visitor: &mut Visitor, proof: &Value) -> Value {
    visitor.send(json!({"type": "start", "prompt": "Which?", "proof": proof})).await;
    visitor.next_of(&["ready", "error"]).await
}

#[actix_web::test]
async fn a_program_reads_the_challenge_from_the_error_and_its_solution_starts_one_battle() {
    let arena = busy_arena().await;
    let mut visitor = arena.visitor().await;
    let refused = until_asked(&mut visitor).await;
    assert_eq!((&refused["code"], &refused["battle"]), (&json!("proof_required"), &Value::Null), "{refused}");
    assert_eq!((&refused["proof"]["puzzles"], &refused["proof"]["expires_in"]), (&json!(16), &json!(120)), "{refused}");
    let proof = solution(&refused);
    assert_eq!(start_with(&mut visitor, &proof).await["type"], "ready");
    let again = start_with(&mut visitor, &proof).await;
    assert_eq!(again["code"], "proof_required", "a solution counts once: {again}");
    assert!(again["message"].as_str().unwrap().contains("used already"), "{again}");
    assert_eq!(start_with(&mut visitor, &solution(&again)).await["type"], "ready");
    assert_eq!(visitor.vote("a").await["type"], "revealed");
    let metrics = get(&format!("{}/metrics", arena.url)).await.text().await.unwrap();
    for sample in [
        r#"langya_refusals_total{what="turns",by="proof_required"}"#,
        r#"langya_refusals_total{what="turns",by="proof_used"}"#,
    ] {
        assert!(metrics.contains(sample), "{sample} is missing in:\n{metrics}");
    }
}

#[actix_web::test]
async fn a_solution_is_refused_from_another_visitor_and_none_that_is_wrong_is_taken() {
    let arena = busy_arena().await;
    let (mut ann, mut ben) = (arena.visitor().await, arena.visitor().await);
    let refused = until_asked(&mut ann).await;
    let proof = solution(&refused);
    let stolen = start_with(&mut ben, &proof).await;
    assert_eq!(stolen["code"], "proof_required");
    assert!(stolen["message"].as_str().unwrap().contains("another visitor's"), "{stolen}");
    let mut wrong = proof.clone();
    wrong["numbers"][0] = json!(wrong["numbers"][0].as_u64().unwrap() + 1);
    for bad in [wrong, json!({"challenge": "", "numbers": []}), json!({"challenge": "a.b.c.d.e", "numbers": [0]})] {
        assert_eq!(start_with(&mut ann, &bad).await["code"], "proof_required", "{bad}");
    }
    for unreadable in [json!("x"), json!({"challenge": 1, "numbers": []}), json!({"challenge": "x", "numbers": [-1]})] {
        assert_eq!(start_with(&mut ann, &unreadable).await["code"], "invalid_message", "{unreadable}");
    }
    assert_eq!(start_with(&mut ann, &proof).await["type"], "ready", "the right one is still good");
}

#[actix_web::test]
async fn nobody_is_asked_for_a_proof_under_default_limits_and_ordinary_use() {
    let (one, two) = (Scripted::saying("One."), Scripted::saying("Two."));
    let arena = TestArena::start_with(&[("one", &one), ("two", &two)], |settings| {
        settings.limits = LimitSettings::default();
        settings.server.trusted_proxies = vec!["127.0.0.0/8".parse().unwrap()];
    })
    .await;
    // A class that begins together: thirty people of one network, each with a battle and a further question.
    for _ in 0..30 {
        let header = Some(("x-forwarded-for", "203.0.113.9".to_owned()));
        let mut visitor = Visitor::connect_with(&arena.url, header).await.unwrap();
        visitor.ask("Which?").await;
        assert_eq!(visitor.next_of(&["ready", "error"]).await["type"], "ready");
        visitor.send(json!({"type": "message", "prompt": "And then?"})).await;
        assert_eq!(visitor.next_of(&["ready", "error"]).await["type"], "ready");
    }
}
