//! Fifty annotators judge at once while the server is killed: what was acknowledged is there, once, and nothing came from nowhere.

use std::sync::Mutex;

use super::*;
use crate::support::program::{Server, langya};
use crate::support::visitor::http_client;

const ANNOTATORS: usize = 50;
const ITEMS: usize = 12;
/// Acknowledged judgements after which the server is killed each time.
const KILLS: [usize; 4] = [40, 110, 200, 330];

/// What the annotators know.
#[derive(Default)]
struct Ledger {
    /// Outcomes by assignment, noted before they are sent.
    sent: BTreeMap<String, &'static str>,
    /// Ids of judgements by assignment.
    acknowledged: BTreeMap<String, String>,
    /// By token: the assignment whose judgement is not acknowledged, which is sent again first, as the page does.
    waiting: BTreeMap<String, String>,
}

impl Ledger {
    fn note(&mut self, token: &str, assignment: &str, outcome: &'static str) {
        self.sent.insert(assignment.to_owned(), outcome);
        self.waiting.insert(token.to_owned(), assignment.to_owned());
    }
}

/// One annotator on one server.
struct Annotating<'l> {
    client: reqwest::Client,
    url: String,
    token: String,
    ledger: &'l Mutex<Ledger>,
    /// Acknowledged judgements of all annotators.
    tell: &'l tokio::sync::watch::Sender<usize>,
}

impl Annotating<'_> {
    /// `None` where the server went away.
    async fn post(&self, path: &str, body: Value) -> Option<Value> {
        let url = format!("{}/api/v1/campaigns/pilot/{path}", self.url);
        let sent = self.client.post(url).bearer_auth(&self.token).json(&body).send();
        sent.await.ok()?.json().await.ok()
    }

    async fn judge(&self, assignment: String) -> Option<()> {
        let outcome = self.ledger.lock().unwrap().sent[&assignment];
        let answer = self.post("judgements", json!({"assignment": assignment, "outcome": outcome})).await?;
        let id = answer["judgement"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned();
        let mut ledger = self.ledger.lock().unwrap();
        ledger.waiting.remove(&self.token);
        assert_eq!(ledger.acknowledged.insert(assignment, id), None, "no assignment is shown twice");
        self.tell.send_replace(ledger.acknowledged.len());
        Some(())
    }

    /// Judges until nothing is left.
    async fn work(&self) -> Option<()> {
        let waiting = self.ledger.lock().unwrap().waiting.get(&self.token).cloned();
        if let Some(assignment) = waiting {
            self.judge(assignment).await?;
        }
        loop {
            let shown = self.post("next", json!({})).await?;
            if shown["finished"] == true {
                return Some(());
            }
            let assignment = shown["assignment"].as_str().unwrap_or_else(|| panic!("{shown}")).to_owned();
            let outcome = if shown["progress"]["done"].as_u64()? % 2 == 0 { "a" } else { "tie" };
            self.ledger.lock().unwrap().note(&self.token, &assignment, outcome);
            self.judge(assignment).await?;
        }
    }
}

/// Serves until so many judgements are acknowledged, and kills the server; without a number, until everybody is done.
async fn serve(folder: &Path, tokens: &[String], ledger: &Mutex<Ledger>, until: Option<usize>) {
    let server = Server::start(folder, &["--config", "langya.toml"]);
    let (tell, mut seen) = tokio::sync::watch::channel(0);
    let one = |token: &String| Annotating {
        client: http_client().build().unwrap(),
        url: server.url.clone(),
        token: token.clone(),
        ledger,
        tell: &tell,
    };
    let annotators: Vec<Annotating<'_>> = tokens.iter().map(one).collect();
    let all = futures_util::future::join_all(annotators.iter().map(Annotating::work));
    let Some(until) = until else {
        assert!(all.await.iter().all(Option::is_some), "somebody could not finish");
        return server.kill();
    };
    let kill = async {
        seen.wait_for(|seen| *seen >= until).await.unwrap();
        server.kill();
    };
    futures_util::join!(all, kill);
}

#[actix_web::test]
#[ignore = "slow: tests/run runs it"]
async fn fifty_annotators_at_once_lose_nothing_when_the_server_is_killed() {
    let folder = tempfile::tempdir().unwrap();
    let run = |arguments: &[&str]| {
        let run = langya(folder.path(), [arguments, &["--data-dir", "data"]].concat());
        assert_eq!(run.code, Some(0), "{arguments:?}: {}", run.stderr);
        run.stdout
    };
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    let keys = format!("task = \"pairwise\"\njudgements_per_item = {ANNOTATORS}\nseed = 7\n");
    write(
        "pilot.toml",
        &format!("[campaign]\nid = \"pilot\"\ntitle = \"Which?\"\nanswers = \"answers.jsonl\"\n{keys}"),
    );
    write("answers.jsonl", &answers(ITEMS, &["bad", "good"]));
    write("langya.toml", "[server]\nworkers = 2\n");
    run(&["campaign", "create", "pilot.toml"]);
    let tokens = run(&["campaign", "invite", "pilot", "--count", &ANNOTATORS.to_string()]);
    let tokens: Vec<String> = tokens.lines().map(str::to_owned).collect();
    run(&["campaign", "open", "pilot"]);

    let ledger = Mutex::new(Ledger::default());
    for until in KILLS.map(Some).into_iter().chain([None]) {
        serve(folder.path(), &tokens, &ledger, until).await;
    }
    run(&["campaign", "export", "pilot", "--out", "out.jsonl"]);
    let text = std::fs::read_to_string(folder.path().join("out.jsonl")).unwrap();
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let ledger = ledger.into_inner().unwrap();
    assert_eq!((lines.len(), ledger.sent.len()), (ANNOTATORS * ITEMS, ANNOTATORS * ITEMS));
    let stored: BTreeSet<&str> = lines.iter().map(|line| line["judgement"].as_str().unwrap()).collect();
    let acknowledged: BTreeSet<&str> = ledger.acknowledged.values().map(String::as_str).collect();
    assert_eq!(stored, acknowledged, "every acknowledged judgement is there, and no other");
    let places: BTreeSet<(&str, &str)> =
        lines.iter().map(|line| (line["annotator"].as_str().unwrap(), line["item"].as_str().unwrap())).collect();
    assert_eq!(places.len(), lines.len(), "nobody judged an item twice");
    let count = |winner: &str| lines.iter().filter(|line| line["winner"] == winner).count();
    let sent = |outcome: &str| ledger.sent.values().filter(|sent| **sent == outcome).count();
    assert_eq!((count("model_a"), count("tie")), (sent("a"), sent("tie")), "outcomes are those that were sent");
    println!("{} judgements of {ANNOTATORS} annotators through {} kills", lines.len(), KILLS.len());
}
