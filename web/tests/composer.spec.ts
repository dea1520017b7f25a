// SPDX-License-Identifier: Apache-2.0
//
// composer.spec.ts: drafts, attachments, the agent, several agents at once.
import { composer, expect, messages, say, test } from './lib';

const PIXEL = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

test('drafts are kept for each chat, over chats and reloads', async ({ page, api }) => {
  const one = await api.chat('One', ['a', 'b']);
  const two = await api.chat('Two', ['c', 'd']);
  await page.goto(`/chat/${one}`);
  await composer(page).fill('half a thought');
  await page.getByRole('link', { name: 'Two' }).or(page.getByRole('button', { name: 'Two' })).first().click();
  await expect(messages(page).first().locator('.chat-body')).toHaveText('c');
  await expect(composer(page)).toHaveValue('');
  await page.goBack();
  await expect(composer(page)).toHaveValue('half a thought');
  await page.reload();
  await expect(composer(page)).toHaveValue('half a thought');
  await page.goto(`/chat/${two}`);
  await expect(composer(page)).toHaveValue('');
});

test('Shift+Enter is a new line, Enter sends, an empty message is not sent', async ({ page }) => {
  await page.goto('/');
  await expect(page.getByRole('button', { name: 'Send', exact: true })).toBeDisabled();
  await composer(page).pressSequentially('one');
  await page.keyboard.press('Shift+Enter');
  await composer(page).pressSequentially('two');
  await page.keyboard.press('Enter');
  await expect(messages(page)).toHaveCount(2);
  await expect(messages(page).first().locator('.chat-body')).toHaveText('one\ntwo', { useInnerText: true });
});

test('files are attached by the button, by paste and by drop, previewed and removed', async ({ page, api }) => {
  await page.goto('/');
  const chooser = page.waitForEvent('filechooser');
  await page.getByRole('button', { name: 'Attach files' }).click();
  await (await chooser).setFiles([
    { name: 'dot.png', mimeType: 'image/png', buffer: PIXEL },
    { name: 'wrong.txt', mimeType: 'text/plain', buffer: Buffer.from('not this') },
  ]);
  await expect(page.getByRole('button', { name: 'Remove dot.png' })).toBeVisible();
  await page.getByRole('button', { name: 'Remove wrong.txt' }).click();
  await expect(page.getByText('wrong.txt')).toHaveCount(0);
  const give = (kind: 'paste' | 'drop', name: string) =>
    page.evaluate(
      ([what, called]) => {
        const data = new DataTransfer();
        data.items.add(new File(['some words'], called, { type: 'text/plain' }));
        const field = document.querySelector('textarea[data-composer]')!;
        field.dispatchEvent(
          what === 'paste'
            ? new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true })
            : new DragEvent('drop', { dataTransfer: data, bubbles: true, cancelable: true }),
        );
      },
      [kind, name] as const,
    );
  await give('paste', 'pasted.txt');
  await expect(page.getByRole('button', { name: 'Remove pasted.txt' })).toBeVisible();
  await give('drop', 'dropped.txt');
  await expect(page.getByRole('button', { name: 'Remove dropped.txt' })).toBeVisible();
  await composer(page).fill('with files');
  await expect(page.getByRole('button', { name: 'Send', exact: true })).toBeEnabled();
  await page.getByRole('button', { name: 'Send', exact: true }).click();
  await expect(messages(page)).toHaveCount(2);
  await expect(messages(page).first().getByRole('img', { name: 'dot.png' })).toBeVisible();
  await expect(messages(page).first().getByRole('link', { name: 'pasted.txt' })).toBeVisible();
  const id = page.url().split('/').at(-1)!;
  const { entries } = await api.get(`sessions/${id}/entries`);
  expect(entries[0].parts.filter((part: { type: string }) => part.type === 'file')).toHaveLength(3);
  await page.reload();
  await expect(messages(page).first().getByRole('img', { name: 'dot.png' })).toBeVisible();
});

test('a file that is taken away while it is uploaded stays away', async ({ page }) => {
  await page.goto('/');
  let go = () => {};
  const held = new Promise<void>((done) => (go = done));
  await page.route('**/attachments*', async (route) => {
    if (route.request().method() === 'POST') await held;
    await route.fallback();
  });
  const chooser = page.waitForEvent('filechooser');
  await page.getByRole('button', { name: 'Attach files' }).click();
  await (await chooser).setFiles([{ name: 'slow.txt', mimeType: 'text/plain', buffer: Buffer.from('not this') }]);
  await page.getByRole('button', { name: 'Remove slow.txt' }).click();
  await expect(page.getByText('slow.txt')).toHaveCount(0);
  const forgotten = page.waitForResponse((answer) => answer.request().method() === 'DELETE');
  go();
  await forgotten;
  await expect(page.getByText('slow.txt')).toHaveCount(0);
});

test('the agent is chosen for a new chat, and changed in one that is', async ({ page, api }) => {
  await page.goto('/');
  await page.getByRole('button', { name: 'Agent: echo' }).click();
  await page.getByRole('menuitemcheckbox', { name: 'second' }).click();
  await say(page, 'hello');
  const id = page.url().split('/').at(-1)!;
  expect((await api.get(`sessions/${id}`)).agent.name).toBe('second');
  await page.getByRole('button', { name: 'Agent: second' }).click();
  await page.getByRole('menuitemcheckbox', { name: 'third' }).click();
  await expect(page.getByRole('button', { name: 'Agent: third' })).toBeVisible();
  await say(page, 'again');
  const { turns } = await api.get(`sessions/${id}/turns`);
  expect(turns.map((turn: { agent: string }) => turn.agent)).toEqual(['third', 'second']);
});

test('the same message to several agents, side by side', async ({ page, api }) => {
  const id = await api.chat('Ask', ['one', 'two']);
  await page.goto(`/chat/${id}`);
  await composer(page).fill('which is best?');
  await page.getByRole('button', { name: 'Ask several agents' }).click();
  await page.getByRole('button', { name: 'Ask 3 agents' }).click();
  await expect(page).toHaveURL(/\/compare\?side=.*side=.*side=/);
  const { sessions } = await api.get(`sessions/${id}/children`);
  expect(sessions).toHaveLength(3);
  expect(await api.texts(id)).toEqual(['one', 'two']);
  await page.goBack();
  await expect(composer(page)).toHaveValue('');
});

test('the answers of several agents are named by these, whatever their chats are called', async ({ page, api }) => {
  await page.goto('/');
  await composer(page).fill('which is best?');
  await page.getByRole('button', { name: 'Ask several agents' }).click();
  await page.getByRole('button', { name: 'Ask 3 agents' }).click();
  await expect(page).toHaveURL(/\/compare\?side=.*side=.*side=/);
  const agents = ['echo', 'second', 'third'];
  for (const agent of agents) await expect(page.locator('.side-row').filter({ hasText: agent })).toHaveCount(1);
  const forks = (await api.get('sessions')).sessions.filter((one: { forked_from: object | null }) => one.forked_from);
  expect(forks).toHaveLength(3);
  for (const [i, fork] of forks.entries()) await api.patch(`sessions/${fork.id}`, { title: `Title ${i}` });
  await expect(page.locator('.side-row').filter({ hasText: 'Title 2' })).toBeVisible();
  await page.reload();
  for (const agent of agents) {
    await expect(page.getByRole('columnheader').getByRole('link', { name: agent, exact: true })).toBeVisible();
    await expect(page.getByRole('radio', { name: agent, exact: true })).toBeVisible();
  }
  // What all of them answered is shown once.
  await expect(page.getByRole('article', { name: /^(echo|second|third)(, (echo|second|third)){2}$/ })).toBeVisible();
});

test('an agent that cannot be asked is named, and leaves no chat behind', async ({ page, api, allow }) => {
  allow(/429/);
  let refused = 0;
  const full = { status: 429, json: { code: 'too_busy', error: 'too many turns run already' } };
  await page.route('**/regenerate', (route) =>
    refused < 3 || route.request().postDataJSON().agent === 'third' ? (refused++, route.fulfill(full)) : route.continue(),
  );
  await page.goto('/');
  await composer(page).fill('which is best?');
  await page.getByRole('button', { name: 'Ask several agents' }).click();
  await page.getByRole('button', { name: 'Ask 3 agents' }).click();
  await expect(page.getByText('too many turns run already')).toBeVisible();
  expect((await api.get('sessions')).sessions).toHaveLength(1);
  // Again: the question is not asked twice, and those that can be asked are.
  await page.getByRole('button', { name: 'Try again' }).click();
  await expect(page).toHaveURL(/\/compare\?side=[^&]+&side=[^&]+$/);
  await expect(page.getByText('third: too many turns run already')).toBeVisible();
  await expect(page.getByRole('radio', { name: 'second' })).toBeVisible();
  const { sessions } = await api.get('sessions');
  expect(sessions).toHaveLength(3);
  for (const one of sessions) expect((await api.get(`sessions/${one.id}/entries`)).entries.filter((e: { role: string }) => e.role === 'user')).toHaveLength(1);
});

test('as many agents as are ticked are asked; each is named; one that failed says why', async ({ page, api }) => {
  await page.goto('/');
  await composer(page).fill('/slow 100\n/fail after 9 the model is gone\nSome **bold** words and then many more of them follow');
  await page.getByRole('button', { name: 'Ask several agents' }).click();
  const box = page.getByRole('dialog', { name: 'Ask several agents' });
  await expect(box.getByRole('checkbox')).toHaveCount(3);
  await box.getByRole('checkbox', { name: 'third' }).uncheck();
  await page.getByRole('button', { name: 'Ask 2 agents' }).click();
  await expect(page).toHaveURL(/\/compare\?side=[^&]+&side=[^&]+$/);
  await expect(page.getByRole('columnheader', { name: /echo/ }).or(page.getByRole('columnheader', { name: /second/ }))).toHaveCount(2);
  await expect(page.getByRole('article', { name: 'second' })).toBeVisible();
  await expect(page.getByRole('note').filter({ hasText: 'told to fail' }).first()).toBeVisible();
  await expect(page.getByRole('radio', { name: 'second' })).toBeVisible();
  // No chat is left behind with nothing in it.
  const { sessions } = await api.get('sessions');
  expect(sessions).toHaveLength(3);
  for (const session of sessions) expect(session.head.length).toBeGreaterThan(0);
});

test('Markdown is drawn while several answer', async ({ page, api }) => {
  const id = await api.chat('Ask', ['one', 'two']);
  await page.goto(`/chat/${id}`);
  await composer(page).fill('/slow 150\nSome **bold** words and then many more of them follow until it is over at last');
  await page.getByRole('button', { name: 'Ask several agents' }).click();
  await page.getByRole('button', { name: 'Ask 3 agents' }).click();
  const busy = page.locator('article[aria-busy="true"]');
  await expect(busy.locator('strong').first()).toHaveText('bold');
  await expect(page.getByRole('article', { name: 'third' })).toBeVisible();
  await expect(busy).toHaveCount(0);
  await expect(page.getByRole('radio', { name: 'third' })).toBeVisible();
});
