import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type ConsoleService, startConsoleService } from '../../support/console/console-browser.ts'
import { createWebhooks } from '../../support/console/create-webhooks.ts'
import { buttonsWith, openPage, PHONE } from '../../support/http/browser.ts'

let service: ConsoleService
beforeAll(async () => {
  service = await startConsoleService()
})
afterAll(() => service.close())

it('a webhook is registered, changed and removed, and its deliveries are shown', async () => {
  const link = await service.createLink('acc_hooks')
  const { page, complaints } = await openPage(service.browser, link, PHONE)
  const press = (name: string) => buttonsWith(page, name).last().click()
  const open = (name: string) => page.getByRole('navigation').getByText(name).click()

  await open('Uso')
  await page.getByRole('heading', { name: 'Nenhum uso ainda' }).waitFor()
  await open('Entregas')
  await press('Ir para Webhooks')
  await press('Cadastrar webhook')
  await page.getByLabel('Endereço').fill('https://erp.example/avisos')
  await page.getByText('só nos casos que eu escolher').click()
  await page.setViewportSize({ width: 320, height: 844 })
  const hidden =
    "(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)(document.querySelector('dialog'))"
  expect(await page.evaluate(hidden)).toBe(0)
  await page.setViewportSize(PHONE)
  await press('Cadastrar')
  await page.getByRole('alert').getByText('escolha ao menos um caso').waitFor()
  await page.getByLabel('Pedido pago').check()
  await press('Cadastrar')
  expect(await page.getByLabel('Guarde este texto').inputValue()).toMatch(/^whsec_/)
  await press('Já guardei')

  await page.getByRole('heading', { name: 'erp.example' }).waitFor()
  await page.locator('summary').click()
  await press('Editar')
  await page.getByLabel('Descrição').fill('ERP da loja')
  await press('Salvar')
  await page.getByRole('heading', { name: 'ERP da loja' }).waitFor()
  await press('Ver entregas')
  await page.getByRole('heading', { name: 'Nenhum aviso enviado ainda' }).waitFor()

  await open('Webhooks')
  await page.locator('summary').click()
  await press('Desativar')
  await page.getByText('Desativado manualmente.').waitFor()
  await page.locator('summary').click()
  await press('Remover')
  await press('Remover webhook')
  await page.getByRole('heading', { name: 'Nenhum sistema é avisado ainda' }).waitFor()
  expect(complaints).toEqual([])
  await page.close()
})

it('an edit removes the description of a webhook, and a double click sends one test', async () => {
  const link = await service.createLink('acc_plain')
  const { page, requests } = await openPage(service.browser, link, PHONE)
  await createWebhooks(page, 'acc_plain', ['ERP'])
  await page.getByRole('navigation').getByText('Webhooks').click()
  await page.getByRole('heading', { name: 'ERP' }).waitFor()
  await page.locator('summary').click()
  await page.getByRole('button', { name: 'Editar' }).click()
  await page.getByLabel('Descrição').pressSequentially(' '.repeat(500))
  expect((await page.getByLabel('Descrição').inputValue()).length).toBe(500)
  await page.getByLabel('Descrição').fill('')
  await page.getByRole('button', { name: 'Salvar' }).click()
  await page.getByRole('heading', { name: 'erp.example' }).waitFor()
  await page.getByRole('button', { name: 'Enviar um teste' }).dblclick({ delay: 100 })
  await page.getByText('Teste na fila').waitFor()
  expect(requests.filter((url) => url.endsWith('/test')).length).toBe(1)
  await page.close()
})

it('an edit keeps what another tab has changed meanwhile', async () => {
  const link = await service.createLink('acc_tabs')
  const { page } = await openPage(service.browser, link, PHONE)
  await createWebhooks(page, 'acc_tabs', ['ERP'])
  await page.getByRole('navigation').getByText('Webhooks').click()
  await page.getByRole('heading', { name: 'ERP' }).waitFor()
  const press = (name: string) => buttonsWith(page, name).click()
  await page.locator('summary').click()
  await press('Editar')
  await page.evaluate(`(async () => {
    const path = '/v1/accounts/acc_tabs/webhook-endpoints'
    const [{ id }] = (await (await fetch(path)).json()).data
    const headers = { 'content-type': 'application/json' }
    const body = JSON.stringify({ url: 'https://novo.example/avisos', events: ['order.paid'] })
    await fetch(path + '/' + id, { method: 'PATCH', headers, body })
  })()`)
  await page.getByLabel('Descrição').fill('Notas')
  await press('Salvar')
  await page.getByRole('heading', { name: 'Notas' }).waitFor()
  const card = await page.locator('.card').innerText()
  expect(card).toContain('https://novo.example/avisos')
  expect(card).toContain('Pedido pago')
  await page.getByText('Salvo.').waitFor()

  await page.locator('summary').click()
  await press('Editar')
  await press('Salvar') // Nothing has changed.
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await page.close()
})

it('a slow test of a webhook is sent once, and its button is busy meanwhile', async () => {
  const link = await service.createLink('acc_slow')
  const { page, requests } = await openPage(service.browser, link, PHONE)
  await createWebhooks(page, 'acc_slow', ['ERP'])
  const end = Promise.withResolvers<void>()
  await page.route('**/test', async (route) => {
    await end.promise
    await route.continue()
  })
  await page.getByRole('navigation').getByText('Webhooks').click()
  const send = buttonsWith(page, 'Enviar um teste')
  await send.click()
  await page.locator('button[aria-busy]').waitFor()
  await send.click()
  end.resolve()
  await page.getByText('Teste na fila').waitFor()
  await page.locator('button[aria-busy]').waitFor({ state: 'detached' })
  expect(requests.filter((url) => url.endsWith('/test')).length).toBe(1)
  await page.close()
})

it('the error of a form is scrolled into the view of a small screen', async () => {
  const link = await service.createLink('acc_small')
  const { page } = await openPage(service.browser, link, { width: 320, height: 400 })
  await page.getByRole('navigation').getByText('Webhooks').click()
  await buttonsWith(page, 'Cadastrar webhook').first().click()
  await page.getByLabel('Endereço').fill('https://10.0.0.1/avisos')
  await page.keyboard.press('Enter')
  await page.getByRole('alert').getByText('Envie uma URL https pública').waitFor()
  const bottom = `(({ bottom }) => bottom)(document.querySelector('dialog .error').getBoundingClientRect())`
  expect(await page.evaluate(bottom)).toBeLessThanOrEqual(400)
  await page.close()
})

it('two webhooks with the same address and description have different names', async () => {
  const { page } = await openPage(service.browser, await service.createLink('acc_twins'), PHONE)
  await createWebhooks(page, 'acc_twins', ['ERP', 'ERP', 'Loja'])
  await page.getByRole('navigation').getByText('Webhooks').click()
  await page.getByRole('heading', { name: 'Loja' }).waitFor()
  const tests = page.getByRole('button', { name: 'Enviar um teste' })
  const names = await tests.evaluateAll((buttons) => buttons.map(({ ariaLabel }) => ariaLabel))
  expect([names.length, new Set(names).size]).toEqual([3, 3])
  expect(names).toContain('Enviar um teste: Loja, https://erp.example/Loja')
  for (const action of ['Editar', 'Trocar segredo', 'Remover']) {
    await page.locator('.card').nth(1).locator('summary').click()
    await page.locator('.card').nth(1).getByRole('button', { name: action }).click()
    const [, object] = String(names[1]).split(': ')
    await page.getByRole('dialog').getByText(String(object)).waitFor()
    await page.getByRole('button', { name: 'Cancelar' }).click()
    await page.locator('.card').nth(1).locator('summary').click()
  }
  await buttonsWith(page, 'Ver entregas').first().click()
  await page.getByRole('combobox').waitFor()
  const options = await page.getByRole('combobox').locator('option').allTextContents()
  expect([options.length, new Set(options).size]).toEqual([3, 3])
  expect(options).toContain('Loja')
  await page.close()
})

it('the actions that open at the end of the screen of a phone are above its bar', async () => {
  const link = await service.createLink('acc_more')
  const { page } = await openPage(service.browser, link, PHONE)
  await createWebhooks(page, 'acc_more', ['A', 'B', 'C'])
  await page.getByRole('navigation').getByText('Webhooks').click()
  await page.getByRole('heading', { name: 'C', exact: true }).waitFor()
  const more = page.locator('summary').last()
  await more.evaluate((one) => one.scrollIntoView({ block: 'end' }))
  await more.click()
  const isAboveBar = `
    document.querySelector('[open] > .menu').getBoundingClientRect().bottom <=
      document.querySelector('nav').getBoundingClientRect().top
  `
  await expect.poll(() => page.evaluate(isAboveBar)).toBe(true)
  await page.close()
})

it('a webhook that failed is enabled with the offer to replay what failed', async () => {
  const { page, complaints } = await openPage(
    service.browser,
    await service.createLink('acc_replay'),
    PHONE,
  )
  await createWebhooks(page, 'acc_replay', ['ERP'])
  const failedSince = new Date(Date.now() - 3_600_000).toISOString()
  await page.route('**/enable', async (route) => {
    const response = await route.fetch()
    return route.fulfill({
      response,
      json: { ...(await response.json()), failed_since: failedSince },
    })
  })
  const press = (name: string) => buttonsWith(page, name).click()
  await page.getByRole('navigation').getByText('Webhooks').click()
  await page.getByRole('heading', { name: 'ERP' }).waitFor()
  await page.locator('summary').click()
  await press('Desativar')
  await press('Ativar')
  await page.getByRole('heading', { name: 'Repetir os avisos que falharam?' }).waitFor()
  await press('Agora não')
  const replay = async () => {
    const sent = page.waitForRequest('**/replay')
    await press('Repetir avisos')
    return (await sent).postDataJSON()
  }
  await buttonsWith(page, 'Enviar um teste').waitFor()
  await page.locator('summary').click()
  await press('Desativar')
  await press('Ativar')
  expect(await replay()).toEqual({ since: failedSince, failed: true })
  await page.getByText('Nenhum aviso tinha falhado de vez.').waitFor()

  await page.locator('summary').click()
  await press('Repetir avisos que falharam…')
  await page.getByLabel('Os que falharam', { exact: true }).selectOption('nos últimos 3 dias')
  const { since, ...body } = await replay()
  expect(body).toEqual({ failed: true })
  const days = (Date.now() - Date.parse(since)) / 86_400_000
  expect(Math.round(days)).toBe(3)
  await page.getByText('Nenhum aviso tinha falhado de vez.').waitFor()
  expect(complaints).toEqual([])
  await page.close()
})

const at = '2026-03-01T12:00:00.000Z'

/** Shows every webhook of the page as failing. */
function showAsFailing(page: Page): Promise<unknown> {
  return page.route('**/webhook-endpoints?*', async (route) => {
    const response = await route.fetch()
    const { data: endpoints, ...list } = await response.json()
    const failing = endpoints.map((one: object) => ({ ...one, failing_since: at }))
    return route.fulfill({ response, json: { ...list, data: failing } })
  })
}

const attempt = (status: number | null, error: string) => ({ at, status, error, duration_ms: 80 })

it('the card of a delivery explains what its last attempt means', async () => {
  const { page } = await openPage(service.browser, await service.createLink('acc_why'), PHONE)
  await createWebhooks(page, 'acc_why', ['ERP'])
  const meanings = [
    [attempt(null, 'the host name does not resolve'), 'o endereço não existe'],
    [
      attempt(null, 'the host name resolves to an address that is not public'),
      'o endereço aponta para uma rede que não é pública',
    ],
    [attempt(302, 'the response is a redirect'), 'aponte o endereço para o destino'],
    [attempt(null, 'the response is not valid HTTP'), 'a resposta não é HTTP válido'],
    [attempt(null, 'not sent: the stored order is damaged'), 'falha do nosso lado'],
    [attempt(null, 'the request failed: EOTHER'), ': sem resposta\nP'],
  ] as const
  const data = meanings.map(([last], index) => {
    const state = { state: 'pending', next_at: at }
    return { id: `dlv_${index}`, type: 'order.paid', ...state, attempts: [last] }
  })
  await showAsFailing(page)
  await page.route('**/deliveries?*', (route) => {
    const isAll = !route.request().url().includes('state=failed')
    return route.fulfill({ json: { data: isAll ? data : [], next_cursor: null } })
  })
  await page.getByRole('navigation').getByText('Entregas').click()
  await page.getByRole('heading', { name: 'Pedido pago' }).first().waitFor()
  const cards = await page.locator('.card').allInnerTexts()
  expect(cards[0]).toContain('o endereço está falhando, e as tentativas ficam mais raras')
  for (const [index, [, meaning]] of meanings.entries()) expect(cards[index]).toContain(meaning)

  await page.getByLabel('Só os que falharam').check()
  await page.getByText('Os que ainda serão repetidos estão “Na fila”').waitFor()
  await page.close()
})

it('the card of a delivery that is due says that it may wait for the one before', async () => {
  const { page } = await openPage(service.browser, await service.createLink('acc_turn'), PHONE)
  await createWebhooks(page, 'acc_turn', ['ERP'])
  const due = { state: 'pending', next_at: at, attempts: [] }
  const data = [
    { ...due, id: 'dlv_1', type: 'order.paid', order_id: 'ord_1', sequence: 2 },
    { ...due, id: 'dlv_2', type: 'webhook.test', order_id: null, sequence: null },
  ]
  await page.route('**/deliveries?*', (route) =>
    route.fulfill({ json: { data, next_cursor: null } }),
  )
  await page.getByRole('navigation').getByText('Entregas').click()
  await page.getByRole('heading', { name: 'Pedido pago' }).waitFor()
  const [paid, testing] = await page.locator('.card').allInnerTexts()
  expect(paid).toContain('em instantes, ou depois do aviso anterior deste pedido')
  expect(testing).toMatch(/em instantes$/)
  await page.close()
})

it('a resend to a failing webhook is queued, and the page does not say that it is sent now', async () => {
  const { page } = await openPage(service.browser, await service.createLink('acc_queued'), PHONE)
  await createWebhooks(page, 'acc_queued', ['ERP'])
  await showAsFailing(page)
  const delivery = { id: 'dlv_1', type: 'order.paid', state: 'expired', attempts: [] }
  await page.route('**/deliveries?*', (route) =>
    route.fulfill({ json: { data: [delivery], next_cursor: null } }),
  )
  await page.route('**/resend', (route) =>
    route.fulfill({ json: { ...delivery, state: 'pending', next_at: at } }),
  )
  await page.getByRole('navigation').getByText('Entregas').click()
  await page.getByRole('button', { name: 'Reenviar' }).click()
  await page.getByText('O aviso está na fila: o endereço está falhando').waitFor()
  await page.close()
})

it('the deliveries of the webhook chosen last are shown, whichever list arrives last', async () => {
  const { page } = await openPage(service.browser, await service.createLink('acc_late'), PHONE)
  await createWebhooks(page, 'acc_late', ['ERP', 'CRM'])
  const second = Promise.withResolvers<void>()
  const delivery = { id: 'dlv_1', type: 'order.paid', state: 'pending', attempts: [] }
  await page.route(
    '**/deliveries?*',
    async (route) => {
      await second.promise
      await route.fulfill({ json: { data: [delivery], next_cursor: null } })
    },
    { times: 1 },
  )
  await page.getByRole('navigation').getByText('Entregas').click()
  const chosen = page.getByLabel('Webhook', { exact: true })
  await chosen.selectOption({ index: 1 })
  await page.getByRole('heading', { name: 'Nenhum aviso enviado ainda' }).waitFor()
  const late = page.waitForResponse(/deliveries/)
  second.resolve()
  await (await late).finished()
  await page.waitForTimeout(500) // Time for the page to show the late list, if it did.
  expect(await page.getByRole('heading', { name: 'Pedido pago' }).count()).toBe(0)
  await page.close()
})

it('the keyboard continues at the deliveries that were loaded or resent', async () => {
  const { page } = await openPage(service.browser, await service.createLink('acc_pages'), PHONE)
  await createWebhooks(page, 'acc_pages', ['ERP'])
  const delivery = { id: 'dlv_1', type: 'order.paid', state: 'expired', attempts: [] }
  const second = { ...delivery, id: 'dlv_2', type: 'order.refunded' }
  await page.route('**/deliveries?*', (route) => {
    const isSecond = route.request().url().includes('cursor=')
    const json = { data: [isSecond ? second : delivery], next_cursor: isSecond ? null : 'next' }
    return route.fulfill({ json })
  })
  await page.route('**/resend', (route) => route.fulfill({ json: { ...second, state: 'pending' } }))
  await page.getByRole('navigation').getByText('Entregas').click()
  await page.getByRole('button', { name: 'Carregar mais' }).click()
  await page.locator('h2:focus', { hasText: 'Pedido reembolsado' }).waitFor()
  await page.getByRole('button', { name: 'Reenviar' }).last().click()
  await page.locator('.card', { hasText: 'Na fila' }).locator('h2:focus').waitFor()
  expect(await page.locator('.card').count()).toBe(2)
  await page.close()
})
