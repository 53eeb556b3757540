import { afterAll, beforeAll, expect, it } from 'vitest'
import { createTestConsole, type TestConsole } from '../../support/console/test-console.ts'
import { captureLog } from '../../support/http/captured-log.ts'

const { logger, lines } = captureLog()
let one: TestConsole
beforeAll(async () => {
  one = await createTestConsole({ logger })
})
afterAll(() => one.close())

it('the log of the console names the account of a session, and never its subject or a secret', async () => {
  const session = await one.signIn({ subject: 'ana@loja.exemplo.com.br' })
  lines.length = 0
  await one.call('/v1/accounts/acc_1/keys', { session })
  await one.call('/v1/accounts/acc_2/keys', { session })
  await one.call('/v1/accounts/acc_1/keys')
  await one.call('/painel')
  const entries = lines.map((line) => JSON.parse(line))
  expect(entries.map(({ status, account_id: account }) => [status, account])).toEqual([
    [200, 'acc_1'],
    [404, 'acc_1'],
    [401, undefined],
    [200, undefined],
  ])
  expect(lines.join('')).not.toContain('ana@')
  expect(lines.join('')).not.toContain(session)
})
