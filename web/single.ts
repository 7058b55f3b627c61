// A Vite plugin that builds the page as a single HTML file, with all parts packed inside.

import { readFileSync } from "node:fs";
import type { Plugin } from "vite";
import { pack, toText } from "./pack.mjs";
import { sum } from "./src/unpack.js";

/**
 * The data that `src/single.js` reads: parts by their ids, in the order in which they are needed,
 * and fonts, which are already packed.
 */
function packed(parts: [id: string, content: Buffer][], fonts: Buffer[]): string {
  const bytes = Buffer.concat([...fonts, pack(Buffer.concat(parts.map(([, content]) => content)))]);
  const about = { bytes: bytes.length, check: sum(bytes), fonts: fonts.map(({ length }) => length), parts: parts.map(([id, { length }]) => [id, length]) };
  return `<script type="text/plain" id="packed" data-about='${JSON.stringify(about)}'>${toText(bytes)}</script>`;
}

/** Takes the fonts out of the styles: `packed-font:0` stands for the address of the first one. */
function withoutFonts(styles: string): { styles: string; fonts: Buffer[] } {
  const fonts: Buffer[] = [];
  const put = (_: string, base64: string) => `packed-font:${fonts.push(Buffer.from(base64, "base64")) - 1}`;
  return { styles: styles.replace(/data:font\/woff2;base64,([\w+/=]+)/g, put), fonts };
}

const source = (file: string) => readFileSync(new URL(file, import.meta.url), "utf8");

/** Packs styles, scripts and `files`, by their ids, into the HTML file. */
export function inline(files: Record<string, string>): Plugin {
  return {
    name: "inline",
    enforce: "post",
    generateBundle(_, bundle) {
      const page = bundle["index.html"];
      if (page?.type !== "asset") throw new Error("no page to put things into");
      const styles: string[] = [];
      const scripts: string[] = [];
      let worker = "";
      for (const [file, chunk] of Object.entries(bundle)) {
        if (chunk === page) continue;
        // Parts that are loaded later are in the same script: there is nothing to fetch before
        // them.
        if (chunk.type === "chunk") scripts.push(chunk.code.replaceAll("__VITE_PRELOAD__", "void 0"));
        else if (file.endsWith(".css")) styles.push(String(chunk.source));
        else if (/\bworker-[^/]*\.js$/.test(file)) worker = String(chunk.source);
        delete bundle[file];
      }
      const modules = Object.entries(files).map(([id, path]): [string, Buffer] => [id, readFileSync(path)]);
      const { styles: style, fonts } = withoutFonts(styles.join(""));
      if (worker === "") throw new Error("no Worker to pack");
      const texts = Object.entries({ style, worker, script: scripts.join("") }).map(([id, text]): [string, Buffer] => [id, Buffer.from(text)]);
      const parts = packed([...texts, ...modules], fonts);
      // Runs when the file has arrived completely, wherever the script is in it.
      const boot = `<script type="module">\n${source("./src/unpack.js").replace(/^export /gm, "")}\n${source("./src/single.js")}</script>`;
      page.fileName = "respire-explorer.html";
      page.source = String(page.source)
        .replace(/\s*<(script|link)[^>]*(src|href)="\.\/[^>]*>(<\/script>)?/g, "")
        .replace("</body>", () => `${boot}\n${parts}\n</body>`);
    },
  };
}
