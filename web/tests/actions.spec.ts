// SPDX-License-Identifier: Apache-2.0
//
// actions.spec.ts: each item of a message's menu, by three dots, right click and keys.
import { act, answered, composer, expect, messages, say, test } from './lib';

const items = (page: import('./lib').Page) => page.getByRole('menuitem');

test('the items are those that make sense on the message', async ({ page, api }) => {
  const id = await api.chat('Menus', []);
  await api.post(`sessions/${id}/entries`, {
    entries: [
      { role: 'system', text: 'Be brief.' },
      { role: 'user', text: 'one' },
      { role: 'assistant', parts: [{ type: 'tool_call', id: 'c1', name: 'look', input: {} }] },
      { role: 'tool', parts: [{ type: 'tool_result', id: 'c1', output: 'seen' }] },
      { role: 'assistant', text: 'two' },
      { role: 'user', text: 'three' },
    ],
  });
  await page.goto(`/chat/${id}`);
  const open = async (n: number) => {
    await messages(page).nth(n).hover();
    await messages(page).nth(n).getByRole('button', { name: 'Message actions' }).click();
    const names = (await items(page).allTextContents()).map((text) => text.replace(/[^A-Za-z ].*$/, '').trim());
    await page.keyboard.press('Escape');
    return names.map((name) => name.replace(/(Copy|Edit|Regenerate|here)[A-Z]?$/, '$1').trim());
  };
  expect(await open(0)).toEqual(['Copy']);
  expect(await open(3)).toEqual(['Copy']);
  const user = await open(1);
  expect(user).not.toContain('Regenerate');
  expect(user).not.toContain('Helpful');
  for (const n of [1, 4]) {
    await messages(page).nth(n).hover();
    await messages(page).nth(n).getByRole('button', { name: 'Message actions' }).click();
    for (const name of ['Copy', 'Edit', 'Fork chat from here', 'Rewind to here'])
      await expect(page.getByRole('menuitem', { name, exact: true })).toBeVisible();
    await expect(page.getByRole('menuitem', { name: 'Regenerate', exact: true })).toHaveCount(n === 4 ? 1 : 0);
    await expect(page.getByRole('menuitem', { name: 'Helpful', exact: true })).toHaveCount(n === 4 ? 1 : 0);
    await expect(page.getByRole('menuitem', { name: 'Not helpful', exact: true })).toHaveCount(n === 4 ? 1 : 0);
    await page.keyboard.press('Escape');
  }
  // An unanswered message can be answered; nothing can be rewound to the first one.
  await act(page, messages(page).nth(5), 'Regenerate');
  await expect(messages(page)).toHaveCount(7);
  await expect(messages(page).last().locator('.chat-body')).toHaveText('three');
});

test('no rewind on the first message', async ({ page, api }) => {
  const id = await api.chat('First', ['one', 'two', 'three', 'four']);
  await page.goto(`/chat/${id}`);
  await messages(page).first().click({ button: 'right' });
  await expect(page.getByRole('menuitem', { name: 'Fork chat from here', exact: true })).toBeVisible();
  await expect(page.getByRole('menuitem', { name: 'Rewind to here', exact: true })).toHaveCount(0);
});

test('Copy, by the menu and by right click', async ({ page, api, context }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  const id = await api.chat('Copy', ['one', 'two *words*']);
  await page.goto(`/chat/${id}`);
  await act(page, messages(page).nth(1), 'Copy');
  await expect.poll(() => page.evaluate(() => navigator.clipboard.readText())).toBe('two *words*');
  await messages(page).nth(0).click({ button: 'right' });
  await page.getByRole('menuitem', { name: 'Copy', exact: true }).click();
  await expect.poll(() => page.evaluate(() => navigator.clipboard.readText())).toBe('one');
});

test('Edit on a user message: a new version, answered anew', async ({ page, api }) => {
  await page.goto('/');
  await say(page, 'first words');
  await say(page, 'and more');
  await act(page, messages(page).nth(0), 'Edit');
  const field = page.getByRole('textbox', { name: 'Edit message' });
  await expect(field).toBeFocused();
  await expect(field).toHaveValue('first words');
  await page.getByRole('button', { name: 'Cancel', exact: true }).click();
  await expect(field).toHaveCount(0);
  await act(page, messages(page).nth(0), 'Edit');
  await field.fill('other words');
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await expect(messages(page)).toHaveCount(2);
  await expect(messages(page).nth(0)).toContainText('other words');
  await expect(messages(page).nth(1)).toContainText('other words');
  await expect(messages(page).nth(0)).toContainText('2/2');
  await answered(page);
  const id = page.url().split('/').at(-1)!;
  expect(await api.texts(id)).toEqual(['other words', 'other words']);
});

test('Edit on an answer: a new version, and no run', async ({ page, api }) => {
  await page.goto('/');
  await say(page, 'hello');
  await act(page, messages(page).nth(1), 'Edit');
  await page.getByRole('textbox', { name: 'Edit message' }).fill('a better answer');
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await expect(messages(page).nth(1)).toContainText('a better answer');
  await expect(messages(page).nth(1)).toContainText('2/2');
  const id = page.url().split('/').at(-1)!;
  expect(await api.texts(id)).toEqual(['hello', 'a better answer']);
  expect((await api.get(`sessions/${id}/turns`)).turns).toHaveLength(1);
});

test('Regenerate, also by another agent; a turn with tools begins anew as a whole', async ({ page, api }) => {
  await page.goto('/');
  await composer(page).fill('/tool look {}\nseen');
  await page.keyboard.press('Enter');
  await expect(messages(page)).toHaveCount(4);
  await act(page, messages(page).nth(3), 'Regenerate');
  await expect(messages(page).nth(1)).toContainText('2/2');
  await expect(messages(page)).toHaveCount(4);
  await messages(page).nth(3).hover();
  await messages(page).nth(3).getByRole('button', { name: 'Message actions' }).click();
  await page.getByRole('menuitem', { name: 'Answer by' }).click();
  await page.getByRole('menuitem', { name: 'second' }).click();
  await expect(messages(page).nth(1)).toContainText('3/3');
  const id = page.url().split('/').at(-1)!;
  expect((await api.get(`sessions/${id}/turns`)).turns[0].agent).toBe('second');
});

test('fork while an answer streams: it goes on undisturbed', async ({ page, api }) => {
  await page.goto('/');
  await say(page, 'before');
  const id = page.url().split('/').at(-1)!;
  await composer(page).fill('/slow 40\n/count 80');
  await page.keyboard.press('Enter');
  await expect(messages(page).last()).toContainText('1 2 3');
  await act(page, messages(page).nth(1), 'Fork chat from here');
  await page.getByRole('dialog', { name: 'Fork chat' }).getByRole('button', { name: 'Fork', exact: true }).click();
  await expect(page).not.toHaveURL(new RegExp(id));
  await expect(messages(page).locator('.chat-body')).toHaveText(['before', 'before']);
  await say(page, 'on the side');
  await page.goBack();
  await answered(page);
  const numbers = Array.from({ length: 80 }, (_, i) => i + 1).join(' ');
  await expect(messages(page).last().locator('.chat-body')).toHaveText(numbers);
  expect((await api.texts(id)).at(-1)).toBe(numbers);
});

test('Helpful and Not helpful, kept over a reload and taken back', async ({ page }) => {
  await page.goto('/');
  await say(page, 'hi');
  await act(page, messages(page).nth(1), 'Helpful');
  await expect(page.getByRole('img', { name: 'You found this helpful' })).toBeVisible();
  await page.reload();
  await expect(page.getByRole('img', { name: 'You found this helpful' })).toBeVisible();
  await act(page, messages(page).nth(1), 'Not helpful');
  await expect(page.getByRole('img', { name: 'You did not find this helpful' })).toBeVisible();
  await act(page, messages(page).nth(1), 'Not helpful');
  await expect(page.getByRole('img', { name: 'You did not find this helpful' })).toHaveCount(0);
});

test('an action that failed says why, and can be tried again', async ({ page, api, allow }) => {
  allow(/rewind/);
  const id = await api.chat('Fails', ['one', 'two', 'three', 'four']);
  await page.goto(`/chat/${id}`);
  let fail = true;
  await page.route('**/rewind', (route) =>
    fail
      ? route.fulfill({ status: 500, contentType: 'application/json', body: '{"code":"oops","error":"the disk is on fire"}' })
      : route.fallback(),
  );
  allow(/500/);
  await act(page, messages(page).nth(1), 'Rewind to here');
  await expect(page.getByText('the disk is on fire')).toBeVisible();
  fail = false;
  await page.getByRole('button', { name: 'Try again' }).click();
  await expect(messages(page).locator('.chat-body')).toHaveText(['one', 'two']);
});

test('a click that is under way cannot be doubled', async ({ page, api }) => {
  const id = await api.chat('Once', ['one', 'two', 'three', 'four']);
  await page.goto(`/chat/${id}`);
  let asked = 0;
  let answer = () => {};
  const held = new Promise<void>((done) => (answer = done));
  await page.route('**/rewind', async (route) => {
    asked++;
    await held;
    await route.fallback();
  });
  await act(page, messages(page).nth(1), 'Rewind to here');
  const dots = messages(page).nth(1).getByRole('button', { name: 'Message actions' });
  await expect(dots).toBeDisabled();
  await expect(dots).toHaveAttribute('aria-busy', 'true');
  await page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur());
  await messages(page).nth(1).focus();
  await page.keyboard.press('w');
  answer();
  await expect(messages(page).locator('.chat-body')).toHaveText(['one', 'two']);
  expect(asked).toBe(1);
});

test('by keys, on the focused message', async ({ page, api }) => {
  const id = await api.chat('Keys', ['one', 'two', 'three', 'four']);
  await page.goto(`/chat/${id}`);
  await expect(messages(page)).toHaveCount(4);
  await page.keyboard.press('Alt+ArrowUp');
  await page.keyboard.press('k');
  await page.keyboard.press('k');
  await expect(messages(page).nth(1)).toBeFocused();
  await page.keyboard.press('e');
  await expect(page.getByRole('textbox', { name: 'Edit message' })).toHaveValue('two');
  await page.keyboard.press('Escape');
  await expect(messages(page).nth(1)).toBeFocused();
  await page.keyboard.press('w');
  await expect(messages(page).locator('.chat-body')).toHaveText(['one', 'two']);
  await expect(composer(page)).toBeFocused();
});
