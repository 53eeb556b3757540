import { describe, expect, it } from 'vitest'
import { createWriter } from '../../../../src/indexing/writer/writer.ts'
import { changeOf } from '../../../support/orders/changes.ts'
import { confuseParser, QUOTE_TRACKING } from '../../../support/orders/escaped-names.ts'
import { sourceOrder } from '../../../support/orders/source-order.ts'
import { opensearch } from '../../../support/stores/backend.ts'
import { useServices } from '../../../support/stores/use-services.ts'

const test = useServices()

/** Writes orders 0 to 2 and returns the reported delays. */
async function write(version = 1): Promise<string[]> {
  const delays: string[] = []
  const index = await test.services.openIndex({ onDelay: (reason) => delays.push(reason) })
  const orders = [0, 1, 2].map((n) => {
    return sourceOrder({
      id: `ord_${n}`,
      version,
      amount_total: version,
      tracking: QUOTE_TRACKING,
    })
  })
  await createWriter(index, Date.now).write(orders.map(changeOf), 'live')
  await index.close()
  return delays
}

/** Changes a document directly and keeps its checksum header. */
async function damage(index: string, id: string): Promise<void> {
  const doc = { order: { amount_total: 77 } }
  await opensearch(
    'POST',
    `${test.prefix}${index}/_update/acc_1:${id}?routing=acc_1&refresh=true`,
    {
      doc,
    },
  )
}

/** The source bytes of a document; `null` when it does not exist. */
async function sourceOf(index: string, id: string): Promise<string | null> {
  const [node = ''] = (process.env['OPENSEARCH_URL'] ?? '').split(',')
  const response = await fetch(
    `${node}/${test.prefix}${index}/_source/acc_1:${id}?routing=acc_1&realtime=true`,
  )
  return response.ok ? await response.text() : null
}

async function read(): Promise<string[]> {
  const indices = await opensearch<object>('GET', `_alias/${test.prefix}orders`)
  return Object.keys(indices).map((name) => name.slice(test.prefix.length))
}

/** Leaves a document in the new index only, as a writer that crashed before the live index. */
async function leaveHalfABulk(id: string): Promise<void> {
  const source = JSON.parse((await sourceOf('orders-v1', 'ord_0')) ?? '')
  const written_key = Date.now() + 60_000
  const version = `version_type=external&version=${written_key}`
  await opensearch('PUT', `${test.prefix}orders-v2/_doc/acc_1:${id}?routing=acc_1&${version}`, {
    ...source,
    id,
    written_key,
  })
}

describe('a damaged document', () => {
  it('the check lists a damaged document with the repair command', async () => {
    await write()
    await damage('orders', 'ord_1')
    const { code, stdout } = await test.run('check', '--json')
    expect(code).toBe(1)
    expect(JSON.parse(stdout)).toMatchObject({
      documents: 3,
      missing: 0,
      without_key_field: 0,
      damaged: 1,
      examples: [
        {
          kind: 'damaged',
          account_id: 'acc_1',
          order_id: 'ord_1',
          what: expect.stringContaining('"index load --repair FILE"'),
        },
      ],
    })
    expect((await test.run('check')).stdout).toMatch(
      /^damaged acc_1 ord_1 .*index load --repair FILE.*\n.*, damaged: 1,/,
    )
  })

  it('a damaged document fails the reindex, which names it and keeps the live index', async () => {
    await write()
    await damage('orders', 'ord_1')
    const before = await sourceOf('orders', 'ord_1')
    const { code, stdout, stderr } = await test.run('reindex')
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toContain(
      `documents of ${test.prefix}orders-v1 are not as they were written: acc_1:ord_1.`,
    )
    expect(stderr).toMatch(/"index check" lists .*"index load --repair FILE".*"index reindex"/)
    expect(await read()).toEqual(['orders-v1'])
    expect(await sourceOf('orders', 'ord_1')).toBe(before)
    expect(await sourceOf('orders-v2', 'ord_1')).toBeNull()

    await write(2)
    expect(await test.run('reindex')).toMatchObject({ code: 0 })
    expect(await read()).toEqual(['orders-v2'])
    expect(await test.run('check')).toMatchObject({ code: 0 })
  })

  it('a damaged copy of an earlier attempt fails the reindex before the switch', async () => {
    await write()
    await test.beginReindex()
    await damage('orders-v2', 'ord_1')
    await expect(test.reindexing.build()).rejects.toThrow(
      `documents of ${test.prefix}orders-v2 are not as they were written: acc_1:ord_1. Run "index reindex --rollback", which removes this copy`,
    )
    expect(await read()).toEqual(['orders-v1'])
  })

  it('a damaged copy prevents the removal of the previous index', async () => {
    await write()
    await test.reindexing.build()
    await damage('orders-v2', 'ord_1')
    await expect(test.reindexing.finish()).rejects.toThrow(
      `documents of ${test.prefix}orders-v2 are not as they were written: acc_1:ord_1.`,
    )
    expect(await test.reindexing.rollBack()).toMatchObject({ live: `${test.prefix}orders-v1` })
  })

  it('the recovery skips a damaged document, names it and lets the writer continue', async () => {
    await write()
    await test.beginReindex()
    await damage('orders-v1', 'ord_1')
    await leaveHalfABulk('ord_1')
    await test.refresh()
    const delays: string[] = []
    await (await test.services.openIndex({ onDelay: (reason) => delays.push(reason) })).close()
    expect(delays.join()).toContain(
      `documents of ${test.prefix}orders-v1 are not as they were written: acc_1:ord_1.`,
    )
    expect(await sourceOf('orders-v2', 'ord_1')).toMatch(/^\{"removed_key":\d+\}$/)
    await expect(test.reindexing.build()).rejects.toThrow('acc_1:ord_1')
  })
})

describe('an exact copy of a document', () => {
  it('a reindex copies documents byte for byte', async () => {
    confuseParser()
    await write()
    await test.reindexing.build()
    const ids = ['ord_0', 'ord_1', 'ord_2']
    for (const id of ids) {
      const written = await sourceOf('orders-v1', id)
      expect(written).toContain(JSON.stringify(QUOTE_TRACKING))
      expect(await sourceOf('orders-v2', id)).toBe(written)
    }
  })

  it('the recovery after a crashed writer copies documents byte for byte', async () => {
    confuseParser()
    await write()
    await test.beginReindex()
    await leaveHalfABulk('ord_1')
    await test.refresh()
    await (await test.services.openIndex()).close()
    const written = await sourceOf('orders-v1', 'ord_1')
    expect(written).toContain(JSON.stringify(QUOTE_TRACKING))
    expect(await sourceOf('orders-v2', 'ord_1')).toBe(written)
  })
})
