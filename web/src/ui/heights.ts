// Heights of a list's rows, most of them guessed, with sums in logarithmic time (a Fenwick tree).

export class Heights {
  readonly count: number;
  #heights: Float64Array;
  #tree: Float64Array;

  constructor(count: number, guess: (index: number) => number) {
    this.count = count;
    this.#heights = new Float64Array(count);
    this.#tree = new Float64Array(count + 1);
    for (let at = 0; at < count; at += 1) {
      const height = guess(at);
      this.#heights[at] = height;
      this.#tree[at + 1]! += height;
      const above = at + 1 + ((at + 1) & -(at + 1));
      if (above <= count) this.#tree[above]! += this.#tree[at + 1]!;
    }
  }

  of(index: number): number {
    return this.#heights[index] ?? 0;
  }

  /** Sets a height; the difference to what it was. */
  set(index: number, height: number): number {
    const difference = height - this.of(index);
    if (index < 0 || index >= this.count || difference === 0) return 0;
    this.#heights[index] = height;
    for (let at = index + 1; at <= this.count; at += at & -at) this.#tree[at]! += difference;
    return difference;
  }

  /** Where a row begins. */
  top(index: number): number {
    let sum = 0;
    for (let at = Math.min(index, this.count); at > 0; at -= at & -at) sum += this.#tree[at]!;
    return sum;
  }

  get total(): number {
    return this.top(this.count);
  }

  /** The row at a distance from the top. */
  at(offset: number): number {
    let index = 0;
    let left = offset;
    for (let step = 1 << (31 - Math.clz32(Math.max(1, this.count))); step > 0; step >>= 1) {
      const next = index + step;
      if (next <= this.count && this.#tree[next]! <= left) {
        index = next;
        left -= this.#tree[next]!;
      }
    }
    return Math.min(index, Math.max(0, this.count - 1));
  }
}
