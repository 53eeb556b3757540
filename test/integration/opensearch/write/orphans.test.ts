import { expect, it } from 'vitest'
import { createWriter } from '../../../../src/indexing/writer/writer.ts'
import { changeOf } from '../../../support/orders/changes.ts'
import { readOrder } from '../../../support/orders/read-order.ts'
import { sourceOrder } from '../../../support/orders/source-order.ts'
import { opensearch } from '../../../support/stores/backend.ts'
import { interceptCommits } from '../../../support/stores/bulk.ts'
import { useServices } from '../../../support/stores/use-services.ts'

const test = useServices()

const order = (version: number, coproducers: string[]) =>
  changeOf(sourceOrder({ version, coproducer_account_ids: coproducers }))

/** Simulates a crash between the documents of a change and its version record. */
async function endBeforeHeads(version: number, coproducers: string[]): Promise<void> {
  const index = await test.services.openIndex()
  const headless = createWriter(
    interceptCommits(index, (writes) => ({ ...writes, versionRecords: [] })),
    Date.now,
  )
  await headless.write([order(version, coproducers)], 'live')
  await index.close()
}

async function write(version: number, coproducers: string[]) {
  const index = await test.services.openIndex()
  const [result] = await createWriter(index, Date.now).write([order(version, coproducers)], 'live')
  await index.close()
  return result
}

async function documents(): Promise<string[]> {
  await test.refresh()
  const { hits } = await opensearch<{ hits: { hits: { _id: string }[] } }>(
    'GET',
    `${test.prefix}orders/_search?q=_exists_:id`,
  )
  return hits.hits.map(({ _id }) => _id).toSorted((one, other) => (one < other ? -1 : 1))
}

it('the next writer finds a document without a version record', async () => {
  await endBeforeHeads(1, ['acc_2'])
  expect(await documents()).toEqual(['acc_1:ord_1', 'acc_2:ord_1'])
  expect(await write(2, [])).toBe('written')
  expect(await documents()).toEqual(['acc_1:ord_1'])
})

it('the next writer finds the document of an account that only an unfinished version named', async () => {
  await write(1, ['acc_2'])
  await endBeforeHeads(2, ['acc_2', 'acc_3'])
  expect(await write(3, ['acc_2'])).toBe('written')
  expect(await documents()).toEqual(['acc_1:ord_1', 'acc_2:ord_1'])
})

it('a change repeated after a crash before its version record dates what it wrote again', async () => {
  const updatedAt = async (accountId: string) =>
    (await readOrder(test.services.orders, 'ord_1', accountId))?.updated_at ?? ''
  await write(1, [])
  await endBeforeHeads(2, ['acc_2'])
  const [owner, coproducer] = [await updatedAt('acc_1'), await updatedAt('acc_2')]
  expect(await write(2, ['acc_2'])).toBe('written')
  expect(await updatedAt('acc_1')).toBe(owner)
  expect((await updatedAt('acc_2')) > coproducer).toBe(true)
  expect(await write(2, ['acc_2'])).toBe('older')
})
