// The bar that shows how the opened bytes are read, with the other notations one click away.

import { opened, take } from "./guess";
import { escaped } from "../words/chars";

/** The most bytes of a preview. */
const PREVIEW_BYTES_MAX = 24;

export function GuessBar() {
  const what = opened.value;
  if (!what || what.guesses.length < 2 || what.taken < 0) return null;
  const taken = what.guesses[what.taken]!;
  return (
    <section class="guess-bar" aria-label="How what was opened is read">
      <span>
        Read as <b>{taken.label}</b>
        {taken.why !== taken.label && `: ${taken.why}`}
      </span>
      <span class="grow" />
      {what.guesses.map((guess, index) => (
        <button
          key={guess.format}
          type="button"
          class="chip"
          aria-pressed={index === what.taken}
          title={escaped(Uint8Array.from(guess.preview), PREVIEW_BYTES_MAX)}
          onClick={() => void take(index)}
        >
          {guess.label}
        </button>
      ))}
      <button
        type="button"
        class="chip"
        onClick={() => {
          opened.value = null;
        }}
      >
        Done
      </button>
    </section>
  );
}
