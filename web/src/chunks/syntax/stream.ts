// A line as the modes of CodeMirror read it: their interface, of which only what the modes call is here.

export class StringStream {
  pos = 0;
  start = 0;
  readonly tabSize = 4;
  readonly indentUnit = 2;
  constructor(readonly string: string) {}

  sol = (): boolean => this.pos === 0;
  eol = (): boolean => this.pos >= this.string.length;
  peek = (): string | undefined => this.string.charAt(this.pos) || undefined;
  next(): string | undefined {
    return this.pos < this.string.length ? this.string.charAt(this.pos++) : undefined;
  }
  eat(match: string | RegExp | ((ch: string) => boolean)): string | undefined {
    const ch = this.string.charAt(this.pos);
    const fits =
      typeof match === "string" ? ch === match : ch && (match instanceof RegExp ? match.test(ch) : match(ch));
    if (!fits) return undefined;
    this.pos += 1;
    return ch;
  }
  eatWhile(match: string | RegExp | ((ch: string) => boolean)): boolean {
    const from = this.pos;
    while (this.eat(match));
    return this.pos > from;
  }
  eatSpace(): boolean {
    const from = this.pos;
    while (/[\s\u00a0]/u.test(this.string.charAt(this.pos))) this.pos += 1;
    return this.pos > from;
  }
  skipToEnd(): void {
    this.pos = this.string.length;
  }
  skipTo(ch: string): boolean | undefined {
    const found = this.string.indexOf(ch, this.pos);
    if (found < 0) return undefined;
    this.pos = found;
    return true;
  }
  backUp(n: number): void {
    this.pos -= n;
  }
  column = (): number => columns(this.string, this.start, this.tabSize);
  indentation = (): number => columns(this.string, this.string.search(/\S|$/u), this.tabSize);
  match(pattern: string | RegExp, consume = true, caseInsensitive = false): boolean | RegExpMatchArray | null {
    if (typeof pattern === "string") {
      const part = this.string.slice(this.pos, this.pos + pattern.length);
      const fits = caseInsensitive ? part.toLowerCase() === pattern.toLowerCase() : part === pattern;
      if (fits && consume) this.pos += pattern.length;
      return fits || null;
    }
    const found = this.string.slice(this.pos).match(pattern);
    if (found && found.index! > 0) return null;
    if (found && consume) this.pos += found[0].length;
    return found;
  }
  current = (): string => this.string.slice(this.start, this.pos);
}

function columns(text: string, end: number, tab: number): number {
  let n = 0;
  for (let at = 0; at < end; at += 1) n += text.charCodeAt(at) === 9 ? tab - (n % tab) : 1;
  return n;
}
