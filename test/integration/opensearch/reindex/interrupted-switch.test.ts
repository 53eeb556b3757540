import { expect, it } from 'vitest'
import { createWriter, type Writer } from '../../../../src/indexing/writer/writer.ts'
import { changeOf } from '../../../support/orders/changes.ts'
import { sourceOrder } from '../../../support/orders/source-order.ts'
import { useServices } from '../../../support/stores/use-services.ts'
import { readDocuments, readTargets } from './stored-state.ts'

// A long lease keeps the writer from reading its record during other steps.
const test = useServices({ WRITER_LEASE_MS: '20000' })

const write = (writer: Writer, id: string) => writer.write([changeOf(sourceOrder({ id }))], 'live')

it('a reindex that ended during its switch completes it when it is repeated', async () => {
  const index = await test.services.openIndex({ purpose: 'watch' })
  const writer = createWriter(index, Date.now)
  await write(writer, 'ord_0')
  const stop = new AbortController()
  let isCopying = false
  const onProgress = () => {
    isCopying = true
  }
  const first = test.reindexing.build({ signal: stop.signal, onProgress })
  const failed = expect(first).rejects.toThrow()
  for (let n = 1; !isCopying; n++) await write(writer, `ord_${n}`)
  // Without a write, the writer does not apply the targets before it renews its lease.
  await expect
    .poll(() => readTargets(test))
    .toEqual([`${test.prefix}orders-v2`, `${test.prefix}orders-v1`])
  stop.abort()
  await failed

  const repeated = await test.reindexing.build()
  expect(repeated).toMatchObject({ live: `${test.prefix}orders-v2`, copied: 0, removed: 0 })
  await write(writer, 'ord_last')
  await index.close()
  expect(await readDocuments(test, 'orders')).toEqual(await readDocuments(test, 'orders-v1'))
  await expect(test.reindexing.build()).rejects.toThrow(/v1 is still a write target/)
})
