import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { type ConsoleService, startConsoleService } from '../../support/console/console-browser.ts'
import { DESKTOP, dataLoaded, openPage, reloadPage } from '../../support/http/browser.ts'

let service: ConsoleService
beforeAll(async () => {
  service = await startConsoleService()
})
afterAll(() => service.close())

let page: Page
afterEach(() => page.close())

const open = async (url: string) => {
  const opened = await openPage(service.browser, url, DESKTOP)
  page = opened.page
  return opened
}
const heading = (name: string) => page.getByRole('heading', { name, exact: true }).waitFor()

describe('the link', () => {
  it('the token leaves the address at once, and the session outlives a reload', async () => {
    const link = await service.createLink()
    await open(link)
    await heading('Chaves')
    expect(page.url()).toBe(`${service.consoleUrl}/painel`)
    await page.reload()
    await heading('Chaves')
    await page.goBack()
    expect(page.url()).not.toContain(new URL(link).hash)
  })

  it('a script that is not loaded leads to a reload, which starts the session', async () => {
    page = await service.browser.newPage()
    await page.route('**/sections.js', (route) => route.abort('internetdisconnected'))
    await page.goto(await service.createLink())
    const advice = page.getByText('Recarregue esta página')
    expect(await advice.isVisible()).toBe(false)
    await page.evaluate('document.getAnimations().forEach((animation) => animation.finish())')
    expect(await advice.isVisible()).toBe(true)
    await page.unroute('**/sections.js')
    await page.reload()
    await heading('Chaves')
    expect(await advice.count()).toBe(0)
  })

  it('a used link says that it works once, and how to get another one', async () => {
    const link = await service.createLink()
    await (await openPage(service.browser, link, DESKTOP)).page.close()
    await open(link)
    await heading('O link não vale mais')
    expect(await page.locator('main').innerText()).toContain('abra o painel de novo')
  })

  it('a used link continues an open session, and its notice ends with that session', async () => {
    const link = await service.createLink()
    await open(link)
    await heading('Chaves')
    await page.goto('about:blank')
    await page.goto(link)
    const notice = page.getByText('O painel continua na sessão que estava aberta.')
    await notice.waitFor()
    await page.getByRole('button', { name: 'Sair' }).click()
    await heading('Você saiu do painel')
    expect(await notice.count()).toBe(0)
  })

  it('a new link in the same tab opens its own account, at a retry if need be', async () => {
    await open(await service.createLink())
    const error = { message: 'Serviço temporariamente indisponível.' }
    await page.route('**/v1/session', (route) => route.fulfill({ status: 503, json: { error } }), {
      times: 1,
    })
    await page.goto(await service.createLink('acc_other'))
    await page.getByRole('button', { name: 'Tentar de novo' }).click()
    await page.getByText('acc_other').waitFor()
    expect(page.url()).toBe(`${service.consoleUrl}/painel`)
  })

  it('the page without a link says how to get one', async () => {
    await open(`${service.consoleUrl}/painel`)
    await heading('Abra o painel por um link')
  })

  it('neither script nor storage of the page contains the session', async () => {
    await open(await service.createLink())
    const readable = await page.evaluate(
      'JSON.stringify([document.cookie, { ...localStorage }, { ...sessionStorage }])',
    )
    expect(readable).toBe('["",{},{}]')
    const [cookie, ...others] = await page.context().cookies()
    expect(others).toEqual([])
    expect(cookie).toMatchObject({ httpOnly: true, secure: true, sameSite: 'Strict', path: '/' })
  })
})

describe('the session', () => {
  it('the menu shows the parts that the session may use', async () => {
    await open(await service.createLink('acc_demo', ['orders', 'usage']))
    const names = await page.getByRole('navigation').getByRole('link').allInnerTexts()
    expect(names).toEqual(['Uso', 'Pedidos', 'Testes'])
    await heading('Nenhum uso ainda')
    expect(await page.getByRole('button', { name: 'Ir para Chaves' }).count()).toBe(0)
  })

  it('a page whose session was ended says so at its next call', async () => {
    await open(await service.createLink())
    await page.evaluate("fetch('/v1/session', { method: 'DELETE' })")
    await page.getByRole('link', { name: 'Pedidos' }).click()
    await heading('Sua sessão terminou')
  })

  it('a page says that another account was opened, whose session goes on', async () => {
    await open(await service.createLink('acc_first'))
    const token = new URL(await service.createLink('acc_second')).hash.slice(1)
    await page.evaluate(`fetch('/v1/session', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"token":"${token}"}',
    })`)
    await page.getByRole('link', { name: 'Pedidos' }).click()
    await heading('Outra conta foi aberta neste navegador')
    await reloadPage(page)
    await page.getByText('acc_second').waitFor()
  })

  it('a clock that is two days ahead changes neither the session nor the days of the usage', async () => {
    await open(await service.createLink('acc_ahead'))
    const today = new Date().toISOString().slice(0, 10)
    await page.clock.install({ time: Date.now() + 2 * 86_400_000 })
    await reloadPage(page)
    const usage = page.waitForRequest('**/usage?*')
    await page.getByRole('link', { name: 'Uso' }).click()
    await heading('Uso')
    expect(new URL((await usage).url()).searchParams.get('to')).toBe(today)
  })

  it('a page says that the server ended its session, and keeps a key that is shown once', async () => {
    await open(await service.createLink('acc_over'))
    await page.route('**/v1/session', async (route) => {
      const response = await route.fetch()
      const isRead = route.request().method() === 'GET' && response.ok()
      if (!isRead) return route.fulfill({ response })
      const expired = { ...(await response.json()), expires_at: '2026-01-01T00:00:00.000Z' }
      return route.fulfill({ response, json: expired })
    })
    await reloadPage(page)
    await page.waitForResponse('**/v1/session')
    await heading('Chaves')
    await page.getByRole('button', { name: 'Criar chave' }).first().click()
    await page.getByLabel('Nome').fill('ERP')
    await page.getByRole('dialog').getByRole('button', { name: 'Criar chave' }).click()
    await page.getByRole('dialog', { name: 'Chave criada' }).waitFor()
    await page.evaluate("fetch('/v1/session', { method: 'DELETE' })")
    await page.getByText('Sua sessão terminou').waitFor()
    expect(await page.getByLabel('Guarde este texto').inputValue()).toMatch(/^key_live_/)
    await page.getByRole('button', { name: 'Já guardei' }).click()
    await heading('Sua sessão terminou')
  })

  it('a page of an account that is blocked says that its session ended', async () => {
    await open(await service.createLink('acc_blocked'))
    await service.block('acc_blocked')
    await expect
      .poll(async () => {
        await reloadPage(page)
        return page.getByRole('heading').first().innerText()
      })
      .toBe('Abra o painel por um link')
  })

  it('an error is a sentence in the dialog, which stays open, and a change without response is shown', async () => {
    await open(await service.createLink('acc_errors'))
    await page.getByRole('button', { name: 'Criar chave' }).click()
    await page.getByLabel('Nome').fill('ERP')
    const error = { message: 'Serviço temporariamente indisponível.' }
    await page.route('**/keys', (route) => route.fulfill({ status: 503, json: { error } }))
    await page.getByRole('dialog').getByRole('button', { name: 'Criar chave' }).click()
    await page.getByRole('alert').getByText(error.message).waitFor()
    expect(await page.getByLabel('Nome').inputValue()).toBe('ERP')

    await page.unroute('**/keys')
    await page.evaluate(`const send = fetch
      window.fetch = async (...call) => {
        const response = await send(...call)
        if (call[1].method === 'POST') response.text = () => Promise.reject(new TypeError('cut'))
        return response
      }`)
    await page.getByRole('dialog').getByRole('button', { name: 'Criar chave' }).click()
    await page.getByRole('alert').getByText('Não foi possível falar com o servidor').waitFor()
    await page.getByRole('button', { name: 'Cancelar' }).click()
    await heading('ERP')
  })
})

it('the page loads less than 60 KB from this service alone, without a complaint', async () => {
  const link = await service.createLink()
  const sizes: Promise<number>[] = []
  const first = await service.browser.newPage()
  first.on('requestfinished', (request) => {
    sizes.push(request.sizes().then(({ responseBodySize }) => responseBodySize))
  })
  await first.goto(link, { waitUntil: 'networkidle' })
  await dataLoaded(first)
  const bytes = await Promise.all(sizes)
  expect(bytes.length).toBeGreaterThan(10)
  expect(bytes.reduce((sum, size) => sum + size, 0)).toBeLessThan(60_000)
  await first.close()

  const { requests, complaints } = await open(await service.createLink())
  const origins = new Set(requests.map((url) => new URL(url).origin))
  expect([[...origins], complaints]).toEqual([[service.consoleUrl], []])
})
