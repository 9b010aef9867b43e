/** Copies text; false where the browser does not let a page do so. */
export async function copy(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // Pages of other machines without TLS have no clipboard, but may copy what is selected.
    const area = document.createElement("textarea");
    area.value = text;
    area.readOnly = true;
    area.className = "hidden";
    const host = document.querySelector("dialog[open]") ?? document.body;
    const focused = document.activeElement;
    host.append(area);
    area.select();
    const isDone = document.execCommand("copy");
    area.remove();
    if (focused instanceof HTMLElement) focused.focus();
    return isDone;
  }
}
