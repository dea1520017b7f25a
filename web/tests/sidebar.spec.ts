// SPDX-License-Identifier: Apache-2.0
//
// The sidebar: list and tree, rename, archive, delete and undo, filters, marks, and that it follows
// what happens elsewhere.
import { type Api, expect, type Page, PHONE, test } from './lib';

const row = (page: Page, title: string) => page.getByRole('navigation').getByRole('link', { name: title, exact: true });
const leaf = (page: Page, title: string) => page.getByRole('treeitem', { name: title, exact: true });

/** Chooses from the menu of a row, in the list or in the tree. */
async function choose(page: Page, title: string, item: string) {
  const line = page.locator('[data-row]').filter({ hasText: title }).first();
  await line.hover();
  await line.getByRole('button', { name: 'Chat actions' }).click();
  await page.getByRole('menuitem', { name: item }).click();
}

async function family(api: Api) {
  const root = await api.chat('Root', ['Hello?', 'Hello.'], { tags: ['travel'] });
  const fork = async (from: string, title: string, more = {}) =>
    (await api.post(`sessions/${from}/fork`, { title, ...more })).id as string;
  const left = await fork(root, 'Left');
  const below = await fork(left, 'Below left');
  const right = await fork(root, 'Right', { reason: 'cheaper' });
  return { root, left, below, right };
}

test('chats stand in the list, newest first, and follow what happens elsewhere', async ({ page, api }) => {
  await api.chat('First', ['one']);
  const second = await api.chat('Second', ['two']);
  await page.goto('/chat/' + second);
  await expect(row(page, 'Second')).toHaveAttribute('aria-current', 'page');
  await expect(page.getByRole('navigation').getByRole('link')).toHaveText(['Second', 'First']);
  await row(page, 'First').click();
  await expect(page).not.toHaveURL(new RegExp(second));
  await expect(row(page, 'First')).toHaveAttribute('aria-current', 'page');

  const other = await api.chat('From elsewhere', []);
  await expect(row(page, 'From elsewhere')).toBeVisible();
  await api.patch(`sessions/${other}`, { title: 'Renamed elsewhere' });
  await expect(row(page, 'Renamed elsewhere')).toBeVisible();
  await api.delete(`sessions/${other}`);
  await expect(row(page, 'Renamed elsewhere')).toHaveCount(0);
  await api.post(`sessions/${other}/restore`);
  await expect(row(page, 'Renamed elsewhere')).toBeVisible();
});

test('the tree has levels, counts and folds, is walked by keys, and stays over a reload', async ({ page, api }) => {
  const { root, below } = await family(api);
  await page.goto('/chat/' + below);
  await page.getByText('Tree', { exact: true }).click();
  await expect(page.getByRole('treeitem')).toHaveCount(4);
  await expect(leaf(page, 'Root')).toHaveAttribute('aria-level', '1');
  await expect(leaf(page, 'Left')).toHaveAttribute('aria-level', '2');
  await expect(leaf(page, 'Below left')).toHaveAttribute('aria-level', '3');
  await expect(leaf(page, 'Below left')).toHaveAttribute('aria-current', 'page');
  await expect(leaf(page, 'Root')).toContainText('2');
  await expect(leaf(page, 'Right')).toContainText('cheaper');
  await expect(leaf(page, 'Root').locator('.lucide-git-fork')).toHaveCount(0);
  await expect(leaf(page, 'Left').locator('.lucide-git-fork')).toBeVisible();
  await expect(leaf(page, 'Root').getByTitle('travel')).toBeVisible();

  await leaf(page, 'Root').focus();
  await page.keyboard.press('ArrowDown');
  await expect(leaf(page, 'Left')).toBeFocused();
  await page.keyboard.press('ArrowLeft');
  await expect(leaf(page, 'Left')).toHaveAttribute('aria-expanded', 'false');
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('ArrowRight');
  await expect(leaf(page, 'Below left')).toBeFocused();
  await page.keyboard.press('ArrowLeft');
  await expect(leaf(page, 'Left')).toBeFocused();
  await page.keyboard.press('End');
  await expect(leaf(page, 'Right')).toBeFocused();
  await page.keyboard.press('Home');
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL(new RegExp(root));
  await leaf(page, 'Root').focus();
  await page.keyboard.press('F2');
  await expect(page.getByRole('dialog', { name: 'Rename chat' })).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(leaf(page, 'Root')).toBeFocused();

  await leaf(page, 'Left').locator('.side-twist').click();
  await expect(leaf(page, 'Below left')).toHaveCount(0);
  await leaf(page, 'Right').getByRole('link').click();
  await page.reload();
  await expect(leaf(page, 'Right')).toHaveAttribute('aria-current', 'page');
  await expect(leaf(page, 'Below left')).toHaveCount(0);
  await page.getByText('List', { exact: true }).click();
  await expect(page.getByRole('treeitem')).toHaveCount(0);
  await expect(row(page, 'Below left')).toBeVisible();
});

test('a chat is renamed, archived, found in the archive, and brought back', async ({ page, api }) => {
  const id = await api.chat('Old name', ['x']);
  await api.chat('Other', ['x']);
  await page.goto('/chat/' + id);
  await choose(page, 'Old name', 'Rename');
  const title = page.getByRole('dialog', { name: 'Rename chat' }).getByRole('textbox', { name: 'Title' });
  await expect(title).toHaveValue('Old name');
  await title.fill('Dusty');
  await title.press('Enter');
  await expect(row(page, 'Dusty')).toBeVisible();
  await expect(page.getByRole('dialog')).toHaveCount(0);
  expect((await api.get(`sessions/${id}`)).title).toBe('Dusty');

  await choose(page, 'Dusty', 'Archive');
  await expect(row(page, 'Dusty')).toHaveCount(0);
  await page.getByRole('button', { name: 'Undo' }).click();
  await expect(row(page, 'Dusty')).toBeVisible();
  await choose(page, 'Dusty', 'Archive');
  await expect(row(page, 'Dusty')).toHaveCount(0);
  await page.getByRole('button', { name: 'Filter', exact: true }).click();
  await page.getByRole('menuitemcheckbox', { name: 'Archived' }).click();
  await expect(row(page, 'Dusty')).toBeVisible();
  await expect(row(page, 'Other')).toHaveCount(0);
  await choose(page, 'Dusty', 'Unarchive');
  await expect(page.getByText('The archive is empty')).toBeVisible();
  await page.getByRole('button', { name: 'Clear the filter' }).click();
  await expect(row(page, 'Dusty')).toBeVisible();
});

test('side questions are hidden in the list and faint in the tree; marked rows are compared', async ({ page, api }) => {
  const id = await api.chat('Main', ['x', 'y']);
  await api.post(`sessions/${id}/fork`, { title: 'Aside', ephemeral_seconds: 86400 });
  await page.goto('/chat/' + id);
  await expect(row(page, 'Main')).toBeVisible();
  await expect(row(page, 'Aside')).toHaveCount(0);
  await page.getByText('Tree', { exact: true }).click();
  await expect(leaf(page, 'Aside')).toBeVisible();
  await expect(leaf(page, 'Aside')).toHaveClass(/side-faint/);
  await choose(page, 'Aside', 'Keep');
  await expect(leaf(page, 'Aside')).not.toHaveClass(/side-faint/);

  await choose(page, 'Aside', 'Mark to compare');
  const marked = page.getByRole('group', { name: 'Marked chats' });
  await expect(marked.getByRole('button', { name: 'Compare' })).toBeDisabled();
  await page.getByRole('checkbox', { name: 'Mark Main' }).check();
  await marked.getByRole('button', { name: 'Compare' }).click();
  await expect(page).toHaveURL(new RegExp(`/compare\\?side=.*side=${id}`));
});

test('a deleted parent stays as a grey row, and can be restored', async ({ page, api }) => {
  const { left, below } = await family(api);
  await page.goto('/chat/' + below);
  await page.getByText('Tree', { exact: true }).click();
  await expect(leaf(page, 'Left')).toBeVisible();
  await api.delete(`sessions/${left}`);
  await expect(leaf(page, 'Deleted chat')).toHaveAttribute('aria-level', '2');
  await expect(leaf(page, 'Below left')).toHaveAttribute('aria-level', '3');
  await page.reload();
  await expect(leaf(page, 'Deleted chat')).toHaveAttribute('aria-level', '2');
  await expect(leaf(page, 'Below left')).toHaveAttribute('aria-level', '3');
  await choose(page, 'Deleted chat', 'Restore');
  await expect(leaf(page, 'Left')).toBeVisible();
  await expect(leaf(page, 'Deleted chat')).toHaveCount(0);
});

test('deleting says what goes, and is undone', async ({ page, api }) => {
  const id = await api.chat('Doomed', ['a', 'b', 'c', 'd']);
  const fork = await api.post(`sessions/${id}/fork`, { title: 'Heir' });
  await api.post(`sessions/${fork.id}/entries`, { entries: [{ role: 'user', text: 'mine' }] });
  await page.goto('/chat/' + id);
  await choose(page, 'Doomed', 'Delete');
  const dialog = page.getByRole('dialog', { name: 'Delete chat' });
  await expect(dialog).toContainText('“Doomed” goes. No message is lost with it.');
  await dialog.getByRole('checkbox', { name: 'Delete its fork too' }).check();
  await expect(dialog).toContainText('2 chats go, with 5 messages that no other chat holds.');
  await expect(dialog).toContainText('Heir');
  await dialog.getByRole('checkbox').uncheck();
  await dialog.getByRole('button', { name: 'Delete' }).click();
  await expect(row(page, 'Doomed')).toHaveCount(0);
  await expect(row(page, 'Heir')).toBeVisible();
  await expect(page).not.toHaveURL(new RegExp(id));
  await page.getByRole('button', { name: 'Undo' }).click();
  await expect(row(page, 'Doomed')).toBeVisible();
  await expect(page).toHaveURL(new RegExp(id));
});

test('deleted chats are listed until they are removed for good, and restored from there', async ({ page, api }) => {
  const here = await api.chat('Here', ['x']);
  const early = await api.chat('Early', ['a', 'b'], { tags: ['cheap'] });
  const late = await api.chat('Late', ['a']);
  await api.patch(`sessions/${late}`, { archived: true });
  await api.delete(`sessions/${early}`);
  await page.goto('/chat/' + here);
  await page.getByRole('button', { name: 'Filter', exact: true }).click();
  await page.getByRole('menuitemcheckbox', { name: 'Deleted' }).click();
  const list = page.getByRole('region', { name: 'Deleted chats' });
  const restore = list.getByRole('button', { name: /^Restore / });
  await expect(restore).toHaveText(['Restore']);
  await expect(list).toContainText('Early');
  // What is deleted meanwhile comes to the top, archived or not.
  await api.delete(`sessions/${late}`);
  await expect(restore.first()).toHaveAccessibleName('Restore Late');
  await expect(restore).toHaveCount(2);

  // By keyboard; the focus stays in the list.
  await restore.first().focus();
  await page.keyboard.press('ArrowDown');
  await expect(list.getByRole('button', { name: 'Restore Early' })).toBeFocused();
  await page.keyboard.press('Enter');
  await expect(page.getByText('Restored “Early”')).toBeVisible();
  await expect(restore).toHaveCount(1);
  await expect(restore).toBeFocused();
  expect(await api.texts(early)).toEqual(['a', 'b']);

  // One that somebody else restores leaves the list.
  await api.post(`sessions/${late}/restore`);
  await expect(page.getByText('Nothing is deleted')).toBeVisible();
  await page.getByRole('button', { name: 'Open', exact: true }).click();
  await expect(page).toHaveURL(new RegExp(early));
  await page.getByRole('button', { name: 'Remove filter deleted' }).click();
  await expect(row(page, 'Early')).toBeVisible();
});

test('a chat is deleted with its forks, and all come back', async ({ page, api }) => {
  const { root, below } = await family(api);
  await page.goto('/chat/' + below);
  await choose(page, 'Root', 'Delete');
  const dialog = page.getByRole('dialog', { name: 'Delete chat' });
  await dialog.getByRole('checkbox', { name: 'Delete its 3 forks too' }).check();
  await dialog.getByRole('button', { name: 'Delete' }).click();
  await expect(page.getByText('No chats yet')).toBeVisible();
  await expect(page.getByText('Deleted 4 chats')).toBeVisible();
  await page.getByRole('button', { name: 'Undo' }).click();
  await expect(page.getByRole('navigation').getByRole('link')).toHaveCount(4);
  await expect(page).toHaveURL(new RegExp(below));
  expect((await api.get(`sessions/${root}/tree`)).sessions.some((s: { deleted?: boolean }) => s.deleted)).toBe(false);
});

test('tags and agents filter the list and the tree', async ({ page, api }) => {
  const { root } = await family(api);
  await api.chat('Alone', ['x'], { agent: 'second' });
  await api.post(`sessions/${root}/fork`, { title: 'Tagged fork', tags: ['cheap'] });
  await page.goto('/chat/' + root);
  await page.getByRole('button', { name: 'Filter', exact: true }).click();
  await page.getByRole('menuitemcheckbox', { name: /^cheap/ }).click();
  await expect(page.getByRole('navigation').getByRole('link')).toHaveText(['Tagged fork']);
  await page.getByText('Tree', { exact: true }).click();
  await expect(page.getByRole('treeitem')).toHaveCount(2);
  await expect(leaf(page, 'Tagged fork')).toHaveAttribute('aria-level', '2');
  await page.getByRole('button', { name: 'Remove filter cheap' }).click();
  await expect(page.getByRole('treeitem')).toHaveCount(6);
  await page.getByRole('button', { name: 'Filter', exact: true }).click();
  await page.getByRole('menuitemcheckbox', { name: 'second' }).click();
  await expect(page.getByRole('treeitem')).toHaveCount(1);
  await expect(leaf(page, 'Alone')).toBeVisible();
});

test('tags that come while the filters are open are shown', async ({ page, api }) => {
  const { root } = await family(api);
  await api.post(`sessions/${root}/fork`, { title: 'Tagged fork', tags: ['cheap'] });
  let go = () => {};
  const held = new Promise<void>((done) => (go = done));
  await page.route(/\/tags$/, async (route) => {
    await held;
    await route.continue();
  });
  await page.goto('/chat/' + root);
  await page.getByRole('button', { name: 'Filter', exact: true }).click();
  await expect(page.getByText('No chat has a tag yet')).toBeVisible();
  go();
  await page.getByRole('menuitemcheckbox', { name: /^cheap/ }).click();
  await expect(page.getByRole('navigation').getByRole('link')).toHaveText(['Tagged fork']);
});

test('a list longer than a page is drawn in part, and read to its end', async ({ page, api }) => {
  await Promise.all(Array.from({ length: 230 }, (_, i) => api.post('sessions', { title: `Chat ${i}` })));
  await page.goto('/');
  const list = page.getByRole('navigation', { name: 'Chats by age' });
  await expect(list.getByRole('link').first()).toBeVisible();
  expect(await list.getByRole('link').count()).toBeLessThan(80);
  const last = (await api.get('sessions?limit=1000')).sessions.at(-1).title;
  await expect(async () => {
    await list.evaluate((e) => e.scrollTo(0, e.scrollHeight));
    await expect(row(page, last)).toBeInViewport({ timeout: 500 });
  }).toPass();
});

test('on a phone a row has its menu in sight', async ({ another, api }) => {
  await api.chat('Pocket', ['x']);
  const page = await (await another(PHONE)).newPage();
  await page.goto('/');
  await page.getByRole('button', { name: 'Show the sidebar' }).tap();
  const line = page.locator('[data-row]').first();
  await expect(line.getByRole('button', { name: 'Chat actions' })).toHaveCSS('opacity', '1');
  expect((await line.boundingBox())!.height).toBeGreaterThanOrEqual(40);
});
