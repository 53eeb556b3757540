import { describe, expect, it } from 'vitest'
import { parseConfig } from '../../../../src/config/config.ts'
import { createWriter } from '../../../../src/indexing/writer/writer.ts'
import { retryUntilDeadline } from '../../../../src/lib/async/retry-until-deadline.ts'
import { openServices, type Services } from '../../../../src/services.ts'
import { IndexLost } from '../../../../src/stores/index-lost.ts'
import { runCommand } from '../../../support/cli/command.ts'
import { changeOf } from '../../../support/orders/changes.ts'
import { sourceOrder } from '../../../support/orders/source-order.ts'
import { opensearch } from '../../../support/stores/backend.ts'
import { keyRecord } from '../../../support/stores/key-record.ts'
import { useServices } from '../../../support/stores/use-services.ts'

const test = useServices()

const lose = (...indices: string[]) =>
  opensearch('DELETE', indices.map((index) => `${test.prefix}${index}`).join(','))
const command = (...args: string[]) => runCommand(args, test.env)

async function indices(): Promise<string[]> {
  const found = await opensearch<{ index: string }[]>(
    'GET',
    `_cat/indices/${test.prefix}*?format=json`,
  )
  return found.map(({ index }) => index.slice(test.prefix.length))
}

/** Does the work as a newly started process. */
async function restarted<T>(work: (services: Services) => Promise<T>): Promise<T> {
  const services = await openServices(parseConfig(test.env))
  return await work(services).finally(() => services.close())
}

const write = () =>
  restarted(async ({ openIndex }) => {
    const index = await openIndex()
    const results = createWriter(index, Date.now).write([changeOf(sourceOrder())], 'live')
    return await results.finally(() => index.close())
  })

const insertKey = () =>
  restarted(({ keys }) => keys.insert(keyRecord({ keyId: 'key_1', digest: 'd1' })))
const block = () => restarted(({ keys }) => keys.setAccountBlocked('acc_1', true))
const initialize = () => restarted((services) => services.initialize())

const KEYS = 'api-keys-v1'
const ACCOUNTS = 'accounts-v1'

describe('lost keys and accounts', () => {
  it.each([
    ['the keys, beside accounts', insertKey, [KEYS]],
    ['the accounts, beside a key', insertKey, [ACCOUNTS]],
    ['the accounts, beside the writer lease', write, [ACCOUNTS]],
    ['both, beside the writer lease', write, [KEYS, ACCOUNTS]],
    ['both, beside an order', write, [KEYS, ACCOUNTS, 'writer-v1']],
    ['both, beside the records of lost orders', write, [KEYS, ACCOUNTS, 'orders-v1']],
  ])('no command recreates %s', async (_what, use, lost) => {
    await initialize()
    await use()
    await test.refresh()
    await lose(...lost)
    for (const work of [insertKey, block, write]) {
      const error = await work().catch((thrown: unknown) => thrown)
      expect(error).toBeInstanceOf(IndexLost)
      expect(error).toHaveProperty('message', expect.stringContaining('keys and accounts is lost'))
    }
    await expect(initialize()).rejects.toBeInstanceOf(IndexLost)
    expect(await indices()).not.toEqual(expect.arrayContaining([lost[0]]))
  })

  it('init --after-loss creates what is missing, keeps the rest, and names the next steps', async () => {
    await write()
    await insertKey()
    await lose(ACCOUNTS)
    const { code, stderr } = await command('index', 'init', '--after-loss')
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: expect.stringContaining(`${test.prefix}${ACCOUNTS} is empty. Run "accounts block"`),
    })
    await block()
    expect(await restarted(({ keys }) => keys.find('d1'))).toMatchObject({ accountBlocked: true })
    expect((await command('index', 'init', '--after-loss')).stderr).toContain('nothing is lost')
  })

  it('init --after-loss recovers lost orders first, then lost keys', async () => {
    await write()
    await lose('orders-v1', KEYS, ACCOUNTS)
    const recover = async () => (await command('index', 'init', '--after-loss')).stderr
    expect(await recover()).toContain(`${test.prefix}orders-v1 is empty`)
    await expect(write()).rejects.toThrow('keys and accounts is lost')
    expect(await recover()).toContain(
      `${test.prefix}${KEYS} and ${test.prefix}${ACCOUNTS} is empty`,
    )
    await write()
  })

  it('init --after-loss creates nothing beside an index that only lost its alias', async () => {
    await write()
    await insertKey()
    await lose(ACCOUNTS)
    await opensearch('DELETE', `${test.prefix}${KEYS}/_alias/${test.prefix}api-keys`)
    const { stderr } = await command('index', 'init', '--after-loss')
    expect(stderr).toMatch(/no alias .*accounts\. .*api-keys-v1 may be complete.*POST _aliases/)
    expect(await indices()).not.toContain(ACCOUNTS)
    const add = { index: `${test.prefix}${KEYS}`, alias: `${test.prefix}api-keys` }
    await opensearch('POST', '_aliases', { actions: [{ add }] })
    expect((await command('index', 'init', '--after-loss')).code).toBe(0)
    expect(await restarted(({ keys }) => keys.find('d1'))).not.toBeNull()
    await write()
  })

  it('keys under another name with the alias are not lost', async () => {
    await write()
    await insertKey()
    await lose(KEYS)
    const [alias, index] = [`${test.prefix}api-keys`, `${test.prefix}restored-keys`]
    await opensearch('PUT', index, { aliases: { [alias]: {} } })
    await write()
    expect(await indices()).not.toContain(KEYS)
  })
})

describe('a first start', () => {
  it('continues after the creation of the keys alone', async () => {
    await initialize()
    await lose(ACCOUNTS)
    await insertKey()
    expect(await indices()).toContain(ACCOUNTS)
  })

  it('continues without keys and accounts, as an earlier version left it', async () => {
    await initialize()
    await lose(KEYS, ACCOUNTS)
    await write()
    expect(await indices()).toEqual(expect.arrayContaining([KEYS, ACCOUNTS]))
  })

  it('of concurrent processes with keys, a writer and init loses nothing', async () => {
    // A writer is unavailable while the shard starts of a lease index that another one has created.
    const policy = { deadlineMs: 60_000, activity: 'a first start' }
    const writeOnceStarted = () => retryUntilDeadline(policy, write)
    const works = [insertKey, block, writeOnceStarted, initialize]
    const results = await Promise.allSettled(works.map((work) => work()))
    expect(results.filter(({ status }) => status === 'rejected')).toEqual([])
  })
})
