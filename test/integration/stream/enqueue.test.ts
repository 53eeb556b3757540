import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { runCommand } from '../../support/cli/command.ts'
import { watchInProcess } from '../../support/cli/watch-process.ts'
import { sourceOrder } from '../../support/orders/source-order.ts'
import { type Backend, createBackend } from '../../support/stores/backend.ts'
import { type ChangeFeed, openChangeFeed } from '../../support/streams/change-feed.ts'

let backend: Backend
let feed: ChangeFeed
beforeEach(() => {
  backend = createBackend()
  feed = openChangeFeed(backend.env)
})
afterEach(async () => {
  await feed.close()
  await backend.remove()
})

const line = (id: string) => JSON.stringify(sourceOrder({ id }))
const enqueue = (input: string, ...args: string[]) =>
  runCommand(['index', 'load', '-', '--stream', ...args], backend.env, input)

async function inStream(): Promise<(string | undefined)[]> {
  const entries = await feed.redis.xrange(feed.stream, '-', '+')
  return entries.map(([, fields]) => fields[fields.indexOf('order') + 1])
}

it('index load --stream enqueues each line unchanged without a watch', async () => {
  const { code, stdout, stderr } = await enqueue(`${line('ord_1')}\r\n\n ${line('ord_2')}`)
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(stdout).toMatch(/^read: 2, handed over: 2, refused: 0, seconds: [\d.]+\n$/)
  expect(await inStream()).toEqual([`${line('ord_1')}\r`, ` ${line('ord_2')}`])
})

it('index load --stream rejects a bad line with its number, exits 1 and enqueues the rest', async () => {
  const { code, stdout, stderr } = await enqueue(`{"half\n${line('ord_1')}`, '--json')
  expect([code, JSON.parse(stdout)]).toEqual([
    1,
    { read: 2, handed_over: 1, refused: 1, seconds: expect.any(Number) },
  ])
  expect(stderr).toMatch(/^line 1: expected one JSON object/)
  expect(await inStream()).toEqual([line('ord_1')])
})

it('index load --stream fails with a --from-line after the end of the input', async () => {
  const { code, stderr } = await enqueue(JSON.stringify(sourceOrder()), '--from-line', '9')
  expect([code, stderr]).toEqual([1, 'cannot start at line 9: the number of lines is 1\n'])
})

it('index load --stream starts at --from-line', async () => {
  await enqueue(`${line('ord_1')}\n${line('ord_2')}`, '--from-line', '2')
  expect(await inStream()).toEqual([line('ord_2')])
})

it('index watch writes the enqueued lines while it blocks a direct load', async () => {
  const watch = watchInProcess(backend.env)
  try {
    await watch.becomesWriter()
    const ids = Array.from({ length: 1_200 }, (_, n) => `ord_${n}`)
    const { code } = await enqueue(ids.map(line).join('\n'))
    expect(code).toBe(0)
    await vi.waitFor(
      async () => {
        expect(await watch.metric('indexing_changes_total{outcome="written"}')).toBe(1_200)
      },
      { timeout: 60_000, interval: 50 },
    )
    expect(await feed.backlog()).toBe(0)
  } finally {
    await watch.stop()
  }
})
