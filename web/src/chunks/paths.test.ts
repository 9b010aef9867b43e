import assert from "node:assert/strict";
import { test } from "node:test";
import { pathsWith } from "./paths.ts";

test("letters have any case, and characters of patterns stand for themselves", () => {
  assert.equal(pathsWith("en/Я"), "{**/*[eE][nN]/[яЯ]*,**/*[eE][nN]/[яЯ]*/**}");
  assert.equal(pathsWith("课,{1}*"), "{**/*课\\,\\{1\\}\\**,**/*课\\,\\{1\\}\\**/**}");
});
