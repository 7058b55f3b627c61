// The first script of the page as a single file, in which all parts lie packed, one behind the other;
// `unpack.js` stands in front of it.

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
  const unpacked = unpacker(packed.subarray(at), size);
  // What comes first is needed first, and what nobody opens stays packed.
  globalThis.part = (id) => {
    const [from, end] = places.get(id);
    return unpacked(end).slice(from);
  };

  const enter = (id, attributes, change = (text) => text) => {
    const textContent = change(new TextDecoder().decode(globalThis.part(id)));
    document.head.append(Object.assign(document.createElement(id), attributes, { textContent }));
  };
  enter("style", {}, (text) => text.replace(/packed-font:(\d+)/g, (_, font) => addresses[font]));
  enter("script", { type: "module" });
} catch (error) {
  fail(`This file is damaged, or cut short on its way here: ${error.message}`);
}
