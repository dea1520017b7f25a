// SPDX-License-Identifier: Apache-2.0
//
// ForkSessionDialog, and side questions: Ephemeral, Keep, Close with Undo, Esc.
import { act, composer, expect, messages, type Page, say, test } from './lib';

const dialog = (page: Page) => page.getByRole('dialog', { name: 'Fork chat' });
const texts = ['How do I reach Lisbon?', 'By the night train.', 'And by bus?', 'It takes a day.'];

test('an answer is kept: fork with all that the dialog asks for', async ({ page, api }) => {
  const id = await api.chat('Trip', texts);
  await page.goto('/chat/' + id);
  await act(page, messages(page).nth(1), 'Fork chat from here');
  await expect(dialog(page).getByLabel('Reason')).toBeFocused();
  await page.keyboard.press('Escape');
  await expect(dialog(page)).toHaveCount(0);
  await act(page, messages(page).nth(1), 'Fork chat from here');
  await dialog(page).getByRole('button', { name: 'Cancel' }).click();
  await expect(dialog(page)).toHaveCount(0);
  expect((await api.get('sessions')).sessions).toHaveLength(1);

  await act(page, messages(page).nth(1), 'Fork chat from here');
  await expect(dialog(page)).toContainText('After the answer “By the night train.”: 2 messages are kept.');
  await dialog(page).getByLabel('Reason').fill('cheaper');
  await dialog(page).getByLabel('Title').fill('By bus');
  await dialog(page).getByRole('textbox', { name: 'Tags' }).fill('travel, Cheap');
  await dialog(page).getByLabel('Agent').selectOption('second');
  await dialog(page).getByRole('button', { name: 'Fork', exact: true }).click();
  await expect(page).not.toHaveURL(new RegExp(id));
  await expect(messages(page)).toHaveCount(2);
  await expect(composer(page)).toBeFocused();
  const { sessions } = await api.get('sessions?title=By%20bus');
  expect(sessions[0]).toMatchObject({
    title: 'By bus',
    tags: ['cheap', 'travel'],
    agent: { name: 'second' },
    expires_at: null,
    forked_from: { session_id: id, reason: 'cheaper', type: 'explicit' },
  });
  expect(await api.texts(id)).toEqual(texts);
});

test('a message of the user is cut off and becomes the draft, at the second try too', async ({ page, api, allow }) => {
  allow(/500/);
  const id = await api.chat('Trip', texts);
  await page.goto('/chat/' + id);
  await act(page, messages(page).nth(2), 'Fork chat from here');
  await expect(dialog(page)).toContainText('Before the message “And by bus?”, which becomes the draft: 2 messages are kept.');
  await page.route('**/fork', (route) => route.fulfill({ status: 500, json: { code: 'x', error: 'The disk is full.' } }));
  await dialog(page).getByRole('button', { name: 'Fork', exact: true }).click();
  await expect(dialog(page).getByRole('alert')).toHaveText('The disk is full.');
  await page.unroute('**/fork');
  await dialog(page).getByRole('button', { name: 'Fork', exact: true }).click();
  await expect(composer(page)).toHaveValue('And by bus?');
  await expect(composer(page)).toBeFocused();
  await expect(messages(page)).toHaveCount(2);
});

test('a cut never parts a tool call from its result', async ({ page, api }) => {
  const id = await api.chat('Tools', ['What time is it?']);
  await api.post(`sessions/${id}/entries`, {
    entries: [
      { role: 'assistant', parts: [{ type: 'tool_call', id: 'c1', name: 'clock', input: {} }, { type: 'text', text: 'Let me look.' }] },
      { role: 'tool', parts: [{ type: 'tool_result', id: 'c1', output: 'noon' }] },
      { role: 'assistant', text: 'It is noon.' },
    ],
  });
  const { entries } = await api.get(`sessions/${id}/entries`);
  await page.goto('/chat/' + id);
  await act(page, page.getByRole('article').filter({ hasText: 'Let me look.' }).first(), 'Fork chat from here');
  await dialog(page).getByLabel('Title').fill('Cut');
  await dialog(page).getByRole('button', { name: 'Fork', exact: true }).click();
  await expect(page).not.toHaveURL(new RegExp(id));
  const { sessions } = await api.get('sessions?title=Cut');
  const kept = (await api.get(`sessions/${sessions[0].id}/entries`)).entries.map((e: { id: string }) => e.id);
  expect(kept).toContain(entries[2].id);
});

test('a side question is kept', async ({ page, api }) => {
  const id = await api.chat('Trip', texts);
  await page.goto('/chat/' + id);
  await act(page, messages(page).nth(3), 'Fork chat from here');
  await dialog(page).getByLabel('Title').fill('Aside');
  await dialog(page).getByRole('checkbox', { name: 'Ephemeral' }).check();
  await dialog(page).getByRole('button', { name: 'Fork', exact: true }).click();
  const bar = page.getByRole('region', { name: 'Side question' });
  await expect(bar).toContainText('It goes in 24 hours unless you keep it.');
  const { sessions } = await api.get('sessions?title=Aside');
  const left = Date.parse(sessions[0].expires_at) - Date.now();
  expect(left).toBeGreaterThan(23 * 3600e3);
  expect(left).toBeLessThanOrEqual(24 * 3600e3);
  await bar.getByRole('button', { name: 'Keep' }).click();
  await expect(bar).toHaveCount(0);
  expect((await api.get(`sessions/${sessions[0].id}`)).expires_at).toBeNull();
});

test('deleting a chat cancels what is being read of it', async ({ page, api }) => {
  const id = await api.chat('Trip', texts);
  const aside = await api.post(`sessions/${id}/fork`, { title: 'Aside', ephemeral_seconds: 86400 });
  const usage = new RegExp(`${aside.id}/usage`);
  await page.route(usage, () => {}); // never answered
  const asked = page.waitForRequest(usage);
  await page.goto('/chat/' + aside.id);
  await asked;
  const cancelled = page.waitForEvent('requestfailed', (request) => usage.test(request.url()));
  await page.getByRole('region', { name: 'Side question' }).getByRole('button', { name: 'Close' }).click();
  expect((await cancelled).failure()?.errorText).toBe('net::ERR_ABORTED');
  await expect(page).toHaveURL(new RegExp(id));
});

test('a side question is closed with Undo; Esc closes one in which nothing was said, and no other', async ({ page, api }) => {
  const id = await api.chat('Trip', texts);
  const aside = await api.post(`sessions/${id}/fork`, { title: 'Aside', ephemeral_seconds: 86400 });
  const empty = await api.post(`sessions/${id}/fork`, { title: 'Empty', ephemeral_seconds: 86400 });
  const bar = page.getByRole('region', { name: 'Side question' });
  await page.goto('/chat/' + aside.id);
  await expect(messages(page)).toHaveCount(4);
  await say(page, 'By the way?');
  const asked = page.waitForResponse(/\/record/);
  await page.keyboard.press('Escape');
  await asked;
  await expect(page).toHaveURL(new RegExp(aside.id));
  await bar.getByRole('button', { name: 'Close' }).click();
  await expect(page).toHaveURL(new RegExp(id));
  await page.getByRole('button', { name: 'Undo' }).click();
  await expect(page).toHaveURL(new RegExp(aside.id));
  await expect(messages(page)).toHaveCount(6);

  await page.getByText('Tree', { exact: true }).click();
  await page.getByRole('treeitem', { name: 'Empty' }).click();
  await expect(page).toHaveURL(new RegExp(empty.id));
  await expect(bar).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(page).toHaveURL(new RegExp(id));
  await expect(page.getByText('Closed the side question')).toBeVisible();
});
