import { afterAll, beforeAll, expect, it } from 'vitest'
import { type ConsoleService, startConsoleService } from '../../support/console/console-browser.ts'
import { DESKTOP, openPage } from '../../support/http/browser.ts'

let service: ConsoleService
beforeAll(async () => {
  service = await startConsoleService()
})
afterAll(() => service.close())

it('the newest of more keys than a page of the API holds comes first', async () => {
  const { page } = await openPage(service.browser, await service.createLink('acc_many'), DESKTOP)
  await page.evaluate(`(async () => {
    const headers = { 'content-type': 'application/json' }
    for (let at = 1; at <= 101; at += 1) {
      const body = JSON.stringify({ name: 'Chave ' + at })
      await fetch('/v1/accounts/acc_many/keys', { method: 'POST', headers, body })
    }
  })()`)
  await page.reload({ waitUntil: 'networkidle' })
  const names = await page.locator('.card h2').allInnerTexts()
  expect([names.length, names[0]]).toEqual([101, 'Chave 101'])
  await page.close()
})
