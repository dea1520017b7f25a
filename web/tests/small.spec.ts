// SPDX-License-Identifier: Apache-2.0
// Small things: the title, tags with names, the width of the sidebar, the quote of a fork, printing, Ctrl+Home.
import { act, answered, composer, expect, messages, say, test } from './lib';

test('the header shows the title that the sidebar shows', async ({ page }) => {
  await page.goto('/');
  await say(page, 'What is a ramet?');
  const link = page.getByRole('navigation').getByRole('link').first();
  await expect(link).toContainText('What is a ramet');
  await expect(page.getByRole('heading', { level: 1 })).toHaveText(await link.innerText());
});

test('tags have names where there is room; the sidebar is made wider by keys and by pointer, and stays so', async ({ page, api }) => {
  const id = await api.chat('Trip', ['a', 'b'], { tags: ['travel', 'plan'] });
  await page.goto(`/chat/${id}`);
  const side = page.getByRole('complementary', { name: 'Chats' });
  await expect(side.getByText('plan', { exact: true })).toBeVisible();
  await expect(side.getByText('travel', { exact: true })).toBeHidden();
  const width = async () => Math.round((await side.boundingBox())!.width);
  expect(await width()).toBe(272);
  const grip = page.getByRole('separator', { name: 'Width of the sidebar' });
  await grip.focus();
  for (let i = 0; i < 6; i++) await page.keyboard.press('ArrowRight');
  await expect.poll(width).toBe(368);
  await expect(side.getByText('travel', { exact: true })).toBeVisible();
  await page.mouse.move(368, 400);
  await page.mouse.down();
  await page.mouse.move(430, 400);
  await page.mouse.up();
  await expect.poll(width).toBe(430);
  await page.reload();
  await expect.poll(width).toBe(430);
  await grip.dblclick();
  await expect.poll(width).toBe(272);
});

test('the quote in the fork dialog is drawn', async ({ page, api }) => {
  const id = await api.chat('Quote', ['q', 'It is **bold** and `code`.']);
  await page.goto(`/chat/${id}`);
  await act(page, messages(page).last(), 'Fork chat from here');
  const dialog = page.getByRole('dialog', { name: 'Fork chat' });
  await expect(dialog).toContainText('After the answer “It is bold and code.”: 2 messages are kept.');
  await expect(dialog.locator('strong')).toHaveText('bold');
});

test('Ctrl+Home goes to the start, Ctrl+P prints the whole chat', async ({ page, api }) => {
  const id = await api.chat('Long', Array.from({ length: 250 }, (_, i) => `Message ${i}`));
  await page.addInitScript(() => {
    window.print = () => void Object.assign(window, { printed: document.querySelectorAll('article').length });
  });
  await page.goto(`/chat/${id}`);
  await expect(messages(page).last()).toContainText('Message 249');
  await expect(composer(page)).toBeFocused();
  await page.keyboard.press('Control+Home');
  await expect(messages(page).first()).toContainText('Message 0');
  await expect(messages(page).first()).toBeInViewport();
  await page.keyboard.press('Control+p');
  await expect.poll(() => page.evaluate(() => (window as unknown as { printed?: number }).printed)).toBe(250);
  await page.emulateMedia({ media: 'print' });
  await expect(composer(page)).toBeHidden();
  const tall = await page.evaluate(() => document.documentElement.scrollHeight);
  expect(tall).toBeGreaterThan(5000);
  await page.emulateMedia({ media: null });
  // With something written, Ctrl+Home is the field's.
  await composer(page).fill('some words');
  await page.keyboard.press('Control+Home');
  await page.keyboard.type('x');
  await expect(composer(page)).toHaveValue('xsome words');
});

test('a file with a long name keeps the shape of its chip', async ({ page }) => {
  await page.goto('/');
  const chooser = page.waitForEvent('filechooser');
  await page.getByRole('button', { name: 'Attach files' }).click();
  const name = `${'long-name-'.repeat(12)}.txt`;
  await (await chooser).setFiles([{ name, mimeType: 'text/plain', buffer: Buffer.from('x') }]);
  await expect(page.getByRole('button', { name: `Remove ${name}` })).toBeVisible();
  await composer(page).fill('look');
  await page.getByRole('button', { name: 'Send', exact: true }).click();
  await answered(page);
  const chip = messages(page).first().getByRole('link', { name });
  await expect(chip).toBeVisible();
  // The chip may be drawn anew while it is measured: then there is no box for a moment.
  await expect(async () => {
    const box = (await chip.boundingBox())!;
    expect(box.width).toBeLessThanOrEqual(241);
    expect(box.height).toBeLessThan(40);
    expect((await chip.locator('svg').boundingBox())!.width).toBe(16);
  }).toPass();
});
