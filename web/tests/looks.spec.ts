// SPDX-License-Identifier: Apache-2.0
// Every view is looked at by axe, in light and dark, and fits a phone: nothing serious, nothing that
// sticks out, nothing too small for a finger.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { act, composer, expect, messages, PHONE, test, type Api, type Page } from './lib';

const MARKDOWN =
  'Words, `code` and a [link](https://example.org).\n\n```c\nint main(void) { return 0; }\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n- one\n- two';

async function family(api: Api) {
  const id = await api.chat(
    'A chat with a rather long title that does not fit into a narrow column',
    ['What is it?', MARKDOWN, 'And then?', 'a3'],
    {
      tags: ['plan', 'travel'],
    },
  );
  const { entries } = await api.get(`sessions/${id}/entries`);
  await api.post(`sessions/${id}/edit`, { entry_id: entries[3].id, text: 'a3 anew' });
  const fork = await api.post(`sessions/${id}/fork`, {
    at: { entry_id: entries[1].id, side: 'after' },
    title: 'Fork',
    tags: ['cheap'],
  });
  await api.post(`sessions/${fork.id}/entries`, {
    entries: [
      { role: 'user', text: 'What else?' },
      { role: 'assistant', text: 'Nothing.' },
    ],
  });
  await api.post(`sessions/${fork.id}/fork`, { title: 'Side question', ephemeral_seconds: 3600 });
  return { id, fork: fork.id as string };
}

const LEVELS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'best-practice'];
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

interface Found {
  violations: { id: string; impact: string; nodes: { target: string[]; failureSummary: string }[] }[];
}

/** What axe finds in a part of the page; another scheme changes colours and nothing else. */
async function inspect(page: Page, part: string, run: object): Promise<string[]> {
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(AXE);
  const { violations } = await page.evaluate(
    ([where, only]) => (window as unknown as { axe: { run(where: string, how: object): Promise<Found> } }).axe.run(where, only),
    [part, { resultTypes: ['violations'], preload: false, ...run }] as const,
  );
  return violations
    .filter((each) => each.impact === 'serious' || each.impact === 'critical')
    .map((each) => `${each.id}: ${each.nodes.map((node) => `${node.target.join(' ')} ${node.failureSummary}`).join('; ')}`);
}

async function sound(page: Page, view: string, part: string) {
  expect.soft(await inspect(page, part, { runOnly: LEVELS }), view).toEqual([]);
  await page.emulateMedia({ colorScheme: 'dark' });
  expect.soft(await inspect(page, part, { runOnly: { type: 'rule', values: ['color-contrast'] } }), `${view}, dark`).toEqual([]);
  await page.emulateMedia({ colorScheme: 'light' });
}

/** Opens every view and dialog, and calls for each of them with the part that is new. */
async function walk(page: Page, api: Api, look: (view: string, part: string) => Promise<void>) {
  const { id, fork } = await family(api);
  const phone = page.viewportSize()!.width < 500;
  const BOX = '[role="dialog"]';
  const close = async () => {
    await page.keyboard.press('Escape');
    await expect(page.locator('[role="dialog"], [role="menu"]')).toHaveCount(0);
  };
  const blur = () => page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur());
  const sidebar = async () => {
    if (phone) await page.getByRole('button', { name: 'Show the sidebar' }).click();
  };
  await page.goto(`/chat/${id}`);
  await expect(messages(page)).toHaveCount(4);
  await look('chat', 'body');
  await messages(page).last().hover();
  await messages(page).last().getByRole('button', { name: 'Message actions' }).click();
  await expect(page.getByRole('menu')).toBeVisible();
  await look('menu', '[role="menu"]');
  await page.getByRole('menuitem', { name: 'Fork chat from here' }).click();
  await expect(page.getByRole('dialog', { name: 'Fork chat' })).toContainText('messages are kept');
  await look('fork dialog', BOX);
  await close();
  for (const name of ['Tags', 'Compare', 'Share', 'Moves', 'Ask several agents', 'Version 2 of 2']) {
    await page.getByRole('button', { name, exact: true }).first().click();
    await expect(page.locator(BOX)).toBeVisible();
    await expect(page.locator(BOX).locator('.ui-spinner')).toHaveCount(0);
    await look(name, BOX);
    await close();
  }
  await blur();
  await page.keyboard.press('?');
  await expect(page.getByRole('dialog')).toBeVisible();
  await page.getByRole('button', { name: 'Change keys' }).click();
  await look('keys', BOX);
  await close();
  await page.keyboard.press('Control+k');
  await expect(page.getByRole('option').first()).toBeVisible();
  await look('palette', BOX);
  await close();
  await act(page, messages(page).nth(2), 'Edit');
  await expect(page.getByRole('textbox', { name: 'Edit message' })).toBeVisible();
  await look('editing', 'article.chat-editing');
  await page.keyboard.press('Escape');
  await act(page, messages(page).nth(1), 'Rewind to here');
  await expect(page.getByText('2 later messages set aside')).toBeVisible();
  await look('rewound', '.chat-aside');
  await page.getByRole('button', { name: 'Undo', exact: true }).click();
  await expect(messages(page)).toHaveCount(4);

  await sidebar();
  await page.getByRole('radio', { name: 'Tree' }).click();
  await expect(page.getByRole('treeitem').first()).toBeVisible();
  await look('tree', 'aside');
  await page.locator('[data-row]').first().hover();
  await page.locator('[data-row]').first().getByRole('button', { name: 'Chat actions' }).click();
  await page.getByRole('menuitem', { name: 'Delete' }).click();
  await expect(page.getByRole('dialog', { name: 'Delete chat' })).toContainText('goes');
  await look('delete', BOX);
  await close();
  await page.getByRole('searchbox', { name: 'Search' }).fill('what');
  await expect(page.getByRole('region', { name: 'Found' }).getByRole('link').first()).toBeVisible();
  await look('search', 'aside');

  await page.goto('/');
  await expect(page.getByText('Echo answers until')).toBeVisible();
  await look('home', 'main');
  await composer(page).fill('/think so\n/tool look {"a": 1}\n/plan one; two\n/permit May I?');
  await page.keyboard.press('Enter');
  await expect(page.getByRole('region', { name: 'Question' })).toBeVisible();
  await look('cards', '[role="log"]');
  await page.context().setOffline(true);
  await expect(page.getByText(/^Offline/)).toBeVisible();
  await look('offline', '.chat-bar');
  await page.context().setOffline(false);
  await expect(page.getByText(/^Offline/)).toHaveCount(0);
  await page.getByRole('button', { name: 'Stop', exact: true }).click();
  await page.route('**/feedback', (route) => route.fulfill({ status: 500, json: { code: 'x', error: 'The disk is full.' } }));
  await expect(page.getByRole('note').getByText('Stopped')).toBeVisible();
  await act(page, messages(page).last(), 'Helpful');
  await expect(page.getByText('The disk is full.')).toBeVisible();
  await look('an action that failed', '.ui-toasts');

  await page.goto(`/timeline/${id}`);
  await expect(page.getByRole('listitem').first()).toBeVisible();
  await look('timeline', 'main');
  await page.goto(`/compare?side=${id}&side=${fork}`);
  await expect(page.getByRole('columnheader')).toHaveCount(2);
  await page.getByRole('button', { name: 'Differences' }).click();
  await look('compare', 'main');
}

test('axe finds nothing serious in any view, light or dark', async ({ page, api, allow }) => {
  test.slow();
  allow(/ERR_INTERNET_DISCONNECTED|500|Failed to load resource/);
  await page.emulateMedia({ colorScheme: 'light' });
  await walk(page, api, (view, part) => sound(page, view, part));
});

test('on a phone nothing sticks out, and fingers find their way', async ({ another, api, allow }) => {
  test.slow();
  allow(/ERR_INTERNET_DISCONNECTED|500|Failed to load resource/);
  const page = await (await another(PHONE)).newPage();
  await walk(page, api, async (view) => {
    const found = await page.evaluate(() => {
      const out: string[] = [];
      if (document.scrollingElement!.scrollWidth > innerWidth)
        out.push(`the page is ${document.scrollingElement!.scrollWidth} px wide`);
      for (const element of document.querySelectorAll<HTMLElement>('button, a[href], input, select, textarea')) {
        if (!element.checkVisibility({ visibilityProperty: true }) || element.closest('[inert]')) continue;
        const box = element.getBoundingClientRect();
        if (box.width === 0 || element.closest('.md, .compare-scroll, .sr-only')) continue;
        const name = element.getAttribute('aria-label') ?? element.textContent?.slice(0, 30) ?? element.tagName;
        if (box.left < -1 || box.right > innerWidth + 1)
          out.push(`${name} sticks out: ${Math.round(box.left)}..${Math.round(box.right)}`);
        if (element.tagName === 'BUTTON' && (box.height < 24 || box.width < 24))
          out.push(`${name} is ${Math.round(box.width)}x${Math.round(box.height)}`);
      }
      return out;
    });
    expect.soft(found, view).toEqual([]);
  });
});
