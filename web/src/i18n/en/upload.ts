import type { Format } from "../format.ts";

const several = (f: Format, n: number, one: string, other: string) => f.plural(n, { one, other });

export const upload = (f: Format) => ({
  title: "Upload",
  dropHere: "Drop files and folders",
  drop: "Drop files and folders here",
  formats: "Markdown, text, source code, HTML, notebooks, data, PDF, Word, PowerPoint, Excel",
  files: "Choose files", folder: "Choose folder",
  collection: "Collection", collectionExample: "handbook", collectionHint: "One that exists, or a new name.", isNew: "A new collection is made.", needsCollection: "Enter the name of a collection.",
  prefix: "Prefix of ids", prefixHint: "Stands before each path. The path is the id: a file of the same id is replaced.",
  preset: "Preset", presetHint: "How the new collection is cut.", serverPreset: "As the server is configured",
  start: "Upload", stop: "Stop", clear: "Clear list",
  send: (n: number) => several(f, n, "Upload # file", "Upload # files"),
  again: (n: number) => several(f, n, "Try # again", "Try # again"),
  open: (name: string) => `Open ${name}`,
  progress: "Files uploaded",
  done: (n: number, total: number) => `${f.number(n)} of ${several(f, total, "# file", "# files")}`,
  over: "All files are stored durably.",
  overSome: (n: number) => several(f, n, "# file was not stored.", "# files were not stored."),
  which: "Which files are shown", all: "All", none: "No file is in this state.", list: "Files",
  states: { waiting: "waiting", sending: "uploading", stored: "stored", unchanged: "unchanged", failed: "failed", skipped: "left out" },
  hiddenFile: "Hidden, as its name or its folder begins with a dot",
  remove: (name: string) => `Remove ${name} from the list`,
});
