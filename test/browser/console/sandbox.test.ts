import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { type ConsoleService, startConsoleService } from '../../support/console/console-browser.ts'
import { accessibilityViolations } from '../../support/http/accessibility.ts'
import {
  buttonsWith,
  DESKTOP,
  dataLoaded,
  type OpenedPage,
  openPage,
  PHONE,
  tabTo,
} from '../../support/http/browser.ts'

let service: ConsoleService
beforeAll(async () => {
  service = await startConsoleService()
})
afterAll(() => service.close())

let opened: OpenedPage
let page: Page
afterEach(() => page.close())

async function open(accountId: string, viewport = DESKTOP) {
  opened = await openPage(service.browser, await service.createLink(accountId), viewport)
  page = opened.page
}
const press = (name: string) => buttonsWith(page, name).first().click()
const submit = (name: string) => page.getByRole('dialog').getByRole('button', { name }).click()
const show = (section: string) => page.getByRole('navigation').getByText(section).click()
const heading = (name: string) => page.getByRole('heading', { name }).waitFor()
const state = (text: string) =>
  page.locator('.card .badge').getByText(text, { exact: true }).waitFor()

/** Creates an order, and waits for its card. */
async function createTestOrder(scenario: string) {
  await show('Testes')
  await heading('Testes') // The page renders the section after the click returns.
  await dataLoaded(page)
  const cards = page.locator('.card')
  const before = await cards.count()
  await press('Criar pedido de teste')
  await page.getByLabel('Ele começa como').selectOption(scenario)
  await submit('Criar pedido')
  await cards.nth(before).waitFor()
}

it('a test order lives a whole life with the keyboard alone', async () => {
  await open('acc_life')
  const { keyboard } = page
  const enter = async (name: string) => {
    await tabTo(page, name)
    await keyboard.press('Enter')
  }
  await enter('Testes')
  await heading('Nenhum pedido de teste ainda')
  await enter('Criar pedido de teste')
  await enter('Criar pedido')
  await state('À espera de pagamento')

  await enter('Pagar')
  await state('Pago')
  const focused = await page.locator(':focus').innerText()
  expect(focused).toBe(await page.locator('.card h2').innerText())
  expect(await accessibilityViolations(page)).toEqual([])
  await keyboard.press('Tab')
  expect(await page.locator(':focus').innerText()).toBe('Reembolsar')
  await keyboard.press('Enter')
  await state('Reembolsado')

  await enter('Apagar')
  await page.getByRole('dialog', { name: 'Apagar este pedido de teste?' }).waitFor()
  await enter('Apagar pedido')
  await state('Apagado')
  expect(await page.locator('.card button').count()).toBe(0)
  expect(opened.complaints).toEqual([])
})

it('a test order never appears among the latest orders', async () => {
  await open('acc_separate')
  await createTestOrder('Cartão aprovado')
  await show('Pedidos')
  await heading('Nenhum pedido ainda')
})

it('the newest test order comes first, with the moves that are possible now', async () => {
  await open('acc_moves')
  await createTestOrder('Contestação (chargeback) aberta')
  await state('Chargeback')
  await createTestOrder('Boleto emitido, à espera do pagamento')
  await state('À espera de pagamento')
  const cards = await page.locator('.card-actions').allInnerTexts()
  const moves = cards.map((text) => text.split(/\s*\n\s*/))
  expect(moves).toEqual([
    ['Pagar', 'Deixar vencer', 'Apagar'],
    ['Ganhar a disputa', 'Apagar'],
  ])
})

it('a move that became impossible is explained, and the order shown as it is now', async () => {
  await open('acc_other_tab')
  await createTestOrder('PIX emitido, à espera do pagamento')
  const id = await page.locator('.card code').innerText()
  const path = `/v1/accounts/acc_other_tab/sandbox-orders/${id}/pay`
  await page.evaluate(`fetch('${path}', { method: 'POST' })`)
  await press('Pagar')
  await page.getByText('Este pedido já tinha mudado em outro lugar.').waitFor()
  await state('Pago')
})

it('a move that fails is explained on its card', async () => {
  await open('acc_failing')
  await createTestOrder('Cartão aprovado')
  const error = { message: 'Serviço temporariamente indisponível.' }
  await page.route('**/refund', (route) => route.fulfill({ status: 503, json: { error } }))
  await press('Reembolsar')
  await page.getByRole('alert').getByText(error.message).waitFor()
  await state('Pago')
})

it('a test key is created from the test orders, and marked in the list', async () => {
  await open('acc_test_key', PHONE)
  await createTestOrder('PIX pago')
  await press('Criar chave de teste')
  await page.getByLabel('Nome').fill('Teste do ERP')
  await submit('Criar chave')
  await page.getByRole('dialog', { name: 'Chave de teste criada' }).waitFor()
  expect(await page.getByLabel('Guarde este texto').inputValue()).toMatch(/^key_test_/)
  await press('Já guardei')
  await page
    .locator('.card', { hasText: 'Teste do ERP' })
    .getByText('Teste', { exact: true })
    .waitFor()
  await page.getByText('Você só tem chaves de teste.').waitFor()

  await press('Criar chave')
  await page.getByLabel('Nome').fill('ERP')
  await submit('Criar chave')
  expect(await page.getByLabel('Guarde este texto').inputValue()).toMatch(/^key_live_/)
  await press('Já guardei')
  await page.getByText('Você só tem chaves de teste.').waitFor({ state: 'detached' })
  expect(await page.locator('.card', { hasText: 'os pedidos da loja' }).innerText()).not.toContain(
    'Teste',
  )

  await show('Testes')
  await heading('Pedido …')
  expect(await page.getByRole('button', { name: 'Criar chave de teste' }).count()).toBe(0)
})

it('a webhook of test orders is marked, in its list and among the deliveries', async () => {
  await open('acc_test_hook', PHONE)
  await show('Webhooks')
  await press('Cadastrar webhook')
  await page.getByLabel('Endereço').fill('https://homologacao.example/avisos')
  await page.getByLabel('Avisar sobre').selectOption('só os pedidos de teste')
  await submit('Cadastrar')
  await press('Já guardei')
  await state('Teste')
  await show('Entregas')
  const chosen = page.getByLabel('Webhook', { exact: true })
  await chosen.waitFor()
  const options = await chosen.locator('option').allInnerTexts()
  expect(options).toEqual(['https://homologacao.example/avisos (teste)'])
})
