// Contact sheets: pictures side by side, drawn by the browser itself.

import { readFile } from "node:fs/promises";

/** Draws pictures (`{ title, path }`) beside each other, each `width` pixels wide and cut at `height`. */
export async function drawSheet(browser, pictures, path, { width, height }) {
  const page = await browser.newPage({ viewport: { width: pictures.length * (width + 8) + 8, height: 300 } });
  const figures = await Promise.all(
    pictures.map(async ({ title, path }) => `<figure><figcaption>${title}</figcaption><img src="data:image/png;base64,${(await readFile(path)).toString("base64")}"></figure>`),
  );
  const style = `body{display:flex;gap:8px;margin:8px;background:#888;font:12px sans-serif}figure{margin:0;width:${width}px;height:${height}px;overflow:hidden}img{width:100%;display:block}`;
  await page.setContent(`<!doctype html><style>${style}</style>${figures.join("")}`);
  await page.screenshot({ path, fullPage: true });
  await page.close();
}
