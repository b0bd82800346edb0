import { drawSheet } from "./gallery/sheet.mjs";
import { startBrowser } from "./support/browser.mjs";
import { basename } from "node:path";
const [out, width, height, across, ...files] = process.argv.slice(2);
const b = await startBrowser();
for (let at = 0, n = 1; at < files.length; at += +across, n++) await drawSheet(b, files.slice(at, at + +across).map((path) => ({ title: basename(path), path })), `${out}-${n}.png`, { width: +width, height: +height });
await b.close();
