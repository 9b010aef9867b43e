import assert from "node:assert/strict";
import { test } from "node:test";
import { adapt, FIRST, isHidden, together } from "./files.ts";

test("a hidden folder hides what is in it", () => {
  assert.equal(isHidden("docs/.git/config"), true);
  assert.equal(isHidden(".env"), true);
  assert.equal(isHidden("docs/guide.v1.md"), false);
});

test("files go together within the bounds, one at least", () => {
  assert.equal(together([1, 1, 1, 1, 1], { files: 4, bytes: 100 }), 4);
  assert.equal(together([60, 60, 1], { files: 4, bytes: 100 }), 1);
  assert.equal(together([900], { files: 4, bytes: 100 }), 1);
  assert.equal(together([], FIRST), 0);
});

test("quick answers make requests larger, slow ones smaller", () => {
  assert.deepEqual(adapt(FIRST, 100), { files: 8, bytes: 512_000 });
  assert.deepEqual(adapt(FIRST, 2_000), FIRST);
  assert.deepEqual(adapt({ files: 1, bytes: 64_000 }, 60_000), { files: 1, bytes: 64_000 });
});
