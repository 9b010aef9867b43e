// More collections than a page lists: counted, sorted, found and chosen over all of them.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { accessible, close, open, serve, settled } from "./helper.mjs";

const NUMBER = 130;
const nameOf = (at) => `team-${String(at).padStart(3, "0")}-notes`;

let server;
before(async () => {
  server = await serve({ collections: [], flags: ["--embedder", "none"] });
  for (let at = 0; at < NUMBER; at += 1) {
    const documents = Array.from({ length: at === 117 ? 5 : 1 }, (_, number) => ({
      doc_id: `${number}.md`,
      text: `# Lamp ${at}\n\nThe lamp of team ${at}, its wire ${number} and its switch.\n`,
    }));
    const answer = await fetch(`${server.api}/api/v1/collections/${nameOf(at)}/documents`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ documents }),
    });
    assert.equal(answer.status, 201);
  }
});
after(async () => {
  await close();
  await server?.stop();
});

test("all collections are counted and sorted, and a part of a name finds one that is not on the first page", async () => {
  const page = await open(`${server.url}/`);
  await page.getByText("130 collections").waitFor();
  await page.getByText("100 of 130 shown").waitFor();
  assert.equal(await page.getByRole("row").count(), 101);
  await page.getByRole("button", { name: "Documents" }).click();
  await page.getByRole("button", { name: "Documents" }).click();
  await page.waitForURL(/sort=-documents/u);
  await page
    .getByRole("row")
    .nth(1)
    .getByRole("link", { name: nameOf(117) })
    .waitFor();
  await page.getByRole("searchbox").fill("129-N");
  await page.getByText("1 collection", { exact: true }).waitFor();
  await page.getByRole("link", { name: nameOf(129) }).waitFor();
  await accessible(page);
  await page.reload();
  await page.getByRole("link", { name: nameOf(129) }).waitFor();
  await page.getByRole("searchbox").fill("nothing");
  await page.getByText("No collection has this in its name.").waitFor();
  await page.getByRole("searchbox").fill("");
  await page.getByRole("button", { name: "Show more" }).click();
  await page.waitForFunction(() => document.querySelectorAll("tbody tr").length === 130);
  await settled(page);
});

test("a search of all says how many were searched, and one collection is chosen by a part of its name", async () => {
  const page = await open(`${server.url}/search?q=wire%20of%20a%20lamp`);
  await page.getByText("130 collections searched").click();
  await page.getByText("100 of 130 shown").waitFor();
  await page.getByRole("button", { name: "Collections: All collections" }).click();
  const panel = page.getByRole("group", { name: "Collections" });
  await panel.getByText("50 of 130 shown; type a part of its name").waitFor();
  await panel.getByRole("searchbox").fill("117");
  await panel.getByRole("checkbox", { name: nameOf(117) }).check();
  await page.waitForURL(/c=team-117-notes/u);
  await panel.getByRole("searchbox").fill("042");
  await panel.getByRole("checkbox", { name: nameOf(42) }).waitFor();
  assert.equal(await panel.getByRole("checkbox", { name: nameOf(117) }).isChecked(), true);
  await accessible(page);
  await settled(page);
});

/** Chooses a collection by a part of its name. */
async function choose(scope, part, name) {
  const page = scope.page();
  // Until it is known that there are many, it is a list that is disabled.
  await scope.and(page.locator("input")).fill(part);
  await page.getByRole("option", { name, exact: true }).waitFor();
  await accessible(page);
  await scope.press("Enter");
  await page.waitForFunction(([element, name]) => element.value === name, [await scope.elementHandle(), name]);
}

test("every other picker finds a collection by a part of its name", async () => {
  const page = await open(`${server.url}/try`);
  await choose(page.getByRole("combobox", { name: "Collection" }), "117", nameOf(117));
  await page.getByRole("button", { name: /4\.md/u }).waitFor();
  await page.goto(`${server.url}/jobs`);
  await choose(page.getByRole("combobox", { name: "Collection" }), "117", nameOf(117));
  await page.waitForURL(/collection=team-117-notes/u);
  await page.getByRole("button", { name: "New job" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByText("Cut again").click();
  await choose(dialog.getByRole("combobox", { name: "Collection" }), "129", nameOf(129));
  await page.goto(`${server.url}/upload`);
  const field = page.getByRole("combobox", { name: "Collection" });
  await field.fill("128");
  await page.getByText("A new collection is made.").waitFor();
  await page.getByRole("option", { name: nameOf(128) }).click();
  await page.getByText("A new collection is made.").waitFor({ state: "detached" });
  assert.equal(await field.inputValue(), nameOf(128));
  await page.goto(`${server.url}/search?q=lamp&view=questions`);
  await choose(page.getByRole("combobox", { name: "Collection" }), "117", nameOf(117));
  await page.waitForURL(/of=team-117-notes/u);
  await page.goto(`${server.url}/search?q=lamp&view=agent`);
  await choose(page.getByRole("combobox", { name: "Collection" }), "117", nameOf(117));
  await page.waitForURL(/agent=team-117-notes/u);
  await settled(page);
});

test("the command palette finds a collection that is on no first page", async () => {
  const page = await open(`${server.url}/`);
  await page.getByText("130 collections").waitFor();
  await page.keyboard.press("Control+k");
  const field = page.getByRole("combobox");
  await field.fill("notes 128");
  await page.getByRole("option", { name: nameOf(128) }).waitFor();
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { level: 1, name: nameOf(128) }).waitFor();
  await settled(page);
});
