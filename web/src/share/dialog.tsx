// The dialog for sharing: a link with the document, and exports to copy or download.

import { useEffect } from "preact/hooks";
import { useSignal } from "@preact/signals";
import { Dialog } from "../panes/dialogs";
import { cursor } from "../state/cursor";
import { createEngine } from "../engine/client";
import { bytes, engine, limits, shape, title, wantedMode } from "../state/document";
import { cuts } from "../state/reads";
import { announce } from "../state/view";
import { counted, size } from "../words/chars";
import { EXPORT_BYTES_MAX, type Exported, FORMATS, type Format } from "./formats";
import { LINK_CHARS_MAX, LINK_CHARS_WARN, toFragment } from "./permalink";
import { redacted } from "./redact";

async function copy(text: string, what: string): Promise<void> {
  await navigator.clipboard.writeText(text);
  announce(`${what} copied`);
}

function download(text: string, { extension, type }: Format): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type }));
  link.download = `${title.value.replace(/[^\w.-]+/g, "-").toLowerCase() || "frames"}.${extension}`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/** Formats the document for use outside the page, with its secrets masked unless they are requested. */
async function exportedText(withSecrets: boolean, format: Format): Promise<string> {
  const whole: Exported = { engine, bytes: bytes.value, shape: shape.value, title: title.value, limits: limits.value };
  const masked = await redacted(bytes.value);
  if (withSecrets || masked.secrets === 0) return format.write(whole);
  // A masked word contains no escapes: format the bytes and decode the same bytes.
  const own = createEngine();
  try {
    return await format.write({ ...whole, engine: own, bytes: masked.bytes, shape: await own.load(masked.bytes, shape.value.mode, limits.value) });
  } finally {
    own.terminate();
  }
}

function LinkPart({ withSecrets }: { withSecrets: boolean }) {
  const link = useSignal("");
  const failure = useSignal("");
  useEffect(() => {
    let wanted = true;
    link.value = failure.value = "";
    const place = { title: title.value, mode: wantedMode.value, limits: limits.value, cursor: cursor.value, cuts: cuts.value };
    void redacted(bytes.value)
      .then((masked) => toFragment({ ...place, bytes: withSecrets ? bytes.value : masked.bytes }))
      .then(
        (fragment) => {
          if (wanted) link.value = `${location.href.replace(/#.*$/, "")}#${fragment}`;
        },
        (error: unknown) => {
          if (wanted) failure.value = String(error);
        },
      );
    return () => {
      wanted = false;
    };
  }, [withSecrets]);
  const chars = link.value.length;
  const tooLong = chars > LINK_CHARS_MAX;
  return (
    <section>
      <h3>Link</h3>
      <p class="dim">The bytes stand in the link itself, after the #: browsers do not send that part to any server.</p>
      <div class="row">
        <input class="field grow" readOnly aria-label="Link to this document" value={tooLong ? "" : link.value} onFocus={(event) => event.currentTarget.select()} />
        <button type="button" class="btn primary" disabled={chars === 0 || tooLong} onClick={() => void copy(link.value, "link")}>
          Copy link
        </button>
      </div>
      <p role="status" class={chars > LINK_CHARS_WARN ? "wrong" : "dim"}>
        {failure.value || (chars === 0 ? "…" : linkWords(chars))}
      </p>
    </section>
  );
}

function linkWords(chars: number): string {
  if (chars > LINK_CHARS_MAX) return `The link would have ${size(chars)}; browsers open about 1 MB. Export the document instead.`;
  if (chars > LINK_CHARS_WARN) return `${size(chars)}: some programs cut links this long short. Export the document to be sure.`;
  return `${counted(chars, "character")}.`;
}

function ExportPart({ withSecrets }: { withSecrets: boolean }) {
  const failure = useSignal("");
  const make = async (format: Format, use: (text: string) => void | Promise<void>) => {
    try {
      await use(await exportedText(withSecrets, format));
      failure.value = "";
    } catch (error) {
      failure.value = `${format.label}: ${error instanceof Error ? error.message : String(error)}`;
    }
  };
  return (
    <section>
      <h3>Export</h3>
      <ul class="exports">
        {FORMATS.map((format) => (
          <li key={format.id}>
            <span>{format.label}</span>
            <button type="button" class="btn" onClick={() => void make(format, (text) => copy(text, format.label))}>
              Copy<span class="sr-only"> {format.label}</span>
            </button>
            <button type="button" class="btn" onClick={() => void make(format, (text) => download(text, format))}>
              Download<span class="sr-only"> {format.label}</span>
            </button>
          </li>
        ))}
      </ul>
      {bytes.value.length > EXPORT_BYTES_MAX && <p class="dim">Exports explain the first {size(EXPORT_BYTES_MAX)}.</p>}
      <p role="status" class="wrong">
        {failure}
      </p>
    </section>
  );
}

export function ShareDialog() {
  const withSecrets = useSignal(false);
  const secrets = useSignal(0);
  useEffect(() => {
    void redacted(bytes.value).then((masked) => {
      secrets.value = masked.secrets;
    });
  }, []);
  return (
    <Dialog title="Share" class="share">
      {secrets.value > 0 && (
        <label class="check">
          <input
            type="checkbox"
            checked={withSecrets.value}
            onChange={(event) => {
              withSecrets.value = event.currentTarget.checked;
            }}
          />
          <span>
            Include {counted(secrets.value, "password")}. Without this, {secrets.value === 1 ? "it is" : "they are"} replaced by asterisks.
          </span>
        </label>
      )}
      <LinkPart withSecrets={withSecrets.value} />
      <ExportPart withSecrets={withSecrets.value} />
    </Dialog>
  );
}
