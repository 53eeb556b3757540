import { type Browser, chromium, type Page } from 'playwright-core'
import { findOnPath } from '../../harness/tools/find-on-path.ts'

/** Events of a page that a person does not see. */
export interface PageEvents {
  /** The URLs that it requested. */
  requests: string[]
  /**
   * The warnings and errors of its console, including policy violations, and uncaught exceptions.
   */
  complaints: string[]
}

export interface OpenedPage extends PageEvents {
  page: Page
}

export const DESKTOP = { width: 1400, height: 900 }
export const PHONE = { width: 390, height: 844 }

/** Starts the installed browser. @throws Error if there is none */
export function startBrowser(): Promise<Browser> {
  const path = findOnPath('chromium', process.env) ?? findOnPath('google-chrome', process.env)
  if (path === undefined) throw new Error('no browser here: apt-get install -y chromium')
  // Its sandbox does not work for root.
  const args = process.getuid?.() === 0 ? ['--no-sandbox'] : []
  return chromium.launch({ executablePath: path, args })
}

/** The buttons with this visible text. The accessible name of a button on a card is longer. */
export const buttonsWith = (page: Page, text: string) =>
  page.getByRole('button').filter({ hasText: new RegExp(`^${RegExp.escape(text)}$`) })

const FOCUSED_TEXT = 'document.activeElement.innerText.trim()'

/** Presses Tab until the element with this text has the focus. @throws Error if none gets it */
export async function tabTo(page: Page, text: string): Promise<void> {
  for (let presses = 0; presses < 40; presses += 1) {
    await page.keyboard.press('Tab')
    if ((await page.evaluate(FOCUSED_TEXT)) === text) return
  }
  throw new Error(`Tab does not reach ${text}`)
}

/** Matches while a page of the console still waits for data. */
const LOADING = 'main .loading, main [aria-busy]'

/** Opens a URL in a fresh browser context, and waits until the page has loaded its data. */
export async function openPage(
  browser: Browser,
  url: string,
  viewport: { width: number; height: number },
): Promise<OpenedPage> {
  const page = await browser.newPage({ viewport, colorScheme: 'light', locale: 'pt-BR' })
  const seen: PageEvents = { requests: [], complaints: [] }
  page.on('request', (request) => seen.requests.push(request.url()))
  page.on('pageerror', (error) => seen.complaints.push(error.message))
  page.on('console', (message) => {
    if (['warning', 'error'].includes(message.type())) seen.complaints.push(message.text())
  })
  await page.goto(url, { waitUntil: 'networkidle' })
  await dataLoaded(page).catch((cause) => {
    throw new Error(`the page loads no data: ${JSON.stringify(seen)}`, { cause })
  })
  return { page, ...seen }
}

/** Reloads a page of the console, and waits until it has loaded its data. */
export async function reloadPage(page: Page): Promise<void> {
  await page.reload({ waitUntil: 'networkidle' })
  await dataLoaded(page)
}

/** On a busy machine the network is idle for 500 ms before the scripts send their first call. */
export function dataLoaded(page: Page): Promise<void> {
  return page.locator(LOADING).first().waitFor({ state: 'detached' })
}
