import { setImmediate } from 'node:timers/promises'
import { beforeEach, describe, expect, it } from 'vitest'
import { type RunningWatch, watchInProcess } from '../../support/cli/watch-process.ts'
import { sourceOrder } from '../../support/orders/source-order.ts'
import { opensearch } from '../../support/stores/backend.ts'
import { useServices } from '../../support/stores/use-services.ts'

const test = useServices()

let orders: string
beforeEach(async () => {
  orders = `${test.prefix}orders`
  await test.write(sourceOrder())
})

const changeAliases = (...actions: object[]) => opensearch('POST', '_aliases', { actions })
const moveAlias = (from: string, to: string) =>
  changeAliases({ remove: { index: from, alias: orders } }, { add: { index: to, alias: orders } })
const addAlias = (filter: object = {}) =>
  changeAliases({ add: { index: `${orders}-v1`, alias: orders, ...filter } })
const hideAll = () => addAlias({ filter: { term: { account_id: 'none' } } })
const fault = () => test.services.inspection.readAliasFault()

describe('the read alias', () => {
  it.each([
    ['an empty index', () => ({})],
    ['a restored index', () => ({ [`${orders}-w-0-v9`]: {} })],
  ])('has a fault while it is on %s', async (_, aliases) => {
    await opensearch('PUT', `${orders}-v9`, { aliases: aliases() })
    await moveAlias(`${orders}-v1`, `${orders}-v9`)
    expect(await fault()).toBe(
      `the alias ${orders} is on ${orders}-v9, which the last writer did not write: move it to ${orders}-v1 with POST _aliases`,
    )
    await moveAlias(`${orders}-v9`, `${orders}-v1`)
    expect(await fault()).toBeNull()
  })

  it('has a fault while it is on several indices, and none is known while it is on none', async () => {
    await opensearch('PUT', `${orders}-v9`)
    await changeAliases({ add: { index: `${orders}-v9`, alias: orders } })
    expect(await fault()).toBe(
      `the alias ${orders} is on several indices: ${orders}-v1, ${orders}-v9. Remove it from all but one with POST _aliases`,
    )
    await changeAliases({ remove: { index: `${orders}-*`, alias: orders } })
    await expect(fault()).rejects.toThrow(`no index has the alias ${orders}`)
    await addAlias()
    expect(await fault()).toBeNull()
  })

  it('has a fault while it has a filter', async () => {
    await hideAll()
    expect(await fault()).toBe(
      `the alias ${orders} has a filter, which hides orders of ${orders}-v1 from lists: add it without one with POST _aliases`,
    )
    await addAlias()
    expect(await fault()).toBeNull()
  })

  it.each([
    ['without a writer', false],
    ['beside a writer', true],
  ])('has no fault at any moment of a reindex %s', async (_, isWriting) => {
    const index = isWriting ? await test.services.openIndex() : null
    const { reindexing } = test
    const faults = new Set<string | null>()
    let isDone = false
    const observed = (async () => {
      while (!isDone) {
        faults.add(await fault())
        await setImmediate()
      }
    })()
    try {
      await reindexing.build()
      await reindexing.rollBack()
      await reindexing.build()
      await reindexing.finish()
    } finally {
      isDone = true
      await observed
      await index?.close()
    }
    expect([...faults]).toEqual([null])
  })
})

describe('a watch', () => {
  const health = async (watch: RunningWatch) => JSON.parse(await watch.operations('/health/ready'))

  it('reports a fault of the read alias and its end, and stays ready', async () => {
    const watch = watchInProcess(test.env)
    try {
      await watch.becomesWriter()
      expect(await health(watch)).toMatchObject({ checks: { alias: 'ok' } })
      expect(await watch.metric('indexing_read_alias_faulty')).toBe(0)

      await hideAll()
      const { level, reason } = await watch.waitForLog('the API does not return every order')
      expect(level).toBe(50)
      expect(reason).toContain(`the alias ${orders} has a filter`)
      expect(await watch.metric('indexing_read_alias_faulty')).toBe(1)
      expect(await health(watch)).toMatchObject({ status: 'ok', checks: { alias: 'degraded' } })

      await addAlias()
      await watch.waitForLog('the read alias is correct again')
      expect(await watch.metric('indexing_read_alias_faulty')).toBe(0)
      expect(await health(watch)).toMatchObject({ checks: { alias: 'ok' } })
    } finally {
      await watch.stop()
    }
  })
})
