import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { type ConsoleService, startConsoleService } from '../../support/console/console-browser.ts'
import { createWebhooks } from '../../support/console/create-webhooks.ts'
import { buttonsWith, openPage, PHONE, reloadPage } from '../../support/http/browser.ts'

let service: ConsoleService
beforeAll(async () => {
  service = await startConsoleService()
})
afterAll(() => service.close())

let page: Page
afterEach(() => page.close())

/** Opens a section of an account with these webhooks. */
async function open(accountId: string, webhooks: readonly string[], section: string) {
  page = (await openPage(service.browser, await service.createLink(accountId), PHONE)).page
  await createWebhooks(page, accountId, webhooks)
  await show(section)
}
const show = (section: string) => page.getByRole('navigation').getByText(section).click()
const chosen = () => page.getByLabel('Webhook', { exact: true })
const chosenName = () => chosen().locator('option:checked').innerText()

/** The deliveries of every webhook are these. */
const deliver = (...data: object[]) =>
  page.route('**/deliveries?*', (route) => route.fulfill({ json: { data, next_cursor: null } }))
const delivery = {
  id: 'dlv_1',
  type: 'order.paid',
  order_id: 'ord_1',
  sequence: 1,
  state: 'pending',
  attempts: [],
}

it('the chosen webhook stays after a reload, a visit elsewhere and a click on the current part', async () => {
  await open('acc_chosen', ['ERP', 'CRM'], 'Entregas')
  await chosen().selectOption('CRM')
  await reloadPage(page)
  expect(await chosenName()).toBe('CRM')
  await show('Uso')
  await page.getByRole('heading', { name: 'Uso', exact: true }).waitFor()
  await show('Entregas')
  await chosen().waitFor()
  await deliver(delivery)
  await show('Entregas')
  await page.getByRole('heading', { name: 'Pedido pago' }).waitFor()
  expect(await chosenName()).toBe('CRM')
})

it('after a test of a webhook, its deliveries are shown', async () => {
  await open('acc_test', ['ERP', 'CRM'], 'Webhooks')
  await page.getByRole('button', { name: 'Enviar um teste: CRM' }).click()
  await page.getByText('Teste na fila').waitFor()
  await show('Entregas')
  await page.getByRole('heading', { name: 'Aviso de teste' }).waitFor()
  expect(await chosenName()).toBe('CRM')
})

it('"Atualizar" reads the deliveries of the same filter, and whether the webhook fails', async () => {
  await open('acc_update', ['ERP'], 'Entregas')
  await page.getByRole('heading', { name: 'Nenhum aviso enviado ainda' }).waitFor()
  await page.getByRole('checkbox').check()
  await page.getByRole('heading', { name: 'Nenhum aviso falhou de vez' }).waitFor()
  await deliver({ ...delivery, next_at: '2026-03-01T12:00:00.000Z' })
  await page.route('**/webhook-endpoints?*', async (route) => {
    const response = await route.fetch()
    const { data, ...list } = await response.json()
    const failing = data.map((one: object) => ({ ...one, failing_since: '2026-03-01T12:00:00Z' }))
    return route.fulfill({ response, json: { ...list, data: failing } })
  })
  const read = page.waitForRequest('**/deliveries?*')
  await buttonsWith(page, 'Atualizar').click()
  expect((await read).url()).toContain('state=failed')
  await page.locator('.card').getByText('o endereço está falhando').waitFor()
})

it('only a delivery that ended has "Reenviar"', async () => {
  await open('acc_states', ['ERP'], 'Webhooks')
  const states = ['pending', 'held', 'delivered', 'failed', 'expired', 'canceled']
  await deliver(...states.map((state) => ({ ...delivery, id: `dlv_${state}`, state })))
  await show('Entregas')
  await page.getByRole('heading', { name: 'Pedido pago' }).first().waitFor()
  const cards = await page.locator('.card').allInnerTexts()
  const isOffered = cards.map((text) => text.includes('Reenviar'))
  expect(isOffered).toEqual([false, false, true, true, true, true])
})

it('a message of the service says webhook, as the page does', async () => {
  await open('acc_words', ['ERP'], 'Entregas')
  await chosen().waitFor()
  const error = { message: 'O endpoint está desativado. Ative-o antes.' }
  await page.route('**/deliveries?*', (route) => route.fulfill({ status: 409, json: { error } }))
  await buttonsWith(page, 'Atualizar').click()
  await page.getByText('O webhook está desativado. Ative-o antes.').waitFor()
})
