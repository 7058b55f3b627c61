// The first script of the single-file page, which contains all parts packed one after the other;
// the build puts `unpack.js` before it.

const fail = (text) => {
  document.getElementById("app").textContent = text;
};

try {
  const element = document.getElementById("packed");
  const { bytes, check, fonts, parts } = JSON.parse(element.dataset.about);
  const packed = fromText(element.textContent).subarray(0, bytes);
  if (sum(packed) !== check) throw new Error("its checksum is another");
  element.remove();

  let at = 0;
  const addresses = fonts.map((length) => URL.createObjectURL(new Blob([packed.subarray(at, (at += length))], { type: "font/woff2" })));
  const places = new Map();
  let size = 0;
  for (const [id, length] of parts) places.set(id, [size, (size += length)]);
  const rest = packed.slice(at);
  const unpacked = unpacker(rest, size);
  // The parts are in the order in which they are needed, and parts that are never opened stay
  // packed.
  const part = (id) => {
    const [from, end] = places.get(id);
    return unpacked(end).slice(from);
  };
  globalThis.packedPart = (id) => {
    const [from, end] = places.get(id);
    return { packed: rest, size, from, end };
  };

  const enter = (id, attributes, change = (text) => text) => {
    const textContent = change(new TextDecoder().decode(part(id)));
    document.head.append(Object.assign(document.createElement(id), attributes, { textContent }));
  };
  enter("style", {}, (text) => text.replace(/packed-font:(\d+)/g, (_, font) => addresses[font]));
  // Fonts are read while the rest is unpacked, so that text is laid out once.
  for (const font of document.fonts) void font.load();

  const address = URL.createObjectURL(new Blob([part("worker")], { type: "text/javascript" }));
  const start = () => {
    const worker = new Worker(address);
    worker.postMessage({ wasm: globalThis.packedPart("documentWasm") });
    return worker;
  };
  // The first Worker unpacks its module while the page unpacks its script.
  let first = start();
  globalThis.startEngine = () => {
    const worker = first ?? start();
    first = undefined;
    return worker;
  };
  enter("script", { type: "module" });
} catch (error) {
  fail(`This file is damaged, or cut short on its way here: ${error.message}`);
}
