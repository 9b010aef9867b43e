// Prettier's printer of styles, but a rule that was written on one line stays on one line while it fits.

import { doc } from "prettier";
import * as postcss from "prettier/plugins/postcss";

const { parsers, printers } = postcss;
const { locStart, locEnd } = parsers.css;

/** Turns forced line breaks into breaks that are taken only where a line is too long. */
const soften = (part) =>
  part.type === "line" && part.hard ? doc.builders.line : part.type === "break-parent" ? "" : part;

function print(path, options, print) {
  const { node } = path;
  const printed = printers.postcss.print(path, options, print);
  if (node.type !== "css-rule" || options.originalText.slice(locStart(node), locEnd(node)).includes("\n"))
    return printed;
  return doc.builders.conditionalGroup([doc.utils.mapDoc(printed, soften), printed]);
}

export default { parsers, printers: { postcss: { ...printers.postcss, print } } };
