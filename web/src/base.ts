// Where the page is: at the root of its host, or below a path, where a proxy has the server. Its script is in the folder `assets` there.

const script = globalThis.document?.querySelector<HTMLScriptElement>('script[src*="assets/"]');

/** What goes before every path of the server: nothing, or such as `/lamp`. */
export const base = script ? new URL("..", script.src).pathname.slice(0, -1) : "";

/** The address of the server, as a reader of the page writes it elsewhere. */
export const home = `${globalThis.location?.origin}${base}`;
