// MiniSearch as a memory over the command bridge: one JSON object a line on standard input, its answer on standard output.
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import MiniSearch from "minisearch";

const { version } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.resolve("minisearch"))));
const wordsOf = MiniSearch.getDefault("tokenize");
const pools = new Map();

const calls = {
  describe: () => ({ name: "minisearch", version, backend: "BM25+", settings: {}, ephemeral: true }),

  open({ pool }) {
    pools.set(pool, new MiniSearch({ fields: ["text"] }));
    return {};
  },

  write({ pool, units }) {
    const index = pools.get(pool);
    const receipts = units.map(({ id, text }) => {
      if (!wordsOf(text).some((word) => word)) return { status: "refused", reason: "no word in it" };
      index.add({ id, text });
      return { status: "stored" };
    });
    return { receipts };
  },

  search({ pool, query, limit }) {
    const found = pools.get(pool).search(query).slice(0, limit);
    return { hits: found.map(({ id, score }) => ({ unit: id, score })) };
  },

  close({ pool }) {
    pools.delete(pool);
    return {};
  },
};

for await (const line of createInterface({ input: process.stdin })) {
  const { id, call, ...asked } = JSON.parse(line);
  let answer;
  try {
    answer = { id, result: calls[call](asked) };
  } catch (error) {
    answer = { id, error: String(error) };
  }
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}
