import type { Page } from 'playwright-core'

/** Creates a webhook of each description with the session of the page. */
export async function createWebhooks(
  page: Page,
  accountId: string,
  descriptions: readonly string[],
): Promise<void> {
  await page.evaluate(`(async () => {
    const headers = { 'content-type': 'application/json' }
    for (const description of ${JSON.stringify(descriptions)}) {
      const body = { url: 'https://erp.example/' + description, events: ['*'], description }
      await fetch('/v1/accounts/${accountId}/webhook-endpoints', { method: 'POST', headers, body: JSON.stringify(body) })
    }
  })()`)
}
