// SPDX-License-Identifier: Apache-2.0
//
// bench.mjs: how quick the page is, in a browser on this machine, as rows of docs/performance.md.
//
//   make web-bench            with build/ramet, or the program that RAMET names
//   ROUNDS=5 make web-bench   each time is measured so often (20), and the median told
import { withServer } from './serve.mjs';

const ROUNDS = Number(process.env.ROUNDS ?? 20);
const MESSAGES = 5000;
const CHATS = 10_000;

let failed = 0;
const row = (what, value, unit, bar) => {
  const fine = bar === undefined || value <= bar;
  if (!fine) failed++;
  const digits = value < 10 ? 1 : 0;
  console.log(`| ${what} | ${value.toFixed(digits)} ${unit} | ${bar === undefined ? '' : `≤ ${bar} ${unit}`} | ${bar === undefined ? '' : fine ? 'ok' : 'NOT'} |`);
};
const sorted = (list) => [...list].sort((a, b) => a - b);
const median = (list) => sorted(list)[Math.floor(list.length / 2)];
const p95 = (list) => sorted(list)[Math.min(list.length - 1, Math.floor(list.length * 0.95))];
const repeat = async (times, run) => {
  const list = [];
  for (let i = 0; i < times; i++) list.push(await run(i));
  return list;
};

const FRAMES = 300;
const sessions = new WeakMap();
/** Milliseconds of CPU that the process of a page has used. */
async function cpuOf(page) {
  if (!sessions.has(page)) {
    const made = await page.context().newCDPSession(page);
    await made.send('Performance.enable');
    sessions.set(page, made);
  }
  const { metrics } = await sessions.get(page).send('Performance.getMetrics');
  return metrics.find((each) => each.name === 'ProcessTime').value * 1000;
}

/** Runs in the page before anything of it: notes when the field can be typed into. */
const watch = () => {
  if (location.protocol === 'about:') return;
  localStorage.setItem('ramet.sample', 'none');
  const look = () => {
    const field = document.querySelector('textarea[data-composer]');
    if (field && !field.disabled && document.querySelector('.side-new')) window.ready = performance.now();
    else requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
};

async function firstLoad({ url, browser }) {
  const load = async (page) => {
    await page.goto('/');
    return page.evaluate(async () => {
      while (!window.ready) await new Promise((done) => requestAnimationFrame(done));
      const files = [...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')].filter(
        (each) => !new URL(each.name).pathname.startsWith('/ramet/'),
      );
      return { ready: window.ready, bytes: files.reduce((sum, each) => sum + each.encodedBodySize, 0) };
    });
  };
  const open = async (again) => {
    const context = await browser.newContext({ baseURL: url });
    await context.addInitScript(watch);
    const page = await context.newPage();
    const first = await load(page);
    const result = again ? await load(page) : first;
    await context.close();
    return result;
  };
  const cold = await repeat(ROUNDS, () => open(false));
  row('first load, compressed', cold[0].bytes / 1024, 'KB', 300);
  row('interactive, first visit, median', median(cold.map((each) => each.ready)), 'ms', 1000);
  row('interactive, first visit, p95', p95(cold.map((each) => each.ready)), 'ms');
  row('interactive, visited before, median', median((await repeat(ROUNDS, () => open(true))).map((each) => each.ready)), 'ms');
}

async function longChat({ url, browser, api }) {
  const { id } = await api('POST', 'sessions', { title: 'A long story' });
  for (let from = 0; from < MESSAGES; from += 1000)
    await api('POST', `sessions/${id}/entries`, {
      entries: Array.from({ length: 1000 }, (_, i) => ({
        role: i % 2 ? 'assistant' : 'user',
        text: `Line ${from + i}: **some** words, \`code\` and a list\n\n- one\n- two`,
      })),
    });
  const last = (await api('GET', `sessions/${id}/entries?tail=true&limit=1`)).entries[0];
  await api('POST', `sessions/${id}/edit`, { entry_id: last.id, text: 'told anew' });
  const context = await browser.newContext({ baseURL: url, viewport: { width: 1280, height: 800 } });
  const page = await context.newPage();
  await page.goto('/');
  const opened = await repeat(ROUNDS, async () => {
    await page.goto(`/chat/${id}`);
    return page.evaluate(async () => {
      while (!document.querySelector('article:last-of-type, article')) await new Promise((done) => requestAnimationFrame(done));
      return performance.now();
    });
  });
  row('chat of 5,000 messages opened, median', median(opened), 'ms');
  await page.getByText('told anew').waitFor();

  // From the click until the other version has been drawn.
  const before = await cpuOf(page);
  const picks = await repeat(ROUNDS * 2, () =>
    page.evaluate(async () => {
      const frame = () => new Promise((done) => requestAnimationFrame(done));
      const articles = () => [...document.querySelectorAll('article')];
      const count = () => articles().at(-1).querySelector('.chat-picker-count')?.textContent;
      const button = articles().at(-1).querySelector(`button[aria-label="${count() === '2/2' ? 'Previous' : 'Next'} version"]`);
      const before = count();
      const began = performance.now();
      button.click();
      while (!count() || count() === before) await frame();
      await frame();
      const took = performance.now() - began;
      while (articles().at(-1).querySelector('.chat-picker [aria-busy], .chat-picker:not(:has(button:enabled[aria-label$="version"]))')) await frame();
      await new Promise((done) => setTimeout(done, 50));
      return took;
    }),
  );
  const used = (await cpuOf(page)) - before;
  row('another version at 5,000 messages, median', median(picks), 'ms', 100);
  row('another version at 5,000 messages, p95', p95(picks), 'ms');
  row('another version at 5,000 messages, CPU of the page', used / picks.length, 'ms');
  await context.close();
}

async function greatTree({ url, browser, api }) {
  const { id } = await api('POST', 'sessions', { title: 'Great' });
  const { entries } = await api('POST', `sessions/${id}/entries`, {
    entries: Array.from({ length: 4 }, (_, i) => ({ role: i % 2 ? 'assistant' : 'user', text: `line ${i}` })),
  });
  const ids = [id];
  for (let made = 1; made < CHATS; ) {
    const some = Array.from({ length: Math.min(64, CHATS - made) }, (_, i) => made + i);
    const forks = await Promise.all(
      some.map((n) => api('POST', `sessions/${ids[(n * 7919) % ids.length]}/fork`, { title: `Fork ${n}`, at: { entry_id: entries[n % 4].id, side: 'after' } }).catch(() => api('POST', `sessions/${id}/fork`, { title: `Fork ${n}` }))),
    );
    ids.push(...forks.map((each) => each.id));
    made = ids.length;
  }
  // Every tenth has another branch.
  for (let n = 10; n < CHATS; n += 640)
    await Promise.all(
      Array.from({ length: 64 }, (_, i) => ids[n + i * 10])
        .filter(Boolean)
        .map((each) => api('POST', `sessions/${each}/entries/${entries[0].id}/edit`, { entry: { text: 'another beginning' } })),
    );
  const context = await browser.newContext({ baseURL: url, viewport: { width: 1280, height: 800 } });
  const page = await context.newPage();
  const opened = await repeat(3, async () => {
    await page.goto(`/timeline/${id}`);
    return page.evaluate(async () => {
      while (!document.querySelector('.timeline-row')) await new Promise((done) => requestAnimationFrame(done));
      return performance.now();
    });
  });
  row('timeline of 10,000 chats opened, median', median(opened), 'ms');
  /** CPU of the page for a frame, in the mean: that of a busy machine is the same, its frames are not. */
  const scroll = async (by) => {
    const before = await cpuOf(page);
    await page.evaluate(
      async ([step, frames]) => {
        const box = document.querySelector('.timeline-scroll');
        box.scrollTop = 0;
        for (let i = 0; i < frames; i++) {
          box.scrollTop += step;
          await new Promise((done) => requestAnimationFrame(done));
        }
      },
      [by, FRAMES],
    );
    return ((await cpuOf(page)) - before) / FRAMES;
  };
  row('... scrolled by 60 px a frame, CPU of the page a frame', await scroll(60), 'ms');
  row('... scrolled by 1,000 px a frame, CPU of the page a frame', await scroll(1000), 'ms');
  await page.getByRole('radio', { name: 'By time' }).click();
  row('... by time, 1,000 px a frame, CPU of the page a frame', await scroll(1000), 'ms');
  await context.close();
}

await withServer([], async (here) => {
  console.log('| what | measured | bar | |\n|---|---|---|---|');
  await firstLoad(here);
  await longChat(here);
  await greatTree(here);
});
process.exitCode = failed ? 1 : 0;
