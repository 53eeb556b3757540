import { afterEach, beforeEach, expect, it } from 'vitest'
import { parseConfig } from '../../../../src/config/config.ts'
import { openServices, type Services } from '../../../../src/services.ts'
import { sourceOrder } from '../../../support/orders/source-order.ts'
import { opensearch } from '../../../support/stores/backend.ts'
import {
  proxyTo,
  type ScriptedServer,
  startServer,
} from '../../../support/stores/scripted/scripted-server.ts'
import { useServices } from '../../../support/stores/use-services.ts'

const test = useServices({ ORDERS_SHARDS: '2' })

/** The shard of each point in time that the reindex requests. */
let opened: string[]
let node: ScriptedServer
let services: Services
beforeEach(async () => {
  opened = []
  const url = `${test.env['OPENSEARCH_URL']}`.split(',')[0] ?? ''
  node = await startServer([
    async (response, request) => {
      const { pathname, searchParams } = new URL(request.path, url)
      if (request.method === 'POST' && pathname.endsWith('/_search/point_in_time')) {
        opened.push(`${searchParams.get('preference')}`)
        // A writer that opens raises a fence, which replaces the aliases.
        if (opened.length === 2) await test.write(sourceOrder({ id: 'ord_between' }))
      }
      await proxyTo(url)(response, request)
    },
  ])
  services = await openServices(parseConfig({ ...test.env, OPENSEARCH_URL: node.url }))
})
afterEach(async () => {
  await services.close()
  await node.close()
})

it('a fence between two shards of the version records repeats no scan of the first shard', async () => {
  await test.write(Array.from({ length: 20 }, (_, n) => sourceOrder({ id: `ord_${n}` })))
  const delays: string[] = []
  await services.reindexing?.build({ shards: 1, onDelay: (reason) => delays.push(reason) })
  expect(delays).toEqual(['the writer has replaced its aliases; retrying'])
  const [first, second] = [0, 1].map((shard) => `_shards:${shard}|_primary`)
  // The second pass finds nothing to copy.
  expect(opened).toEqual([first, second, second, first, second])
  await test.refresh()
  const count = (index: string) => opensearch('GET', `${test.prefix}${index}/_count`)
  expect(await count('order-heads-v2')).toMatchObject({ count: 21 })
  expect((await test.run('check')).code).toBe(0)
})
