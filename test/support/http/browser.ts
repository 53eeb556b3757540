import { type Browser, chromium, type Page } from 'playwright-core'
import { findOnPath } from '../../harness/tools/find-on-path.ts'

/** What a page did that a person does not see. */
export interface PageEvents {
  /** The addresses that it asked for. */
  requests: string[]
  /** What its console tells as a warning or an error, policies that were broken among them, and what was thrown. */
  complaints: string[]
}

export interface OpenedPage extends PageEvents {
  page: Page
}

export const DESKTOP = { width: 1400, height: 900 }
export const PHONE = { width: 390, height: 844 }

/** Starts the browser of this machine. @throws Error if there is none */
export function startBrowser(): Promise<Browser> {
  const path = findOnPath('chromium', process.env) ?? findOnPath('google-chrome', process.env)
  if (path === undefined) throw new Error('no browser here: apt-get install -y chromium')
  // Its sandbox does not work for root.
  const args = process.getuid?.() === 0 ? ['--no-sandbox'] : []
  return chromium.launch({ executablePath: path, args })
}

/** Opens an address as somebody who has never been there, and waits until nothing more is loaded. */
export async function openPage(
  browser: Browser,
  url: string,
  viewport: { width: number; height: number },
): Promise<OpenedPage> {
  const page = await browser.newPage({ viewport, locale: 'pt-BR' })
  const seen: PageEvents = { requests: [], complaints: [] }
  page.on('request', (request) => seen.requests.push(request.url()))
  page.on('pageerror', (error) => seen.complaints.push(error.message))
  page.on('console', (message) => {
    if (['warning', 'error'].includes(message.type())) seen.complaints.push(message.text())
  })
  await page.goto(url, { waitUntil: 'networkidle' })
  return { page, ...seen }
}
