import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { readGuide } from '../../scripts/openapi/guide.ts'
import { readChangelog } from '../../src/openapi/openapi-files.ts'
import { type RunningService, startService } from '../support/cli/command.ts'
import { accessibilityViolations } from '../support/http/accessibility.ts'
import { DESKTOP, type OpenedPage, openPage, PHONE, startBrowser } from '../support/http/browser.ts'

const MAX_TRANSFERRED_BYTES = 500_000

const guide = readGuide(readChangelog()).replace(/^```[\s\S]*?^```/gm, '')
const chapters: string[] = [...guide.matchAll(/^# (.+)$/gm)].map(([, title = '']) => title)

let browser: Browser
let service: RunningService
let managementUrl: string
let demoKey: string
const folder = mkdtempSync(join(tmpdir(), 'docs-'))
beforeAll(async () => {
  browser = await startBrowser()
  service = await startService(['--demo'], { DATA_DIR: folder, MANAGEMENT_PORT: '0' })
  const { stdout } = service.output()
  demoKey = /demo key\s+(\S+)/.exec(stdout)?.[1] ?? ''
  managementUrl = /Bearer mgmt_\S+' '(http:\S+?)\/v1\//.exec(stdout)?.[1] ?? ''
})
afterAll(async () => {
  await browser.close()
  await service.stop()
  rmSync(folder, { recursive: true })
})

let opened: OpenedPage | undefined
let page: Page

/** Opens the page in place of the one before. Tests that only read it share it: a page is slow. */
const open = async (viewport: typeof PHONE, path = '/docs') => {
  await opened?.page.close()
  opened = await openPage(browser, new URL(path, service.baseUrl).href, viewport)
  page = opened.page
}

/** Opens every collapsed part, which its rules of style and access apply to as well. */
const openDetails = () =>
  page.evaluate(`
    for (const one of document.querySelectorAll('details')) {
      one.removeAttribute('name')
      one.open = true
    }
  `)

const isUnderBar = async (id: string) => {
  const y = (await page.locator(`[id="${id}"]`).boundingBox())?.y ?? Number.NaN
  return y > -10 && y < DESKTOP.height / 2
}

const listing = () => page.locator('#orders_list')

describe('the documentation page', () => {
  beforeAll(() => open(DESKTOP))

  it('the documentation page renders without browser errors', () => {
    expect(opened?.complaints).toEqual([])
  })

  it('the documentation page sends requests to this service only', () => {
    const origins = new Set(opened?.requests.map((url) => new URL(url).origin))
    expect([...origins]).toEqual([new URL(service.baseUrl).origin])
  })

  it('the documentation page has every chapter of the guide in text and menu', async () => {
    for (const title of chapters) {
      expect(await page.getByRole('heading', { name: title, exact: true }).count()).toBe(1)
      const menu = page.getByRole('navigation')
      expect(await menu.getByRole('link', { name: title, exact: true }).count()).toBe(1)
    }
  })

  it('every link of the documentation page resolves', async () => {
    const links = await page
      .locator('a[href]')
      .evaluateAll((all) => all.map((link) => link.getAttribute('href') ?? ''))
    expect(links.length).toBeGreaterThan(50)
    for (const link of new Set(links)) {
      const isThere = link.startsWith('#')
        ? (await page.locator(`[id="${decodeURI(link.slice(1))}"]`).count()) === 1
        : (await fetch(service.baseUrl + link)).ok
      expect([link, isThere]).toEqual([link, true])
    }
  })

  it('the documentation page shows a call in one line, and programs in seven languages', async () => {
    const names = await listing().locator('.sample summary').allInnerTexts()
    expect(names).toEqual([
      ...['curl', 'bash com curl', 'JavaScript', 'Python', 'PHP', 'C#', 'Java', 'Delphi'],
    ])
    expect(await listing().locator('.sample[open] summary').allInnerTexts()).toEqual(['curl'])
  })

  it('the documentation page shows each webhook with its example, and no form to call it', async () => {
    const webhook = page.locator('[id="webhook-order.refunded"]')
    expect(await webhook.getByText('"status": "REFUNDED"').count()).toBe(1)
    expect(await page.locator('#webhooks .try').count()).toBe(0)
    expect(await page.locator('#webhooks').getByText('webhook-signature').count()).toBe(1)
  })
})

describe('the parts of the page that act', () => {
  beforeEach(() => open(DESKTOP))

  it('the documentation page calls the service with a key and shows the orders', async () => {
    const form = listing().locator('.try')
    await form.getByText('Testar').click()
    await form.getByLabel('Chave').fill(demoKey)
    await form.getByLabel('status').fill('PAID')
    const [answer] = await Promise.all([
      page.waitForResponse((response) => response.url().includes('/v1/orders')),
      form.getByRole('button', { name: 'Enviar' }).click(),
    ])
    await form.getByText('200 OK').waitFor()
    const { data } = (await answer.json()) as { data: { id: string }[] }
    await form.getByText(`"${data[0]?.id}"`).waitFor()
    expect(new URL(answer.url()).search).toBe('?status=PAID')
    expect(opened?.complaints).toEqual([])
  })

  it('the documentation page does not store the key', async () => {
    await listing().locator('.try').getByText('Testar').click()
    await listing().getByLabel('Chave').fill(demoKey)
    await listing().getByRole('button', { name: 'Enviar' }).click()
    await listing().getByText('200 OK').waitFor()
    const kept = await page.evaluate('JSON.stringify([{ ...localStorage }, { ...sessionStorage }])')
    expect(kept).not.toContain(demoKey)
    expect(await page.context().cookies()).toEqual([])
  })

  it('the form names a field whose text no header can carry, and sends nothing', async () => {
    const form = listing().locator('.try')
    await form.getByText('Testar').click()
    await form.getByLabel('Chave').fill('key_live_…')
    const sent = opened?.requests.length
    await form.getByRole('button', { name: 'Enviar' }).click()
    await form.getByText('O campo Chave tem “…”').waitFor()
    expect(opened?.requests).toHaveLength(sent ?? 0)
  })

  it('copy buttons copy a sample of the guide as it is', async () => {
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    const block = page.locator('#a-primeira-chamada .code').first()
    await block.getByRole('button', { name: 'Copiar' }).click()
    await block.getByRole('button', { name: 'Copiado' }).waitFor()
    const copied = await page.evaluate('navigator.clipboard.readText()')
    expect(copied).toBe(await block.locator('pre').textContent())
    expect(await page.locator('.code').count()).toBe(await page.locator('.copy').count())
  })
})

describe('a form of the management API', () => {
  beforeAll(() => open(DESKTOP, `${managementUrl}/docs`))

  it('requires every part of the path', async () => {
    const form = page.locator('form[data-path$="/{move}"]')
    await form.evaluate((one) => {
      one.closest('details')?.setAttribute('open', '')
    })
    await form.getByLabel('account').fill('acc_demo')
    await form.getByLabel('id', { exact: true }).fill('   ')
    const missing = await form
      .locator(':invalid')
      .evaluateAll((all) => all.map((field) => field.getAttribute('name')))
    expect(missing).toEqual(['id', 'move'])
  })
})

it('a printed page has whole samples, and no menu, search, buttons and forms', async () => {
  await open(DESKTOP)
  await openDetails()
  await page.emulateMedia({ media: 'print' })
  const controls = await page.locator('header, nav, search, .copy, .try').all()
  expect(controls.length).toBeGreaterThan(4)
  expect(await Promise.all(controls.map((one) => one.isVisible()))).not.toContain(true)
  const isCropped = `
    [...document.querySelectorAll('main :is(pre, .table)')]
      .some((one) => one.scrollWidth > one.clientWidth || one.scrollHeight > one.clientHeight)
  `
  expect(await page.evaluate(isCropped)).toBe(false)
})

describe('the search', () => {
  const found = async (text: string) => {
    await page.getByRole('searchbox').fill(text)
    return page.locator('.results a strong').allInnerTexts()
  }
  beforeAll(() => open(DESKTOP))

  it.each([
    ['429', 'Limites'],
    ['excel', 'Receitas'],
    ['Retry-After', 'Limites'],
    ['copia EM dia', 'Cópia em dia'],
    ['assinatura tempo constante', 'Receber webhooks › Conferir a assinatura'],
    ['installments', 'Esquemas › Payment'],
  ])('the search for %s finds %s', async (text, title) => {
    expect(await found(text)).toContain(title)
  })

  it.each(['Copiar', 'Testar'])('does not find the buttons of the page: %s', async (text) => {
    expect(await found(text)).not.toContain('Operações › GET /v1/orders')
    expect(await found('GET /v1/orders')).toContain('Operações › GET /v1/orders')
  })

  it('says that nothing was found', async () => {
    expect(await found('zzzz')).toEqual([])
    expect(await page.getByText('Nada encontrado').isVisible()).toBe(true)
  })

  it('says how many of the sections that it found are listed', async () => {
    expect(await found('pedido')).toHaveLength(20)
    expect(await page.getByRole('status').innerText()).toMatch(/^20 de [2-9]\d resultados$/)
  })

  it('leads to the section by keyboard alone', async () => {
    await open(DESKTOP)
    await page.keyboard.press('/')
    await page.keyboard.type('bloqueio do IP')
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await expect.poll(() => isUnderBar('erros')).toBe(true)
    expect(await page.locator('.results').isVisible()).toBe(false)
  })
})

describe('a link into the page', () => {
  it.each(['limites', 'cópia-em-dia', 'orders_get', 'esquema-payment'])(
    'the link to %s opens its section',
    async (id) => {
      await open(DESKTOP, `/docs#${encodeURIComponent(id)}`)
      await expect.poll(() => isUnderBar(id)).toBe(true)
    },
  )

  it('a link in the text opens its chapter', async () => {
    await open(DESKTOP)
    await page.locator('main a[href="#erros"]').first().click()
    await expect.poll(() => isUnderBar('erros')).toBe(true)
  })
})

describe('the documentation page on a phone', () => {
  beforeEach(() => open(PHONE))

  it('clips nothing and does not scroll sideways on a phone', async () => {
    await openDetails()
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(PHONE.width)
    const clipped = await page.evaluate(`
      [...document.querySelectorAll('main *')]
        .filter((one) => one.getBoundingClientRect().right > innerWidth)
        .filter((one) => one.parentElement.closest('pre, .table') === null)
        .map((one) => one.outerHTML)
    `)
    expect(clipped).toEqual([])
  })

  it('the page uses texts of at least 14 px on a phone', async () => {
    const small = await page.evaluate(`
      [...document.querySelectorAll('main *')]
        .filter((one) => parseFloat(getComputedStyle(one).fontSize) < 14)
        .map((one) => one.textContent)
    `)
    expect(small).toEqual([])
  })

  it('the menu opens a chapter on a phone, and closes', async () => {
    await page.getByRole('button', { name: 'Menu' }).click()
    const menu = page.getByRole('navigation')
    await menu.getByRole('link', { name: 'Erros', exact: true }).click()
    await expect.poll(() => isUnderBar('erros')).toBe(true)
    expect(await menu.isVisible()).toBe(false)
  })
})

const looks = [
  { device: 'desktop', viewport: DESKTOP },
  { device: 'phone', viewport: PHONE },
] as const

describe.each(looks)('the page on a $device', ({ viewport }) => {
  it('breaks no error code over two lines', async () => {
    await open(viewport)
    const lines = await page.evaluate(`
      Array.from(document.querySelectorAll('#erros > .table td:nth-child(2) > code'), (one) => [
        one.textContent,
        one.getClientRects().length,
      ])
    `)
    expect(lines).toContainEqual(['invalid_request', 1])
    expect(lines).not.toContainEqual([expect.any(String), 2])
  })

  it('has no accessibility violations, with all parts open and a search', async () => {
    await open(viewport)
    await openDetails()
    await page.getByRole('searchbox').fill('erro')
    expect(await accessibilityViolations(page)).toEqual([])
  })

  it('has no accessibility violations on the management port', async () => {
    await open(viewport, `${managementUrl}/docs`)
    expect(await accessibilityViolations(page)).toEqual([])
  })
})

it.each(['the public API', 'the management API'])(
  'the page transfers at most 500 KB in all: %s',
  async (api) => {
    page = await browser.newPage({ viewport: DESKTOP })
    const session = await page.context().newCDPSession(page)
    await session.send('Network.enable')
    let transferred = 0
    session.on('Network.loadingFinished', ({ encodedDataLength }) => {
      transferred += encodedDataLength
    })
    const url = api === 'the public API' ? service.baseUrl : managementUrl
    await page.goto(`${url}/docs`, { waitUntil: 'networkidle' })
    expect(transferred).toBeGreaterThan(20_000)
    expect(transferred).toBeLessThanOrEqual(MAX_TRANSFERRED_BYTES)
  },
)

it('the guide and the reference can be read without JavaScript', async () => {
  const context = await browser.newContext({ javaScriptEnabled: false })
  page = await context.newPage()
  await page.goto(`${service.baseUrl}/docs`)
  for (const name of ['Erros', 'GET /v1/orders', 'Payment']) {
    expect(await page.getByRole('heading', { name, exact: true }).isVisible()).toBe(true)
  }
  expect(await page.getByRole('searchbox').isVisible()).toBe(false)
  expect(await page.getByText('Testar', { exact: true }).first().isVisible()).toBe(false)
})
