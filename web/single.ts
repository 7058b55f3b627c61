// The page as a single HTML file: every part of it lies packed within, and nothing beside it.

import { readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import type { Plugin } from "vite";

/** An element that holds a part, as `src/single.js` finds it. */
function packed(id: string, content: string | Uint8Array): string {
  return `<script type="text/plain" id="${id}">${gzipSync(content, { level: 9 }).toString("base64")}</script>`;
}

/** Packs styles, scripts and `files`, by their ids, into the HTML file. */
export function inline(files: Record<string, string>): Plugin {
  return {
    name: "inline",
    enforce: "post",
    generateBundle(_, bundle) {
      const page = bundle["index.html"];
      if (page?.type !== "asset") throw new Error("no page to put things into");
      const parts = Object.entries(files).map(([id, path]) => packed(id, readFileSync(path)));
      for (const [file, chunk] of Object.entries(bundle)) {
        if (chunk === page) continue;
        // Parts that are loaded later are in the same script: there is nothing to fetch before them.
        if (chunk.type === "chunk") parts.push(packed("script", chunk.code.replaceAll("__VITE_PRELOAD__", "void 0")));
        else if (file.endsWith(".css")) parts.push(packed("style", chunk.source));
        delete bundle[file];
      }
      // Runs when the file is there to its end, wherever it stands in it.
      const boot = `<script type="module">\n${readFileSync(new URL("./src/single.js", import.meta.url), "utf8")}</script>`;
      page.fileName = "respire-explorer.html";
      page.source = String(page.source)
        .replace(/\s*<(script|link)[^>]*(src|href)="\.\/[^>]*>(<\/script>)?/g, "")
        .replace("</body>", () => `${[boot, ...parts].join("\n")}\n</body>`);
    },
  };
}
