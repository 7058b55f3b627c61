// Completions of the typed text: Tab takes the first one, a click any.

export function Offers({ names, take }: { names: readonly string[]; take(name: string): void }) {
  if (names.length === 0) return null;
  return (
    <div class="presets" role="group" aria-label="Commands that begin so">
      {names.map((name, index) => (
        <button key={name} type="button" class="chip offer" onClick={() => take(name)}>
          {name}
          {index === 0 && <kbd>Tab</kbd>}
        </button>
      ))}
    </div>
  );
}
