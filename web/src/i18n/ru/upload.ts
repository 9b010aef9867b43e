import type { Messages } from "../en.ts";
import type { Format } from "../format.ts";

export const upload = (f: Format): Messages["upload"] => ({
  title: "Загрузка",
  dropHere: "Отпустите файлы и папки",
  drop: "Перетащите сюда файлы и папки",
  formats: "Markdown, текст, исходный код, HTML, блокноты, данные, PDF, Word, PowerPoint, Excel",
  files: "Выбрать файлы", folder: "Выбрать папку",
  collection: "Коллекция", collectionExample: "handbook", collectionHint: "Существующая или новое имя.", isNew: "Будет создана новая коллекция.", needsCollection: "Введите имя коллекции.",
  prefix: "Префикс id", prefixHint: "Ставится перед путём. Путь и есть id: файл с тем же id будет заменён.",
  preset: "Профиль", presetHint: "Как резать новую коллекцию.", serverPreset: "Как настроен сервер",
  start: "Загрузить", stop: "Остановить", clear: "Очистить список",
  send: (n) => f.plural(n, { one: "Загрузить # файл", few: "Загрузить # файла", many: "Загрузить # файлов", other: "Загрузить # файла" }),
  again: (n) => `Повторить: ${f.number(n)}`,
  open: (name) => `Открыть ${name}`,
  progress: "Загружено файлов",
  done: (n, total) => `${f.number(n)} из ${f.number(total)}`,
  over: "Все файлы надёжно записаны.",
  overSome: (n) => `Не записано файлов: ${f.number(n)}.`,
  which: "Какие файлы показаны", all: "Все", none: "В этом состоянии файлов нет.", list: "Файлы",
  states: { waiting: "ждёт", sending: "загружается", stored: "записан", unchanged: "без изменений", failed: "ошибка", skipped: "пропущен" },
  hiddenFile: "Скрытый: имя файла или папки начинается с точки",
  remove: (name) => `Убрать ${name} из списка`,
});
