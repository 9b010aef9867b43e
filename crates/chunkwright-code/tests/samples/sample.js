#!/usr/bin/env node
// Заметки: a small queue of jobs.
'use strict';

import fs, { readFile as read } from 'node:fs';
import * as path from 'node:path';
import './polyfill.js';
const events = require('node:events');
export * from './types.js';

const LIMIT = 3;
const names = {
  greet() { return 'привет'; },
  part: function (word) { return word; },
  size: 2,
};

/** Waits some milliseconds. */
export const sleep = (ms) => new Promise((done) => setTimeout(done, ms));

/**
 * Runs jobs, a few at a time.
 */
export default class Queue extends events.EventEmitter {
  static #made = 0;
  limit = LIMIT;
  onDone = () => {
    this.limit += 1;
  };

  constructor(limit) {
    super();
    this.limit = limit;
  }

  get size() { return this.jobs.length; }

  set size(n) { this.jobs.length = n; }

  static async of(...jobs) {
    return new Queue(jobs.length);
  }

  /** Takes a job out. */
  *drain() {
    yield* this.jobs;
  }
}

function* ids() {
  let id = 0;
  while (true) yield id++;
}

/** Loads a file of jobs. */
async function load(file) {
  const parse = (text) => JSON.parse(text);
  function check(jobs) {
    return jobs.length > 0;
  }
  return check(parse(await read(file)));
}

Queue.prototype.clear = function () {
  this.jobs = [];
};

exports.load = load;
module.exports.ids = function () {
  return ids();
};

const Job = class {
  run() {}
};

if (process.env.DEBUG) {
  function debug(text) {
    console.error(text);
  }
}

(function () {
  function start() {}
  start();
})();

describe('Queue', () => {
  it('runs', async () => {
    await sleep(1);
  });
});

export { ids, load as open };
