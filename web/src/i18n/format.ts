// Numbers, dates and plurals of a language. Messages call these; what they answer is text.

export type Locale = "en" | "zh" | "ru";

/** The forms that a language has, by the names of CLDR; `#` is the number. */
export type Forms = { other: string } & Partial<Record<"one" | "few" | "many", string>>;

export interface Format {
  number(n: number): string;
  percent(share: number): string;
  plural(n: number, forms: Forms): string;
  bytes(n: number): string;
  /** Seconds as a span of time. */
  span(seconds: number): string;
  date(iso: string): string;
  /** How long ago a moment was. */
  ago(iso: string, now?: number): string;
}

const UNITS: [Intl.RelativeTimeFormatUnit, number][] = [
  ["year", 31_557_600],
  ["month", 2_629_800],
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
  ["second", 1],
];

function once<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => (made ??= make());
}

export function formatOf(locale: Locale): Format {
  const numbers = new Intl.NumberFormat(locale, { maximumFractionDigits: 2 });
  const rules = new Intl.PluralRules(locale);
  // Each takes a browser milliseconds to make, and not every page needs it.
  const percents = once(() => new Intl.NumberFormat(locale, { style: "percent", maximumFractionDigits: 1 }));
  const dates = once(() => new Intl.DateTimeFormat(locale, { dateStyle: "medium", timeStyle: "short" }));
  const relative = once(() => new Intl.RelativeTimeFormat(locale, { numeric: "auto" }));
  const size = (n: number, unit: string) =>
    new Intl.NumberFormat(locale, { style: "unit", unit, maximumFractionDigits: n < 10 ? 1 : 0 }).format(n);
  return {
    number: (n) => numbers.format(n),
    percent: (share) => percents().format(share),
    plural: (n, forms) => (forms[rules.select(n) as "one"] ?? forms.other).replace("#", numbers.format(n)),
    bytes: (n) =>
      n < 1000
        ? size(n, "byte")
        : n < 1e6
          ? size(n / 1e3, "kilobyte")
          : n < 1e9
            ? size(n / 1e6, "megabyte")
            : size(n / 1e9, "gigabyte"),
    span: (s) =>
      s < 1 ? size(Math.round(s * 1000), "millisecond") : s < 120 ? size(s, "second") : size(s / 60, "minute"),
    date: (iso) => (iso ? dates().format(new Date(iso)) : ""),
    ago: (iso, now = Date.now()) => {
      const seconds = (Date.parse(iso) - now) / 1000;
      if (!Number.isFinite(seconds)) return "";
      const [unit, length] = UNITS.find(([, length]) => Math.abs(seconds) >= length) ?? ["second", 1];
      return relative().format(Math.round(seconds / length), unit);
    },
  };
}
