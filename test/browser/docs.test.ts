import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { readGuide } from '../../scripts/openapi/guide.ts'
import { readChangelog } from '../../src/openapi/openapi-files.ts'
import { type RunningService, startService } from '../support/cli/command.ts'
import { DESKTOP, type OpenedPage, openPage, PHONE, startBrowser } from '../support/http/browser.ts'

const guide = readGuide(readChangelog()).replace(/^```[\s\S]*?^```/gm, '')
const chapters: string[] = [...guide.matchAll(/^# (.+)$/gm)].map(([, title = '']) => title)

let browser: Browser
let service: RunningService
let demoKey: string
const folder = mkdtempSync(join(tmpdir(), 'docs-'))
beforeAll(async () => {
  browser = await startBrowser()
  service = await startService(['--demo'], { DATA_DIR: folder })
  demoKey = /demo key\s+(\S+)/.exec(service.output().stdout)?.[1] ?? ''
})
afterAll(async () => {
  await browser.close()
  await service.stop()
  rmSync(folder, { recursive: true })
})

let opened: OpenedPage
let page: Page
afterEach(() => page.close())

const open = async (viewport: typeof PHONE, path = '/docs') => {
  opened = await openPage(browser, service.baseUrl + path, viewport)
  page = opened.page
  await page.getByRole('heading', { name: 'Comece aqui', exact: true }).waitFor()
}

/** The target of an anchor: an element whose id is prefixed with the document name. */
const idOf = (anchor: string) => `api/${decodeURI(anchor.slice(1))}`

/** Scrolls through the page, because some parts render only in view. */
async function scrollThrough() {
  const height = Number(await page.evaluate('document.documentElement.scrollHeight'))
  for (let top = 0; top < height; top += 1500) {
    await page.evaluate(`scrollTo(0, ${top})`)
    await page.waitForTimeout(30)
  }
}

describe('the documentation page', () => {
  const listing = () => page.locator('[id="api/tag/pedidos/GET/v1/orders"]')
  beforeEach(() => open(DESKTOP))

  it('the documentation page renders without browser errors', async () => {
    await scrollThrough()
    expect(opened.complaints).toEqual([])
  })

  it('the documentation page sends requests to this service only', async () => {
    await scrollThrough()
    const origins = new Set(opened.requests.map((url) => new URL(url).origin))
    expect([...origins]).toEqual([new URL(service.baseUrl).origin])
  })

  it('the documentation page has every chapter of the guide in text and menu', async () => {
    for (const title of chapters) {
      expect(await page.getByRole('heading', { name: title, exact: true }).count()).toBe(1)
      expect(await page.getByRole('link', { name: title, exact: true }).count()).toBeGreaterThan(0)
    }
  })

  it('every link of the documentation page resolves', async () => {
    const links = await page
      .locator('.markdown a[href]')
      .evaluateAll((all) => all.map((link) => link.getAttribute('href') ?? ''))
    expect(links.length).toBeGreaterThan(5)
    for (const link of new Set(links)) {
      const isThere = link.startsWith('#')
        ? (await page.locator(`[id="${idOf(link)}"]`).count()) > 0
        : (await fetch(service.baseUrl + link)).ok
      expect([link, isThere]).toEqual([link, true])
    }
  })

  it('the documentation page shows samples in curl, JavaScript, Python and PHP only', async () => {
    await listing().scrollIntoViewIfNeeded()
    await listing().getByRole('button', { name: 'curl' }).click()
    const names = await page.getByRole('option').allInnerTexts()
    expect(names.map((name) => name.trim())).toEqual(['curl', 'JavaScript', 'Python', 'PHP'])
  })

  it('the documentation page calls the service with a key and shows the orders', async () => {
    await listing().scrollIntoViewIfNeeded()
    await listing()
      .getByRole('button', { name: /^Testar/ })
      .click()
    const dialog = page.getByRole('dialog')
    await dialog.getByPlaceholder('Chave', { exact: true }).fill(demoKey)
    const [answer] = await Promise.all([
      page.waitForResponse((response) => response.url().includes('/v1/orders')),
      dialog
        .getByRole('button', { name: /^Enviar (GET )?/i })
        .first()
        .click(),
    ])
    await dialog.getByText('200 OK').waitFor()
    const { data } = (await answer.json()) as { data: { id: string }[] }
    await dialog.getByText(`"${data[0]?.id}"`).waitFor()
    expect(new URL(answer.url()).search).toBe('')
    expect(opened.complaints).toEqual([])
  })

  it('the documentation page shows each webhook with its example, and no button to call it', async () => {
    await page.getByRole('button', { name: 'Abrir o grupo - Webhooks' }).click()
    await page.getByRole('link', { name: /order\.refunded/ }).click()
    const webhook = page.locator('[id="api/tag/webhooks/webhook/POST/order.refunded"]')
    await webhook.getByText('"REFUNDED"').first().waitFor()
    expect(await webhook.getByText('webhook-signature', { exact: true }).count()).toBeGreaterThan(0)
    expect(await webhook.getByRole('button', { name: /^Testar/ }).count()).toBe(0)
  })

  it('the documentation page does not store the key', async () => {
    await page.getByPlaceholder('Chave', { exact: true }).first().fill(demoKey)
    await page.waitForTimeout(500)
    const kept = await page.evaluate('JSON.stringify([{ ...localStorage }, { ...sessionStorage }])')
    expect(kept).not.toContain(demoKey)
    expect(await page.context().cookies()).toEqual([])
  })
})

describe('a link into the page', () => {
  it.each(['#limites', '#c%C3%B3pia-em-dia'])('the link %s opens its chapter', async (anchor) => {
    await open(DESKTOP, `/docs${anchor}`)
    const heading = page.locator(`[id="${idOf(anchor)}"]`).first()
    await expect
      .poll(async () => (await heading.boundingBox())?.y ?? Number.POSITIVE_INFINITY)
      .toBeLessThan(DESKTOP.height / 2)
    expect((await heading.boundingBox())?.y).toBeGreaterThan(-100)
  })
})

it('a link in the text opens its chapter', async () => {
  await open(DESKTOP)
  await page.locator('.markdown a[href="#erros"]').first().click()
  const heading = page.getByRole('heading', { name: 'Erros', exact: true })
  await expect.poll(async () => (await heading.boundingBox())?.y).toBeLessThan(DESKTOP.height / 2)
})

describe('the documentation page on a phone', () => {
  beforeEach(() => open(PHONE))

  it('the page does not scroll sideways on a phone', async () => {
    await scrollThrough()
    const width = await page.evaluate('document.documentElement.scrollWidth')
    expect(width).toBe(PHONE.width)
  })

  it('the page uses texts of at least 14 px on a phone', async () => {
    await scrollThrough()
    const small = await page.evaluate(`
      [...document.querySelectorAll('.markdown :is(p, li, td)')]
        .filter((one) => parseFloat(getComputedStyle(one).fontSize) < 14)
        .map((one) => one.textContent)
    `)
    expect(small).toEqual([])
  })

  it('the menu opens a chapter on a phone', async () => {
    await page.getByRole('button', { name: 'Abrir o menu' }).click()
    await page.getByRole('link', { name: 'Erros', exact: true }).click()
    const heading = page.getByRole('heading', { name: 'Erros', exact: true })
    await expect.poll(async () => (await heading.boundingBox())?.y ?? -1).toBeGreaterThan(0)
    expect((await heading.boundingBox())?.y).toBeLessThan(PHONE.height)
  })
})
