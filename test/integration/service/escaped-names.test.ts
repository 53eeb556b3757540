import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { runCommand } from '../../support/cli/command.ts'
import { watchInProcess } from '../../support/cli/watch-process.ts'
import { createTestApp, type TestApp } from '../../support/http/test-app.ts'
import {
  BACKSLASH_TRACKING,
  confuseParser,
  QUOTE_TRACKING,
} from '../../support/orders/escaped-names.ts'
import { sourceOrder } from '../../support/orders/source-order.ts'
import { runOrders } from '../../support/orders-cli/orders-cli.ts'
import { opensearch } from '../../support/stores/backend.ts'

// The escaped order is first, which exposes readers that confuse the two.
const CONFUSING = sourceOrder({
  id: 'ord_e0',
  created_at: '2026-03-01T13:00:00.000Z',
  tracking: BACKSLASH_TRACKING,
})
const VICTIM = sourceOrder({
  id: 'ord_v5',
  owner_account_id: 'acc_2',
  created_at: '2026-03-01T12:00:00.000Z',
  tracking: QUOTE_TRACKING,
})
const SHOWN = `"tracking":${JSON.stringify(QUOTE_TRACKING)}`

let app: TestApp
let key: string
beforeEach(async () => {
  app = await createTestApp()
  key = (await app.issue({ accountId: 'acc_2' })).key
})
afterEach(() => app.close())

async function run(args: readonly string[], orders: readonly object[] = []) {
  const lines = orders.map((order) => `${JSON.stringify(order)}\n`).join('')
  const finished = await runCommand(['index', ...args], app.env, lines)
  await app.refresh()
  return finished
}

/** The listing and the order by id of the victim, as text. */
async function readOrders(): Promise<string[]> {
  const answers = [
    await app.call('/v1/orders', { key }),
    await app.call('/v1/orders/ord_v5', { key }),
  ]
  expect(answers.map(({ status }) => status)).toEqual([200, 200])
  return answers.map(({ text }) => text)
}

describe('an order whose tracking keys have escapes', () => {
  it('the API returns its tracking keys after a load, and equal bytes after a reindex', async () => {
    expect(await run(['load', '-', '--live'], [CONFUSING, VICTIM])).toMatchObject({ code: 0 })
    const before = await readOrders()
    for (const text of before) expect(text).toContain(SHOWN)

    expect(await run(['reindex'])).toMatchObject({ code: 0 })
    expect(await run(['reindex', '--finish'])).toMatchObject({ code: 0 })
    expect(await readOrders()).toEqual(before)
    expect(await run(['check', '-'], [CONFUSING, VICTIM])).toMatchObject({ code: 0 })
  })

  it('a version with another tracking key is written, one with equal keys is not', async () => {
    const before = { ...VICTIM, tracking: { ...BACKSLASH_TRACKING, '\\': '1' } }
    await run(['load', '-', '--live'], [before])
    const versions = [before, { ...VICTIM, version: 2 }, { ...VICTIM, version: 3 }]
    const { stdout } = await run(['load', '-', '--live'], versions)
    expect(stdout).toMatch(/written: 1\b.*unchanged: 1\b/)
    for (const text of await readOrders()) expect(text).toContain(SHOWN)
  })

  it('the API returns its tracking keys after index watch wrote it', async () => {
    const watch = watchInProcess(app.env)
    await watch.becomesWriter()
    expect(await run(['load', '-', '--stream'], [CONFUSING, VICTIM])).toMatchObject({ code: 0 })
    await expect
      .poll(async () => String(await app.services.orders.get('acc_2', 'ord_v5')), {
        timeout: 30_000,
      })
      .toContain(SHOWN)
    await watch.stop()
  })

  it('the export contains its tracking keys', async () => {
    await run(['load', '-', '--live'], [{ ...CONFUSING, owner_account_id: 'acc_2' }, VICTIM])
    const baseUrl = await app.app.listen({ port: 0, host: '127.0.0.1' })
    const env = { ORDERS_API_URL: baseUrl, ORDERS_API_KEY: key }
    const place = { cwd: app.config.dataDir, env }
    const { code, stdout, stderr } = await runOrders(['export', '--format', 'ndjson'], place)
    expect(code, stderr).toBe(0)
    const [confusing, victim] = stdout.split('\n')
    expect(confusing).toContain(`"tracking":${JSON.stringify(BACKSLASH_TRACKING)}`)
    expect(victim).toContain(SHOWN)
  })

  it('the stored document contains the tracking keys as written', async () => {
    await run(['load', '-', '--live'], [VICTIM])
    confuseParser()
    const address = { accountId: 'acc_2', orderId: 'ord_v5' }
    const [document] = await app.services.inspection.documents([address])
    expect(document?.damaged).toBeUndefined()
    expect(JSON.stringify(document?.order)).toContain(SHOWN)
  })

  it('the API returns a document without checksum header by parsing it', async () => {
    await run(['load', '-', '--live'], [VICTIM])
    const [, before = ''] = await readOrders()
    confuseParser()
    const script = { source: 'ctx._source.remove("frame")' }
    const document = `${app.config.indexPrefix}orders/_update/acc_2:ord_v5`
    await opensearch('POST', `${document}?routing=acc_2&refresh=true`, { script })
    expect((await readOrders())[1]).toBe(before)
  })
})
