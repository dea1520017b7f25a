// SPDX-License-Identifier: Apache-2.0
// The timeline: lanes, previews, opening, marking, ten thousand nodes, and windows that follow.
import { expect, test, type Api, type Page } from './lib';

const rows = (page: Page) => page.getByRole('list', { name: 'Chats and branches' }).getByRole('listitem');
const link = (page: Page, title: string) => rows(page).getByRole('link', { name: title, exact: true });
const row = (page: Page, title: string) =>
  rows(page).filter({ has: page.getByRole('link', { name: title, exact: true }) });

/** A chat of six messages with a fork, a fork of that, an edited answer and a rewind. */
async function family(api: Api) {
  const root = await api.chat('Root', ['q0', 'a1', 'q2', 'a3', 'q4', 'a5'], { tags: ['plan'] });
  const { entries } = await api.get(`sessions/${root}/entries`);
  const at = (i: number) => ({ entry_id: entries[i].id, side: 'after' });
  const child = await api.post(`sessions/${root}/fork`, { at: at(1), title: 'Child' });
  await api.post(`sessions/${child.id}/entries`, {
    entries: [{ role: 'user', text: 'words of the child' }],
  });
  const grandchild = await api.post(`sessions/${child.id}/fork`, { title: 'Grandchild' });
  await api.post(`sessions/${root}/edit`, { entry_id: entries[3].id, text: 'another answer' });
  await api.post(`sessions/${root}/rewind`, { at: at(1) });
  await api.post(`sessions/${root}/entries`, { entries: [{ role: 'user', text: 'on from here' }] });
  return { root, child: child.id as string, grandchild: grandchild.id as string };
}

test('shows forks and branches, where they left, heads and tags', async ({ page, api }) => {
  const { root } = await family(api);
  await page.goto(`/timeline/${root}`);
  await expect(rows(page)).toHaveCount(5);
  await expect(row(page, 'Root').getByText('plan')).toBeVisible();
  await expect(row(page, 'Child')).toContainText('After message 2');
  await expect(row(page, 'Grandchild')).toContainText('After message 3');
  await expect(row(page, 'another answer')).toContainText('Edited after message 3');
  await expect(row(page, 'on from here')).toContainText('Rewound after message 2');
  await expect(row(page, 'on from here')).toContainText('head');
  await expect(row(page, 'Root').getByText('head', { exact: true })).toHaveCount(0);
  await expect(page.locator('.timeline-lanes circle:not(.timeline-here)')).toHaveCount(5);
});

test('a pointer that rests shows the last messages, a click opens', async ({ page, api }) => {
  const { root, child } = await family(api);
  await page.goto(`/timeline/${root}`);
  const href = await link(page, 'another answer').getAttribute('href');
  expect(href).toMatch(new RegExp(`^/chat/${root}\\?entry=.+&branch=b\\d+$`));
  await row(page, 'Child').hover();
  await expect(page.getByRole('tooltip')).toContainText('words of the child');
  await link(page, 'Child').click();
  await expect(page).toHaveURL(new RegExp(`/chat/${child}$`));
});

test('the keyboard walks rows, parents and children', async ({ page, api }) => {
  const { root, grandchild } = await family(api);
  await page.goto(`/timeline/${root}`);
  const focused = page.locator(':focus');
  await link(page, 'Root').focus();
  await page.keyboard.press('End');
  await expect(focused).toHaveText('on from here');
  await page.keyboard.press('ArrowLeft');
  await expect(focused).toHaveText('Root');
  await page.keyboard.press('ArrowRight');
  await expect(focused).toHaveText('Child');
  await page.keyboard.press('ArrowDown');
  await expect(focused).toHaveText('Grandchild');
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL(new RegExp(`/chat/${grandchild}$`));
});

test('marked rows are compared', async ({ page, api }) => {
  const { root, child } = await family(api);
  await page.goto(`/timeline/${root}`);
  await page.getByRole('checkbox', { name: 'Mark Child', exact: true }).check();
  await expect(page.getByRole('button', { name: 'Compare', exact: true })).toBeDisabled();
  await page.getByRole('checkbox', { name: 'Mark another answer' }).check();
  await page.getByRole('button', { name: 'Compare', exact: true }).click();
  await expect(page).toHaveURL(new RegExp(`/compare\\?side=${child}&side=${root}%40b\\d+`));
  await expect(page.getByText('2 messages in common')).toBeVisible();
});

test('follows what happens elsewhere, and the order can be changed', async ({ page, api }) => {
  const { root } = await family(api);
  await page.goto(`/timeline/${root}`);
  await expect(rows(page)).toHaveCount(5);
  await api.post(`sessions/${root}/fork`, { title: 'Newcomer' });
  await expect(row(page, 'Newcomer')).toBeVisible();
  await expect(rows(page).last()).toContainText('Newcomer');
  await page.getByRole('radio', { name: 'By branch' }).click();
  await expect(rows(page)).toHaveCount(6);
  await expect(rows(page).first()).toContainText('Root');
});

test('a deleted parent stays as a place', async ({ page, api }) => {
  const { root, child } = await family(api);
  await api.delete(`sessions/${child}`);
  await page.goto(`/timeline/${root}`);
  await expect(rows(page).filter({ hasText: 'Deleted chat' })).toHaveCount(1);
  await expect(row(page, 'Grandchild')).toBeVisible();
});

test('one line tells how there come to be more', async ({ page, api }) => {
  const id = await api.chat('Alone', ['q', 'a']);
  await page.goto(`/timeline/${id}`);
  await expect(page.getByText('One line so far')).toBeVisible();
});

test('branches of every chat are shown, however great the tree is', async ({ page, api }) => {
  const { root } = await family(api);
  const forks = await Promise.all(Array.from({ length: 45 }, (_, n) => api.post(`sessions/${root}/fork`, { title: `Fork ${n}` })));
  const far = forks.at(-1)!.id;
  const { entries } = await api.get(`sessions/${far}/entries`);
  await api.post(`sessions/${far}/edit`, { entry_id: entries[0].id, text: 'begun in another way' });
  await page.goto(`/timeline/${root}`);
  await expect(page.getByText('48 chats')).toBeVisible();
  await link(page, 'Root').focus();
  await page.keyboard.press('End');
  await expect(row(page, 'begun in another way')).toContainText('Edited from the start');
  await expect(rows(page).last()).toHaveAttribute('aria-setsize', '51');
});

test('ten thousand chats: few rows in the page, both ends within reach', async ({ page, api }) => {
  // Made by the server they would take longer than all other tests together: it has tests of its own for that.
  const total = 10_000;
  const root = await api.get(`sessions/${await api.chat('Great', ['q'])}/tree`).then((tree) => tree.sessions[0]);
  const id = (n: number) => (n === 0 ? root.id : `f${n}`);
  const sessions = Array.from({ length: total }, (_, n) => {
    const parent = n === 0 ? null : id((n * 7919) % n);
    const created_at = new Date(Date.parse(root.created_at) + n * 1000).toISOString();
    return {
      ...root,
      id: id(n),
      created_at,
      title: n === 0 ? 'Great' : `Fork ${n}`,
      path: parent === null ? [root.id] : [parent, id(n)],
    };
  });
  await page.route('**/tree*', (route) => route.fulfill({ json: { sessions, next_cursor: null } }));
  await page.route('**/sessions/f*/entries*', (route) => route.fulfill({ json: { entries: [] } })); // previews
  await page.goto(`/timeline/${root.id}`);
  await expect(page.getByText('10,000 chats')).toBeVisible();
  await page.getByRole('radio', { name: 'By branch' }).click();
  await link(page, 'Great').focus();
  await page.keyboard.press('End');
  await expect(rows(page).last()).toHaveAttribute('aria-posinset', String(total));
  await expect(page.locator(':focus')).toHaveText(/^Fork /);
  expect(await rows(page).count()).toBeLessThan(100);
  await page.keyboard.press('Home');
  await expect(page.locator(':focus')).toHaveText('Great');
  await page.getByRole('radio', { name: 'By time' }).click();
  await page.keyboard.press('End');
  await expect(rows(page).first()).toContainText('Great');
});
