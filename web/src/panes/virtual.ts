// A virtual list: of any number of rows, only those in view exist.
//
// The host scrolls a spacer; the rows are in a layer that sticks to the top of the view. Browsers
// limit the height of an element. So beyond `HEIGHT_MAX` the scroll position is mapped to a row,
// and the wheel is handled here, or else one notch would skip thousands of rows.

import { narrow } from "../state/view";

/** Tallest spacer, in CSS pixels: below the limit of any browser. */
const HEIGHT_MAX = 8_000_000;
/** The most rows that exist. */
const ROWS_MAX = 80;

export interface RowsOptions {
  /** Creates an empty row. */
  create(): HTMLElement;
  /** Fills an element with a row's content; called again whenever it may have changed. */
  fill(element: HTMLElement, row: number): void;
  /** Called when other rows come into view. */
  viewed?(first: number, last: number): void;
  /** Called when the rows in view are filled. */
  rendered?(first: number, last: number): void;
}

export class VirtualRows {
  readonly #host: HTMLElement;
  readonly #options: RowsOptions;
  readonly #spacer = document.createElement("div");
  readonly #layer = document.createElement("div");
  #pool: HTMLElement[] = [];
  #count = 0;
  #rowHeight = 24;
  /** The height above the view, in pixels, if all rows had their full height. */
  #top = 0;
  #frame = 0;
  /** The height of the view in pixels, updated on changes: reading it at another time would force a layout. */
  #height: number | undefined;
  /** The row to bring into view once the height is known. */
  #wanted = 0;
  readonly #resize: ResizeObserver;

  constructor(host: HTMLElement, options: RowsOptions) {
    this.#host = host;
    this.#options = options;
    this.#spacer.className = "rows-spacer";
    this.#layer.className = "rows-layer";
    this.#spacer.setAttribute("role", "presentation");
    this.#layer.setAttribute("role", "presentation");
    this.#spacer.append(this.#layer);
    host.append(this.#spacer);
    host.addEventListener("scroll", this.#onScroll, { passive: true });
    host.addEventListener("wheel", this.#onWheel, { passive: false });
    this.#resize = new ResizeObserver(() => {
      const isFirst = this.#height === undefined;
      this.#height = host.clientHeight;
      if (isFirst) this.reveal(this.#wanted);
      this.refreshNow();
    });
    this.#resize.observe(host);
  }

  destroy(): void {
    this.#resize.disconnect();
    this.#host.removeEventListener("scroll", this.#onScroll);
    this.#host.removeEventListener("wheel", this.#onWheel);
    cancelAnimationFrame(this.#frame);
    this.#spacer.remove();
  }

  /** Sets the number of rows and their height. */
  size(count: number, rowHeight: number): void {
    if (count === this.#count && rowHeight === this.#rowHeight) return;
    const row = this.#top / this.#rowHeight;
    this.#count = count;
    this.#rowHeight = rowHeight;
    this.#spacer.style.height = `${Math.min(this.#full, HEIGHT_MAX)}px`;
    this.#scrollTo(row * rowHeight);
  }

  /** Refills the rows in view, in the next frame. */
  refresh(): void {
    if (this.#frame === 0) {
      this.#frame = requestAnimationFrame(() => {
        this.#frame = 0;
        this.#render();
      });
    }
  }

  /** Refills the rows in view, now. */
  refreshNow(): void {
    cancelAnimationFrame(this.#frame);
    this.#frame = 0;
    this.#render();
  }

  /** Brings a row into view, with a few rows around it, if it is not in view. */
  reveal(row: number): void {
    if (this.#height === undefined) {
      this.#wanted = row;
      return;
    }
    const view = this.#view;
    const margin = Math.min(this.#rowHeight, view / 4);
    const at = row * this.#rowHeight;
    if (at < this.#top) this.#scrollTo(at - margin);
    else if (at + this.#rowHeight > this.#top + view) this.#scrollTo(at + this.#rowHeight + margin - view);
  }

  /** The element of a row, if it is in view. */
  element(row: number): HTMLElement | undefined {
    return this.#pool.find((element) => element.dataset.row === String(row) && !element.hidden);
  }

  /** The number of rows that fit into the view. */
  get rowsInView(): number {
    return Math.max(1, Math.floor(this.#view / this.#rowHeight));
  }

  /**
   * Before the first layout, the largest possible number: so the rows exist when it happens, and
   * nothing is laid out twice.
   */
  get #view(): number {
    return this.#height ?? (narrow.peek() ? 0 : innerHeight);
  }

  get #full(): number {
    return this.#count * this.#rowHeight;
  }

  /** Pixels of the list per pixel of the scrollbar. */
  get #ratio(): number {
    const view = this.#view;
    const scrollable = Math.min(this.#full, HEIGHT_MAX) - view;
    return this.#full <= HEIGHT_MAX || scrollable <= 0 ? 1 : (this.#full - view) / scrollable;
  }

  readonly #onScroll = () => {
    const ratio = this.#ratio;
    // Setting `scrollTop` rounds; if positions are mapped, a difference below a pixel comes from
    // that.
    if (ratio === 1 || Math.abs(this.#top / ratio - this.#host.scrollTop) > 1) this.#top = this.#host.scrollTop * ratio;
    this.refresh();
  };

  readonly #onWheel = (event: WheelEvent) => {
    if (this.#ratio === 1 || event.ctrlKey) return;
    event.preventDefault();
    const unit = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? this.#rowHeight : 1;
    this.#scrollTo(this.#top + event.deltaY * unit);
  };

  #scrollTo(top: number): void {
    const most = Math.max(0, this.#full - this.#view);
    this.#top = Math.max(0, Math.min(top, most));
    if (this.#height !== undefined) this.#host.scrollTop = this.#top / this.#ratio;
    this.refresh();
  }

  #render(): void {
    const view = this.#view;
    if (view === 0) return;
    const most = Math.max(0, this.#full - view);
    if (this.#top > most) this.#top = most;
    const first = Math.floor(this.#top / this.#rowHeight);
    const last = Math.min(this.#count, Math.ceil((this.#top + view) / this.#rowHeight), first + ROWS_MAX) - 1;
    const needed = Math.max(0, last - first + 1);
    while (this.#pool.length < needed) {
      const element = this.#options.create();
      this.#pool.push(element);
      this.#layer.append(element);
    }
    this.#options.viewed?.(first, last);
    const used = new Set<HTMLElement>();
    for (let row = first; row <= last; row += 1) {
      const element = this.#pool[row % this.#pool.length]!;
      used.add(element);
      element.dataset.row = String(row);
      element.style.transform = `translateY(${row * this.#rowHeight - this.#top}px)`;
      element.style.height = `${this.#rowHeight}px`;
      element.hidden = false;
      this.#options.fill(element, row);
    }
    for (const element of this.#pool) if (!used.has(element)) element.hidden = true;
    this.#options.rendered?.(first, last);
  }
}

/** Keeps one tab stop in a list: the element with the cursor, or the list if that is out of view. */
export function keepFocus(host: HTMLElement, current: HTMLElement | undefined): void {
  host.tabIndex = current ? -1 : 0;
  // An element that now shows another row must not keep the focus.
  const focused = document.activeElement;
  if (focused !== current && (current || focused !== host) && host.contains(focused)) (current ?? host).focus({ preventScroll: true });
}
