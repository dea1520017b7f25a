// SPDX-License-Identifier: Apache-2.0
// Shortcuts and their twins, the palette, the ? sheet, and bindings that are changed and kept.
import { answered, composer, expect, messages, test, type Api, type Page } from './lib';

/** q0 a1 q2 a3, of which a3 has two versions, the second shown. */
async function versions(api: Api) {
  const id = await api.chat('Keys', ['q0', 'a1', 'q2', 'a3']);
  const { entries } = await api.get(`sessions/${id}/entries`);
  await api.post(`sessions/${id}/edit`, { entry_id: entries[3].id, text: 'a3 anew' });
  return id;
}

/** Puts the focus on nothing in particular. */
const leave = (page: Page) => page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur());
const dialog = (page: Page, name: string) => page.getByRole('dialog', { name });
const sheet = (page: Page) => dialog(page, 'Keyboard shortcuts');
const palette = (page: Page) => dialog(page, 'Command palette');

test('versions: the seed’s keys in the composer, their twins outside of it', async ({ page, api }) => {
  await page.goto(`/chat/${await versions(api)}`);
  const last = messages(page).last();
  await expect(last).toContainText('a3 anew');
  await composer(page).focus();
  await page.keyboard.press('Control+[');
  await expect(last).not.toContainText('anew');
  await page.keyboard.press('Control+]');
  await expect(last).toContainText('a3 anew');
  await last.focus();
  await page.keyboard.press('[');
  await expect(last).not.toContainText('anew');
  await expect(last).toBeFocused();
  await page.keyboard.press(']');
  await expect(last).toContainText('a3 anew');
  for (const keys of ['Control+Shift+B', 'b']) {
    await last.focus();
    await page.keyboard.press(keys);
    const list = dialog(page, 'Versions of this message');
    await expect(list).toContainText('a3 anew');
    await page.keyboard.press('Escape');
    await expect(list).toHaveCount(0);
    await leave(page);
  }
});

test('fork: on the focused message, else the last; letters in a field stay letters', async ({ page, api }) => {
  await page.goto(`/chat/${await versions(api)}`);
  await expect(messages(page)).toHaveCount(4);
  await composer(page).fill('');
  await page.keyboard.type('fb[?');
  await expect(composer(page)).toHaveValue('fb[?');
  await page.keyboard.press('Control+Shift+F');
  await expect(dialog(page, 'Fork chat')).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(dialog(page, 'Fork chat')).toHaveCount(0);
  await messages(page).nth(1).focus();
  await page.keyboard.press('f');
  await expect(dialog(page, 'Fork chat')).toContainText('a1');
  await page.keyboard.press('Escape');
});

test('views: tree, timeline, comparison, search, sidebar', async ({ page, api }) => {
  const id = await versions(api);
  await page.goto(`/chat/${id}`);
  await expect(messages(page)).toHaveCount(4);
  await leave(page);
  await expect(page.getByRole('tree')).toHaveCount(0);
  await page.keyboard.press('Control+Shift+T');
  await expect(page.getByRole('treeitem')).toHaveCount(1);
  await page.keyboard.press('g');
  await page.keyboard.press('t');
  await expect(page.getByRole('tree')).toHaveCount(0);
  await page.keyboard.press('/');
  await expect(page.getByRole('searchbox', { name: 'Search' })).toBeFocused();
  await leave(page);
  await page.keyboard.press('g');
  await page.keyboard.press('c');
  await expect(dialog(page, 'Compare')).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(dialog(page, 'Compare')).toHaveCount(0);
  await page.keyboard.press('Control+\\');
  await expect(page.getByRole('searchbox', { name: 'Search' })).toHaveCount(0);
  await page.keyboard.press('Control+\\');
  await page.keyboard.press('g');
  await page.keyboard.press('l');
  await expect(page).toHaveURL(`/timeline/${id}`);
});

test('the palette finds commands and chats, and acts on the message that was focused', async ({ page, api }) => {
  const id = await versions(api);
  await api.chat('Elsewhere', ['x', 'y']);
  await page.goto(`/chat/${id}`);
  await messages(page).nth(1).focus();
  await page.keyboard.press('Control+k');
  const field = palette(page).getByRole('combobox');
  await expect(field).toBeFocused();
  await field.fill('fork');
  await expect(palette(page).getByRole('option').first()).toContainText('Fork chat from here');
  await page.keyboard.press('Enter');
  await expect(dialog(page, 'Fork chat')).toContainText('a1');
  await page.keyboard.press('Escape');
  await expect(dialog(page, 'Fork chat')).toHaveCount(0);
  await page.keyboard.press('Control+k');
  await expect(field).toHaveValue('');
  await field.fill('elsewh');
  await palette(page).getByRole('option', { name: 'Elsewhere' }).click();
  await expect(messages(page).locator('.chat-body')).toHaveText([/x/, /y/]);
  await page.keyboard.press('Control+k');
  await field.fill('dark');
  await page.keyboard.press('Enter');
  await expect(page.locator('html')).toHaveCSS('color-scheme', 'dark');
  await page.reload();
  await expect(page.locator('html')).toHaveCSS('color-scheme', 'dark');
});

test('bindings are taken away, added, taken over, undone, reset, and kept', async ({ page, api }) => {
  await page.goto(`/chat/${await versions(api)}`);
  await expect(messages(page)).toHaveCount(4);
  await leave(page);
  await page.keyboard.press('?');
  await expect(sheet(page).getByText('Fork chat from here')).toBeVisible();
  await sheet(page).getByRole('button', { name: 'Change keys' }).click();
  await sheet(page).getByRole('button', { name: 'Remove F from Fork chat from here' }).click();
  const add = sheet(page).getByRole('button', { name: 'Add keys for Fork chat from here' });
  await add.click();
  await page.keyboard.press('Control+w');
  await expect(sheet(page).getByRole('alert')).toContainText('browser');
  await page.keyboard.press('Escape');
  await expect(sheet(page)).toBeVisible();
  await add.click();
  await page.keyboard.press('x');
  await page.keyboard.press('y');
  await expect(sheet(page).getByRole('button', { name: 'Remove X Y from Fork chat from here' })).toBeVisible();
  await add.click();
  await page.keyboard.press('Control+k');
  await expect(page.getByText('Ctrl K was taken from “Command palette”.')).toBeVisible();
  await page.getByRole('button', { name: 'Undo', exact: true }).click();
  await expect(sheet(page).getByRole('button', { name: 'Remove Ctrl K from Command palette' })).toBeVisible();
  await sheet(page).getByRole('button', { name: 'Done' }).click();
  await page.keyboard.press('Escape');

  await page.reload();
  await expect(messages(page)).toHaveCount(4);
  await messages(page).last().focus();
  await page.keyboard.press('f');
  await expect(page.getByRole('dialog')).toHaveCount(0);
  await composer(page).fill('');
  await messages(page).last().focus();
  await page.keyboard.press('x');
  await page.keyboard.press('y');
  await expect(dialog(page, 'Fork chat')).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(dialog(page, 'Fork chat')).toHaveCount(0);
  await leave(page);
  await page.keyboard.press('?');
  await sheet(page).getByRole('button', { name: 'Change keys' }).click();
  await sheet(page).getByRole('button', { name: 'Usual keys for all' }).click();
  await page.keyboard.press('Escape');
  await messages(page).last().focus();
  await page.keyboard.press('f');
  await expect(dialog(page, 'Fork chat')).toBeVisible();
});

test('every other key of the table does what it says', async ({ page, api, context }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  const id = await versions(api);
  await page.goto(`/chat/${id}`);
  const last = messages(page).last();
  await expect(messages(page)).toHaveCount(4);
  const press = async (...keys: string[]) => {
    await leave(page);
    for (const key of keys) await page.keyboard.press(key);
  };
  const close = async (name: string) => {
    await expect(dialog(page, name)).toBeVisible();
    await page.keyboard.press('Escape');
    await expect(dialog(page, name)).toHaveCount(0);
  };
  await last.focus();
  await page.keyboard.press('c');
  await expect.poll(() => page.evaluate(() => navigator.clipboard.readText())).toBe('a3 anew');
  await press('t');
  await close('Tags');
  await press('s');
  await close('Share');
  await press('g', 'h');
  await close('Moves');
  await press('g', 'a');
  await close('Ask several agents');
  await press('i');
  await page.keyboard.press('Alt+ArrowUp');
  for (const key of ['k', 'k', 'j']) await page.keyboard.press(key);
  await expect(messages(page).nth(2)).toBeFocused();
  await page.keyboard.press('Alt+ArrowDown');
  await expect(last).toBeFocused();
  await page.keyboard.press('Alt+ArrowDown');
  await expect(composer(page)).toBeFocused();
  await press('i');
  await expect(composer(page)).toBeFocused();
  await press('u');
  await expect(last).not.toContainText('anew');
  await press('Shift+U');
  await expect(last).toContainText('a3 anew');
  await last.focus();
  await page.keyboard.press('Shift+R');
  await expect(last).toContainText('3/3');
  await expect(last).toContainText('q2');
  await composer(page).fill('/slow 50\n/count 500');
  await page.keyboard.press('Enter');
  await expect(last).toContainText('1 2 3');
  await page.keyboard.press('Control+.');
  await answered(page);
  for (const keys of ['n', 'Control+Shift+O']) {
    const before = page.url();
    await press(keys);
    await expect(page).not.toHaveURL(before);
    await expect(composer(page)).toBeFocused();
  }
});

test('typing never acts: what is typed with nothing focused is written', async ({ page, api }) => {
  const id = await versions(api);
  await api.chat('Elsewhere', ['x', 'y']);
  await page.goto(`/chat/${id}`);
  await expect(composer(page)).toBeFocused();
  await page.keyboard.type('far');
  await expect(composer(page)).toHaveValue('far');
  await composer(page).fill('');
  await leave(page);
  await page.keyboard.type('rewrite [it] be clear');
  await expect(composer(page)).toHaveValue('rewrite [it] be clear');
  await expect(composer(page)).toBeFocused();
  // A sequence that is none was typed.
  await composer(page).fill('');
  await leave(page);
  await page.keyboard.type('go on');
  await expect(composer(page)).toHaveValue('go on');
  // Nor with a message focused, where the key is none of the table's.
  await composer(page).fill('');
  await messages(page).last().focus();
  await page.keyboard.type('a word');
  await expect(composer(page)).toHaveValue('a word');
  await expect(page.getByRole('dialog')).toHaveCount(0);
  expect((await api.get(`sessions/${id}/turns`)).turns).toEqual([]);
  expect((await api.get(`sessions/${id}/head-log`)).moves).toHaveLength(1);
  // A letter asks no model, on a message either; Shift+R does, and can be undone.
  const last = messages(page).last();
  await composer(page).fill('');
  await last.focus();
  await page.keyboard.press('r');
  await expect(composer(page)).toHaveValue('r');
  await last.focus();
  await page.keyboard.press('Shift+R');
  await expect(last).toContainText('3/3');
  await answered(page);
  await leave(page);
  await page.keyboard.press('u');
  await expect(last).toContainText('a3 anew');
  // Another chat: one can write at once.
  await page.getByRole('link', { name: 'Elsewhere' }).click();
  await expect(messages(page)).toHaveCount(2);
  await expect(composer(page)).toBeFocused();
});
