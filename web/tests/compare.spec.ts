// SPDX-License-Identifier: Apache-2.0
// The dialog Compare and the sides beside each other.
import { expect, test, type Api, type Page } from './lib';

const SLOW = 'Take the slow train, it is cheap.';
const FAST = 'Take the fast train, it is dear.';

/** Two forks of a chat after its fourth message, each with one turn. */
async function pair(api: Api) {
  const root = await api.chat('Root', ['q0', 'a1', 'q2', 'a3']);
  const side = async (title: string, answer: string, usage?: object) => {
    const fork = await api.post(`sessions/${root}/fork`, { title });
    await api.post(`sessions/${fork.id}/entries`, { entries: [{ role: 'user', text: 'How do I get there?' }] });
    await new Promise((done) => setTimeout(done, 5)); // it takes its time
    await api.post(`sessions/${fork.id}/entries`, { entries: [{ role: 'assistant', text: answer, usage }] });
    return fork.id as string;
  };
  const slow = await side('Slow', SLOW, { input: 1200, output: 34, cost: 0.5, currency: 'EUR' });
  const fast = await side('Fast', FAST);
  return { root, slow, fast };
}

const url = (...sides: string[]) => `/compare?${sides.map((side) => `side=${encodeURIComponent(side)}`).join('&')}`;
const cells = (page: Page) => page.locator('.compare-cell');
const dialog = (page: Page) => page.getByRole('dialog', { name: 'Compare' });

test('what is shared is folded, what all say is shown once, the rest beside each other', async ({ page, api }) => {
  const { slow, fast } = await pair(api);
  await page.goto(url(slow, fast));
  await expect(page.getByRole('columnheader')).toHaveCount(2);
  await expect(page.getByText('They part here')).toBeVisible();
  await expect(page.getByText('How do I get there?')).toHaveCount(1);
  await expect(cells(page)).toHaveText([new RegExp(SLOW), new RegExp(FAST)]);
  await expect(page.getByText('a3', { exact: true })).toHaveCount(0);
  await page.getByRole('button', { name: '4 messages in common' }).click();
  await expect(page.getByText('a3', { exact: true })).toBeVisible();
  const heads = page.getByRole('columnheader');
  await expect(heads.first()).toContainText('2 messages');
  await expect(heads.first()).toContainText('1.2k in · 34 out');
  await expect(heads.first()).toContainText('€0.50');
  await expect(heads.last()).not.toContainText(' in · ');
  await expect(heads.first()).toContainText(/\d ms|\d s|\d min/);
});

test('differences word by word, on demand', async ({ page, api }) => {
  const { slow, fast } = await pair(api);
  await page.goto(url(slow, fast));
  await expect(cells(page)).toHaveCount(2);
  await expect(page.locator('ins, del')).toHaveCount(0);
  await page.getByRole('button', { name: 'Differences' }).click();
  await expect(cells(page).last().locator('del')).toHaveText(['slow', 'cheap']);
  await expect(cells(page).last().locator('ins')).toHaveText(['fast', 'dear']);
  await expect(cells(page).first().locator('ins, del')).toHaveCount(0);
  await page.getByRole('button', { name: 'Differences' }).click();
  await expect(page.locator('ins, del')).toHaveCount(0);
});

test('with more than two, the base can be chosen, and a side left out', async ({ page, api }) => {
  const { root, slow, fast } = await pair(api);
  await api.post(`sessions/${root}/entries`, {
    entries: [
      { role: 'user', text: 'Something else?' },
      { role: 'assistant', text: 'Take the bus.' },
    ],
  });
  await page.goto(url(slow, fast, root));
  await page.getByRole('button', { name: 'Differences' }).click();
  await page.getByRole('combobox', { name: 'Against' }).selectOption('Fast');
  await expect(cells(page).first().locator('ins')).toHaveText(['slow', 'cheap']);
  await expect(cells(page).nth(1).locator('ins, del')).toHaveCount(0);
  await page.getByRole('button', { name: 'Leave out Root' }).click();
  await expect(page.getByRole('columnheader')).toHaveCount(2);
  await expect(page).toHaveURL(url(slow, fast));
});

test('a verdict with a reason is kept and shown again', async ({ page, api }) => {
  const { slow, fast } = await pair(api);
  await page.goto(url(slow, fast));
  const verdict = page.getByRole('region', { name: 'Verdict' });
  await expect(verdict.getByRole('button', { name: 'Keep verdict' })).toBeDisabled();
  await verdict.getByRole('radio', { name: 'Fast' }).check();
  await verdict.getByRole('textbox', { name: 'Reason' }).fill('we are late');
  await verdict.getByRole('button', { name: 'Keep verdict' }).click();
  await expect(verdict.getByRole('listitem')).toContainText('Fast we are late');
  const { verdicts } = await api.get('compare/verdicts');
  expect(verdicts).toHaveLength(1);
  expect(verdicts[0]).toMatchObject({ winner: 1, reason: 'we are late' });
  await page.reload();
  await expect(verdict.getByRole('listitem')).toContainText('Fast we are late');
  await verdict.getByRole('radio', { name: 'A tie' }).check();
  await verdict.getByRole('button', { name: 'Keep verdict' }).click();
  await expect(verdict.getByRole('listitem')).toHaveCount(2);
  await expect(verdict.getByRole('listitem').first()).toContainText('A tie');
});

test('versions of one chat are compared as branches', async ({ page, api }) => {
  const id = await api.chat('Versions', ['q0', 'first words']);
  const { entries } = await api.get(`sessions/${id}/entries`);
  await api.post(`sessions/${id}/edit`, { entry_id: entries[1].id, text: 'second words' });
  const { branches } = await api.get(`sessions/${id}/branches`);
  await page.goto(url(...branches.map((branch: { branch_id: string }) => `${id}@${branch.branch_id}`)));
  await expect(page.getByText('1 message in common')).toBeVisible();
  await expect(cells(page)).toHaveText([/first words/, /second words/]);
  await expect(page.getByRole('columnheader').getByRole('link')).toHaveText(['Versions (1)', 'Versions (2)']);
});

test('follows a side that goes on', async ({ page, api }) => {
  const { slow, fast } = await pair(api);
  await page.goto(url(slow, fast));
  await expect(cells(page)).toHaveCount(2);
  await api.post(`sessions/${fast}/messages`, { text: 'echo this' });
  await expect(cells(page)).toHaveCount(4);
  await expect(cells(page).last()).toContainText('echo this');
});

test('chats of other trees are compared, without a verdict', async ({ page, api }) => {
  const one = await api.chat('One', ['alpha', 'beta']);
  const two = await api.chat('Two', ['gamma', 'delta']);
  await page.goto(url(one, two));
  await expect(page.getByText('Nothing in common')).toBeVisible();
  await expect(page.getByRole('region', { name: 'Verdict' })).toHaveCount(0);
});

test('a side that is not there is said, and can be tried again', async ({ page, api, allow }) => {
  allow(/404/);
  const one = await api.chat('One', ['alpha', 'beta']);
  const missing = `${one}-missing`;
  await page.goto(url(one, missing));
  await expect(page.getByRole('alert')).toContainText(missing);
  await api.post('sessions', { id: missing, title: 'Somebody' });
  await page.getByRole('button', { name: 'Try again' }).click();
  await expect(page.getByRole('columnheader')).toHaveCount(2);
});

test('the dialog marks this chat, offers its tree first, and takes up to four', async ({ page, api }) => {
  const { root, slow, fast } = await pair(api);
  await api.chat('Stranger', ['x', 'y']);
  await api.post(`sessions/${root}/fork`, { title: 'Fourth' });
  await page.goto(`/chat/${root}`);
  await page.getByRole('button', { name: 'Compare', exact: true }).click();
  await expect(dialog(page).getByRole('checkbox', { name: 'Root', exact: true })).toBeChecked();
  await expect(dialog(page).getByRole('group', { name: 'Same tree' }).getByRole('checkbox')).toHaveCount(4);
  await expect(dialog(page).getByRole('button', { name: 'Compare', exact: true })).toBeDisabled();
  for (const name of ['Slow', 'Fast', 'Fourth'])
    await dialog(page).getByRole('checkbox', { name, exact: true }).check();
  await expect(dialog(page).getByRole('checkbox', { name: 'Stranger' })).toBeDisabled();
  for (const name of ['Root', 'Fourth']) await dialog(page).getByRole('checkbox', { name, exact: true }).uncheck();
  await dialog(page).getByRole('button', { name: 'Compare', exact: true }).click();
  await expect(page).toHaveURL(url(slow, fast));
});

test('without sides it teaches', async ({ page }) => {
  await page.goto('/compare');
  await page.getByRole('button', { name: 'Choose chats' }).click();
  await expect(dialog(page)).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(dialog(page)).toHaveCount(0);
});
