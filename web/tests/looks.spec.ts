// SPDX-License-Identifier: Apache-2.0
// Every view is looked at by axe, in light and dark, and fits a phone: nothing serious, nothing that
// sticks out, nothing too small for a finger.
import AxeBuilder from '@axe-core/playwright';
import { composer, expect, messages, test, type Api, type Page } from './lib';

const MARKDOWN =
  'Words, `code` and a [link](https://example.org).\n\n```c\nint main(void) { return 0; }\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n- one\n- two';

async function family(api: Api) {
  const id = await api.chat(
    'A chat with a rather long title that does not fit into a narrow column',
    ['What is it?', MARKDOWN, 'And then?', 'a3'],
    {
      tags: ['plan', 'travel'],
    },
  );
  const { entries } = await api.get(`sessions/${id}/entries`);
  await api.post(`sessions/${id}/edit`, { entry_id: entries[3].id, text: 'a3 anew' });
  const fork = await api.post(`sessions/${id}/fork`, {
    at: { entry_id: entries[1].id, side: 'after' },
    title: 'Fork',
    tags: ['cheap'],
  });
  await api.post(`sessions/${fork.id}/entries`, {
    entries: [
      { role: 'user', text: 'What else?' },
      { role: 'assistant', text: 'Nothing.' },
    ],
  });
  await api.post(`sessions/${fork.id}/fork`, { title: 'Side question', ephemeral_seconds: 3600 });
  return { id, fork: fork.id as string };
}

const LEVELS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'best-practice'];

async function sound(page: Page, view: string, dark: boolean) {
  // Another scheme changes colours and nothing else.
  const axe = new AxeBuilder({ page });
  const { violations } = await (dark ? axe.withRules(['color-contrast']) : axe.withTags(LEVELS)).analyze();
  const told = violations
    .filter((each) => each.impact === 'serious' || each.impact === 'critical')
    .map((each) => `${each.id}: ${each.nodes.map((node) => `${node.target} ${node.failureSummary}`).join('; ')}`);
  expect(told, view).toEqual([]);
}

/** Opens every view and dialog, and calls for each of them. */
async function walk(page: Page, api: Api, look: (view: string) => Promise<void>) {
  const { id, fork } = await family(api);
  const phone = page.viewportSize()!.width < 500;
  const close = async () => {
    await page.keyboard.press('Escape');
    await expect(page.getByRole('dialog')).toHaveCount(0);
  };
  await page.goto(`/chat/${id}`);
  await expect(messages(page)).toHaveCount(4);
  await look('chat');
  await messages(page).last().hover();
  await messages(page).last().getByRole('button', { name: 'Message actions' }).click();
  await expect(page.getByRole('menu')).toBeVisible();
  await look('menu');
  await page.getByRole('menuitem', { name: 'Fork chat from here' }).click();
  await expect(page.getByRole('dialog', { name: 'Fork chat' })).toBeVisible();
  await look('fork dialog');
  await close();
  for (const name of ['Tags', 'Compare', 'Share', 'Moves']) {
    await page.getByRole('button', { name, exact: true }).first().click();
    await expect(page.getByRole('dialog')).toBeVisible();
    await look(name);
    await close();
  }
  await page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur());
  await page.keyboard.press('?');
  await expect(page.getByRole('dialog')).toBeVisible();
  await page.getByRole('button', { name: 'Change keys' }).click();
  await look('keys');
  await close();
  await page.keyboard.press('Control+k');
  await expect(page.getByRole('option').first()).toBeVisible();
  await look('palette');
  await close();
  if (phone) await page.getByRole('button', { name: 'Show the sidebar' }).click();
  await page
    .getByRole('radio', { name: 'Tree' })
    .or(page.getByRole('button', { name: 'Tree', exact: true }))
    .or(page.getByRole('tab', { name: 'Tree' }))
    .first()
    .click();
  await expect(page.getByRole('treeitem').first()).toBeVisible();
  await look('sidebar');
  await page.goto(`/timeline/${id}`);
  await expect(page.getByRole('listitem').first()).toBeVisible();
  await look('timeline');
  await page.goto(`/compare?side=${id}&side=${fork}`);
  await expect(page.getByRole('columnheader')).toHaveCount(2);
  await page.getByRole('button', { name: 'Differences' }).click();
  await look('compare');
  await page.goto('/');
  await expect(page.getByRole('main')).toBeVisible();
  await look('home');
}

for (const colorScheme of ['light', 'dark'] as const)
  test(`axe finds nothing serious, ${colorScheme}`, async ({ page, api }) => {
    test.slow();
    await page.emulateMedia({ colorScheme });
    await walk(page, api, (view) => sound(page, view, colorScheme === 'dark'));
  });

test.describe('on a phone', () => {
  test.use({ viewport: { width: 375, height: 700 }, hasTouch: true, isMobile: true });

  test('nothing sticks out, and fingers find their way', async ({ page, api }) => {
    test.slow();
    await walk(page, api, async (view) => {
      const found = await page.evaluate(() => {
        const out: string[] = [];
        if (document.scrollingElement!.scrollWidth > innerWidth)
          out.push(`the page is ${document.scrollingElement!.scrollWidth} px wide`);
        for (const element of document.querySelectorAll<HTMLElement>('button, a[href], input, select, textarea')) {
          if (!element.checkVisibility({ visibilityProperty: true }) || element.closest('[inert]')) continue;
          const box = element.getBoundingClientRect();
          if (box.width === 0 || element.closest('.md, .compare-scroll, .sr-only')) continue;
          const name = element.getAttribute('aria-label') ?? element.textContent?.slice(0, 30) ?? element.tagName;
          if (box.left < -1 || box.right > innerWidth + 1)
            out.push(`${name} sticks out: ${Math.round(box.left)}..${Math.round(box.right)}`);
          if (element.tagName === 'BUTTON' && (box.height < 24 || box.width < 24))
            out.push(`${name} is ${Math.round(box.width)}x${Math.round(box.height)}`);
        }
        return out;
      });
      expect.soft(found, view).toEqual([]);
    });
    await expect(composer(page).or(page.getByRole('main')).first()).toBeVisible();
  });
});
