// SPDX-License-Identifier: Apache-2.0
// Whatever is done, in whatever order, here or elsewhere: the messages shown are those of the server's
// effective history, and a reload changes nothing. The seed is in the name of a step that failed;
// WEB_SEED=7 goes the same way again, WEB_STEPS=500 goes further.
import { act, answered, composer, expect, messages, say, test, type Api, type Locator, type Page } from './lib';

const seed = Number(process.env.WEB_SEED ?? Date.now() % 1_000_000);
const STEPS = Number(process.env.WEB_STEPS ?? 24);

/** mulberry32 */
function chance(state: number) {
  const next = () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
  return { below: (n: number) => Math.floor(next() * n), of: <T>(list: T[]): T => list[Math.floor(next() * list.length)]! };
}

interface Shown {
  id: string;
  text: string;
}

const shown = (page: Page): Promise<Shown[]> =>
  page.evaluate(() =>
    [...document.querySelectorAll<HTMLElement>('article')].map((each) => ({
      id: each.dataset.entry ?? 'not recorded',
      text: each.querySelector<HTMLElement>('.chat-body')?.innerText.trim() ?? '',
    })),
  );

const sessionOf = (page: Page) => decodeURIComponent(new URL(page.url()).pathname.split('/')[2] ?? '');

async function history(api: Api, page: Page): Promise<Shown[]> {
  const { entries } = await api.get(`sessions/${sessionOf(page)}/entries?limit=1000`);
  return entries.map((each: Shown) => ({ id: each.id, text: each.text }));
}

const agrees = (api: Api, page: Page, when: string) =>
  expect(async () => expect(await shown(page), when).toEqual(await history(api, page))).toPass({ timeout: 8000 });

/** Does something that writes, and waits until the server has answered it. */
const wrote = async (page: Page, run: () => Promise<unknown>) => {
  const answer = page.waitForResponse((each) => each.request().method() === 'POST');
  await run();
  await answer;
};
const saved = async (page: Page, text: string) => {
  await page.getByRole('textbox', { name: 'Edit message' }).fill(text);
  await wrote(page, () => page.getByRole('button', { name: 'Save', exact: true }).click());
  await expect(page.getByRole('textbox', { name: 'Edit message' })).toHaveCount(0);
  await answered(page);
};

interface Step {
  page: Page;
  api: Api;
  luck: ReturnType<typeof chance>;
  text: string;
}

/** Messages of a role; which is which tells the menu. */
async function pick({ page, luck }: Step, role: 'user' | 'assistant', from = 0): Promise<Locator | null> {
  const some = page.locator(`article.chat-${role}`);
  const count = await some.count();
  return count > from ? some.nth(from + luck.below(count - from)) : null;
}

const steps: Record<string, (step: Step) => Promise<void>> = {
  say: ({ page, text }) => say(page, text),
  'edit a message': async (step) => {
    const one = await pick(step, 'user');
    if (!one) return;
    await act(step.page, one, 'Edit');
    await saved(step.page, step.text);
  },
  'edit an answer': async (step) => {
    const one = await pick(step, 'assistant');
    if (!one) return;
    await act(step.page, one, 'Edit');
    await saved(step.page, step.text);
  },
  regenerate: async (step) => {
    const one = await pick(step, 'assistant');
    if (!one) return;
    const id = await one.getAttribute('data-entry');
    await wrote(step.page, () => act(step.page, one, 'Regenerate'));
    await expect(step.page.locator(`article[data-entry="${id}"]`)).toHaveCount(0);
    await answered(step.page);
  },
  rewind: async (step) => {
    const role = step.luck.of(['user', 'assistant'] as const);
    const one = await pick(step, role, role === 'user' ? 1 : 0);
    if (!one || (role === 'assistant' && (await one.getAttribute('data-entry')) === (await messages(step.page).last().getAttribute('data-entry')))) return;
    await wrote(step.page, () => act(step.page, one, 'Rewind to here'));
    await expect(step.page.getByText(/later messages? set aside/)).toBeVisible();
  },
  undo: async ({ page }) => {
    const button = page.getByRole('button', { name: 'Undo', exact: true }).first();
    if (await button.isVisible()) await wrote(page, () => button.click());
  },
  'another version': async ({ page, luck }) => {
    const buttons = page.getByRole('button', { name: luck.of(['Previous version', 'Next version']) });
    const count = await buttons.count();
    if (!count) return;
    const one = buttons.nth(luck.below(count));
    if (await one.isEnabled()) await wrote(page, () => one.click());
  },
  fork: async (step) => {
    const one = await pick(step, 'assistant');
    if (!one) return;
    const before = step.page.url();
    await act(step.page, one, 'Fork chat from here');
    await step.page.getByRole('dialog', { name: 'Fork chat' }).getByRole('button', { name: 'Fork', exact: true }).click();
    await expect(step.page).not.toHaveURL(before);
  },
  'somebody appends': async ({ page, api, text }) => {
    await api.post(`sessions/${sessionOf(page)}/entries`, { entries: [{ role: 'user', text }, { role: 'assistant', text: `re: ${text}` }] });
  },
  'somebody rewinds': async ({ page, api, luck }) => {
    const entries = await history(api, page);
    if (entries.length > 2) await api.post(`sessions/${sessionOf(page)}/rewind`, { at: { entry_id: entries[1 + luck.below(entries.length - 2)]!.id } });
  },
  'somebody undoes': async ({ page, api }) => {
    await api.post(`sessions/${sessionOf(page)}/undo`).catch(() => undefined); // nothing to undo
  },
};

test('the messages shown are the effective history, whatever is done', async ({ page, api }) => {
  test.setTimeout(30_000 + STEPS * 2_000);
  const luck = chance(seed);
  await page.goto('/');
  await composer(page).fill('hello');
  await page.getByRole('button', { name: 'Send', exact: true }).click();
  await expect(messages(page)).toHaveCount(2);
  await answered(page);
  const done: string[] = [];
  for (let i = 1; i <= STEPS; i++) {
    const name = luck.of(Object.keys(steps));
    done.push(name);
    await test.step(`WEB_SEED=${seed}, ${i}: ${name}`, async () => {
      await steps[name]!({ page, api, luck, text: `step ${i}` });
      await agrees(api, page, `WEB_SEED=${seed}: ${done.join(', ')}`);
      if (i % 8) return;
      const before = await shown(page);
      await page.reload();
      await expect(messages(page)).toHaveCount(before.length);
      expect(await shown(page), `WEB_SEED=${seed}: ${done.join(', ')}, reload`).toEqual(before);
      await agrees(api, page, `WEB_SEED=${seed}: ${done.join(', ')}, reload`);
    });
  }
});
