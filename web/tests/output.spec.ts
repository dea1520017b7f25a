// SPDX-License-Identifier: Apache-2.0
// What models write: tags, thoughts, formulas, diagrams, long code; and Markdown of the user.
import { composer, expect, messages, say, test } from './lib';

const answer = (page: import('./lib').Page) => messages(page).last();

test('tags lose no text; thoughts are folded like others', async ({ page, api }) => {
  const id = await api.chat('Tags', []);
  await api.post(`sessions/${id}/entries`, {
    entries: [
      { role: 'user', text: 'q' },
      {
        role: 'assistant',
        text: '<think>\nsecretly **bold**\n</think>\n\nOne<br>two.\n\n<details>\n<summary>The title</summary>\n\nInside **strong**\n</details>\n\n<tool name="x">kept</tool> and `<think>` is a tag.',
      },
    ],
  });
  await page.goto(`/chat/${id}`);
  const body = answer(page).locator('.chat-body');
  for (const text of ['One<br>two.', '<summary>The title</summary>', '</details>', '<tool name="x">kept</tool>'])
    await expect(body).toContainText(text);
  await expect(body.locator('strong')).toHaveText('strong');
  await expect(body.locator('summary, details, br')).toHaveCount(0);
  await expect(body.locator('code')).toHaveText('<think>');
  await expect(body).not.toContainText('secretly');
  await page.getByRole('button', { name: 'Thoughts' }).click();
  await expect(body).toContainText('secretly **bold**');
});

test('thoughts in the text are thoughts while they come, too', async ({ page }) => {
  await page.goto('/');
  await composer(page).fill('/slow 400\n<think>\nquietly now and then some more words of it </think> Loud.');
  await page.keyboard.press('Enter');
  await expect(page.getByRole('button', { name: 'Thinking' })).toBeVisible();
  await expect(page.getByRole('button', { name: 'Thoughts' })).toBeVisible();
  await expect(answer(page).locator('.md')).toHaveText('Loud.');
});

test('formulas keep their backslashes and are drawn; prices are none', async ({ page }) => {
  const loaded: string[] = [];
  page.on('request', (request) => loaded.push(request.url()));
  await page.goto('/');
  await say(page, 'no formula, $5 and $10');
  await expect(answer(page).locator('.md')).toHaveText('no formula, $5 and $10');
  expect(loaded.filter((url) => /\/(math|diagram)-/.test(url))).toEqual([]);
  await say(page, 'Say $\\frac{a}{b}$ and \\(\\alpha_1 + \\beta_2\\):\n\n$$\n\\sum_{i=1}^n i\n$$\n\n\\[ E = mc^2 \\]\n\nand `$x$` as code.');
  await expect(answer(page).locator('.katex')).toHaveCount(4);
  await expect(answer(page).locator('.katex-display')).toHaveCount(1);
  await expect(answer(page).locator('annotation')).toHaveText(['\\frac{a}{b}', '\\alpha_1 + \\beta_2', '\\sum_{i=1}^n i', '\\displaystyle E = mc^2']);
  await expect(answer(page).locator('code')).toHaveText('$x$');
  expect(loaded.some((url) => /\/math-/.test(url))).toBe(true);
});

test('a diagram is a picture, its source one click away', async ({ page }) => {
  await page.goto('/');
  await say(page, '```mermaid\ngraph TD\n  A[Begin] --> B{Choice}\n  B --> C[End]\n```');
  const picture = answer(page).getByRole('img', { name: 'Diagram' });
  await expect(picture.locator('svg')).toBeVisible();
  await expect(picture).toContainText('Choice');
  await answer(page).getByRole('button', { name: 'Show the source' }).click();
  await expect(answer(page).locator('pre')).toContainText('A[Begin] --> B{Choice}');
  await answer(page).getByRole('button', { name: 'Show the picture' }).click();
  await expect(picture).toBeVisible();
  // What is none stays what it is.
  await say(page, '```mermaid\nthis is no diagram\n```');
  await expect(answer(page).locator('pre')).toHaveText('this is no diagram');
});

test('the user’s Markdown is drawn, and his lines are kept', async ({ page }) => {
  await page.goto('/');
  await say(page, 'Some **bold**\nand a second line\n\n- one\n- two\n\n```js\nlet a;\n```');
  const said = messages(page).first().locator('.chat-body');
  await expect(said.locator('strong')).toHaveText('bold');
  await expect(said.getByRole('listitem')).toHaveText(['one', 'two']);
  await expect(said.locator('.hljs-keyword')).toHaveText('let');
  expect(await said.locator('p').first().innerText()).toBe('Some bold\nand a second line');
});

test('long code is folded, long lines are wrapped on request', async ({ page }) => {
  await page.goto('/');
  const lines = Array.from({ length: 60 }, (_, i) => `line ${i + 1} ${i === 0 ? 'wide '.repeat(80) : ''}`);
  await say(page, '```\n' + lines.join('\n') + '\n```');
  const code = answer(page).locator('.md-code');
  const height = async () => (await code.locator('pre').boundingBox())!.height;
  const folded = await height();
  await answer(page).getByRole('button', { name: 'Show all 60 lines' }).click();
  expect(await height()).toBeGreaterThan(2 * folded);
  const wide = () => code.locator('pre').evaluate((pre) => pre.scrollWidth > pre.clientWidth + 1);
  expect(await wide()).toBe(true);
  await answer(page).getByRole('button', { name: 'Wrap long lines' }).click();
  expect(await wide()).toBe(false);
  await answer(page).getByRole('button', { name: 'Show less' }).click();
  expect(await height()).toBeLessThan(folded + 1);
});
