import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { type ConsoleService, startConsoleService } from '../../support/console/console-browser.ts'
import { respondWithExamples, respondWithNothing } from '../../support/console/console-responses.ts'
import { accessibilityViolations } from '../../support/http/accessibility.ts'
import {
  DESKTOP,
  dataLoaded,
  type OpenedPage,
  openPage,
  PHONE,
} from '../../support/http/browser.ts'

let service: ConsoleService
beforeAll(async () => {
  service = await startConsoleService()
})
afterAll(() => service.close())

const sections = ['Chaves', 'Webhooks', 'Entregas', 'Uso', 'Pedidos', 'Testes']
const looks = [
  ['a desktop', DESKTOP],
  ['a phone', PHONE],
] as const

describe.each(looks)('the console on %s', (_name, viewport) => {
  let opened: OpenedPage
  let page: Page
  afterEach(() => page.close())

  async function open(accountId?: string) {
    const link = await service.createLink(accountId)
    opened = await openPage(service.browser, link, viewport)
    page = opened.page
  }

  /** Opens another part, and waits for its data. The page renders it after the click returns. */
  async function show(section: string) {
    await page.evaluate("document.querySelector('main > section').dataset.isBefore = ''")
    await page.getByRole('navigation').getByRole('link', { name: section }).click()
    await page.locator('main > section:not([data-is-before])').waitFor()
    await dataLoaded(page)
  }

  /** What is wrong with the page as it is now. */
  async function faults() {
    const width = await page.evaluate('document.documentElement.scrollWidth')
    const isWide = Number(width) > viewport.width ? [`${width} px wide`] : []
    const equal = await equalNames()
    return [...opened.complaints, ...isWide, ...equal, ...(await accessibilityViolations(page))]
  }

  /** The accessible names that several controls of the cards have. */
  async function equalNames(): Promise<string[]> {
    const names = (await page.evaluate(`[...document.querySelectorAll('.card :is(button, summary)')]
      .map((control) => control.ariaLabel ?? control.textContent)`)) as string[]
    return names.filter((name, at) => names.indexOf(name) !== at).map((name) => `again: ${name}`)
  }

  it('every section is accessible, and fits the screen', async () => {
    await open()
    await respondWithExamples(page)
    for (const section of sections) {
      await show(section)
      expect(await page.locator('main li.card').count()).toBeGreaterThan(0)
      expect([section, await faults()]).toEqual([section, []])
    }
  })

  it('every section of a new account explains itself, and is accessible', async () => {
    await open('acc_new')
    await respondWithNothing(page)
    for (const section of sections) {
      await show(section)
      expect((await page.locator('.empty p').innerText()).length).toBeGreaterThan(20)
      expect([section, await faults()]).toEqual([section, []])
    }
  })

  it('the dialogs and the end of a session are accessible, and fit the screen', async () => {
    await open()
    await respondWithExamples(page)
    await page.getByRole('button', { name: 'Criar chave' }).click()
    await page.getByLabel('Nome').fill('ERP')
    expect(await faults()).toEqual([])
    await page.getByRole('dialog').getByRole('button', { name: 'Criar chave' }).click()
    await page.getByRole('dialog', { name: 'Chave criada' }).waitFor()
    expect(await faults()).toEqual([])
    await page.getByRole('button', { name: 'Já guardei' }).click()
    await show('Webhooks')
    await page.getByRole('button', { name: 'Cadastrar webhook' }).click()
    await page.getByText('só nos casos que eu escolher').click()
    expect(await faults()).toEqual([])
    await page.keyboard.press('Escape')
    await page.getByText('Mais', { exact: true }).first().click()
    await page.getByRole('button', { name: 'Remover' }).first().click()
    expect(await faults()).toEqual([])
    await page.keyboard.press('Escape')
    await show('Testes')
    await page.getByRole('button', { name: 'Criar pedido de teste' }).click()
    expect(await faults()).toEqual([])
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Apagar' }).first().click()
    expect(await faults()).toEqual([])
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Sair' }).click()
    await page.getByRole('heading', { name: 'Você saiu do painel' }).waitFor()
    expect(await faults()).toEqual([])
  })
})

it('the menu of a phone fits 320 px, and no label overlaps another at a text size of 200 %', async () => {
  const { page } = await openPage(service.browser, await service.createLink('acc_large'), PHONE)
  await page.evaluate("document.documentElement.style.fontSize = '200%'")
  const cut = await page.evaluate(`[...document.querySelectorAll('nav a')]
    .filter((link) => link.scrollWidth > link.clientWidth).length`)
  expect(cut).toBe(0)
  await page.evaluate("document.documentElement.style.fontSize = ''")
  await page.setViewportSize({ ...PHONE, width: 320 })
  expect(await page.evaluate("document.querySelector('nav').scrollWidth")).toBe(320)
  await page.close()
})
