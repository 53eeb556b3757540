import { expect, it } from 'vitest'
import { sourceOrder } from '../../../support/orders/source-order.ts'
import { opensearch } from '../../../support/stores/backend.ts'
import { useServices } from '../../../support/stores/use-services.ts'
import { useInterceptedReindexing } from './intercepted-reindexing.ts'

const test = useServices({ ORDERS_SHARDS: '2' })
const intercepted = useInterceptedReindexing(test)

it('a fence between two shards of the version records repeats no scan of the first shard', async () => {
  await test.write(Array.from({ length: 20 }, (_, n) => sourceOrder({ id: `ord_${n}` })))
  /** The shard of each point in time that the reindex requests. */
  const opened: string[] = []
  intercepted.intercept(async ({ method, path }) => {
    const { pathname, searchParams } = new URL(path, 'http://x')
    if (method !== 'POST' || !pathname.endsWith('/_search/point_in_time')) return
    opened.push(`${searchParams.get('preference')}`)
    // A writer that opens raises a fence, which replaces the aliases.
    if (opened.length === 2) await test.write(sourceOrder({ id: 'ord_between' }))
  })
  const delays: string[] = []
  await intercepted.reindexing?.build({ shards: 1, onDelay: (reason) => delays.push(reason) })
  expect(delays).toContain('the writer has replaced its aliases; retrying')
  const [first, second] = [0, 1].map((shard) => `_shards:${shard}|_primary`)
  // The second comparison finds nothing to copy.
  expect(opened).toEqual([first, second, second, first, second])
  await test.refresh()
  const count = (index: string) => opensearch('GET', `${test.prefix}${index}/_count`)
  expect(await count('order-heads-v2')).toMatchObject({ count: 21 })
  expect((await test.run('check')).code).toBe(0)
})
