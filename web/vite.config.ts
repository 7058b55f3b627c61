// The build of the page: as files with a service worker, and as a single HTML file.

import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { defineConfig, type Plugin } from "vite";
import { inline } from "./single.ts";

/** The address of an engine module that wasm-bindgen wrote. */
const wasm = (name: string) => new URL(`./src/wasm/respire_${name}_bg.wasm`, import.meta.url).pathname;

/** The modules: for documents, for captures, and the server with its commands. */
const MODULES = { documentWasm: wasm("document"), captureWasm: wasm("capture"), serverWasm: wasm("server") };

/** The sources that the page may load: only its own files. */
const CSP = {
  files: [
    "default-src 'none'",
    "script-src 'self' 'wasm-unsafe-eval'",
    "style-src 'self'",
    "font-src 'self'",
    "img-src 'self' data:",
    "connect-src 'self'",
    "worker-src 'self'",
    "manifest-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
  ],
  single: [
    "default-src 'none'",
    "script-src 'unsafe-inline' 'wasm-unsafe-eval' blob:",
    "style-src 'unsafe-inline'",
    "font-src blob:",
    "img-src data:",
    "connect-src 'none'",
    "worker-src blob:",
    "base-uri 'none'",
    "form-action 'none'",
  ],
};

const ICON =
  "data:image/svg+xml," +
  encodeURIComponent(
    "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'><rect width='16' height='16' rx='4' fill='#3a4fc4'/>" +
      "<path d='M4 4h3v3H4zM9 4h3v3H9zM4 9h3v3H4z' fill='#fff'/><path d='M9 9h3v3H9z' fill='#ffd479'/></svg>",
  );

/** Gives the page the engine's modules: by address, or inside the page. */
function engine(single: boolean): Plugin {
  const id = "virtual:engine-wasm";
  return {
    name: "engine-wasm",
    resolveId: (source) => (source === id ? `\0${id}` : null),
    load(source) {
      if (source !== `\0${id}`) return null;
      return Object.entries(MODULES)
        .map(([name, path]) => {
          if (single) return `export const ${name} = packedPart("${name}");`;
          return `import ${name}Address from ${JSON.stringify(`${path}?url`)}; export const ${name} = new URL(${name}Address, document.baseURI).href;`;
        })
        .join("\n");
    },
  };
}

/** Fills in the page's content security policy and icon. */
function head(single: boolean, serve: boolean): Plugin {
  return {
    name: "head",
    transformIndexHtml: {
      order: "pre",
      handler(html) {
        let csp = (single ? CSP.single : CSP.files).join("; ");
        if (serve) csp = csp.replace("style-src 'self'", "style-src 'self' 'unsafe-inline'").replace("connect-src 'self'", "connect-src 'self' ws:");
        return html.replace("%CSP%", csp).replace("%ICON%", ICON);
      },
    },
  };
}

const source = (file: string) => new URL(`./src/${file}`, import.meta.url).pathname;

/** A module and the modules that it imports statically. */
function needed(module: string, importsOf: (module: string) => readonly string[]): Set<string> {
  const all = new Set([module]);
  for (const each of all) for (const imported of importsOf(each)) all.add(imported);
  return all;
}

/** Makes the browser fetch everything needed at the start at once: the page's script in one piece, and its fonts. */
function early(): Plugin {
  let pageOnly = new Set<string>();
  return {
    name: "early",
    buildEnd() {
      const importsOf = (module: string) => this.getModuleInfo(module)?.importedIds ?? [];
      const entry = needed(source("main.ts"), importsOf);
      pageOnly = new Set([...needed(source("page.tsx"), importsOf)].filter((module) => !entry.has(module)));
    },
    outputOptions: (options) => ({
      ...options,
      // Makes V8 compile all of it on another thread while it arrives: most of it runs at once.
      postBanner: ({ name }) => (name === "page" ? "//# allFunctionsCalledOnLoad" : ""),
      codeSplitting: { includeDependenciesRecursively: false, groups: [{ name: "page", test: (module) => pageOnly.has(module) }] },
    }),
    transformIndexHtml: {
      order: "post",
      handler(_, { bundle }) {
        const files = Object.values(bundle ?? {});
        const scripts = files.filter((file) => file.type === "chunk" && file.name === "page");
        const fonts = files.filter(({ fileName }) => fileName.endsWith(".woff2"));
        const link = (attrs: Record<string, string | true>) => ({ tag: "link", attrs, injectTo: "head" as const });
        return [
          ...scripts.map(({ fileName }) => link({ rel: "modulepreload", crossorigin: true, href: `./${fileName}` })),
          ...fonts.map(({ fileName }) => link({ rel: "preload", as: "font", type: "font/woff2", crossorigin: true, href: `./${fileName}` })),
        ];
      },
    },
  };
}

/** Writes the list of files for the service worker, with a name that depends on their contents. */
function offline(): Plugin {
  return {
    name: "offline",
    enforce: "post",
    generateBundle(_, bundle) {
      const hash = createHash("sha256");
      const files = Object.keys(bundle).sort();
      for (const file of files) {
        const chunk = bundle[file]!;
        hash.update(file).update(chunk.type === "chunk" ? chunk.code : chunk.source);
      }
      const source = readFileSync(new URL("./src/offline.js", import.meta.url), "utf8")
        .replace('"%VERSION%"', JSON.stringify(hash.digest("hex").slice(0, 16)))
        .replace('["%FILES%"]', JSON.stringify(["./", ...files.filter((file) => file !== "index.html")]));
      this.emitFile({ type: "asset", fileName: "offline.js", source });
    },
  };
}

export default defineConfig(({ mode, command }) => {
  const single = mode === "single";
  return {
    base: "./",
    plugins: [engine(single), head(single, command === "serve"), ...(single ? [inline(MODULES)] : [early(), offline()])],
    resolve: {
      alias: single
        ? [
            { find: /^\.\/spawn$/, replacement: new URL("./src/engine/spawn-single.ts", import.meta.url).pathname },
            { find: /^\.\/spawn-console$/, replacement: new URL("./src/console/spawn-console-single.ts", import.meta.url).pathname },
          ]
        : [],
    },
    define: { __SINGLE__: JSON.stringify(single) },
    // A file has no origin: a Worker created from within it can be a classic script, but not a
    // module.
    worker: { format: single ? ("iife" as const) : ("es" as const) },
    build: {
      target: ["chrome123", "firefox128", "safari17.5"],
      cssTarget: ["chrome123", "firefox128", "safari17.5"],
      modulePreload: false,
      emptyOutDir: !single,
      assetsInlineLimit: single ? 1 << 20 : 0,
      cssCodeSplit: false,
      rolldownOptions: single ? { output: { codeSplitting: false } } : {},
    },
  };
});
