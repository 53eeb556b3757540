import axe from 'axe-core'
import type { Page } from 'playwright-core'

const RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']

/** The violations that axe-core finds on the page: rule and elements. */
export async function accessibilityViolations(page: Page): Promise<string[]> {
  // Over the debugging protocol, because the page's policy allows no other script.
  await page.evaluate(axe.source)
  const options = JSON.stringify({ runOnly: RULES, resultTypes: ['violations'], selectors: false })
  const run = `axe.run(document, ${options})`
  const { violations } = (await page.evaluate(run)) as axe.AxeResults
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`)
}
