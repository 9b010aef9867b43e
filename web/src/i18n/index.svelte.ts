// The language of the page. `t()` has the messages, `f()` the numbers and dates; both follow the language where they are read.

import { recall, remember as keep } from "../ui/storage.ts";
import { formatOf, type Format, type Locale } from "./format.ts";
import { en, type Messages } from "./en.ts";

export type { Locale, Messages };

export const LOCALES: [Locale, string][] = [
  ["en", "English"],
  ["zh", "简体中文"],
  ["ru", "Русский"],
];

const KEY = "chunkwright.locale";
const loaders: Record<Locale, () => Promise<(format: Format) => Messages>> = {
  en: () => Promise.resolve(en),
  zh: async () => (await import("./zh.ts")).zh,
  ru: async () => (await import("./ru.ts")).ru,
};

const first = formatOf("en");
let current = $state.raw<{ locale: Locale; format: Format; messages: Messages }>({
  locale: "en",
  format: first,
  messages: en(first),
});

export const t = (): Messages => current.messages;
export const f = (): Format => current.format;
export const locale = (): Locale => current.locale;

/** Speaks a language from now on, and remembers it. */
export async function speak(wanted: Locale, remember = true): Promise<void> {
  const messages = await loaders[wanted]();
  const format = formatOf(wanted);
  current = { locale: wanted, format, messages: messages(format) };
  document.documentElement.lang = wanted === "zh" ? "zh-Hans" : wanted;
  if (remember) keep(KEY, wanted);
}

/** The language that was chosen before, or the browser's. */
export function preferred(): Locale {
  const known = (tag: string | null) =>
    LOCALES.map(([name]) => name).find((name) => tag?.toLowerCase().startsWith(name));
  return known(recall(KEY)) ?? navigator.languages.map(known).find(Boolean) ?? "en";
}
