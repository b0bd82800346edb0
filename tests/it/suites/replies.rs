//! Judges' replies against the acceptance vectors: what is read, and what the official programs would read.

use langya::domain::judging::verdict::pairwise::both_games;
use langya::domain::judging::verdict::{
    GameResult, Preference, Rating, VerdictError, bracketed_score, dimension_scores, option_letter, original_parsers,
    pairwise,
};
use serde_json::Value;

use super::vectors;

const ALIGNBENCH: [&str; 4] = ["事实正确性", "满足用户需求", "清晰度", "完备性"];
const SOLVING: [&str; 5] = ["事实正确性", "满足用户需求", "清晰度", "逻辑连贯性", "完备性"];

/// A rating against the vector's map, which holds the overall score among the dimensions.
#[track_caller]
fn same(read: &Result<Rating, VerdictError>, score: Option<f64>, map: &Value) {
    assert_eq!(read.as_ref().ok().map(|rating| rating.score), score);
    let Ok(read) = read else { return };
    let expected = map.as_object().into_iter().flatten().filter(|(name, _)| *name != "综合得分");
    let expected = expected.map(|(name, score)| (name.clone(), score.as_f64().unwrap())).collect();
    assert_eq!(read.dimensions, expected);
}

#[test]
fn dictionaries_are_read_as_the_vectors_say() {
    let Some(vectors) = vectors("parse_alignbench") else { return };
    for vector in vectors.as_array().unwrap() {
        println!("{}", vector["in"]);
        let reply = vector["in"].as_str().unwrap();
        let recommended = &vector["recommended"];
        same(&dimension_scores::parse(reply, &ALIGNBENCH), recommended["score"].as_f64(), &recommended["rating"]);
        let official = &vector["official"];
        let score = official["score"].as_f64().filter(|score| *score > 0.0);
        same(&original_parsers::alignbench(reply), score, &official["rating"]);
    }
}

#[test]
fn replies_to_urs_are_read_as_the_vectors_say_and_more_of_them() {
    let Some(vectors) = vectors("parse_urs") else { return };
    for vector in vectors.as_array().unwrap() {
        println!("{}", vector["in"]);
        let reply = vector["in"].as_str().unwrap();
        let expected = &vector["official"];
        same(&original_parsers::urs(reply, &SOLVING), expected["综合得分"].as_f64(), expected);
        assert!(dimension_scores::parse(reply, &SOLVING).is_ok(), "every one of them names an overall score");
    }
    let echoed = vectors[0]["in"].as_str().unwrap();
    let read = dimension_scores::parse(echoed, &SOLVING).unwrap();
    assert_eq!((read.score, read.dimensions["事实正确性"], read.dimensions["满足用户需求"]), (9.0, 9.0, 8.0));
}

#[test]
fn ratings_are_read_as_the_vectors_say() {
    let Some(vectors) = vectors("parse_mtbench101") else { return };
    for vector in vectors.as_array().unwrap() {
        println!("{}", vector["in"]);
        let reply = vector["in"].as_str().unwrap();
        same(&bracketed_score::parse(reply), vector["recommended"].as_f64(), &Value::Null);
        same(&original_parsers::mtbench101(reply), vector["opencompass"].as_f64(), &Value::Null);
    }
}

#[test]
fn preferences_are_read_as_the_vectors_say_but_for_the_last_token() {
    let Some(vectors) = vectors("parse_pairwise_fastchat") else { return };
    let spelled = |winner: Result<Preference, VerdictError>| match winner {
        Ok(Preference::A) => "A",
        Ok(Preference::B) => "B",
        Ok(Preference::Tie) => "tie",
        Err(_) => "error",
    };
    for vector in vectors.as_array().unwrap() {
        let (reply, winner) = (vector["in"].as_str().unwrap(), vector["winner"].as_str().unwrap());
        assert_eq!(spelled(original_parsers::fastchat(reply)), winner, "{reply}");
        let last = if reply == "not [[A]] but [[B]]" { "B" } else { winner };
        assert_eq!(spelled(pairwise::parse(reply)), last, "{reply}");
    }
}

#[test]
fn two_games_make_one_result_as_the_vectors_say() {
    let Some(vectors) = vectors("pairwise_swap_rule") else { return };
    let preference = |text: &str| match text {
        "A" => Some(Preference::A),
        "B" => Some(Preference::B),
        "tie" => Some(Preference::Tie),
        _ => None,
    };
    for vector in vectors.as_array().unwrap() {
        let game = |key: &str| preference(vector[key].as_str().unwrap());
        let result = match game("g1").zip(game("g2")).map(|(first, second)| both_games(first, second)) {
            Some(GameResult::Win) => "model_1",
            Some(GameResult::Tie) => "tie",
            Some(GameResult::Loss) => "model_2",
            None => "dropped",
        };
        assert_eq!(result, vector["result"], "{vector}");
    }
}

#[test]
fn letters_are_read_as_the_vectors_say() {
    let Some(vectors) = vectors("close_parse") else { return };
    for vector in vectors.as_array().unwrap() {
        let read = option_letter::parse(vector["in"].as_str().unwrap());
        assert_eq!(read.map(|letter| letter.as_str()), vector["out"].as_str(), "{vector}");
    }
}
