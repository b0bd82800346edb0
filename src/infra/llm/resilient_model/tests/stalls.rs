//! The process stalls during a reply: data that arrived in the meantime is read before any timeout counts.

use tokio::time::advance;

use super::*;

const HOUR: Duration = Duration::from_secs(3_600);

/// Script of a text that arrives during a stall and is read by the connection's task a moment after it.
fn read_a_moment_later(text: &'static str) -> [ScriptStep; 3] {
    [Wait(10), WaitMs(1), Say(text)]
}

fn text(text: &str) -> Option<Result<ReplyPart, ChatError>> {
    Some(Ok(ReplyPart::Text(text.into())))
}

/// Returns the next part; during the wait the process stalls for an hour.
async fn next_after_stall(reply: &mut ReplyStream) -> Option<Result<ReplyPart, ChatError>> {
    let (part, ()) = tokio::join!(reply.next(), advance(HOUR));
    part
}

#[tokio::test(start_paused = true)]
async fn text_that_came_during_a_stall_is_in_time_and_so_is_the_rest() {
    let script = [read_a_moment_later("a"), read_a_moment_later("b"), read_a_moment_later("c")].concat();
    let bench = bench([script]);
    let mut reply = bench.model.reply(&[]);
    assert_eq!(next_after_stall(&mut reply).await, text("a"), "the limit of the first token");
    assert_eq!(next_after_stall(&mut reply).await, text("b"), "the limits of the next token and of the whole reply");
    assert_eq!(reply.next().await, text("c"));
    assert_eq!(reply.next().await, None);
    bench.check_state(BreakerPhase::Closed, 0);
}

#[tokio::test(start_paused = true)]
async fn what_was_known_at_the_end_of_a_stall_leaves_the_rest_its_time() {
    let bench = bench([vec![Say("a"), Wait(10), Say("b"), Wait(10), Say("c")]]);
    let mut reply = bench.model.reply(&[]);
    assert_eq!(reply.next().await, text("a"));
    assert_eq!(next_after_stall(&mut reply).await, text("b"));
    assert_eq!(reply.next().await, text("c"), "the limit of the whole reply");
}

#[tokio::test(start_paused = true)]
async fn a_model_that_sends_nothing_after_a_stall_either_has_timed_out() {
    for (script, awaited, after) in [(vec![], "first token", 30), (vec![Say("a")], "next token", 20)] {
        let bench = bench([[script.clone(), vec![Wait(99_999)]].concat()]);
        let mut reply = bench.model.reply(&[]);
        for _ in &script {
            assert_eq!(reply.next().await, text("a"));
        }
        let after = Duration::from_secs(after);
        assert_eq!(next_after_stall(&mut reply).await, Some(Err(ChatError::Timeout { awaited, after })));
        bench.check_state(BreakerPhase::Closed, 1);
    }
}

#[tokio::test(start_paused = true)]
async fn a_stall_between_two_tries_takes_no_time_from_the_next() {
    let asks_to_wait = ChatError::Status { status: 429, retry_after: Some(Duration::from_secs(10)) };
    let bench = bench([vec![Fail(asks_to_wait)], vec![WaitMs(1), Say("again")]]);
    assert_eq!(next_after_stall(&mut bench.model.reply(&[])).await, text("again"));
}
