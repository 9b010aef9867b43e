import assert from "node:assert/strict";
import { test } from "node:test";
import { failedNow } from "./attention.ts";

const job = (id: number, state: "failed" | "succeeded" | "running" | "cancelled", of: string | null) => ({
  id,
  state,
  of,
});

test("a failure counts until a later job of its collection succeeds", () => {
  const jobs = [
    job(1, "failed", "a"),
    job(2, "failed", "b"),
    job(3, "succeeded", "b"),
    job(4, "failed", "a"),
    job(5, "running", "a"),
    job(6, "cancelled", "c"),
    job(7, "failed", null),
  ];
  assert.deepEqual(
    failedNow(jobs, ({ of }) => of).map(({ id }) => id),
    [7, 4],
  );
});
