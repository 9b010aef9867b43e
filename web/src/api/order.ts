/** Which of two texts is first by their bytes, as the server orders ids: UTF-16 has another order behind U+FFFF. */
export function order(a: string, b: string): number {
  const [left, right] = [Array.from(a), Array.from(b)];
  let at = 0;
  while (at < left.length && left[at] === right[at]) at += 1;
  return (left[at]?.codePointAt(0) ?? -1) - (right[at]?.codePointAt(0) ?? -1);
}
