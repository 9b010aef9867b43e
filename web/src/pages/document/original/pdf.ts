// PDF files by PDF.js: loaded when a PDF is looked at, and never else. Nothing of a file runs, and nothing is fetched for it.

import { getDocument, GlobalWorkerOptions, type PDFDocumentProxy, type PDFPageProxy } from "pdfjs-dist";
import workerUrl from "pdfjs-dist/build/pdf.worker.min.mjs?url";

GlobalWorkerOptions.workerSrc = new URL(workerUrl, import.meta.url).href;

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
  const task = getDocument({ data: bytes, isEvalSupported: false, useWasm: false, verbosity: 0 });
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
