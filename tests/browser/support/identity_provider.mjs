// A provider of OpenID Connect on another site than the arena ("localhost" and not 127.0.0.1), with a page of its own on which people
// choose who they are. Tokens are signed by ECDSA.

import { createHash, generateKeyPairSync, randomUUID, sign } from "node:crypto";
import { createServer } from "node:http";

export const CLIENT = "arena";

const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
const encode = (value) => Buffer.from(typeof value === "string" ? value : JSON.stringify(value)).toString("base64url");

/** Starts the provider and gives `{ url, stop }`. */
export async function startIdentityProvider() {
  const codes = new Map();
  const server = createServer((request, response) => {
    answer(request, response, codes, url()).catch(() => response.destroy());
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = () => `http://localhost:${server.address().port}`;
  const stop = () =>
    new Promise((resolve) => {
      server.close(resolve);
      server.closeAllConnections();
    });
  return { url: url(), stop };
}

async function answer(request, response, codes, url) {
  const { pathname, searchParams } = new URL(request.url, url);
  let body = "";
  for await (const chunk of request.setEncoding("utf8")) body += chunk;
  const json = (value) => response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(value));
  switch (pathname) {
    case "/.well-known/openid-configuration":
      return json({ issuer: url, authorization_endpoint: `${url}/authorize`, token_endpoint: `${url}/token`, jwks_uri: `${url}/keys` });
    case "/keys":
      return json({ keys: [{ ...publicKey.export({ format: "jwk" }), kid: "one", use: "sig", alg: "ES256" }] });
    case "/authorize":
      return response.writeHead(200, { "content-type": "text/html" }).end(choice(searchParams));
    case "/chosen":
      return chosen(new URLSearchParams(body), response, codes);
    case "/token":
      return token(new URLSearchParams(body), response, json, codes, url);
    default:
      return response.writeHead(404).end();
  }
}

/** The page on which people choose who they are. */
function choice(query) {
  const fields = [...query].map(([name, value]) => `<input type="hidden" name="${name}" value="${value.replaceAll('"', "&quot;")}">`);
  const buttons = ["ada", "ben"].map((name) => `<button name="who" value="${name}">I am ${name}</button>`);
  return `<!doctype html><html lang="en"><title>Lab ID</title><h1>Lab ID</h1><form method="post" action="/chosen">${fields.join("")}${buttons.join("")}</form></html>`;
}

function chosen(form, response, codes) {
  const code = randomUUID();
  codes.set(code, form);
  const back = new URL(form.get("redirect_uri"));
  back.searchParams.set("code", code);
  back.searchParams.set("state", form.get("state"));
  response.writeHead(303, { location: back.href }).end();
}

function token(form, response, json, codes, url) {
  const began = codes.get(form.get("code"));
  codes.delete(form.get("code"));
  const challenge = createHash("sha256").update(form.get("code_verifier")).digest("base64url");
  if (began?.get("code_challenge") !== challenge) return response.writeHead(400).end();
  const now = Math.floor(Date.now() / 1000);
  const who = began.get("who");
  const claims = { iss: url, aud: CLIENT, sub: `subject of ${who}`, nonce: began.get("nonce"), iat: now, exp: now + 300, email: `${who}@example.org`, email_verified: true };
  const message = `${encode({ alg: "ES256", kid: "one" })}.${encode(claims)}`;
  const signature = sign("sha256", Buffer.from(message), { key: privateKey, dsaEncoding: "ieee-p1363" });
  return json({ access_token: "unused", token_type: "Bearer", id_token: `${message}.${signature.toString("base64url")}` });
}
