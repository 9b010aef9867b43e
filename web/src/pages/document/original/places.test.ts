import assert from "node:assert/strict";
import { test } from "node:test";
import { placesIn } from "./places.ts";

const check = (text: string, content: string, near: number, expected: string[]) =>
  assert.deepEqual(
    placesIn(text, content, near).map(([from, to]) => text.slice(from, to)),
    expected,
  );

test("a chunk is found whatever blanks, case and marks are between its letters", () => {
  check("Before it.\nThe Ferry\nleaves at eight.\nAfter.", "## The ferry leaves at **eight**.", 0, [
    "The Ferry\nleaves at eight",
  ]);
  check("茶叶：绿茶 是不发酵的茶。红茶是全发酵的茶。", "红茶是全发酵的茶。", 0, ["红茶是全发酵的茶"]);
});

test("a hyphen that was undone does not end the place, and the words of others are not in it", () => {
  check("The harbour mas-\nter writes. Page 3", "The harbour master writes.", 0, ["The harbour mas-\nter writes"]);
});

test("of two equal places the expected one is taken", () => {
  const text = "the same sentence stands here. | something else in between the two | the same sentence stands here.";
  assert.equal(placesIn(text, "the same sentence stands here.", 0)[0]?.[0], 0);
  assert.equal(placesIn(text, "the same sentence stands here.", 1)[0]?.[0], text.lastIndexOf("the same"));
});

test("what does not stand there has no place", () => {
  check("nothing of it", "зимой печь топят", 0, []);
  check("", "text", 0, []);
  check("text", "—", 0, []);
});
