import { Redis } from 'ioredis'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { runCommand } from '../../support/cli/command.ts'
import { sourceOrder } from '../../support/orders/source-order.ts'
import { type Backend, createBackend } from '../../support/stores/backend.ts'

let backend: Backend
let redis: Redis
let stream: string
beforeEach(() => {
  backend = createBackend()
  redis = new Redis(process.env['REDIS_URL'] ?? '')
  stream = `${backend.env['REDIS_PREFIX']}orders:changes`
})
afterEach(async () => {
  await redis.del(stream)
  redis.disconnect()
  await backend.remove()
})

const run = (args: string[], input = '') => runCommand(['index', ...args], backend.env, input)

const written = sourceOrder()
const lost = sourceOrder({ id: 'ord_2' })
const waiting = sourceOrder({ id: 'ord_3' })

/** Three changes: two acknowledged, one pending. */
async function fill(): Promise<void> {
  const ids = []
  for (const order of [written, lost, waiting])
    ids.push(await redis.xadd(stream, '*', 'order', JSON.stringify(order)))
  await redis.xgroup('CREATE', stream, 'indexer', '0')
  await redis.xreadgroup('GROUP', 'indexer', 'writer', 'STREAMS', stream, '>')
  await redis.xack(stream, 'indexer', ...ids.slice(0, 2).map(String))
  await run(['load', '-'], JSON.stringify(written))
}

it('the check finds an acknowledged change that the index lacks', async () => {
  await fill()
  const { code, stdout } = await run(['check', '--json'])
  expect(code).toBe(1)
  expect(JSON.parse(stdout)).toMatchObject({
    read: 2,
    missing: 1,
    extra: 0,
    examples: [{ kind: 'missing', account_id: 'acc_1', order_id: 'ord_2' }],
  })
})

it('index status reports the stream backlog', async () => {
  await fill()
  const { code, stdout } = await run(['status', '--json'])
  expect(code).toBe(0)
  expect(JSON.parse(stdout)).toMatchObject({
    documents: 1,
    stream: { backlog: 1, oldest_unacknowledged_seconds: expect.any(Number), refused: 0 },
  })
})

it('index status reports the index while the stream is unavailable', async () => {
  await run(['init'])
  const env = { ...backend.env, STREAM_REDIS_URL: 'redis://127.0.0.1:1' }
  const { code, stdout, stderr } = await runCommand(['index', 'status', '--json'], env)
  expect(code).toBe(1)
  expect(stderr).toContain('no response from Redis')
  expect(JSON.parse(stdout)).toMatchObject({ documents: 0, stream: null })
})
