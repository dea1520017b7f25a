// SPDX-License-Identifier: Apache-2.0
// "Bring into…": copies of messages and summaries, their preview, waiting for an answer, and cards of origin.
import { act, expect, messages, test, type Api, type Page } from './lib';

const dialog = (page: Page) => page.getByRole('dialog', { name: 'Bring into…' });
const bring = (page: Page) => dialog(page).getByRole('button', { name: 'Bring', exact: true });

async function pair(api: Api) {
  const root = await api.chat('Root', ['q0', 'a1']);
  const fork = await api.post(`sessions/${root}/fork`, { title: 'Side' });
  await api.post(`sessions/${fork.id}/entries`, {
    entries: [
      { role: 'user', text: 'by bus?' },
      { role: 'assistant', text: 'nine hours' },
    ],
  });
  return { root, side: fork.id as string };
}

test('one message is brought, with a card of origin both ways, and undone', async ({ page, api }) => {
  const { root, side } = await pair(api);
  await page.goto(`/chat/${side}`);
  await act(page, messages(page).last(), 'Bring into…');
  await expect(dialog(page).getByText('1 message would be appended')).toBeVisible();
  await expect(dialog(page).getByRole('listitem')).toHaveText([/nine hours/]);
  expect(await api.texts(root)).toEqual(['q0', 'a1']);
  await bring(page).click();
  await expect(page).toHaveURL(new RegExp(`/chat/${root}$`));
  await expect(messages(page)).toHaveCount(3);
  const card = messages(page).last().getByRole('note', { name: 'Origin' });
  await expect(card).toHaveText('Brought from Side');
  await card.getByRole('link').click();
  await expect(page).toHaveURL(new RegExp(`/chat/${side}\\?entry=`));
  await expect(page.getByRole('note', { name: 'Destination' })).toHaveText('Brought into Root');
  await page.getByRole('button', { name: 'Undo', exact: true }).click();
  await expect.poll(() => api.texts(root)).toEqual(['q0', 'a1']);
});

test('all that is new is brought from a compare column', async ({ page, api }) => {
  const { root, side } = await pair(api);
  await page.goto(`/compare?side=${root}&side=${side}`);
  await page.getByRole('button', { name: 'Bring Side into…' }).click();
  await expect(dialog(page).getByText('2 messages would be appended')).toBeVisible();
  await bring(page).click();
  await expect(messages(page)).toHaveCount(4);
  expect(await api.texts(root)).toEqual(['q0', 'a1', 'by bus?', 'nine hours']);
});

test('by keyboard, a summary is written, changed and lands', async ({ page, api }) => {
  const { root, side } = await pair(api);
  await page.goto(`/chat/${side}`);
  await messages(page).last().focus();
  await page.keyboard.press('m');
  await dialog(page).getByRole('radio', { name: 'This message' }).focus();
  await page.keyboard.press('ArrowLeft');
  await expect(dialog(page).getByRole('radio', { name: 'A summary' })).toBeChecked();
  await expect(bring(page)).toBeDisabled();
  await dialog(page).getByRole('button', { name: 'Have it written' }).click();
  const field = dialog(page).getByRole('textbox', { name: 'Summary' });
  await expect(field).not.toHaveValue('');
  expect(await api.texts(root)).toHaveLength(2);
  await field.fill('The bus takes nine hours.');
  await bring(page).click();
  await expect(messages(page).last()).toContainText('The bus takes nine hours.');
  expect((await api.texts(root)).at(-1)).toBe('The bus takes nine hours.');
});

test('what is brought waits while the target answers', async ({ page, api, allow }) => {
  allow(/409/); // the preview of a target that answers may be refused
  const { root, side } = await pair(api);
  await page.goto(`/chat/${side}`);
  await expect(messages(page)).toHaveCount(4);
  const turn = api.post(`sessions/${root}/messages`, { text: '/permit May I?' });
  await expect.poll(async () => (await api.get(`sessions/${root}`)).running?.question?.id ?? null).not.toBeNull();
  await act(page, messages(page).last(), 'Bring into…');
  await expect(dialog(page).getByText(/is being answered/)).toBeVisible();
  const sent = page.waitForRequest((r) => r.url().endsWith('/merge') && /"when":"idle"/.test(r.postData() ?? ''));
  await bring(page).click();
  await sent;
  const { running } = await api.get(`sessions/${root}`);
  expect((await api.texts(root)).includes('nine hours')).toBe(false);
  await api.post(`sessions/${root}/turns/${running.turn_id}/answer`, { question_id: running.question.id, answer: 'allow' });
  await turn;
  await expect(page).toHaveURL(new RegExp(`/chat/${root}$`));
  await expect(messages(page).last()).toContainText('nine hours');
});
