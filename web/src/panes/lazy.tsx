// Components that are fetched when they are first shown.

import type { ComponentType } from "preact";
import { signal } from "@preact/signals";

/** A component whose code is fetched when it is first shown. */
export function lazy(load: () => Promise<ComponentType>): ComponentType {
  const loaded = signal<ComponentType | null>(null);
  const failure = signal("");
  let loading: Promise<void> | undefined;
  return function Lazy() {
    loading ??= load().then(
      (component) => {
        loaded.value = component;
      },
      (error: unknown) => {
        loading = undefined;
        failure.value = String(error);
      },
    );
    const Loaded = loaded.value;
    if (Loaded) return <Loaded />;
    return failure.value === "" ? null : (
      <p class="wrong" role="alert">
        This part of the page could not be loaded: {failure}
      </p>
    );
  };
}
