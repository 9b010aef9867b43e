// PDF files by PDF.js: loaded when a PDF is looked at, and never else. Nothing of a file runs, and nothing is fetched for it.

import { getDocument, GlobalWorkerOptions, type PDFDocumentProxy, type PDFPageProxy } from "pdfjs-dist";
import workerUrl from "pdfjs-dist/build/pdf.worker.min.mjs?url";

GlobalWorkerOptions.workerSrc = new URL(workerUrl, import.meta.url).href;

/** What texts in Chinese, Japanese and Korean are encoded by where a file does not say it itself. */
const ENCODINGS = import.meta.glob<string>(
  [
    "../../../../node_modules/pdfjs-dist/cmaps/Uni{GB,CNS,JIS,KS}-{UCS2,UTF16}-{H,V}.bcmap",
    "../../../../node_modules/pdfjs-dist/cmaps/GBK-EUC-{H,V}.bcmap",
    "../../../../node_modules/pdfjs-dist/cmaps/Adobe-*-UCS2.bcmap",
  ],
  { query: "?url", import: "default", eager: true },
);

/** Fetches such an encoding from this server. */
class Encodings {
  async fetch({ filename }: { filename: string }): Promise<Uint8Array> {
    const path = Object.keys(ENCODINGS).find((path) => path.endsWith(`/${filename}`));
    if (path === undefined) throw new Error(`no \`${filename}\` here`);
    const answer = await fetch(new URL(ENCODINGS[path]!, import.meta.url));
    return new Uint8Array(await answer.arrayBuffer());
  }
}

/** A text of a page: where it stands in pixels of the drawn page, and what it is. */
export interface Placed {
  text: string;
  left: number;
  top: number;
  width: number;
  height: number;
}

export interface Pdf {
  pages: number;
  /** Height of the first page by its width. */
  shape: number;
  page: (number: number) => Promise<PDFPageProxy>;
  close: () => Promise<void>;
}

export async function openPdf(bytes: ArrayBuffer): Promise<Pdf> {
  // Programs in a file and modules in WebAssembly are what the policy of the page forbids.
  const task = getDocument({
    data: bytes,
    isEvalSupported: false,
    useWasm: false,
    verbosity: 0,
    BinaryDataFactory: Encodings,
  });
  const pdf: PDFDocumentProxy = await task.promise;
  const { width, height } = (await pdf.getPage(1)).getViewport({ scale: 1 });
  return {
    pages: pdf.numPages,
    shape: height / width,
    page: (number) => pdf.getPage(number),
    close: () => task.destroy(),
  };
}

/** The texts of a page as it is drawn in this width, in the order of the file. */
export async function textsOf(page: PDFPageProxy, width: number): Promise<Placed[]> {
  const scale = width / page.getViewport({ scale: 1 }).width;
  const { transform } = page.getViewport({ scale });
  const [a, b, c, d, e, f] = transform as [number, number, number, number, number, number];
  const { items } = await page.getTextContent();
  return items.flatMap((item) => {
    if (!("str" in item) || !item.str) return [];
    const [, , skew, tall, x, y] = item.transform as [number, number, number, number, number, number];
    const height = Math.hypot(a * skew + c * tall, b * skew + d * tall) || item.height * scale;
    return [
      {
        text: item.str,
        left: a * x + c * y + e,
        top: b * x + d * y + f - height,
        width: item.width * scale,
        height: height * 1.15,
      },
    ];
  });
}
