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

/** Which element an anchor leads to: one whose id has the name of the document before it. */
const idOf = (anchor: string) => `api/${decodeURI(anchor.slice(1))}`

/** Shows every part once: some of it is made only when it comes into view. */
async function scrollThrough() {
  const height = Number(await page.evaluate('document.documentElement.scrollHeight'))
  for (let top = 0; top < height; top += 1500) {
    await page.evaluate(`scrollTo(0, ${top})`)
    await page.waitForTimeout(30)
  }
}

describe('the page of the documentation', () => {
  const listing = () => page.locator('[id="api/tag/pedidos/GET/v1/orders"]')
  beforeEach(() => open(DESKTOP))

  it('loads and shows all of it without a complaint of the browser', async () => {
    await scrollThrough()
    expect(opened.complaints).toEqual([])
  })

  it('asks nobody but this service', async () => {
    await scrollThrough()
    const origins = new Set(opened.requests.map((url) => new URL(url).origin))
    expect([...origins]).toEqual([new URL(service.baseUrl).origin])
  })

  it('has every chapter of the guide, in the text and in the menu', async () => {
    for (const title of chapters) {
      expect(await page.getByRole('heading', { name: title, exact: true }).count()).toBe(1)
      expect(await page.getByRole('link', { name: title, exact: true }).count()).toBeGreaterThan(0)
    }
  })

  it('has links that lead to what is there', async () => {
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

  it('shows programs in curl, JavaScript, Python and PHP, and in nothing else', async () => {
    await listing().scrollIntoViewIfNeeded()
    await listing().getByRole('button', { name: 'curl' }).click()
    const names = await page.getByRole('option').allInnerTexts()
    expect(names.map((name) => name.trim())).toEqual(['curl', 'JavaScript', 'Python', 'PHP'])
  })

  it('calls the service with a key, and shows the orders that it answers', async () => {
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

  it('keeps the key nowhere', async () => {
    await page.getByPlaceholder('Chave', { exact: true }).first().fill(demoKey)
    await page.waitForTimeout(500)
    const kept = await page.evaluate('JSON.stringify([{ ...localStorage }, { ...sessionStorage }])')
    expect(kept).not.toContain(demoKey)
    expect(await page.context().cookies()).toEqual([])
  })
})

describe('a link into the page', () => {
  it.each(['#limites', '#c%C3%B3pia-em-dia'])('%s shows its chapter', async (anchor) => {
    await open(DESKTOP, `/docs${anchor}`)
    const heading = page.locator(`[id="${idOf(anchor)}"]`).first()
    await expect
      .poll(async () => (await heading.boundingBox())?.y ?? Number.POSITIVE_INFINITY)
      .toBeLessThan(DESKTOP.height / 2)
    expect((await heading.boundingBox())?.y).toBeGreaterThan(-100)
  })
})

it('a link in a text leads to its chapter', async () => {
  await open(DESKTOP)
  await page.locator('.markdown a[href="#erros"]').first().click()
  const heading = page.getByRole('heading', { name: 'Erros', exact: true })
  await expect.poll(async () => (await heading.boundingBox())?.y).toBeLessThan(DESKTOP.height / 2)
})

describe('on a phone', () => {
  beforeEach(() => open(PHONE))

  it('never has to be moved sideways', async () => {
    await scrollThrough()
    const width = await page.evaluate('document.documentElement.scrollWidth')
    expect(width).toBe(PHONE.width)
  })

  it('has texts of 14 px and more', async () => {
    await scrollThrough()
    const small = await page.evaluate(`
      [...document.querySelectorAll('.markdown :is(p, li, td)')]
        .filter((one) => parseFloat(getComputedStyle(one).fontSize) < 14)
        .map((one) => one.textContent)
    `)
    expect(small).toEqual([])
  })

  it('has a menu that leads to a chapter', async () => {
    await page.getByRole('button', { name: 'Abrir o menu' }).click()
    await page.getByRole('link', { name: 'Erros', exact: true }).click()
    const heading = page.getByRole('heading', { name: 'Erros', exact: true })
    await expect.poll(async () => (await heading.boundingBox())?.y ?? -1).toBeGreaterThan(0)
    expect((await heading.boundingBox())?.y).toBeLessThan(PHONE.height)
  })
})
