// Files that were dropped or chosen, folders with all that is in them, by their paths.

export interface Picked {
  path: string;
  file: File;
}

/** Whether a path is hidden, or lies in a folder that is: such as `.git/config`. */
export const isHidden = (path: string): boolean => path.split("/").some((part) => part.startsWith("."));

const fileOf = (entry: FileSystemFileEntry) => new Promise<File>((resolve, reject) => entry.file(resolve, reject));

/** Everything in a folder: its reader answers a part at a time. */
async function entriesOf(folder: FileSystemDirectoryEntry): Promise<FileSystemEntry[]> {
  const reader = folder.createReader();
  const all: FileSystemEntry[] = [];
  for (;;) {
    const some = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
    if (some.length === 0) return all;
    all.push(...some);
  }
}

/** What was dropped. The list of a drop is gone after the event, so that its entries are taken at once. */
export async function filesOf(transfer: DataTransfer): Promise<Picked[]> {
  const entries = Array.from(transfer.items, (item) => (item.kind === "file" ? item.webkitGetAsEntry?.() : null));
  const plain = Array.from(transfer.files);
  const picked: Picked[] = [];
  const walk = async (entry: FileSystemEntry): Promise<void> => {
    const path = entry.fullPath.replace(/^\/+/u, "");
    if (entry.isFile) picked.push({ path, file: await fileOf(entry as FileSystemFileEntry) });
    else if (!isHidden(path)) for (const inner of await entriesOf(entry as FileSystemDirectoryEntry)) await walk(inner);
  };
  if (entries.some(Boolean)) {
    for (const entry of entries) if (entry) await walk(entry);
  } else picked.push(...plain.map((file) => ({ path: file.name, file })));
  return picked.sort((a, b) => (a.path < b.path ? -1 : 1));
}

/** What was chosen in a dialog: of a folder with paths that begin with its name. */
export const chosenOf = (files: FileList | null): Picked[] =>
  Array.from(files ?? [], (file) => ({ path: file.webkitRelativePath || file.name, file }));

export interface Bounds {
  files: number;
  bytes: number;
}

/** How much is sent at once: little at first, for documents are answered for when they are stored, and embedding may take long. */
export const FIRST: Bounds = { files: 4, bytes: 256_000 };
const MOST: Bounds = { files: 32, bytes: 4_000_000 };

/** The next bounds, after a request that took so many milliseconds. */
export function adapt({ files, bytes }: Bounds, ms: number): Bounds {
  if (ms < 800) return { files: Math.min(MOST.files, files * 2), bytes: Math.min(MOST.bytes, bytes * 2) };
  if (ms > 4_000) return { files: Math.max(1, Math.floor(files / 2)), bytes: Math.max(64_000, Math.floor(bytes / 2)) };
  return { files, bytes };
}

/** How many of the files at the front go together; one at least. */
export function together(sizes: number[], { files, bytes }: Bounds): number {
  let [n, sum] = [0, 0];
  while (n < sizes.length && n < files && (n === 0 || sum + sizes[n]! <= bytes)) sum += sizes[n++]!;
  return n;
}
