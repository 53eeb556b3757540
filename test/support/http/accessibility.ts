import axe from 'axe-core'
import type { Page } from 'playwright-core'

const RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']

/** The rules that a color scheme can violate: schemes differ in nothing but custom properties. */
const COLOR_RULES = ['color-contrast', 'link-in-text-block']

/**
 * The violations that axe-core finds on the page, in light and in dark colors: rule and elements.
 * The page is light before and after.
 */
export async function accessibilityViolations(page: Page): Promise<string[]> {
  // Over the debugging protocol, because the page's policy allows no other script.
  await page.evaluate(axe.source)
  const inLight = await violations(page, { type: 'tag', values: RULES })
  await page.emulateMedia({ colorScheme: 'dark' })
  const inDark = await violations(page, { type: 'rule', values: COLOR_RULES })
  await page.emulateMedia({ colorScheme: 'light' })
  return [...inLight, ...inDark.map((violation) => `in dark colors, ${violation}`)]
}

async function violations(page: Page, runOnly: axe.RunOnly): Promise<string[]> {
  const options = JSON.stringify({ runOnly, resultTypes: ['violations'], selectors: false })
  const run = `axe.run(document, ${options})`
  const { violations } = (await page.evaluate(run)) as axe.AxeResults
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`)
}
