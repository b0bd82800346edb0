//! The files of `deploy/` against the program that they are for. What each tool says of its own file, `tests/deploy` asks.

use std::collections::BTreeSet;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use langya::infra::config::{Environment, LoggingFormat, Settings};
use langya::infra::metrics::{self, MetricKind};
use serde_json::Value;

use crate::support::program::Server;
use crate::support::visitor::{Visitor, get, http};

fn deploy(file: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("deploy").join(file);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Every word of a text that is the name of a metric.
fn metric_names(text: &str) -> BTreeSet<&str> {
    text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').filter(|word| word.starts_with("langya_")).collect()
}

/// The names under which Prometheus keeps what the table describes.
fn stored_names() -> BTreeSet<String> {
    let names = metrics::ALL.iter().flat_map(|metric| match metric.kind {
        MetricKind::Histogram(_) => ["_bucket", "_sum", "_count"].map(|end| format!("{}{end}", metric.name)).to_vec(),
        MetricKind::Counter | MetricKind::Gauge => vec![metric.name.to_owned()],
    });
    names.collect()
}

/// The queries of the dashboard.
fn queries(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Object(map) => {
            found.extend(map.get("expr").and_then(Value::as_str).map(str::to_owned));
            found.extend(map.get("query").and_then(Value::as_str).map(str::to_owned));
            map.values().for_each(|value| queries(value, found));
        }
        Value::Array(list) => list.iter().for_each(|value| queries(value, found)),
        _ => {}
    }
}

#[test]
fn dashboard_and_alerts_ask_only_for_metrics_that_there_are() {
    let mut asked = Vec::new();
    queries(&serde_json::from_str(&deploy("grafana/langya.json")).unwrap(), &mut asked);
    assert!(asked.len() > 20, "the dashboard has queries");
    let alerts = deploy("prometheus/alerts.yml");
    // Annotations name metrics without their endings, for people.
    let expressions = alerts.lines().filter(|line| !line.contains("action:"));
    asked.push(expressions.collect::<Vec<_>>().join("\n"));
    asked.push(deploy("prometheus/alerts.test.yml").lines().filter(|line| line.contains("series:")).collect());
    let (stored, asked) = (stored_names(), asked.join("\n"));
    let unknown: Vec<&str> = metric_names(&asked).into_iter().filter(|name| !stored.contains(*name)).collect();
    assert!(unknown.is_empty(), "no such metrics: {unknown:?}");
}

/// Within a bucket a quantile is a guess: an alert on one is right only where its limit is the bound of a bucket.
#[test]
fn alerts_on_quantiles_have_limits_that_are_bounds_of_buckets() {
    let alerts = deploy("prometheus/alerts.yml");
    let quantiles: Vec<&str> = alerts.lines().filter(|line| line.contains("histogram_quantile(")).collect();
    assert_eq!(quantiles.len(), 3, "{quantiles:?}");
    for line in quantiles {
        let limit: f64 = line.rsplit_once("> ").unwrap().1.parse().unwrap();
        let metric = metrics::ALL.iter().find(|metric| line.contains(&format!("{}_bucket", metric.name))).unwrap();
        let MetricKind::Histogram(buckets) = metric.kind else { panic!("{line}") };
        assert!(buckets.contains(&limit), "{line}");
    }
}

#[test]
fn every_metric_is_on_the_dashboard() {
    let mut asked = Vec::new();
    queries(&serde_json::from_str(&deploy("grafana/langya.json")).unwrap(), &mut asked);
    let asked = asked.join("\n");
    let missing: Vec<&str> =
        metrics::ALL.iter().map(|metric| metric.name).filter(|name| !asked.contains(name)).collect();
    assert!(missing.is_empty(), "not on the dashboard: {missing:?}");
}

#[test]
fn the_settings_of_the_compose_file_are_taken_and_limit_a_public_arena() {
    let settings = Settings::parse(&deploy("compose/langya.toml"), "compose/langya.toml", &Environment::default());
    let settings = settings.unwrap();
    assert_eq!((settings.limits.turns.minute, settings.limits.turns_per_address.minute), (30, 360));
    assert_eq!(settings.log.format, LoggingFormat::Json);
    // The networks are those of the containers that they mean.
    let compose = deploy("compose.yaml");
    for (container, network) in
        [("proxy", settings.server.trusted_proxies[0]), ("prometheus", settings.server.metrics_allow[0])]
    {
        let service = compose.split_once(&format!("\n  {container}:\n")).unwrap().1;
        assert!(service.contains(&format!("ipv4_address: {}", network.addr())), "{container} is not {network}");
    }
    let upstream = deploy("nginx/compose.conf");
    assert!(
        ["172.30.87.11", "172.30.87.12"].iter().all(|address| compose.contains(address) && upstream.contains(address))
    );
}

/// What stands under a key of a manifest as a block of text.
fn block(manifest: &str, key: &str) -> String {
    let (_, rest) = manifest.split_once(&format!("\n  {key}: |\n")).unwrap();
    let lines = rest.lines().take_while(|line| line.is_empty() || line.starts_with("    "));
    lines.map(|line| line.strip_prefix("    ").unwrap_or(line)).collect::<Vec<_>>().join("\n")
}

#[test]
fn the_settings_of_the_config_map_are_taken_and_fit_the_deployment() {
    let text = block(&deploy("kubernetes/configmap.yaml"), "langya.toml");
    let settings = Settings::parse(&text, "kubernetes/configmap.yaml", &Environment::default()).unwrap();
    assert!(
        deploy("kubernetes/ingress.yaml")
            .contains(&format!("host: {}\n", &settings.server.public_url["https://".len()..]))
    );
    assert_eq!(settings.server.listen, "0.0.0.0:8717", "the pod's address is answered");
    assert!(deploy("kubernetes/deployment.yaml").contains("containerPort: 8717\n"));
    assert_eq!((settings.limits.turns.minute, settings.log.format), (30, LoggingFormat::Json));
    let number = |file: &str, key: &str| -> u64 {
        let text = deploy(file);
        text.lines().find_map(|line| line.trim().strip_prefix(key)).unwrap().trim().parse().unwrap()
    };
    let grace = number("kubernetes/deployment.yaml", "terminationGracePeriodSeconds:");
    assert!(grace > settings.server.drain_seconds + 10, "{grace} s");
    let connections =
        u64::from(settings.storage.max_connections) * number("kubernetes/autoscaler.yaml", "maxReplicas:");
    assert!(connections <= 400, "PostgreSQL is asked for {connections} connections");
}

#[test]
fn the_probes_ask_for_paths_that_there_are() {
    let routes = include_str!("../../../src/server/http/mod.rs");
    let text = deploy("kubernetes/deployment.yaml");
    let paths: Vec<&str> = text.lines().filter_map(|line| line.trim().strip_prefix("path: ")).collect();
    assert_eq!(paths, ["/healthz", "/readyz", "/healthz"]);
    assert!(paths.iter().all(|path| routes.contains(&format!("\"{path}\""))));
}

#[test]
fn the_image_is_built_from_folders_that_there_are() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let text = deploy("Dockerfile");
    let copies = text.lines().filter_map(|line| line.strip_prefix("COPY ")).filter(|line| !line.starts_with("--from"));
    let sources: Vec<&str> = copies
        .flat_map(|line| {
            let mut words: Vec<&str> = line.split_whitespace().collect();
            words.pop();
            words
        })
        .collect();
    let missing: Vec<&&str> = sources.iter().filter(|source| !root.join(source).exists()).collect();
    assert!(sources.len() > 5 && missing.is_empty(), "{missing:?}");
    let ignored = deploy("Dockerfile.dockerignore");
    let hidden: Vec<&&str> =
        sources.iter().filter(|source| !ignored.lines().any(|line| line == format!("!{source}"))).collect();
    assert!(hidden.is_empty(), "the builder does not get {hidden:?}");
}

/// nginx with the file of `deploy/`, on a free port of the loopback address; it does not outlive the test.
struct Proxy {
    process: Child,
    url: String,
    _folder: tempfile::TempDir,
}

impl Proxy {
    /// Asks each of these instances.
    fn start(instances: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let prefix = folder.path();
        let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let server = deploy("nginx/langya.conf").replace("listen 80;", &format!("listen {free};"));
        let servers: String = instances.iter().map(|url| format!("server {};", &url["http://".len()..])).collect();
        let temporary: String = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
            .iter()
            .map(|kind| format!("{kind}_temp_path {};", prefix.join(kind).display()))
            .collect();
        let text = format!(
            "pid {}; error_log stderr; daemon off; events {{}}\nhttp {{ {temporary} upstream langya {{ {servers} }}\n{server}\n}}",
            prefix.join("pid").display(),
        );
        std::fs::write(prefix.join("nginx.conf"), text).unwrap();
        let mut command = Command::new(nginx().expect("nginx is installed (Debian package nginx-light)"));
        command.arg("-p").arg(prefix).arg("-c").arg(prefix.join("nginx.conf")).args(["-e", "stderr"]);
        let process = command.stdin(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        Self { process, url: format!("http://{free}"), _folder: folder }
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        // SIGTERM, so that the workers end with the master; both fail only where it has ended already.
        let _ = Command::new("sh").args(["-c", &format!("kill -TERM {}", self.process.id())]).status();
        let _ = self.process.wait();
    }
}

fn nginx() -> Option<PathBuf> {
    ["/usr/sbin/nginx", "/usr/bin/nginx"].into_iter().map(PathBuf::from).find(|path| path.exists())
}

#[actix_web::test]
async fn a_battle_goes_through_the_proxy_and_the_metrics_do_not() {
    if nginx().is_none() && std::env::var("LANGYA_TESTS").as_deref() != Ok("all") {
        println!("skipped: a battle through nginx (install nginx-light)");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("langya.toml"), "[server]\ntrusted_proxies = [\"127.0.0.1/32\"]\n").unwrap();
    let server = Server::start(folder.path(), &["--config", "langya.toml"]);
    let gone = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let proxy = Proxy::start(&[&server.url, &format!("http://{gone}")]);
    let ask = async |path: &str| {
        let response =
            crate::support::until(async || http().get(format!("{}{path}", proxy.url)).send().await.ok()).await;
        (response.status().as_u16(), response.headers().get("x-request-id").cloned())
    };
    let _ = get(&server.url).await;
    // One of the two instances is not there, and nobody notices.
    for _ in 0..4 {
        assert_eq!(ask("/healthz").await.0, 200);
    }
    assert_eq!(ask("/readyz").await.0, 200);
    assert_eq!(ask("/metrics").await.0, 404);
    assert_eq!(ask("/").await.1.unwrap().len(), 32);
    let mut visitor = Visitor::connect(&proxy.url).await;
    visitor.ask("What is 2 + 2?").await;
    visitor.until_ready().await;
    assert_eq!(visitor.vote("tie").await["type"], "revealed");
}
