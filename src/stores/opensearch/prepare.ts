import { once } from '../../lib/once.ts'
import { createQueue } from '../../lib/queue.ts'
import { IndexLost } from '../index-lost.ts'
import { ask, type OpenSearch, Refused, tell } from './client.ts'
import { keyDefinitions, ordersDefinition, recordDefinitions } from './index-definition.ts'
import { indexLost, readPresence } from './index-presence.ts'
import { type IndexNames, indexBehind } from './names.ts'

/** Makes the indices that are not there yet, and leaves those that are as they are. */
export interface Prepare {
  /** Those of keys and accounts, and no other. Once a process, unless it fails. */
  keys(): Promise<void>
  /**
   * Those of the orders: the one that is read only where nothing of them exists yet; version records and lease also
   * later. The template is always today's. @throws IndexLost, whatever this process has made before
   */
  orders(): Promise<void>
  /** The same where the index exists already. @throws IndexLost; Error where it was never made */
  existingOrders(): Promise<void>
  /** Makes this version of the orders, empty and read, and what else is missing. */
  ordersAfterLoss(version: string): Promise<void>
}

const TEMPLATE_PRIORITY = 500
const OTHER_TYPE = 400
const ALREADY_THERE = 'resource_already_exists_exception'

/** Its methods throw Unavailable, and Error when OpenSearch refuses, with its reason. */
export function createPrepare(client: OpenSearch, names: IndexNames, deadlineMs: number): Prepare {
  const oneAtATime = createQueue()
  let isMade = false

  async function prepareOrders(mayBegin: boolean): Promise<void> {
    const presence = await readPresence({ client, names, deadlineMs })
    if (presence.kind === 'lost') throw indexLost(names, presence)
    if (presence.kind === 'virgin') {
      if (isMade) throw new IndexLost('every index of them is gone, and this process has used them')
      if (!mayBegin) throw new Error('there is no index yet: "index init" makes it')
      await beginOrders(indexBehind(names.orders, 1))
    }
    if (!isMade) await makeRest()
    isMade = true
  }

  /** The index that is read comes first: records without it then always mean that it was lost. */
  async function beginOrders(version: string): Promise<void> {
    await putTemplate()
    await create(version, names.orders, {})
  }

  async function makeRest(): Promise<void> {
    await putTemplate()
    for (const record of recordDefinitions(names)) await createMissing(...record)
    await addFields()
  }

  const putTemplate = once(async () => {
    const template = {
      index_patterns: [indexBehind(names.orders, '*')],
      template: ordersDefinition,
      priority: TEMPLATE_PRIORITY,
    }
    await tell(deadlineMs, (options) =>
      client.indices.putIndexTemplate({ name: names.orders, body: template as object }, options),
    )
  })

  return {
    keys: once(async () => {
      await Promise.all(keyDefinitions(names).map((definition) => createMissing(...definition)))
    }),
    orders: () => oneAtATime(() => prepareOrders(true)),
    existingOrders: () => oneAtATime(() => prepareOrders(false)),
    ordersAfterLoss: (version) =>
      oneAtATime(async () => {
        await beginOrders(version)
        await makeRest()
      }),
  }

  /** Fields that came since an index was made. One of another type takes a reindex. */
  async function addFields(): Promise<void> {
    const { properties } = ordersDefinition.mappings
    const there = await ask(deadlineMs, (options) =>
      client.indices.get({ index: indexBehind(names.orders, '*') }, options),
    )
    for (const [index, { mappings }] of Object.entries(there)) {
      if (!names.isVersion(index)) continue
      const known = new Set(Object.keys(mappings?.properties ?? {}))
      const missing = Object.entries(properties).filter(([name]) => !known.has(name))
      if (missing.length === 0) continue
      const request = { index, body: { properties: Object.fromEntries(missing) } as object }
      await tell(deadlineMs, (options) => client.indices.putMapping(request, options)).catch(
        (error) => {
          if (!(error instanceof Refused && error.status === OTHER_TYPE)) throw error
        },
      )
    }
  }

  async function createMissing(alias: string, definition: object): Promise<void> {
    if (await exists(alias)) return
    await create(indexBehind(alias, 1), alias, definition)
  }

  async function create(index: string, alias: string, definition: object): Promise<void> {
    const body = { ...definition, aliases: { [alias]: {} } }
    try {
      await tell(deadlineMs, (options) => client.indices.create({ index, body }, options))
    } catch (error) {
      // Another process was faster.
      if (!(error instanceof Refused && error.type === ALREADY_THERE)) throw error
    }
  }

  function exists(name: string): Promise<boolean> {
    return ask(deadlineMs, (options) => client.indices.existsAlias({ name }, options))
  }
}
