//! Overhead of a judging run beyond the judges' own time: 64 concurrent requests to a judge that answers in one second.
//!
//! ```sh
//! cargo bench --bench judging -- [ITEMS]
//! ```
//!
//! A server in a separate process answers every request one second after its arrival, and counts concurrent requests. Prints the share of
//! time in which a slot was idle, and the memory of the runner.

use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use langya::domain::battle::ModelId;
use langya::domain::benchmark::scores::evaluated_model::AnswerScope;
use langya::domain::benchmark::{SuiteData, SuiteOptions, suite};
use langya::infra::config::{Environment, Settings, StorageSettings};
use langya::infra::llm::model_client::{ModelClient, RunLimits};
use langya::infra::llm::roster::Roster;
use langya::infra::rng::SharedRng;
use langya::infra::storage::{IfMissing, Store};
use langya::infra::time::clock::{Clock, SystemClock};
use langya::services::benchmark::judging::{JudgingPlan, judge};
use langya::services::benchmark::{RunContext, imports};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{Instant, sleep};

const AT_ONCE: u32 = 64;
const THINKS: Duration = Duration::from_secs(1);
const SERVE: &str = "--serve-as-judge";
const REPLY: &str = "data: {\"choices\":[{\"delta\":{\"content\":\"A fair answer. Rating: [[7]]\"}}]}\n\n\
     data: {\"choices\":[],\"usage\":{\"prompt_tokens\":900,\"completion_tokens\":9}}\n\ndata: [DONE]\n\n";

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    if std::env::args().any(|argument| argument == SERVE) {
        return serve().await;
    }
    let items = std::env::args().skip(1).find(|argument| !argument.starts_with("--"));
    let items: usize = items.map_or(Ok(1_280), |text| text.parse())?;
    let mut server = Command::new(std::env::current_exe()?).arg(SERVE).stdout(Stdio::piped()).spawn()?;
    let address = first_line(&mut server)?;
    let measured = measure(&address, items).await;
    server.kill()?;
    server.wait()?;
    measured
}

async fn measure(address: &str, items: usize) -> anyhow::Result<()> {
    let folder = tempfile::tempdir_in(".")?;
    let storage = StorageSettings { data_dir: folder.path().to_owned(), ..StorageSettings::default() };
    let store = Store::open(&storage, IfMissing::Create).await?;
    let suite = suite("mtbench101", &SuiteOptions::default())?;
    let data = prepare(&store, suite.as_ref(), folder.path(), items).await?;
    let settings = format!(
        "[providers]\npractice = \"never\"\n[[models]]\nid = \"judge\"\nprovider = \"openai\"\nbase_url = \"{address}/v1\"\n"
    );
    let settings = Settings::parse(&settings, "the bench", &Environment::default())?;
    let roster = Roster::build(&settings, &Environment::default(), 1)?;
    let model = roster.get(&ModelId::new("judge")).context("the judge is in the settings")?;
    let mut asked =
        ModelClient::new(ModelId::new("judge"), model, settings.bench.clone(), ChaCha8Rng::seed_from_u64(1));
    asked.max_concurrent = AT_ONCE as usize;
    let (rng, models) = (SharedRng::seeded(1), [ModelId::new("m")]);
    let bench =
        RunContext { store: &store, clock: &SystemClock, rng: &rng, suite: suite.as_ref(), data: &data, sample: 1 };
    let over = AnswerScope::KeptAnswers;
    let contest = JudgingPlan { models: &models, baseline: None, retry_failed: false, over };
    let before = resident()?;
    let began = Instant::now();
    let outcomes = judge(bench, &[asked], contest, &RunLimits::default(), &|_| {}).await?;
    let took = began.elapsed();
    anyhow::ensure!(outcomes[0].left() == 0, "not everything was judged: {outcomes:?}");
    // Number of one-second rounds that the judge itself takes.
    let rounds = u32::try_from(items.div_ceil(AT_ONCE as usize))?;
    let idle = 1.0 - (THINKS * rounds).as_secs_f64() / took.as_secs_f64();
    eprintln!(
        "{items} judgements, {AT_ONCE} in flight, a judge of {THINKS:?}: {took:.2?}, idle {:.1} %, memory {} MB at its most \
         ({} MB before)",
        100.0 * idle,
        peak()? / 1024,
        before / 1024
    );
    store.close().await;
    Ok(())
}

/// Creates a suite of one-turn dialogues with texts of usual length, and an answer to each.
async fn prepare(
    store: &Store,
    suite: &dyn langya::domain::benchmark::Suite,
    folder: &std::path::Path,
    items: usize,
) -> anyhow::Result<SuiteData> {
    let line = |id: usize| {
        let turn = serde_json::json!({"user": format!("Question {id}? {}", "Why so? ".repeat(60)), "bot": "golden"});
        format!("{}\n", serde_json::json!({"task": "SI", "id": id + 1, "history": [turn]}))
    };
    let answer = |id: usize| {
        let text = format!("Answer {id}. {}", "Because it is so. ".repeat(80));
        format!("{}\n", serde_json::json!({"item": id + 1, "model": "m", "answer": text}))
    };
    std::fs::write(folder.join("suite.jsonl"), (0..items).map(line).collect::<String>())?;
    std::fs::write(folder.join("answers.jsonl"), (0..items).map(answer).collect::<String>())?;
    let read = imports::read_suite(suite, None, &folder.join("suite.jsonl"), SystemClock.now())?;
    imports::suite(store, &read).await?;
    let data = read.data;
    let rng = SharedRng::seeded(2);
    let bench = RunContext { store, clock: &SystemClock, rng: &rng, suite, data: &data, sample: 1 };
    imports::answers(bench, &folder.join("answers.jsonl")).await?;
    Ok(data)
}

fn first_line(server: &mut std::process::Child) -> anyhow::Result<String> {
    use std::io::BufRead;
    let mut line = String::new();
    std::io::BufReader::new(server.stdout.take().context("it is piped")?).read_line(&mut line)?;
    Ok(line.trim().to_owned())
}

/// Reads a field of `/proc/self/status`, in kB.
fn status(name: &str) -> anyhow::Result<u64> {
    let text = std::fs::read_to_string("/proc/self/status")?;
    let line = text.lines().find_map(|line| line.strip_prefix(name)).context("this is not Linux")?;
    Ok(line.trim_matches([':', ' ', '\t']).trim_end_matches("kB").trim().parse()?)
}

fn resident() -> anyhow::Result<u64> {
    status("VmRSS")
}

fn peak() -> anyhow::Result<u64> {
    status("VmHWM")
}

/// Serves the judge: one second per request, with unlimited concurrency.
#[expect(clippy::print_stdout, reason = "the address is for the process that started it")]
async fn serve() -> anyhow::Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("http://{}", listener.local_addr()?);
    let reply: Arc<str> =
        format!("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: {}\r\n\r\n{REPLY}", REPLY.len())
            .into();
    loop {
        let (stream, _) = listener.accept().await?;
        // The runner reports a broken connection.
        drop(tokio::spawn(answer(stream, Arc::clone(&reply))));
    }
}

async fn answer(mut stream: TcpStream, reply: Arc<str>) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    let mut buffer = Vec::new();
    loop {
        let Some(length) = request(&mut stream, &mut buffer).await? else { return Ok(()) };
        buffer.drain(..length);
        sleep(THINKS).await;
        stream.write_all(reply.as_bytes()).await?;
    }
}

/// Reads a whole request and returns its length; `None` at the end of the connection.
async fn request(stream: &mut TcpStream, buffer: &mut Vec<u8>) -> std::io::Result<Option<usize>> {
    loop {
        if let Some(head) = buffer.windows(4).position(|four| four == b"\r\n\r\n") {
            let text = String::from_utf8_lossy(&buffer[..head]).to_lowercase();
            let body: usize =
                text.lines().find_map(|line| line.strip_prefix("content-length:")?.trim().parse().ok()).unwrap_or(0);
            if buffer.len() >= head + 4 + body {
                return Ok(Some(head + 4 + body));
            }
        }
        if stream.read_buf(buffer).await? == 0 {
            return Ok(None);
        }
    }
}
