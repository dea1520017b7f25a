// SPDX-License-Identifier: Apache-2.0
//
// rewind.spec.ts: rewind at once, the row that it leaves, undo, and the log of moves.
import { act, answered, composer, expect, messages, say, test } from './lib';

const row = (page: import('./lib').Page) => page.getByText(/later messages? set aside/);
const undo = (page: import('./lib').Page) => page.getByRole('button', { name: 'Undo', exact: true });

test('rewind, reload, undo', async ({ page, api }) => {
  const id = await api.chat('Rewind', ['one', 'two', 'three', 'four', 'five', 'six']);
  await page.goto(`/chat/${id}`);
  await act(page, messages(page).nth(1), 'Rewind to here');
  await expect(messages(page).locator('.chat-body')).toHaveText(['one', 'two']);
  await expect(row(page)).toHaveText('4 later messages set aside');
  await page.reload();
  await expect(row(page)).toHaveText('4 later messages set aside');
  await undo(page).click();
  await expect(messages(page)).toHaveCount(6);
  await expect(row(page)).toHaveCount(0);
  expect(await api.texts(id)).toHaveLength(6);

  // Nothing comes after the last answer.
  await act(page, messages(page).nth(5), 'Rewind to here');
  await expect(page.getByText('Nothing comes after this message')).toBeVisible();
  await expect(row(page)).toHaveCount(0);

  // On a user's message it cuts before, and the text is the draft.
  await act(page, messages(page).nth(4), 'Rewind to here');
  await expect(messages(page)).toHaveCount(4);
  await expect(composer(page)).toHaveValue('five');
  await expect(composer(page)).toBeFocused();
  await expect(row(page)).toHaveText('2 later messages set aside');

  // What is said ends the row.
  await composer(page).fill('something else');
  await page.keyboard.press('Enter');
  await expect(messages(page)).toHaveCount(6);
  await expect(row(page)).toHaveCount(0);
});

test('an edit and a new answer in mid-chat leave the row, too, with its undo', async ({ page, api }) => {
  const id = await api.chat('Aside', ['one', 'two', 'three', 'four', 'five', 'six']);
  await page.goto(`/chat/${id}`);
  await act(page, messages(page).nth(1), 'Regenerate');
  await expect(row(page)).toHaveText('4 later messages set aside');
  await answered(page);
  await page.reload();
  await expect(messages(page)).toHaveCount(2);
  await expect(row(page)).toHaveText('4 later messages set aside');
  await undo(page).click();
  await expect(messages(page)).toHaveCount(6);
  await expect(row(page)).toHaveCount(0);

  await act(page, messages(page).nth(2), 'Edit');
  await page.getByRole('textbox', { name: 'Edit message' }).fill('three, anew');
  await page.keyboard.press('Enter');
  await expect(row(page)).toHaveText('3 later messages set aside');
  await answered(page);
  await expect(messages(page)).toHaveCount(4);
  await undo(page).click();
  await expect(messages(page)).toHaveCount(6);
  await expect(messages(page).nth(2).locator('.chat-body')).toHaveText('three');

  // An answer that is edited; what is said next ends the row.
  await act(page, messages(page).nth(3), 'Edit');
  await page.getByRole('textbox', { name: 'Edit message' }).fill('four, anew');
  await page.getByRole('button', { name: 'Save' }).click();
  await expect(row(page)).toHaveText('2 later messages set aside');
  await say(page, 'on');
  await expect(row(page)).toHaveCount(0);
  // Nothing comes after the last answer.
  await act(page, messages(page).last(), 'Regenerate');
  await expect(messages(page).last()).toContainText('2/2');
  await answered(page);
  await expect(row(page)).toHaveCount(0);
});

test('undoing a rewind takes its draft away, if it was not changed', async ({ page, api }) => {
  const id = await api.chat('Draft', ['one', 'two', 'three', 'four']);
  await page.goto(`/chat/${id}`);
  await composer(page).fill('mine');
  await act(page, messages(page).nth(2), 'Rewind to here');
  await expect(composer(page)).toHaveValue('three\n\nmine');
  await page.reload();
  await undo(page).click();
  await expect(messages(page)).toHaveCount(4);
  await expect(composer(page)).toHaveValue('mine');
  await composer(page).fill('');
  await act(page, messages(page).nth(2), 'Rewind to here');
  await expect(composer(page)).toHaveValue('three');
  await composer(page).fill('three, and more');
  await undo(page).click();
  await expect(messages(page)).toHaveCount(4);
  await expect(composer(page)).toHaveValue('three, and more');
});

test('the row can be dismissed, for good', async ({ page, api }) => {
  const id = await api.chat('Dismiss', ['one', 'two', 'three']);
  await page.goto(`/chat/${id}`);
  await act(page, messages(page).nth(1), 'Rewind to here');
  await expect(row(page)).toHaveText('1 later message set aside');
  await page.getByRole('button', { name: 'Dismiss' }).click();
  await expect(row(page)).toHaveCount(0);
  await page.reload();
  await expect(messages(page)).toHaveCount(2);
  await expect(row(page)).toHaveCount(0);
});

test('undo says who moved, if somebody did', async ({ page, api, user, allow }) => {
  allow(/409|undo/);
  const id = await api.chat('Two', ['one', 'two', 'three', 'four']);
  await api.put(`sessions/${id}/members/bob-${user}`, { level: 'writer' });
  await page.goto(`/chat/${id}`);
  await act(page, messages(page).nth(1), 'Rewind to here');
  await expect(undo(page)).toBeVisible();
  // The click is under way when Bob's comes before it.
  await page.route('**/undo', async (route) => {
    expect(route.request().postDataJSON().expected_head).toMatch(/^[0-9a-f]{64}$/);
    await api.as(`bob-${user}`).post(`sessions/${id}/undo`);
    await route.continue();
  });
  await undo(page).click();
  await expect(page.getByText(new RegExp(`bob-${user} moved this chat meanwhile`))).toBeVisible();
  await expect(messages(page)).toHaveCount(4);
});

test('a cut never parts a tool call from its result', async ({ page, api }) => {
  const id = await api.chat('Tools', []);
  await api.post(`sessions/${id}/entries`, {
    entries: [
      { role: 'user', text: 'look' },
      { role: 'assistant', parts: [{ type: 'text', text: 'I look' }, { type: 'tool_call', id: 'c1', name: 'look', input: {} }] },
      { role: 'tool', parts: [{ type: 'tool_result', id: 'c1', output: 'seen' }] },
      { role: 'assistant', text: 'There.' },
    ],
  });
  await page.goto(`/chat/${id}`);
  await act(page, messages(page).nth(1), 'Rewind to here');
  await expect(messages(page)).toHaveCount(3);
  expect((await api.get(`sessions/${id}`)).head.length).toBe(3);
});

test('the log of moves is walked, by looking and by steps', async ({ page, api }) => {
  const id = await api.chat('Moves', ['one', 'two', 'three', 'four']);
  await page.goto(`/chat/${id}`);
  await act(page, messages(page).nth(1), 'Rewind to here');
  await expect(messages(page)).toHaveCount(2);
  await say(page, 'another way');
  await page.getByRole('button', { name: 'Moves' }).click();
  const log = page.getByRole('dialog', { name: 'Moves' });
  await expect(log.getByRole('listitem')).toHaveCount(2);
  await log.getByRole('button', { name: /As it began/ }).click();
  await page.keyboard.press('Escape');
  await expect(messages(page)).toContainText(['one', 'two', 'three', 'four']);
  await expect(page.getByText('This is an abandoned branch.')).toBeVisible();
  expect(await api.texts(id)).toHaveLength(4);
  expect((await api.texts(id)).at(-1)).toBe('another way'); // the head has not moved
  await page.getByRole('button', { name: 'Back', exact: true }).click();
  await expect(messages(page).last().locator('.chat-body')).toHaveText('another way');
  await page.getByRole('button', { name: 'Moves' }).click();
  await log.getByRole('button', { name: 'Step back' }).click();
  const last = page.locator('article .chat-body').last(); // a modal dialog hides the rest from assistive tools
  await expect(last).toHaveText('four');
  await log.getByRole('button', { name: 'Step forward' }).click();
  await expect(last).toHaveText('another way');
  await expect(log.getByRole('listitem')).toHaveCount(4);
});

test('a branch of the address is looked at, and can be switched to', async ({ page, api }) => {
  const id = await api.chat('Branch', ['one', 'two', 'three', 'four']);
  const before = await api.get(`sessions/${id}/entries`);
  await api.post(`sessions/${id}/rewind`, { at: { entry_id: before.entries[0].id } });
  await page.goto(`/chat/${id}?entry=${before.entries[3].id}&branch=${before.head.branch_id}`);
  await expect(messages(page)).toHaveCount(4);
  await expect(page.getByText('This is an abandoned branch.')).toBeVisible();
  await page.getByRole('button', { name: 'Switch to it' }).click();
  await expect(page.getByText('This is an abandoned branch.')).toHaveCount(0);
  expect(await api.texts(id)).toHaveLength(4);
});
