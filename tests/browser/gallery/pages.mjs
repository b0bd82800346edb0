// Every page, as a table: its name, the arena it is taken from (see `arenas.mjs`), its address or a function that makes it of
// what the arena holds, and where it takes more than an address, what is done on it first.

const SAID = "The question names my employer.";

/** Waits until a fit is there: the first of many models may take longer than a request waits for it. */
async function fitted(page) {
  while ((await page.locator("h1").count()) && (await page.locator(".retry").count())) await page.reload();
}

const of = (arena, pages) => Object.entries(pages).map(([name, what]) => ({ name, arena, ...(typeof what === "object" ? what : { path: what }) }));

export const PAGES = [
  ...of("empty", {
    "leaderboard, no votes": "/leaderboard",
    "charts, no votes": "/leaderboard/charts",
    "value, no votes": "/leaderboard/value",
    "model, no votes": "/models/crane",
    "models, no votes": "/models",
    "history, empty": "/history",
    "log, empty": "/log",
    "benchmarks, empty": "/benchmarks",
    "correlation, empty": "/correlation",
    "judges, empty": "/judges",
    "exclusions, empty": "/exclusions",
    "embedded, no votes": "/embed/leaderboard",
  }),
  ...of("few", {
    "leaderboard, few votes": "/leaderboard",
    "charts, few votes": "/leaderboard/charts",
    "model, few votes": "/models/crane",
  }),
  ...of("full", {
    "battle page": "/",
    leaderboard: "/leaderboard",
    "leaderboard, one vote a prompt": "/leaderboard?votes=unique_prompts",
    "leaderboard, Chinese votes": "/leaderboard?language=Chinese",
    "leaderboard, style control": "/leaderboard?style=control",
    "leaderboard, more ways": { path: "/leaderboard?turns=first&ties=drop", prepare: (page) => page.locator("main details > summary").evaluateAll((all) => all.forEach((one) => (one.parentElement.open = true))) },
    "leaderboard, nothing found": "/leaderboard?q=nothing",
    "leaderboard, earlier": "/leaderboard?until=2020-01-01",
    "leaderboard, wrong address": "/leaderboard?ties=maybe",
    charts: "/leaderboard/charts",
    value: "/leaderboard/value",
    model: "/models/crane",
    "model, long name": "/models/stork",
    "model, right to left": "/models/egret",
    "model, hostile name": `/models/${encodeURIComponent("<img src=x onerror=alert(1)> a model with a very long name of 2026-11-21")}`,
    models: "/models",
    "models, by day": "/models?period=day",
    history: "/history",
    "history, nothing found": "/history?q=nothing",
    "battle, past": ({ battle }) => `/battle/${battle}`,
    "battle, without a vote": ({ open }) => `/battle/${open}`,
    "battle, shared": ({ shared }) => shared,
    "battle, removal": { path: ({ shared }) => shared, prepare: askForRemoval },
    log: "/log",
    "log, unknown vote": "/log?vote=nobody",
    exclusions: "/exclusions",
    judges: "/judges",
    benchmarks: "/benchmarks",
    benchmark: "/benchmarks/mtbench101",
    "benchmark items": "/benchmarks/mtbench101/items",
    "benchmark items, two models": "/benchmarks/mtbench101/items?sort=difference",
    "benchmark item": "/benchmarks/mtbench101/items/1",
    "benchmark item, votes": "/benchmarks/alignbench/items/1",
    correlation: "/correlation",
    "correlation of papers": "/correlation/papers",
    about: "/about",
    consent: "/consent",
    ...Object.fromEntries(["start", "battles", "models", "votes", "benchmarks", "correlations", "campaigns", "operating", "settings", "commands", "api"].map((page) => [`docs ${page}`, `/docs/${page}`])),
    "embedded leaderboard": "/embed/leaderboard",
    "not found": "/nothing-here",
    "campaign, closed to strangers": "/campaign/pairwise",
    "campaign, beginning": ({ invites }) => `/campaign/pairwise?invite=${invites.pairwise[0]}`,
    ...Object.fromEntries(["pairwise", "score", "rank"].map((task) => [`campaign, ${task}`, { path: ({ invites }) => `/campaign/${task}?invite=${invites[task][1]}`, prepare: beginCampaign }])),
    "campaign report": "/campaign/judged/report",
    "campaign report, scores": "/campaign/scored/report",
    ...Object.fromEntries(
      ["operations", "benchmarks", "benchmarks/plan?suite=mtbench101&model=crane&judge=heron&rounds=1", "campaigns", "campaigns/one?id=pairwise", "campaigns/report?id=judged", "requests", "moderation", "models", "models/change?model=stork", "models/add", "models/pairing?policy=elo", "leaks", "labels", "account", "users", "keys", "webhooks", "audit", "voters", "votes"].map(
        (page) => [`admin ${page.split("?")[0].replaceAll("/", " ")}`, `/admin/${page}`],
      ),
    ),
    "admin benchmarks plan, wrong text": { path: "/admin/benchmarks/plan", prepare: planWrongly },
    "admin campaigns report, scores": "/admin/campaigns/report?id=scored",
    "admin overview": "/admin",
    "admin key made": { path: "/admin/keys", prepare: makeKey },
    "admin request": ({ request }) => request,
    "admin flag": ({ flag }) => flag,
    "admin voter": ({ voter }) => `/admin/votes?voter=${voter}`,
    "admin decision": ({ voter }) => `/admin/votes/decide?voter=${voter}&change=exclude&by=admin&reason=a+script`,
    "admin sign-in": { path: "/admin/sign-in", stranger: true },
    "admin welcome": { path: "/admin/welcome", stranger: true },
    "admin welcome, new passphrase": { path: "/admin/welcome?account=ada", stranger: true },
  }),
  ...of("30 models", { "leaderboard of 30": { path: "/leaderboard", prepare: fitted }, "charts of 30": { path: "/leaderboard/charts", prepare: fitted } }),
  ...of("300 models", { "leaderboard of 300": { path: "/leaderboard", prepare: fitted }, "charts of 300": { path: "/leaderboard/charts", prepare: fitted } }),
  ...of("closed", { "sign-in": "/sign-in", "sign-in, wrong": { path: "/sign-in", prepare: signInWrongly } }),
];

async function askForRemoval(page) {
  await page.locator("main details > summary").evaluateAll((all) => all.forEach((one) => (one.parentElement.open = true)));
  await page.locator("main textarea").first().fill(SAID);
}

async function beginCampaign(page) {
  await page.locator('[data-part="begin"]').click();
  await page.waitForFunction(() => !document.querySelector(".campaign").hasAttribute("aria-busy"));
}

async function planWrongly(page) {
  await page.locator("main textarea").fill('models = ["crane"]\njudges = "heron"\n\n[[suites]]\nsuite = "mtbench101"\n');
  await page.locator('main form[action="/admin/benchmarks/plan"][method="post"] button').click();
  await page.locator("[role=alert]").waitFor();
}

async function makeKey(page) {
  await page.locator('main input[type="text"]').first().fill("Nightly analysis");
  await page.locator('main input[type="checkbox"]').first().check();
  await page.locator('main form[action="/admin/keys/create"] button').click();
  await page.waitForLoadState();
}

async function signInWrongly(page) {
  await page.locator('main input[type="password"]').fill("something else altogether");
  await page.keyboard.press("Enter");
  await page.locator("[role=alert]").waitFor();
}
