// SPDX-License-Identifier: Apache-2.0
//
// shots.mjs: pictures of every view on a server of their own, of the sample conversation.
//
//   node tools/shots.mjs            those of docs/images, with build/ramet or the program that RAMET names
//   node tools/shots.mjs all DIR    every view, at a desk and on a phone, light and dark, into DIR
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { root, withServer } from './serve.mjs';

const every = process.argv[2] === 'all';
const out = every ? process.argv[3] : join(root, 'docs', 'images');
mkdirSync(out, { recursive: true });

const DESK = { viewport: { width: 1280, height: 800 } };
const PHONE = { viewport: { width: 375, height: 720 }, hasTouch: true, isMobile: true };
const CARDS = '/think The night train is cheaper, but the user wants to arrive early.\n/tool timetable {"from": "Madrid", "to": "Lisbon"}\n/plan Look up the timetable; Compare prices; Book a seat\nThe first bus leaves at **22:30**.';

/** Opens each view in turn; a step takes a page and leaves it as it is to be seen. */
const views = (at) => {
  const chat = `/chat/${at.root}`;
  const open = async (page, path) => {
    await page.goto(path);
    await page.getByRole('article').first().waitFor();
  };
  const press = (page, name) => page.getByRole('button', { name, exact: true }).first().click();
  const dots = async (page, n) => {
    await page.getByRole('article').nth(n).hover();
    await page.getByRole('article').nth(n).getByRole('button', { name: 'Message actions' }).click();
  };
  const side = async (page) => {
    const show = page.getByRole('button', { name: 'Show the sidebar' });
    if (await show.isVisible()) await show.click();
  };
  const leave = (page) => page.evaluate(() => document.activeElement?.blur());
  return {
    chat: async (page) => {
      await open(page, chat);
      if (page.viewportSize().width > 760) await page.getByRole('radio', { name: 'Tree' }).click();
    },
    cards: (page) => open(page, `/chat/${at.cards}`),
    menu: async (page) => {
      await open(page, chat);
      await dots(page, 3);
    },
    fork: async (page) => {
      await open(page, chat);
      await dots(page, 3);
      await page.getByRole('menuitem', { name: 'Fork chat from here' }).click();
      await page.getByText(/messages are kept/).waitFor();
    },
    edit: async (page) => {
      await open(page, chat);
      await dots(page, 2);
      await page.getByRole('menuitem', { name: 'Edit', exact: true }).click();
    },
    versions: async (page) => {
      await open(page, chat);
      await press(page, 'Version 2 of 2');
      await page.getByText('regenerated').waitFor();
    },
    rewound: (page) => open(page, `/chat/${at.rewound}`),
    ephemeral: (page) => open(page, `/chat/${at.aside}`),
    tree: async (page) => {
      await open(page, chat);
      await side(page);
      await page.getByRole('radio', { name: 'Tree' }).click();
    },
    list: async (page) => {
      await open(page, chat);
      await side(page);
      await page.getByRole('radio', { name: 'List' }).click();
    },
    search: async (page) => {
      await open(page, chat);
      await side(page);
      await page.getByRole('searchbox', { name: 'Search' }).fill('bus');
      await page.getByRole('region', { name: 'Found' }).getByRole('link').first().waitFor();
    },
    tags: async (page) => {
      await open(page, chat);
      await press(page, 'Tags');
    },
    share: async (page) => {
      await open(page, chat);
      await press(page, 'Share');
      await press(page, 'Create link');
      await page.getByText('It is shown this once').waitFor();
    },
    moves: async (page) => {
      await open(page, chat);
      await press(page, 'Moves');
    },
    usage: async (page) => {
      await open(page, `/chat/${at.cards}`);
      const usage = page.getByRole('button', { name: /^Usage/ });
      if (await usage.isVisible()) await usage.click();
    },
    ask: async (page) => {
      await open(page, chat);
      await press(page, 'Ask several agents');
    },
    choose: async (page) => {
      await open(page, chat);
      await press(page, 'Compare');
    },
    compare: async (page) => {
      await page.goto(`/compare?side=${at.bus}&side=${at.children}`);
      await page.getByText('Which seat is best?').first().waitFor();
    },
    differences: async (page) => {
      await page.goto(`/compare?side=${at.bus}&side=${at.children}`);
      await page.getByRole('button', { name: 'Differences' }).click();
    },
    timeline: async (page) => {
      await page.goto(`/timeline/${at.root}`);
      const row = page.getByRole('list', { name: 'Chats and branches' }).getByRole('link', { name: 'By night bus' });
      await row.waitFor();
      if (page.viewportSize().width > 760 && every) await row.hover();
    },
    palette: async (page) => {
      await open(page, chat);
      await leave(page);
      await page.keyboard.press('Control+k');
      await page.getByRole('option').first().waitFor();
    },
    keys: async (page) => {
      await open(page, chat);
      await leave(page);
      await page.keyboard.press('?');
      await page.getByRole('dialog').waitFor();
    },
    delete: async (page) => {
      await open(page, chat);
      await side(page);
      await page.locator('[data-row]').last().hover();
      await page.locator('[data-row]').last().getByRole('button', { name: 'Chat actions' }).click();
      await page.getByRole('menuitem', { name: 'Delete' }).click();
      await page.getByRole('dialog').waitFor();
    },
    home: async (page) => {
      await page.goto('/');
      await page.getByText('Echo answers until').waitFor();
    },
    'empty-compare': async (page) => {
      await page.goto('/compare');
      await page.getByText('Nothing to compare yet').waitFor();
    },
    gone: async (page) => {
      await page.goto('/chat/nowhere');
      await page.getByText('This chat is not there').waitFor();
    },
    toast: async (page) => {
      await open(page, chat);
      await page.route('**/rewind', (route) => route.fulfill({ status: 500, json: { code: 'x', error: 'The disk is full. Nothing was changed.' } }));
      await dots(page, 1);
      await page.getByRole('menuitem', { name: 'Rewind to here' }).click();
      await page.getByText('The disk is full').waitFor();
    },
    offline: async (page) => {
      await open(page, chat);
      await page.context().setOffline(true);
      await page.getByText(/^Offline/).waitFor();
    },
  };
};

/** The sample of a first visit, and beside it what else there is to see. */
async function prepare({ url, browser, api }) {
  const page = await (await browser.newContext({ baseURL: url })).newPage();
  await page.goto('/');
  await page.getByRole('link', { name: 'Open the sample chat' }).waitFor();
  const { sessions } = await api('GET', 'sessions');
  const id = (title) => sessions.find((each) => each.title === title).id;
  const at = { root: id('A weekend in Lisbon'), bus: id('By night bus'), children: id('With two children') };
  if (every) {
    const made = await api('POST', 'sessions', { title: 'Booking the bus' });
    await api('POST', `sessions/${made.id}/messages`, { text: `${CARDS}\n` });
    await api('POST', `sessions/${made.id}/entries`, {
      entries: [{ role: 'assistant', text: 'It costs €35.', usage: { input: 1240, output: 310, cached: 900, cost: 0.0123, currency: 'EUR' } }],
    });
    void api('POST', `sessions/${made.id}/messages`, { text: '/permit May I pay €35 with the card on file?' }).catch(() => undefined);
    const back = await api('POST', `sessions/${at.bus}/fork`, { title: 'Another seat', reason: 'By the window' });
    const { entries } = await api('GET', `sessions/${back.id}/entries`);
    await api('POST', `sessions/${back.id}/rewind`, { at: { entry_id: entries[1].id } });
    const aside = await api('POST', `sessions/${at.bus}/fork`, { title: 'What is a poltrona?', ephemeral_seconds: 86400 });
    Object.assign(at, { cards: made.id, rewound: back.id, aside: aside.id });
  }
  return Object.fromEntries(Object.entries(at).map(([name, value]) => [name, encodeURIComponent(value)]));
}

await withServer(every ? ['--agent', 'gpt=echo', '--agent', 'claude=echo', '--default-agent', 'echo'] : [], async (here) => {
  const at = await prepare(here);
  const shoot = async (view, name, options) => {
    const context = await here.browser.newContext({ baseURL: here.url, reducedMotion: 'reduce', ...options });
    const page = await context.newPage();
    try {
      await views(at)[view](page);
      await page.waitForTimeout(every ? 300 : 700); // pictures and tooltips have settled
      await page.screenshot({ path: join(out, `${name}.png`) });
    } catch (error) {
      console.error(`${name}: ${String(error).split('\n')[0]}`);
    } finally {
      await context.close();
    }
  };
  if (!every) {
    for (const view of ['chat', 'compare', 'timeline', 'menu', 'search']) await shoot(view, view, DESK);
    await shoot('chat', 'dark', { ...DESK, colorScheme: 'dark' });
    await shoot('chat', 'phone', PHONE);
    return;
  }
  const wanted = process.argv.slice(4);
  for (const view of Object.keys(views(at)).filter((each) => wanted.length === 0 || wanted.includes(each)))
    for (const [where, options] of [['desk', DESK], ['phone', PHONE]])
      for (const colorScheme of where === 'desk' ? ['light', 'dark'] : ['light'])
        await shoot(view, `${view}-${where}-${colorScheme}`, { ...options, colorScheme });
});
