// Opens bytes: by a dialog to paste or type into, and by files dropped and text pasted anywhere.

import { useSignal } from "@preact/signals";
import { Dialog } from "../panes/dialogs";
import { dialog } from "../state/view";
import { openBytes } from "./guess";

/** The largest text for the text field: fields are slow with more, so longer text goes straight to the panes. */
const FIELD_CHARS_MAX = 100_000;

const encoder = new TextEncoder();

/** Opens pasted text. */
export function openText(text: string, name = "Pasted"): Promise<void> {
  return openBytes(encoder.encode(text), name);
}

export async function openFile(file: File): Promise<void> {
  await openBytes(new Uint8Array(await file.arrayBuffer()), file.name);
}

/** Accepts pastes and drops anywhere on the page. */
export function listenForInput(): void {
  document.addEventListener("paste", (event) => {
    const { target, clipboardData } = event;
    const field = target instanceof HTMLInputElement || target instanceof HTMLTextAreaElement;
    const text = clipboardData?.getData("text/plain") ?? "";
    if (field && text.length <= FIELD_CHARS_MAX) return;
    const file = clipboardData?.files[0];
    if (!file && text === "") return;
    event.preventDefault();
    dialog.value = null;
    void (file ? openFile(file) : openText(text));
  });
  document.addEventListener("dragover", (event) => {
    event.preventDefault();
    document.body.classList.add("dropping");
  });
  document.addEventListener("dragleave", (event) => {
    if (event.relatedTarget === null) document.body.classList.remove("dropping");
  });
  document.addEventListener("drop", (event) => {
    event.preventDefault();
    document.body.classList.remove("dropping");
    const file = event.dataTransfer?.files[0];
    const text = event.dataTransfer?.getData("text/plain") ?? "";
    if (file) void openFile(file);
    else if (text !== "") void openText(text, "Dropped");
  });
}

/** A button that lets the user choose a file, and opens it. */
export function FilePicker() {
  return (
    <label class="btn file">
      Choose a file
      <input
        type="file"
        class="sr-only"
        onChange={(event) => {
          const file = event.currentTarget.files?.[0];
          dialog.value = null;
          if (file) void openFile(file);
        }}
      />
    </label>
  );
}

export function OpenDialog() {
  const text = useSignal("");
  const submit = (event: Event) => {
    event.preventDefault();
    dialog.value = null;
    void openText(text.value, "Typed");
  };
  return (
    <Dialog title="Open" class="open">
      <form onSubmit={submit}>
        <label>
          Bytes as they are, escaped (<code>\r\n</code>, <code>\x00</code>), as hex, a hexdump or base64. The page guesses which; you can change it.
          <textarea
            rows={6}
            autofocus
            spellcheck={false}
            autocomplete="off"
            placeholder="%1\r\n+a\r\n:1\r\n"
            value={text.value}
            onInput={(event) => {
              text.value = event.currentTarget.value;
            }}
          />
        </label>
        <div class="row">
          <button type="submit" class="btn primary" disabled={text.value === ""}>
            Show
          </button>
          <FilePicker />
          <span class="dim">of bytes, text, <code>pcap</code> or <code>pcapng</code>; or drop one, or paste, anywhere on the page</span>
        </div>
      </form>
    </Dialog>
  );
}
