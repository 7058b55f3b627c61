// The header: the title of the document, its mode, and the switches of the page.

import { MODES, MODE_LABELS } from "../engine/tables";
import { readAs, shape, title, wantedMode } from "../state/document";
import { galleryOpen, theme } from "../state/view";
import { ActionButton } from "./button";

function ModeSelect() {
  const wanted = wantedMode.value;
  return (
    <label class="select mode">
      <span class="mode-label">read as</span>
      <select value={String(wanted)} onChange={(event) => void readAs(Number(event.currentTarget.value))} title="What the bytes are read as">
        <option value={String(MODES.auto)}>{wanted === MODES.auto ? `Auto: ${MODE_LABELS[shape.value.mode]}` : "Auto"}</option>
        {[MODES.requests, MODES.replies, MODES.binaryRequests, MODES.binaryReplies].map((mode) => (
          <option key={mode} value={String(mode)}>
            {MODE_LABELS[mode]}
          </option>
        ))}
      </select>
    </label>
  );
}

export function Header() {
  return (
    <header class="header">
      <a class="brand" href="#hex" aria-label="Respire explorer: to the bytes">
        <svg viewBox="0 0 16 16" width="20" height="20" aria-hidden="true">
          <rect width="16" height="16" rx="4" class="brand-box" />
          <path d="M4 4h3v3H4zM9 4h3v3H9zM4 9h3v3H4z" fill="#fff" />
          <path d="M9 9h3v3H9z" class="brand-dot" />
        </svg>
        <h1>
          Respire <span>explorer</span>
        </h1>
      </a>
      <span class="doc-title" title={title.value}>
        {title}
      </span>
      <ModeSelect />
      <span class="grow" />
      <ActionButton id="undo" icon="undo" class="quiet" />
      <ActionButton id="redo" icon="redo" class="quiet" />
      <ActionButton id="open" icon="open" class="primary">
        Open
      </ActionButton>
      <ActionButton id="find" icon="find" class="quiet" />
      <ActionButton id="share" icon="share">
        Share
      </ActionButton>
      <ActionButton id="gallery" icon="grid" pressed={galleryOpen.value}>
        Samples
      </ActionButton>
      <ActionButton id="theme" icon="theme" name={`Theme: ${theme.value}`}>
        <span class="theme-name">{theme}</span>
      </ActionButton>
      <ActionButton id="keys" icon="keys" />
    </header>
  );
}
