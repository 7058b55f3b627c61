// The first script of the page as a single file, in which all parts lie packed: unpacks them.

globalThis.part = async (id) => {
  const packed = document.getElementById(id).textContent;
  const bytes = Uint8Array.from(atob(packed), (char) => char.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip")));
};

const enter = async (id, element) => {
  element.textContent = await (await globalThis.part(id)).text();
  return element;
};

const fail = (text) => {
  document.getElementById("app").textContent = text;
};

if ("DecompressionStream" in globalThis) {
  const script = Object.assign(document.createElement("script"), { type: "module" });
  Promise.all([enter("style", document.createElement("style")), enter("script", script)]).then(
    ([style]) => {
      document.head.append(style);
      document.body.append(script);
    },
    (error) => fail(`This file is damaged, or cut short on its way here: ${error.message}`),
  );
} else {
  fail("This browser cannot unpack the file: it has no DecompressionStream. Chrome and Edge have it since version 80, Firefox since 113, Safari since 16.4.");
}
