// SPDX-License-Identifier: Apache-2.0
// How it feels: nothing jumps, the focus is always seen, everything is reached by keys, and fingers
// find what a pointer finds.
import { act, composer, expect, messages, type Page, PHONE, test } from './lib';

/** Counts what moved without anybody having done something. */
const countShifts = () => {
  const all: { value: number; what: string }[] = [];
  Object.assign(window, { shifts: all });
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries() as (PerformanceEntry & {
      value: number;
      hadRecentInput: boolean;
      sources: { node?: Node }[];
    })[])
      if (!entry.hadRecentInput)
        all.push({ value: entry.value, what: entry.sources.map(({ node }) => (node as Element | null)?.className).join(', ') });
  }).observe({ type: 'layout-shift', buffered: true });
};
const shifts = (page: Page) => page.evaluate(() => (window as unknown as { shifts: { value: number; what: string }[] }).shifts);

test('nothing jumps when a view opens, nor while an answer comes', async ({ another, api }) => {
  const context = await another();
  await context.addInitScript(countShifts);
  const page = await context.newPage();
  const id = await api.chat('Steady', Array.from({ length: 60 }, (_, i) => `Line ${i}\n\n- one\n- two`), { tags: ['plan', 'travel'] });
  const fork = await api.post(`sessions/${id}/fork`, { title: 'Fork' });
  await api.post(`sessions/${fork.id}/entries`, { entries: [{ role: 'user', text: 'on', usage: undefined }] });
  const calm = async (view: string) => {
    const moved = await shifts(page);
    expect(moved.reduce((sum, each) => sum + each.value, 0), `${view}: ${JSON.stringify(moved)}`).toBeLessThan(0.02);
  };
  await page.goto(`/chat/${id}`);
  await expect(messages(page).last()).toContainText('Line 59');
  await expect(page.getByRole('link', { name: 'Steady' })).toBeVisible();
  await calm('chat');
  await api.post(`sessions/${id}/messages`, { text: '/slow 10\n/count 60' });
  await expect(messages(page).last()).toContainText('59 60');
  await calm('an answer that somebody else asked for');
  await page.goto(`/timeline/${id}`);
  await expect(page.getByRole('list', { name: 'Chats and branches' }).getByRole('listitem')).toHaveCount(2);
  await calm('timeline');
  await page.goto(`/compare?side=${id}&side=${fork.id}`);
  await expect(page.getByRole('columnheader')).toHaveCount(2);
  await calm('compare');
});

test('Tab reaches everything in the page, and the focus is always seen', async ({ page, api }) => {
  const id = await api.chat('Round', ['one', 'two'], { tags: ['plan'] });
  const { entries } = await api.get(`sessions/${id}/entries`);
  await api.post(`sessions/${id}/edit`, { entry_id: entries[1].id, text: 'two, again' });
  await page.goto(`/chat/${id}`);
  await expect(messages(page)).toHaveCount(2);
  await composer(page).fill('so that it can be sent');
  await page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur());
  const seen = new Set<string>();
  const hidden: string[] = [];
  for (let i = 0; i < 60; i++) {
    await page.keyboard.press('Tab');
    const at = await page.evaluate(() => {
      const one = document.activeElement as HTMLElement | null;
      if (!one || one === document.body) return null;
      const rings = (e: Element | null, far: number): boolean => {
        if (!e || far > 2) return false;
        const style = getComputedStyle(e);
        const ring = style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) > 0;
        return ring || (e.matches(':focus-within') && far > 0 && style.boxShadow !== 'none') || rings(e.parentElement, far + 1);
      };
      const name = one.getAttribute('aria-label') ?? one.textContent?.trim() ?? '';
      return { name: name || one.tagName, seen: rings(one, 0) && Number(getComputedStyle(one).opacity) > 0.4 };
    });
    if (!at) break;
    seen.add(at.name);
    if (!at.seen) hidden.push(at.name);
  }
  expect(hidden).toEqual([]);
  for (const name of [
    'New chat', 'Search', 'List', 'Filter', 'Round', 'Chat actions', 'Settings', 'Hide the sidebar', 'Tags', 'Compare', 'Timeline',
    'Share', 'Moves', 'Message actions', 'Previous version', 'Version 2 of 2', 'Message', 'Attach files', 'Ask several agents',
    'Agent: echo', 'Send',
  ])
    expect([...seen]).toContain(name);
});

test('the menu of a message by keys: Shift+F10, arrows, Enter, and Esc gives the focus back', async ({ page, api }) => {
  const id = await api.chat('Keys', ['one', 'two', 'three', 'four']);
  await page.goto(`/chat/${id}`);
  await messages(page).nth(1).focus();
  await page.keyboard.press('Shift+F10');
  await expect(page.getByRole('menuitem', { name: 'Copy', exact: true })).toBeFocused();
  await page.keyboard.press('Escape');
  await expect(page.getByRole('menu')).toHaveCount(0);
  await expect(messages(page).nth(1)).toBeFocused();
  await page.keyboard.press('Shift+F10');
  await page.keyboard.press('ArrowDown');
  await expect(page.getByRole('menuitem', { name: 'Edit', exact: true })).toBeFocused();
  await page.keyboard.press('Enter');
  await expect(page.getByRole('textbox', { name: 'Edit message' })).toHaveValue('two');
});

test('on a phone each message has its menu in sight, and a tap does all of it', async ({ another, api }) => {
  const id = await api.chat('Pocket', ['one', 'two', 'three', 'four']);
  const page = await (await another(PHONE)).newPage();
  await page.goto(`/chat/${id}`);
  await expect(messages(page)).toHaveCount(4);
  for (const each of await messages(page).getByRole('button', { name: 'Message actions' }).all()) await expect(each).toHaveCSS('opacity', '1');
  const dots = messages(page).nth(1).getByRole('button', { name: 'Message actions' });
  expect((await dots.boundingBox())!.height).toBeGreaterThanOrEqual(32);
  await dots.tap();
  await page.getByRole('menuitem', { name: 'Rewind to here' }).tap();
  await expect(messages(page).locator('.chat-body')).toHaveText(['one', 'two']);
  await page.getByRole('button', { name: 'Undo', exact: true }).tap();
  await expect(messages(page)).toHaveCount(4);
});

test('on a wide screen lines stay readable, and nothing is lost at the edges', async ({ another, api }) => {
  const id = await api.chat('Wide', ['one', 'word '.repeat(400)]);
  const page = await (await another({ viewport: { width: 2560, height: 1300 } })).newPage();
  await page.goto(`/chat/${id}`);
  const answer = messages(page).nth(1);
  await expect(answer).toContainText('word');
  expect((await answer.boundingBox())!.width).toBeLessThan(900);
  await act(page, messages(page).nth(0), 'Copy');
  expect(await page.evaluate(() => document.scrollingElement!.scrollWidth)).toBeLessThanOrEqual(2560);
});
