import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { type ConsoleService, startConsoleService } from '../../support/console/console-browser.ts'
import { openPage, PHONE } from '../../support/http/browser.ts'

let service: ConsoleService
beforeAll(async () => {
  service = await startConsoleService()
})
afterAll(() => service.close())

let page: Page
afterEach(() => page.close())

async function open(accountId: string, section: string) {
  page = (await openPage(service.browser, await service.createLink(accountId), PHONE)).page
  await page.getByRole('navigation').getByText(section).click()
  await page.getByRole('heading', { name: section, exact: true }).waitFor()
}
const press = (name: string) => page.getByRole('button', { name }).first().click()
const submit = (name: string) => page.getByRole('dialog').getByRole('button', { name }).click()
const problem = (text: string) => page.getByRole('alert').getByText(text).waitFor()
const names = () => page.locator('.card h2').allInnerTexts()

/**
 * The service makes the next change at these addresses, and its response does not arrive, or is
 * this one. `until`: when the call ends.
 */
async function loseResponse(url: string, response?: object, until?: Promise<void>) {
  await page.route(
    url,
    async (route) => {
      await route.fetch()
      await until
      await (response ? route.fulfill(response) : route.abort())
    },
    { times: 1 },
  )
}

it('a form that is sent again creates no second key, and says that the key was lost', async () => {
  await open('acc_key', 'Chaves')
  await loseResponse('**/keys')
  await press('Criar chave')
  await page.getByLabel('Nome').fill('ERP')
  await submit('Criar chave')
  await problem('confirmar de novo não a repete')
  await submit('Criar chave')
  await page.getByRole('dialog').getByText('A chave “ERP”').waitFor()
  await submit('Entendi')
  await page.getByRole('heading', { name: 'ERP' }).waitFor()
  expect(await names()).toEqual(['ERP'])
  await press('Criar chave')
  await page.getByLabel('Nome').fill('Planilha')
  await submit('Criar chave')
  expect(await page.getByLabel('Guarde este texto').inputValue()).toMatch(/^key_live_/)
})

it('a roll that is sent again leaves the old secret, and says that the new one was lost', async () => {
  await open('acc_secret', 'Webhooks')
  await loseResponse('**/webhook-endpoints')
  await press('Cadastrar webhook')
  await page.getByLabel('Endereço').fill('https://erp.example/avisos')
  await submit('Cadastrar')
  await problem('confirmar de novo não a repete')
  await submit('Cadastrar')
  await page.getByRole('dialog').getByText('O webhook já foi cadastrado').waitFor()
  await submit('Entendi')
  await page.getByRole('heading', { name: 'erp.example' }).waitFor()
  expect(await names()).toEqual(['erp.example'])

  await loseResponse('**/roll-secret')
  await page.locator('summary').click()
  await press('Trocar segredo')
  await submit('Trocar segredo')
  await problem('confirmar de novo não a repete')
  await submit('Trocar segredo')
  await page.getByRole('dialog').getByText('O segredo já foi trocado').waitFor()
})

it('a form that is sent again while its change runs says to wait', async () => {
  await open('acc_running', 'Chaves')
  const error = { message: 'Uma requisição com esta Idempotency-Key ainda está em andamento.' }
  const running = { status: 409, headers: { 'Retry-After': '1' }, json: { error } }
  await page.route('**/keys', (route) => route.fulfill(running))
  await press('Criar chave')
  await page.getByLabel('Nome').fill('ERP')
  await submit('Criar chave')
  await problem('A mudança ainda está em andamento.')
})

it('a list is read again when a form is closed after its call failed', async () => {
  await open('acc_timeout', 'Chaves')
  await loseResponse('**/keys', { status: 504, json: { error: { message: 'Tempo esgotado.' } } })
  await press('Criar chave')
  await page.getByLabel('Nome').fill('ERP')
  await submit('Criar chave')
  await problem('Tempo esgotado.')
  await submit('Cancelar')
  await page.getByRole('heading', { name: 'ERP' }).waitFor()
})

it('a list is read again when a call fails after its form was closed', async () => {
  await open('acc_closed', 'Chaves')
  const end = Promise.withResolvers<void>()
  await loseResponse('**/keys', undefined, end.promise)
  await press('Criar chave')
  await page.getByLabel('Nome').fill('ERP')
  const sent = page.waitForRequest((request) => request.method() === 'POST')
  await submit('Criar chave')
  await sent
  await submit('Cancelar')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  end.resolve()
  await page.getByText('Não sabemos se a mudança foi feita').waitFor()
  await page.getByRole('heading', { name: 'ERP' }).waitFor()
})
