//! Violations of sent replies: numbers, texts, sides and models.

use langya::domain::battle::Side;

use super::{check, history, received, renumber, spoilt, texts_of_a};
use crate::checker::Violation;
use crate::checker::evidence::{Event, Evidence, Numbered, StoredFailure, Told};

#[test]
fn gaps_and_repeats_in_the_numbers_are_found() {
    let numbering = |v: &Violation| matches!(v, Violation::Numbering { .. });
    check(|e| received(e, "one").into_iter().skip(4).for_each(|heard| heard.seq += 1), numbering);
    check(|e| received(e, "one").into_iter().skip(4).for_each(|heard| heard.seq -= 1), numbering);
    let after_resume = |e: &mut Evidence| received(e, "three").into_iter().skip(1).for_each(|heard| heard.seq += 1);
    check(after_resume, numbering);
}

#[test]
fn a_lost_piece_of_text_is_found() {
    let lose = |e: &mut Evidence| {
        let at = texts_of_a(e, "one")[1];
        history(e, "one").events.remove(at);
        renumber(e, "one");
    };
    check(lose, |v| matches!(v, Violation::TextBroken { battle, turn: 1, side: "a", .. } if battle == "one"));
}

#[test]
fn a_doubled_piece_of_text_is_found() {
    let double = |e: &mut Evidence| {
        let at = texts_of_a(e, "one")[2];
        let events = &mut history(e, "one").events;
        events.insert(at, events[at].clone());
        renumber(e, "one");
    };
    check(double, |v| matches!(v, Violation::TextBroken { .. }));
}

#[test]
fn pieces_of_text_in_another_order_are_found() {
    let reorder = |e: &mut Evidence| {
        let at = texts_of_a(e, "one");
        history(e, "one").events.swap(at[1], at[2]);
        renumber(e, "one");
    };
    check(reorder, |v| matches!(v, Violation::TextBroken { .. }));
}

#[test]
fn a_lost_end_of_a_text_is_found() {
    let lose = |e: &mut Evidence| {
        let at = texts_of_a(e, "two").pop().unwrap();
        history(e, "two").events.remove(at);
        renumber(e, "two");
    };
    check(lose, |v| matches!(v, Violation::TextNotAsStored { battle, .. } if battle == "two"));
}

#[test]
fn a_turn_sent_again_without_forgetting_the_first_one_is_found() {
    let continued = |e: &mut Evidence| {
        let again = |event: &Event| matches!(event, Event::Heard(Numbered { seq: 3, told: Told::Turn, .. }));
        history(e, "two").events.retain(|event| !again(event));
        renumber(e, "two");
    };
    check(continued, |v| matches!(v, Violation::TextBroken { battle, .. } if battle == "two"));
}

#[test]
fn swapped_sides_are_found() {
    let swap = |e: &mut Evidence| {
        for heard in received(e, "two").into_iter().filter(|heard| heard.seq > 3) {
            match &mut heard.told {
                Told::Text { side, .. } | Told::Done { side } => *side = side.other(),
                _ => {}
            }
        }
    };
    check(swap, |v| matches!(v, Violation::SidesSwapped { battle, turn: 1 } if battle == "two"));
}

#[test]
fn a_model_that_is_not_in_the_battle_is_found() {
    let wrong = |v: &Violation| matches!(v, Violation::WrongModel { model, .. } if model == "red");
    let intrude = |e: &mut Evidence| {
        e.written
            .iter_mut()
            .filter(|w| w.question() == "two asks 1" && w.model == "blue")
            .for_each(|w| w.model = "red".into());
    };
    check(intrude, wrong);
    let found = spoilt(|e| {
        intrude(e);
        e.stored.failures.push(StoredFailure { battle: "two".into(), side: Side::B, model: "red".into() });
    });
    let shown = found.iter().filter(|violation| wrong(violation)).count();
    assert_eq!(shown, 0, "a replaced model may have been seen: {found:#?}");
    check(
        |e| e.stored.replies[0].model = "blue".into(),
        |v| matches!(v, Violation::WrongModel { battle, model, .. } if battle == "one" && model == "blue"),
    );
}

#[test]
fn a_reply_kept_short_and_called_complete_is_found() {
    let shorten = |e: &mut Evidence| e.stored.replies.iter_mut().for_each(|row| row.text.truncate(9));
    check(shorten, |v| matches!(v, Violation::TextBroken { .. }));
}

#[test]
fn another_history_given_to_a_model_is_found() {
    let changed =
        |v: &Violation| matches!(v, Violation::ConversationChanged { battle, turn: 2, .. } if battle == "one");
    check(|e| e.written[2].conversation.swap(0, 1), changed);
    check(|e| e.written[3].conversation[1].push('!'), changed);
}

#[test]
fn an_unanswered_question_that_a_model_is_not_asked_again_is_found() {
    let forgotten =
        |v: &Violation| matches!(v, Violation::ConversationChanged { battle, turn: 2, .. } if battle == "six");
    let forget = |e: &mut Evidence| {
        let request = e.written.last_mut().unwrap();
        assert_eq!(request.conversation, ["six asks 1\n\nsix asks 2"]);
        request.conversation = vec!["never asked\n\nsix asks 2".into()];
    };
    check(forget, forgotten);
    let only_the_last = |e: &mut Evidence| e.written.last_mut().unwrap().conversation = vec!["six asks 2".into()];
    check(only_the_last, forgotten);
}
